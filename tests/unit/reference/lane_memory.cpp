// Loads, stores and atomics of whole waves, for each kind of host that this one can be: addresses
// in rows, the same for all, tiles of both, and any others, against what a host computes lane by
// lane.
#include <doctest/doctest.h>

#include "runtime/reference/memory/atomics.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "tests/unit/reference/hosts.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kAllWaves = 5, kAllLanes = 32 * kAllWaves;
/// Which lanes of the n-th wave make the access.
constexpr uint32_t kLaneMasks[kAllWaves] = {0xffffffff, 0xfffffffe, 0x55555555, 0x80010004,
                                            0x00000100};
constexpr uint64_t kIndices = guest::kArenaBase + 0x10000, kTable = guest::kArenaBase + 0x20000;
constexpr uint32_t kElements = 128;  ///< of a wave

uint32_t place(uint32_t pattern, uint32_t i) {
  const uint32_t half = i / 16, k = i % 16;
  const uint32_t places[] = {i,          5,         half * 64 + k, half * 3, half == 0 ? k : 7,
                             31 - i,     2 * i,     i ^ 1,         i / 2,    half == 0 ? 90 : k,
                             i * i % 61, k * 2 + 40};
  return places[pattern];
}
constexpr uint32_t kPatterns = 12;

bool active(uint32_t lane) {
  return (kLaneMasks[lane / 32] >> lane % 32 & 1) != 0;
}
uint64_t mixed(uint64_t a) {
  a = (a + 1) * 0x9e3779b97f4a7c15, a ^= a >> 29, a *= 0xbf58476d1ce4e5b9;
  return a ^ a >> 32;
}

/// Lanes outside the masks do not run what `emit` adds.
template <typename Emit>
void emit_active(TestKernel& k, Reg at, Emit emit) {
  const Reg mask = k.load(at, TestKernel::mem(Type::u32));
  const Reg acts = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {acts}, {mask, imm(0)}).cond = ir::Cond::ne;
  const uint32_t then = k.b.add_block("then"), after = k.b.add_block("after");
  k.b.branch({acts, false}, then, after);
  k.b.set_block(then);
  emit();
  k.b.jump(after);
  k.b.set_block(after);
}

/// A table of words that lanes load in rows: at `kIndices`, n-th column.
struct Columns {
  std::vector<uint64_t> words;
  TestKernel& k;
  Reg row;

  explicit Columns(TestKernel& kernel) : k(kernel) {
    row = k.b.make(Op::mulwide, Type::u32, {k.sreg(ir::SReg::linear_tid), imm(8)});
    k.program.regs[row.id].width = Width::b64;
  }
  template <typename Value>
  Reg add(Value value) {
    const uint64_t at = kIndices + 8 * words.size();
    for (uint32_t i = 0; i < kAllLanes; ++i) words.push_back(value(i));
    return k.b.make(Op::add, Type::u64, {row, imm(at)});
  }
};

std::unique_ptr<Engine> launch(const TestKernel& k, const Columns& columns,
                               const std::vector<std::byte>& table, WaveSchedule schedule) {
  auto engine = reference::make_engine();
  engine->reserve(1 << 20);
  engine->write(kIndices, std::as_bytes(std::span(columns.words)));
  if (!table.empty()) engine->write(kTable, table);
  LaunchRequest request;
  request.program = &k.program;
  request.grid = {1, 1, 1};
  request.block = {kAllLanes, 1, 1};
  request.schedule = schedule;
  REQUIRE(engine->launch(request).fault_count == 0);
  return engine;
}

uint64_t slot(Engine& engine, uint32_t lane) {
  uint64_t v = 0;
  engine.read(guest::kArenaBase + 64 * uint64_t{lane},
              {reinterpret_cast<std::byte*>(&v), sizeof(v)});
  return v;
}

void check_moves(Type elem, ir::Space space, uint32_t stores, uint32_t loads) {
  const unsigned size = ir::size_of(elem);
  const bool wide = ir::width_of(elem) == Width::b64, global = space == ir::Space::global;
  TestKernel k;
  k.program.shared_bytes = kAllWaves * kElements * 8;
  Columns columns(k);
  const auto index = [](uint32_t pattern, uint32_t lane) {
    return lane / 32 * kElements + place(pattern, lane % 32);
  };
  const auto address = [&](uint32_t pattern) {
    const Reg at = columns.add([&](uint32_t i) { return index(pattern, i) * size; });
    const Reg offset = k.load(at, TestKernel::mem(global ? Type::u64 : Type::u32));
    return global ? k.b.make(Op::add, Type::u64, {offset, imm(kTable)}) : offset;
  };
  const Reg to = address(stores), from = address(loads);
  const Reg values = columns.add([](uint32_t i) { return mixed(i); });
  const Reg value = k.load(values, TestKernel::mem(wide ? Type::u64 : Type::u32));
  const Reg mask = columns.add([](uint32_t i) { return active(i) ? 1 : 0; });
  const Reg loaded = k.b.make(Op::mov, wide ? Type::u64 : Type::u32, {imm(77)});
  emit_active(k, mask, [&] {
    k.b.emit(Op::store, Type::none, {}, {to, value}).mem = TestKernel::mem(elem, space);
    k.b.emit(Op::load, Type::none, {loaded}, {from}).mem = TestKernel::mem(elem, space);
  });
  k.put(0, loaded, wide ? Type::u64 : Type::u32);
  k.b.exit();
  std::vector<std::byte> memory(size_t{kAllWaves} * kElements * size);
  for (uint32_t i = 0; i < kAllLanes; ++i)
    if (active(i)) {
      const uint64_t v = mixed(i);
      std::memcpy(memory.data() + size_t{index(stores, i)} * size, &v, size);
    }
  const auto engine =
      launch(k, columns, std::vector<std::byte>(memory.size()), WaveSchedule::automatic);
  CAPTURE(static_cast<int>(elem));
  CAPTURE(static_cast<int>(space));
  CAPTURE(stores);
  CAPTURE(loads);
  for (uint32_t i = 0; i < kAllLanes; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + size_t{index(loads, i)} * size, size);
    if (elem == Type::s8) bits = static_cast<uint32_t>(static_cast<int8_t>(bits));
    if (elem == Type::s16) bits = static_cast<uint32_t>(static_cast<int16_t>(bits));
    CAPTURE(i);
    const uint64_t expected = active(i) ? bits : 77;
    if (slot(*engine, i) != expected) REQUIRE(slot(*engine, i) == expected);
  }
  if (!global) return;
  std::vector<std::byte> now(memory.size());
  engine->read(kTable, now);
  CHECK(now == memory);
}

struct AtomicForm {
  ir::AtomOp op;
  Type elem, type;
  bool sees = true, ftz = false;
};

void check_atomic(const AtomicForm& f, WaveSchedule schedule) {
  constexpr uint32_t kCells = 7;
  const bool wide = f.elem == Type::u64;
  const size_t size = ir::size_of(f.elem);
  const Type word = wide ? Type::u64 : Type::u32;
  TestKernel k;
  Columns columns(k);
  const auto cell = [](uint32_t i) { return i * 5 % kCells; };
  // Of the numbers that floats trip over, and small ones that are often equal.
  const auto number = [&](uint32_t i) {
    const uint64_t some[] = {0, 1, 3, 0x80000000, 0x00000001, 0x3f800000, 0x7f800000, 0x7fc00001};
    uint64_t v = mixed(i) % 3 != 0 ? some[mixed(i) >> 8 & 7] : mixed(i) * 3;
    if (wide && ir::is_float(f.type)) v = v << 32 | (v & 1);
    return wide ? v : v & 0xffffffff;
  };
  const auto a = [&](uint32_t i) { return number(i + 1000); };
  const auto b = [&](uint32_t i) { return number(i + 5000); };
  const Reg at = k.load(columns.add([&](uint32_t i) { return kTable + uint64_t{cell(i)} * size; }),
                        TestKernel::mem(Type::u64));
  const Reg first = k.load(columns.add(a), TestKernel::mem(word));
  const Reg second = k.load(columns.add(b), TestKernel::mem(word));
  const Reg mask = columns.add([](uint32_t i) { return active(i) ? 1 : 0; });
  const Reg old = k.b.make(Op::mov, word, {imm(77)});
  ir::Mem mem = TestKernel::mem(f.elem);
  mem.atom = f.op, mem.atom_type = f.type;
  emit_active(k, mask, [&] {
    ir::Inst& inst = k.b.emit(Op::atom, Type::none, {}, {at, first});
    if (ir::takes_two(f.op)) inst.src.push_back(second);
    if (f.sees) inst.dst = {old};
    inst.mem = mem, inst.ftz = f.ftz;
  });
  k.put(0, old, word);
  k.b.exit();

  std::vector<uint64_t> cells(kCells);
  for (uint32_t n = 0; n < kCells; ++n) cells[n] = number(n);
  std::vector<std::byte> table(kCells * size);
  for (uint32_t n = 0; n < kCells; ++n) std::memcpy(table.data() + n * size, &cells[n], size);
  const auto engine = launch(k, columns, table, schedule);
  reference::FloatFlags flags;
  flags.ftz = f.ftz;
  CAPTURE(static_cast<int>(f.op));
  CAPTURE(static_cast<int>(f.elem));
  CAPTURE(static_cast<int>(f.type));
  CAPTURE(f.sees);
  CAPTURE(f.ftz);
  CAPTURE(static_cast<int>(schedule));
  for (uint32_t i = 0; i < kAllLanes; ++i) {
    uint64_t expected = 77;
    if (active(i)) {
      uint64_t& c = cells[cell(i)];
      if (f.sees) expected = c;
      c = reference::atomic_result(mem, flags, c, a(i), b(i));
    }
    CAPTURE(i);
    if (slot(*engine, i) != expected) REQUIRE(slot(*engine, i) == expected);
  }
  engine->read(kTable, table);
  for (uint32_t n = 0; n < kCells; ++n) {
    uint64_t bits = 0;
    std::memcpy(&bits, table.data() + n * size, size);
    CHECK(bits == cells[n]);
  }
}

std::vector<AtomicForm> atomic_forms() {
  std::vector<AtomicForm> all;
  for (auto n = 0; n <= static_cast<int>(ir::AtomOp::wrap); ++n)
    for (const bool sees : {false, true}) {
      const auto op = static_cast<ir::AtomOp>(n);
      for (const Type type : {Type::u32, Type::s32})
        if (op != ir::AtomOp::fcas) all.push_back({op, Type::u32, type, sees});
      for (const Type type : {Type::u64, Type::s64})
        if (op != ir::AtomOp::fcas) all.push_back({op, Type::u64, type, sees});
      const bool floats = op <= ir::AtomOp::max || op == ir::AtomOp::exch || op == ir::AtomOp::fcas;
      for (const bool ftz : {false, true}) {
        if (!floats) continue;
        all.push_back({op, Type::u32, Type::f32, sees, ftz});
        all.push_back({op, Type::u64, Type::f64, sees, ftz});
        all.push_back({op, Type::u32, Type::f16, sees, ftz});
      }
    }
  return all;
}

}  // namespace

TEST_CASE("accesses of whole waves go where each lane's address says") {
  on_every_host([] {
    for (const Type elem : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::u64})
      for (const ir::Space space : {ir::Space::global, ir::Space::shared})
        for (uint32_t pattern = 0; pattern < kPatterns; ++pattern)
          check_moves(elem, space, pattern, (pattern * 5 + 1) % kPatterns);
  });
}

TEST_CASE("of a row that leaves memory the lanes outside fault") {
  on_every_host([] {
    for (const uint32_t outside : {0, 1, 15, 16, 17, 31, 32}) {
      TestKernel k;
      const Reg row = k.b.make(Op::mulwide, Type::u32, {k.sreg(ir::SReg::linear_tid), imm(4)});
      k.program.regs[row.id].width = Width::b64;
      const uint64_t begin = guest::kArenaBase + (1 << 20) - uint64_t{4} * (32 - outside);
      const Reg at = k.b.make(Op::add, Type::u64, {row, imm(begin)});
      k.b.emit(Op::store, Type::none, {}, {at, imm(9)}).mem = TestKernel::mem(Type::u32);
      k.put(0, k.load(at, TestKernel::mem(Type::u32)));
      k.b.exit();
      const Run r = run(k, 32);
      CHECK(r.result.fault_count == outside);
      for (uint32_t i = 0; i < 32; ++i) CHECK(r.slot(i, 0) == (i < 32 - outside ? 9 : 0));
    }
  });
}

TEST_CASE("atomics of whole waves are those of its lanes, the lowest first") {
  on_every_host([] {
    for (const AtomicForm& form : atomic_forms())
      for (const WaveSchedule schedule : {WaveSchedule::automatic, WaveSchedule::lockstep})
        check_atomic(form, schedule);
  });
}
