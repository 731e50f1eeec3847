#include "runtime/spirv/translate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/guest/validate.hpp"
#include "runtime/ir/passes/flow/branch_on_guards.hpp"
#include "runtime/ir/passes/memory/alignment.hpp"
#include "runtime/ir/passes/memory/gather_checks.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/ir/passes/memory/written.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/ir/passes/values/expand_dots.hpp"
#include "runtime/spirv/binary/code.hpp"
#include "runtime/spirv/binary/float_modes.hpp"
#include "runtime/spirv/binary/library.hpp"
#include "runtime/spirv/binary/loop_exits.hpp"
#include "runtime/spirv/binary/shrink.hpp"
#include "runtime/spirv/binary/stack_frame.hpp"
#include "runtime/spirv/flushing.hpp"
#include "runtime/spirv/waves/kernel_builder.hpp"
#include "runtime/spirv/waves/waiting_loops.hpp"
#include "runtime/spirv/waves/wave_choice.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

/// Of shared and local memory: the widest access of the library.
constexpr uint32_t kLeastWords = 16;

bool checks_written(const Options& options) {
  return lists_check(options.policies, "init");
}

struct SharedLayout {
  uint64_t bytes = 0;
  bool in_memory = false;
  uint32_t map = 0;  ///< where that of written bytes begins, 0 = there is none
};
SharedLayout shared_layout(const ir::Program& program, const Options& options, const Target& target,
                           uint32_t own_bytes) {
  SharedLayout layout;
  layout.bytes = guest::shared_bytes(program, options.dynamic_shared);
  layout.bytes = (layout.bytes + 3) / 4 * 4;
  if (checks_written(options)) {
    layout.map = static_cast<uint32_t>(layout.bytes);
    layout.bytes += ir::small_map_bytes(layout.bytes);
  }
  layout.in_memory = layout.bytes + own_bytes > target.max_shared;
  return layout;
}

/// Local memory of a group in device memory, where the driver is better off without an array.
struct LocalLayout {
  uint32_t lane = 0;  ///< bytes of each
  uint32_t map = 0;   ///< as of shared memory
  bool in_memory = false;
  uint64_t start = 0, bytes = 0;  ///< in the group's slot: behind shared memory that lies there
};
LocalLayout local_layout(const ir::Program& program, const Options& options, const Target& target,
                         const Shape& shape, const SharedLayout& shared) {
  // GPUs set memory aside for all the lanes that they can hold; NVIDIA's driver refuses 64 KB each.
  constexpr uint64_t kLargeArray = 1024, kHugeArray = 16384, kMost = uint64_t{32} << 20;
  LocalLayout layout;
  if (shared.in_memory) layout.start = (shared.bytes + 15) / 16 * 16;
  layout.lane = (program.local_bytes + 3) / 4 * 4;
  if (checks_written(options)) {
    layout.map = layout.lane;
    layout.lane += ir::small_map_bytes(layout.lane);
  }
  // Lanes that a padded group has too many read there as well.
  layout.bytes = uint64_t{layout.lane} * shape.local_size * shape.lanes_per_invocation;
  const uint64_t most_in_array = target.quirks.large_arrays_slow ? kLargeArray : kHugeArray;
  layout.in_memory = layout.lane > most_in_array && layout.bytes <= kMost;
  return layout;
}

uint32_t own_shared_bytes(const ir::Program& program, const Shape& shape, bool phases) {
  if (phases) return kPhaseSharedBytes;
  const BarrierUse use = barrier_use(program);
  if (shape.packed) return use.barriers && (use.loops || use.reductions) ? kDirectSharedBytes : 0;
  return (use.any && (use.loops || use.reductions) ? kDirectSharedBytes : 0) +
         (use.waves ? 4 * group_words(program, shape) : 0);
}

/// What a lane runs from stop to stop. Operations that the whole group comes to together mix no
/// iterations anyway.
ir::Phases phases_of(const ir::Program& program, bool waves) {
  if (!waves || ir::convergence_uniform(program)) return ir::split_phases(program);
  return ir::split_phases(ir::order_waves(program, ir::CountLoops::with_wave_ops));
}

uint32_t wave_levels(const ir::Phases& phases) {
  size_t most = 0;
  for (const ir::WaveOrder::Place& place : phases.places) most = std::max(most, place.loops.size());
  return static_cast<uint32_t>(most);
}

ir::CheckFacts check_facts(const ir::Program& source, const ir::Program& program,
                           const Options& options) {
  ir::CheckFacts facts;
  facts.read_only_end = options.memcheck == Memcheck::arena && ir::addresses_parameters(source);
  facts.params = program.param_bytes;
  facts.shared = guest::shared_bytes(program, options.dynamic_shared);
  facts.local = program.local_bytes;
  facts.block = options.block;
  facts.off = options.memcheck == Memcheck::off;
  facts.allocations = options.memcheck == Memcheck::alloc;
  facts.keeps_spaces = checks_written(options);
  return facts;
}

/// Where a branch that no lane takes costs next to nothing, stretches have a version whose accesses
/// are not checked.
bool may_have_versions(const Options& options, const Target& target) {
  return options.memcheck != Memcheck::off && options.small_arena && !options.imported &&
         options.trace_bits == 0 && !checks_written(options) && target.int64 && target.bda &&
         !target.quirks.runs_both_sides && !target.quirks.narrow_waves;
}

/// Does any instruction reach this space, as itself or through generic addresses?
bool reaches(const ir::Program& program, ir::Space space) {
  return ir::any_inst(program, [&](const ir::Inst& i) {
    return i.mem && (i.mem->space == space || i.mem->space == ir::Space::generic);
  });
}

uint32_t loop_mark_bytes(const Target& target, const Shape& shape) {
  const bool none = target.quirks.marks_in_registers() && shape.lanes_per_invocation == 1;
  return target.quirks.cuts_loops && !none ? 4 * shape.local_size : 0;
}

/// Atomic accesses of more than a word that may reach shared memory.
bool locks_shared(const ir::Program& program) {
  return ir::any_inst(program, [](const ir::Inst& inst) {
    if (!inst.mem) return false;
    const ir::Mem& m = *inst.mem;
    const bool reaches = m.space == ir::Space::shared || m.space == ir::Space::generic;
    return reaches && m.count * ir::size_of(m.elem) > 4 &&
           (inst.op == ir::Op::atom || ir::is_strong(inst));
  });
}

/// Straight code in place of the library's loops: what is as long as the sum has products is too
/// much for a compiler that folds nothing.
ir::DotExpansion dot_expansion(const ir::Program& program, const Target& device) {
  const bool wide = device.subgroup_size >= program.wave_lanes;
  const bool native = device.native_add && device.native_convert && !device.quirks.folds_nothing;
  return {.chains = wide, .cuts = wide || native, .integers = wide || !device.quirks.folds_nothing};
}

/// Stops for lanes that wait for others of their group, but where these make progress anyway: GCN
/// runs waves in step itself, and GPUs run the waves of a group, if these wait as a whole,
/// independently.
void give_turns(ir::Program& program, const Options& options, const Target& target) {
  if (program.isa == ir::Isa::gcn || options.wave == WaveMode::packed) return;
  ir::Program yielding = program;
  if (!yield_in_waits(yielding)) return;
  const auto kept_together = [&] {
    const Shape lanes = lane_shape(program, options, target);
    return choose_wave_mode(program, options, target, lanes).mode == WaveMode::packed;
  };
  if (!target.quirks.narrow_waves && kept_together()) return;
  program = std::move(yielding);
}

Module translate_once(const ir::Program& source, const Options& options, const Target& device) {
  ir::Program program = source;
  ir::mark_free_loops(program);
  ir::PointerParams pointers = spirv::find_pointers(program, options, device);
  if (options.memcheck == Memcheck::alloc && options.pointers) ir::narrow_generic(program);
  ir::load_parameters(program);
  // Sums of matrix instructions keep subnormals, which is for flushes_everything() to see.
  ir::expand_dots(program, dot_expansion(program, device));
  const Target target = flushes_everything(program) ? flushing_target(device) : device;
  ir::lower_switches(program);
  const bool simplify = !options.asks("passes", "off");
  if (simplify) ir::optimise(program, {{{options.block.x, options.block.y, options.block.z}}});
  ir::drop_uniform_ballots(program);
  ir::expand_descriptors(program);
  if (simplify && !target.quirks.runs_both_sides) ir::branch_on_guards(program);
  ir::find_alignment(program, options.aligned_pointers);
  ir::relax_nans(program);
  give_turns(program, options, target);
  Shape shape = lane_shape(program, options, target);
  const bool waves = ir::has_wave_ops(program);
  const WaveChoice choice = choose_wave_mode(program, options, target, shape);
  const bool serial = choice.mode == WaveMode::serial;
  const bool packed = choice.mode == WaveMode::packed;
  if (serial) shape = serial_shape(program, shape, target);
  if (packed) shape = packed_shape(program, shape, target);
  // Events know a lane by its slot, which lanes that run in turn share.
  const bool traced = options.trace_bits != 0 && shape.lanes_per_invocation > 1;
  const bool phases = !packed && ((serial && (waves || traced)) || needs_phases(program, shape));
  shape.locks_shared = locks_shared(program);
  const uint32_t own = own_shared_bytes(program, shape, phases) + loop_mark_bytes(target, shape) +
                       (shape.locks_shared ? 4 : 0);
  const SharedLayout shared = shared_layout(program, options, target, own);
  const bool counted = ir::takes_steps(program), waits = barrier_use(program).any;
  shape.checks_limit_once =
      counted && !options.step_budget && target.quirks.cuts_loops && !phases && !packed && !waits;
  shape.takes_steps = phases || (counted && !shape.checks_limit_once);
  ir::insert_checks(program, check_facts(source, program, options));
  shape.versions = may_have_versions(options, target) && shape.lanes_per_invocation == 1 && !phases;
  shape.pointers = std::move(pointers);
  if (shape.versions) ir::gather_checks(program);
  const LocalLayout local = local_layout(program, options, target, shape, shared);
  if (checks_written(options)) {
    ir::WrittenMaps maps{shared.map, local.map, {}};
    if (program.reserved_shared != 0) {
      const uint64_t all = guest::shared_bytes(program, options.dynamic_shared);
      maps.given = static_cast<uint32_t>(all - program.reserved_shared);
    }
    ir::insert_written_checks(program, maps);
  }
  // Unchecked, a kernel can read whatever it likes anyway.
  const bool clears = options.memcheck != Memcheck::off;
  const bool reads_shared = clears && shared.bytes > 0 && reaches(program, ir::Space::shared);
  const bool reads_local = clears && program.local_bytes > 0 && reaches(program, ir::Space::local);
  shape.clears_shared = reads_shared && !shared.in_memory;
  shape.clears_local = reads_local && !local.in_memory;

  ModuleBuilder builder(target);
  KernelBuilder kernel(builder, options, target, shape);
  uint32_t levels = 0;
  if (phases) {
    const ir::Phases split = phases_of(program, serial && waves);
    levels = wave_levels(split);
    kernel.build_phases(split);
  } else if (packed) {
    kernel.build_packed(program);
  } else {
    kernel.build_direct(program);
  }

  const auto linked = library::link(builder.words(), library::variant_for(target));
  // The guest's loops have marks. Of all others one, the last, says whether any was cut.
  const bool loops =
      target.quirks.cuts_loops && count_of(spv::OpLoopMerge, linked) > builder.guest_loops() + 1;
  const uint64_t on_chip = shared.in_memory ? 0 : shared.bytes;
  const std::map<uint32_t, uint32_t> sizes = {
      // A load that may not happen reads at offset 0.
      {library::shared_words, std::max(static_cast<uint32_t>(on_chip / 4), kLeastWords)},
      {library::local_words, local.lane / 4},
      // Lanes that run one after the other share a slot.
      {library::lanes, phases || packed ? shape.lanes_per_invocation : 1},
      {library::shared_in_backing, shared.in_memory ? 1U : 0U},
      {library::local_in_backing, local.in_memory ? 1U : 0U},
      {library::local_start, static_cast<uint32_t>(local.start / 4)},
      {library::group_words, waves && !phases && !packed ? group_words(program, shape) : 1},
      {library::loops, loops ? 1U : 0U},
      {library::loop_marks, shape.local_size},
      {library::wave_levels, levels},
      {library::fence_by_atomic, target.quirks.fence_by_atomic ? 1U : 0U}};
  Module module;
  module.fault_points = kernel.fault_points();
  module.words = library::freeze(linked, sizes);
  if (target.quirks.folds_nothing) module.words = shrink(module.words);
  if (target.quirks.loses_loop_values) module.words = close_loops(module.words);
  module.words = with_float_modes(module.words, target);
  module.local_size = shape.local_size;
  module.lanes_per_invocation = shape.lanes_per_invocation;
  module.clears_backing = (reads_shared && shared.in_memory) || (reads_local && local.in_memory);
  module.backing_bytes = local.start + (local.in_memory ? local.bytes : 0);
  module.wave_mode = name(choice.mode);
  module.wave_reason = choice.reason;
  module.subgroup_size = packed ? target.subgroup_size : 0;
  return module;
}

/// An invocation that carries several lanes of a wave holds the code and the registers of each.
/// A compiler that folds nothing and inlines everything needs minutes and gigabytes for much of it:
/// SwiftShader took 17 GB for 40,000 instructions (about 170,000 words) of eight lanes.
bool overwhelms(const Module& module, const Target& device) {
  constexpr size_t kMostWords = 80'000;
  return device.quirks.folds_nothing && module.subgroup_size != 0 &&
         module.lanes_per_invocation > 1 && module.words.size() > kMostWords;
}

/// A compiler that takes modules as they stand keeps every variable and most values in one stack
/// frame. SwiftShader's gives up on frames beyond this, and the driver then calls what is not
/// there: nothing in this process could catch that.
void refuse_large_frames(const ir::Program& program, const Module& module, const Target& device) {
  constexpr uint64_t kMostBytes = 512 << 10;
  if (!device.quirks.folds_nothing) return;
  const uint64_t bytes = frame_bytes(stack_use(module.words), device.subgroup_size);
  if (bytes <= kMostBytes) return;
  throw Error(
      ErrorKind::device,
      fmt::format("kernel '{}' is too large for this driver's compiler: it would need a stack "
                  "frame of about {} KiB, more than {}, and the driver crashes then; use "
                  "another device, the CPU engine 'reference' among them, or smaller groups",
                  program.name, bytes >> 10, kMostBytes >> 10));
}

/// The translation that suits the device's compiler.
Module translate_for(const ir::Program& source, const Options& options, const Target& device) {
  Module module = translate_once(source, options, device);
  if (options.wave != WaveMode::automatic || !overwhelms(module, device)) return module;
  Options one_by_one = options;
  one_by_one.wave = WaveMode::serial;
  Module small = translate_once(source, one_by_one, device);
  if (small.words.size() > module.words.size() / 2) return module;
  small.wave_reason = fmt::format(
      "kept together, the lanes of a wave are {} words of SPIR-V, too much for this driver's "
      "compiler",
      module.words.size());
  return small;
}

}  // namespace

Target narrowed(Target device, uint32_t wave_lanes) {
  if (device.least_subgroup == 0 || wave_lanes < device.least_subgroup) return device;
  while (device.subgroup_size > wave_lanes) {
    device.subgroup_size /= 2;
    if (device.most_in_waves != ~0U) device.most_in_waves /= 2;
  }
  return device;
}

ir::PointerParams find_pointers(ir::Program& program, const Options& options,
                                const Target& target) {
  if (options.memcheck == Memcheck::alloc && options.pointers) return ir::find_pointers(program);
  if (options.memcheck != Memcheck::arena || !may_have_versions(options, target)) return {};
  ir::PointerParams pointers = ir::find_pointers(program);
  ir::forget_pointers(program);
  pointers.in_offsets.clear();
  pointers.variables.clear();
  return pointers;
}

Module translate(const ir::Program& source, const Options& options, const Target& widest) {
  const Target device = narrowed(widest, source.wave_lanes);
  Module module = translate_for(source, options, device);
  refuse_large_frames(source, module, device);
  return module;
}

}  // namespace lanewise::spirv
