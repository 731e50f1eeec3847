#include "runtime/vulkan/probe/target_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>
// The compiled shaders, which need the standard types above.
#include "kDoubleProbe.inc"
#include "kFloatProbe.inc"
#include "kFmaProbe.inc"
#include "kLoopProbe.inc"
#include "kWideFmaProbe.inc"
#include "runtime/support/error.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/vulkan/probe/probe_shader.hpp"
#include "translator_version.hpp"

namespace lanewise::vulkan {
namespace {

/// Counts up when the inputs or the comparison change, which the shaders' hash does not show.
constexpr uint32_t kProbeVersion = 20;
constexpr uint32_t kProbeLocalSize = 64;
/// Beyond every loop limit known of a driver (lavapipe: 65535).
constexpr uint32_t kLoopIterations = 100000;

template <size_t N>
uint64_t hash_words(const uint32_t (&words)[N], uint64_t h) {
  return hash_bytes(words, sizeof words, h);
}

CacheKey probe_key(const Device& device) {
  uint64_t shaders = hash_words(kFloatProbe, hash_words(kDoubleProbe, kHashSeed));
  shaders = hash_words(kFmaProbe, hash_words(kWideFmaProbe, hash_words(kLoopProbe, shaders)));
  return make_key(fmt::format("probe {} {:016x} {:016x} {}", kProbeVersion,
                              hash_quirk_shaders(shaders), device.facts().fingerprint,
                              kTranslatorVersion));
}

std::optional<ProbeResult> remembered(DiskCache& disk, const CacheKey& key) {
  const auto data = disk.load(CacheKind::probe, key);
  ProbeResult result;
  if (!data || data->size() != sizeof result) return {};
  std::memcpy(&result, data->data(), sizeof result);
  return result;
}

/// What this process has found: where nothing is kept on disk, a device that is opened again is not
/// probed again.
struct OwnResults {
  std::mutex mutex;
  std::vector<std::pair<CacheKey, ProbeResult>> results;

  std::optional<ProbeResult> of(const CacheKey& key) {
    const std::lock_guard lock(mutex);
    const auto known = std::ranges::find(results, key, &std::pair<CacheKey, ProbeResult>::first);
    return known == results.end() ? std::nullopt : std::optional(known->second);
  }
  void add(const CacheKey& key, const ProbeResult& result) {
    if (of(key)) return;
    const std::lock_guard lock(mutex);
    results.emplace_back(key, result);
  }
  void forget(const CacheKey& key) {
    const std::lock_guard lock(mutex);
    std::erase_if(results, [&](const auto& known) { return known.first == key; });
  }
};
OwnResults& own_results() {
  static OwnResults own;
  return own;
}

bool is_subnormal(uint32_t x) {
  return (x & 0x7f800000) == 0 && (x & 0x007fffff) != 0;
}
bool is_subnormal(uint64_t x) {
  return (x & 0x7ff0'0000'0000'0000) == 0 && (x & 0x000f'ffff'ffff'ffff) != 0;
}
/// At most the smallest normal number, to which what is subnormal may be rounded.
bool is_near_zero(uint32_t x) {
  return (x & 0x7fffffff) <= 0x00800000;
}
bool is_near_zero(uint64_t x) {
  return (x & 0x7fff'ffff'ffff'ffff) <= 0x0010'0000'0000'0000;
}

template <typename Bits, typename Expect>
ProbeCounts compare(const std::vector<ProbeInput<Bits>>& inputs, const Bits* results,
                    const Expect& expect) {
  ProbeCounts counts{};
  counts.inputs = static_cast<uint32_t>(inputs.size());
  for (const auto& input : inputs) {
    const auto expected = expect(input);
    for (uint32_t op = 0; op < kProbeOps; ++op) {
      const auto which = static_cast<ProbeOp>(op);
      if (same_result(which, expected[op], results[op])) continue;
      const bool extreme = which == ProbeOp::min || which == ProbeOp::max;
      const bool zeros =
          static_cast<Bits>(expected[op] << 1) == 0 && static_cast<Bits>(results[op] << 1) == 0;
      ++(extreme && zeros ? counts.wrong_zeros : counts.wrong[op]);
      const bool normal =
          !is_subnormal(input.a) && !is_subnormal(input.b) && !is_subnormal(expected[op]);
      if (which == ProbeOp::add && normal) ++counts.wrong_normal_sums;
      if (which == ProbeOp::fma && normal && !is_subnormal(input.c) && !is_near_zero(expected[op]))
        ++counts.wrong_normal_fma;
      if (which == ProbeOp::compare && !is_subnormal(input.a) && !is_subnormal(input.b))
        ++counts.wrong_normal_fma;
    }
    results += kProbeOps;
  }
  return counts;
}

template <typename Bits, typename Expect>
ProbeCounts try_floats(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                       const spirv::Target& modes, const Expect& expect) {
  const auto inputs = probe_inputs<Bits>();
  const auto bytes = std::as_bytes(std::span(inputs));
  const Buffer in = device.make_buffer(bytes.size(), Place::host);
  const Buffer out = device.make_buffer(inputs.size() * kProbeOps * sizeof(Bits), Place::host);
  std::memcpy(in.map, bytes.data(), bytes.size());
  const auto groups =
      static_cast<uint32_t>((inputs.size() + kProbeLocalSize - 1) / kProbeLocalSize);
  run_probe_shader(device, pipelines, words, in, out, groups, modes);
  return compare(inputs, reinterpret_cast<const Bits*>(out.map), expect);
}
template <typename Bits>
ProbeCounts try_floats(Device& device, Pipelines& pipelines, std::span<const uint32_t> words) {
  return try_floats<Bits>(device, pipelines, words, device.facts().target, probe_expected<Bits>);
}
/// As kernels are run that take every subnormal f32 as a zero (spirv::flushing_target).
ProbeCounts try_flushed(Device& device, Pipelines& pipelines) {
  spirv::Target modes = device.facts().target;
  modes.flushes = true;
  modes.denorm_preserve = false;
  return try_floats<uint32_t>(device, pipelines, kFloatProbe, modes, probe_expected_flushed);
}

bool try_loop(Device& device, Pipelines& pipelines) {
  const Buffer in = device.make_buffer(16, Place::host);
  const Buffer out = device.make_buffer(16, Place::host);
  in.words()[0] = kLoopIterations;
  run_probe_shader(device, pipelines, kLoopProbe, in, out, 1, device.facts().target);
  uint32_t x = 1;
  for (uint32_t i = 0; i < kLoopIterations; ++i) x = (x ^ (x >> 15)) * 747796405U + i;
  return out.words()[0] == x;
}

}  // namespace

ProbeResult probe(Device& device, Pipelines& pipelines, DiskCache& disk) {
  const CacheKey key = probe_key(device);
  if (const auto known = remembered(disk, key)) {
    own_results().add(key, *known);
    return *known;
  }
  const auto keep = [&](const ProbeResult& result) {
    disk.store(CacheKind::probe, key, std::as_bytes(std::span(&result, 1)));
    return result;
  };
  if (const auto known = own_results().of(key)) return keep(*known);
  ProbeResult result;
  result.f32 = try_floats<uint32_t>(device, pipelines, kFloatProbe);
  result.flushed = try_flushed(device, pipelines);
  if (device.facts().features.float64) {
    result.f64 = try_floats<uint64_t>(device, pipelines, kDoubleProbe);
    result.fma_by_double =
        try_floats<uint32_t>(device, pipelines, kFmaProbe).exact(ProbeOp::fma, ProbeOp::fma_fma)
            ? 1
            : 0;
    result.fma_wide =
        try_floats<uint64_t>(device, pipelines, kWideFmaProbe).exact(ProbeOp::fma, ProbeOp::fma_fma)
            ? 1
            : 0;
  }
  result.outside = count_outside(device, pipelines);
  result.cuts_loops = try_loop(device, pipelines) ? 0 : 1;
  result.quirks = probe_quirks(device, pipelines);
  spirv::Target target = device.facts().target;
  apply(result, target);
  result.loop_values = probe_loop_values(device, pipelines, disk, target);
  if (result.cuts_loops != 0 && result.loop_values == LoopValues::kept_when_closed)
    result.loses_loop_marks = probe_loop_marks(device, pipelines, disk, target) ? 0 : 1;
  own_results().add(key, result);
  return keep(result);
}

void forget_probe(const Device& device) {
  own_results().forget(probe_key(device));
}

namespace {
/// Tests look for the faults that work-arounds avoid by leaving these out.
void leave_out(spirv::Quirks& quirks) {
  const char* set = std::getenv("LANEWISE_WITHOUT_QUIRKS");
  const std::string_view names = set == nullptr ? "" : set;
  for (size_t at = 0; at < names.size();) {
    const std::string_view name = names.substr(at, names.find(',', at) - at);
    at += name.size() + 1;
    std::string known;
    bool found = false;
    for (const auto& [quirk, member] : spirv::kQuirks) {
      if (quirk == name) {
        quirks.*member = false;
        found = true;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", quirk);
    }
    if (!found)
      throw Error(ErrorKind::usage,
                  fmt::format("LANEWISE_WITHOUT_QUIRKS has '{}'; the quirks are {}", name, known));
  }
}
}  // namespace

void apply(const ProbeResult& result, spirv::Target& t) {
  using enum ProbeOp;
  t.native_add = result.f32.exact(add, mul);
  t.native_fma = result.f32.exact(fma, fma_fma);
  t.native_div = result.f32.exact(div);
  t.native_sqrt = result.f32.exact(sqrt);
  t.native_compare = result.f32.exact(compare);
  const ProbeCounts& f = result.flushed;
  t.normal_sums = result.f32.inputs > 0 && result.f32.wrong_normal_sums == 0;
  t.normal_fma = result.f32.inputs > 0 && result.f32.wrong_normal_fma == 0;
  t.flushing = {.add = f.exact(add, mul),
                .fma = f.exact(fma, fma_fma),
                .div = f.exact(div),
                .sqrt = f.exact(sqrt),
                .compare = f.exact(compare),
                .minmax = f.exact(min, max),
                .round = f.exact(trunc, floor, ceil, round_even),
                .convert = f.exact(to_int, to_uint, from_int, from_uint)};
  t.native_minmax = result.f32.exact(min, max);
  t.native_round = result.f32.exact(trunc, floor, ceil, round_even);
  t.native_convert = result.f32.exact(to_int, to_uint, from_int, from_uint);
  t.native_add64 = result.f64.exact(add, mul);
  t.native_fma64 = result.f64.exact(fma, fma_fma);
  t.native_div64 = result.f64.exact(div);
  t.native_sqrt64 = result.f64.exact(sqrt);
  t.native_compare64 = result.f64.exact(compare);
  t.native_minmax64 = result.f64.exact(min, max);
  t.native_round64 = result.f64.exact(trunc, floor, ceil, round_even);
  t.native_convert64 = result.f64.exact(to_int, to_uint, from_int, from_uint);
  t.native_resize = result.f64.exact(narrow, widen, narrow_widen);
  // With either mode of subnormals, as some drivers have one for both widths.
  t.native_half = result.f32.exact(widen, narrow_widen) && f.exact(widen, narrow_widen);
  const auto is_inside = [&](OwnFunction f) {
    return result.outside[static_cast<uint32_t>(f)] == 0;
  };
  t.own = {.exp2 = is_inside(OwnFunction::exp2),
           .log2 = is_inside(OwnFunction::log2),
           .sin = is_inside(OwnFunction::sin),
           .cos = is_inside(OwnFunction::cos),
           .div = is_inside(OwnFunction::div),
           .rcp = is_inside(OwnFunction::rcp),
           .sqrt = is_inside(OwnFunction::sqrt),
           .rsqrt = is_inside(OwnFunction::rsqrt)};
  t.fma_wide = result.fma_wide != 0;
  t.fma_by_double = result.fma_by_double != 0;
  t.quirks.cuts_loops = result.cuts_loops != 0;
  t.quirks.loses_loop_values = result.loop_values != LoopValues::kept;
  t.quirks.loses_loop_marks = result.loses_loop_marks != 0;
  apply(result.quirks, t.quirks);
  t.quirks.narrow_waves = t.subgroup_size < 32;
  leave_out(t.quirks);
}

}  // namespace lanewise::vulkan
