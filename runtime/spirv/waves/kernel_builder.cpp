#include "runtime/spirv/waves/kernel_builder.hpp"

#include <algorithm>

#include "runtime/spirv/binary/library.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {
namespace {

// Words of the launch block (shaders/INTERFACE.md).
constexpr uint32_t kBudget = host_shader::LAUNCH_STEP_BUDGET;

Id push_constants(ModuleBuilder& m) {
  const Id words = m.make_array_type(m.uint_type, m.u(guest::kPushWords), 4);
  const Id block = m.make_struct_type({words}, "Push");
  m.add_decoration(block, spv::DecorationBlock);
  m.add_member_decoration(block, 0, spv::DecorationOffset, 0);
  return m.create_variable(spv::StorageClassPushConstant, block, "push");
}

}  // namespace

BarrierUse barrier_use(const ir::Program& program) {
  BarrierUse use;
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    for (const ir::Inst& inst : program.blocks[i].insts) {
      const bool wave = ir::info(inst.op).trait == ir::OpTrait::wave;
      use.waves = use.waves || wave;
      use.any = use.any || wave || inst.op == ir::Op::barrier;
      use.barriers = use.barriers || inst.op == ir::Op::barrier;
      if (inst.op != ir::Op::barrier) continue;
      const auto kind = static_cast<ir::BarrierKind>(inst.mode);
      use.reductions = use.reductions || kind != ir::BarrierKind::sync;
    }
    for (const uint32_t target : program.blocks[i].term.targets)
      use.loops = use.loops || target <= i;
  }
  return use;
}

KernelBuilder::KernelBuilder(ModuleBuilder& module, const Options& options, const Target& target,
                             const Shape& shape)
    : m_(module),
      options_(options),
      target_(target),
      shape_(shape),
      state_(module, target, points_, shape.takes_steps, options.step_budget) {
  frame_.states = {&state_};
  frame_.push = push_constants(m_);
  work_group_ = input(m_.uvec3_type, spv::BuiltInWorkgroupId, "work_group");
  state_.set_inputs(frame_.push, work_group_);
  frame_.lane = private_variable(m_.uint_type, "lane");
  frame_.group = private_variable(m_.uvec3_type, "group");
  frame_.clock = private_variable(m_.uint_type, "clock", m_.u(0));
  if (target_.quirks.marks_in_registers())
    frame_.loop_entries = private_variable(m_.uint_type, "loop_entries", m_.u(0));
}

Id KernelBuilder::private_variable(Id type, const char* name, Id initial) {
  return m_.create_variable(spv::StorageClassPrivate, type, name, initial);
}

Id KernelBuilder::library(const char* name, Id type, const Ids& args) {
  if (library::find(name) == nullptr) {
    throw Error(ErrorKind::device, std::string("the shader library lacks ") + name);
  }
  return m_.call(name, type, args);
}

Id KernelBuilder::input(Id type, spv::BuiltIn which, const char* name) {
  const Id id = m_.create_variable(spv::StorageClassInput, type, name);
  m_.add_decoration(id, spv::DecorationBuiltIn, {static_cast<uint32_t>(which)});
  return id;
}

Id KernelBuilder::builtin(Id type, spv::BuiltIn which, const char* name) {
  const Id id = input(type, which, name);
  m_.add_interface(id);
  return id;
}

void KernelBuilder::begin_entry() {
  entry_ = m_.begin_function("main");
  m_.add_entry_point(entry_, "main", shape_.local_size);
  m_.add_interface(work_group_);
  const Id local = builtin(m_.uvec3_type, spv::BuiltInLocalInvocationId, "local_id");
  const Id group_id = state_.group_id();
  m_.create_store(group_id, frame_.group);
  invocation_ = m_.extract(m_.create_load(local), m_.uint_type, 0);
  m_.create_store(invocation_, frame_.lane);
  library("lw_begin", m_.void_type, {group_id, invocation_});
  if (shape_.locks_shared)
    library("lw_begin_lock", m_.void_type, {invocation_, m_.u(shape_.local_size)});
  if (shape_.clears_shared)
    library("lw_clear_shared", m_.void_type, {invocation_, m_.u(shape_.local_size)});
  clear_local();
  start_lane();
  if (options_.trace_bits != 0) library("lw_trace_begin", m_.void_type, {});
}

void KernelBuilder::clear_local() {
  if (shape_.clears_local) library("lw_clear_local", m_.void_type, {});
}

void KernelBuilder::start_lane() {
  const auto word = [&](uint32_t n) { return library("lw_launch", m_.uint_type, {m_.u(n)}); };
  state_.start(word(kBudget), word(kBudget + 1));
}

void KernelBuilder::run_lane(Function* body) {
  if (!shape_.checks_limit_once) return m_.call_function(body);
  const Id aborted = library("lw_aborted", m_.bool_type, {});
  m_.when(m_.negated(aborted), [&] { m_.call_function(body); });
}

void KernelBuilder::end_of_lane() {
  if (options_.trace_bits != 0) library("lw_trace_end", m_.void_type, {});
  state_.report(m_.create_load(frame_.lane));
}

/// What lanes computed in a loop that the driver has cut is wrong, and only the guest's own loops
/// have reported it.
void KernelBuilder::report_cut() {
  const Id lane = shape_.packed ? m_.create_load(frame_.lane) : lane_of(m_.u(0));
  m_.when(library("lw_loops_cut", m_.bool_type, {lane_exists(lane)}), [&] {
    m_.create_store(lane, frame_.lane);
    state_.start();
    state_.cut_by_driver(ir::kNone, kCutAnywhere);
    state_.report(lane);
  });
}

void KernelBuilder::finish_entry() {
  if (target_.quirks.cuts_loops) report_cut();
  m_.make_return();
}

Function* KernelBuilder::build_body(const ir::Program& program) {
  const ir::Structured code = ir::structurise(program);
  frame_.carried.resize(code.program.regs.size(), spv::NoResult);
  Function* body = m_.begin_function("lane_body");
  LaneEmitter(m_, code, options_, target_, shape_, frame_).run();
  return body;
}

Id KernelBuilder::lane_of(Id slot) {
  if (shape_.serial) {
    const Id first = m_.word(spv::OpIMul, {invocation_, m_.u(shape_.lanes_per_invocation)});
    return m_.word(spv::OpIAdd, {first, slot});
  }
  const Id start = m_.word(spv::OpIMul, {slot, m_.u(shape_.local_size)});
  return m_.word(spv::OpIAdd, {start, invocation_});
}

Id KernelBuilder::lane_exists(Id lane) {
  return m_.test(spv::OpULessThan, {lane, m_.u(shape_.lanes)});
}

void KernelBuilder::for_each_slot(const std::function<void(Id slot)>& body) {
  if (shape_.lanes_per_invocation == 1) return body(m_.u(0));
  m_.count_to(shape_.lanes_per_invocation, body);
}

/// What lanes that meet share: whether they go on in loops, and what they vote for.
void KernelBuilder::make_group_variables(bool meet, const BarrierUse& use) {
  if (meet && use.loops) {
    frame_.stopped = private_variable(m_.bool_type, "stopped", m_.b(false));
    frame_.steps = private_variable(m_.uint_type, "steps", m_.u(0));
  }
  if (meet && (use.loops || use.reductions))
    frame_.vote = m_.create_variable(spv::StorageClassWorkgroup, m_.uint_type, "vote");
}

void KernelBuilder::build_direct(const ir::Program& program) {
  const BarrierUse use = barrier_use(program);
  frame_.barriers = use.any;
  frame_.waves = use.waves;
  make_group_variables(use.any, use);
  Function* body = build_body(program);
  begin_entry();
  if (use.waves)
    library("lw_group_begin", m_.void_type, {m_.u(program.wave_lanes), m_.u(shape_.lanes)});
  if (shape_.lanes_per_invocation == 1) {  // local_size equals the number of lanes
    run_lane(body);
    end_of_lane();
  } else {
    run_lanes_in_turn(body);
  }
  finish_entry();
}

/// The lane in slot 0; those of other slots follow at distances of a subgroup.
void KernelBuilder::place_waves(const ir::Program& program) {
  m_.add_capability(spv::CapabilityGroupNonUniform);
  const auto load = [&](spv::BuiltIn which, const char* name) {
    return m_.create_load(builtin(m_.uint_type, which, name));
  };
  const Id subgroup = load(spv::BuiltInSubgroupId, "subgroup");
  const Id lane = load(spv::BuiltInSubgroupLocalInvocationId, "subgroup_lane");
  const uint32_t width = std::max(program.wave_lanes, target_.subgroup_size);
  const Id first = m_.word(spv::OpIMul, {subgroup, m_.u(width)});
  m_.create_store(lane, frame_.subgroup_lane);
  m_.create_store(m_.word(spv::OpIAdd, {first, lane}), frame_.lane);
}

void KernelBuilder::build_packed(const ir::Program& program) {
  const BarrierUse use = barrier_use(program);
  frame_.barriers = use.barriers;
  frame_.subgroup_lane = private_variable(m_.uint_type, "subgroup_lane");
  for (uint32_t slot = 1; slot < shape_.lanes_per_invocation; ++slot) {
    more_states_.push_back(std::make_unique<LaneState>(m_, target_, points_, false, false));
    frame_.states.push_back(more_states_.back().get());
    more_states_.back()->set_inputs(frame_.push, work_group_);
  }
  make_group_variables(use.barriers, use);
  Function* body = build_body(program);
  begin_entry();
  place_waves(program);
  const Id first = m_.create_load(frame_.lane);
  library("lw_set_lane", m_.void_type, {m_.u(0), first});
  for (const auto& state : more_states_) state->start();
  m_.call_function(body);
  for (uint32_t slot = 0; slot < shape_.lanes_per_invocation; ++slot) {
    const Id lane = m_.word(spv::OpIAdd, {first, m_.u(slot * target_.subgroup_size)});
    if (options_.trace_bits != 0) {
      m_.when(lane_exists(lane), [&] {
        library("lw_set_lane", m_.void_type, {m_.u(slot), lane});
        library("lw_trace_end", m_.void_type, {});
      });
    }
    frame_.states[slot]->report(lane);
  }
  finish_entry();
}

/// Each lane from beginning to end.
void KernelBuilder::run_lanes_in_turn(Function* body) {
  for_each_slot([&](Id slot) {
    const Id lane = lane_of(slot);
    m_.when(lane_exists(lane), [&] {
      m_.create_store(lane, frame_.lane);
      library("lw_set_lane", m_.void_type, {m_.u(0), lane});
      clear_local();
      start_lane();
      run_lane(body);
      end_of_lane();
    });
  });
}

}  // namespace lanewise::spirv
