#include "tests/support/sanitized.hpp"
#include "tests/unit/ir/random.hpp"

using namespace lanewise::ir;
using namespace lanewise::ir::testing;
using lanewise::test::rounds;

namespace {

constexpr size_t kEvents = 300;

/// Runs phase after phase; what is not carried is overwritten in between.
std::vector<Event> run_phases(const Phases& ph, const Structured* tree, size_t traced,
                              uint64_t seed) {
  const Program& p = tree != nullptr ? tree->program : ph.program;
  std::vector<uint64_t> kept(p.regs.size());
  kept[0] = seed;
  std::vector<Event> trace;
  for (int phase = 0; trace.size() < kEvents && phase < 400; ++phase) {
    Machine m(p, traced, kEvents - trace.size());
    m.regs = kept;
    if (tree != nullptr) {
      m.run_tree(tree->body);
    } else {
      m.run_blocks();
    }
    trace.insert(trace.end(), m.trace.begin(), m.trace.end());
    const uint64_t k = m.regs[ph.resume.id];
    if (m.spent() || k == kPhaseEnded) break;
    REQUIRE(k >= 1);
    REQUIRE(k <= ph.stops.size());
    const Inst& barrier = ph.stops[k - 1];
    REQUIRE(barrier.op == Op::barrier);
    trace.push_back(
        {kNone, barrier.src[0].is_imm() ? barrier.src[0].imm : m.regs[ph.barrier_id.id]});
    kept.assign(p.regs.size(), 0xdeadbeef);
    for (size_t r = 0; r < p.regs.size(); ++r) {
      if (p.regs[r].width == Width::pred) kept[r] = 1;
    }
    for (const Reg r : ph.carried) kept[r.id] = m.regs[r.id];
    kept[ph.resume.id] = k;
  }
  return trace;
}

Program with_trap() {
  Program p;
  p.name = std::string("trap");
  const Reg a = p.add_reg(Width::b32), q = p.add_reg(Width::pred);
  Builder b(p);
  b.set_block(b.add_block());
  b.emit(Op::icmp, Type::u32, {q}, {a, imm(3)});
  b.set_guard({q, false});
  b.emit(Op::trap, Type::none, {}, {});
  b.set_guard({});
  b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)});
  b.emit(Op::mov, Type::u32, {a}, {imm(1)});
  b.exit();
  return p;
}

}  // namespace

TEST_CASE("phases together do what the kernel does") {
  std::mt19937 rng(31337);
  size_t barriers = 0;
  for (uint32_t i = 0; i < rounds(1500); ++i) {
    RandomOptions o;
    o.blocks = 2 + static_cast<uint32_t>(rng() % 20);
    o.shape = static_cast<Shape>(rng() % 3);
    o.barrier_percent = 25;
    const Program p = random_program(rng, o);
    CAPTURE(print(p));
    REQUIRE(verify(p).empty());
    const Phases ph = split_phases(p);
    REQUIRE(verify(ph.program).empty());
    for (const Block& b : ph.program.blocks) {
      for (const Inst& inst : b.insts) REQUIRE(inst.op != Op::barrier);
    }
    const Structured tree = structurise(ph.program);
    check_shape(tree);
    const uint64_t seed = rng();
    Machine m(p, p.regs.size(), kEvents);
    m.regs[0] = seed;
    m.run_blocks();
    for (const Event& e : m.trace) barriers += e.reg == kNone ? 1 : 0;
    REQUIRE(run_phases(ph, nullptr, p.regs.size(), seed) == m.trace);
    REQUIRE(run_phases(ph, &tree, p.regs.size(), seed) == m.trace);
  }
  CHECK(barriers > rounds(1000));
}

TEST_CASE("a trapped lane is not resumed; reductions are carried") {
  const Phases ph = split_phases(with_trap());
  const auto& insts = ph.program.blocks[1].insts;
  REQUIRE(insts.size() == 4);
  CHECK(insts[1].dst[0] == ph.resume);
  CHECK(insts[1].src[0] == imm(kPhaseEnded));
  CHECK(insts[1].guard == insts[2].guard);
  CHECK(insts[2].op == Op::trap);
  CHECK(ph.carried.empty());

  Program p = with_trap();
  Inst& red = p.blocks[0].insts[2];
  red.mode = static_cast<uint8_t>(BarrierKind::red_popc);
  red.dst = {Reg{0}};
  red.src.push_back(Reg{1});
  REQUIRE(verify(p).empty());
  CHECK(split_phases(p).carried == std::vector<Reg>{Reg{0}, Reg{1}});
}
