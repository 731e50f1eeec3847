#include "runtime/vulkan/probe/target_probe.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
// The compiled shaders, which need the standard types above.
#include "kDoubleProbe.inc"
#include "kFloatProbe.inc"
#include "kFmaProbe.inc"
#include "kLoopProbe.inc"
#include "kWideFmaProbe.inc"
#include "runtime/support/error.hpp"
#include "runtime/support/hash.hpp"
#include "translator_version.hpp"

namespace lanewise::vulkan {
namespace {

/// Counts up when the inputs or the comparison change, which the shaders' hash does not show.
constexpr uint32_t kProbeVersion = 7;
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
  return make_key(fmt::format("probe {} {:016x} {:016x} {}", kProbeVersion, shaders,
                              device.facts().fingerprint, kTranslatorVersion));
}

std::optional<ProbeResult> remembered(DiskCache& disk, const CacheKey& key) {
  const auto data = disk.load(CacheKind::probe, key);
  ProbeResult result;
  if (!data || data->size() != sizeof result) return {};
  std::memcpy(&result, data->data(), sizeof result);
  return result;
}

std::vector<uint32_t> exact_conversions(std::span<const uint32_t> words);

/// One dispatch with an input and an output buffer.
void run_shader(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                const Buffer& in, const Buffer& out, uint32_t groups, const spirv::Target& modes) {
  const Pipeline pipeline = pipelines.create(with_float_modes(exact_conversions(words), modes));
  const size_t set = pipelines.add_set();
  pipelines.bind(set, {{{&in, in.size}, {&out, out.size}, {&in, 4}, {&in, 4}, {&in, 4}, {&in, 4}}});
  device.run([&](const vk::raii::CommandBuffer& commands) {
    pipelines.record(commands, pipeline, set, {}, {0, 0, 0}, {groups, 1, 1});
  });
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
  run_shader(device, pipelines, words, in, out, groups, modes);
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
  run_shader(device, pipelines, kLoopProbe, in, out, 1, device.facts().target);
  uint32_t x = 1;
  for (uint32_t i = 0; i < kLoopIterations; ++i) x = (x ^ (x >> 15)) * 747796405U + i;
  return out.words()[0] == x;
}

// --- execution modes ---------------------------------------------------------------------------

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kOpDecorate = 71, kNoContraction = 42, kOpFConvert = 115;
constexpr uint32_t kOpConvertFToU = 109, kOpConvertUToF = 112;
constexpr uint32_t kOpExtension = 10, kOpCapability = 17, kOpEntryPoint = 15, kOpExecutionMode = 16;
// Capability and execution mode numbers of SPV_KHR_float_controls.
constexpr uint32_t kDenormPreserve[] = {4464, 4459};
constexpr uint32_t kDenormFlushToZero[] = {4465, 4460};
constexpr uint32_t kSignedZeroInfNanPreserve[] = {4466, 4461};
constexpr uint32_t kRoundingModeRte[] = {4467, 4462};

struct Mode {
  bool wanted;
  const uint32_t* numbers;
  uint32_t width;
};

std::vector<Mode> modes_of(const spirv::Target& t) {
  std::vector<Mode> modes;
  for (const Mode& mode :
       {Mode{t.denorm_preserve, kDenormPreserve, 32},
        Mode{t.flushes && t.flush_mode, kDenormFlushToZero, 32},
        Mode{t.denorm_preserve64, kDenormPreserve, 64},
        Mode{t.signed_zero_inf_nan, kSignedZeroInfNanPreserve, 32},
        Mode{t.signed_zero_inf_nan64, kSignedZeroInfNanPreserve, 64},
        Mode{t.rte, kRoundingModeRte, 32}, Mode{t.rte64, kRoundingModeRte, 64}}) {
    if (mode.wanted) modes.push_back(mode);
  }
  return modes;
}

void append_instruction(std::vector<uint32_t>& out, uint32_t op, std::vector<uint32_t> operands) {
  out.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  out.insert(out.end(), operands.begin(), operands.end());
}

void append_requirements(std::vector<uint32_t>& out, const std::vector<Mode>& modes) {
  for (const Mode& mode : modes) append_instruction(out, kOpCapability, {mode.numbers[0]});
  const char text[] = "SPV_KHR_float_controls";
  std::vector<uint32_t> words((sizeof text + 3) / 4);
  std::memcpy(words.data(), text, sizeof text);
  append_instruction(out, kOpExtension, words);
}

bool converts_floats(uint32_t op) {
  return op >= kOpConvertFToU && op <= kOpConvertUToF;
}

/// Compilers keep narrowing that is undone at once only where it is decorated like this, as
/// translated kernels do; GLSL's `precise` does not reach conversions.
std::vector<uint32_t> exact_conversions(std::span<const uint32_t> words) {
  std::vector<uint32_t> decorations, out(words.begin(), words.begin() + kHeaderWords);
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16)
    if (const uint32_t op = words[at] & 0xffff; converts_floats(op) || op == kOpFConvert)
      append_instruction(decorations, kOpDecorate, {words[at + 2], kNoContraction});
  bool placed = false;
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16) {
    if (!placed && (words[at] & 0xffff) == kOpDecorate) {
      out.insert(out.end(), decorations.begin(), decorations.end());
      placed = true;
    }
    out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
               words.begin() + static_cast<std::ptrdiff_t>(at + (words[at] >> 16)));
  }
  return out;
}

}  // namespace

std::vector<uint32_t> with_float_modes(std::span<const uint32_t> words,
                                       const spirv::Target& target) {
  const std::vector<Mode> modes = modes_of(target);
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeaderWords);
  bool required = modes.empty();
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
    // Requirements follow the module's own capabilities; modes follow the entry point.
    if (!required && op != kOpCapability) {
      append_requirements(out, modes);
      required = true;
    }
    out.insert(out.end(), words.begin() + at, words.begin() + at + length);
    if (op == kOpEntryPoint) {
      for (const Mode& mode : modes) {
        append_instruction(out, kOpExecutionMode, {words[at + 2], mode.numbers[1], mode.width});
      }
    }
    at += length;
  }
  return out;
}

ProbeResult probe(Device& device, Pipelines& pipelines, DiskCache& disk) {
  const CacheKey key = probe_key(device);
  if (const auto known = remembered(disk, key)) return *known;
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
  result.cuts_loops = try_loop(device, pipelines) ? 0 : 1;
  spirv::Target target = device.facts().target;
  apply(result, target);
  result.loop_values = probe_loop_values(device, pipelines, disk, target);
  disk.store(CacheKind::probe, key, std::as_bytes(std::span(&result, 1)));
  return result;
}

namespace {
/// Tests look for the faults that a quirk mends by leaving the quirk out.
bool left_out(std::string_view quirk) {
  const char* name = std::getenv("LANEWISE_WITHOUT_QUIRKS");
  if (name == nullptr || *name == 0) return false;
  if (name != quirk) {
    throw Error(ErrorKind::usage,
                fmt::format("LANEWISE_WITHOUT_QUIRKS is '{}'; the quirk that can be left out is {}",
                            name, quirk));
  }
  return true;
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
  t.fma_wide = result.fma_wide != 0;
  t.fma_by_double = result.fma_by_double != 0;
  t.cuts_loops = result.cuts_loops != 0;
  t.loses_loop_values = !left_out("loop_values") && result.loop_values != LoopValues::kept;
}

}  // namespace lanewise::vulkan
