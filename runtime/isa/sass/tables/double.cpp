// Rows of double precision.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

const OperandSpec kWideD = kD.as_wide(), kWideA = kA.as_wide(), kWideB = kB.as_wide(),
                  kWideC = kC.as_wide();
const OperandSpec kThird = pred(Role::r, 39).with_neg(42);

}  // namespace

void double_rows(TableBuilder& t) {
  const size_t first = t.size();
  t.alu("DADD", "0111 0", {round_mod(39)},
        {kWideD.with_cc(47), kWideA.with_neg(48).with_abs(46), kWideB.with_neg(45).with_abs(49)},
        lower_dadd, true);
  for (Form& f : t.last(3))  // as with FADD
    for (OperandSpec& o : f.operands)
      if (o.kind == Kind::reg && o.role == Role::b) o.reuse = 2;
  t.alu("DMUL", "1000 0", {round_mod(39)}, {kWideD.with_cc(47), kWideA, kWideB.with_neg(48)},
        lower_dmul, true);
  t.triple("DFMA", "1 0111", {round_mod(50)},
           {kWideD.with_cc(47), kWideA, kWideB.with_neg(48), kWideC.with_neg(49)}, lower_dfma,
           true);
  // Their latency varies, and yet they use the operand cache.
  for (Form& f : t.last(t.size() - first)) f.shows_reuse = true;
  const size_t compares = t.size();
  t.alu("DMNMX", "0101 0", {},
        {kWideD.with_cc(47), kWideA.with_neg(48).with_abs(46), kWideB.with_neg(45).with_abs(49),
         kThird},
        lower_dmnmx, true);
  t.compare("DSETP", "1000", {float_cond(), bool_mod(45)},
            {pred(Role::p, 3), pred(Role::q, 0), kWideA.with_neg(43).with_abs(7),
             kWideB.with_neg(6).with_abs(44), kThird},
            lower_dsetp, {}, true);
  const OperandSpec a = kWideA.with_neg(43).with_abs(54), d = kD.with_cc(47);
  const auto second = [](OperandSpec b) { return b.as_wide().with_neg(53).with_abs(44); };
  const std::vector<Mod> set = {flag(ModId::parts, 52, "BF"), float_cond(), bool_mod(45)};
  t.row("DSET", "0101 1001 0", set, {d, a, second(kWideB), kThird}, lower_dset);
  t.row("DSET", "0100 1001 0", set, {d, a, second(cbank(Role::b)), kThird}, lower_dset);
  t.row("DSET", "0011 001- 0", set, {d, a, second(fimm20(Role::b)), kThird}, lower_dset);
  t.later(t.size() - compares, kFirstPascal, [](Form& f) { f.shows_reuse = true; });
}

}  // namespace lanewise::sass::table
