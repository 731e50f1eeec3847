// Rows of 32-bit multiplication, which compilers for these targets make of XMAD.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

std::vector<Code> sign_codes() {
  return named({"U32.U32", "S32.U32", "U32.S32", ""});
}

/// Twenty-four or sixteen bits of each factor. The third operand is signed when a factor is.
void imadsp_rows(TableBuilder& t) {
  static constexpr std::string_view kFirst[] = {"U32",   "S32",   "U24",   "S24",
                                                "U16H0", "S16H0", "U16H1", "S16H1"};
  static constexpr std::string_view kSecond[] = {"U24", "S24", "U16H0", "S16H0"};
  const auto codes = [](std::span<const std::string_view> names, uint8_t sign) {
    std::vector<Code> out;
    for (uint8_t n = 0; n < names.size(); ++n)
      if (n % 2 == sign) out.push_back({n, names[n]});
    return out;
  };
  for (const uint8_t a : {0, 1})
    for (const uint8_t b : {0, 1}) {
      const bool is_signed = a != 0 || b != 0;
      const auto third =
          is_signed ? named({"S32", "S24", "S16H0"}) : named({"U32", "U24", "U16H0"});
      t.triple("IMADSP", "0 1",
               {{ModId::size, {48, 3}, codes(kFirst, a)},
                {ModId::type, {53, 2}, codes(kSecond, b)},
                {ModId::parts, {51, 2}, third}},
               {kD.with_cc(47), kA, kB, kC}, nullptr);
      for (Form& f : t.last(4)) f.ordered = true;
    }
}

/// Sums of products of bytes, or of halves and the bytes of one half.
void dot_product_rows(TableBuilder& t) {
  const auto signs = [](const char* unsigned_name, const char* signed_name, uint8_t pos) {
    return Mod{
        pos == 49 ? ModId::type : ModId::size, {pos, 1}, named({unsigned_name, signed_name})};
  };
  const std::vector<Mod> four = {{ModId::mode, {48, 1}, {{0, "4A"}}},
                                 signs("U8", "S8", 49),
                                 signs("U8", "S8", 47)},
                         two = {{ModId::mode, {48, 1}, {{1, "2A"}}},
                                {ModId::parts, {50, 1}, named({"LO", "HI"})},
                                signs("U16", "S16", 49),
                                signs("U8", "S8", 47)};
  const struct {
    const char* pattern;
    OperandSpec b;
  } variants[] = {{"0101 0011 1111 1", kB}, {"0101 0011 1101 1", cbank(Role::b)}};
  for (const auto& v : variants) {
    t.row("IDP", v.pattern, four, {kD, kA, v.b, kC}, lower_idp, {{{48, 1}, 0}, {{50, 1}, 0}});
    t.row("IDP", v.pattern, two, {kD, kA, v.b, kC}, lower_idp, {{{48, 1}, 1}});
  }
  for (Form& f : t.last(4)) {
    f.min_arch = 61;
    f.ordered = f.shows_reuse = true;
    f.variable_latency = false;
  }
}

}  // namespace

void multiply_rows(TableBuilder& t) {
  const Mod high = flag(ModId::parts, 39, "HI");
  t.alu("IMUL", "0011 1", {{ModId::signs, {40, 2}, sign_codes()}, high}, {kD.with_cc(47), kA, kB},
        lower_imul);
  t.row("IMUL32I", "0001 1111",
        {{ModId::signs, {54, 2}, sign_codes()}, flag(ModId::parts, 53, "HI")},
        {kD.with_cc(52), kA, imm(Role::b, 20, 32, true)}, lower_imul);
  const Mod signs{ModId::signs, {48, 1}, sign_codes(), {53, 1}},
      imad_high = flag(ModId::parts, 54, "HI"), sat = flag(ModId::sat, 50, "SAT"),
      x = flag(ModId::x, 49, "X");
  // Both negations at once mean "plus one".
  t.triple("IMAD", "0 0", {signs, imad_high, {ModId::plus, {51, 2}, {{3, "PO"}}}, sat, x},
           {kD.with_cc(47), kA, kB, kC}, lower_imad, false, {{{51, 2}, 3}});
  t.triple("IMAD", "0 0", {signs, imad_high, sat, x},
           {kD.with_cc(47), kA.with_neg(52), kB, kC.with_neg(51)}, lower_imad);
  // The addend is in the destination.
  const Mod signs32{ModId::signs, {54, 1}, sign_codes(), {57, 1}},
      high32 = flag(ModId::parts, 53, "HI");
  const OperandSpec d32 = kD.with_cc(52), number = imm(Role::b, 20, 32, true),
                    same = reg(Role::c, 0);
  t.row("IMAD32I", "0001 00", {signs32, high32, {ModId::plus, {55, 2}, {{3, "PO"}}}},
        {d32, kA, number, same}, lower_imad, {{{55, 2}, 3}});
  t.row("IMAD32I", "0001 00", {signs32, high32}, {d32, kA.with_neg(56), number, same.with_neg(55)},
        lower_imad);
  imadsp_rows(t);
  dot_product_rows(t);
}

}  // namespace lanewise::sass::table
