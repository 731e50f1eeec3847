// 32-bit multiplication, scaled products, and what is added in one instruction.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::multiply {

namespace {

class Builder {
 public:
  std::vector<Case> out;
  void all(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle, const Immediates& numbers = integers()) {
    add_variants(out, line, 1, inputs, outputs, t, oracle, numbers);
  }
  void one(const Line& line, unsigned inputs, unsigned outputs, const Tuples& t,
           const Oracle& oracle) {
    out.push_back(make(line, inputs, outputs, t, oracle));
  }
};

constexpr const char* kSigns[] = {".U32.U32", ".S32.U32", ".U32.S32", ""};

__int128 factor(uint32_t x, bool is_signed) {
  return is_signed ? __int128{static_cast<int32_t>(x)} : __int128{x};
}
uint32_t half(__int128 x, bool high) {
  return static_cast<uint32_t>(static_cast<uint64_t>(x) >> (high ? 32 : 0));
}

void products(Builder& b) {
  const Tuples two = tuples({u32(), u32()}, 400), three = tuples({u32(), u32(), u32()}, 400);
  for (unsigned signs = 0; signs < 4; ++signs)
    for (const bool high : {false, true}) {
      const char *s = kSigns[signs], *hi = high ? ".HI" : "";
      const auto product = [=](uint32_t x, uint32_t y) {
        return factor(x, (signs & 1) != 0) * factor(y, (signs & 2) != 0);
      };
      b.all({"", fmt::format("IMUL{}{} R0, R8, {{b}}", s, hi), ""}, 2, 1, two,
            [=](In in, Out o) { o[0] = half(product(in[0], in[1]), high); });
      for (const uint32_t k : {0x80000001U, 0x1234U})
        b.one({"", fmt::format("IMUL32I{}{} R0, R8, {:#x}", s, hi, k), ""}, 1, 1, tuples({u32()}),
              [=](In in, Out o) { o[0] = half(product(in[0], k), high); });
      // Products and addends, negated and not, and one more.
      for (const bool minus_product : {false, true})
        for (const bool minus_addend : {false, true}) {
          if (minus_product && minus_addend) continue;
          const auto sum = [=](In in, uint32_t y, uint32_t z) {
            const __int128 p = product(in[0], y);
            return half(minus_product ? -p : p, high) + (minus_addend ? 0 - z : z);
          };
          const char *ma = minus_product ? "-" : "", *mc = minus_addend ? "-" : "";
          b.all({"", fmt::format("IMAD{}{} R0, {}R8, {{b}}, {}R10", s, hi, ma, mc), ""}, 3, 1,
                three, [=](In in, Out o) { o[0] = sum(in, in[1], in[2]); });
          b.one({"", fmt::format("IMAD{}{} R0, {}R8, R9, {}{}", s, hi, ma, mc, constant(1)), ""}, 2,
                1, two, [=](In in, Out o) { o[0] = sum(in, in[1], constants()[1]); });
          for (const uint32_t k : {0x80000001U, 0x1234U})
            b.one({"MOV R0, R9 ;\n",
                   fmt::format("IMAD32I{}{} R0, {}R8, {:#x}, {}R0", s, hi, ma, k, mc), ""},
                  2, 1, two, [=](In in, Out o) { o[0] = sum(in, k, in[1]); });
        }
      b.one({"MOV R0, R9 ;\n", fmt::format("IMAD32I{}{}.PO R0, R8, 0x80001234, R0", s, hi), ""}, 2,
            1, two,
            [=](In in, Out o) { o[0] = half(product(in[0], 0x80001234), high) + in[1] + 1; });
      b.one({"MOV R0, R9 ;\n", fmt::format("IMAD32I{}{} R0.CC, R8, 0x80001234, R0", s, hi),
             "IADD.X R1, RZ, RZ ;\n"},
            2, 2, two, [=](In in, Out o) {
              const uint64_t total = uint64_t{half(product(in[0], 0x80001234), high)} + in[1];
              o[0] = static_cast<uint32_t>(total);
              o[1] = static_cast<uint32_t>(total >> 32);
            });
      b.all({"", fmt::format("IMAD{}{}.PO R0, R8, {{b}}, R10", s, hi), ""}, 3, 1, three,
            [=](In in, Out o) { o[0] = half(product(in[0], in[1]), high) + in[2] + 1; });
      b.one({"", fmt::format("IMAD{}{}.PO R0, R8, R9, {}", s, hi, constant(1)), ""}, 2, 1, two,
            [=](In in, Out o) { o[0] = half(product(in[0], in[1]), high) + constants()[1] + 1; });
      // Carries go out and come in.
      b.all({"", fmt::format("IMAD{}{} R0.CC, R8, {{b}}, R10", s, hi), "IADD.X R1, RZ, RZ ;\n"}, 3,
            2, three, [=](In in, Out o) {
              const uint64_t total = uint64_t{half(product(in[0], in[1]), high)} + in[2];
              o[0] = static_cast<uint32_t>(total);
              o[1] = static_cast<uint32_t>(total >> 32);
            });
      b.all({"IADD RZ.CC, R11, -0x1 ;\n", fmt::format("IMAD{}{}.X R0, R8, {{b}}, R10", s, hi), ""},
            4, 1, tuples({u32(), u32(), u32(), flags()}, 400),
            [=](In in, Out o) { o[0] = half(product(in[0], in[1]), high) + in[2] + in[3]; });
    }
  b.all({"", "IMAD.HI.SAT R0, R8, {b}, R10", ""}, 3, 1, three, [](In in, Out o) {
    const __int128 p = factor(in[0], true) * factor(in[1], true);
    const int64_t sum = int64_t{static_cast<int32_t>(half(p, true))} + static_cast<int32_t>(in[2]);
    o[0] = static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  });
  b.one({"", "IMAD.HI.SAT R0, R8, R9, " + constant(1), ""}, 2, 1, two, [](In in, Out o) {
    const __int128 p = factor(in[0], true) * factor(in[1], true);
    const int64_t sum =
        int64_t{static_cast<int32_t>(half(p, true))} + static_cast<int32_t>(constants()[1]);
    o[0] = static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  });
}

void shifted_sums(Builder& b) {
  for (const unsigned n : {0U, 4U, 31U})
    for (const uint32_t k : {0x12345678U, 0x80000000U, 0xffffffffU}) {
      b.one({"", fmt::format("ISCADD32I R0, R8, {:#x}, {:#x}", k, n), ""}, 1, 1, tuples({u32()}),
            [=](In in, Out o) { o[0] = (in[0] << n) + k; });
      b.one({"", fmt::format("ISCADD32I R0.CC, R8, {:#x}, {:#x}", k, n), "IADD.X R1, RZ, RZ ;\n"},
            1, 2, tuples({u32()}), [=](In in, Out o) {
              const uint64_t sum = uint64_t{in[0] << n} + k;
              o[0] = static_cast<uint32_t>(sum);
              o[1] = static_cast<uint32_t>(sum >> 32);
            });
    }
}

/// A part of a word as a number.
int32_t part(uint32_t word, unsigned at, unsigned width, bool is_signed) {
  const uint32_t bits = word >> at & ((1U << width) - 1);
  return is_signed && (bits >> (width - 1) & 1) != 0 ? static_cast<int32_t>(bits) - (1 << width)
                                                     : static_cast<int32_t>(bits);
}

/// Products of bytes, or of halves and the bytes of one half, with a sum.
void dot_products(Builder& b) {
  const Tuples three = tuples({u32(), u32(), u32()}, 400);
  for (const bool signed_a : {false, true})
    for (const bool signed_b : {false, true}) {
      const auto add = [&](const std::string& name, unsigned width, unsigned first) {
        const auto sum = [=](uint32_t x, uint32_t y, uint32_t z) {
          for (unsigned n = 0; n < 32 / width; ++n)
            z += static_cast<uint32_t>(part(x, n * width, width, signed_a) *
                                       part(y, first + 8 * n, 8, signed_b));
          return z;
        };
        const std::string text = fmt::format("IDP.{}.{}{}.{} R0, R8, ", name, signed_a ? 'S' : 'U',
                                             width, signed_b ? "S8" : "U8");
        b.one({"", text + "R9, R10", ""}, 3, 1, three,
              [=](In in, Out o) { o[0] = sum(in[0], in[1], in[2]); });
        b.one({"", text + constant(1) + ", R9", ""}, 2, 1, tuples({u32(), u32()}, 100),
              [=](In in, Out o) { o[0] = sum(in[0], constants()[1], in[1]); });
      };
      add("4A", 8, 0);
      add("2A.LO", 16, 0);
      add("2A.HI", 16, 16);
    }
}

/// Bits of the first operand go to where, and as many as, the second says.
uint32_t inserted(uint32_t a, uint32_t b, uint32_t c) {
  const unsigned place = b & 0xff, length = b >> 8 & 0xff;
  uint32_t result = c;
  for (unsigned n = 0; n < length && place + n < 32; ++n) {
    const uint32_t bit = uint32_t{1} << (place + n);
    result = (n < 32 && (a >> n & 1) != 0) ? result | bit : result & ~bit;
  }
  return result;
}

void fields(Builder& b) {
  Tuples t;
  Random next(3);
  for (unsigned n = 0; n < 500; ++n)
    t.push_back({static_cast<uint32_t>(next()),
                 static_cast<uint32_t>(next() % 40) | static_cast<uint32_t>(next() % 40) << 8 |
                     (n % 3 == 0 ? 0xabcd0000 : 0),
                 static_cast<uint32_t>(next())});
  Tuples pairs;
  for (const Words& w : t) pairs.push_back({w[0], w[1]});
  b.all({"", "BFI R0, R8, {b}, R10", ""}, 3, 1, t,
        [](In in, Out o) { o[0] = inserted(in[0], in[1], in[2]); });
  // Bytes of two words, of which the second is a constant.
  b.one({"", "PRMT R0, R8, R9, " + constant(1), ""}, 2, 1, pairs, [](In in, Out o) {
    const uint64_t all = wide(in[0], constants()[1]);
    o[0] = 0;
    for (unsigned n = 0; n < 4; ++n) {
      const uint32_t code = in[1] >> 4 * n & 15;
      const auto byte = static_cast<uint32_t>(all >> 8 * (code & 7) & 0xff);
      o[0] |= (code < 8 ? byte : (byte & 0x80) != 0 ? 0xffU : 0U) << 8 * n;
    }
  });
  for (unsigned n = 0; n < 2; ++n)
    b.one({"", "BFI R0, R8, R9, " + constant(n), ""}, 2, 1, pairs,
          [k = constants()[n]](In in, Out o) { o[0] = inserted(in[0], in[1], k); });
}

struct Direction {
  const char* text;
  int mode;
};
constexpr Direction kDirections[] = {
    {"", FE_TONEAREST}, {".RM", FE_DOWNWARD}, {".RP", FE_UPWARD}, {".RZ", FE_TOWARDZERO}};

void scaled(Builder& b) {
  const struct {
    const char* text;
    double factor;
  } scales[] = {{".D2", 0.5}, {".D4", 0.25}, {".D8", 0.125}, {".M8", 8}, {".M4", 4}, {".M2", 2}};
  const Tuples two = tuples({f32(), f32()}, 700);
  for (const auto& scale : scales)
    for (const Direction& d : kDirections)
      for (const bool ftz : {false, true}) {
        const bool sat = ftz && d.mode == FE_TONEAREST, minus = d.mode == FE_UPWARD;
        const auto text = fmt::format("FMUL{}{}{}{} R0, R8, {}{{b}}", ftz ? ".FTZ" : "", scale.text,
                                      d.text, sat ? ".SAT" : "", minus ? "-" : "");
        const size_t first = b.out.size();
        b.all(
            {"", text, ""}, 2, 1, two,
            [=, factor = scale.factor](In in, Out o) {
              const Rounding r(d.mode);
              const double x = flushed(f32_of(in[0]), ftz), y = flushed(f32_of(in[1]), ftz);
              const volatile double exact = x * (minus ? -y : y) * factor;
              const float f =
                  flushed_result([&](float k) { return static_cast<float>(exact * k); }, ftz);
              o[0] = bits(sat ? saturated(f) : f);
            },
            floats());
        for (size_t n = first; n < b.out.size(); ++n) b.out[n].on_devices = false;
      }
}

void fused(Builder& b) {
  for (const uint32_t k : {0x40490fdbU, 0xbf800001U, 0x00000001U})
    for (const bool ftz : {false, true})
      for (const bool sat : {false, true})
        for (unsigned signs = 0; signs < 4; ++signs) {
          const bool na = (signs & 1) != 0, nc = (signs & 2) != 0;
          b.one({"MOV R0, R9 ;\n",
                 fmt::format("FFMA32I{}{} R0, {}R8, {:#x}, {}R0", ftz ? ".FTZ" : "",
                             sat ? ".SAT" : "", na ? "-" : "", k, nc ? "-" : ""),
                 ""},
                2, 1, tuples({f32(), f32()}, 300), [=](In in, Out o) {
                  const float x = flushed(f32_of(in[0]), ftz), y = flushed(f32_of(k), ftz),
                              z = flushed(f32_of(in[1]), ftz);
                  const float f = flushed_result(
                      [&](float s) { return std::fma(s * (na ? -x : x), y, s * (nc ? -z : z)); },
                      ftz);
                  o[0] = bits(sat ? saturated(f) : f);
                });
        }
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  products(b);
  dot_products(b);
  shifted_sums(b);
  fields(b);
  scaled(b);
  fused(b);
  return std::move(b.out);
}

TEST_CASE("values: multiplication and fields") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::multiply
