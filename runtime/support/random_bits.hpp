// The random contents of buffers: the same for a seed in scripts and on the command line.
#pragma once

#include <cstdint>

namespace lanewise {

/// SplitMix64: the n-th number of a seed.
constexpr uint64_t random_bits(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// Multiples of 2^-10 from -1 to below 1, exact in every size.
constexpr double random_number(uint64_t seed, uint64_t n) {
  return static_cast<double>(random_bits(seed, n) >> 53) / 1024 - 1;
}

}  // namespace lanewise
