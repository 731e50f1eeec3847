// The instruction table. One row per form; `alu` rows stand for their register, constant and
// immediate variants. Patterns are written from bit 63 downwards; '-' is a bit of some field.
#include <cassert>

#include "runtime/isa/sass/form.hpp"
#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;

OperandSpec reg(Role role, uint8_t pos) {
  OperandSpec o;
  o.kind = Kind::reg;
  o.role = role;
  o.field = {pos, 8};
  return o;
}
OperandSpec pred(Role role, uint8_t pos) {
  OperandSpec o;
  o.kind = Kind::pred;
  o.role = role;
  o.field = {pos, 3};
  return o;
}
OperandSpec imm(Role role, uint8_t pos, uint8_t len, bool is_signed = false) {
  OperandSpec o;
  o.kind = Kind::imm;
  o.role = role;
  o.field = {pos, len};
  o.is_signed = is_signed;
  return o;
}
OperandSpec imm20(Role role) {
  OperandSpec o = imm(role, 20, 19);
  o.sign = {56, 1};
  return o;
}
OperandSpec fimm20(Role role) {
  OperandSpec o = imm20(role);
  o.kind = Kind::fimm;
  return o;
}
OperandSpec fimm32(Role role) {
  OperandSpec o = imm(role, 20, 32);
  o.kind = Kind::fimm;
  return o;
}
OperandSpec cbank(Role role) {
  OperandSpec o;
  o.kind = Kind::cbank;
  o.role = role;
  o.field = {20, 19};  // offset / 4 in the low 14 bits, bank above
  return o;
}
OperandSpec spaced(OperandSpec o) {
  o.spaced = true;
  return o;
}
OperandSpec address(uint8_t len) {
  OperandSpec o = imm(Role::addr, 20, len, true);
  o.kind = Kind::address;
  return o;
}
OperandSpec simple(Kind kind, Role role, uint8_t pos, uint8_t len) {
  OperandSpec o = imm(role, pos, len);
  o.kind = kind;
  return o;
}

Mod flag(ModId id, uint8_t pos, std::string_view text) {
  return {id, {pos, 1}, {{0, ""}, {1, text}}};
}
Mod size_mod(bool store) {
  Mod m{ModId::size,
        {48, 3},
        {{0, "U8"}, {1, "S8"}, {2, "U16"}, {3, "S16"}, {4, ""}, {5, "64"}, {6, "128"}}};
  m.codes.push_back({4, "32", true});
  if (store) {
    m.codes.push_back({0, "8", true});
    m.codes.push_back({2, "16", true});
  } else {
    m.codes.push_back({7, "U.128"});
  }
  return m;
}
Mod load_cop() {
  return {ModId::cop,
          {46, 2},
          {{0, ""},
           {1, "CG"},
           {2, "CI"},
           {3, "CV"},
           {0, "CA", true},
           {0, "CS", true},
           {1, "LU", true}}};
}
Mod store_cop() {
  return {ModId::cop, {46, 2}, {{0, ""}, {1, "CG"}, {2, "CS"}, {3, "WT"}, {0, "WB", true}}};
}
Mod round_mod(uint8_t pos) {
  return {ModId::round, {pos, 2}, {{0, ""}, {1, "RM"}, {2, "RP"}, {3, "RZ"}, {0, "RN", true}}};
}
Mod ftz_mod(uint8_t pos) {
  return {ModId::ftz, {pos, 2}, {{0, ""}, {1, "FTZ"}, {2, "FMZ"}}};
}
Mod cond_mod() {
  return {ModId::cond,
          {49, 3},
          {{0, "F"}, {1, "LT"}, {2, "EQ"}, {3, "LE"}, {4, "GT"}, {5, "NE"}, {6, "GE"}, {7, "T"}}};
}
Mod signed_mod() {
  return {ModId::signed_, {48, 1}, {{1, ""}, {0, "U32"}, {1, "S32", true}}};
}
Mod bop_mod() {
  return {ModId::bop, {45, 2}, {{0, "AND"}, {1, "OR"}, {2, "XOR"}}};
}
Mod acc_mod(uint8_t len) {
  Mod m{ModId::acc, {50, len}, {{0, ""}, {1, "CLO"}, {2, "CHI"}, {3, "CSFU"}}};
  if (len == 3) m.codes.push_back({4, "CBCC"});
  return m;
}
Mod signs_mod() {
  return {ModId::signs, {48, 2}, {{0, ""}, {1, "S16.U16"}, {2, "U16.S16"}, {3, "S16.S16"}}};
}
Mod logic_mod(uint8_t pos, bool pass) {
  Mod m{ModId::op, {pos, 2}, {{0, "AND"}, {1, "OR"}, {2, "XOR"}}};
  if (pass) m.codes.push_back({3, "PASS_B"});
  return m;
}

class TableBuilder {
 public:
  /// fixed: (field, value) pairs that are part of the form beside the opcode bits.
  struct Fixed {
    Field field;
    uint64_t value;
  };

  Form& row(std::string mnemonic, std::string_view pattern, std::vector<Mod> mods,
            std::vector<OperandSpec> operands, LowerFn lower, std::vector<Fixed> fixed = {}) {
    Form f;
    f.mnemonic = std::move(mnemonic);
    read_pattern(f, pattern);
    for (const Fixed& x : fixed) {
      f.mask |= x.field.mask();
      x.field.set(f.match, x.value);
    }
    f.mods = std::move(mods);
    f.operands = std::move(operands);
    f.lower = lower;
    rows_.push_back(std::move(f));
    return rows_.back();
  }

  /// The three variants of a two-source form: `tail` follows the seven variant bits; the operand
  /// with role b is replaced by a register, a constant and an immediate.
  void alu(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
           const std::vector<OperandSpec>& operands, LowerFn lower, bool is_float = false,
           const std::vector<Fixed>& fixed = {}) {
    const struct {
      const char* head;
      OperandSpec b;
    } variants[] = {{"0101 110", reg(Role::b, 20)},
                    {"0100 110", cbank(Role::b)},
                    {"0011 100", is_float ? fimm20(Role::b) : imm20(Role::b)}};
    for (const auto& v : variants)
      row(mnemonic, variant_pattern(v.head, tail), mods, replace(operands, Role::b, v.b), lower,
          fixed);
  }
  /// Same for the 0101 101 / 0100 101 / 0011 011 group (compares).
  void compare(const std::string& mnemonic, std::string_view tail, const std::vector<Mod>& mods,
               const std::vector<OperandSpec>& operands, LowerFn lower) {
    row(mnemonic, "0101 1011" + std::string(tail), mods,
        replace(operands, Role::b, reg(Role::b, 20)), lower);
    row(mnemonic, "0100 1011" + std::string(tail), mods, replace(operands, Role::b, cbank(Role::b)),
        lower);
    row(mnemonic, variant_pattern("0011 011", tail), mods,
        replace(operands, Role::b, imm20(Role::b)), lower);
  }

  std::vector<Form> take() { return std::move(rows_); }

 private:
  static void read_pattern(Form& f, std::string_view pattern) {
    int bit = 63;
    for (char c : pattern) {
      if (c == ' ') continue;
      assert(bit >= 0);
      if (c != '-') f.mask |= uint64_t{1} << bit;
      if (c == '1') f.match |= uint64_t{1} << bit;
      --bit;
    }
  }
  /// Bit 56 is the immediate's sign in immediate variants, part of the opcode in the others.
  static std::string variant_pattern(std::string_view head, std::string_view tail) {
    const bool immediate = head.substr(0, 4) == "0011";
    return std::string(head) + (immediate ? "-" : "0") + std::string(tail);
  }
  static std::vector<OperandSpec> replace(std::vector<OperandSpec> operands, Role role,
                                          OperandSpec by) {
    for (OperandSpec& o : operands) {
      if (o.role != role) continue;
      by.neg = o.neg;
      by.abs = o.abs;
      by.inv = o.inv;
      by.high = o.high;
      if (by.kind == Kind::imm || by.kind == Kind::fimm) by.neg = by.abs = {};
      o = by;
    }
    return operands;
  }

  std::vector<Form> rows_;
};

const OperandSpec kB = reg(Role::b, 20);

void integer_rows(TableBuilder& t) {
  const Mod x = flag(ModId::x, 43, "X");
  const Mod sat = flag(ModId::sat, 50, "SAT");
  const OperandSpec d = reg(Role::d, 0), dcc = d.with_cc(47), a = reg(Role::a, 8);
  const std::vector<TableBuilder::Fixed> all_bytes = {{{39, 4}, 15}};

  t.alu("MOV", "1001 1", {}, {d, kB}, lower_mov, false, all_bytes);
  t.row("MOV32I", "0000 0001 0000", {}, {d, imm(Role::b, 20, 32)}, lower_mov, {{{12, 4}, 15}});
  // Both negations at once mean "plus one".
  t.alu("IADD.PO", "0001 0", {sat, x}, {dcc, a, kB}, lower_iadd, false, {{{48, 2}, 3}});
  t.alu("IADD", "0001 0", {sat, x}, {dcc, a.with_neg(49), kB.with_neg(48)}, lower_iadd);
  t.row("IADD32I", "0001 110", {flag(ModId::sat, 54, "SAT"), flag(ModId::x, 53, "X")},
        {d.with_cc(52), a.with_neg(56), imm(Role::b, 20, 32, true)}, lower_iadd);
  t.row("IADD3", "0101 1100 1100",
        {flag(ModId::x, 48, "X"), {ModId::parts, {37, 2}, {{0, ""}, {1, "RS"}, {2, "LS"}}}},
        {dcc, a.with_neg(51), kB.with_neg(50), reg(Role::c, 39).with_neg(49)}, lower_iadd3);
  t.row("IADD3", "0100 1100 1100", {flag(ModId::x, 48, "X")},
        {dcc, a.with_neg(51), cbank(Role::b).with_neg(50), reg(Role::c, 39).with_neg(49)},
        lower_iadd3);
  t.row("IADD3", "0011 100- 1100", {flag(ModId::x, 48, "X")},
        {dcc, a.with_neg(51), imm20(Role::b), reg(Role::c, 39).with_neg(49)}, lower_iadd3);
  t.alu("ISCADD", "0001 1", {}, {dcc, a.with_neg(49), kB.with_neg(48), imm(Role::c, 39, 5)},
        lower_iscadd);
  t.alu("SHL", "0100 1", {flag(ModId::wrap, 39, "W"), x}, {dcc, a, kB}, lower_shift);
  t.alu("SHR", "0010 1", {signed_mod(), flag(ModId::wrap, 39, "W"), flag(ModId::x, 44, "X")},
        {dcc, a, kB}, lower_shift);
  t.row("LOP32I", "0000 01", {logic_mod(53, true), flag(ModId::x, 57, "X")},
        {d.with_cc(52), a.with_inv(55), imm(Role::b, 20, 32).with_inv(56)}, lower_logic);
  // The plain LOP has no predicate output: code 0 in bits 44..45 and PT in 48..50.
  t.alu("LOP", "0100 0", {logic_mod(41, true), x}, {dcc, a.with_inv(39), kB.with_inv(40)},
        lower_logic, false, {{{44, 2}, 0}, {{48, 3}, 7}});
  t.alu("SEL", "1010 0", {}, {d, a, kB, pred(Role::p, 39).with_neg(42)}, lower_sel);
  t.compare("ISETP", "0110", {cond_mod(), signed_mod(), x, bop_mod()},
            {pred(Role::p, 3), pred(Role::q, 0), a, kB, pred(Role::r, 39).with_neg(42)},
            lower_isetp);
}

void xmad_rows(TableBuilder& t) {
  const OperandSpec dcc = reg(Role::d, 0).with_cc(47);
  const OperandSpec a = reg(Role::a, 8).with_high(53), c = reg(Role::c, 39);
  const OperandSpec cb = spaced(cbank(Role::b)).with_high(52);
  t.row("XMAD", "0101 1011 00",
        {signs_mod(), flag(ModId::psl, 36, "PSL"), flag(ModId::mrg, 37, "MRG"), acc_mod(3),
         flag(ModId::x, 38, "X")},
        {dcc, a, kB.with_high(35), c}, lower_xmad);
  t.row("XMAD", "0100 111",
        {signs_mod(), flag(ModId::psl, 55, "PSL"), flag(ModId::mrg, 56, "MRG"), acc_mod(2),
         flag(ModId::x, 54, "X")},
        {dcc, a, cb, c}, lower_xmad);
  t.row("XMAD", "0101 0001 0", {signs_mod(), acc_mod(2), flag(ModId::x, 54, "X")},
        {dcc, a, reg(Role::b, 39).with_high(52), spaced(cbank(Role::c))}, lower_xmad);
  t.row("XMAD", "0011 0110 00",
        {signs_mod(), flag(ModId::psl, 36, "PSL"), flag(ModId::mrg, 37, "MRG"), acc_mod(3),
         flag(ModId::x, 38, "X")},
        {dcc, a, imm(Role::b, 20, 16), c}, lower_xmad);
}

void float_rows(TableBuilder& t) {
  const OperandSpec dcc = reg(Role::d, 0).with_cc(47), a = reg(Role::a, 8);
  t.alu("FADD", "0101 1", {flag(ModId::ftz, 44, "FTZ"), round_mod(39), flag(ModId::sat, 50, "SAT")},
        {dcc, a.with_neg(48).with_abs(46), kB.with_neg(45).with_abs(49)}, lower_fadd, true);
  t.row("FADD32I", "0000 10", {flag(ModId::ftz, 55, "FTZ")},
        {reg(Role::d, 0).with_cc(52), a.with_neg(56).with_abs(54), fimm32(Role::b)}, lower_fadd);
  const Mod scale{ModId::scale,
                  {41, 3},
                  {{0, ""}, {1, "D2"}, {2, "D4"}, {3, "D8"}, {4, "M8"}, {5, "M4"}, {6, "M2"}}};
  t.alu("FMUL", "0110 1", {scale, ftz_mod(44), round_mod(39), flag(ModId::sat, 50, "SAT")},
        {dcc, a, kB.with_neg(48)}, lower_fmul, true);
  t.row("FMUL32I", "0001 1110", {ftz_mod(53), flag(ModId::sat, 55, "SAT")},
        {reg(Role::d, 0).with_cc(52), a, fimm32(Role::b)}, lower_fmul);

  const std::vector<Mod> fma = {ftz_mod(53), round_mod(51), flag(ModId::sat, 50, "SAT")};
  const OperandSpec c = reg(Role::c, 39).with_neg(49);
  t.row("FFMA", "0101 1001 1", fma, {dcc, a, kB.with_neg(48), c}, lower_ffma);
  t.row("FFMA", "0100 1001 1", fma, {dcc, a, cbank(Role::b).with_neg(48), c}, lower_ffma);
  t.row("FFMA", "0101 0001 1", fma,
        {dcc, a, reg(Role::b, 39).with_neg(48), cbank(Role::c).with_neg(49)}, lower_ffma);
  // Bit 48 negates the product here too, but nvdisasm folds it into the printed literal's sign;
  // ptxas leaves it 0.
  t.row("FFMA", "0011 001- 1", fma, {dcc, a, fimm20(Role::b), c}, lower_ffma, {{{48, 1}, 0}});
}

void memory_rows(TableBuilder& t) {
  const Mod e = flag(ModId::ext, 45, "E");
  const OperandSpec d = reg(Role::d, 0);
  t.row("LDG", "1110 1110 1101 0", {e, load_cop(), size_mod(false)}, {d, address(24)}, lower_ldg)
      .ignored = uint64_t{1} << 44;
  OperandSpec ps = pred(Role::p, 41);
  ps.inverted = true;
  Form& sparse = t.row("LDG", "1110 1110 1100 1", {e, load_cop(), size_mod(false)},
                       {ps, d, address(20)}, nullptr);
  sparse.min_arch = 52;
  sparse.ignored = uint64_t{1} << 44 | uint64_t{1} << 40;
  t.row("STG", "1110 1110 1101 1", {e, store_cop(), size_mod(true)}, {address(24), d}, lower_stg)
      .ignored = uint64_t{1} << 44;
  const Mod scope{ModId::scope, {8, 2}, {{0, "CTA"}, {1, "GL"}, {2, "SYS"}, {3, "VC"}}};
  const Mod inv{ModId::invalidate, {0, 2}, {{0, ""}, {1, "IVALLD"}, {2, "IVALLT"}, {3, "IVALLTD"}}};
  t.row("MEMBAR", "1110 1111 1001 1", {scope, inv}, {}, lower_membar);
}

void control_rows(TableBuilder& t) {
  const std::vector<TableBuilder::Fixed> always = {{{0, 5}, 15}};
  t.row("S2R", "1111 0000 1100 1", {}, {reg(Role::d, 0), simple(Kind::sreg, Role::b, 20, 8)},
        lower_s2r);
  t.row("BRA", "1110 0010 0100", {flag(ModId::uniform, 7, "U"), flag(ModId::limit, 6, "LMT")},
        {simple(Kind::target, Role::target, 20, 24)}, lower_bra, {{{0, 6}, 15}});
  t.row("EXIT", "1110 0011 0000", {}, {}, lower_exit, {{{0, 6}, 15}});
  t.row("NOP", "0101 0000 1011 0", {}, {}, lower_nop, {{{8, 5}, 15}});
  t.row("DEPBAR.LE", "1111 0000 1111 0", {},
        {simple(Kind::sb, Role::a, 26, 3), imm(Role::b, 20, 6)}, lower_nop, {{{29, 1}, 1}});
  t.row("DEPBAR", "1111 0000 1111 0", {}, {simple(Kind::sbmask, Role::a, 0, 6)}, lower_nop,
        {{{29, 1}, 0}});
  // Immediate id, all threads of the block, no reduction.
  t.row("BAR.SYNC", "1111 0000 1010 1", {}, {imm(Role::a, 8, 8)}, lower_bar,
        {{{20, 12}, 0}, {{32, 5}, 0}, {{39, 4}, 7}, {{43, 2}, 3}});
}

std::vector<Form> build() {
  TableBuilder t;
  integer_rows(t);
  xmad_rows(t);
  float_rows(t);
  memory_rows(t);
  control_rows(t);
  return t.take();
}

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> table = build();
  return table;
}

}  // namespace lanewise::sass
