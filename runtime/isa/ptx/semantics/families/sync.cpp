// Barriers of the group, fences.
#include "runtime/ir/wave_ops.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

void barrier(Emit& e, ir::BarrierKind kind, std::vector<ir::Reg> dst,
             std::vector<ir::Operand> src) {
  ir::Inst& inst = e.emit(ir::Op::barrier, ir::Type::none, std::move(dst), std::move(src));
  inst.mode = static_cast<uint8_t>(kind);
  // `bar` is `barrier.aligned`.
  if (e.inst.opcode.starts_with("barrier") && !e.has("aligned")) ir::let_come_apart(inst);
}

/// Compilers and libraries give out low numbers.
constexpr uint32_t kClusterBarrier = 15;

/// Barrier 15 as both would let lanes meet that must not.
void keep_apart(Emit& e) {
  if (e.kernel.cluster_waits && e.kernel.may_take_15)
    Emit::fail(e.inst.loc,
               "`barrier.cluster` waits at barrier 15, which another instruction of the kernel "
               "names or may name; "
               "give that one a constant number below 15");
}

ir::Operand barrier_id(Emit& e, size_t i) {
  if (e.is_constant(i) && e.operand(i).bits > 15)
    Emit::fail(e.operand(i).loc, "there are barriers 0 to 15");
  if (!e.is_constant(i) || e.operand(i).bits == kClusterBarrier) e.kernel.may_take_15 = true;
  keep_apart(e);
  return e.raw(i, kU32);
}

ir::Operand thread_count(Emit& e, size_t i) {
  if (e.is_constant(i) && (e.operand(i).bits % 32 != 0 || e.operand(i).bits == 0))
    Emit::fail(e.operand(i).loc, "the thread count must be a multiple of 32");
  return e.raw(i, kU32);
}

void sync(Emit& e) {
  const ir::Operand id = barrier_id(e, 0);
  barrier(e, ir::BarrierKind::sync, {}, {id, e.count() == 2 ? thread_count(e, 1) : imm(0)});
}

void arrive(Emit& e) {
  const ir::Operand id = barrier_id(e, 0);
  barrier(e, ir::BarrierKind::arrive, {}, {id, thread_count(e, 1)});
}

void reduce(Emit& e) {
  const bool counts = e.get("op") == "popc";
  const ir::Operand id = barrier_id(e, 1);
  const ir::Operand threads = e.count() == 4 ? thread_count(e, 2) : imm(0);
  const ir::Operand p = e.pred(e.count() - 1);
  const ir::Reg result = e.temp(counts ? ir::Width::b32 : ir::Width::pred);
  barrier(e,
          counts                 ? ir::BarrierKind::red_popc
          : e.get("op") == "and" ? ir::BarrierKind::red_and
                                 : ir::BarrierKind::red_or,
          {result}, {id, threads, p});
  e.set(0, counts ? kU32 : kPred, result);
}

// A cluster has one group, whose lanes meet where they wait. On hardware they pass once all have
// arrived, which is earlier: a lane that between its two instructions waits for what another one
// does behind them waits forever here.
void cluster_arrive(Emit&) {}
void cluster_wait(Emit& e) {
  e.kernel.cluster_waits = true;
  keep_apart(e);
  barrier(e, ir::BarrierKind::sync, {}, {imm(kClusterBarrier), imm(0)});
}

void fence(Emit& e, ir::Order order, ir::Scope scope) {
  ir::Mem mem;
  mem.order = order;
  mem.scope = scope;
  e.emit(ir::Op::fence, ir::Type::none, {}, {}).mem = mem;
}

void fence_scoped(Emit& e) {
  const bool membar = e.inst.opcode == "membar";
  fence(e, order_named(e.get("sem"), membar ? ir::Order::seq_cst : ir::Order::acq_rel),
        scope_named(e.get("scope")));
}

/// Nothing here has proxies with caches of their own: ordering everything is enough.
void fence_proxy(Emit& e) {
  fence(e, ir::Order::acq_rel, e.has("scope") ? scope_named(e.get("scope")) : ir::Scope::sys);
}

constexpr Row kSyncRows[] = {
    {"bar", "?^cta sync+", "b ?t", sync},
    {"bar", "?^cta ^arrive", "b t", arrive},
    {"bar", "?^cta ^red op:popc type:u32", "d b p", reduce},
    {"bar", "?^cta ^red op:popc type:u32", "d b t p", reduce},
    {"bar", "?^cta ^red op:and|or type:pred", "d b p", reduce},
    {"bar", "?^cta ^red op:and|or type:pred", "d b t p", reduce},
    {"barrier", "?^cta sync+ ?aligned", "b ?t", sync},
    {"barrier", "?^cta ^arrive ?aligned", "b t", arrive},
    {"barrier", "?^cta ^red op:popc ?aligned type:u32", "d b p", reduce},
    {"barrier", "?^cta ^red op:popc ?aligned type:u32", "d b t p", reduce},
    {"barrier", "?^cta ^red op:and|or ?aligned type:pred", "d b p", reduce},
    {"barrier", "?^cta ^red op:and|or ?aligned type:pred", "d b t p", reduce},
    {"barrier@90.78", "^cluster ^arrive ?sem:release@.80|relaxed@.80 ?aligned", "", cluster_arrive},
    {"barrier@90.78", "^cluster ^wait ?acquire@.80 ?aligned", "", cluster_wait},
    {"membar", "scope:cta|gl|sys", "", fence_scoped},
    {"membar@70.75", "^proxy alias", "", fence_proxy},
    {"fence@70.75", "^proxy alias ~restrict:$restrict!", "", fence_proxy},
    {"fence@90.80", "^proxy async ?ss:global|shared::cta|shared::cluster ~restrict:$restrict!", "",
     fence_proxy},
    {"fence@90.83", "^proxy tensormap::generic sem:acquire scope:$scope", "A i:128", fence_proxy},
    {"fence@90.83", "^proxy tensormap::generic sem:release scope:$scope", "", fence_proxy},
    {"fence@90.80", "sem:acquire sync_restrict::shared::cluster scope:cluster", "", fence_scoped},
    {"fence@90.80", "sem:release sync_restrict::shared::cta scope:cluster", "", fence_scoped},
    {"fence@90.86",
     "^proxy async::generic sem:acquire sync_restrict::shared::cluster scope:cluster", "",
     fence_proxy},
    {"fence@90.86", "^proxy async::generic sem:release sync_restrict::shared::cta scope:cluster",
     "", fence_proxy},
    {"fence@90.80", "mbarrier_init sem:release scope:cluster", "", fence_scoped},
    {"fence@70.60", "?sem:sc|acq_rel|acquire@.80|release@.80 scope:$scope", "", fence_scoped},
};

}  // namespace

constinit Rows sync_rows = kSyncRows;

}  // namespace lanewise::ptx
