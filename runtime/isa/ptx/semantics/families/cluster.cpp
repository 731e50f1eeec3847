// Barriers in memory (semantics/async), clusters, memory of many devices.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using K = Operand::Kind;

/// An ordering needs a scope and the other way round; what they need themselves.
void ordering(Context& c) {
  const bool sem = c.has("sem"), scope = c.has("scope");
  if (sem != scope)
    c.error(sem ? "`." + std::string(c.get("sem")) + "` without a scope, one was expected"
                : "a scope without an ordering, one was expected with it");
  if (sem) c.need(c.get("sem") == "relaxed" ? 90 : 80, 80, "`." + std::string(c.get("sem")) + "`");
  if (c.get("scope") == "cluster") c.need(90, 80, "`.cluster`");
}

/// By a generic address, too, the variable of a barrier lies in shared memory.
void barrier_place(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const legal::Symbol s = c.symbol(o);
  c.near_address(i, c.get("ss"));
  if (c.old() || c.has("ss") || s.kind != legal::Symbol::Kind::variable) return;
  if (s.variable->space == "global" || s.variable->space == "local")
    c.found(o, " as barrier, a .shared variable was expected");
}

void state(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const bool remote = c.get("ss") == "shared::cluster";
  if (o.kind == K::sink && o.pair.empty()) return;
  if (remote) c.error(o, "a state of a barrier of another group, `_` was expected");
  c.register_of(o, kU64, Fit::exact);
}

void arrive(Context& c) {
  ordering(c);
  const bool counted = c.has("expect_tx") || c.has("noComplete");
  if (c.has("expect_tx")) c.need(90, 80, "`.expect_tx`");
  if (c.get("ss") == "shared::cluster") {
    c.need(90, 80, "`.shared::cluster`");
    if (c.has("noComplete")) c.error("`.noComplete` with `.shared::cluster`");
  }
  if (c.has("noComplete") && c.get("scope") == "cluster")
    c.error("`.noComplete` with `.cluster`, `.cta` was expected");
  if (c.has("noComplete") && c.get("sem") == "relaxed")
    c.error("`.noComplete` with `.relaxed`, `.release` was expected");
  if (c.has("noComplete") && c.has("expect_tx"))
    c.error("`.noComplete` with `.expect_tx`, one of them was expected");
  if (!c.count(counted ? 3 : 2, 3)) return;
  state(c, 0);
  barrier_place(c, 1);
  if (c.in.operands.size() == 2) return;
  if (!counted) c.need(90, 78, "a count without `.noComplete`");
  const Operand& n = c.in.operands[2];
  if (n.kind == K::integer && (static_cast<int64_t>(n.bits) < 0 || n.bits > 0xfffff) &&
      !c.has("expect_tx"))
    c.error(n, "the count " + std::to_string(static_cast<int64_t>(n.bits)) +
                   ", less than 1048576 was expected");
  c.value_of(n, kU32, Fit::exact);
}

void wait(Context& c) {
  ordering(c);
  const bool tries = c.has("try_wait");
  if (!c.count(3, tries ? 4 : 3)) return;
  c.predicate_of(c.in.operands[0], true);
  barrier_place(c, 1);
  const Operand& o = c.in.operands[2];
  if (c.has("parity")) {
    if (o.kind == K::integer && o.bits > 1) c.error(o, "a parity above 1, 0 or 1 was expected");
    c.value_of(o, kU32, Fit::exact);
  } else {
    c.value_of(o, kU64, Fit::exact);
  }
  if (c.in.operands.size() == 4) c.value_of(c.in.operands[3], kU32, Fit::exact);
}

void set_up(Context& c) {
  barrier_place(c, 0);
}
void transfer(Context& c) {
  ordering(c);
  barrier_place(c, 0);
}

/// A hint to hardware, which has no value.
void keep_registers(Emit&) {}

void registers_count(Context& c) {
  const Operand& n = c.in.operands[0];
  if (n.bits < 24 || n.bits > 256 || n.bits % 8 != 0)
    c.error(n, std::to_string(n.bits) + " registers, a multiple of 8 from 24 to 256 was expected");
}

// --- memory of many devices
// -----------------------------------------------------------------------

/// Halves and pairs travel in untyped registers.
PType element_type(Context& c) {
  const std::string_view name = c.get("type");
  const PType t = c.type();
  if (name.starts_with('e'))
    return {PType::Class::bits, name.ends_with("x4") ? 32U : name.ends_with("x2") ? 16U : 8U};
  if (t.is_float() && (t.packed ? t.alternative : t.bits == 16)) return t.untyped();
  return t;
}

void multi(Context& c) {
  const std::string_view sem = c.get("sem");
  const bool strong = !sem.empty() && sem != "weak";
  if (strong != c.has("scope"))
    c.error(strong ? "`." + std::string(sem) + "` without a scope, one was expected"
                   : "a scope without an ordering, `.relaxed` or stronger was expected with it");
  if (!c.count(2, 2)) return;
  const bool loads = c.has("ld_reduce");
  const PType t = element_type(c);
  const unsigned n = c.has("vec") ? static_cast<unsigned>(c.get("vec")[1] - '0') : 1;
  if (t.bits * n > 128) c.error("a vector of more than 128 bits, fewer were expected");
  c.address(loads ? 1 : 0, "global");
  const size_t data = loads ? 0 : 1;
  const Operand& o = c.in.operands[data];
  if (n > 1) {
    c.vector_of(o, t, n, Fit::exact, !loads, false);
  } else if (loads) {
    c.register_of(o, t, Fit::exact);
  } else {
    c.value_of(o, t, Fit::exact);
  }
}

constexpr const char* kDevices = "memory of several devices is not supported";

constexpr Row device(const char* pattern) {
  return {"multimem@90.81", pattern, multi, kDevices};
}

#define LW_TINY "e4m3x4@100a.86|e5m2x4@100a.86"
#define LW_TINY2 "e4m3x2@100a.86|e5m2x2@100a.86"
#define LW_TINY1 "e4m3@100a.86|e5m2@100a.86"
#define LW_LOAD "^ld_reduce ?sem:weak|relaxed|acquire ?scope:cta|cluster|gpu|sys ?ss:global "
#define LW_SEND "^red ?sem:relaxed|release ?scope:cta|cluster|gpu|sys ?ss:global "
#define LW_SAVE "^st ?sem:weak|relaxed|release ?scope:cta|cluster|gpu|sys ?ss:global "

// --- stores and reductions that report to a barrier
// -----------------------------------------------

/// The assembler takes one value for a vector, and does not count the elements without `.v2`.
void store_reporting(Context& c) {
  if (c.has("scope") && (c.has("sem") || c.get("ss") == "shared::cta"))
    c.error("`.cluster` with " + std::string(c.has("sem") ? "`.weak`" : "`.shared::cta`") +
            ", it was expected without");
  if (!c.count(2, 3)) return;
  c.near_address(0, c.get("ss"));
  const Operand& o = c.in.operands[1];
  if (o.kind == K::vector && !c.count(3, 3)) return;
  if (o.kind == K::vector) {
    const size_t n = o.elements.size();
    const bool free = !c.type().is_untyped() && !c.has("vec") && (n == 2 || n == 4);
    if (!free && (n != c.vector() || c.type().bits * n > 128))
      c.error(o, "a vector of another size, 1, 2 or 4 was expected");
    c.vector_of(o, c.type(), static_cast<unsigned>(n), Fit::exact, true, false);
  } else {
    c.source(1, c.type(), Fit::exact);
  }
  if (c.in.operands.size() > 2) c.near_address(2, "shared");
}

void reduce_reporting(Context& c) {
  c.refuse_narrow(0);
  if (c.in.operands.size() > 2) c.refuse_narrow(2);
}

void store_global(Context& c) {
  if (c.get("sem") == "weak" && c.has("scope")) c.error("`.weak` with a scope, none was expected");
  if (c.get("sem") == "release" && !c.has("scope")) c.error("`.release` without a scope");
  if (c.has("mmio") && c.get("sem") != "release") c.error("`.mmio` without `.release`");
}

constexpr const char* kAsync = "asynchronous stores to global memory are not supported";

#define LW_RED "^async sem:relaxed scope:cluster ?ss:shared::cluster mbarrier::complete_tx::bytes "

constexpr const char* kCluster = "thread block clusters are not supported";

#define LW_NEAR "?ss:shared|shared::cta@.78 type:b64"
#define LW_ANY "?ss:shared|shared::cta@.78|shared::cluster type:b64"
#define LW_RELEASE "?sem:release|relaxed ?scope:cta|cluster "
#define LW_ACQUIRE "?sem:acquire|relaxed ?scope:cta|cluster "

constexpr Row kClusterRows[] = {
    {"mbarrier@80.70", "^init " LW_NEAR, judged("x m:u32", set_up), mbarrier_init},
    {"mbarrier@80.70", "^inval " LW_NEAR, judged("x", set_up), mbarrier_inval},
    {"mbarrier@80.70", "^arrive ?^expect_tx " LW_RELEASE LW_ANY, arrive, mbarrier_arrive},
    {"mbarrier@80.70", "^arrive ?noComplete " LW_RELEASE LW_ANY, arrive, mbarrier_arrive},
    {"mbarrier@80.70", "^arrive_drop ?^expect_tx " LW_RELEASE LW_ANY, arrive, mbarrier_arrive},
    {"mbarrier@80.70", "^arrive_drop ?noComplete " LW_RELEASE LW_ANY, arrive, mbarrier_arrive},
    {"mbarrier@90.80", "^expect_tx ?sem:relaxed ?scope:cta|cluster " LW_ANY,
     judged("x m:u32", transfer), mbarrier_transfer},
    {"mbarrier@90.80", "^complete_tx ?sem:relaxed ?scope:cta|cluster " LW_ANY,
     judged("x m:u32", transfer), mbarrier_transfer},
    {"mbarrier@80.70", "^test_wait ?^parity " LW_ACQUIRE LW_NEAR, wait, mbarrier_wait},
    {"mbarrier@90.78", "^try_wait ?^parity " LW_ACQUIRE LW_NEAR, wait, mbarrier_wait},
    {"mbarrier@80.70", "^pending_count type:b64", "d:u32 r:u64", mbarrier_pending},
    {"cp@80.70", "^async ^mbarrier ^arrive ?noinc " LW_NEAR, "A", mbarrier_after_copies},

    device(LW_LOAD "op:min|max type:u32|s32|u64|s64"),
    device(LW_LOAD "op:add type:u32|s32|u64|f64"),
    device(LW_LOAD "op:add ?vec:v2|v4 type:f32"),
    device(LW_LOAD "op:and|or|xor type:b32|b64"),
    device(LW_LOAD "op:min|max vec:v2|v4|v8 type:f16|bf16"),
    device(LW_LOAD "op:min|max ?vec:v2|v4 type:f16x2|bf16x2"),
    device(LW_LOAD "op:add ?acc:acc::f32 vec:v2|v4|v8 type:f16|bf16"),
    device(LW_LOAD "op:add ?acc:acc::f32 ?vec:v2|v4 type:f16x2|bf16x2"),
    device(LW_LOAD "op:min|max vec:v4|v8|v16 type:" LW_TINY1),
    device(LW_LOAD "op:min|max vec:v2|v4|v8 type:" LW_TINY2),
    device(LW_LOAD "op:min|max ?vec:v2|v4 type:" LW_TINY),
    device(LW_LOAD "op:add ?acc:acc::f16 vec:v4|v8|v16 type:" LW_TINY1),
    device(LW_LOAD "op:add ?acc:acc::f16 vec:v2|v4|v8 type:" LW_TINY2),
    device(LW_LOAD "op:add ?acc:acc::f16 ?vec:v2|v4 type:" LW_TINY),
    device(LW_SEND "op:min|max type:u32|s32|u64|s64"),
    device(LW_SEND "op:add type:u32|s32|u64|f64"),
    device(LW_SEND "op:add ?vec:v2|v4 type:f32"),
    device(LW_SEND "op:and|or|xor type:b32|b64"),
    device(LW_SEND "op:add|min|max vec:v2|v4|v8 type:f16|bf16"),
    device(LW_SEND "op:add ?vec:v2|v4 type:f16x2|bf16x2"),
    device(LW_SEND "op:min|max vec:v2|v4 type:f16x2|bf16x2"),
    device(LW_SAVE "type:b32|b64|u32|u64|s32|s64|f64"),
    device(LW_SAVE "?vec:v2|v4 type:f32"),
    device(LW_SAVE "vec:v2|v4|v8 type:f16|bf16"),
    device(LW_SAVE "?vec:v2|v4 type:f16x2|bf16x2"),
    device(LW_SAVE "vec:v4|v8|v16 type:" LW_TINY1),
    device(LW_SAVE "vec:v2|v4|v8 type:" LW_TINY2),
    device(LW_SAVE "?vec:v2|v4 type:" LW_TINY),

    {"st@90.81",
     "^async ~sem:weak ~scope:cluster ?ss:shared::cluster|shared::cta mbarrier::complete_tx::bytes "
     "~vec:v2|v4 type:b32|b64|u32|u64|s32|s64|f32|f64",
     store_reporting, store_async},
    {"st@90.81", "^async ?sem:weak ss:shared::cta ~vec:v2|v4 type:b32|b64|u32|u64|s32|s64|f32|f64",
     store_reporting, kAsync},
    {"st@100.87",
     "^async ?mmio ?sem:weak|release ?scope:gpu|sys ss:global "
     "type:b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     judged("A:global m", store_global), kAsync},
    {"st@100.86", "^bulk ?sem:weak ?ss:shared::cta", "A s:u64 i:0", kAsync},
    {"red@90.81", LW_RED "op:inc|dec type:u32", judged("A s ?A", reduce_reporting), reduce_async},
    {"red@90.81", LW_RED "op:min|max type:u32|s32", judged("A s ?A", reduce_reporting),
     reduce_async},
    {"red@90.81", LW_RED "op:add type:u32|s32|u64", judged("A s ?A", reduce_reporting),
     reduce_async},
    {"red@90.81", LW_RED "op:and|or|xor type:b32", judged("A s ?A", reduce_reporting),
     reduce_async},
    {"red@100.87", "^async ?mmio sem:release scope:gpu|sys ss:global op:add type:u32|s32|u64|s64",
     "A:global s", kAsync},

    {"setmaxnreg@90a.80", "^action:inc|dec sync+ aligned type:u32|s32",
     judged("i", registers_count), keep_registers},
    {"clusterlaunchcontrol@100.86",
     "^try_cancel ^async ?ss:shared::cta mbarrier::complete_tx::bytes "
     "?multicast::cluster::all@100a.86 type:b128",
     "A:shared A:shared", kCluster},
    {"clusterlaunchcontrol@100.86", "^query_cancel is_canceled dtype:pred type:b128", "d:$dtype r",
     kCluster},
    {"clusterlaunchcontrol@100.86",
     "^query_cancel what:get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z dtype:b32 "
     "type:b128",
     "d:$dtype r", kCluster},
    {"clusterlaunchcontrol@100.86", "^query_cancel get_first_ctaid v4 dtype:b32 type:b128",
     "w4:$dtype r", kCluster},
};

}  // namespace

constinit Rows cluster_rows = kClusterRows;

}  // namespace lanewise::ptx
