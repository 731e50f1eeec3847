// Rows of the video instructions: parts of words, combined with a third operand.
#include <algorithm>

#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

using Fixed = TableBuilder::Fixed;

/// By the type's upper bit: bytes, halves.
constexpr std::string_view kParts[] = {"", "B1", "B2", "B3", "", "H1", "", ""};
constexpr Field kPartOfA{36, 2}, kHalfOfA{38, 1}, kPartOfB{28, 2}, kHalfOfB{30, 1};
constexpr Field kSignA{48, 1}, kSignB{49, 1}, kIsRegister{50, 1};

/// Size of a part, its place in three bits and the sign above them.
Mod type_mod(ModId id, Field select, Field sign) {
  Mod m{id, select, {}, sign};
  for (const uint8_t s : {0, 8}) {
    if (s == 8 && !sign.present()) continue;
    for (uint8_t n = 0; n < 8; ++n) {
      static constexpr std::string_view kNames[][8] = {
          {"U8", "U8", "U8", "U8", "U16", "U16", "U32", "INVALIDSEL6"},
          {"S8", "S8", "S8", "S8", "S16", "S16", "S32", "INVALIDSEL7"}};
      const bool none = n == 7 && !sign.present();  // of shifts: named like a signed one
      m.codes.push_back({static_cast<uint8_t>(s | n), none ? "INVALIDSEL7" : kNames[s / 8][n]});
    }
  }
  return m;
}

/// What becomes of the result.
Mod use() {
  return {ModId::op,
          {51, 3},
          named({"MRG_16H", "MRG_16L", "MRG_8B0", "MRG_8B2", "ACC", "MIN", "MAX", ""})};
}

struct Video {
  const char *name, *pattern;
  LowerFn lower;
  std::vector<Mod> before, after;                                  ///< the types stand between
  std::vector<OperandSpec> first = {kD.with_cc(47)}, last = {kC};  ///< around a and b
  OperandSpec a = kA, b = kB;
  bool shift = false;  ///< the second operand has the sign of the first
  uint32_t traits = 0;
  bool signed_number = false;  ///< a number is printed as its type says
  uint16_t last_plain = 999;   ///< the last target that does not write the types of whole words
  bool wide_varies = false;    ///< with whole words its latency varies
  bool names_signed = false;   ///< an immediate's type is printed even where both are S32
};

/// The second operand is a part of a register or sixteen bits. Two signed whole words are not
/// written.
void rows(TableBuilder& t, const Video& v, const std::vector<Fixed>& more = {}) {
  const auto add = [&](bool is_register, bool plain, std::vector<Fixed> fixed, bool wide) {
    fixed.insert(fixed.end(), more.begin(), more.end());
    fixed.push_back({kIsRegister, is_register ? 1U : 0U});
    std::vector<Mod> mods = v.before;
    OperandSpec a = v.a, b = is_register ? kB : imm(Role::b, 20, 16);
    b.neg = v.b.neg;
    b.prefixed = !is_register && v.b.neg.present();
    if (plain) {
      fixed.insert(fixed.end(), {{{36, 3}, 6}, {kSignA, 1}});
      if (!v.shift) fixed.push_back({kSignB, 1});
      if (is_register) fixed.push_back({{28, 3}, 6});
      b.is_signed = !is_register && v.signed_number;
    } else {
      a = a.with_part(kPartOfA, kHalfOfA, kParts);
      mods.push_back(type_mod(ModId::type, {36, 3}, kSignA));
      if (is_register) {
        b = b.with_part(kPartOfB, kHalfOfB, kParts);
        mods.push_back(type_mod(ModId::size, {28, 3}, v.shift ? Field{} : kSignB));
      } else if (v.shift) {
        mods.push_back({ModId::size, {}, {{0, "U16"}}});
      } else {
        const bool is_signed = std::ranges::any_of(
            fixed, [](const Fixed& f) { return f.field.pos == kSignB.pos && f.value == 1; });
        mods.push_back({ModId::size, kSignB, named({"U16", "S16"})});
        b.is_signed = is_signed && v.signed_number;
      }
    }
    mods.insert(mods.end(), v.after.begin(), v.after.end());
    std::vector<OperandSpec> operands = v.first;
    operands.push_back(a);
    operands.push_back(b);
    operands.insert(operands.end(), v.last.begin(), v.last.end());
    Form& f = t.row(v.name, v.pattern, mods, operands, v.lower, fixed);
    if (plain) f.max_arch = v.last_plain;
    f.ordered = true;
    if (v.wide_varies && wide) {
      f.variable_latency = true;
      f.shows_reuse = false;
    }
    t.trait(v.traits);
  };
  add(true, true, {}, true);
  if (!v.names_signed) add(false, true, {}, true);
  if (v.wide_varies) {
    add(true, false, {{{37, 2}, 3}}, true);
    add(true, false, {{{29, 2}, 3}}, true);
    add(false, false, {{{37, 2}, 3}}, true);
  }
  add(true, false, {}, false);
  if (v.signed_number) add(false, false, {{kSignB, 1}}, false);
  add(false, false, {}, false);
}

/// Four bytes at once, chosen from both words.
void byte_rows(TableBuilder& t) {
  static constexpr std::string_view kFirst[] = {
      "0000", "1111", "2222", "3333", "",     "4321", "5432",          "6543",
      "3201", "3012", "0213", "3120", "1230", "2310", "INVALIDASEL4E", "INVALIDASEL4F"};
  static constexpr std::string_view kSecond[] = {
      "4444",          "5555",          "6666",          "7777", "",     "6543",
      "5432",          "4321",          "4567",          "6745", "5476", "INVALIDBSEL4B",
      "INVALIDBSEL4C", "INVALIDBSEL4D", "INVALIDBSEL4E", ""};
  const std::vector<Mod> types = {{ModId::type, {48, 1}, named({"U8", "S8"})},
                                  {ModId::size, {49, 1}, named({"U8", "S8"})}};
  const std::vector<Mod> rest = {
      flag(ModId::sat, 50, "SAT"),
      {ModId::op, {53, 2}, named({"", "ACC", "INVALIDRED2", "INVALIDRED3"})},
      {ModId::parts,
       {51, 2},
       named({"???0", "X", "Y", "XY", "Z", "XZ", "YZ", "XYZ", "W", "XW", "YW", "XYW", "ZW", "XZW",
              "YZW", ""}),
       {36, 2}}};
  const OperandSpec d = kD.with_cc(47), a = kA.with_part({32, 4}, {}, kFirst), c = kC,
                    b = kB.with_part({28, 4}, {}, kSecond);
  const auto row = [&](bool both_signed, bool is_register, std::vector<Fixed> fixed,
                       bool signed_number) {
    std::vector<Mod> mods = {flag(ModId::signed_, 38, "SD")};
    if (!both_signed) mods.insert(mods.end(), types.begin(), types.end());
    mods.insert(mods.end(), rest.begin(), rest.end());
    if (!is_register) fixed.push_back({{28, 4}, 15});
    t.row("VABSDIFF4", "0101 0000 0", mods,
          {d, a, is_register ? b : imm(Role::b, 20, 8, signed_number), c},
          is_register ? lower_vabsdiff4 : nullptr, fixed)
        .ordered = true;
  };
  for (const bool is_register : {false, true})  // two signed ones are not written
    row(true, is_register, {{{48, 2}, 3}}, true);
  row(false, false, {{{49, 1}, 1}}, true);
  row(false, false, {{{49, 1}, 0}}, false);
  row(false, true, {}, false);
}

}  // namespace

void video_rows(TableBuilder& t) {
  const Mod unsigned_result{ModId::signed_, {54, 1}, named({"UD", ""})};
  const Mod sat = flag(ModId::sat, 55, "SAT");
  Video add{"VADD", "0010 00", lower_vadd, {unsigned_result}, {sat, use()}};
  Video plus_one = add;
  plus_one.after.insert(plus_one.after.begin(), Mod{ModId::plus, {56, 2}, {{3, "PO"}}});
  // SAT stands before the result's use, PO before both.
  rows(t, plus_one, {{{56, 2}, 3}});
  add.a = kA.with_neg(57);
  add.b = kB.with_neg(56);
  rows(t, add);
  Video difference{
      "VABSDIFF", "0101 0100", lower_vabsdiff, {flag(ModId::signed_, 54, "SD")}, {sat, use()}};
  difference.signed_number = true;
  rows(t, difference);
  Video extreme{"VMNMX",
                "0011 101",
                lower_vminmax,
                {unsigned_result},
                {flag(ModId::greater, 56, "MX"), sat, use()}};
  extreme.signed_number = true;
  rows(t, extreme);
  Video set{"VSET", "0100 000", lower_vset, {integer_cond({54, 3})}, {use()}};
  set.signed_number = true;
  rows(t, set);
  Video shift{"VSHL",
              "0101 0111",
              lower_vshift,
              {unsigned_result},
              {flag(ModId::wrap, 49, "W"), sat, use()}};
  shift.shift = true;
  shift.traits = kLeft;
  rows(t, shift);
  shift.name = "VSHR";
  shift.pattern = "0101 0110";
  shift.traits = 0;
  rows(t, shift);
  Video test{
      "VSETP", "0101 0000 1111 0", lower_vsetp, {integer_cond({43, 2}, {47, 1})}, {bool_mod(45)}};
  test.first = {pred(Role::p, 3), pred(Role::q, 0)};
  test.last = {pred(Role::r, 39).with_neg(42)};
  test.signed_number = test.names_signed = true;
  rows(t, test);
  const Mod scale{ModId::scale, {51, 2}, named({"", "SHR_7", "SHR_15", "INVALIDVMADSCALE3"})};
  Video multiply{
      "VMAD", "0101 1111", lower_vmad, {}, {Mod{ModId::plus, {53, 2}, {{3, "PO"}}}, scale, sat}};
  multiply.wide_varies = true;
  multiply.last_plain = kFirstPascal - 1;
  rows(t, multiply, {{{53, 2}, 3}});
  multiply.after = {scale, sat};
  multiply.a = kA.with_neg(54);
  multiply.last = {kC.with_neg(53)};
  rows(t, multiply);
  byte_rows(t);
}

}  // namespace lanewise::sass::table
