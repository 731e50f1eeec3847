#pragma once

#include <span>

#include "runtime/cache/dialects/dialect.hpp"

namespace lanewise::cache {

std::span<const Row> sass_rows();
std::span<const Row> ptx_rows();
std::span<const Row> gcn_rows();

}  // namespace lanewise::cache
