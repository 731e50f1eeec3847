// Rows of bit fields, shifts across words, three-input logic, votes and predicate logic.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

Mod signed_mod() {
  return {ModId::signed_, {48, 1}, {{1, ""}, {0, "U32"}, {1, "S32", true}}};
}
/// LEA with a predicate destination other than PT has rows of its own: it is printed first.
void lea_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47), c = reg(Role::c, 39);
  const Field out{48, 3};
  for (const bool has_pred : {false, true}) {
    std::vector<TableBuilder::Fixed> fixed;
    if (!has_pred) fixed.push_back({out, kPT});
    const auto with_out = [&](std::vector<OperandSpec> operands) {
      if (has_pred) operands.insert(operands.begin(), pred(Role::p, 48));
      return operands;
    };
    const auto shift = [](Role role, uint8_t pos) {
      OperandSpec o = imm(role, pos, 5);
      o.optional = true;
      return o;
    };
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
      {ModId::type, {37, 2}, {{0, ""}, {1, "INVALIDMAXSHIFT3"}, {2, "U64"}, {3, "S64"}}},
      {ModId::parts, {48, 2}, {{0, ""}, {1, "HI"}, {2, "X"}, {3, "XHI"}}}};
  const OperandSpec dcc = kD.with_cc(47), c = reg(Role::c, 39);
  t.row("SHF.L", "0101 1011 1111 1", mods, {dcc, kA, kB, c}, lower_shf);
  t.row("SHF.L", "0011 011- 1111 1", mods, {dcc, kA, imm(Role::b, 20, 6), c}, lower_shf);
  t.trait(kLeft, 2);
  t.row("SHF.R", "0101 1100 1111 1", mods, {dcc, kA, kB, c}, lower_shf);
  t.row("SHF.R", "0011 100- 1111 1", mods, {dcc, kA, imm(Role::b, 20, 6), c}, lower_shf);
}

void logic_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47), c = reg(Role::c, 39), p = pred(Role::p, 48);
  const Mod tests{ModId::parts, {36, 2}, {{0, ""}, {1, "T"}, {2, "Z"}, {3, "NZ"}}};
  OperandSpec zero_test = p;
  zero_test.optional = true;
  t.row("LOP3.LUT", "0101 1011 1110 0", {flag(ModId::x, 38, "X"), tests},
        {zero_test, dcc, kA, kB, c, imm(Role::r, 28, 8)}, lower_lop3);
  t.row("LOP3.LUT", "0000 001", {flag(ModId::x, 56, "X")},
        {dcc, kA, cbank(Role::b), c, imm(Role::r, 48, 8)}, lower_lop3);
  t.row("LOP3.LUT", "0011 11", {flag(ModId::x, 57, "X")},
        {dcc, kA, imm20(Role::b), c, imm(Role::r, 48, 8)}, lower_lop3);
  t.trait(kReadsAllFlags, 3);
  const Mod op{ModId::op, {41, 2}, {{0, "AND"}, {1, "OR"}, {2, "XOR"}, {3, "PASS_B"}}};
  t.alu("LOP", "0100 0",
        {op,
         flag(ModId::x, 43, "X"),
         {ModId::parts, {44, 2}, {{0, ""}, {1, "T"}, {2, "Z"}, {3, "NZ"}}}},
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
        {signed_mod(), {ModId::mode, {43, 2}, {{0, ""}, {1, "XLO"}, {2, "XMED"}, {3, "XHI"}}}},
        {dcc, kA, kB, pred(Role::p, 39).with_neg(42)}, lower_imnmx);
  t.trait(kReadsFlags, 3);  // in its wide modes
  t.triple("PRMT", "1 1100",
           {{ModId::mode,
             {48, 4},
             {{0, ""},
              {1, "F4E"},
              {2, "B4E"},
              {3, "RC8"},
              {4, "ECL"},
              {5, "ECR"},
              {6, "RC16"},
              {7, "INVALIDPMODE7"},
              {8, "???8"},
              {9, "???9"},
              {10, "???10"},
              {11, "???11"},
              {12, "???12"},
              {13, "???13"},
              {14, "???14"},
              {15, "???15"}}}},
           {kD, kA, kB, reg(Role::c, 39)}, lower_prmt);
}

void compare_rows(TableBuilder& t) {
  const Mod cond{
      ModId::cond,
      {49, 3},
      {{0, "F"}, {1, "LT"}, {2, "EQ"}, {3, "LE"}, {4, "GT"}, {5, "NE"}, {6, "GE"}, {7, "T"}}};
  const OperandSpec c = reg(Role::c, 39);
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
        {{ModId::mode, {48, 2}, {{0, "ALL"}, {1, "ANY"}, {2, "EQ"}, {3, "INVALIDVMODE3"}}}},
        {optional(kD, kRZ), pred(Role::p, 45), pred(Role::r, 39).with_neg(42)}, lower_vote);
  special_register_rows(t, "CS2R", "0101 0000 1100 1");
}

}  // namespace lanewise::sass::table
