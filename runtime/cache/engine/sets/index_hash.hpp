// Set and slice index functions. Which one a chip uses is not documented: all are models.
//  fermi: Nugteren et al., HPCA 2014 (32 or 64 sets).
//  ipoly: Rau, ISCA 1991: the line number as a polynomial over GF(2), modulo a primitive one; the
//         default of GPGPU-Sim for L2 slices from Pascal on.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::cache {

/// 64 set indices from a byte address.
uint32_t fermi_set(uint64_t address);
/// Table of remainders for a number of slots (rounded up to a power of two, 2 to 1024).
std::vector<uint16_t> ipoly_table(uint32_t slots);
inline uint32_t ipoly_hash(const std::vector<uint16_t>& table, uint64_t line_number) {
  uint32_t h = 0;
  const uint16_t* of_byte = table.data();
  for (uint64_t n = line_number; n != 0; n >>= 8, of_byte += 256) h ^= of_byte[n & 255];
  return h;
}

}  // namespace lanewise::cache
