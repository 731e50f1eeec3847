// What the device computes exactly, and what it gets wrong: found by trying, remembered on disk.
// See docs/numerics.md.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"
#include "runtime/vulkan/probe/loop_value_probe.hpp"
#include "runtime/vulkan/probe/own_functions.hpp"
#include "runtime/vulkan/probe/quirk_probe.hpp"

namespace lanewise::vulkan {

/// to_int ... from_uint: 32-bit integers. narrow, widen, narrow_widen: doubles to floats and back
/// in the run for doubles; in that for floats the last two make them of the halves of a word.
/// fma_fma: the result of one is multiplied in the next.
enum class ProbeOp : uint8_t {
  fma,
  div,
  sqrt,
  add,
  mul,
  compare,
  min,
  max,
  trunc,
  floor,
  ceil,
  round_even,
  to_int,
  to_uint,
  from_int,
  from_uint,
  narrow,
  widen,
  narrow_widen,
  fma_fma
};
inline constexpr uint32_t kProbeOps = 20;

/// Bits of three operands: 32 of each for float, 64 for double.
template <typename Bits>
struct ProbeInput {
  Bits a, b, c;
};

/// Per operation, inputs on which the device's bits differ from IEEE round to nearest even (NaNs
/// are alike); everything is wrong where the type does not exist.
struct ProbeCounts {
  std::array<uint32_t, kProbeOps> wrong;
  uint32_t inputs;
  uint32_t wrong_zeros;        ///< of min and max, those with a zero of the wrong sign
  uint32_t wrong_normal_sums;  ///< of add in f32, those in which nothing is subnormal
  uint32_t wrong_normal_fma;   ///< likewise of fma whose result is not small, and of comparisons
  template <typename... Ops>
  bool exact(Ops... ops) const {
    return inputs > 0 && (... && (wrong[static_cast<uint32_t>(ops)] == 0));
  }
};

struct ProbeResult {
  ProbeCounts f32{}, f64{};
  ProbeCounts flushed{};  ///< f32, subnormals taken as zeros: by mode, or as the device is
  /// f32 fma through doubles is exact (shaders/lib/numbers/fma_double.glsl).
  uint32_t fma_by_double = 0;
  /// f64 fma of native sums and products (shaders/lib/numbers/fma_wide.glsl).
  uint32_t fma_wide = 0;
  /// Results of the device's own functions outside PTX's bounds.
  std::array<uint32_t, kOwnFunctions> outside{};
  uint32_t cuts_loops = 0;
  QuirkBits quirks = 0;
  LoopValues loop_values = LoopValues::kept;
  uint32_t loses_loop_marks = 0;
};

/// Inputs on which approximate implementations show: fused against unfused, halfway cases,
/// subnormals, specials, and random bits. Bits: uint32_t (float) or uint64_t (double).
template <typename Bits>
std::vector<ProbeInput<Bits>> probe_inputs();
/// What IEEE says, in ProbeOp order. Comparison: bit 0 <, 1 <=, 2 ==, 3 >, 4 >=,
/// 5 != or unordered, 6 first is a NaN.
template <typename Bits>
std::array<Bits, kProbeOps> probe_expected(const ProbeInput<Bits>& input);
/// The same where subnormal f32 operands and results (after rounding) are zeros of their sign.
std::array<uint32_t, kProbeOps> probe_expected_flushed(ProbeInput<uint32_t> input);
template <typename Bits>
bool same_float(Bits x, Bits y);
/// The same result of `op`: any NaN is like any other.
template <typename Bits>
bool same_result(ProbeOp op, Bits x, Bits y);

/// Runs the probe, or takes its result from the disk or from this process.
ProbeResult probe(Device& device, Pipelines& pipelines, DiskCache& disk);
/// For tests: this process does not know the device any more.
void forget_probe(const Device& device);

/// Fills in what was found. For tests, LANEWISE_WITHOUT_QUIRKS=NAME,... (spirv/quirks.hpp) leaves
/// those out.
void apply(const ProbeResult& result, spirv::Target& target);

}  // namespace lanewise::vulkan
