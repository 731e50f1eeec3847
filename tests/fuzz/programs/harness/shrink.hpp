// From a program that goes wrong to the least that still does.
#pragma once

#include <functional>

#include "tests/fuzz/programs/generate.hpp"

namespace lanewise::programs {

/// Whether a program still goes wrong; programs that cannot be compiled do not.
using Fails = std::function<bool(const Made&)>;
/// Statements, sides, guards, trips, registers, lanes and data go as long as it fails without them,
/// for at most so many seconds.
Made shrink(Made made, const Fails& fails, double seconds);

}  // namespace lanewise::programs
