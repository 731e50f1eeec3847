// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

const std::vector<std::string_view>& known_names() {
  static const std::vector<std::string_view> names = {"s_bcnt1_i32_b64",
                                                      "s_ff1_i32_b64",
                                                      "s_getpc_b64",
                                                      "s_setpc_b64",
                                                      "s_swappc_b64",
                                                      "s_cselect_b32",
                                                      "s_cselect_b64",
                                                      "s_min_i32",
                                                      "s_min_u32",
                                                      "s_max_i32",
                                                      "s_max_u32",
                                                      "s_lshl_b64",
                                                      "s_lshr_b64",
                                                      "s_ashr_i64",
                                                      "s_bfe_u32",
                                                      "s_bfe_i32",
                                                      "s_nand_b64",
                                                      "s_nor_b64",
                                                      "s_xnor_b64",
                                                      "s_andn2_b32",
                                                      "s_orn2_b32",
                                                      "s_addk_i32",
                                                      "s_mulk_i32",
                                                      "s_cmpk_eq_i32",
                                                      "s_buffer_load_dword",
                                                      "s_buffer_load_dwordx2",
                                                      "s_buffer_load_dwordx4",
                                                      "s_dcache_inv",
                                                      "s_sendmsg",
                                                      "s_trap",
                                                      "s_sleep",
                                                      "v_readfirstlane_b32",
                                                      "v_readlane_b32",
                                                      "v_writelane_b32",
                                                      "v_mbcnt_lo_u32_b32",
                                                      "v_mbcnt_hi_u32_b32",
                                                      "v_cvt_f32_i32",
                                                      "v_cvt_f32_u32",
                                                      "v_cvt_u32_f32",
                                                      "v_cvt_i32_f32",
                                                      "v_cvt_f64_f32",
                                                      "v_cvt_f32_f64",
                                                      "v_rcp_f32",
                                                      "v_rcp_iflag_f32",
                                                      "v_rsq_f32",
                                                      "v_sqrt_f32",
                                                      "v_exp_f32",
                                                      "v_log_f32",
                                                      "v_sin_f32",
                                                      "v_cos_f32",
                                                      "v_fract_f32",
                                                      "v_trunc_f32",
                                                      "v_ceil_f32",
                                                      "v_floor_f32",
                                                      "v_rndne_f32",
                                                      "v_bfrev_b32",
                                                      "v_ffbh_u32",
                                                      "v_ffbl_b32",
                                                      "v_min_f32",
                                                      "v_max_f32",
                                                      "v_madmk_f32",
                                                      "v_madak_f32",
                                                      "v_subb_u32",
                                                      "v_subbrev_u32",
                                                      "v_bfe_u32",
                                                      "v_bfe_i32",
                                                      "v_bfi_b32",
                                                      "v_alignbit_b32",
                                                      "v_alignbyte_b32",
                                                      "v_mad_u32_u24",
                                                      "v_mad_i32_i24",
                                                      "v_mul_hi_i32",
                                                      "v_div_scale_f32",
                                                      "v_div_fmas_f32",
                                                      "v_div_fixup_f32",
                                                      "v_mad_u64_u32",
                                                      "v_ashr_i64",
                                                      "v_add_f64",
                                                      "v_mul_f64",
                                                      "v_fma_f64",
                                                      "v_sad_u32",
                                                      "v_min3_f32",
                                                      "v_max3_f32",
                                                      "v_med3_f32",
                                                      "v_cmp_class_f32",
                                                      "v_bcnt_u32_b32",
                                                      "v_bfm_b32",
                                                      "ds_read_b32",
                                                      "ds_write_b32",
                                                      "ds_read2_b32",
                                                      "ds_write2_b32",
                                                      "ds_read_b64",
                                                      "ds_write_b64",
                                                      "ds_add_u32",
                                                      "ds_add_rtn_u32",
                                                      "ds_swizzle_b32",
                                                      "ds_bpermute_b32",
                                                      "flat_load_dword",
                                                      "flat_store_dword",
                                                      "flat_load_ubyte",
                                                      "tbuffer_load_format_x",
                                                      "tbuffer_load_format_xy",
                                                      "tbuffer_load_format_xyz",
                                                      "tbuffer_load_format_xyzw",
                                                      "tbuffer_store_format_x",
                                                      "tbuffer_store_format_xy",
                                                      "tbuffer_store_format_xyz",
                                                      "tbuffer_store_format_xyzw"};
  return names;
}

std::vector<Coverage> coverage(Gen gen) {
  std::vector<Coverage> out;
  std::set<std::string> seen;
  for (const Row& r : rows()) {
    if (r.opcode[static_cast<int>(gen)] < 0 || !seen.insert(r.name).second) continue;
    // Buffer rows are shared by the generations; only their surroundings differ.
    if (r.lower != nullptr)
      out.push_back({r.name, FormState::exact, ""});
    else
      out.push_back({r.name, FormState::unsupported, "assembles, cannot run yet"});
  }
  for (std::string_view n : known_names())
    if (seen.insert(std::string(n)).second)
      out.push_back({std::string(n), FormState::unsupported, "not yet in the table"});
  return out;
}

Coverage coverage_of(std::string_view form, Gen gen) {
  std::string name(form.substr(0, form.find(' ')));
  for (std::string_view suffix : {"_e32", "_e64"})
    if (name.size() > 4 && name.substr(name.size() - 4) == suffix) name.resize(name.size() - 4);
  for (const Coverage& c : coverage(gen))
    if (c.form == name) return c;
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this name for {}", gcn::name(gen))};
}

}  // namespace lanewise::gcn
