// IR to SPIR-V for one launch shape on one kind of device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/spirv/fault_points.hpp"
#include "runtime/spirv/quirks.hpp"

namespace lanewise::spirv {

/// What the device can do, as far as translation cares.
struct Target {
  bool int64 = false;  ///< shaderInt64
  bool bda = false;    ///< bufferDeviceAddress (T1 and up)
  bool storage8 = false, storage16 = false;
  bool float64 = false;
  bool int64_atomics = false;
  // Proven by trying on the device, bit for bit (nearest even, subnormals kept, NaNs alike),
  // whatever the float controls say. _add stands for add, subtract and multiply.
  bool native_add = false, native_fma = false, native_div = false, native_sqrt = false;
  bool native_compare = false;
  bool native_add64 = false, native_fma64 = false, native_div64 = false, native_sqrt64 = false;
  bool native_compare64 = false;
  // min and max of numbers, but for the sign of zero: a driver may give either, and one that
  // orders zeros when tried (lavapipe 25) does not once its compiler has moved a negation.
  bool native_minmax = false, native_minmax64 = false;
  bool native_round = false, native_round64 = false;      ///< to integral values, four ways
  bool native_convert = false, native_convert64 = false;  ///< to and from 32-bit integers
  bool native_resize = false;                             ///< f32 to f64 and back
  bool native_half = false;                               ///< f16 to f32
  bool fma_by_double = false;  ///< f32 fma by way of doubles, rounded to odd in between
  bool fma_wide = false;       ///< f64 fma of native sums and products (lib/numbers/fma_wide.glsl)
  bool flush_mode = false;     ///< can be set to take subnormal f32 as zeros (float controls)
  bool normal_sums = false;    ///< f32 sums are exact where nothing is subnormal
  bool normal_fma = false;     ///< f32 fma and comparisons likewise, and no fma next to a subnormal
  /// What is exact when the device takes subnormal f32 as zeros, set to or by nature: sums and
  /// products, fma, ... as above.
  struct Flushing {
    bool add = false, fma = false, div = false, sqrt = false, compare = false;
    bool minmax = false, round = false, convert = false;
    bool operator==(const Flushing&) const = default;
  } flushing;
  bool flushes = false;  ///< of a kernel's own target: see flushing_target()
  /// Functions of the device's own that were seen inside PTX's bounds for usual operands, for the
  /// policy float.approx=device.
  struct OwnFunctions {
    bool exp2 = false, log2 = false, sin = false, cos = false;
    bool div = false, rcp = false, sqrt = false, rsqrt = false;
    bool operator==(const OwnFunctions&) const = default;
  } own;
  Quirks quirks;
  bool denorm_preserve = false, rte = false, signed_zero_inf_nan = false;  ///< float controls, f32
  bool denorm_preserve64 = false, rte64 = false, signed_zero_inf_nan64 = false;
  uint32_t subgroup_size = 1;
  uint32_t least_subgroup = 0;   ///< size that a pipeline can ask for; 0: subgroup_size alone
  bool wave_operations = false;  ///< votes, ballots and shuffles of full subgroups
  bool quad_operations = false;  ///< what one of four neighbouring invocations has
  uint32_t max_invocations = 128;
  uint32_t most_in_waves = ~0U;  ///< invocations of a group whose subgroup size is asked for
  uint32_t max_shared = 16384;
  bool operator==(const Target&) const = default;
  int tier() const { return !int64 || !bda || !storage8 ? 0 : float64 && int64_atomics ? 2 : 1; }
};

struct Options {
  Dim3 block;
  uint32_t dynamic_shared = 0;
  Memcheck memcheck = Memcheck::arena;
  WaveMode wave = WaveMode::automatic;
  PoliciesInForce policies;
  /// Instructions with Inst::event write memory events, with so many bits for the event's number;
  /// 0 = nothing is traced.
  uint32_t trace_bits = 0;
  uint32_t trace_form = 0;  ///< what holds of all events: kFormFits, kFormShort
  bool small_arena = true;  ///< at most guest::kSmallArena bytes: offsets have 32 bits
  bool imported = false;    ///< LaunchRequest::imported; takes an arena that is not small
  bool pointers = true;     ///< LaunchRequest::pointers
  /// Loops may end with it; false: only when the host asks them to, or the driver cuts them.
  bool step_budget = true;
  bool aligned_pointers = false;  ///< all pointers among the parameters are multiples of 16
  bool operator==(const Options&) const = default;

  /// Is it asked for? Launches without policies (the probe's) have each at its default.
  bool asks(const char* policy, std::string_view value) const {
    const auto found = policies.find(policy);
    return found != policies.end() && found->second == value;
  }
};

/// A ready module and what the host must know to run it.
struct Module {
  std::vector<uint32_t> words;
  uint32_t local_size = 1;  ///< invocations per work-group (x); y = z = 1
  uint32_t lanes_per_invocation = 1;
  /// Device memory of a group, for shared memory that did not fit on chip and for local memory.
  uint64_t backing_bytes = 0;
  bool clears_backing = false;           ///< it starts as zeros
  uint32_t subgroup_size = 0;            ///< that the pipeline must have; 0 = any
  std::string wave_mode;                 ///< "lane", "packed" or "serial"
  std::string wave_reason;               ///< why, in a sentence's words
  std::vector<FaultPoint> fault_points;  ///< what the numbers in fault records stand for
};

/// A device with a choice of subgroup sizes takes the wave's. Two waves in one subgroup would cost
/// what shuffles across its halves cost: RDNA has no instruction for these.
Target narrowed(Target device, uint32_t wave_lanes);

/// The parameters whose bounds the host lays down for the module (LAUNCH_BEYOND). With --memcheck
/// alloc accesses are marked by them; in the arena they only say how far it reaches from there.
ir::PointerParams find_pointers(ir::Program& program, const Options& options, const Target& target);

/// Throws Error(guest) naming the instruction when the device lacks what it needs (f64 on T0).
Module translate(const ir::Program& program, const Options& options, const Target& target);

/// Human-readable SPIR-V.
std::string disassemble(const std::vector<uint32_t>& words);
/// Empty when spirv-val accepts the module, else its message.
std::string validate(const std::vector<uint32_t>& words);

}  // namespace lanewise::spirv
