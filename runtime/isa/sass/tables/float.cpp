// Rows of single-precision compares, conversions and special functions.
#include <algorithm>

#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

void plain_compare_rows(TableBuilder& t) {
  const OperandSpec r = pred(Role::r, 39).with_neg(42);
  t.compare("FSETP", "1011", {float_cond(), flag(ModId::ftz, 47, "FTZ"), bool_mod(45)},
            {pred(Role::p, 3), pred(Role::q, 0), kA.with_neg(43).with_abs(7),
             kB.with_neg(6).with_abs(44), r},
            lower_fsetp, {}, true);
  const std::vector<Mod> set = {flag(ModId::parts, 52, "BF"), float_cond(),
                                flag(ModId::ftz, 55, "FTZ"), bool_mod(45)};
  const std::vector<OperandSpec> operands = {kD.with_cc(47), kA.with_neg(43).with_abs(54),
                                             kB.with_neg(53).with_abs(44), r};
  t.row("FSET", "0101 1000", set, operands, lower_fset);
  t.row("FSET", "0100 1000", set,
        {operands[0], operands[1], cbank(Role::b).with_neg(53).with_abs(44), r}, lower_fset);
  t.row("FSET", "0011 000-", set,
        {operands[0], operands[1], fimm20(Role::b).with_neg(53).with_abs(44), r}, lower_fset);
  const OperandSpec c = kC;
  Mod chosen = float_cond();  // the usual one is not written
  std::ranges::find(chosen.codes, "GT", &Code::text)->text = "";
  chosen.codes.push_back({4, "GT", true});
  t.triple("FCMP", "1 1010", {chosen, flag(ModId::ftz, 47, "FTZ")}, {kD, kA, kB, c}, lower_fcmp,
           true);
  t.alu("FMNMX", "0110 0", {flag(ModId::ftz, 44, "FTZ")},
        {kD.with_cc(47), kA.with_neg(48).with_abs(46), kB.with_neg(45).with_abs(49),
         pred(Role::p, 39).with_neg(42)},
        lower_fmnmx, true);
}

std::vector<Code> format_codes(std::string_view invalid) {
  return named({invalid, "F16", "F32", "F64"});
}
Mod source_format(ModId id, uint8_t pos) {
  return {id, {pos, 2}, format_codes("INVALIDFPSRC0")};
}

/// By the size of the integer.
constexpr std::string_view kIntegerParts[] = {
    "", "B1", "B2", "B3", "", "INVALIDSIZE1", "H1", "INVALIDSIZE3",
    "", "B1", "B2", "B3", "", "B1",           "B2", "B3"};
/// Only half precision has parts in F2F; F2I prints the bit whatever the format.
constexpr std::string_view kUpperHalf[] = {"", "", "", "H1", "", "", "", ""};
constexpr std::string_view kHalf[] = {"", "H1"};

/// Size in the lower bits, sign above.
std::vector<Code> integer_codes(std::string_view byte, std::string_view signed_byte,
                                std::string_view wide, std::string_view signed_wide) {
  return named({byte, "U16", "U32", wide, signed_byte, "S16", "S32", signed_wide});
}

void f2f_rows(TableBuilder& t, const std::string& head, const OperandSpec& b, bool constant) {
  const Mod ftz = flag(ModId::ftz, 44, "FTZ"), sat = flag(ModId::sat, 50, "SAT");
  const OperandSpec d = kD.with_cc(47);
  const OperandSpec whole = b.with_part({41, 1}, {10, 2}, kUpperHalf),
                    half = constant ? spaced(whole) : whole;
  // One format: rounded to an integer, or not at all.
  for (const Code& format : format_codes("INVALIDFPSRC0")) {
    const std::string_view to = format.value == 0 ? "INVALIDFPDEST0" : format.text;
    t.row("F2F", head + " 1010 1",
          {ftz,
           {ModId::type, {8, 2}, {{format.value, to}}},
           {ModId::size, {10, 2}, {format}},
           {ModId::round,
            {39, 2},
            named({"", "PASS", "PASS", "PASS", "ROUND", "FLOOR", "CEIL", "TRUNC"}),
            {42, 1}},
           sat},
          {d, format.value == 1 ? half : whole}, format.value == 0 ? nullptr : lower_f2f,
          {{{8, 2}, format.value}, {{10, 2}, format.value}});
    t.trait(kConverts);
  }
  for (const bool from_half : {true, false}) {
    const std::vector<TableBuilder::Fixed> halves = {{{10, 2}, 1}};
    t.row("F2F", head + " 1010 1",
          {ftz,
           {ModId::type, {8, 2}, format_codes("INVALIDFPDEST0")},
           source_format(ModId::size, 10),
           {ModId::round, {39, 2}, named({"", "RM", "RP", "RZ"})},
           sat},
          {d, from_half ? half : whole}, lower_f2f,
          from_half ? halves : std::vector<TableBuilder::Fixed>{});
    t.trait(kConverts);
  }
}

/// Pascal converts doubles and integers of 64 bits in the unit of doubles, which has operands in
/// the operand cache.
void wide_conversions(TableBuilder& t, size_t first) {
  constexpr Field kTo{8, 2}, kFrom{10, 2};
  const size_t count = t.size() - first;
  std::vector<Form> wide;
  for (const Form& f : t.last(count))
    for (unsigned to = 0; to < 4; ++to)
      for (unsigned from = 0; from < 4; ++from) {
        const bool wanted = from == 3 || (to == 3 && from != (f.mnemonic == "F2F" ? 0 : 1));
        const auto fits = [&](Field at, unsigned value) {
          return (f.mask & at.mask()) != at.mask() || at.get(f.match) == value;
        };
        if (!wanted || f.mnemonic == "I2I" || !fits(kTo, to) || !fits(kFrom, from)) continue;
        Form& copy = wide.emplace_back(f);
        TableBuilder::fix(copy, {kTo, to});
        TableBuilder::fix(copy, {kFrom, from});
        copy.min_arch = kFirstPascal;
        copy.shows_reuse = true;
      }
  t.before(first, std::move(wide));
}

/// From a register, a constant or an immediate.
void conversion_rows(TableBuilder& t) {
  const Mod round{ModId::round, {39, 2}, named({"", "RM", "RP", "RZ"})};
  const Mod integral{ModId::round,
                     {39, 2},
                     {{0, ""}, {1, "FLOOR"}, {2, "CEIL"}, {3, "TRUNC"}, {0, "ROUND", true}}};
  const struct {
    const char* head;
    OperandSpec integer, real;
  } variants[] = {{"0101 110", kB, kB},
                  {"0100 110", cbank(Role::b), cbank(Role::b)},
                  {"0011 100", imm20(Role::b), fimm20(Role::b)}};
  for (const auto& v : variants) {
    const bool constant = v.integer.kind == Kind::cbank, number = v.integer.kind == Kind::imm;
    const std::string head = std::string(v.head) + (number ? "-" : "0");
    const auto with_sign = [](const OperandSpec& o) { return o.with_neg(45).with_abs(49); };
    const auto shown = [&](const OperandSpec& o) { return constant ? spaced(o) : o; };
    const auto tail = [&](const char* digits) { return head + digits; };
    const OperandSpec integer =
        with_sign(shown(v.integer)).with_part({41, 2}, {10, 2}, kIntegerParts);
    const OperandSpec real = with_sign(v.real).with_format({10, 2});
    const OperandSpec plain_real = with_sign(v.real);
    const size_t first = t.size();
    t.row("I2F", tail(" 1011 1"),
          {{ModId::type, {8, 2}, format_codes("INVALIDFPSRC0")},
           {ModId::size, {10, 2}, integer_codes("U8", "S8", "U64", "S64"), {13, 1}},
           round},
          {kD.with_cc(47), integer}, lower_i2f);
    t.trait(kConverts);
    t.row("F2I", tail(" 1011 0"),
          {flag(ModId::ftz, 44, "FTZ"),
           {ModId::size, {8, 2}, integer_codes("INVALID0", "INVALID1", "U64", "S64"), {12, 1}},
           source_format(ModId::type, 10),
           integral},
          {kD.with_cc(47), shown(real).with_part({41, 1}, {}, kHalf)}, lower_f2i);
    t.trait(kConverts);
    t.row("I2I", tail(" 1110 0"),
          {{ModId::size, {8, 2}, integer_codes("U8", "S8", "???6", "???7"), {12, 1}},
           {ModId::type, {10, 2}, integer_codes("U8", "S8", "INVALID6", "INVALID7"), {13, 1}},
           flag(ModId::sat, 50, "SAT")},
          {kD.with_cc(47), integer}, lower_i2i)
        .ordered = true;
    f2f_rows(t, head, real, constant);
    wide_conversions(t, first);
    t.claims(isa::Claim::approximate);
    t.row("RRO", tail(" 1001 0"), {{ModId::mode, {39, 1}, named({"SINCOS", "EX2"})}},
          {kD, plain_real}, lower_rro)
        .variable_latency = false;
    t.last(1)[0].shows_reuse = true;
    t.claims(isa::Claim::exact);
  }
}

}  // namespace

void float_compare_rows(TableBuilder& t) {
  plain_compare_rows(t);
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
           {7, "RSQ64H"},
           {9, "INVALIDMUFUOPCODE9"},
           {10, "INVALIDMUFUOPCODEA"},
           {11, "INVALIDMUFUOPCODEB"},
           {12, "INVALIDMUFUOPCODEC"},
           {13, "INVALIDMUFUOPCODED"},
           {14, "INVALIDMUFUOPCODEE"},
           {15, "INVALIDMUFUOPCODEF"}}},
         flag(ModId::sat, 50, "SAT")},
        {kD, kA.with_neg(48).with_abs(46)}, lower_mufu);
  t.row("MUFU", "0101 0000 1000 0",
        {{ModId::op, {20, 4}, {{8, "INVALIDMUFUOPCODE8"}}}, flag(ModId::sat, 50, "SAT")},
        {kD, kA.with_neg(48).with_abs(46)}, nullptr)
      .max_arch = 50;
  t.row("MUFU", "0101 0000 1000 0",
        {{ModId::op, {20, 4}, {{8, "SQRT"}}}, flag(ModId::sat, 50, "SAT")},
        {kD, kA.with_neg(48).with_abs(46)}, lower_mufu)
      .min_arch = 52;
  t.claims(isa::Claim::exact);
  constexpr std::string_view kB2r = "1111 0000 1011 1";
  const Field mode{32, 2}, barrier{8, 8};
  t.row("B2R", kB2r, {{ModId::mode, mode, {{1, "RESULT"}}}}, {kD, optional(pred(Role::p, 45), 7)},
        lower_b2r, {{barrier, kRZ}});
  t.row("B2R", kB2r, {{ModId::mode, mode, {{2, "WARP"}}}}, {kD}, nullptr, {{barrier, kRZ}});
  t.row("B2R", kB2r, {{ModId::mode, mode, {{0, ""}, {3, "INVALID"}}}}, {kD, imm(Role::a, 8, 8)},
        nullptr);
}

}  // namespace lanewise::sass::table
