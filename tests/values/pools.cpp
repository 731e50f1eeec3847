#include "tests/values/pools.hpp"

#include <algorithm>

namespace values {

namespace {

Pool with_random(unsigned words, std::vector<uint64_t> v, unsigned random, uint64_t mask) {
  Random next(v.size() + words);
  for (unsigned n = 0; n < random; ++n) v.push_back(next() & mask);
  return {words, std::move(v)};
}

constexpr uint64_t k16 = 0xffff, k32 = 0xffffffff, k64 = ~uint64_t{0};

}  // namespace

Pool Pool::with(std::vector<uint64_t> more) const {
  Pool p = *this;
  p.values.insert(p.values.end(), more.begin(), more.end());
  return p;
}

Pool u32(unsigned random) {
  return with_random(1, {0,          1,          2,          0x7f,       0x80,       0xff,
                         0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x7ffffffe,
                         0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555,
                         0xaaaaaaaa, 0x01234567, 0xffff0000, 0x00ff00ff},
                     random, k32);
}
Pool u64(unsigned random) {
  return with_random(
      2,
      {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
       0x8000000000000000, 0x8000000000000001, 0xfffffffffffffffe, 0xffffffffffffffff,
       0xffffffff00000000, 0xffffffff80000000, 0x5555555555555555, 0x0123456789abcdef},
      random, k64);
}
Pool u16(unsigned random) {
  return with_random(1,
                     {0, 1, 0x7f, 0x80, 0xff, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff,
                      0xffff0000, 0xffff8000, 0x12347fff, 0x80000001},
                     random, k32);
}
Pool u8(unsigned random) {
  return with_random(
      1, {0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0xffffff00, 0xffffff80, 0x1234567f, 0x100},
      random, k32);
}

Pool f16(unsigned random) {
  return with_random(
      1, {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3bff, 0x3c00,
          0xbc00, 0x3c01, 0x3800, 0x3e00, 0x4100, 0x4248, 0xc500, 0x7bff, 0xfbff, 0x7c00,
          0xfc00, 0x7c01, 0xfdab, 0x7e00, 0xfe01, 0x7fff, 0x6400, 0x67ff},
      random, k16);
}
Pool f32(unsigned random) {
  return with_random(
      1, {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
          0x80800000, 0x00800001, 0x00ffffff, 0x33800000, 0x33800001, 0x3effffff, 0x3f000000,
          0xbf000000, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3fc00000, 0xbfc00000,
          0x40200000, 0x40490fdb, 0x42fe0000, 0x437f8000, 0x477fe000, 0x4affffff, 0x4b000001,
          0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x5effffff,
          0x5f000000, 0xdf000000, 0x5f800000, 0x7e800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
          0xff800000, 0x7f800001, 0xffa12345, 0x7fc00000, 0xffc00001, 0x7fffffff},
      random, k32);
}
Pool f64(unsigned random) {
  return with_random(
      2, {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
          0x000fffffffffffff, 0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000,
          0x36a0000000000000, 0x380fffffe0000000, 0x3810000000000000, 0x3fdfffffffffffff,
          0x3fe0000000000000, 0xbfe0000000000000, 0x3fefffffffffffff, 0x3ff0000000000000,
          0xbff0000000000000, 0x3ff0000000000001, 0x3ff0000010000000, 0x3ff0000030000000,
          0x3ff8000000000000, 0x4004000000000000, 0x400921fb54442d18, 0x41dfffffffc00000,
          0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x41f0000000000000,
          0x433fffffffffffff, 0x4340000000000000, 0x43dfffffffffffff, 0x43e0000000000000,
          0xc3e0000000000000, 0x43f0000000000000, 0x47efffffe0000000, 0x47effffff0000000,
          0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
          0x7ff0000000000001, 0xfff4567890abcdef, 0x7ff8000000000000, 0xfff8000000000001},
      random, k64);
}

Pool shifts() {
  return {1,
          {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x10000, 0x80000000,
           0xffffffff}};
}
Pool flags() {
  return counting(2);
}
Pool counting(unsigned n) {
  Pool p{1, {}};
  for (unsigned i = 0; i < n; ++i) p.values.push_back(i);
  return p;
}

namespace {

void append(Words& w, const Pool& p, uint64_t value) {
  w.push_back(static_cast<uint32_t>(value));
  if (p.words == 2) w.push_back(static_cast<uint32_t>(value >> 32));
}

}  // namespace

Tuples tuples(const std::vector<Pool>& operands, size_t limit, uint64_t seed) {
  size_t all = 1, longest = 1;
  for (const Pool& p : operands) {
    all = all > limit ? all : all * p.values.size();
    longest = std::max(longest, p.values.size());
  }
  const bool every = all <= limit;
  Random next(seed);
  Tuples out(every ? all : std::max(limit, longest));
  for (size_t n = 0; n < out.size(); ++n) {
    size_t rest = n;
    for (const Pool& p : operands) {
      const size_t count = p.values.size();
      const size_t which = every || n < longest ? rest % count : next() % count;
      append(out[n], p, p.values[which]);
      if (every) rest /= count;
    }
    // The first ones go through each pool in step, so that no value is left out.
  }
  return out;
}

}  // namespace values
