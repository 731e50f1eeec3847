// Video instructions: parts of two words, a result that is clamped, merged or accumulated.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/values/sass/sass.hpp"

namespace values::sass::video {

namespace {

/// A part of a word: its type and suffix in text, and its value.
struct Part {
  const char *type, *suffix;
  unsigned bits, place;
  bool is_signed;
  __int128 operator()(uint32_t x) const {
    const unsigned shift = 64 - bits;
    const uint64_t low = static_cast<uint64_t>(x >> place) << shift;
    return is_signed ? __int128{static_cast<int64_t>(low) >> shift} : __int128{low >> shift};
  }
};
constexpr Part kParts[] = {
    {"U8", "", 8, 0, false},     {"U8", ".B1", 8, 8, false},   {"S8", ".B2", 8, 16, true},
    {"U8", ".B3", 8, 24, false}, {"U16", "", 16, 0, false},    {"S16", ".H1", 16, 16, true},
    {"U32", "", 32, 0, false},   {"S32", "", 32, 0, true},     {"S8", "", 8, 0, true},
    {"S16", "", 16, 0, true},    {"U16", ".H1", 16, 16, false}};

std::string types(const Part& a, const Part& b) {
  const bool usual = a.bits == 32 && b.bits == 32 && a.is_signed && b.is_signed;
  return usual ? "" : fmt::format(".{}.{}", a.type, b.type);
}

/// What happens to the result, with the third operand.
struct Finish {
  const char* text;
  unsigned bits, place;
  char op;  ///< 0 merge, - none, + add, < smaller, > larger
};
constexpr Finish kFinishes[] = {
    {".MRG_16H", 16, 16, 0}, {".MRG_16L", 16, 0, 0}, {".MRG_8B0", 8, 0, 0}, {".MRG_8B2", 8, 16, 0},
    {".ACC", 32, 0, '+'},    {".MIN", 32, 0, '<'},   {".MAX", 32, 0, '>'},  {"", 32, 0, '-'}};

uint32_t finished(const Finish& f, __int128 x, uint32_t c, bool is_signed, bool sat) {
  if (sat) {
    const __int128 one = 1, high = (one << (f.bits - (is_signed ? 1 : 0))) - 1,
                   low = is_signed ? -high - 1 : 0;
    x = std::clamp(x, low, high);
  }
  const auto u = static_cast<uint32_t>(x);
  const bool less = is_signed ? static_cast<int32_t>(u) < static_cast<int32_t>(c) : u < c;
  if (f.op == '-') return u;
  if (f.op == '+') return u + c;
  if (f.op == '<') return less ? u : c;
  if (f.op == '>') return less ? c : u;
  const auto mask = static_cast<uint32_t>(((uint64_t{1} << f.bits) - 1) << f.place);
  return (u << f.place & mask) | (c & ~mask);
}

class Builder {
 public:
  std::vector<Case> out;
  /// `form` with {t} for the types, {a}, {b} and {c}: parts of registers, or a number for b.
  template <typename F>
  void add(const std::string& form, const Part& a, const Part& b, bool number, F result,
           const std::string& after = "", unsigned outputs = 1) {
    const uint32_t k = 0x9234;
    const Part sixteen{b.is_signed ? "S16" : "U16", "", 16, 0, b.is_signed};
    const bool usual = a.bits == 32 && a.is_signed && b.is_signed && number && hides_number_;
    const auto text =
        fmt::format(fmt::runtime(form),
                    fmt::arg("t", usual    ? ""
                                  : number ? fmt::format(".{}.{}", a.type, sixteen.type)
                                           : types(a, b)),
                    fmt::arg("a", std::string("R8") + a.suffix),
                    fmt::arg("b", !number                         ? std::string("R9") + b.suffix
                                  : b.is_signed && signed_number_ ? std::string("-0x6dcc")
                                                                  : std::string("0x9234")),
                    fmt::arg("c", "R10"));
    const Part second = number ? sixteen : b;
    out.push_back(
        make({"", text, after}, 3, outputs, tuples({u32(), u32(), u32()}, 150),
             [=](In in, Out o) { result(a(in[0]), second(number ? k : in[1]), in[2], o); }));
    out.back().on_devices = out.size() % 11 == 0;
  }
  bool signed_number_ = false, hides_number_ = true;
};

/// All forms of the operands that are not written, one of each of the others.
template <typename F>
void each_form(F f) {
  unsigned n = 0;
  for (const Part& a : kParts)
    for (const Part& b : kParts) {
      const bool usual = a.bits == 32 && a.is_signed && b.bits == 32 && b.is_signed;
      for (unsigned form = 0; form < 4; ++form)
        for (const bool number : {false, true})
          if (usual || (form == n % 4 && number == (n % 5 == 0))) f(a, b, form, number, n + form);
      ++n;
    }
}

void sums(Builder& b) {
  unsigned count = 0;
  each_form([&](const Part& pa, const Part& pb, unsigned form, bool number, unsigned n) {
    const Finish f = kFinishes[count++ % 8];
    const bool sat = n / 2 % 2 != 0, is_signed = n / 3 % 2 != 0;
    const std::string text =
        fmt::format("VADD{}{{t}}{}{}{} R0, {}{{a}}, {}{{b}}, {{c}}", is_signed ? "" : ".UD",
                    form == 3 ? ".PO" : "", sat ? ".SAT" : "", f.text, form == 2 ? "-" : "",
                    form == 1 ? "-" : "");
    b.add(text, pa, pb, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
      const __int128 sum = form == 0 ? x + y : form == 1 ? x - y : form == 2 ? y - x : x + y + 1;
      o[0] = finished(f, sum, c, is_signed, sat);
    });
  });
}

void differences_and_extremes(Builder& b) {
  b.signed_number_ = true;
  unsigned n = 0;
  for (const Part& pa : kParts)
    for (const Part& pb : kParts) {
      const Finish f = kFinishes[n % 8];
      const bool sat = n / 2 % 2 != 0, is_signed = n / 3 % 2 != 0, number = n % 5 == 0;
      const bool larger = ++n % 2 != 0;
      b.add(fmt::format("VABSDIFF{}{{t}}{}{} R0, {{a}}, {{b}}, {{c}}", is_signed ? ".SD" : "",
                        sat ? ".SAT" : "", f.text),
            pa, pb, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
              o[0] = finished(f, x < y ? y - x : x - y, c, is_signed, sat);
            });
      b.add(fmt::format("VMNMX{}{{t}}{}{}{} R0, {{a}}, {{b}}, {{c}}", is_signed ? "" : ".UD",
                        larger ? ".MX" : "", sat ? ".SAT" : "", f.text),
            pa, pb, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
              o[0] = finished(f, (x < y) == larger ? y : x, c, is_signed, sat);
            });
    }
}

constexpr const char* kConditions[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
bool compared(unsigned code, __int128 x, __int128 y) {
  return (code & (x < y ? 1U : x == y ? 2U : 4U)) != 0;
}

void compares(Builder& b) {
  unsigned n = 0;
  for (const Part& pa : kParts)
    for (const Part& pb : kParts) {
      const unsigned code = n % 8;
      const Finish f = kFinishes[n / 3 % 8];
      const bool number = n++ % 5 == 0;
      b.hides_number_ = true;
      b.add(fmt::format("VSET.{}{{t}}{} R0, {{a}}, {{b}}, {{c}}", kConditions[code], f.text), pa,
            pb, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
              o[0] = finished(f, compared(code, x, y) ? 1 : 0, c, false, false);
            });
      static constexpr const char* kOperators[] = {"AND", "OR", "XOR"};
      const unsigned op = n % 3;
      b.hides_number_ = false;
      b.add(
          fmt::format("VSETP.{}{{t}}.{} P1, P2, {{a}}, {{b}}, !PT", kConditions[code],
                      kOperators[op]),
          pa, pb, number,
          [=](__int128 x, __int128 y, uint32_t, Out o) {
            const bool p = compared(code, x, y);
            o[0] = op != 0 && p;  // the third predicate is false
            o[1] = op != 0 && !p;
          },
          "SEL R0, RZ, 0x1, !P1 ;\nSEL R1, RZ, 0x1, !P2 ;\n", 2);
    }
  b.hides_number_ = true;
  b.signed_number_ = false;
}

void shifts(Builder& b) {
  unsigned n = 0;
  for (const bool left : {true, false})
    for (const Part& pa : kParts)
      for (const Part& second : kParts) {
        if (second.is_signed) continue;
        const Finish f = kFinishes[n % 8];
        const bool wrap = n / 2 % 2 != 0, is_signed = n / 3 % 2 != 0, number = n % 5 == 0;
        const bool sat = !left && n / 4 % 2 != 0;
        ++n;
        // A signed word and a whole word are not written.
        const bool usual = pa.bits == 32 && pa.is_signed && (number || second.bits == 32);
        const std::string t =
            usual ? "" : fmt::format(".{}.{}", pa.type, number ? "U16" : second.type);
        b.add(fmt::format("{}{}{}{}{}{} R0, {{a}}, {{b}}, {{c}}", left ? "VSHL" : "VSHR",
                          is_signed ? "" : ".UD", t, wrap ? ".W" : "", sat ? ".SAT" : "", f.text),
              pa, second, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
                const auto asked = static_cast<uint32_t>(y);
                const unsigned amount = wrap ? asked % 32 : std::min(asked, 32U);
                o[0] = finished(f, left ? x * (__int128{1} << amount) : x >> amount, c, is_signed,
                                sat);
              });
      }
}

void products(Builder& b) {
  // a * b + c, - c, - a * b, plus one
  each_form([&](const Part& pa, const Part& pb, unsigned form, bool number, unsigned n) {
    const bool whole = pa.bits == 32 && pb.bits == 32 && !number;
    const unsigned shift = whole ? 0 : n / 2 % 3;
    const bool sat = !whole && n / 3 % 2 != 0;
    const bool is_signed = pa.is_signed || pb.is_signed || form == 1 || form == 2;
    static constexpr const char* kShifts[] = {"", ".SHR_7", ".SHR_15"};
    // The types of whole words are written, too.
    const std::string second = !number ? pb.type : pb.is_signed ? "S16" : "U16";
    b.add(fmt::format("VMAD.{}.{}{}{}{} R0, {}{{a}}, {{b}}, {}{{c}}", pa.type, second,
                      form == 3 ? ".PO" : "", kShifts[shift], sat ? ".SAT" : "",
                      form == 2 ? "-" : "", form == 1 ? "-" : ""),
          pa, pb, number, [=](__int128 x, __int128 y, uint32_t c, Out o) {
            const __int128 third = is_signed ? __int128{static_cast<int32_t>(c)} : __int128{c};
            __int128 sum = form == 2 ? third - x * y : x * y + (form == 1 ? -third : third);
            if (form == 3) sum += 1;
            sum >>= shift == 0 ? 0 : shift == 1 ? 7 : 15;
            const Finish plain = kFinishes[7];
            o[0] = finished(plain, sum, c, is_signed, sat);
          });
  });
}

/// Digits say where the bytes of an operand come from, the highest first: 0 to 3 of the first
/// register, 4 to 7 of the second.
void bytes(Builder& b) {
  static constexpr const char* kFirst[] = {"",     "4321", "5432", "6543", "3201", "3012",
                                           "0213", "3120", "1230", "2310", "2222"};
  static constexpr const char* kSecond[] = {"",     "6543", "5432", "4321", "4567",
                                            "6745", "5476", "4444", "7777"};
  unsigned turn = 0;
  const auto add = [&](bool sa, bool sb, bool sd, bool sat, bool sums, unsigned mask,
                       std::string first, std::string second) {
    std::string name = "VABSDIFF4";
    if (sd) name += ".SD";
    if (!sa || !sb) name += fmt::format(".{}8.{}8", sa ? "S" : "U", sb ? "S" : "U");
    if (sat) name += ".SAT";
    if (sums) name += ".ACC";
    if (mask != 15) name += ".";
    for (unsigned n = 0; mask != 15 && n < 4; ++n)
      if ((mask >> n & 1) != 0) name += "XYZW"[n];
    const auto dotted = [](const std::string& digits) {
      return digits.empty() ? "" : "." + digits;
    };
    name += fmt::format(" R0, R8{}, R9{}, R10", dotted(first), dotted(second));
    if (first.empty()) first = "3210";
    if (second.empty()) second = "7654";
    b.out.push_back(
        make({"", name, ""}, 3, 1, tuples({u32(), u32(), u32()}, 200), [=](In in, Out o) {
          const auto element = [&](const std::string& digits, unsigned n, bool is_signed) {
            const auto byte = static_cast<unsigned>(digits[3 - n] - '0');
            const uint32_t x = in[byte / 4] >> 8 * (byte % 4) & 0xff;
            return is_signed && x > 127 ? static_cast<int>(x) - 256 : static_cast<int>(x);
          };
          o[0] = in[2];
          for (unsigned n = 0; n < 4; ++n) {
            if ((mask >> n & 1) == 0) continue;
            int x = element(first, n, sa) - element(second, n, sb);
            if (x < 0) x = -x;
            if (sat && x > (sd ? 127 : 255)) x = sd ? 127 : 255;
            if (sums)
              o[0] += static_cast<uint32_t>(x);
            else
              o[0] = (o[0] & ~(0xffU << 8 * n)) | (static_cast<uint32_t>(x) & 0xff) << 8 * n;
          }
        }));
  };
  for (unsigned signs = 0; signs < 8; ++signs)
    for (unsigned use = 0; use < 3; ++use) {
      const bool sa = (signs & 1) != 0, sb = (signs & 2) != 0, sd = (signs & 4) != 0;
      add(sa, sb, sd, use == 1, use == 2, 15, "", "");
      add(sa, sb, sd, use == 1, use == 2, 1 + turn % 15, kFirst[turn % 11], kSecond[turn % 9]);
      ++turn;
    }
  for (const char* digits : kFirst) add(true, false, false, false, false, 15, digits, "");
  for (const char* digits : kSecond) add(false, true, false, false, true, 15, "", digits);
}

}  // namespace

std::vector<Case> cases() {
  Builder b;
  sums(b);
  differences_and_extremes(b);
  compares(b);
  shifts(b);
  products(b);
  bytes(b);
  return std::move(b.out);
}

TEST_CASE("values: video instructions") {
  check(instruction_set(), cases());
}

}  // namespace values::sass::video
