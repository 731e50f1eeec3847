// Conversions between number formats.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/values/sass/sass.hpp"

namespace values::sass::convert {

namespace {

struct Direction {
  const char* text;
  const char* integral;
  int mode;
};
constexpr Direction kDirections[] = {{"", "", FE_TONEAREST},
                                     {".RM", ".FLOOR", FE_DOWNWARD},
                                     {".RP", ".CEIL", FE_UPWARD},
                                     {".RZ", ".TRUNC", FE_TOWARDZERO}};

struct Integer {
  const char* text;
  unsigned bits;
  bool is_signed;
};
constexpr Integer kIntegers[] = {{"U8", 8, false},   {"S8", 8, true},    {"U16", 16, false},
                                 {"S16", 16, true},  {"U32", 32, false}, {"S32", 32, true},
                                 {"U64", 64, false}, {"S64", 64, true}};
constexpr const char* kFloats[] = {"F16", "F32", "F64"};

Pool pool_of(const Integer& t) {
  return t.bits == 8 ? u8() : t.bits == 16 ? u16() : t.bits == 32 ? u32() : u64();
}
Pool pool_of(const std::string& f) {
  return f == "F16" ? f16() : f == "F32" ? f32() : f64();
}
unsigned words_of(const std::string& f) {
  return f == "F64" ? 2 : 1;
}

/// The value that an input's low bits have in a format.
__int128 integer(const Integer& t, In in) {
  const uint64_t all = t.bits == 64 ? wide(in[0], in[1]) : in[0];
  const unsigned shift = 64 - t.bits;
  if (t.is_signed) return static_cast<int64_t>(all << shift) >> shift;
  return all << shift >> shift;
}

/// -x and |x| of the smallest number of a format are that number.
__int128 wrapped(const Integer& t, __int128 x) {
  const unsigned shift = 128 - t.bits;
  return static_cast<__int128>(static_cast<unsigned __int128>(x) << shift) >> shift;
}

/// An instruction on input 0, also with the input in constant memory.
void both(std::vector<Case>& out, const std::string& form, unsigned inputs, unsigned outputs,
          const Tuples& t, const Oracle& oracle, bool on_devices = true) {
  const auto with = [&](const std::string& operand) {
    std::string text = form;
    return Line{"", text.replace(text.find("{b}"), 3, operand), ""};
  };
  out.push_back(make(with("R8"), inputs, outputs, t, oracle));
  out.back().on_devices = on_devices;
  for (const unsigned n : {0U, 2U}) {
    Words w = {constants()[n], constants()[n + 1]};
    w.resize(inputs);
    out.push_back(make(with(constant(n)), inputs, outputs, {w}, oracle));
  }
}

/// An integer rounded once, in the host's direction. Numbers of 64 bits fit a long double.
void put_float(const std::string& to, __int128 x, Out o) {
  const volatile long double exact = static_cast<long double>(x);
  if (to == "F16") {
    const volatile double d =
        static_cast<double>(x);  // all that is below 2^16 fits; above is above
    o[0] = f16_bits(d);
  } else if (to == "F32") {
    o[0] = bits(static_cast<float>(exact));
  } else {
    const uint64_t d = bits(static_cast<double>(exact));
    o[0] = static_cast<uint32_t>(d);
    o[1] = static_cast<uint32_t>(d >> 32);
  }
}

void from_integers(std::vector<Case>& out) {
  for (const Integer& from : kIntegers)
    for (const std::string to : kFloats)
      for (const Direction& d : kDirections) {
        const auto text = [&](const char* operand) {
          return fmt::format("I2F.{}.{}{} R0, {}", to, from.text, d.text, operand);
        };
        const unsigned in = from.bits == 64 ? 2 : 1;
        const Tuples t = tuples({pool_of(from)});
        both(out, text("{b}"), in, words_of(to), t, [=](In i, Out o) {
          const Rounding r(d.mode);
          put_float(to, integer(from, i), o);
        });
        if (!from.is_signed || d.mode == FE_TONEAREST) continue;
        both(
            out, text("-{b}"), in, words_of(to), t,
            [=](In i, Out o) {
              const Rounding r(d.mode);
              put_float(to, wrapped(from, -integer(from, i)), o);
            },
            false);
        both(
            out, text("|{b}|"), in, words_of(to), t,
            [=](In i, Out o) {
              const Rounding r(d.mode);
              const __int128 x = integer(from, i);
              put_float(to, wrapped(from, x < 0 ? -x : x), o);
            },
            false);
      }
}

/// A float's value; signs first, then subnormal numbers of 32 bits where they count as zeros.
double value(const std::string& from, In in, bool negative, bool absolute, bool ftz) {
  double x = from == "F16"   ? f16_to_double(in[0])
             : from == "F32" ? static_cast<double>(flushed(f32_of(in[0]), ftz))
                             : f64_of(wide(in[0], in[1]));
  if (absolute) x = std::fabs(x);
  return negative ? -x : x;
}

void to_integers(std::vector<Case>& out) {
  for (const std::string from : kFloats)
    for (const Integer& to : kIntegers) {
      if (to.bits < 16) continue;  // does not exist
      for (const Direction& d : kDirections)
        for (const bool ftz : {false, true}) {
          const bool negative = ftz, absolute = d.mode == FE_UPWARD;
          const unsigned in = words_of(from), words = std::max(to.bits / 32, 1U);
          const std::string operand = absolute ? "|{b}|" : "{b}";
          both(
              out,
              fmt::format("F2I{}.{}.{}{} R0, {}{}", ftz ? ".FTZ" : "", to.text, from, d.integral,
                          negative ? "-" : "", operand),
              in, words, tuples({pool_of(from)}),
              [=](In i, Out o) {
                const Rounding r(d.mode);
                const volatile double x = value(from, i, negative, absolute, ftz);
                const double whole = std::nearbyint(x);
                const double low = to.is_signed ? -std::ldexp(1, to.bits - 1) : 0,
                             high = std::ldexp(1, to.is_signed ? to.bits - 1 : to.bits);
                const uint64_t top = uint64_t{1} << (to.bits - 1);
                uint64_t result = 0;
                if (std::isnan(x))  // 0 where neither format is wide, else the highest bit alone
                  result = from == "F64" || to.bits == 64 ? top : 0;
                else if (whole >= high)
                  result = to.is_signed ? top - 1 : top | (top - 1);
                else if (whole <= low)
                  result = to.is_signed ? top : 0;
                else
                  result = to.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(whole))
                                        : static_cast<uint64_t>(whole);
                if (to.bits == 16 && to.is_signed)  // extended to the register
                  result = static_cast<uint64_t>(static_cast<int16_t>(result));
                for (unsigned n = 0; n < words; ++n) o[n] = static_cast<uint32_t>(result >> 32 * n);
              },
              ftz == (d.mode == FE_TONEAREST));
        }
    }
}

/// What I2I leaves in the register: above 16 bits zeros, whatever the sign.
uint32_t extended(const Integer& t, __int128 x) {
  const auto low = static_cast<uint64_t>(x);
  if (t.bits == 8)
    return t.is_signed ? static_cast<uint32_t>(static_cast<int8_t>(low)) : low & 0xff;
  return static_cast<uint32_t>(t.bits == 16 ? low & 0xffff : low);
}
__int128 clamped(const Integer& t, __int128 x) {
  const __int128 one = 1, high = (one << (t.bits - (t.is_signed ? 1 : 0))) - 1,
                 low = t.is_signed ? -high - 1 : 0;
  return x < low ? low : x > high ? high : x;
}

void between_integers(std::vector<Case>& out) {
  // Only of the same format: the negation modulo its size.
  both(out, "I2I.U32.U32 R0, -{b}", 1, 1, tuples({u32()}), [](In i, Out o) { o[0] = 0U - i[0]; });
  both(out, "I2I.U16.U16 R0, -{b}", 1, 1, tuples({u32()}),
       [](In i, Out o) { o[0] = (0U - i[0]) & 0xffff; });
  for (const Integer& from : kIntegers) {
    if (from.bits == 64) continue;  // does not exist
    for (const Integer& to : kIntegers) {
      if (to.bits == 64) continue;
      for (const bool sat : {false, true}) {
        const auto text = [&](const char* operand) {
          return fmt::format("I2I.{}.{}{} R0, {}", to.text, from.text, sat ? ".SAT" : "", operand);
        };
        const auto result = [=](__int128 x) { return extended(to, sat ? clamped(to, x) : x); };
        const Tuples t = tuples({pool_of(from)});
        const bool on_devices = to.bits == 32 && !sat;
        both(
            out, text("{b}"), 1, 1, t, [=](In i, Out o) { o[0] = result(integer(from, i)); },
            on_devices);
        if (!from.is_signed) continue;
        // |x| of the smallest number is unsigned for U32.
        const auto magnitude = [=](__int128 x) {
          x = x < 0 ? -x : x;
          return !sat && !to.is_signed && to.bits == 32 ? x : wrapped(from, x);
        };
        both(
            out, text("-{b}"), 1, 1, t,
            [=](In i, Out o) { o[0] = result(wrapped(from, -integer(from, i))); }, on_devices);
        both(
            out, text("|{b}|"), 1, 1, t,
            [=](In i, Out o) { o[0] = result(magnitude(integer(from, i))); }, on_devices);
      }
    }
    // The flags are those of a logic instruction.
    out.push_back(make({"IADD RZ.CC, R8, R8 ;\n", fmt::format("I2I.S32.{} R0.CC, R8", from.text),
                        "CSETP.HS.AND P0, PT, CC, PT ;\nSEL R1, RZ, 0x1, !P0 ;\n"
                        "CSETP.EQU.AND P0, PT, CC, PT ;\nSEL R2, RZ, 0x1, !P0 ;\n"
                        "CSETP.SFT.AND P0, PT, CC, PT ;\nSEL R3, RZ, 0x1, !P0 ;\n"},
                       1, 4, tuples({pool_of(from)}), [=](In i, Out o) {
                         o[0] = static_cast<uint32_t>(integer(from, i));
                         o[1] = 0;
                         o[2] = o[0] == 0;
                         o[3] = o[0] >> 31;
                       }));
  }
}

/// Bytes and halves of a register, and numbers.
void parts(std::vector<Case>& out) {
  for (const Integer& from : kIntegers) {
    if (from.bits > 16) continue;
    for (unsigned n = 1; n < 32 / from.bits; ++n) {
      const std::string operand = fmt::format("{}{}", from.bits == 8 ? ".B" : ".H", n);
      const auto chosen = [=](In i) {
        const Words shifted = {i[0] >> from.bits * n};
        return integer(from, shifted);
      };
      out.push_back(make({"", fmt::format("I2F.F32.{} R0, R8{}", from.text, operand), ""}, 1, 1,
                         tuples({u32()}),
                         [=](In i, Out o) { o[0] = bits(static_cast<float>(chosen(i))); }));
      out.push_back(make({"", fmt::format("I2I.S32.{} R0, R8{}", from.text, operand), ""}, 1, 1,
                         tuples({u32()}),
                         [=](In i, Out o) { o[0] = static_cast<uint32_t>(chosen(i)); }));
    }
  }
  const auto number = [&](const std::string& text, unsigned words, uint64_t result) {
    out.push_back(make({"", text, ""}, 1, words, tuples({flags()}), [=](In, Out o) {
      for (unsigned n = 0; n < words; ++n) o[n] = static_cast<uint32_t>(result >> 32 * n);
    }));
    out.back().on_devices = false;
  };
  number("I2F.F32.S32 R0, -0x7b", 1, raw(-123.0F));
  number("I2F.F64.U32 R0, 0x7fff", 2, raw(32767.0));
  number("I2F.F64.S64 R0, -0x5", 2, raw(-5.0));
  number("I2F.F32.U8 R0, 0x1234.B1", 1, raw(18.0F));
  number("I2I.S32.S8 R0, 0x80", 1, 0xffffff80);
  number("I2I.U16.S32.SAT R0, -0x80000", 1, 0);
  number("F2I.S32.F32.FLOOR R0, -2.5", 1, 0xfffffffd);
  number("F2I.S64.F64.TRUNC R0, -1.5", 2, static_cast<uint64_t>(-1));
  number("F2I.U32.F16 R0, 1024", 1, 1024);
  number("F2F.F64.F32 R0, -1.5", 2, raw(-1.5));
  number("F2F.F32.F64 R0, 1.5", 1, raw(1.5F));
  number("F2F.F32.F16 R0, 0.0999755859375", 1, 0x3dccc000);
  number("F2F.F32.F32.CEIL R0, 1.25", 1, raw(2.0F));
  number("F2F.F16.F16.CEIL R0, 1.5", 1, 0x4000);
  number("F2F.F64.F64.FLOOR R0, 1.5", 2, raw(1.0));
  for (const char* sign : {"", "-"}) {
    const bool negative = sign[0] != 0;
    out.push_back(make({"", fmt::format("F2F.F32.F16 R0, {}R8.H1", sign), ""}, 1, 1,
                       tuples({u32()}), [=](In i, Out o) {
                         const double x = f16_to_double(i[0] >> 16);
                         o[0] = bits(static_cast<float>(negative ? -x : x));
                       }));
    out.push_back(make({"", fmt::format("F2I.S32.F16.TRUNC R0, {}R8.H1", sign), ""}, 1, 1,
                       tuples({u32()}), [=](In i, Out o) {
                         const double x = f16_to_double(i[0] >> 16);
                         const double y = std::trunc(negative ? -x : x);
                         o[0] = std::isnan(y) ? 0
                                : y >= 0x1p31 ? 0x7fffffff
                                : y < -0x1p31 ? 0x80000000
                                              : static_cast<uint32_t>(static_cast<int32_t>(y));
                       }));
  }
}

/// A double as a number of a format, rounded in the host's direction.
void put(const std::string& to, double x, bool ftz, bool sat, Out o) {
  const volatile double exact = x;
  if (to == "F16") {
    o[0] = f16_bits(exact);
    if (sat) o[0] = f16_bits(saturated(f16_to_double(o[0])));
  } else if (to == "F32") {
    const float f = flushed_result([&](float k) { return static_cast<float>(exact * k); }, ftz);
    o[0] = bits(sat ? saturated(f) : f);
  } else {
    const double plain = exact;
    const uint64_t d = bits(sat ? saturated(plain) : plain);
    o[0] = static_cast<uint32_t>(d);
    o[1] = static_cast<uint32_t>(d >> 32);
  }
}

void between_floats(std::vector<Case>& out) {
  for (const std::string from : kFloats)
    for (const std::string to : kFloats) {
      const auto add = [&](const std::string& round, int mode, bool integral) {
        for (unsigned n = 0; n < 4; ++n) {
          const bool ftz = n % 2 != 0, sat = n / 2 != 0;
          if (integral && from == "F16" && ftz) continue;  // refused
          const bool negative = n == 1 || n == 3, absolute = n >= 2;
          const std::string operand = absolute ? "|{b}|" : "{b}";
          both(
              out,
              fmt::format("F2F{}.{}.{}{}{} R0, {}{}", ftz ? ".FTZ" : "", to, from, round,
                          sat ? ".SAT" : "", negative ? "-" : "", operand),
              words_of(from), words_of(to), tuples({pool_of(from)}),
              [=](In i, Out o) {
                const Rounding r(mode);
                volatile double x = value(from, i, negative, absolute, ftz);
                if (integral) x = std::nearbyint(x);
                put(to, x, ftz, sat, o);
              },
              n == 0 || (n == 3 && mode == FE_TONEAREST));
        }
      };
      for (const Direction& d : kDirections)
        if (from != to || d.mode == FE_TONEAREST) add(d.text, d.mode, false);
      if (from != to) continue;
      for (const Direction& d : kDirections)
        add(d.integral[0] == 0 ? ".ROUND" : d.integral, d.mode, true);
    }
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> out;
  from_integers(out);
  to_integers(out);
  between_integers(out);
  parts(out);
  between_floats(out);
  return out;
}

TEST_CASE("values: conversions") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::convert
