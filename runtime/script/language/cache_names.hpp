// What scripts call the caches and what is counted of them.
#pragma once

#include <string>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/script/problem.hpp"

namespace lanewise::script {

using CacheCounter = uint64_t cache::LevelCounters::*;

/// Problem at loc for a name that is none, with those that there are.
cache::Cache cache_named(const std::string& name, Loc loc);
CacheCounter counter_named(const std::string& name, Loc loc);

}  // namespace lanewise::script
