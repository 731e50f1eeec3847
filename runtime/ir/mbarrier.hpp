// The 64 bits of a PTX mbarrier, which the manual leaves open: AtomOp::arrive changes them.
//
//   bits 0-19   arrivals that the phase still waits for
//   bits 20-39  arrivals that the next phases wait for
//   bits 40-60  bytes of copies that are expected, two's complement
//   bit 63      parity of the phase
//
// The value of AtomOp::arrive has fields alike: arrivals and expected arrivals are taken off, bytes
// are added. The phase ends when neither arrivals nor bytes are missing.
#pragma once

#include <cstdint>

namespace lanewise::ir::mbarrier {

inline constexpr uint64_t kCount = 0xfffff, kBytes = 0x1fffff;
inline constexpr unsigned kExpectedAt = 20, kBytesAt = 40, kParityAt = 63;

constexpr uint64_t initial(uint64_t count) {
  return (count & kCount) | (count & kCount) << kExpectedAt;
}

constexpr uint64_t after(uint64_t state, uint64_t change) {
  const auto field = [](uint64_t word, unsigned at, uint64_t mask) { return word >> at & mask; };
  const auto less = [&](unsigned at) {
    return (field(state, at, kCount) - field(change, at, kCount)) & kCount;
  };
  uint64_t pending = less(0), parity = state >> kParityAt;
  const uint64_t expected = less(kExpectedAt);
  const uint64_t bytes =
      (field(state, kBytesAt, kBytes) + field(change, kBytesAt, kBytes)) & kBytes;
  if (pending == 0 && bytes == 0) {
    parity ^= 1;
    pending = expected;
  }
  return pending | expected << kExpectedAt | bytes << kBytesAt | parity << kParityAt;
}

static_assert(after(initial(2), 1) == (initial(2) - 1));
static_assert(after(initial(1), 1) == (initial(1) | uint64_t{1} << kParityAt));
static_assert(after(initial(1), uint64_t{16} << kBytesAt) >> kParityAt == 0);

}  // namespace lanewise::ir::mbarrier
