// Input values for the value cases: edges of each type and a few random ones with fixed seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace values {

using Words = std::vector<uint32_t>;
using Tuples = std::vector<Words>;

/// Values of one operand. Two words each are stored low word first.
struct Pool {
  unsigned words;
  std::vector<uint64_t> values;
  Pool with(std::vector<uint64_t> more) const;
};

/// 0, 1, sign boundaries, all ones, bit patterns; then `random` others.
Pool u32(unsigned random = 6);
Pool u64(unsigned random = 6);
/// 8- and 16-bit edges with other bits above them set and clear.
Pool u16(unsigned random = 4);
Pool u8(unsigned random = 4);
/// Signed zeros, smallest and largest subnormals and normals, 1 and its neighbours, halves between
/// integers, the limits of the integer types, infinities, quiet and signalling NaN with payloads.
Pool f16(unsigned random = 6);
Pool f32(unsigned random = 6);
Pool f64(unsigned random = 6);
/// 0, 1, around 8, 16, 32 and 64, far beyond, negative.
Pool shifts();
/// 0 and 1.
Pool flags();
/// 0 to n - 1.
Pool counting(unsigned n);

/// Every combination where there are no more than `limit`; else as many, chosen with a fixed seed,
/// in which each value stands at each place at least once.
Tuples tuples(const std::vector<Pool>& operands, size_t limit = 1024, uint64_t seed = 1);

/// splitmix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

}  // namespace values
