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
  t.wave_operations = true;
  t.max_invocations = 1024;
  t.max_shared = max_shared;
  assume_gpu(t);
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
  t.fma_by_double = t.fma_wide = false;
  t.flushing = {
      .add = true, .fma = true, .compare = true, .minmax = true, .round = true, .convert = true};
  t.quirks = {};
}

std::optional<spirv::Target> named_target(std::string_view name) {
  if (name == "vega10") return radv(65536);
  return {};
}

std::vector<std::string> named_targets() {
  return {"vega10"};
}

}  // namespace lanewise::vulkan
