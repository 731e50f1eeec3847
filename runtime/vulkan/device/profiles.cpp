#include "runtime/vulkan/device/profiles.hpp"

namespace lanewise::vulkan {
namespace {

/// What RADV of Mesa 22.3.6 reports for every GPU since GCN5: T2, all float controls.
spirv::Target radv(uint32_t max_shared) {
  spirv::Target t;
  t.int64 = t.bda = t.storage8 = t.storage16 = t.float64 = t.int64_atomics = true;
  t.denorm_preserve = t.flush_mode = t.rte = t.signed_zero_inf_nan = true;
  t.denorm_preserve64 = t.rte64 = t.signed_zero_inf_nan64 = true;
  t.subgroup_size = 64;
  t.wave_operations = t.quad_operations = true;
  t.max_invocations = 1024;
  t.max_shared = max_shared;
  assume_gpu(t);
  return t;
}

/// What NVIDIA's driver 580.159 reports and was seen to do on an H100: arithmetic is exact where
/// rounding to nearest is asked for, comparisons and fma take subnormals as zeros.
spirv::Target h100() {
  spirv::Target t;
  t.int64 = t.bda = t.storage8 = t.storage16 = t.float64 = t.int64_atomics = true;
  t.rte = t.signed_zero_inf_nan = t.rte64 = t.signed_zero_inf_nan64 = true;
  t.native_add = t.native_div = t.native_minmax = t.native_round = t.native_convert = true;
  t.native_add64 = t.native_fma64 = t.native_div64 = t.native_sqrt64 = t.native_compare64 = true;
  t.native_minmax64 = t.native_round64 = t.native_convert64 = t.fma_wide = true;
  t.normal_sums = t.normal_fma = true;
  t.subgroup_size = 32;
  t.wave_operations = true;
  t.max_invocations = 1024;
  t.max_shared = 49152;
  return t;
}

}  // namespace

void assume_gpu(spirv::Target& t) {
  t.native_add = t.native_fma = t.native_compare = true;
  t.native_div = t.native_sqrt = false;
  t.native_add64 = t.native_fma64 = t.native_compare64 = t.float64;
  t.native_div64 = t.native_sqrt64 = false;
  t.native_minmax = t.native_round = t.native_convert = true;
  t.native_minmax64 = t.native_round64 = t.native_convert64 = t.float64;
  t.native_resize = t.float64;
  t.native_half = true;
  t.fma_by_double = t.fma_wide = false;
  t.flushing = {
      .add = true, .fma = true, .compare = true, .minmax = true, .round = true, .convert = true};
  // AMD's manuals give v_exp_f32, v_log_f32, v_rcp_f32, v_sqrt_f32 and v_rsq_f32 an error of at
  // most 1 ulp, and none of sines. That a quotient, the product with v_rcp_f32, is within 2 is a
  // guess.
  t.own = {.exp2 = true, .log2 = true, .div = true, .rcp = true, .sqrt = true, .rsqrt = true};
  t.quirks = {};
}

std::optional<spirv::Target> named_target(std::string_view name) {
  if (name == "vega10") return radv(65536);
  if (name == "h100") return h100();
  return {};
}

std::vector<std::string> named_targets() {
  return {"vega10", "h100"};
}

}  // namespace lanewise::vulkan
