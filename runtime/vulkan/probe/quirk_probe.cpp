#include "runtime/vulkan/probe/quirk_probe.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
// The compiled shaders, which need the standard types above.
#include "kAliveProbe.inc"
#include "kBranchProbe.inc"
#include "kDeadProbe.inc"
#include "kFenceProbe.inc"
#include "kLargeArrayProbe.inc"
#include "kSignProbe.inc"
#include "kSmallArrayProbe.inc"
#include "kZeroProbe.inc"
#include "runtime/support/hash.hpp"
#include "runtime/support/processor_time.hpp"
#include "runtime/vulkan/probe/probe_shader.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kProbeLanes = 64;
/// In the shaders' text.
constexpr uint32_t kKey = 0x5eed0001;

/// A device with the two small buffers that every shape takes.
class Trial {
 public:
  Trial(Device& device, Pipelines& pipelines)
      : device_(device),
        pipelines_(pipelines),
        in_(device.make_buffer(16, Place::host)),
        out_(device.make_buffer(2 * kProbeLanes * sizeof(uint32_t), Place::host)) {}

  bool has_int64() const { return device_.facts().features.int64; }
  bool on_cpu() const { return device_.facts().type == vk::PhysicalDeviceType::eCpu; }
  const uint32_t* results(std::span<const uint32_t> shader, const std::array<uint32_t, 4>& in) {
    std::memcpy(in_.map, in.data(), sizeof in);
    std::memset(out_.map, 0, out_.size);
    run_probe_shader(device_, pipelines_, shader, in_, out_, 1, device_.facts().target);
    return out_.words();
  }
  /// Whether the compiler takes `factor` times as long for one shader as for another: by processor
  /// time, which other programs do not stretch much, and the least of several: one alone may have
  /// met a page fault or a thread of this process that began to work. A few milliseconds more do no
  /// harm, and are what such threads take.
  bool much_slower(std::span<const uint32_t> shader, std::span<const uint32_t> other,
                   double factor) {
    constexpr double kHarmless = 5;
    double slow = INFINITY, fast = INFINITY;
    for (int i = 0; i < 5; ++i) {
      slow = std::min(slow, milliseconds(shader));
      fast = std::min(fast, milliseconds(other));
      if (i > 0 && 1.3 * slow < factor * fast) break;
    }
    return slow > factor * fast && slow - fast > kHarmless;
  }
  /// What one run with these inputs takes: of processor time where processors run it, which others
  /// beside it hardly change, and by the clock on other devices.
  double milliseconds_of_run(std::span<const uint32_t> shader, const std::array<uint32_t, 4>& in) {
    if (on_cpu()) {
      const ProcessorTime time;
      results(shader, in);
      return time.milliseconds();
    }
    const auto start = std::chrono::steady_clock::now();
    results(shader, in);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

 private:
  /// Of compiling and one dispatch.
  double milliseconds(std::span<const uint32_t> shader) {
    const std::vector<uint32_t> fresh = with_new_key(shader);
    const ProcessorTime time;
    results(fresh, {1, 2, 3, 4});
    return time.milliseconds();
  }
  static std::vector<uint32_t> with_new_key(std::span<const uint32_t> shader) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::vector<uint32_t> words(shader.begin(), shader.end());
    std::ranges::replace(words, kKey, static_cast<uint32_t>(now) | 1);
    return words;
  }

  Device& device_;
  Pipelines& pipelines_;
  Buffer in_, out_;
};

bool folds_zero(Trial& trial) {
  const std::array<float, 4> inputs = {NAN, -1.0F, -0.0F, INFINITY};
  const uint32_t* out = trial.results(kZeroProbe, std::bit_cast<std::array<uint32_t, 4>>(inputs));
  const auto at = [&](uint32_t i) { return std::bit_cast<float>(out[i]); };
  const bool products =
      std::isnan(at(0)) && out[2] == 0x80000000 && out[4] == 0x80000000 && std::isnan(at(6));
  const bool sums = std::isnan(at(1)) && at(3) == -1.0F && out[5] == 0 && at(7) == INFINITY;
  return !products || !sums;
}

/// The newer lavapipe passes the small shader and still loses lanes in large kernels (waves of four
/// lanes some of which have ended). Folded zeros identify the family; no other CPU has them.
bool loses_lanes(Trial& trial) {
  const uint32_t* out = trial.results(kFenceProbe, {0, 1, 2, 3});
  for (uint32_t i = 0; i < kProbeLanes; ++i)
    if (out[i] != i + 1) return true;
  return trial.on_cpu() && folds_zero(trial);
}

/// Mesa 22.3 compares with constants that it narrows first.
bool loses_signs(Trial& trial) {
  if (!trial.has_int64()) return false;
  const std::array<int32_t, 4> inputs = {-129, -1, 0, 127};
  const uint32_t* out = trial.results(kSignProbe, std::bit_cast<std::array<uint32_t, 4>>(inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint32_t expected = 0;
    for (const int32_t k : {-128, -1, 0, 127}) {
      const int32_t x = inputs[i];
      const uint32_t below = (x < k ? 1U : 0U) | (x <= k ? 2U : 0U);
      const uint32_t above = (x > k ? 1U : 0U) | (x >= k ? 2U : 0U);
      expected = expected << 8 | below | above << 2 | above << 4 | below << 6;
    }
    if (out[i] != expected) return true;
  }
  return false;
}

/// Lavapipe takes 3.1 to 3.5 times as long for the larger array, SwiftShader the same time.
bool large_arrays_slow(Trial& trial) {
  return trial.much_slower(kLargeArrayProbe, kSmallArrayProbe, 1.8);
}

/// SwiftShader takes 15 times as long for the shader with code that cannot run, lavapipe twice.
bool folds_nothing(Trial& trial) {
  return trial.much_slower(kDeadProbe, kAliveProbe, 5);
}

/// Lavapipe of Mesa 22.3 and SwiftShader take as long for the side that no lane takes, lavapipe 25
/// hardly any time. Without an iteration the time is that of all else. Others may work beside it:
/// the least of several runs counts.
bool runs_both_sides(Trial& trial) {
  constexpr uint32_t kIterations = 5000, kNoLane = 0, kAllLanes = 1;
  double nothing = INFINITY, beside = INFINITY, inside = INFINITY;
  for (int i = 0; i < 6; ++i) {
    nothing = std::min(nothing, trial.milliseconds_of_run(kBranchProbe, {kNoLane, 1, 2, 0}));
    beside =
        std::min(beside, trial.milliseconds_of_run(kBranchProbe, {kNoLane, 1, 2, kIterations}));
    inside =
        std::min(inside, trial.milliseconds_of_run(kBranchProbe, {kAllLanes, 1, 2, kIterations}));
  }
  return beside - nothing > (inside - nothing) / 2;
}

struct Probe {
  bool spirv::Quirks::*quirk;
  bool (*shows)(Trial&);
  std::array<std::span<const uint32_t>, 2> shaders;
};
/// A quirk that small shaders show is a row here and one of spirv::kQuirks; the two about loops are
/// found by loop_value_probe.cpp.
const Probe kProbes[] = {
    {&spirv::Quirks::fence_by_atomic, loses_lanes, {kFenceProbe}},
    {&spirv::Quirks::folds_zero, folds_zero, {kZeroProbe}},
    {&spirv::Quirks::large_arrays_slow, large_arrays_slow, {kSmallArrayProbe, kLargeArrayProbe}},
    {&spirv::Quirks::folds_nothing, folds_nothing, {kAliveProbe, kDeadProbe}},
    {&spirv::Quirks::runs_both_sides, runs_both_sides, {kBranchProbe}},
    {&spirv::Quirks::loses_signs, loses_signs, {kSignProbe}},
};

}  // namespace

QuirkBits probe_quirks(Device& device, Pipelines& pipelines) {
  Trial trial(device, pipelines);
  spirv::Quirks found;
  for (const Probe& p : kProbes) found.*p.quirk = p.shows(trial);
  QuirkBits bits = 0;
  for (size_t i = 0; i < std::size(spirv::kQuirks); ++i)
    bits |= (found.*spirv::kQuirks[i].member ? QuirkBits{1} : 0) << i;
  return bits;
}

void apply(QuirkBits found, spirv::Quirks& quirks) {
  for (size_t i = 0; i < std::size(spirv::kQuirks); ++i)
    if ((found >> i & 1) != 0) quirks.*spirv::kQuirks[i].member = true;
}

uint64_t hash_quirk_shaders(uint64_t hash) {
  for (const Probe& p : kProbes)
    for (const auto words : p.shaders) hash = hash_bytes(words.data(), words.size_bytes(), hash);
  return hash;
}

}  // namespace lanewise::vulkan
