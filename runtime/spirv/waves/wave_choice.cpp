#include "runtime/spirv/waves/wave_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/spirv/waves/kernel_builder.hpp"
#include "runtime/spirv/waves/member_proof.hpp"
#include "runtime/spirv/waves/wave_proof.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

/// More lanes in one invocation would make more code than drivers for CPUs compile in time.
constexpr uint32_t kMostSlots = 8;

/// The cross-lane operations can be carried out by the whole group at a time, a lane per
/// invocation.
bool waves_meet(const ir::Program& program, const Shape& shape, const Target& target) {
  if (shape.lanes_per_invocation > 1) return false;
  const auto apart = [](const ir::Inst& i) {
    return ir::info(i.op).trait == ir::OpTrait::wave && !runs_in_group(i);
  };
  if (ir::any_inst(program, apart) || shape.scatters || needs_phases(program, shape) ||
      !ir::convergence_uniform(program))
    return false;
  return 4 * group_words(program, shape) <= target.max_shared / 2;
}

/// "'bar.sync 0' (line 7)"; in an object "'s_barrier' (at 0x3c)".
std::string named(const ir::Program& program, const ir::Inst& inst) {
  if (inst.site >= program.sites.size()) return fmt::format("'{}'", ir::info(inst.op).name);
  const ir::Site& site = program.sites[inst.site];
  const std::string text = site.text.empty() ? std::string(ir::info(inst.op).name) : site.text;
  return site.line != 0 ? fmt::format("'{}' (line {})", text, site.line)
                        : fmt::format("'{}' (at {:#x})", text, site.pc);
}

[[noreturn]] void refuse_lane_mode(const ir::Program& program) {
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (ir::info(inst.op).trait != ir::OpTrait::wave) continue;
      throw Error(ErrorKind::guest,
                  fmt::format("cross-lane instruction {} cannot run in lane mode, as not "
                              "all lanes of the block are known to reach it together; use --wave "
                              "auto, packed or serial",
                              named(program, inst)));
    }
  }
  throw Error(ErrorKind::guest, "internal: no cross-lane instruction prevents lane mode");
}

/// Empty when waves can be kept together.
std::string obstacle(const ir::Program& program, const Shape& lanes, const Target& target) {
  if (!target.wave_operations)
    return "the device has no votes, ballots and shuffles in compute shaders";
  const uint32_t size = target.subgroup_size;
  if (!std::has_single_bit(size) || size > 128)
    return fmt::format("the device has subgroups of {}", size);
  if (program.wave_lanes / size > kMostSlots)
    return fmt::format("a wave of {} lanes takes {} slots in subgroups of {}", program.wave_lanes,
                       program.wave_lanes / size, size);
  const Shape shape = packed_shape(program, lanes, target);
  const uint32_t most = std::min(target.max_invocations, target.most_in_waves);
  if (shape.local_size > most)
    return fmt::format("the block would take {} invocations, the device has {}", shape.local_size,
                       most);
  if (const auto found = obstacle_to_waves(program, lanes.lanes))
    return fmt::format("{}: {}", named(program, *found->inst), found->why);
  if (lanes.scatters) return "its control flow nests deeper than drivers can follow";
  return {};
}

}  // namespace

bool needs_phases(const ir::Program& program, const Shape& shape) {
  const auto barrier = [](const ir::Inst& i) { return i.op == ir::Op::barrier; };
  const auto other = [&](const ir::Inst& i) {
    return barrier(i) && !is_plain_barrier(i, shape.lanes);
  };
  if (!ir::any_inst(program, barrier)) return false;
  return shape.lanes_per_invocation > 1 || ir::any_inst(program, other) || shape.scatters ||
         !ir::convergence_uniform(program);
}

uint32_t group_words(const ir::Program& program, const Shape& shape) {
  const uint32_t waves = (shape.lanes + program.wave_lanes - 1) / program.wave_lanes;
  return 2 * shape.lanes + 3 * 2 * waves;
}

Shape lane_shape(const ir::Program& program, const Options& options, const Target& target) {
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
  shape.scatters = barrier_use(program).any && ir::structurise(program).flattened;
  return shape;
}

Shape serial_shape(const ir::Program& program, const Shape& lanes, const Target& target) {
  Shape shape;
  shape.scatters = lanes.scatters;
  shape.serial = true;
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
  if (target.quirks.cuts_loops) {
    const uint32_t step = std::max(1U, target.subgroup_size);
    const uint32_t whole = (shape.local_size + step - 1) / step * step;
    if (whole <= target.max_invocations) shape.local_size = whole;
  }
  return shape;
}

Shape packed_shape(const ir::Program& program, const Shape& lanes, const Target& target) {
  Shape shape;
  shape.scatters = lanes.scatters;
  shape.packed = true;
  shape.lanes = lanes.lanes;
  const uint32_t size = target.subgroup_size;
  shape.lanes_per_invocation = std::max(1U, program.wave_lanes / size);
  const uint32_t whole = std::max(program.wave_lanes, size);
  shape.local_size = (shape.lanes + whole - 1) / whole * size;
  return shape;
}

WaveChoice choose_wave_mode(const ir::Program& program, const Options& options,
                            const Target& target, const Shape& lanes) {
  const auto asked = [&](WaveMode mode) { return WaveChoice{mode, "asked for"}; };
  if (options.wave == WaveMode::serial) return asked(WaveMode::serial);
  if (options.wave == WaveMode::packed) {
    const std::string why = obstacle(program, lanes, target);
    if (why.empty()) return asked(WaveMode::packed);
    throw Error(ErrorKind::guest,
                fmt::format("the lanes of a wave cannot be kept together: {}; use --wave auto or "
                            "serial",
                            why));
  }
  const bool waves = ir::has_wave_ops(program);
  const bool meet = waves && waves_meet(program, lanes, target);
  if (options.wave == WaveMode::lane) {
    if (waves && !meet) refuse_lane_mode(program);
    return asked(WaveMode::lane);
  }
  if (!waves) return {WaveMode::lane, "no cross-lane operations"};
  const std::string why = obstacle(program, lanes, target);
  const MemberSummary members = why.empty() ? member_summary(program) : MemberSummary{};
  if (members.mixes != nullptr)
    return {WaveMode::serial, named(program, *members.mixes) +
                                  ": lanes that it waits for may come to it in another iteration"};
  if (why.empty() && members.asking == 0)
    return {WaveMode::packed, "the lanes of a wave can be kept together"};
  if (why.empty()) {
    const std::string who = members.asking == 1
                                ? "one cross-lane operation finds"
                                : fmt::format("{} cross-lane operations find", members.asking);
    return {WaveMode::packed,
            fmt::format("the lanes of a wave can be kept together as long as {} all lanes of {} "
                        "member mask there",
                        who, members.asking == 1 ? "its" : "each")};
  }
  if (meet) return {WaveMode::lane, "the whole group reaches every cross-lane operation together"};
  return {WaveMode::serial, "the lanes of a wave cannot be kept together: " + why};
}

}  // namespace lanewise::spirv
