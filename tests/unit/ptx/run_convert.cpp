// Conversions to the short floating-point types, against a search for the nearest value.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/unit/ptx/lower_support.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ptx::test::lower_text;

namespace {

std::vector<uint64_t> samples() {
  std::vector<uint64_t> all = {0,
                               0x8000000000000000,
                               1,
                               0x7fffffff,
                               0x80000000,
                               0x7f7f8000,
                               0x7f7fffff,
                               0x7f800000,
                               0xff800000,
                               0x7fc00001,
                               0x3f808000,
                               0x3f818000,
                               0xbf808000,
                               0x00008000,
                               0x00018000,
                               0x807fffff,
                               ~uint64_t{0},
                               std::bit_cast<uint64_t>(1.00390625),
                               std::bit_cast<uint64_t>(1.00390625 + 0x1p-40),
                               std::bit_cast<uint64_t>(-1.01171875 - 0x1p-45),
                               std::bit_cast<uint64_t>(0x1p-134),
                               std::bit_cast<uint64_t>(0x1.8p-140),
                               std::bit_cast<uint64_t>(-0x1p-300),
                               std::bit_cast<uint64_t>(0x1.fffp+127),
                               std::bit_cast<uint64_t>(1e300),
                               std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity()),
                               std::bit_cast<uint64_t>(std::nan(""))};
  std::mt19937_64 rng(3);
  while (all.size() < 256) {
    const uint64_t random = rng();
    all.push_back(random);
    all.push_back(random & 0xffff0000ffff8000);  // ties of f32
    all.push_back(std::bit_cast<uint64_t>(std::ldexp(
        static_cast<double>(static_cast<int64_t>(random)), static_cast<int>(random % 260) - 190)));
    all.push_back(random >> random % 50);
  }
  return all;
}

/// What `line` leaves in %h0 or %r0; inputs are %rd1 and its bits in %r1, %h1, %f1, %fd1.
std::vector<uint32_t> evaluate(const std::string& line, bool half) {
  const std::string result = half ? "cvt.u32.u16 %r0, %h0;" : "";
  const ptx::LowerResult lowered = lower_text(
      ".version 8.6\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b16 %h<4>; .reg .b32 %r<8>;\n"
      ".reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>;\n"
      "ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out]; mov.u32 %r2, %tid.x;\n"
      "mad.wide.u32 %rd2, %r2, 8, %rd2; mad.wide.u32 %rd3, %r2, 4, %rd3;\n"
      "ld.global.u64 %rd1, [%rd2]; cvt.u32.u64 %r1, %rd1; cvt.u16.u64 %h1, %rd1;\n"
      "mov.b32 %f1, %r1; mov.b64 %fd1, %rd1; shr.u64 %rd4, %rd1, 32; cvt.u32.u64 %r3, %rd4;\n"
      "mov.b32 %f2, %r3;\n" +
      line + "\n" + result + "\nst.global.u32 [%rd3], %r0;\nret;\n}\n");
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), line, "\n", ptx::test::text(lowered.diagnostics));
  test::Bench bench;
  const std::vector<uint64_t> in = samples();
  const uint64_t from = bench.put(in), to = bench.put(std::vector<uint32_t>(in.size()));
  bench.arg(from).arg(to);
  const auto run = bench.run(lowered.module.kernels.at(0), 1, static_cast<uint32_t>(in.size()));
  REQUIRE_MESSAGE(run.faults.empty(), line);
  return bench.get<uint32_t>(to, in.size());
}

enum class Mode { rn, rz, rm, rp };

/// A number as it was meant: doubles hold every source but 64-bit integers.
__extension__ using Exact = long double;

Exact value_of_bf16(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

/// The bf16 next to x that the mode asks for, found by trying all magnitudes.
uint32_t bf16_of(Exact x, Mode mode) {
  if (std::isnan(x)) return 0x7fff;
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const Exact size = std::fabs(x);
  uint32_t low = 0, high = 0x7f80;  // the last magnitude not above, by halves
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (value_of_bf16(middle) <= size ? low : high) = middle;
  }
  if (std::isinf(size)) return sign | 0x7f80;
  if (value_of_bf16(low) == size) return sign | low;
  // Beyond the largest number the next step would have been 2^128.
  const Exact above = low == 0x7f7f ? 0x1p128L : value_of_bf16(low + 1);
  const Exact down = size - value_of_bf16(low), up = above - size;
  const bool away = mode == Mode::rn   ? up < down || (up == down && low % 2 == 1)
                    : mode == Mode::rz ? false
                                       : (mode == Mode::rm) == (sign != 0);
  return sign | (away ? low + 1 : low);
}

void check(const std::string& line, bool half, const std::function<uint32_t(uint64_t)>& expected) {
  const std::vector<uint64_t> in = samples();
  const std::vector<uint32_t> got = evaluate(line, half);
  for (size_t i = 0; i < in.size(); ++i) {
    const uint32_t want = expected(in[i]);
    if (got[i] == want) continue;
    FAIL_CHECK(line, " of ", std::hex, in[i], ": got ", got[i], ", want ", want);
    return;
  }
}

Exact f32(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

Exact f16(uint64_t bits) {
  const auto fraction = static_cast<Exact>(bits & 0x3ff);
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const Exact size = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

constexpr std::pair<const char*, Mode> kModes[] = {
    {"rn", Mode::rn}, {"rz", Mode::rz}, {"rm", Mode::rm}, {"rp", Mode::rp}};

}  // namespace

TEST_CASE("run: bf16 from everything, in every rounding") {
  for (const auto& [name, mode] : kModes) {
    const std::string cvt = std::string("cvt.") + name + ".bf16.";
    const Mode m = mode;
    check(cvt + "f32 %h0, %f1;", true, [m](uint64_t v) { return bf16_of(f32(v), m); });
    check(cvt + "f64 %h0, %fd1;", true,
          [m](uint64_t v) { return bf16_of(std::bit_cast<double>(v), m); });
    check(cvt + "f16 %h0, %h1;", true, [m](uint64_t v) { return bf16_of(f16(v), m); });
    check(cvt + "s64 %h0, %rd1;", true,
          [m](uint64_t v) { return bf16_of(static_cast<Exact>(static_cast<int64_t>(v)), m); });
    check(cvt + "u64 %h0, %rd1;", true,
          [m](uint64_t v) { return bf16_of(static_cast<Exact>(v), m); });
    check(cvt + "s32 %h0, %r1;", true,
          [m](uint64_t v) { return bf16_of(static_cast<int32_t>(v), m); });
    check(cvt + "u16 %h0, %h1;", true,
          [m](uint64_t v) { return bf16_of(static_cast<uint16_t>(v), m); });
  }
  check("cvt.bf16.f16 %h0, %h1;", true, [](uint64_t v) { return bf16_of(f16(v), Mode::rn); });
}

TEST_CASE("run: .relu, .satfinite and pairs") {
  const auto finite = [](uint32_t h) { return (h & 0x7fff) == 0x7f80 ? h - 1 : h; };
  const auto positive = [](uint32_t h) { return (h & 0x8000) != 0 ? 0 : h; };
  const auto rn = [](uint64_t v) { return bf16_of(f32(v), Mode::rn); };
  check("cvt.rn.satfinite.bf16.f32 %h0, %f1;", true, [&](uint64_t v) { return finite(rn(v)); });
  check("cvt.rn.relu.bf16.f32 %h0, %f1;", true, [&](uint64_t v) { return positive(rn(v)); });
  check("cvt.rn.bf16x2.f32 %r0, %f1, %f2;", false,
        [&](uint64_t v) { return rn(v) << 16 | rn(v >> 32); });
  check("cvt.rz.relu.bf16x2.f32 %r0, %f1, %f2;", false, [&](uint64_t v) {
    return positive(bf16_of(f32(v), Mode::rz)) << 16 | positive(bf16_of(f32(v >> 32), Mode::rz));
  });
  check("cvt.rn.ftz.bf16.f32 %h0, %f1;", true, [&](uint64_t v) {
    const bool tiny = (v & 0x7f800000) == 0;
    return tiny ? static_cast<uint32_t>(v >> 16 & 0x8000) : rn(v);
  });
}

TEST_CASE("run: bf16 to everything") {
  const auto value = [](uint64_t v) { return value_of_bf16(static_cast<uint32_t>(v & 0xffff)); };
  check("cvt.f32.bf16 %f0, %h1; mov.b32 %r0, %f0;", false,
        [](uint64_t v) { return static_cast<uint32_t>(v << 16); });
  check("cvt.rzi.s32.bf16 %r0, %h1;", false, [&](uint64_t v) -> uint32_t {
    const Exact x = value(v);
    if (std::isnan(x)) return 0;
    if (x >= 0x1p31L) return 0x7fffffff;
    if (x <= -0x1p31L) return 0x80000000;
    return static_cast<uint32_t>(static_cast<int32_t>(x));
  });
  check("cvt.rpi.u16.bf16 %h0, %h1;", true, [&](uint64_t v) -> uint32_t {
    const Exact x = std::ceil(value(v));
    return std::isnan(x) || x <= 0 ? 0 : x >= 65535 ? 65535 : static_cast<uint32_t>(x);
  });
  check("cvt.rmi.bf16.bf16 %h0, %h1;", true,
        [&](uint64_t v) { return bf16_of(std::floor(value(v)), Mode::rn); });
}

TEST_CASE("run: tf32 and packed integers") {
  const auto tf32 = [](uint64_t v, uint32_t addend) {
    const auto x = static_cast<uint32_t>(v);
    return (x & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : (x + addend) & 0xffffe000;
  };
  check("cvt.rna.tf32.f32 %r0, %f1;", false, [&](uint64_t v) { return tf32(v, 0x1000); });
  check("cvt.rz.tf32.f32 %r0, %f1;", false, [&](uint64_t v) { return tf32(v, 0); });
  check("cvt.rn.tf32.f32 %r0, %f1;", false,
        [&](uint64_t v) { return tf32(v, 0xfff + static_cast<uint32_t>(v >> 13 & 1)); });
  const auto clamp = [](uint64_t v, int32_t low, int32_t high) {
    return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(v), low, high));
  };
  check("cvt.pack.sat.s16.s32 %r0, %r1, %r3;", false, [&](uint64_t v) {
    return clamp(v, -32768, 32767) << 16 | (clamp(v >> 32, -32768, 32767) & 0xffff);
  });
  check("cvt.pack.sat.u8.s32.b32 %r0, %r1, %r3, %r1;", false, [&](uint64_t v) {
    return static_cast<uint32_t>(v) << 16 | clamp(v, 0, 255) << 8 | clamp(v >> 32, 0, 255);
  });
  // Wider registers: sources are their low words; what is written has nothing above it.
  const auto wide = [&](uint64_t v) {
    return static_cast<uint32_t>(v) << 16 | clamp(v, 0, 255) << 8 | clamp(v, 0, 255);
  };
  check(
      "cvt.pack.sat.u8.s32.b32 %rd5, %rd1, %r1, %rd1; shr.u64 %rd6, %rd5, 32;\n"
      "or.b64 %rd5, %rd5, %rd6; cvt.u32.u64 %r0, %rd5;",
      false, wide);
  check(
      ".reg .b128 %q; mov.b128 %q, {%rd1, %rd1}; cvt.pack.sat.u8.s32.b32 %q, %r1, %q, %q;\n"
      "mov.b128 {%rd5, %rd6}, %q; or.b64 %rd5, %rd5, %rd6; shr.u64 %rd6, %rd5, 32;\n"
      "or.b64 %rd5, %rd5, %rd6; cvt.u32.u64 %r0, %rd5;",
      false, wide);
}

TEST_CASE("run: the n-th set bit") {
  check("and.b32 %r4, %r3, 31; shr.s32 %r5, %r3, 27; fns.b32 %r0, %r1, %r4, %r5;", false,
        [](uint64_t v) {
          const auto mask = static_cast<uint32_t>(v);
          const auto other = static_cast<int32_t>(v >> 32);
          int at = other & 31, left = other >> 27;
          if (left == 0) return (mask >> at & 1) != 0 ? static_cast<uint32_t>(at) : 0xffffffff;
          const int step = left > 0 ? 1 : -1;
          for (left = std::abs(left); at >= 0 && at < 32; at += step)
            if ((mask >> at & 1) != 0 && --left == 0) return static_cast<uint32_t>(at);
          return 0xffffffff;
        });
}

TEST_CASE("run: a register with an offset is a sum") {
  check("mov.b32 %r0, %r1+5;", false, [](uint64_t v) { return static_cast<uint32_t>(v + 5); });
  check("mov.b64 %rd5, %rd1+-3; cvt.u32.u64 %r0, %rd5;", false,
        [](uint64_t v) { return static_cast<uint32_t>(v - 3); });
}
