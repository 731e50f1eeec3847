// cvt: every source is a number that long double holds exactly; it is rounded once to the format of
// the destination, in the direction that the form names.
#include "tests/values/ptx/ptx.hpp"

namespace values::ptx::convert {

namespace {

/// A binary floating-point format, whose bits stand `shift` places up in the result.
struct Format {
  int precision, lowest_exponent, highest_exponent;
  uint64_t nan;
  unsigned bits, shift = 0;
  uint64_t most = 0;  ///< the largest number, where it is not below an infinity
  uint64_t infinity() const {
    return static_cast<uint64_t>(highest_exponent - lowest_exponent + 2) << (precision - 1);
  }
};
Format format_of(const Type& t) {
  if (t.name == "e4m3x2") return {4, -6, 8, 0x7f, 8, 0, 0x7e};
  if (t.name == "e5m2x2") return {3, -14, 15, 0x7f, 8};
  if (t.name == "tf32") return {11, -126, 127, 0x7fffffff, 19, 13};
  if (t.letter == 'B' || t.name == "bf16x2") return {8, -126, 127, 0x7fff, 16};
  if (t.bits == 64) return {53, -1022, 1023, kNaN64, 64};
  if (t.name == "f32") return {24, -126, 127, kNaN32, 32};
  return {11, -14, 15, kNaN16, 16};
}

struct Style {
  std::string round;
  bool ftz = false, sat = false, relu = false, satfinite = false;
  static Style of(Mods& m) {
    return {m.one_of({"rni", "rzi", "rmi", "rpi", "rna", "rn", "rz", "rm", "rp"}), m.take("ftz"),
            m.take("sat"), m.take("relu"), m.take("satfinite")};
  }
  bool plain() const { return round.empty() && !ftz && !sat && !relu && !satfinite; }
  bool to_whole() const { return round.size() == 3 && round != "rna"; }
};

long double rounded(long double x, const Style& s) {
  if (s.round == "rna") return std::copysign(std::floor(std::fabs(x) + 0.5L), x);
  const Rounding direction_of(direction(s.round));
  return std::nearbyint(x);
}

/// The magnitude bits of a number that is neither NaN nor infinite.
uint64_t magnitude(const Format& f, long double x, const Style& s) {
  if (x == 0) return 0;
  const int exponent = std::max(std::ilogb(x), f.lowest_exponent);
  const auto units =
      static_cast<uint64_t>(std::fabs(rounded(std::ldexp(x, f.precision - 1 - exponent), s)));
  const uint64_t one = uint64_t{1} << (f.precision - 1);
  const uint64_t bits =
      units < one ? units
                  : (static_cast<uint64_t>(exponent - f.lowest_exponent + 1) << (f.precision - 1)) +
                        (units - one);
  if (bits < f.infinity()) return bits;
  const bool away = s.round.empty() || s.round[1] == 'n' || s.round[1] == (x < 0 ? 'm' : 'p');
  return away ? f.infinity() : f.infinity() - 1;
}

uint64_t encoded(const Type& d, long double x, const Style& s) {
  const Format f = format_of(d);
  if (std::isnan(x)) return s.sat ? 0 : f.nan;
  if (s.sat) x = x > 0 ? x : 0;  // nothing from 0 to 1 rounds to what is not
  if (s.sat && x > 1) x = 1;
  uint64_t m = std::isinf(x) ? f.infinity() : magnitude(f, x, s);
  if (s.ftz && d.name == "f32" && m <= 0x00800000 &&
      magnitude(f, std::ldexp(x, 64), s) < uint64_t{65} << 23)
    m = 0;
  const uint64_t most = f.most != 0 ? f.most : f.infinity() - 1;
  if (s.satfinite) m = std::min(m, most);
  if (std::signbit(x) && s.relu) return 0;
  return (m | uint64_t{std::signbit(x)} << (f.bits - 1)) << f.shift;
}

long double decoded(const Type& t, uint64_t bits, bool ftz) {
  if (!t.is_float()) return static_cast<long double>(number(t, bits));
  if (t.name == "e5m2x2") return f16_to_double(static_cast<uint32_t>(bits << 8));
  if (t.name == "e4m3x2") {
    const auto m = static_cast<int>(bits & 7), e = static_cast<int>(bits >> 3 & 15);
    if ((bits & 127) == 127) return std::numeric_limits<long double>::quiet_NaN();
    const long double x = e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, e - 10);
    return (bits & 128) != 0 ? -x : x;
  }
  if (t.bits == 64) return f64_of(bits);
  if (t.letter == 'B') return flushed(f32_of(static_cast<uint32_t>(bits << 16)), ftz);
  if (t.bits == 16) return f16_to_double(static_cast<uint32_t>(bits & 0xffff));
  return flushed(f32_of(static_cast<uint32_t>(bits)), ftz);
}

/// Whole numbers are clamped; a NaN is 0 or, where 64 bits take part, the highest bit alone.
uint64_t to_integer(const Type& d, const Type& s, long double x) {
  if (std::isnan(x)) return d.bits == 64 || s.bits == 64 ? uint64_t{1} << (d.bits - 1) : 0;
  if (x <= -0x1p64L) return clamped(d, lowest(d));
  if (x >= 0x1p64L) return clamped(d, highest(d));
  return clamped(d, static_cast<Wide>(x));
}

/// A narrow result in a wider register is extended by its own sign.
uint64_t in_register(const Type& d, uint64_t bits) {
  return static_cast<uint64_t>(number(d, bits)) & mask(32);
}

Op to_ints(const Type& d, const Type& s, const Style& style) {
  const bool exact = s.letter == 'B';  // the registers of a conversion of bf16 have its widths
  const bool wider = !exact && (d.bits == 8 || (d.bits == 16 && s.bits != 32));
  Op op{{}, {{s}}, {{d, "", wider ? ".b32" : d.bits == 8 ? ".b8" : ""}}, {}};
  if (s.bits == 16 && !s.is_float() && d.bits == 64) op.sources[0].reg = ".b32";
  op.value = [=](Args in, Results out) {
    if (s.is_float()) {
      const long double x = decoded(s, in[0], style.ftz);
      out[0] = to_integer(d, s, std::isfinite(x) ? rounded(x, style) : x);
    } else {
      const Wide v = number(s, in[0]);
      out[0] = style.sat ? clamped(d, v) : static_cast<uint64_t>(v) & mask(d.bits);
    }
    if (wider) out[0] = in_register(d, out[0]);
  };
  return op;
}

/// bf16 is the upper half of f32: going there moves bits, also those of a NaN.
Op widened(const Type& d, const Type& s, const Style& style) {
  return {{}, {{s}}, {{d}}, [=](Args in, Results out) {
            const bool small = (in[0] & 0x7f80) == 0;
            out[0] = (style.ftz && small ? in[0] & 0x8000 : in[0]) << 16;
          }};
}

Op to_floats(const Type& d, const Type& s, const Style& style) {
  if (d.name == "f32" && s.letter == 'B') return widened(d, s, style);
  const std::string from = d.letter == 'B' && s.bits == 8 ? ".b8" : "";
  return {{}, {{s, "", from}}, {{d}}, [=](Args in, Results out) {
            if (d.name == s.name && s.bits >= 32 && style.plain()) {
              out[0] = in[0];  // no arithmetic: the bits of a NaN stay
              return;
            }
            // To f16 nothing is flushed, whatever `.ftz` says.
            long double x = decoded(s, in[0], style.ftz && d.name != "f16");
            if (style.to_whole() && std::isfinite(x)) x = rounded(x, style);
            out[0] = encoded(d, x, style);
          }};
}

/// The first source makes the upper half.
Op to_pair(const Type& d, const Type& s, const Style& style) {
  const unsigned bits = d.bits / 2;
  if (s.name.ends_with("x2")) {
    const Type part = s.name == "f16x2" ? type_named("f16") : s;
    return {{}, {{s}}, {{d}}, [=](Args in, Results out) {
              out[0] = 0;
              for (unsigned i = 0; i < 2; ++i) {
                const uint64_t half = in[0] >> (i * s.bits / 2) & mask(s.bits / 2);
                out[0] |= encoded(d, decoded(part, half, false), style) << (i * bits);
              }
            }};
  }
  return {{}, {{s}, {s}}, {{d}}, [=](Args in, Results out) {
            out[0] = encoded(d, decoded(s, in[0], false), style) << bits |
                     encoded(d, decoded(s, in[1], false), style);
          }};
}

/// Two clamped numbers side by side, and the low bits of a third operand above them.
std::optional<Op> pack(Mods& m) {
  if (!m.take("sat")) return {};
  const auto d = m.type(), s = m.type(), c = m.type();
  if (!d || !s) return {};
  const Type b32{"b32", 'b', 32};
  Op op{{}, {{*s}, {*s}}, {{b32}}, {}};
  if (c) op.sources.push_back({*c});
  op.value = [d = *d, s = *s, third = c.has_value()](Args in, Results out) {
    const uint64_t both = clamped(d, number(s, in[0])) << d.bits | clamped(d, number(s, in[1]));
    out[0] = (both | (third ? in[2] << (2 * d.bits) : 0)) & mask(32);
  };
  return op;
}

std::optional<Op> cvt(const std::string&, Mods& m) {
  if (m.take("pack")) return pack(m);
  const Style style = Style::of(m);
  const auto d = m.type(), s = m.type();
  if (!d || !s) return {};
  if (d->name.ends_with("x2")) return to_pair(*d, *s, style);
  return d->is_float() ? to_floats(*d, *s, style) : to_ints(*d, *s, style);
}

}  // namespace

const Makers& makers() {
  static const Makers makers = {{"cvt", cvt}};
  return makers;
}

}  // namespace values::ptx::convert
