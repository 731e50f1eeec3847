// Orderings become atomics and barriers with memory semantics, never `Volatile` accesses.
#include <doctest/doctest.h>

#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Order;
using ir::Scope;
using ir::Space;
using ir::Type;

namespace {

size_t count_of(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// The module of one access, inlined and folded so that only what runs is left.
std::string text_of(Op op, Space space, Order order, Scope scope,
                    const ir::CachePolicy& cache = {}) {
  Kernel k;
  k.program.param_bytes = 16;
  k.program.shared_bytes = 64;
  const ir::Reg address = k.param64(0);
  if (op == Op::fence) {
    ir::Mem mem;
    mem.order = order;
    mem.scope = scope;
    k.b.emit(op, Type::none, {}, {}).mem = mem;
  } else {
    const ir::Operand at = space == Space::shared ? ir::imm(8) : ir::Operand(address);
    const ir::Reg value = k.b.reg(ir::Width::b32);
    ir::Inst& inst = op == Op::load ? k.memory(op, space, Type::u32, 1, {value}, {at})
                                    : k.memory(op, space, Type::u32, 1, {}, {at, ir::imm(5)});
    inst.mem->order = order;
    inst.mem->scope = scope;
    inst.mem->cache = cache;
    if (op == Op::load) k.memory(Op::store, Space::global, Type::u32, 1, {}, {address, value});
  }
  k.b.exit();
  spirv::Target target = tier1();
  target.quirks.folds_nothing = true;
  target.quirks.runs_both_sides = true;  // one version of the access
  const spirv::Module module = spirv::translate(k.program, block_of(32), target);
  CHECK(spirv::validate(module.words) == "");
  return spirv::disassemble(module.words);
}

struct Counts {
  size_t loads, stores, barriers, volatiles;
};
Counts counts(Op op, Space space, Order order, Scope scope = Scope::gpu,
              const ir::CachePolicy& cache = {}) {
  const std::string text = text_of(op, space, order, scope, cache);
  return {count_of(text, "OpAtomicLoad "), count_of(text, "OpAtomicStore "),
          count_of(text, "OpMemoryBarrier "), count_of(text, "Volatile")};
}

}  // namespace

TEST_CASE("strong loads and stores are atomic accesses, weak ones are not") {
  for (const Space space : {Space::global, Space::shared}) {
    CAPTURE(ir::name(space));
    const Counts load = counts(Op::load, space, Order::weak);
    const Counts store = counts(Op::store, space, Order::weak);
    for (const Order order : {Order::relaxed, Order::volatile_, Order::mmio}) {
      CAPTURE(ir::name(order));
      const Counts strong_load = counts(Op::load, space, order);
      CHECK(strong_load.loads == load.loads + 1);
      CHECK(strong_load.barriers == load.barriers);
      CHECK(strong_load.volatiles == 0);
      const Counts strong_store = counts(Op::store, space, order);
      CHECK(strong_store.stores == store.stores + 1);
      CHECK(strong_store.barriers == store.barriers);
      CHECK(strong_store.volatiles == 0);
    }
    const Counts acquire = counts(Op::load, space, Order::acquire);
    CHECK(acquire.loads == load.loads + 1);
    CHECK(acquire.barriers == load.barriers + 1);
    const Counts release = counts(Op::store, space, Order::release);
    CHECK(release.stores == store.stores + 1);
    CHECK(release.barriers == store.barriers + 1);
  }
}

// A plain access may be served from a cache of the host's that nobody keeps up to date (rule H18).
TEST_CASE("loads that go past caches, and stores that go through them, are atomic accesses") {
  using ir::CacheOp;
  const auto atomics = [](Op op, auto set) {
    ir::CachePolicy cache;
    set(cache);
    const Counts c = counts(op, Space::global, Order::weak, Scope::none, cache);
    const Counts plain = counts(op, Space::global, Order::weak, Scope::none);
    CHECK(c.barriers == plain.barriers);
    return op == Op::load ? c.loads - plain.loads : c.stores - plain.stores;
  };
  const auto with = [&](Op op, CacheOp cache_op) {
    return atomics(op, [&](ir::CachePolicy& c) { c.op = cache_op; });
  };
  for (const CacheOp op : {CacheOp::cg, CacheOp::cv}) CHECK(with(Op::load, op) == 1);
  for (const CacheOp op : {CacheOp::ca, CacheOp::cs, CacheOp::lu, CacheOp::ci, CacheOp::nc})
    CHECK(with(Op::load, op) == 0);
  CHECK(atomics(Op::load, [](ir::CachePolicy& c) { c.glc = true; }) == 1);
  CHECK(atomics(Op::load, [](ir::CachePolicy& c) { c.slc = true; }) == 1);
  CHECK(with(Op::store, CacheOp::wt) == 1);
  for (const CacheOp op : {CacheOp::wb, CacheOp::cg, CacheOp::cs}) CHECK(with(Op::store, op) == 0);
}

TEST_CASE("fences are barriers of their scope; sequentially consistent ones are atomics") {
  // AcquireRelease (8) | UniformMemory (64) | WorkgroupMemory (256) and more; Device 1,
  // Workgroup 2.
  const std::string cta = text_of(Op::fence, Space::global, Order::acq_rel, Scope::cta);
  const std::string gpu = text_of(Op::fence, Space::global, Order::acq_rel, Scope::gpu);
  const std::string sc = text_of(Op::fence, Space::global, Order::seq_cst, Scope::cta);
  // A number that the kernel and the library both have is there twice, the second as "%uint_2_0".
  const auto barriers = [](const std::string& text, const std::string& scope) {
    const std::string start = "OpMemoryBarrier %uint_" + scope;
    return count_of(text, start + " ") + count_of(text, start + "_");
  };
  CHECK(barriers(cta, "2") == 1);
  CHECK(barriers(gpu, "1") == 1);
  CHECK(count_of(sc, "OpMemoryBarrier ") == 0);
  CHECK(count_of(sc, "OpAtomicIAdd ") == count_of(gpu, "OpAtomicIAdd ") + 1);
}
