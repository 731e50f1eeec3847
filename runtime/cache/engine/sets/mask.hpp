// Sets of bytes of one aligned 128-byte block, and of the sectors they touch.
#pragma once

#include <bit>
#include <cstdint>

namespace lanewise::cache {

inline constexpr uint64_t kBlockBytes = 128;

/// Bit i = byte i of the block.
struct Mask {
  uint64_t lo = 0, hi = 0;

  bool any() const { return (lo | hi) != 0; }
  bool none() const { return (lo | hi) == 0; }
  unsigned count() const { return static_cast<unsigned>(std::popcount(lo) + std::popcount(hi)); }
  bool covers(const Mask& o) const { return ((o.lo & ~lo) | (o.hi & ~hi)) == 0; }
  bool operator==(const Mask&) const = default;
  Mask& operator|=(const Mask& o) {
    lo |= o.lo;
    hi |= o.hi;
    return *this;
  }
  Mask& operator&=(const Mask& o) {
    lo &= o.lo;
    hi &= o.hi;
    return *this;
  }
};
inline Mask operator&(const Mask& a, const Mask& b) {
  return {a.lo & b.lo, a.hi & b.hi};
}
inline Mask operator|(const Mask& a, const Mask& b) {
  return {a.lo | b.lo, a.hi | b.hi};
}
inline Mask operator~(const Mask& a) {
  return {~a.lo, ~a.hi};
}
/// Bytes of a that are not in b.
inline Mask without(const Mask& a, const Mask& b) {
  return {a.lo & ~b.lo, a.hi & ~b.hi};
}

/// Bytes first .. first + count - 1 of the block; the range must lie inside it. Without branches:
/// where in a line an access lies is anybody's guess.
inline Mask byte_range(unsigned first, unsigned count) {
  __extension__ using Bits = unsigned __int128;
  const Bits ones = count >= 128 ? ~Bits{0} : (Bits{1} << count) - 1;
  const Bits bits = ones << first;
  return {static_cast<uint64_t>(bits), static_cast<uint64_t>(bits >> 64)};
}

inline uint64_t whole_groups(uint64_t bits, unsigned bytes) {
  switch (bytes) {
    case 32:
      return ((bits & 0xffff'ffffULL) != 0 ? 0xffff'ffffULL : 0) |
             ((bits >> 32) != 0 ? 0xffff'ffffULL << 32 : 0);
    case 64:
      return bits != 0 ? ~uint64_t{0} : 0;
    default: {
      uint64_t out = 0;
      const uint64_t group = (uint64_t{1} << bytes) - 1;
      for (unsigned at = 0; at < 64; at += bytes)
        if ((bits >> at & group) != 0) out |= group << at;
      return out;
    }
  }
}

/// Every byte of every sector that has a byte in the mask; `sector` is a power of two, 4 to 128.
inline Mask whole_sectors(const Mask& m, unsigned sector) {
  if (sector >= 128) return m.any() ? ~Mask{} : Mask{};
  return {whole_groups(m.lo, sector), whole_groups(m.hi, sector)};
}

inline unsigned sector_count(const Mask& m, unsigned sector) {
  const auto some = [](uint64_t bits) { return static_cast<unsigned>(bits != 0); };
  if (sector == 32)
    return some(m.lo & 0xffff'ffff) + some(m.lo >> 32) + some(m.hi & 0xffff'ffff) +
           some(m.hi >> 32);
  if (sector == 64) return some(m.lo) + some(m.hi);
  return whole_sectors(m, sector).count() / (sector > 128 ? 128 : sector);
}

/// Bit i: the i-th 32-byte sector has a byte in the mask.
inline unsigned sectors32(const Mask& m) {
  const auto some = [](uint64_t bits, unsigned at) {
    return static_cast<unsigned>(bits != 0) << at;
  };
  return some(m.lo & 0xffff'ffff, 0) | some(m.lo >> 32, 1) | some(m.hi & 0xffff'ffff, 2) |
         some(m.hi >> 32, 3);
}

/// The bytes of the i-th 32-byte sector, a bit each.
inline uint32_t sector_bytes(const Mask& m, unsigned i) {
  return static_cast<uint32_t>((i < 2 ? m.lo : m.hi) >> (32 * (i & 1)));
}

/// Copies the bytes of the mask from one image of a block to another.
[[gnu::noinline]] inline void copy_bytes(uint8_t* to, const uint8_t* from, const Mask& mask) {
  for (unsigned i = 0; i < kBlockBytes; ++i)
    if (((i < 64 ? mask.lo >> i : mask.hi >> (i - 64)) & 1) != 0) to[i] = from[i];
}

}  // namespace lanewise::cache
