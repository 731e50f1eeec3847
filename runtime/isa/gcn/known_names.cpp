// Instructions that compilers emit or people write and that the table has no row for.
#include "runtime/isa/gcn/row.hpp"

namespace lanewise::gcn {

const std::vector<KnownName>& known_names() {
  static const std::vector<KnownName> names = {
      {"ds_read_b128", 6},    {"ds_write_b128", 6},      {"s_bitcmp0_b32", 7},
      {"s_flbit_i32_b32", 7}, {"s_getpc_b64", 7},        {"s_sendmsg", 7},
      {"s_setpc_b64", 7},     {"s_setreg_b32", 7},       {"s_setreg_imm32_b32", 7},
      {"s_sleep", 7},         {"s_swappc_b64", 7},       {"s_trap", 7},
      {"v_add_f64", 7},       {"v_add_u16", 4},          {"v_add_u32.sdwa", 4},
      {"v_alignbyte_b32", 7}, {"v_and_b32.sdwa", 4},     {"v_bcnt_u32_b32", 7},
      {"v_bfm_b32", 7},       {"v_ceil_f64", 6},         {"v_cmp_class_f32", 7},
      {"v_cmp_class_f64", 1}, {"v_cmp_eq_f64", 7},       {"v_cmp_eq_u16", 4},
      {"v_cmp_eq_u64", 7},    {"v_cmp_ge_f64", 7},       {"v_cmp_ge_u64", 7},
      {"v_cmp_gt_f64", 7},    {"v_cmp_gt_i16", 4},       {"v_cmp_gt_i64", 7},
      {"v_cmp_gt_u16", 4},    {"v_cmp_gt_u64", 7},       {"v_cmp_le_f64", 7},
      {"v_cmp_le_i64", 7},    {"v_cmp_lg_f64", 1},       {"v_cmp_lt_f64", 7},
      {"v_cmp_lt_i64", 7},    {"v_cmp_lt_u64", 7},       {"v_cmp_ne_u16", 4},
      {"v_cmp_ne_u64", 7},    {"v_cmp_neq_f32", 7},      {"v_cmp_neq_f64", 7},
      {"v_cmp_nge_f32", 7},   {"v_cmp_nge_f64", 7},      {"v_cmp_ngt_f32", 7},
      {"v_cmp_ngt_f64", 7},   {"v_cmp_nle_f32", 7},      {"v_cmp_nlt_f32", 7},
      {"v_cmp_nlt_f64", 7},   {"v_cmp_o_f32", 7},        {"v_cmp_o_f64", 7},
      {"v_cos_f32", 7},       {"v_cvt_f32_f64", 7},      {"v_cvt_f32_ubyte0", 7},
      {"v_cvt_f64_f32", 7},   {"v_cvt_f64_i32", 7},      {"v_cvt_f64_u32", 7},
      {"v_cvt_i32_f64", 7},   {"v_cvt_u32_f32.sdwa", 4}, {"v_cvt_u32_f64", 7},
      {"v_div_fixup_f32", 7}, {"v_div_fixup_f64", 7},    {"v_div_fmas_f32", 7},
      {"v_div_fmas_f64", 7},  {"v_div_scale_f32", 7},    {"v_div_scale_f64", 7},
      {"v_exp_f32", 7},       {"v_ffbl_b32", 7},         {"v_floor_f64", 6},
      {"v_ffbh_u32", 7},      {"v_fma_f64", 7},          {"v_fract_f32", 7},
      {"v_fract_f64", 1},     {"v_ldexp_f32", 7},        {"v_ldexp_f64", 7},
      {"v_log_f32", 7},       {"v_lshlrev_b16", 4},      {"v_lshrrev_b16", 4},
      {"v_mad_i64_i32", 6},   {"v_mad_u64_u32", 6},      {"v_madak_f32", 7},
      {"v_madmk_f32", 7},     {"v_max3_f32", 7},         {"v_max3_i32", 7},
      {"v_max_f64", 7},       {"v_max_legacy_f32", 3},   {"v_med3_f32", 7},
      {"v_min3_f32", 7},      {"v_min_f64", 7},          {"v_min_legacy_f32", 3},
      {"v_min_u16", 4},       {"v_min_u16.sdwa", 4},     {"v_min_u32.sdwa", 4},
      {"v_movreld_b32", 7},   {"v_movrels_b32", 7},      {"v_mul_f64", 7},
      {"v_mul_lo_u16", 4},    {"v_mul_u32_u24.sdwa", 4}, {"v_or_b32.sdwa", 4},
      {"v_perm_b32", 4},      {"v_rcp_f32", 7},          {"v_rcp_f64", 7},
      {"v_rcp_iflag_f32", 7}, {"v_rsq_f32", 7},          {"v_rsq_f64", 7},
      {"v_sad_u32", 7},       {"v_sin_f32", 7},          {"v_sqrt_f32", 7},
      {"v_sub_u16", 4},       {"v_sub_u32.sdwa", 4},     {"v_trunc_f64", 6},
      {"v_xor_b32.sdwa", 4},
  };
  return names;
}

}  // namespace lanewise::gcn
