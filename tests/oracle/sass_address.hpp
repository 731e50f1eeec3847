// What the document of Maxwell's global memory instructions says about one access, spelled out with
// plain numbers. Shares nothing with the runtime on purpose.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace oracle::sass {

/// An address operand and the registers of one lane.
struct Address {
  bool extended = false;          // .E
  unsigned ra = 255;              // 255: no register was written
  unsigned shader_registers = 0;  // how many the shader has; 0: as many as it likes
  uint32_t low = 0, high = 0;     // R[ra], R[ra + 1]
  uint32_t field = 0;             // the immediate as it stands in the word
  unsigned field_bits = 24;
};

inline int64_t signed_immediate(const Address& a) {
  const int64_t value = a.field;
  const int64_t half = int64_t{1} << (a.field_bits - 1);
  return value >= half ? value - 2 * half : value;
}

/// Where the access goes before alignment.
inline uint64_t effective_address(const Address& a) {
  const bool no_register = a.ra == 255;
  const bool beyond_the_shader = a.shader_registers != 0 && a.ra >= a.shader_registers;
  if (no_register || beyond_the_shader) return a.field;
  if (a.extended) {
    const uint64_t pair = (uint64_t{a.high} << 32) + a.low;
    return pair + static_cast<uint64_t>(signed_immediate(a));
  }
  const uint64_t sum = uint64_t{a.low} + static_cast<uint64_t>(signed_immediate(a));
  return sum % (uint64_t{1} << 32);
}

/// Memory addresses are forced to be naturally aligned.
inline uint64_t forced(uint64_t address, unsigned bytes) {
  return address - address % bytes;
}

/// Size codes of the encoding: U8 S8 U16 S16 32 64 128 U.128.
inline unsigned bytes_of(unsigned size_code) {
  constexpr unsigned kBytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[size_code];
}

/// The registers a load fills from these bytes; narrow values extend to 32 bits.
inline std::array<uint32_t, 4> loaded(unsigned size_code, const uint8_t* bytes) {
  std::array<uint32_t, 4> r{};
  uint16_t half = 0;
  std::memcpy(&half, bytes, size_code >= 2 ? 2 : 1);
  switch (size_code) {
    case 0:
      r[0] = bytes[0];
      break;
    case 1:
      r[0] = bytes[0] < 0x80 ? bytes[0] : 0xffffff00U + bytes[0];
      break;
    case 2:
      r[0] = half;
      break;
    case 3:
      r[0] = half < 0x8000 ? half : 0xffff0000U + half;
      break;
    default:
      std::memcpy(r.data(), bytes, bytes_of(size_code));
  }
  return r;
}

/// The cache line operand of CCTL and CCTLL is the same sum; offsets drop their low two bits.
inline uint64_t line_address(Address a) {
  a.field = a.field / 4 * 4;
  return effective_address(a);
}

}  // namespace oracle::sass
