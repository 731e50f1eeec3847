// Address streams with a fixed seed, for the oracle and the benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanewise {

/// An address, a multiple of 4; bit 0 says that it is written.
using PackedAccess = uint64_t;
constexpr PackedAccess pack_access(uint64_t address, bool write) {
  return address | static_cast<uint64_t>(write);
}

class Random {
 public:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  uint64_t below(uint64_t n) { return (next() >> 16) % n; }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

/// stream, rand64, stride, hot, mix: aligned 32-byte sectors, 20 % writes.
inline std::vector<PackedAccess> access_trace(const std::string& kind, size_t count) {
  constexpr uint64_t kMega = uint64_t{1} << 20;
  Random random;
  std::vector<PackedAccess> trace;
  trace.reserve(count);
  uint64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool write = random.below(100) < 20;
    uint64_t address = 0;
    const uint64_t part = kind == "mix" ? random.below(100) : 0;
    if (kind == "stream" || (part >= 50 && part < 75))
      address = (at++ * 32) % (256 * kMega);
    else if (kind == "stride")
      address = (at * 4096 + at / (64 * kMega / 4096) * 32) % (64 * kMega), ++at;
    else if (kind == "rand64" || part >= 90)
      address = 512 * kMega + random.below(64 * kMega / 32) * 32;
    else if (part >= 75)
      address = 640 * kMega + random.below(kMega / 32) * 32;
    else
      address = 768 * kMega + random.below(16 * 1024 / 32) * 32;
    trace.push_back(pack_access((uint64_t{1} << 30) + address, write));
  }
  return trace;
}

}  // namespace lanewise
