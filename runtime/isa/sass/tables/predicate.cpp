// Rows of predicates and flags as values.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
void predicate_rows(TableBuilder& t) {
  const OperandSpec p = pred(Role::p, 3), q = pred(Role::q, 0), d = kD, dcc = d.with_cc(47),
                    third = pred(Role::c, 39).with_neg(42);
  const OperandSpec cc = simple(Kind::flags, Role::a, 0, 0);
  const Mod as_float = flag(ModId::parts, 44, "BF"), test{ModId::cond, {8, 5}, named(flag_tests())};
  Mod second = bool_mod(45);
  second.id = ModId::op;
  t.row("CSETP", "0101 0000 1010 0", {test, bool_mod(45)},
        {p, q, cc, pred(Role::r, 39).with_neg(42)}, lower_csetp);
  t.trait(kReadsFlags);
  t.row("CSET", "0101 0000 1001 1", {as_float, test, bool_mod(45)},
        {dcc, cc, pred(Role::r, 39).with_neg(42)}, lower_cset);
  t.trait(kReadsFlags);
  t.row("PSETP", "0101 0000 1001 0", {bool_mod(24), second},
        {p, q, pred(Role::a, 12).with_neg(15), pred(Role::b, 29).with_neg(32), third}, lower_psetp);
  t.row("PSET", "0101 0000 1000 1", {as_float, bool_mod(24), second},
        {dcc, pred(Role::a, 12).with_neg(15), pred(Role::b, 29).with_neg(32), third}, lower_pset);
  static constexpr std::string_view kBytes[] = {"", "B1", "B2", "B3"};
  const OperandSpec which = simple(Kind::bits, Role::p, 40, 1), a = kA;
  t.alu("R2P", "1111 0", {}, {which, a.with_part({41, 2}, {}, kBytes), kB}, lower_r2p);
  t.trait(kWritesPredicates, 3);
  t.alu("P2R", "1110 1", {{ModId::parts, {41, 2}, named({"", "B1", "B2", "B3"})}},
        {d, which, a, kB}, lower_p2r);
  t.trait(kReadsPredicates, 3);
  for (Form& f : t.last(6).first(3))
    for (OperandSpec& o : f.operands) o.pattern = o.kind == Kind::imm;
  // Only a division can be checked.
  t.alu("FCHK", "1000 1", {{ModId::op, {39, 6}, named({"DIVIDE"}, "INVALIDCHKMODE", 64)}},
        {p, a.with_neg(48).with_abs(46), kB.with_neg(45).with_abs(49)}, lower_fchk, true);
}

}  // namespace lanewise::sass::table
