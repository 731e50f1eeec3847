// The instruction table. One row per form; `alu` rows stand for their register, constant and
// immediate variants. Patterns are written from bit 63 downwards; '-' is a bit of some field.
#include <algorithm>
#include <unordered_map>

#include "runtime/isa/sass/tables/builder.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::sass {
namespace {

using namespace table;

Mod acc_mod(uint8_t len) {
  std::vector<Code> codes = named({"", "CLO", "CHI", "CSFU", "CBCC"}, "???", 8);
  codes.resize(size_t{1} << len);
  return {ModId::acc, {50, len}, std::move(codes)};
}
Mod signs_mod() {
  return {ModId::signs, {48, 2}, named({"", "S16.U16", "U16.S16", "S16.S16"})};
}
void integer_rows(TableBuilder& t) {
  const Mod x = flag(ModId::x, 43, "X");
  const Mod sat = flag(ModId::sat, 50, "SAT");
  const OperandSpec d = kD, dcc = d.with_cc(47), a = kA;
  const auto quad_mask = [](uint8_t pos) { return optional(imm(Role::c, pos, 4), 15); };

  t.alu("MOV", "1001 1", {}, {d, kB, quad_mask(39)}, lower_mov);
  t.row("MOV32I", "0000 0001 0000", {}, {d, imm(Role::b, 20, 32), quad_mask(12)}, lower_mov);
  // Both negations at once mean "plus one".
  t.alu("IADD.PO", "0001 0", {sat, x}, {dcc, a, kB}, lower_iadd, false, {{{48, 2}, 3}});
  t.trait(kPlusOne, 3);
  t.alu("IADD", "0001 0", {sat, x}, {dcc, a.with_neg(49), kB.with_neg(48)}, lower_iadd);
  t.row("IADD32I.PO", "0001 1101 1", {flag(ModId::sat, 54, "SAT"), flag(ModId::x, 53, "X")},
        {d.with_cc(52), a, imm(Role::b, 20, 32, true)}, lower_iadd);
  t.trait(kPlusOne);
  t.row("IADD32I", "0001 110-0", {flag(ModId::sat, 54, "SAT"), flag(ModId::x, 53, "X")},
        {d.with_cc(52), a.with_neg(56), imm(Role::b, 20, 32, true)}, lower_iadd);
  t.row("IADD3", "0101 1100 1100",
        {{ModId::parts, {37, 2}, named({"", "RS", "LS", "???3"})}, flag(ModId::x, 48, "X")},
        {dcc, a.with_neg(51).with_halves(35), kB.with_neg(50).with_halves(33),
         kC.with_neg(49).with_halves(31)},
        lower_iadd3);
  t.row("IADD3", "0100 1100 1100", {flag(ModId::x, 48, "X")},
        {dcc, a.with_neg(51), cbank(Role::b).with_neg(50), kC.with_neg(49)}, lower_iadd3);
  OperandSpec third_immediate = imm20(Role::b);
  third_immediate.pattern = true;
  t.row("IADD3", "0011 100- 1100", {flag(ModId::x, 48, "X")},
        {dcc, a.with_neg(51), third_immediate.with_neg(50), kC.with_neg(49)}, lower_iadd3);
  t.alu("ISCADD.PO", "0001 1", {}, {dcc, a, kB, imm(Role::c, 39, 5)}, lower_iscadd, false,
        {{{48, 2}, 3}});
  t.trait(kPlusOne, 3);
  t.alu("ISCADD", "0001 1", {}, {dcc, a.with_neg(49), kB.with_neg(48), imm(Role::c, 39, 5)},
        lower_iscadd);
  t.alu("SHL", "0100 1", {flag(ModId::wrap, 39, "W"), x}, {dcc, a, kB}, lower_shift);
  t.trait(kLeft, 3);
  const Mod shift_extend{ModId::x, {43, 2}, named({"", "INVALIDSHRXMODE1", "X", "XHI"})};
  t.alu("SHR", "0010 1",
        {signed_mod(), flag(ModId::wrap, 39, "W"), shift_extend, flag(ModId::parts, 40, "BREV")},
        {dcc, a, kB}, lower_shift);
  t.row("ISCADD32I", "0001 01", {},
        {d.with_cc(52), a, imm(Role::b, 20, 32, true), imm(Role::c, 53, 5)}, lower_iscadd);
  t.row("LOP32I", "0000 01", {logic_mod(53), flag(ModId::x, 57, "X")},
        {d.with_cc(52), a.with_inv(55), imm(Role::b, 20, 32).with_inv(56)}, lower_logic);
  t.trait(kReadsAllFlags);
  // The plain LOP has no predicate output: code 0 in bits 44..45 and PT in 48..50.
  t.alu("LOP", "0100 0", {logic_mod(41), x}, {dcc, a.with_inv(39), kB.with_inv(40)}, lower_logic,
        false, {{{44, 2}, 0}, {{48, 3}, 7}});
  t.trait(kReadsAllFlags, 3);
  t.alu("SEL", "1010 0", {}, {d, a, kB, pred(Role::p, 39).with_neg(42)}, lower_sel);
  t.compare("ISETP", "0110", {integer_cond({49, 3}), signed_mod(), x, bool_mod(45)},
            {pred(Role::p, 3), pred(Role::q, 0), a, kB, pred(Role::r, 39).with_neg(42)},
            lower_isetp);
  t.trait(kReadsAllFlags, 3);
}

void xmad_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47);
  const OperandSpec a = kA.with_high(53), c = kC;
  const OperandSpec cb = spaced(cbank(Role::b)).with_high(52);
  t.row("XMAD", "0101 1011 00",
        {signs_mod(), flag(ModId::psl, 36, "PSL"), acc_mod(3), flag(ModId::mrg, 37, "MRG"),
         flag(ModId::x, 38, "X")},
        {dcc, a, kB.with_high(35), c}, lower_xmad);
  t.row("XMAD", "0100 111",
        {signs_mod(), flag(ModId::psl, 55, "PSL"), acc_mod(2), flag(ModId::mrg, 56, "MRG"),
         flag(ModId::x, 54, "X")},
        {dcc, a, cb, c}, lower_xmad);
  t.row("XMAD", "0101 0001 0", {signs_mod(), acc_mod(2), flag(ModId::x, 54, "X")},
        {dcc, a, reg(Role::b, 39).with_high(52), cbank(Role::c)}, lower_xmad);
  Mod signed_number = signs_mod();
  std::erase_if(signed_number.codes, [](const Code& code) { return code.value < 2; });
  for (const bool is_signed : {true, false})
    t.row("XMAD", "0011 011- 00",
          {is_signed ? signed_number : signs_mod(), flag(ModId::psl, 36, "PSL"), acc_mod(3),
           flag(ModId::mrg, 37, "MRG"), flag(ModId::x, 38, "X")},
          {dcc, a, imm(Role::b, 20, 16, is_signed), c}, lower_xmad);
}

void float_rows(TableBuilder& t) {
  const OperandSpec dcc = kD.with_cc(47), a = kA;
  t.alu("FADD", "0101 1", {flag(ModId::ftz, 44, "FTZ"), round_mod(39), flag(ModId::sat, 50, "SAT")},
        {dcc, a.with_neg(48).with_abs(46), kB.with_neg(45).with_abs(49)}, lower_fadd, true);
  for (Form& f : t.last(3))  // its second operand uses the third's place in the operand cache
    for (OperandSpec& o : f.operands)
      if (o.kind == OperandSpec::Kind::reg && o.role == Role::b) o.reuse = 2;
  t.row("FADD32I", "0000 10", {flag(ModId::ftz, 55, "FTZ")},
        {kD.with_cc(52), a.with_neg(56).with_abs(54), fimm32(Role::b).with_neg(53).with_abs(57)},
        lower_fadd);
  const Mod scale{
      ModId::scale, {41, 3}, named({"", "D2", "D4", "D8", "M8", "M4", "M2", "INVALIDSCALE37"})};
  t.alu("FMUL", "0110 1", {fmz_mod(44), scale, round_mod(39), flag(ModId::sat, 50, "SAT")},
        {dcc, a, kB.with_neg(48)}, lower_fmul, true);
  t.row("FMUL32I", "0001 1110", {fmz_mod(53), flag(ModId::sat, 55, "SAT")},
        {kD.with_cc(52), a, fimm32(Role::b)}, lower_fmul);

  const std::vector<Mod> fma = {fmz_mod(53), round_mod(51), flag(ModId::sat, 50, "SAT")};
  const OperandSpec c = kC.with_neg(49);
  t.row("FFMA", "0101 1001 1", fma, {dcc, a, kB.with_neg(48), c}, lower_ffma);
  t.row("FFMA", "0100 1001 1", fma, {dcc, a, cbank(Role::b).with_neg(48), c}, lower_ffma);
  t.row("FFMA", "0101 0001 1", fma,
        {dcc, a, reg(Role::b, 39).with_neg(48), cbank(Role::c).with_neg(49)}, lower_ffma);
  t.row("FFMA", "0011 001- 1", fma, {dcc, a, fimm20(Role::b).with_neg(48), c}, lower_ffma);
  OperandSpec same = reg(Role::c, 0).with_neg(57);
  same.reuse = 2;
  t.row("FFMA32I", "0000 11", {fmz_mod(53), flag(ModId::sat, 55, "SAT")},
        {kD.with_cc(52), a.with_neg(56), fimm32(Role::b), same}, lower_ffma);
  t.row("FSWZADD", "0101 0000 1111 1",
        {flag(ModId::ftz, 44, "FTZ"), round_mod(39), flag(ModId::parts, 38, "NDV")},
        {dcc, a, kB, simple(Kind::signs, Role::c, 28, 8)}, nullptr);
  t.last(1)[0].operands[2].reuse = 2;
}

/// The hardware's decoder looks at no bit beside those of a row, and an operand's place says which
/// flag of the operand cache is its own.
void complete(std::vector<Form>& rows) {
  for (Form& f : rows) {
    if (!f.decode_only) f.ignored |= ~covered_bits(f);
    if (!f.shows_reuse) continue;
    for (OperandSpec& o : f.operands) {
      if (o.kind != OperandSpec::Kind::reg || o.role == Role::d || o.reuse >= 0) continue;
      if (o.field.pos == 8) o.reuse = 0;
      if (o.field.pos == 20 || (o.field.pos == 39 && o.role == Role::b)) o.reuse = 1;
      if (o.field.pos == 39 && o.role != Role::b) o.reuse = 2;
    }
  }
}

std::vector<Form> build() {
  TableBuilder t;
  t.claims(isa::Claim::exact);
  integer_rows(t);
  xmad_rows(t);
  float_rows(t);
  bit_rows(t);
  float_compare_rows(t);
  half_rows(t);
  flow_rows(t);
  predicate_rows(t);
  video_rows(t);
  t.variable_latency(true);
  conversion_group(t);
  double_rows(t);
  multiply_rows(t);
  t.claims(isa::Claim::effect);
  memory_rows(t);
  cache_rows(t);
  t.claims(isa::Claim::exact);
  sync_rows(t);
  texture_rows(t);
  surface_rows(t);
  graphics_rows(t);
  std::vector<Form> rows = t.take();
  complete(rows);
  return rows;
}

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> table = build();
  return table;
}

std::span<const Form* const> forms_named(std::string_view word) {
  static const auto by_word = [] {
    std::unordered_map<std::string_view, std::vector<const Form*>> map;
    for (const Form& f : forms()) {
      const auto end = std::ranges::find_if_not(f.mnemonic, Cursor::is_word);
      map[{f.mnemonic.begin(), end}].push_back(&f);
    }
    return map;
  }();
  const auto found = by_word.find(word);
  if (found == by_word.end()) return {};
  return found->second;
}

}  // namespace lanewise::sass
