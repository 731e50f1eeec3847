#include "runtime/events/race_plan.hpp"

#include <bit>

#include "runtime/events/points.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::events {
namespace {

using ir::Op;
using Role = RacePoint::Role;

bool is_access(const ir::Inst& inst) {
  if (!inst.mem || (inst.op != Op::load && inst.op != Op::store && inst.op != Op::atom))
    return false;
  if (inst.op == Op::load && inst.mode == static_cast<uint8_t>(ir::LoadMode::descriptor))
    return false;
  const ir::Space space = inst.mem->space;
  return space == ir::Space::shared || ir::wide_space(space);
}

/// Of which others learn something.
std::vector<uint8_t> recorded_operands(const ir::Inst& inst, Role role) {
  std::vector<uint8_t> all;
  const auto add = [&](size_t n) {
    if (n < inst.src.size() && inst.src[n].is_reg()) all.push_back(static_cast<uint8_t>(n));
  };
  if (role == Role::access && inst.op == Op::store)
    for (size_t n = 1; n <= inst.mem->count; ++n) add(n);
  if (role == Role::barrier) {
    add(0);
    add(1);
  }
  if (role == Role::meeting) add(static_cast<size_t>(ir::member_operand(inst.op)));
  return all;
}

class Numbering {
 public:
  explicit Numbering(ir::Program& program) : program_(program) {}

  RacePlan run() {
    for (ir::Block& block : program_.blocks) {
      block_.clear();
      for (ir::Inst& inst : block.insts) {
        inst.event = 0;
        add(std::move(inst));
      }
      block.insts = std::move(block_);
    }
    Plan& plan = out_.plan;
    plan.code_bits = static_cast<uint32_t>(std::bit_width(plan.points.size() + 1));
    if (plan.code_bits > 16)
      throw Error(ErrorKind::guest, "kernel " + program_.name + " has " +
                                        std::to_string(plan.points.size()) +
                                        " places that the check of races records; 65534 are the "
                                        "most: use the reference engine");
    return std::move(out_);
  }

 private:
  void add(ir::Inst inst) {
    if (is_access(inst)) return add(std::move(inst), Role::access);
    if (inst.op == Op::fence && inst.mem && inst.mem->scope != ir::Scope::none)
      return add(std::move(inst), Role::fence);
    if (inst.op == Op::barrier) return add(std::move(inst), Role::barrier);
    if (ir::member_operand(inst.op) >= 0 && program_.isa == ir::Isa::ptx)
      return add(std::move(inst), Role::meeting);
    block_.push_back(std::move(inst));
  }

  void add(ir::Inst inst, Role role) {
    for (const uint8_t n : recorded_operands(inst, role)) {
      ir::Inst word = marker(Op::cachectl, inst);
      word.mode = static_cast<uint8_t>(ir::CacheCtl::policy_word);
      word.src = {inst.src[n]};
      // A word of 32 bits is one of a space with such addresses.
      if (program_.regs[inst.src[n].index].width != ir::Width::b64)
        word.mem->space = ir::Space::local;
      number(word, inst, Role::operand, n);
      block_.push_back(std::move(word));
    }
    if (role == Role::access || role == Role::fence) {
      const ir::Inst whole = inst;
      number(inst, whole, role, 0);
    } else {
      ir::Inst here = marker(Op::fence, inst);
      number(here, inst, role, 0);
      block_.push_back(std::move(here));
    }
    block_.push_back(std::move(inst));
  }

  void number(ir::Inst& inst, const ir::Inst& whole, Role role, uint8_t operand) {
    out_.plan.points.push_back(make_point(inst));
    out_.points.push_back({role, operand, whole});
    inst.event = static_cast<uint32_t>(out_.plan.points.size());
    inst.mem->pointer = ir::kNone;
  }

  ir::Program& program_;
  RacePlan out_;
  std::vector<ir::Inst> block_;
};

}  // namespace

RacePlan number_for_races(ir::Program& program) {
  const bool loops = has_loops(program);
  ir::PointerParams pointers = ir::find_pointers(program);
  RacePlan out = Numbering(program).run();
  out.plan.loops = loops;
  out.plan.pointers = std::move(pointers);
  return out;
}

}  // namespace lanewise::events
