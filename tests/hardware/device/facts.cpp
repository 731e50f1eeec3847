#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/hardware/device/device.hpp"
#include "tests/hardware/device/rows.hpp"

namespace lanewise::kit {
namespace {

Json device_row(const EngineInfo& i) {
  return {{"kind", "fact"},
          {"name", "device"},
          {"device", i.name},
          {"driver", i.driver},
          {"type", i.type},
          {"tier", i.tier},
          {"subgroup_size", i.subgroup_size},
          {"max_invocations", i.max_invocations},
          {"max_shared", i.max_shared},
          {"max_arena", i.max_arena},
          {"int64", i.int64},
          {"int16", i.int16},
          {"int8", i.int8},
          {"float16", i.float16},
          {"float64", i.float64}};
}

/// What the probes found.
Json target_row(const spirv::Target& t) {
  Json row = {{"kind", "fact"}, {"name", "target"}, {"tier", t.tier()}};
  const auto put = [&](const char* name, bool value) { row[name] = value; };
  put("int64", t.int64);
  put("bda", t.bda);
  put("storage8", t.storage8);
  put("storage16", t.storage16);
  put("float64", t.float64);
  put("int64_atomics", t.int64_atomics);
  put("native_add", t.native_add);
  put("native_fma", t.native_fma);
  put("native_div", t.native_div);
  put("native_sqrt", t.native_sqrt);
  put("native_compare", t.native_compare);
  put("native_add64", t.native_add64);
  put("native_fma64", t.native_fma64);
  put("native_div64", t.native_div64);
  put("native_sqrt64", t.native_sqrt64);
  put("native_compare64", t.native_compare64);
  put("native_minmax", t.native_minmax);
  put("native_minmax64", t.native_minmax64);
  put("native_round", t.native_round);
  put("native_round64", t.native_round64);
  put("native_convert", t.native_convert);
  put("native_convert64", t.native_convert64);
  put("native_resize", t.native_resize);
  put("native_half", t.native_half);
  put("fma_by_double", t.fma_by_double);
  put("fma_wide", t.fma_wide);
  put("flush_mode", t.flush_mode);
  put("normal_sums", t.normal_sums);
  put("normal_fma", t.normal_fma);
  put("flushing_add", t.flushing.add);
  put("flushing_fma", t.flushing.fma);
  put("flushing_div", t.flushing.div);
  put("flushing_sqrt", t.flushing.sqrt);
  put("denorm_preserve", t.denorm_preserve);
  put("rte", t.rte);
  put("signed_zero_inf_nan", t.signed_zero_inf_nan);
  put("wave_operations", t.wave_operations);
  put("quad_operations", t.quad_operations);
  row["subgroup_size"] = t.subgroup_size;
  row["least_subgroup"] = t.least_subgroup;
  row["max_invocations"] = t.max_invocations;
  row["most_in_waves"] = t.most_in_waves;
  row["max_shared"] = t.max_shared;
  return row;
}

Json quirks_row(const spirv::Quirks& quirks) {
  Json row = {{"kind", "fact"}, {"name", "quirks"}};
  for (const spirv::QuirkName& q : spirv::kQuirks) row[std::string(q.name)] = quirks.*q.member;
  return row;
}

}  // namespace

int facts(const DeviceArguments& a) {
  const auto engine = vulkan::make_engine(a.device);
  Json device = device_row(engine->info());
  device["arena_limit"] = vulkan::arena_limit_of(*engine);
  print_row(device);
  if (const spirv::Target* target = vulkan::target_of(*engine)) {
    print_row(target_row(*target));
    print_row(quirks_row(target->quirks));
  }
  return kPassed;
}

}  // namespace lanewise::kit
