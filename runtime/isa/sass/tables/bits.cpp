// Rows of bit fields, shifts across words, three-input logic, votes and predicate logic.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

/// LEA with a predicate destination other than PT has rows of its own: it is printed first.
void lea_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47), c = kC;
  const Field out{48, 3};
  for (const bool has_pred : {false, true}) {
    std::vector<TableBuilder::Fixed> fixed;
    if (!has_pred) fixed.push_back({out, kPT});
    const auto with_out = [&](std::vector<OperandSpec> operands) {
      if (has_pred) operands.insert(operands.begin(), pred(Role::p, 48));
      return operands;
    };
    const auto shift = [](Role role, uint8_t pos) { return optional(imm(role, pos, 5)); };
    t.compare("LEA", "1101 0", {flag(ModId::x, 46, "X")},
              with_out({dcc, kA.with_neg(45), kB, shift(Role::c, 39)}), lower_lea, fixed);
    if (has_pred) t.trait(kAsksWindows, 3);
    t.row("LEA.HI", "0101 1011 1101 1", {flag(ModId::x, 38, "X")},
          with_out({dcc, kA.with_neg(37), kB, c, shift(Role::r, 28)}), lower_lea, fixed);
    t.row("LEA.HI", "0001 10", {flag(ModId::x, 57, "X")},
          with_out({dcc, kA.with_neg(56), cbank(Role::b), c, shift(Role::r, 51)}), lower_lea,
          fixed);
    t.trait(kUpperWord | (has_pred ? kAsksWindows : 0U), 2);
  }
}

void shift_rows(TableBuilder& t) {
  const std::vector<Mod> mods = {
      flag(ModId::wrap, 50, "W"),
      {ModId::type, {37, 2}, named({"", "INVALIDMAXSHIFT3", "U64", "S64"})},
      {ModId::parts, {48, 2}, named({"", "HI", "X", "XHI"})}};
  const OperandSpec dcc = kD.with_cc(47), c = kC;
  t.row("SHF.L", "0101 1011 1111 1", mods, {dcc, kA, kB, c}, lower_shf);
  t.row("SHF.L", "0011 011- 1111 1", mods, {dcc, kA, imm(Role::b, 20, 6), c}, lower_shf);
  t.trait(kLeft, 2);
  t.row("SHF.R", "0101 1100 1111 1", mods, {dcc, kA, kB, c}, lower_shf);
  t.row("SHF.R", "0011 100- 1111 1", mods, {dcc, kA, imm(Role::b, 20, 6), c}, lower_shf);
}

void logic_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47), c = kC, zero_test = optional(pred(Role::p, 48));
  const auto tests = [](uint8_t pos) {
    return Mod{ModId::parts, {pos, 2}, named({"", "T", "Z", "NZ"})};
  };
  t.row("LOP3.LUT", "0101 1011 1110 0", {flag(ModId::x, 38, "X"), tests(36)},
        {zero_test, dcc, kA, kB, c, imm(Role::r, 28, 8)}, lower_lop3);
  t.row("LOP3.LUT", "0000 001", {flag(ModId::x, 56, "X")},
        {dcc, kA, cbank(Role::b), c, imm(Role::r, 48, 8)}, lower_lop3);
  t.row("LOP3.LUT", "0011 11", {flag(ModId::x, 57, "X")},
        {dcc, kA, imm20(Role::b), c, imm(Role::r, 48, 8)}, lower_lop3);
  t.trait(kReadsAllFlags, 3);
  t.alu("LOP", "0100 0", {logic_mod(41), flag(ModId::x, 43, "X"), tests(44)},
        {zero_test, dcc, kA.with_inv(39), kB.with_inv(40)}, lower_logic);
  t.trait(kReadsAllFlags, 3);
}

void field_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47);
  const Mod unsigned_first{ModId::signed_, {48, 1}, {{1, ""}, {0, "U32"}}};
  t.alu("BFE", "0000 0", {unsigned_first, flag(ModId::parts, 40, "BREV")}, {dcc, kA, kB},
        lower_bfe);
  t.variable_latency(true);
  t.alu("POPC", "0000 1", {}, {kD, kB.with_inv(40)}, lower_popc);
  t.alu("FLO", "0011 0", {unsigned_first, flag(ModId::parts, 41, "SH")}, {dcc, kB.with_inv(40)},
        lower_flo);
  t.variable_latency(false);
  t.alu("IMNMX", "0010 0",
        {signed_mod(), {ModId::mode, {43, 2}, named({"", "XLO", "XMED", "XHI"})}},
        {dcc, kA, kB, pred(Role::p, 39).with_neg(42)}, lower_imnmx);
  t.trait(kReadsFlags, 3);  // in its wide modes
  t.triple("PRMT", "1 1100",
           {{ModId::mode,
             {48, 4},
             named({"", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16", "INVALIDPMODE7"}, "???", 16)}},
           {kD, kA, kB, kC}, lower_prmt);
}

void compare_rows(TableBuilder& t) {
  const Mod cond = integer_cond({49, 3});
  const OperandSpec c = kC;
  t.triple("ICMP", "1 0100", {cond, signed_mod()}, {kD, kA, kB, c}, lower_icmp);
  t.triple("BFI", "1 1111 0", {}, {kD.with_cc(47), kA, kB, c}, lower_bfi);
  t.compare(
      "ISET", "0101",
      {flag(ModId::parts, 44, "BF"), cond, signed_mod(), flag(ModId::x, 43, "X"), bool_mod(45)},
      {kD.with_cc(47), kA, kB, pred(Role::r, 39).with_neg(42)}, lower_iset);
  t.trait(kReadsAllFlags, 3);
}

}  // namespace

void bit_rows(TableBuilder& t) {
  lea_rows(t);
  shift_rows(t);
  logic_rows(t);
  field_rows(t);
  compare_rows(t);
  t.row("VOTE", "0101 0000 1101 1",
        {{ModId::mode, {48, 2}, named({"ALL", "ANY", "EQ", "INVALIDVMODE3"})}},
        {optional(kD, kRZ), pred(Role::p, 45), pred(Role::r, 39).with_neg(42)}, lower_vote);
  special_register_rows(t, "CS2R", "0101 0000 1100 1");
}

}  // namespace lanewise::sass::table
