// Rows of float instructions beyond sums and products of f32: functions, conversions, quotients,
// doubles, and the halves of GCN3.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using E = Encoding;
using S = Slot;

const std::vector<SlotSpec> kThreeWide = {{S::vdst, 2}, {S::src0, 2}, {S::src1, 2}, {S::src2, 2}};

Meaning rounding(Round r, Type type) {
  Meaning m = op(Op::fround, type);
  m.round = r;
  return m;
}

void function_rows(TableBuilder& t) {
  const auto f32 = [](Op o) { return op(o, Type::f32); };
  t.vop1("v_exp_f32", {37, 32}, lower_approximate, f32(Op::fex2_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_log_f32", {39, 33}, lower_approximate, f32(Op::flg2_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_rcp_f32", {42, 34}, lower_approximate, f32(Op::frcp_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_rcp_iflag_f32", {43, 35}, lower_approximate, f32(Op::frcp_approx), 1, 1,
         kNeverSubnormal);
  t.vop1("v_rsq_f32", {46, 36}, lower_approximate, f32(Op::frsqrt_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_sqrt_f32", {51, 39}, lower_approximate, f32(Op::fsqrt_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_sin_f32", {53, 41}, lower_turns, f32(Op::fsin_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_cos_f32", {54, 42}, lower_turns, f32(Op::fcos_approx), 1, 1, kNeverSubnormal);
  t.vop1("v_log_legacy_f32", {-1, 69, 76}, lower_approximate, f32(Op::flg2_approx), 1, 1,
         kNeverSubnormal);
  t.vop1("v_exp_legacy_f32", {-1, 70, 75}, lower_approximate, f32(Op::fex2_approx), 1, 1,
         kNeverSubnormal);
  // The same without infinities.
  const auto finite = [](Meaning m, Limit limit) {
    m.count = static_cast<uint8_t>(limit);
    return m;
  };
  t.vop1("v_log_clamp_f32", {38, -1}, lower_approximate,
         finite(f32(Op::flg2_approx), Limit::largest_below), 1, 1, kNeverSubnormal);
  t.vop1("v_rcp_clamp_f32", {40, -1}, lower_approximate,
         finite(f32(Op::frcp_approx), Limit::largest), 1, 1, kNeverSubnormal);
  t.vop1("v_rcp_legacy_f32", {41, -1}, lower_approximate, finite(f32(Op::frcp_approx), Limit::zero),
         1, 1, kNeverSubnormal);
  t.vop1("v_rsq_clamp_f32", {44, -1}, lower_approximate,
         finite(f32(Op::frsqrt_approx), Limit::largest), 1, 1, kNeverSubnormal);
  t.vop1("v_rcp_clamp_f64", {48, -1}, lower_rcp_wide,
         finite(op(Op::frcp, Type::f64), Limit::largest), 2, 2);
  t.vop1("v_rsq_clamp_f64", {50, -1}, lower_rcp_wide,
         finite(op(Op::fsqrt, Type::f64), Limit::largest), 2, 2);
  // Documents disagree about what it makes of infinities.
  t.vop1("v_rsq_legacy_f32", {45, -1}, nullptr, f32(Op::frsqrt_approx));
  t.vop1("v_fract_f32", {32, 27}, lower_fract, op(Op::fround, Type::f32));
  t.vop1("v_frexp_exp_i32_f32", {63, 51}, lower_frexp_exp, op(Op::fround, Type::f32), 1, 1,
         kNumberResult);
  t.vop1("v_frexp_mant_f32", {64, 52}, lower_frexp_mant, op(Op::fround, Type::f32));
  t.vop2("v_mul_legacy_f32", {7, 4}, lower_mul_legacy, f32(Op::fmul), kNeverSubnormal);
  t.vop2("v_min_legacy_f32", {13, -1}, lower_extreme_legacy, f32(Op::fmin));
  t.vop2("v_max_legacy_f32", {14, -1}, lower_extreme_legacy, f32(Op::fmax));
  t.vop2("v_mac_legacy_f32", {6, -1}, lower_mad_legacy, f32(Op::fmul), kReadsDst | kNeverSubnormal);
  t.vop3("v_mad_legacy_f32", {320, 448}, kThreeSources, lower_mad_legacy, f32(Op::fmul),
         kNeverSubnormal);
  t.row("v_madmk_f32", E::vop2, {32, 23}, {{S::vdst}, {S::src0}, {S::literal}, {S::vsrc1}},
        lower_mad_constant, f32(Op::fmul));
  t.row("v_madak_f32", E::vop2, {33, 24}, {{S::vdst}, {S::src0}, {S::vsrc1}, {S::literal}},
        lower_mad_constant, f32(Op::fmul));
  t.vop2("v_ldexp_f32", {43, -1}, lower_ldexp, f32(Op::fmul));
  t.vop3("v_ldexp_f32", {-1, 648}, {{S::vdst}, {S::src0}, {S::src1}}, lower_ldexp, f32(Op::fmul));
  t.vop3("v_min3_f32", {337, 464}, kThreeSources, lower_three_extremes, f32(Op::fmin));
  t.vop3("v_max3_f32", {340, 467}, kThreeSources, lower_three_extremes, f32(Op::fmax));
  t.vop3("v_med3_f32", {343, 470}, kThreeSources, lower_median, f32(Op::fmax));
  // `count`: face, the two coordinates in it, twice the major axis.
  static constexpr const char* kCube[] = {"v_cubeid_f32", "v_cubesc_f32", "v_cubetc_f32",
                                          "v_cubema_f32"};
  for (int n = 0; n < 4; ++n) {
    Meaning m = f32(Op::fadd);
    m.count = static_cast<uint8_t>(n);
    t.vop3(kCube[n], {324 + n, 452 + n}, kThreeSources, lower_cube, m);
  }
  t.vop3("v_mullit_f32", {336, -1}, kThreeSources, nullptr, f32(Op::fmul));
}

void quotient_rows(TableBuilder& t) {
  const Meaning narrow = op(Op::fdiv, Type::f32), wide = op(Op::fdiv, Type::f64);
  t.vop3("v_div_scale_f32", {365, 480},
         {{S::vdst}, {S::mask_dst, 2}, {S::src0}, {S::src1}, {S::src2}}, lower_div_scale, narrow);
  t.vop3("v_div_scale_f64", {366, 481},
         {{S::vdst, 2}, {S::mask_dst, 2}, {S::src0, 2}, {S::src1, 2}, {S::src2, 2}},
         lower_div_scale, wide);
  t.vop3("v_div_fmas_f32", {367, 482}, kThreeSources, lower_div_fmas, narrow, kReadsVcc);
  t.vop3("v_div_fmas_f64", {368, 483}, kThreeWide, lower_div_fmas, wide, kReadsVcc);
  t.vop3("v_div_fixup_f32", {351, 478}, kThreeSources, lower_div_fixup, narrow);
  t.vop3("v_div_fixup_f64", {352, 479}, kThreeWide, lower_div_fixup, wide);
  t.vop3("v_div_fixup_f16", {-1, 495}, kThreeSources, lower_div_fixup, op(Op::fdiv, Type::f16));
}

void wide_rows(TableBuilder& t) {
  const auto f64 = [](Op o) { return op(o, Type::f64); };
  const std::vector<SlotSpec> two = {{S::vdst, 2}, {S::src0, 2}, {S::src1, 2}};
  const std::vector<SlotSpec> scaled = {{S::vdst, 2}, {S::src0, 2}, {S::src1}};
  t.vop3("v_add_f64", {356, 640}, two, lower_real, f64(Op::fadd));
  t.vop3("v_mul_f64", {357, 641}, two, lower_real, f64(Op::fmul));
  t.vop3("v_min_f64", {358, 642}, two, lower_real_extreme, f64(Op::fmin));
  t.vop3("v_max_f64", {359, 643}, two, lower_real_extreme, f64(Op::fmax));
  t.vop3("v_fma_f64", {332, 460}, kThreeWide, lower_real, f64(Op::ffma));
  t.vop3("v_ldexp_f64", {360, 644}, scaled, lower_ldexp, f64(Op::fmul));
  t.vop3("v_trig_preop_f64", {372, 658}, scaled, lower_trig_preop, f64(Op::fmul));
  t.vop1("v_rcp_f64", {47, 37}, lower_rcp_wide, f64(Op::frcp), 2, 2);
  t.vop1("v_rsq_f64", {49, 38}, lower_rcp_wide, f64(Op::fsqrt), 2, 2);
  t.vop1("v_sqrt_f64", {52, 40}, lower_rcp_wide, f64(Op::fsqrt_approx), 2, 2);
  t.vop1("v_trunc_f64", {-1, 23, 23}, lower_real_round, rounding(Round::rz, Type::f64), 2, 2);
  t.vop1("v_ceil_f64", {-1, 24, 24}, lower_real_round, rounding(Round::rp, Type::f64), 2, 2);
  t.vop1("v_rndne_f64", {-1, 25, 25}, lower_real_round, rounding(Round::rn, Type::f64), 2, 2);
  t.vop1("v_floor_f64", {-1, 26, 26}, lower_real_round, rounding(Round::rm, Type::f64), 2, 2);
  t.vop1("v_fract_f64", {62, 50}, lower_fract, f64(Op::fround), 2, 2);
  t.vop1("v_frexp_exp_i32_f64", {60, 48}, lower_frexp_exp, f64(Op::fround), 1, 2, kNumberResult);
  t.vop1("v_frexp_mant_f64", {61, 49}, lower_frexp_mant, f64(Op::fround), 2, 2);
}

void conversion_rows(TableBuilder& t) {
  t.vop1("v_cvt_i32_f64", 3, lower_convert, convert(Op::f2i, Type::s32, Type::f64), 1, 2);
  t.vop1("v_cvt_f64_i32", 4, lower_convert, convert(Op::i2f, Type::f64, Type::s32), 2, 1);
  t.vop1("v_cvt_f16_f32", 10, lower_convert, convert(Op::f2f, Type::f16, Type::f32));
  t.vop1("v_cvt_f32_f16", 11, lower_convert, convert(Op::f2f, Type::f32, Type::f16));
  t.vop1("v_cvt_rpi_i32_f32", 12, lower_convert_rounded, rounding(Round::rp, Type::f32), 1, 1,
         kNumberResult);
  t.vop1("v_cvt_flr_i32_f32", 13, lower_convert_rounded, rounding(Round::rm, Type::f32), 1, 1,
         kNumberResult);
  t.vop1("v_cvt_off_f32_i4", 14, lower_convert_nibble, convert(Op::i2f, Type::f32, Type::s32));
  t.vop1("v_cvt_f32_f64", 15, lower_convert, convert(Op::f2f, Type::f32, Type::f64), 1, 2);
  t.vop1("v_cvt_f64_f32", 16, lower_convert, convert(Op::f2f, Type::f64, Type::f32), 2, 1);
  static constexpr const char* kBytes[] = {"v_cvt_f32_ubyte0", "v_cvt_f32_ubyte1",
                                           "v_cvt_f32_ubyte2", "v_cvt_f32_ubyte3"};
  for (int n = 0; n < 4; ++n) {
    Meaning m = convert(Op::i2f, Type::f32, Type::u32);
    m.count = static_cast<uint8_t>(n);
    t.vop1(kBytes[n], 17 + n, lower_convert_byte, m);
  }
  t.vop1("v_cvt_u32_f64", 21, lower_convert, convert(Op::f2i, Type::u32, Type::f64), 1, 2);
  t.vop1("v_cvt_f64_u32", 22, lower_convert, convert(Op::i2f, Type::f64, Type::u32), 2, 1);
  const struct {
    const char* name;
    int old, gcn3;
    LowerFn lower;
    Meaning m;
  } packs[] = {
      {"v_cvt_pknorm_i16_f32", 45, 660, lower_pack_normal, convert(Op::f2i, Type::s16, Type::f32)},
      {"v_cvt_pknorm_u16_f32", 46, 661, lower_pack_normal, convert(Op::f2i, Type::u16, Type::f32)},
      {"v_cvt_pkrtz_f16_f32", 47, 662, lower_pack_halves, convert(Op::f2f, Type::f16, Type::f32)},
      {"v_cvt_pk_u16_u32", 48, 663, lower_pack_clamped, op(Op::min, Type::u32)},
      {"v_cvt_pk_i16_i32", 49, 664, lower_pack_clamped, op(Op::min, Type::s32)}};
  for (const auto& p : packs) {
    t.vop2(p.name, {p.old, -1}, p.lower, p.m, kNumberResult);
    t.vop3(p.name, {-1, p.gcn3}, {{S::vdst}, {S::src0}, {S::src1}}, p.lower, p.m, kNumberResult);
  }
  const Meaning byte = convert(Op::f2i, Type::u32, Type::f32);
  t.vop3("v_cvt_pk_u8_f32", {350, 477}, kThreeSources, lower_pack_byte, byte, kNumberResult);
  t.vop2("v_cvt_pkaccum_u8_f32", {44, -1}, lower_pack_byte, byte, kNumberResult | kReadsDst);
  t.vop3("v_cvt_pkaccum_u8_f32", {-1, 496}, {{S::vdst}, {S::src0}, {S::src1}}, lower_pack_byte,
         byte, kNumberResult | kReadsDst);
}

void half_rows(TableBuilder& t) {
  const auto f16 = [](Op o) { return op(o, Type::f16); };
  const auto only = [](int code) { return Codes(-1, code); };
  t.vop2("v_add_f16", only(31), lower_real, f16(Op::fadd));
  t.vop2("v_sub_f16", only(32), lower_real, f16(Op::fsub));
  t.vop2("v_subrev_f16", only(33), lower_real, reversed(f16(Op::fsub)));
  t.vop2("v_mul_f16", only(34), lower_real, f16(Op::fmul));
  t.vop2("v_mac_f16", only(35), lower_half_mad, f16(Op::fmul), kReadsDst | kNeverSubnormal);
  t.row("v_madmk_f16", E::vop2, only(36), {{S::vdst}, {S::src0}, {S::literal}, {S::vsrc1}},
        lower_half_mad, f16(Op::fmul));
  t.row("v_madak_f16", E::vop2, only(37), {{S::vdst}, {S::src0}, {S::vsrc1}, {S::literal}},
        lower_half_mad, f16(Op::fmul));
  t.vop2("v_max_f16", only(45), lower_real_extreme, f16(Op::fmax));
  t.vop2("v_min_f16", only(46), lower_real_extreme, f16(Op::fmin));
  t.vop2("v_ldexp_f16", only(51), lower_ldexp, f16(Op::fmul));
  t.vop3("v_fma_f16", only(494), kThreeSources, lower_real, f16(Op::ffma));
  t.vop3("v_mad_f16", only(490), kThreeSources, lower_half_mad, f16(Op::fmul), kNeverSubnormal);
  t.vop1("v_cvt_f16_u16", only(57), lower_convert, convert(Op::i2f, Type::f16, Type::u16));
  t.vop1("v_cvt_f16_i16", only(58), lower_convert, convert(Op::i2f, Type::f16, Type::s16));
  t.vop1("v_cvt_u16_f16", only(59), lower_convert, convert(Op::f2i, Type::u16, Type::f16));
  t.vop1("v_cvt_i16_f16", only(60), lower_convert, convert(Op::f2i, Type::s16, Type::f16));
  t.vop1("v_rcp_f16", only(61), lower_half_function, f16(Op::frcp_approx));
  t.vop1("v_sqrt_f16", only(62), lower_half_function, f16(Op::fsqrt_approx));
  t.vop1("v_rsq_f16", only(63), lower_half_function, f16(Op::frsqrt_approx));
  t.vop1("v_log_f16", only(64), lower_half_function, f16(Op::flg2_approx));
  t.vop1("v_exp_f16", only(65), lower_half_function, f16(Op::fex2_approx));
  t.vop1("v_sin_f16", only(73), lower_half_turns, f16(Op::fsin_approx));
  t.vop1("v_cos_f16", only(74), lower_half_turns, f16(Op::fcos_approx));
  t.vop1("v_frexp_mant_f16", only(66), lower_frexp_mant, f16(Op::fround));
  t.vop1("v_frexp_exp_i16_f16", only(67), lower_frexp_exp, f16(Op::fround), 1, 1, kNumberResult);
  t.vop1("v_floor_f16", only(68), lower_real_round, rounding(Round::rm, Type::f16));
  t.vop1("v_ceil_f16", only(69), lower_real_round, rounding(Round::rp, Type::f16));
  t.vop1("v_trunc_f16", only(70), lower_real_round, rounding(Round::rz, Type::f16));
  t.vop1("v_rndne_f16", only(71), lower_real_round, rounding(Round::rn, Type::f16));
  t.vop1("v_fract_f16", only(72), lower_fract, f16(Op::fround));
}

}  // namespace

void real_rows(TableBuilder& t) {
  function_rows(t);
  quotient_rows(t);
  wide_rows(t);
  conversion_rows(t);
  half_rows(t);
}

}  // namespace lanewise::gcn
