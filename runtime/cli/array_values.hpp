// Elements of arrays as numbers: contents that the command line names, and texts of results.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/support/npy.hpp"

namespace lanewise::cli {

/// A double to the bits of the nearest half, ties to even.
uint16_t to_half(double x);

/// 0, 1, 2, ...; integers wrap.
void fill_iota(npy::Array& array);
/// Integers: every bit pattern; floating-point types: multiples of 2^-10 in [-1, 1).
void fill_random(npy::Array& array, uint64_t seed);

/// All elements, with spaces between them and as many in a line as the last dimension has, at most
/// 16; floating-point numbers have the fewest digits that name them.
std::string values_text(const npy::Array& array);

}  // namespace lanewise::cli
