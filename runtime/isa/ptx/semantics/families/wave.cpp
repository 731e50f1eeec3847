// Instructions that talk to the other lanes of the warp.
#include "runtime/ir/wave_ops.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr uint64_t kActiveLanes = 0xffffffff;

/// Forms without .sync concern the lanes that are active, and wait for no others.
ir::Operand members(Emit& e, size_t i) {
  if (e.has("sync")) return e.raw(i, kB32);
  if (!e.kernel.program.rendezvous) return imm(kActiveLanes);
  return e.op(Op::activemask, Type::none, {});
}

void check_count(Emit& e, size_t without_mask) {
  const size_t wanted = without_mask + (e.has("sync") ? 1 : 0);
  if (e.count() != wanted)
    e.fail("'" + e.inst.opcode + "' in this form takes " + std::to_string(wanted) +
           " operands, found " + std::to_string(e.count()));
}

void shfl(Emit& e) {
  check_count(e, 4);
  const std::string_view name = e.get("mode");
  const auto mode = name == "up"     ? ir::ShflMode::up
                    : name == "down" ? ir::ShflMode::down
                    : name == "bfly" ? ir::ShflMode::bfly
                                     : ir::ShflMode::idx;
  const ir::Operand a = e.raw(1, kB32), b = e.raw(2, kB32), c = e.raw(3, kB32);
  const ir::Operand mask = members(e, 4);
  const ir::Reg value = e.temp(ir::Width::b32), valid = e.temp(ir::Width::pred);
  ir::Inst& inst = e.emit(Op::shfl, Type::none, {value, valid}, {a, b, c, mask});
  inst.mode = static_cast<uint8_t>(mode);
  if (!e.has("sync")) ir::let_come_apart(inst);
  if (!e.is_sink(0)) e.set(0, kB32, value);
  e.set_pair(0, kPred, valid);
}

template <Op kOp>
void vote(Emit& e) {
  check_count(e, 2);
  constexpr bool kBallot = kOp == Op::vote_ballot;
  const ir::Operand p = e.pred(1), mask = members(e, 2);
  const ir::Reg result = e.temp(kBallot ? ir::Width::b32 : ir::Width::pred);
  ir::Inst& inst = e.emit(kOp, Type::none, {result}, {p, mask});
  if (!e.has("sync")) ir::let_come_apart(inst);
  e.set(0, kBallot ? kB32 : kPred, result);
}

void match_any(Emit& e) {
  const PType t = e.type();
  const ir::Operand value = e.raw(1, t);
  e.set(0, kB32, e.op(Op::match_any, t.ir(), {value, e.raw(2, kB32)}));
}

void match_all(Emit& e) {
  const PType t = e.type();
  const ir::Operand value = e.raw(1, t), mask = e.raw(2, kB32);
  const ir::Reg same = e.temp(ir::Width::b32), all = e.temp(ir::Width::pred);
  e.emit(Op::match_all, t.ir(), {same, all}, {value, mask});
  e.set(0, kB32, same);
  e.set_pair(0, kPred, all);
}

void redux(Emit& e) {
  const PType t = e.type();
  ir::Mem mem;
  mem.atom = atomic_operation(e.get("op"));
  mem.atom_type = t.ir();
  const ir::Operand value = e.raw(1, t), mask = e.raw(2, kB32);
  const ir::Reg result = e.temp(ir::Width::b32);
  e.emit(Op::redux, t.ir(), {result}, {value, mask}).mem = mem;
  e.set(0, t, result);
}

void activemask(Emit& e) {
  e.set(0, kB32, e.op(Op::activemask, Type::none, {}));
}

void elect(Emit& e) {
  const ir::Operand mask = e.raw(1, kB32);
  const ir::Reg leader = e.temp(ir::Width::b32), chosen = e.temp(ir::Width::pred);
  e.emit(Op::elect, Type::none, {leader, chosen}, {mask});
  e.set(0, kB32, leader);
  e.set_pair(0, kPred, chosen);
}

void warp_sync(Emit& e) {
  e.emit(Op::wave_sync, Type::none, {}, {e.raw(0, kB32)});
}

constexpr Row kWaveRows[] = {
    {"shfl@30.60", "sync+ mode:up|down|bfly|idx type:b32", "d| s s s s:u32", shfl},
    {"shfl@<70", "mode:up|down|bfly|idx type:b32", "d| s s s", shfl, "", isa::Claim::effect},
    {"vote@30.60", "sync+ op:any type:pred", "d p s:u32", vote<Op::vote_any>},
    {"vote@30.60", "sync+ op:all type:pred", "d p s:u32", vote<Op::vote_all>},
    {"vote@30.60", "sync+ op:uni+ type:pred", "d p s:u32", vote<Op::vote_uni>},
    {"vote@30.60", "sync+ op:ballot type:b32", "d p s:u32", vote<Op::vote_ballot>},
    {"vote@<70", "op:any type:pred", "d p", vote<Op::vote_any>, "", isa::Claim::effect},
    {"vote@<70", "op:all type:pred", "d p", vote<Op::vote_all>, "", isa::Claim::effect},
    {"vote@<70", "op:uni+ type:pred", "d p", vote<Op::vote_uni>, "", isa::Claim::effect},
    {"vote@<70", "op:ballot type:b32", "d p", vote<Op::vote_ballot>, "", isa::Claim::effect},
    {"match@70.60", "any sync+ type:b32|b64", "d:u32 s s:u32", match_any},
    {"match@70.60", "all sync+ type:b32|b64", "d|:u32 s s:u32", match_all},
    {"redux@80.70", "sync+ op:add|min|max type:u32|s32", "d:u32 s:u32 s:u32", redux},
    {"redux@80.70", "sync+ op:and|or|xor type:b32", "d:u32 s:u32 s:u32", redux},
    {"activemask@30.62", "type:b32", "d", activemask},
    {"elect@90.80", "sync+", "d_+:u32 s:u32", elect},
    {"bar@30.60", "^warp sync+", "s:u32", warp_sync},
};

}  // namespace

constinit Rows wave_rows = kWaveRows;

}  // namespace lanewise::ptx
