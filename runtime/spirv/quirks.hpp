// What drivers get wrong, or take very long for, and translated kernels work around. A probe finds
// each (vulkan/probe/), never a driver's name; on a device without a quirk nothing of its
// work-around is in a module.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise::spirv {

/// What is known of the one driver that cuts loops: iterations of all loops of a lane and its
/// neighbours. A larger budget is never used up there.
inline constexpr uint64_t kLoopLimit = 65535;

struct Quirks {
  /// Long loops end on their own after so many iterations (lavapipe: 65535 in all): a lane that did
  /// not leave a loop by its own decision must fault. waves/kernel_builder.cpp.
  bool cuts_loops = false;
  /// Values that leave a loop are computed again for lanes that have left before (lavapipe of Mesa
  /// 22.3). binary/loop_values.hpp.
  bool loses_loop_values = false;
  /// What says whether a lane left a loop by itself is lost, or made up, when lanes carry it out of
  /// the loop like other values (none known). It lies in shared memory then, as it does where
  /// values are not carried out of loops. lane/emit_control.cpp.
  bool loses_loop_marks = false;
  /// A memory barrier in a divergent loop loses lanes (lavapipe of Mesa 22.3). Fences are atomic
  /// operations then, which order all memory on CPUs. lib/lane_state.glsl.
  bool fence_by_atomic = false;
  /// x * 0 is 0 for a constant 0 and any x, NaNs included (lavapipe). lane/emit_float.cpp hides the
  /// constants.
  bool folds_zero = false;
  /// Compiling takes seconds for arrays of some KB of an invocation (lavapipe). They lie in memory
  /// then: translate.cpp.
  bool large_arrays_slow = false;
  /// Neither constants nor branches on them are folded: code that cannot run is compiled, and costs
  /// (SwiftShader). binary/shrink.hpp.
  bool folds_nothing = false;
  /// Both sides of every branch are run, with lanes masked (lavapipe of Mesa 22.3, SwiftShader): a
  /// way for rare numbers costs all of them. lane/emit_float.cpp.
  bool runs_both_sides = false;
  /// A question to all lanes of a wave is a question to few of them (subgroups of fewer than 32:
  /// CPU drivers), so versions of code without checks save less than they cost.
  /// lane/emit_versions.cpp.
  bool narrow_waves = false;
  /// Signed compares of a sign-extended number with a constant of 64 bits are wrong (drivers of
  /// Mesa 22.3). They compare unsigned numbers then, 2^63 higher. lane/emit_integer.cpp.
  bool loses_signs = false;
  bool marks_in_registers() const { return cuts_loops && loses_loop_values && !loses_loop_marks; }
  bool operator==(const Quirks&) const = default;
};

/// Their names, for keys of caches and for leaving one out.
struct QuirkName {
  std::string_view name;
  bool Quirks::*member;
};
inline constexpr QuirkName kQuirks[] = {
    {"cut_loops", &Quirks::cuts_loops},
    {"loop_values", &Quirks::loses_loop_values},
    {"loop_marks", &Quirks::loses_loop_marks},
    {"fences", &Quirks::fence_by_atomic},
    {"zeros", &Quirks::folds_zero},
    {"large_arrays", &Quirks::large_arrays_slow},
    {"constants", &Quirks::folds_nothing},
    {"both_sides", &Quirks::runs_both_sides},
    {"narrow", &Quirks::narrow_waves},
    {"signs", &Quirks::loses_signs},
};

}  // namespace lanewise::spirv
