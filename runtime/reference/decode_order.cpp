#include "runtime/reference/decode_order.hpp"

#include <algorithm>
#include <optional>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/reference/memory/memory.hpp"

namespace lanewise::reference {
namespace {

using ir::Inst;
using ir::Op;
using ir::Space;
using ir::SReg;

template <typename Visit>
void for_each_inst(const ir::Program& program, Visit visit) {
  for (const ir::Block& block : program.blocks)
    for (const Inst& inst : block.insts) visit(inst);
}

bool same_in_every_group(SReg reg) {
  return !(reg >= SReg::ctaid_x && reg <= SReg::ctaid_z) &&
         !(reg >= SReg::clock && reg <= SReg::globaltimer);
}

/// A load of parameters that no launch can refuse.
bool loads_parameter(const ir::Program& program, const Inst& inst) {
  if (inst.op != Op::load || !inst.mem || inst.mem->space != Space::param || inst.src.empty() ||
      !inst.src[0].is_imm() || inst.mem->align == ir::AlignRule::force)
    return false;
  const uint64_t address = (inst.src[0].imm + static_cast<uint64_t>(inst.mem->offset)) & 0xffffffff;
  const uint32_t bytes = inst.mem->bytes();
  const uint64_t low = alignment_mask(inst.mem->alignment());
  return address + bytes <= program.param_bytes && (address & low) == 0;
}

bool is_commutative(const ir::Mem& mem) {
  using ir::AtomOp;
  constexpr AtomOp kOps[] = {AtomOp::add,  AtomOp::sub, AtomOp::min, AtomOp::max,
                             AtomOp::and_, AtomOp::or_, AtomOp::xor_};
  return std::ranges::find(kOps, mem.atom) != std::end(kOps) && !ir::is_float(mem.atom_type) &&
         mem.atom_type != ir::Type::bf16;
}

}  // namespace

std::vector<bool> done_once(const ir::Program& program) {
  if (program.blocks.empty()) return {};
  std::vector<uint32_t> writes(program.regs.size());
  for_each_inst(program, [&](const Inst& inst) {
    for (const ir::Reg r : inst.dst)
      if (r.valid() && r.id < writes.size()) ++writes[r.id];
  });
  const std::vector<Inst>& insts = program.blocks[0].insts;
  std::vector<bool> once(insts.size()), read(program.regs.size()), known(program.regs.size());
  for (size_t i = 0; i < insts.size(); ++i) {
    const Inst& inst = insts[i];
    const bool pure =
        ir::info(inst.op).trait == ir::OpTrait::pure || loads_parameter(program, inst);
    const bool fixed = inst.op != Op::sreg || same_in_every_group(static_cast<SReg>(inst.mode));
    once[i] = pure && fixed && inst.guard.always() && inst.event == 0 &&
              std::ranges::all_of(inst.src,
                                  [&](const ir::Operand& o) {
                                    return o.is_imm() ||
                                           (o.is_reg() && o.index < known.size() && known[o.index]);
                                  }) &&
              std::ranges::all_of(inst.dst, [&](ir::Reg r) {
                return r.id < writes.size() && writes[r.id] == 1 && !read[r.id];
              });
    if (once[i])
      for (const ir::Reg r : inst.dst) known[r.id] = true;
    ir::for_each_use(inst, [&](uint32_t r) {
      if (r < read.size()) read[r] = true;
    });
  }
  // A first block that is run again would find what was written behind it.
  for (const ir::Block& block : program.blocks)
    if (std::ranges::find(block.term.targets, 0U) != block.term.targets.end()) return {};
  return once;
}

bool reads_clocks(const ir::Program& program) {
  bool found = false;
  for_each_inst(program, [&](const Inst& inst) {
    const auto reg = static_cast<SReg>(inst.mode);
    found = found || (inst.op == Op::sreg && reg >= SReg::clock && reg <= SReg::globaltimer);
  });
  return found;
}

std::vector<uint32_t> meeting_order(const ir::Program& program) {
  ir::Graph graph = ir::block_graph(program);
  const ir::BlockOrder order = ir::reverse_postorder(graph);
  const ir::DomTree dom = ir::dominators(graph);
  std::optional<ir::Loops> loops;
  if (ir::reducible(graph, order, dom)) loops = ir::loops(graph, order, dom);
  const auto depth = [&](uint32_t b) {
    const uint32_t header = loops ? loops->header[b] : ir::kNone;
    return header == ir::kNone ? 0U : loops->depth[header];
  };
  // A search in depth that goes first where loops are left: what ends first comes last.
  for (auto& to : graph.succs) std::ranges::stable_sort(to, {}, depth);
  std::vector<uint32_t> met = ir::reverse_postorder(graph).nodes;
  // Blocks that nothing leads to stand behind all others.
  for (uint32_t b = 0; b < program.blocks.size(); ++b)
    if (!order.reachable(b)) met.push_back(b);
  return met;
}

OrderSeen order_seen(const ir::Program& program) {
  OrderSeen seen;
  std::optional<ir::AtomOp> only;
  for_each_inst(program, [&](const Inst& inst) {
    if (inst.op == Op::fence) seen.groups = true;
    if (inst.op != Op::load && inst.op != Op::store && inst.op != Op::atom) return;
    const ir::Mem& mem = *inst.mem;
    const bool own = mem.space == Space::shared || mem.space == Space::local;
    if (inst.op != Op::atom) {
      if (mem.order != ir::Order::weak) seen.lanes = true;
      if (!own && ir::is_strong(inst)) seen.groups = true;
      return;
    }
    // Sums, bits, bounds: each alone ends in one value, whoever comes first.
    const bool alone = !only || *only == mem.atom;
    only = mem.atom;
    const bool order = !inst.dst.empty() || !is_commutative(mem) || !alone;
    const bool words =
        mem.count == 1 && ir::size_of(mem.elem) >= 4 && mem.align != ir::AlignRule::any;
    seen.lanes = seen.lanes || order;
    seen.groups = seen.groups || (!own && (order || !words));
  });
  return seen;
}

}  // namespace lanewise::reference
