// Rows of half precision, from sm_53 on.
#include "runtime/isa/sass/tables/builder.hpp"

namespace lanewise::sass::table {
namespace {

constexpr std::string_view kHalves[] = {"", "F32", "H0_H0", "H1_H1"};
constexpr uint16_t kFirstArch = 53;

/// A register, and which of its halves.
OperandSpec halves(OperandSpec o, uint8_t pos) {
  return o.with_part({pos, 2}, {}, kHalves);
}
Mod format_mod() {
  return {ModId::size, {49, 2}, named({"", "F32", "MRG_H0", "MRG_H1"})};
}
/// A number of each half's own. `format`: a bit of the opcode that is 1, for half precision.
OperandSpec number(Role role, Field bits, Field sign, uint8_t format) {
  return simple(Kind::fimm, role, bits.pos, bits.len)
      .with(&OperandSpec::sign, sign)
      .with_format({format, 1});
}
/// The upper bits of two numbers, or all of them.
const OperandSpec kHigh = number(Role::b, {30, 9}, {56, 1}, 60),
                  kLow = number(kLowNumber, {20, 9}, {29, 1}, 60),
                  kWholeHigh = number(Role::b, {36, 16}, {}, 61),
                  kWholeLow = number(kLowNumber, {20, 16}, {}, 61);

/// Their control field may name scoreboards, and they have operands in the operand cache. Constants
/// they take from a bank with known contents, which a cubin has.
void complete(TableBuilder& t, size_t count) {
  for (Form& f : t.last(count)) {
    f.min_arch = kFirstArch;
    f.variable_latency = true;
    for (const OperandSpec& o : f.operands)
      if (o.kind == Kind::cbank) f.claim = isa::Claim::effect;
  }
}

void add_rows(TableBuilder& t) {
  const Mod ftz = flag(ModId::ftz, 39, "FTZ");
  const auto mods = [&](uint8_t sat) {
    return std::vector<Mod>{format_mod(), ftz, flag(ModId::sat, sat, "SAT")};
  };
  const OperandSpec a = halves(kA.with_neg(43).with_abs(44), 47);
  OperandSpec b = halves(kB.with_neg(31).with_abs(30), 28);
  b.reuse = 2;
  t.row("HADD2", "0101 1101 0001 0", mods(32), {kD, a, b}, lower_hadd2);
  t.row("HADD2", "0111 101- 1", mods(52), {kD, a, cbank(Role::b).with_neg(56).with_abs(54)},
        lower_hadd2);
  t.row("HADD2", "0111 101- 0", mods(52), {kD, a, kHigh, kLow}, lower_hadd2);
  t.row("HADD2_32I", "0010 110", {flag(ModId::ftz, 55, "FTZ"), flag(ModId::sat, 52, "SAT")},
        {kD, halves(kA.with_neg(56), 53), kWholeHigh, kWholeLow}, lower_hadd2);
  complete(t, 4);
}

void multiply_rows_of_halves(TableBuilder& t) {
  const auto mods = [&](uint8_t sat) {
    return std::vector<Mod>{format_mod(), fmz_mod(39, "INVALID"), flag(ModId::sat, sat, "SAT")};
  };
  const OperandSpec a = halves(kA.with_abs(44), 47);
  t.row("HMUL2", "0101 1101 0000 1", mods(32), {kD, a, halves(kB.with_neg(31).with_abs(30), 28)},
        lower_hmul2);
  t.row("HMUL2", "0111 100- 1", mods(52), {kD, a, cbank(Role::b).with_neg(43).with_abs(54)},
        lower_hmul2);
  t.row("HMUL2", "0111 100- 0", mods(52), {kD, a.with_neg(43), kHigh, kLow}, lower_hmul2);
  t.row("HMUL2_32I", "0010 101", {fmz_mod(55, "INVALID"), flag(ModId::sat, 52, "SAT")},
        {kD, halves(kA, 53), kWholeHigh, kWholeLow}, lower_hmul2);
  const OperandSpec plain = halves(kA, 47), c = kC.with_neg(51);
  const auto fma = [](uint8_t ftz, std::string_view third, uint8_t sat) {
    return std::vector<Mod>{format_mod(), fmz_mod(ftz, third), flag(ModId::sat, sat, "SAT")};
  };
  t.row("HFMA2", "0101 1101 0000 0", fma(37, "INVALID", 32),
        {kD, plain, halves(kB.with_neg(31), 28), halves(kC.with_neg(30), 35)}, lower_hfma2);
  t.row("HFMA2", "0110 0--- 1", fma(57, "INVALIDFMZ3", 52),
        {kD, plain, halves(reg(Role::b, 39).with_neg(56), 53), cbank(Role::c).with_neg(51)},
        lower_hfma2);
  t.row("HFMA2", "0111 0--- 1", fma(57, "INVALID", 52),
        {kD, plain, cbank(Role::b).with_neg(56), halves(c, 53)}, lower_hfma2);
  t.row("HFMA2", "0111 0--- 0", fma(57, "INVALID", 52), {kD, plain, kHigh, kLow, halves(c, 53)},
        lower_hfma2);
  OperandSpec same = reg(Role::c, 0).with_neg(52);
  same.reuse = 2;
  t.row("HFMA2_32I", "0010 100", {fmz_mod(55, "INVALIDFMZ3")},
        {kD, halves(kA, 53), kWholeHigh, kWholeLow, same}, lower_hfma2);
  complete(t, 9);
}

void compare_rows_of_halves(TableBuilder& t) {
  const OperandSpec a = halves(kA.with_neg(43).with_abs(44), 47);
  const OperandSpec b = halves(kB.with_neg(31).with_abs(30), 28);
  const OperandSpec r = pred(Role::r, 39).with_neg(42);
  Mod bop = bool_mod(45);
  bop.codes.back().text = "???3";
  const auto set = [&](uint8_t bf, uint8_t cond, uint8_t ftz) {
    return std::vector<Mod>{flag(ModId::parts, bf, "BF"), float_cond(cond),
                            flag(ModId::ftz, ftz, "FTZ"), bop};
  };
  t.row("HSET2", "0101 1101 0001 1", set(49, 35, 50), {kD, a, b, r}, lower_hset2);
  t.row("HSET2", "0111 110- 1", set(53, 49, 54), {kD, a, cbank(Role::b).with_neg(56), r},
        lower_hset2);
  t.row("HSET2", "0111 110- 0", set(53, 49, 54), {kD, a, kHigh, kLow, r}, lower_hset2);
  const OperandSpec p = pred(Role::p, 3), q = pred(Role::q, 0);
  const auto setp = [&](uint8_t both, uint8_t cond) {
    return std::vector<Mod>{float_cond(cond), flag(ModId::parts, both, "H_AND"),
                            flag(ModId::ftz, 6, "FTZ"), bool_mod(45)};
  };
  t.row("HSETP2", "0101 1101 0010 0", setp(49, 35), {p, q, a, b, r}, lower_hsetp2);
  t.row("HSETP2", "0111 111- 1", setp(53, 49),
        {p, q, a, cbank(Role::b).with_neg(56).with_abs(54), r}, lower_hsetp2);
  t.row("HSETP2", "0111 111- 0", setp(53, 49), {p, q, a, kHigh, kLow, r}, lower_hsetp2);
  complete(t, 6);
}

}  // namespace

void half_rows(TableBuilder& t) {
  add_rows(t);
  multiply_rows_of_halves(t);
  compare_rows_of_halves(t);
}

}  // namespace lanewise::sass::table
