// Wave mode: the lanes of a wave lie side by side in neighbouring invocations, and where a wave is
// wider than a subgroup, behind each other in slots of one invocation. Slots run instruction by
// instruction, so that a wave is always at one place.
#include <algorithm>
#include <utility>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::spirv {
namespace {

using ir::OpTrait;
using ir::Space;

void collect_assigned(const std::vector<ir::Node>& nodes, std::vector<bool>& assigned) {
  for (const ir::Node& node : nodes) {
    if (node.kind == ir::Node::Kind::assign) assigned[node.reg.id] = true;
    collect_assigned(node.body, assigned);
    collect_assigned(node.otherwise, assigned);
  }
}

/// Does what it does to no more than its destinations, and equal sources give equal results; what
/// is checked notes a fault for each lane.
bool gives_one_result(const ir::Inst& inst) {
  const OpTrait trait = ir::info(inst.op).trait;
  if (trait == OpTrait::pure || trait == OpTrait::wave) return true;
  return inst.op == ir::Op::load && inst.event == 0 && inst.src.back().is_imm() &&
         (inst.mem->space == Space::param || inst.mem->space == Space::constant);
}

/// Of a cross-lane operation: the source that says which lanes it reads, -1 when none does.
int lanes_operand(ir::Op op) {
  return op == ir::Op::readlane ? 1 : ir::member_operand(op);
}

bool combines_words(const ir::Inst& inst) {
  static constexpr EnumSet<ir::Op> kWords{ir::Op::and_, ir::Op::or_, ir::Op::xor_,
                                          ir::Op::add,  ir::Op::shl, ir::Op::shr};
  return kWords.has(inst.op) && ir::width_of(inst.type) == ir::Width::b32;
}

/// Registers that are written once for all slots, grown down from those that are uniform.
std::vector<bool> shared_registers(const ir::Program& program, std::vector<bool> shared) {
  const auto drop = [&](const ir::Inst& inst) {
    bool changed = false;
    for (const ir::Reg reg : inst.dst) {
      changed = changed || (reg.valid() && shared[reg.id]);
      if (reg.valid()) shared[reg.id] = false;
    }
    return changed;
  };
  const auto is_shared = [&](const ir::Inst& inst) {
    const auto known = [&](const ir::Operand& o) { return !o.is_reg() || shared[o.index]; };
    const auto kept = [&](ir::Reg reg) { return !reg.valid() || shared[reg.id]; };
    // A cross-lane operation takes each slot's own values and gives all of them one result, if
    // they name the same lanes: a slot without active lanes has kept a number from before.
    const int lanes = lanes_operand(inst.op);
    const bool equal = ir::info(inst.op).trait == OpTrait::wave
                           ? lanes < 0 || known(inst.src[static_cast<size_t>(lanes)])
                           : std::ranges::all_of(inst.src, known);
    return gives_one_result(inst) && equal && (inst.guard.always() || shared[inst.guard.reg.id]) &&
           std::ranges::all_of(inst.dst, kept);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block& block : program.blocks)
      for (const ir::Inst& inst : block.insts)
        if (!inst.dst.empty() && !is_shared(inst)) changed = drop(inst) || changed;
  }
  return shared;
}

}  // namespace

void LaneEmitter::in_slots(const std::function<void(uint32_t)>& body) {
  for (Slot& slot : slots_) {
    slot_ = &slot;
    body(slot.number);
  }
  slot_ = slots_.data();
}

void LaneEmitter::plan_slots() {
  const bool alone = program_.wave_lanes >= target_.subgroup_size;
  const ir::Together together = alone ? ir::Together::wave : ir::Together::group;
  uniform_ = ir::Uniformity(program_, together).registers();
  members_ = std::make_unique<MemberProof>(program_, together);
  // The structuriser's flags are set in the tree, which the analysis does not see.
  std::vector<bool> assigned(program_.regs.size(), false);
  collect_assigned(code_.body, assigned);
  for (size_t i = 0; i < assigned.size(); ++i)
    if (assigned[i]) uniform_[i] = false;
  // Where lanes have left a construct divergently, the rest of its body still runs, under
  // an empty mask; what is written once for all slots is not masked and may not be written there.
  std::vector<bool> candidates = uniform_;
  if (diverges_anywhere(code_.body)) candidates.assign(candidates.size(), false);
  find_lane_numbers();
  shared_ = slots_.size() > 1 ? shared_registers(program_, std::move(candidates))
                              : std::vector<bool>(program_.regs.size(), false);
}

/// Not of GCN, whose lanes read what lanes that skipped a write have had before.
void LaneEmitter::find_lane_numbers() {
  if (!in_several_slots() || program_.isa == ir::Isa::gcn) return;
  const size_t count = program_.regs.size();
  std::vector<uint32_t> definitions(count, 0);
  for (const ir::Block& block : program_.blocks)
    for (const ir::Inst& inst : block.insts)
      for (const ir::Reg reg : inst.dst)
        if (reg.valid()) ++definitions[reg.id];
  of_lane_.assign(count, nullptr);
  const auto found = [&](const ir::Inst& inst) {
    if (inst.op == ir::Op::sreg) return inst.mode == static_cast<uint8_t>(ir::SReg::laneid);
    return combines_words(inst) && std::ranges::all_of(inst.src, [&](const ir::Operand& o) {
             return o.is_imm() || (o.is_reg() && of_lane_[o.index] != nullptr);
           });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block& block : program_.blocks)
      for (const ir::Inst& inst : block.insts) {
        if (inst.dst.size() != 1 || !inst.dst[0].valid() || !inst.guard.always()) continue;
        const uint32_t reg = inst.dst[0].id;
        const bool once = definitions[reg] == 1 && !zeroed_[reg];
        if (!once || of_lane_[reg] != nullptr || !found(inst)) continue;
        of_lane_[reg] = &inst;
        changed = true;
      }
  }
}

Id LaneEmitter::made_of_lane(const ir::Inst& inst) {
  if (inst.op == ir::Op::sreg) return lane_in_wave();
  const ir::Inst* current = std::exchange(inst_, &inst);
  const NativeRow* row = find_native(*this, inst);
  const Id value = row->emit(*this, row->code).first;
  inst_ = current;
  return value;
}

void LaneEmitter::start_masks() {
  const uint32_t step = target_.subgroup_size;
  const uint32_t whole = std::max(program_.wave_lanes, step);
  const Id first = slots_[0].lane;
  for (Slot& slot : slots_) {
    if (slot.number != 0) slot.lane = m_.word(spv::OpIAdd, {first, m_.u(slot.number * step)});
    slot.active_variable = m_.create_variable(spv::StorageClassFunction, m_.bool_type, "active");
  }
  full_ = true;
  if (shape_.lanes % whole != 0) {
    Ids exist;
    for (const Slot& slot : slots_)
      exist.push_back(m_.test(spv::OpULessThan, {slot.lane, m_.u(shape_.lanes)}));
    set_masks(exist);
  }
  plan_members();
}

/// Does the current slot's lane take part? NoResult = surely.
Id LaneEmitter::active() {
  if (!masked() || full_) return spv::NoResult;
  if (slot_->active == spv::NoResult) slot_->active = m_.create_load(slot_->active_variable);
  return slot_->active;
}

void LaneEmitter::set_active(Id mask) {
  slot_->active = mask;
  m_.create_store(mask, slot_->active_variable);
}

Ids LaneEmitter::masks() {
  Ids all;
  in_slots([&](uint32_t) { all.push_back(active()); });
  return all;
}

void LaneEmitter::set_masks(const Ids& masks) {
  full_ = std::ranges::count(masks, spv::NoResult) == static_cast<ptrdiff_t>(masks.size());
  if (full_) return;
  in_slots([&](uint32_t n) { set_active(masks[n] == spv::NoResult ? m_.b(true) : masks[n]); });
}

/// NoResult stands for true.
Id LaneEmitter::both(Id a, Id b) {
  if (b == spv::NoResult || a == b) return a;
  if (a == spv::NoResult || a == m_.b(true)) return b;
  if (b == m_.b(true)) return a;
  return m_.test(spv::OpLogicalAnd, {a, b});
}

Id LaneEmitter::inverse(Id a) {
  return a == spv::NoResult ? m_.b(false) : m_.negated(a);
}

/// In some lane of the subgroup.
Id LaneEmitter::any_of(const Ids& of_slots) {
  Id some = spv::NoResult;
  for (const Id one : of_slots) {
    if (one == spv::NoResult) return m_.b(true);
    some = some == spv::NoResult ? one : m_.test(spv::OpLogicalOr, {some, one});
  }
  return m_.any_lane(some);
}

/// Only one slot carries it out, and what it gives is everybody's.
bool LaneEmitter::once_for_all(const ir::Inst& inst) const {
  return !inst.dst.empty() && std::ranges::all_of(inst.dst, [&](ir::Reg reg) {
    return !reg.valid() || shared_[reg.id];
  }) && std::ranges::any_of(inst.dst, [](ir::Reg reg) { return reg.valid(); });
}

/// The library keeps local memory and trace positions for each slot, and descriptors may add the
/// lane's number to an index.
void LaneEmitter::set_library_state(const ir::Inst& inst) {
  if (slots_.size() == 1) return;
  const bool traced = options_.trace_bits != 0 && inst.event != 0;
  const bool own = inst.mem && ir::info(inst.op).trait == OpTrait::mem &&
                   (inst.mem->space == Space::local || inst.mem->space == Space::generic);
  if (traced || own || inst.op == ir::Op::buffer_address)
    library("lw_set_lane", m_.void_type, {m_.u(slot_->number), slot_->lane});
}

void LaneEmitter::run_instruction(const ir::Inst& inst) {
  if (!masked()) return emit(inst);
  inst_ = &inst;
  const OpTrait trait = ir::info(inst.op).trait;
  if (trait == OpTrait::wave) return subgroup_operation(inst);
  if (inst.op == ir::Op::trap) return masked_trap();
  if (inst.op == ir::Op::barrier || once_for_all(inst)) return emit(inst);
  if (sums_in_turn(inst)) return dots_in_turn();
  if (inst.op == ir::Op::fence) {
    in_slots([&](uint32_t n) {
      set_library_state(inst);
      if (options_.trace_bits != 0 && inst.event != 0) emit_event();
      if (n == 0) fence();
    });
    return;
  }
  const bool together = slots_.size() > 1 && searches_allocations(inst);
  if (together) find_allocations();
  in_slots([&](uint32_t) {
    set_library_state(inst);
    emit(inst);
    slot_->found = spv::NoResult;
  });
}

}  // namespace lanewise::spirv
