// Set and slice index functions. Which one a chip uses is not documented: all are models.
//  fermi: Nugteren et al., HPCA 2014 (32 or 64 sets).
//  ipoly: Rau, ISCA 1991: the line number as a polynomial over GF(2), modulo a primitive one; the
//         default of GPGPU-Sim for L2 slices from Pascal on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanewise::cache {

/// 64 set indices from a byte address.
uint32_t fermi_set(uint64_t address);
/// Table of remainders for a number of slots (rounded up to a power of two, 2 to 1024).
std::vector<uint16_t> ipoly_table(uint32_t slots);
inline uint32_t ipoly_hash(const std::vector<uint16_t>& table, uint64_t line_number) {
  const uint16_t* of_byte = table.data();
  // Nearly all line numbers have four bytes or five.
  uint32_t h = of_byte[line_number & 255];
  for (unsigned byte = 1; byte < 4; ++byte)
    h ^= of_byte[256 * byte + (line_number >> 8 * byte & 255)];
  of_byte += size_t{4} * 256;
  for (uint64_t n = line_number >> 32; n != 0; n >>= 8, of_byte += 256) h ^= of_byte[n & 255];
  return h;
}

/// n % divisor without a division.
class Remainder {
 public:
  Remainder() = default;
  explicit Remainder(uint32_t divisor) : divisor_(divisor), inverse_(~uint64_t{0} / divisor) {}
  uint32_t of(uint64_t n) const {
    __extension__ using Wide = unsigned __int128;
    // The quotient, or one less: the inverse is too small by less than 1.
    const auto quotient = static_cast<uint64_t>(Wide{n} * inverse_ >> 64);
    const uint64_t rest = n - quotient * divisor_;
    return static_cast<uint32_t>(rest < divisor_ ? rest : rest - divisor_);
  }

 private:
  uint64_t divisor_ = 1, inverse_ = ~uint64_t{0};
};

}  // namespace lanewise::cache
