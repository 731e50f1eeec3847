#include "runtime/cache/engine/sets/index_hash.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::cache {
namespace {

// Primitive polynomials over GF(2) of degree 0 to 10, the leading term included.
constexpr uint32_t kPrimitive[] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033};

uint16_t remainder(uint64_t value, uint32_t polynomial) {
  const int degree = static_cast<int>(std::bit_width(polynomial)) - 1;
  while (static_cast<int>(std::bit_width(value)) > degree)
    value ^= static_cast<uint64_t>(polynomial)
             << (static_cast<int>(std::bit_width(value)) - 1 - degree);
  return static_cast<uint16_t>(value);
}

}  // namespace

uint32_t fermi_set(uint64_t a) {
  const auto bit = [a](unsigned i) { return static_cast<uint32_t>(a >> i & 1); };
  return (bit(7) ^ bit(13)) | (bit(8) ^ bit(14)) << 1 | (bit(9) ^ bit(15)) << 2 |
         (bit(10) ^ bit(17)) << 3 | (bit(11) ^ bit(19)) << 4 | bit(12) << 5;
}

std::vector<uint16_t> ipoly_table(uint32_t slots) {
  const unsigned degree =
      std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(slots - 1)), 1, 10);
  // For a number of slots that is no power of two, a larger remainder is reduced evenly.
  const uint32_t polynomial =
      kPrimitive[std::has_single_bit(slots) ? degree : std::min(10u, degree + 3)];
  std::vector<uint16_t> table(8 * 256);
  for (unsigned byte = 0; byte < 8; ++byte)
    for (unsigned v = 0; v < 256; ++v)
      table[byte * 256 + v] = remainder(static_cast<uint64_t>(v) << (8 * byte), polynomial);
  return table;
}

}  // namespace lanewise::cache
