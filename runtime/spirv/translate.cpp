#include "runtime/spirv/translate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/guest/validate.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/spirv/flushing.hpp"
#include "runtime/spirv/kernel_builder.hpp"
#include "runtime/spirv/library.hpp"
#include "runtime/spirv/loop_exits.hpp"
#include "runtime/spirv/shrink.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

/// Of shared and local memory: the widest access of the library.
constexpr uint32_t kLeastWords = 16;

Shape shape_for(const Options& options, const Target& target) {
  const uint64_t lanes = options.block.total();
  if (lanes == 0) throw Error(ErrorKind::usage, "a block must have at least one thread");
  constexpr uint64_t kMost = 65536;
  if (lanes > kMost) {
    throw Error(ErrorKind::usage,
                fmt::format("a block of {} threads; at most {} are supported", lanes, kMost));
  }
  const uint32_t most = std::max(1U, target.max_invocations);
  Shape shape;
  shape.lanes = static_cast<uint32_t>(lanes);
  shape.lanes_per_invocation = (shape.lanes + most - 1) / most;
  shape.local_size = (shape.lanes + shape.lanes_per_invocation - 1) / shape.lanes_per_invocation;
  return shape;
}

/// A barrier of all threads that a control barrier expresses, given that all lanes reach it
/// together.
bool plain_barrier(const ir::Inst& inst, uint32_t lanes) {
  if (!inst.guard.always()) return false;
  if (static_cast<ir::BarrierKind>(inst.mode) == ir::BarrierKind::arrive) return false;
  const auto constant = [&](size_t i) { return i >= inst.src.size() || inst.src[i].is_imm(); };
  if (!constant(0) || !constant(1)) return false;
  const uint64_t id = inst.src.empty() ? 0 : inst.src[0].imm;
  const uint64_t count = inst.src.size() > 1 ? inst.src[1].imm : 0;
  return id < 16 && (count == 0 || count == lanes);
}

bool needs_phases(const ir::Program& program, const Shape& shape) {
  bool any = false, plain = true;
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (inst.op != ir::Op::barrier) continue;
      any = true;
      plain = plain && plain_barrier(inst, shape.lanes);
    }
  }
  if (!any) return false;
  return shape.lanes_per_invocation > 1 || !plain || !ir::meetings_uniform(program);
}

struct SharedLayout {
  uint64_t bytes = 0;
  bool in_memory = false;
};
SharedLayout shared_layout(const ir::Program& program, const Options& options, const Target& target,
                           uint32_t own_bytes) {
  SharedLayout layout;
  layout.bytes = (uint64_t{program.shared_bytes} + 15) / 16 * 16 + options.dynamic_shared;
  layout.bytes = (layout.bytes + 3) / 4 * 4;
  layout.in_memory = layout.bytes + own_bytes > target.max_shared;
  return layout;
}

/// Words of shared memory for cross-lane operations of the group (shaders/lib/wave_group.glsl).
uint32_t group_words(const ir::Program& program, const Shape& shape) {
  const uint32_t waves = (shape.lanes + program.wave_lanes - 1) / program.wave_lanes;
  return 2 * shape.lanes + 3 * 2 * waves;
}

/// The cross-lane operations can be carried out by the whole group at a time, a lane per
/// invocation.
bool waves_meet(const ir::Program& program, const Shape& shape, const Target& target) {
  if (shape.lanes_per_invocation > 1) return false;
  for (const ir::Block& block : program.blocks)
    for (const ir::Inst& inst : block.insts)
      if (ir::info(inst.op).trait == ir::OpTrait::wave && !runs_in_group(inst)) return false;
  if (needs_phases(program, shape) || !ir::meetings_uniform(program)) return false;
  return 4 * group_words(program, shape) <= target.max_shared / 2;
}

[[noreturn]] void refuse_lane_mode(const ir::Program& program) {
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (ir::info(inst.op).trait != ir::OpTrait::wave) continue;
      const bool known = inst.site < program.sites.size();
      const std::string text = known ? program.sites[inst.site].text : "";
      throw Error(
          ErrorKind::guest,
          fmt::format("cross-lane instruction '{}' (line {}) cannot run in lane mode, as not "
                      "all lanes of the block are known to reach it together; use --wave "
                      "auto or packed",
                      text.empty() ? ir::info(inst.op).name : text,
                      known ? program.sites[inst.site].line : 0));
    }
  }
  throw Error(ErrorKind::guest,
              "internal: no cross-lane instruction stands in the way of lane mode");
}

/// Each invocation carries one wave: for kernels whose cross-lane operations lanes reach apart, or
/// on demand.
bool wants_packed(const ir::Program& program, const Options& options, bool meet) {
  if (options.wave == WaveMode::packed) return true;
  if (!ir::has_wave_ops(program) || meet) return false;
  if (options.wave == WaveMode::automatic) return true;
  refuse_lane_mode(program);
}

Shape packed_shape(const ir::Program& program, const Shape& lanes, const Target& target) {
  Shape shape;
  shape.packed = true;
  shape.lanes = lanes.lanes;
  shape.lanes_per_invocation = program.wave_lanes;
  shape.local_size = (shape.lanes + program.wave_lanes - 1) / program.wave_lanes;
  if (shape.local_size > target.max_invocations) {
    throw Error(ErrorKind::guest,
                fmt::format("a block of {} threads is {} waves; this device runs at most {} waves "
                            "in a block of a kernel with cross-lane operations",
                            shape.lanes, shape.local_size, target.max_invocations));
  }
  // Where loops are cut, the rest of a vector must not run on its own.
  if (target.cuts_loops) {
    const uint32_t step = std::max(1U, target.subgroup_size);
    const uint32_t whole = (shape.local_size + step - 1) / step * step;
    if (whole <= target.max_invocations) shape.local_size = whole;
  }
  return shape;
}

uint32_t own_shared_bytes(const ir::Program& program, const Shape& shape, bool phases) {
  if (phases) return kPhaseSharedBytes;
  const BarrierUse use = barrier_use(program);
  return (use.any && (use.loops || use.reductions) ? kDirectSharedBytes : 0) +
         (use.waves ? 4 * group_words(program, shape) : 0);
}

/// What a lane runs from stop to stop. Operations that the whole group comes to together mix no
/// iterations anyway.
ir::Phases phases_of(const ir::Program& program, bool waves) {
  if (!waves || ir::meetings_uniform(program)) return ir::split_phases(program);
  return ir::split_phases(ir::order_waves(program, ir::CountLoops::with_wave_ops));
}

uint32_t wave_levels(const ir::Phases& phases) {
  size_t most = 0;
  for (const ir::WaveOrder::Place& place : phases.places) most = std::max(most, place.loops.size());
  return static_cast<uint32_t>(most);
}

ir::CheckFacts check_facts(const ir::Program& program, const Options& options) {
  ir::CheckFacts facts;
  facts.params = program.param_bytes;
  facts.shared = guest::shared_bytes(program, options.dynamic_shared);
  facts.local = program.local_bytes;
  facts.block = options.block;
  facts.off = options.memcheck == Memcheck::off;
  facts.allocations = options.memcheck == Memcheck::alloc;
  return facts;
}

uint32_t loop_mark_bytes(const Target& target, const Shape& shape) {
  return target.cuts_loops ? 4 * shape.local_size : 0;
}

std::string wave_reason(const Options& options, bool waves, bool packed) {
  if (options.wave != WaveMode::automatic) return "asked for";
  if (!waves) return "no cross-lane operations";
  return packed ? "cross-lane operations that lanes of the group may reach apart"
                : "the whole group reaches every cross-lane operation together";
}

}  // namespace

Module translate(const ir::Program& source, const Options& options, const Target& device) {
  ir::Program program = source;
  const Target target = flushes_everything(program) ? flushing_target(device) : device;
  ir::lower_switches(program);
  if (options.optimise)
    ir::optimise(program, {{{options.block.x, options.block.y, options.block.z}}});
  ir::expand_descriptors(program);
  ir::relax_nans(program);
  Shape shape = shape_for(options, target);
  const bool waves = ir::has_wave_ops(program);
  const bool packed = wants_packed(program, options, waves && waves_meet(program, shape, target));
  if (packed) shape = packed_shape(program, shape, target);
  // Events know a lane by its slot, which lanes that run in turn share.
  const bool traced = options.trace_bits != 0 && shape.lanes_per_invocation > 1;
  const bool phases = (packed && (waves || traced)) || needs_phases(program, shape);
  const uint32_t own = own_shared_bytes(program, shape, phases) + loop_mark_bytes(target, shape);
  const SharedLayout shared = shared_layout(program, options, target, own);
  ir::insert_checks(program, check_facts(program, options));

  ModuleBuilder builder(target);
  KernelBuilder kernel(builder, options, target, shape);
  uint32_t levels = 0;
  if (phases) {
    const ir::Phases split = phases_of(program, packed && waves);
    levels = wave_levels(split);
    kernel.build_phases(split);
  } else {
    kernel.build_direct(program);
  }

  const uint64_t on_chip = shared.in_memory ? 0 : shared.bytes;
  const std::map<uint32_t, uint32_t> sizes = {
      // A load that may not happen reads at offset 0.
      {library::shared_words, std::max(static_cast<uint32_t>(on_chip / 4), kLeastWords)},
      {library::local_words, (program.local_bytes + 3) / 4},
      // Lanes that run one after the other share a slot.
      {library::lanes, phases ? shape.lanes_per_invocation : 1},
      {library::shared_in_backing, shared.in_memory ? 1U : 0U},
      {library::group_words, waves && !phases ? group_words(program, shape) : 1},
      {library::loop_marks, shape.local_size},
      {library::wave_levels, levels},
      {library::fence_by_atomic, target.fence_by_atomic ? 1U : 0U}};
  Module module;
  module.fault_points = kernel.fault_points();
  const auto linked = library::link(builder.words(), library::variant_for(target));
  module.words = library::freeze(linked, sizes);
  if (target.folds_nothing) module.words = shrink(module.words);
  if (target.loses_loop_values) module.words = close_loops(module.words);
  module.local_size = shape.local_size;
  module.lanes_per_invocation = shape.lanes_per_invocation;
  module.shared_in_memory = shared.in_memory;
  module.shared_bytes = shared.in_memory ? shared.bytes : 0;
  module.wave_mode = packed ? "packed" : "lane";
  module.wave_reason = wave_reason(options, waves, packed);
  return module;
}

}  // namespace lanewise::spirv
