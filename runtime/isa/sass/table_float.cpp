// Rows of single-precision compares, conversions and special functions.
#include "runtime/isa/sass/table_builder.hpp"

namespace lanewise::sass::table {
namespace {

const OperandSpec kD = reg(Role::d, 0), kA = reg(Role::a, 8), kB = reg(Role::b, 20);

Mod float_cond() {
  return {ModId::cond,
          {48, 4},
          {{0, "F"},
           {1, "LT"},
           {2, "EQ"},
           {3, "LE"},
           {4, "GT"},
           {5, "NE"},
           {6, "GE"},
           {7, "NUM"},
           {8, "NAN"},
           {9, "LTU"},
           {10, "EQU"},
           {11, "LEU"},
           {12, "GTU"},
           {13, "NEU"},
           {14, "GEU"},
           {15, "T"}}};
}
Mod bool_mod() {
  return {ModId::bop, {45, 2}, {{0, "AND"}, {1, "OR"}, {2, "XOR"}, {3, "INVALIDBOP3"}}};
}

void compare_rows(TableBuilder& t) {
  const OperandSpec r = pred(Role::r, 39).with_neg(42);
  t.compare("FSETP", "1011", {float_cond(), flag(ModId::ftz, 47, "FTZ"), bool_mod()},
            {pred(Role::p, 3), pred(Role::q, 0), kA.with_neg(43).with_abs(7),
             kB.with_neg(6).with_abs(44), r},
            lower_fsetp, {}, true);
  const std::vector<Mod> set = {flag(ModId::parts, 52, "BF"), float_cond(),
                                flag(ModId::ftz, 55, "FTZ"), bool_mod()};
  const std::vector<OperandSpec> operands = {kD.with_cc(47), kA.with_neg(43).with_abs(54),
                                             kB.with_neg(53).with_abs(44), r};
  t.row("FSET", "0101 1000", set, operands, lower_fset);
  t.row("FSET", "0100 1000", set,
        {operands[0], operands[1], cbank(Role::b).with_neg(53).with_abs(44), r}, lower_fset);
  t.row("FSET", "0011 000", set,
        {operands[0], operands[1], fimm20(Role::b).with_neg(53).with_abs(44), r}, lower_fset);
  const OperandSpec c = reg(Role::c, 39);
  const std::vector<Mod> choose = {float_cond(), flag(ModId::ftz, 47, "FTZ")};
  t.compare("FCMP", "1010", choose, {kD, kA, kB, c}, lower_fcmp, {}, true);
  t.row("FCMP", "0101 0011 1010", choose, {kD, kA, reg(Role::b, 39), cbank(Role::c)}, lower_fcmp);
  t.alu("FMNMX", "0110 0", {flag(ModId::ftz, 44, "FTZ")},
        {kD.with_cc(47), kA.with_neg(48).with_abs(46), kB.with_neg(45).with_abs(49),
         pred(Role::p, 39).with_neg(42)},
        lower_fmnmx, true);
}

Mod float_format(ModId id, uint8_t pos) {
  return {id, {pos, 2}, {{1, "F16"}, {2, "F32"}, {3, "F64"}}};
}
/// Sign and size stand apart in the word but are one modifier in text, so each sign has its rows.
void conversion_rows(TableBuilder& t) {
  const Mod round{ModId::round, {39, 2}, {{0, ""}, {1, "RM"}, {2, "RP"}, {3, "RZ"}}};
  const Mod integral{ModId::round,
                     {39, 2},
                     {{0, ""}, {1, "FLOOR"}, {2, "CEIL"}, {3, "TRUNC"}, {0, "ROUND", true}}};
  for (const bool constant : {false, true}) {
    const std::string head = constant ? "0100 110" : "0101 110";
    const OperandSpec plain = constant ? cbank(Role::b) : kB;
    const OperandSpec b = spaced(plain).with_neg(45).with_abs(49);
    for (const bool is_signed : {false, true}) {
      const uint64_t sign = is_signed ? 1 : 0;
      const std::vector<Code> names =
          is_signed ? std::vector<Code>{{0, "S8"}, {1, "S16"}, {2, "S32"}, {3, "S64"}}
                    : std::vector<Code>{{0, "U8"}, {1, "U16"}, {2, "U32"}, {3, "U64"}};
      t.row("I2F", head + "0 1011 1",
            {float_format(ModId::type, 8), {ModId::size, {10, 2}, names}, round}, {kD, b},
            lower_i2f, {{{13, 1}, sign}, {{41, 2}, 0}});
      t.row("F2I", head + "0 1011 0",
            {flag(ModId::ftz, 44, "FTZ"),
             {ModId::size, {8, 2}, names},
             float_format(ModId::type, 10),
             integral},
            {kD, b}, lower_f2i, {{{12, 1}, sign}});
      for (const bool from_signed : {false, true}) {
        const std::vector<Code> from =
            from_signed ? std::vector<Code>{{0, "S8"}, {1, "S16"}, {2, "S32"}, {3, "S64"}}
                        : std::vector<Code>{{0, "U8"}, {1, "U16"}, {2, "U32"}, {3, "U64"}};
        Form& i2i = t.row("I2I", head + "0 1110 0",
                          {{ModId::size, {8, 2}, names},
                           {ModId::type, {10, 2}, from},
                           flag(ModId::sat, 50, "SAT")},
                          {kD.with_cc(47), b}, lower_i2i,
                          {{{12, 1}, sign}, {{13, 1}, from_signed ? 1U : 0U}, {{41, 2}, 0}});
        i2i.ordered = true;
      }
    }
    t.row("F2F", head + "0 1010 1",
          {flag(ModId::ftz, 44, "FTZ"),
           float_format(ModId::type, 8),
           float_format(ModId::size, 10),
           {ModId::round,
            {39, 4},
            {{0, ""},
             {1, "RM"},
             {2, "RP"},
             {3, "RZ"},
             {8, "ROUND"},
             {9, "FLOOR"},
             {10, "CEIL"},
             {11, "TRUNC"}}},
           flag(ModId::sat, 50, "SAT")},
          {kD, b}, lower_f2f);
    t.claims(isa::Claim::approximate);
    t.row("RRO", head + "0 1001 0", {{ModId::mode, {39, 1}, {{0, "SINCOS"}, {1, "EX2"}}}},
          {kD, plain.with_neg(45).with_abs(49)}, lower_rro)
        .variable_latency = false;
    t.claims(isa::Claim::exact);
  }
}

}  // namespace

void float_compare_rows(TableBuilder& t) {
  compare_rows(t);
}

void conversion_group(TableBuilder& t) {
  conversion_rows(t);
  t.claims(isa::Claim::approximate);
  t.row("MUFU", "0101 0000 1000 0",
        {{ModId::op,
          {20, 4},
          {{0, "COS"},
           {1, "SIN"},
           {2, "EX2"},
           {3, "LG2"},
           {4, "RCP"},
           {5, "RSQ"},
           {6, "RCP64H"},
           {7, "RSQ64H"}}},
         flag(ModId::sat, 50, "SAT")},
        {kD, kA.with_neg(48).with_abs(46)}, lower_mufu);
  t.row("MUFU", "0101 0000 1000 0",
        {{ModId::op, {20, 4}, {{8, "SQRT"}}}, flag(ModId::sat, 50, "SAT")},
        {kD, kA.with_neg(48).with_abs(46)}, lower_mufu)
      .min_arch = 52;
  t.claims(isa::Claim::exact);
  OperandSpec vote = pred(Role::p, 45);
  vote.optional = true;
  t.row("B2R", "1111 0000 1011 1", {{ModId::mode, {32, 2}, {{1, "RESULT"}}}}, {kD, vote}, lower_b2r,
        {{{8, 8}, kRZ}});
}

}  // namespace lanewise::sass::table
