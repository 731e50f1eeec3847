#include <algorithm>
#include <ctime>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/structure.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ir/random.hpp"

using namespace lanewise::ir;
using namespace lanewise::ir::testing;
using lanewise::test::rounds;

namespace {

std::vector<Event> trace_of(const Program& p, size_t traced, uint64_t seed) {
  Machine m(p, traced);
  m.regs[0] = seed;
  m.run_blocks();
  return m.trace;
}

bool is_reducible(const Program& p) {
  const Graph g = block_graph(p);
  return reducible(g, reverse_postorder(g), dominators(g));
}

void check_same(const Program& p, uint64_t seed) {
  const Structured s = structurise(p);
  check_shape(s);
  for (uint64_t k = 0; k < 3; ++k) {
    Machine tree(s.program, p.regs.size());
    tree.regs[0] = seed + k;
    tree.run_tree(s.body);
    REQUIRE(tree.trace == trace_of(p, p.regs.size(), seed + k));
  }
}

double milliseconds(const Program& p) {
  const std::clock_t start = std::clock();  // processor time: other programs do not count
  const Structured s = structurise(p);
  const std::clock_t end = std::clock();
  CHECK(!s.body.empty());
  const structure::Nesting nest = structure::nesting(s.body, true);
  CHECK(nest.constructs <= 40);
  CHECK(nest.ifs <= 60);
  return 1000.0 * static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

size_t count(const std::vector<Node>& nodes, Node::Kind kind) {
  size_t n = 0;
  for (const Node& node : nodes) {
    n += (node.kind == kind ? 1 : 0) + count(node.body, kind) + count(node.otherwise, kind);
  }
  return n;
}

/// Blocks that each write a register, so that none is empty; edges are set by the test.
struct Sketch {
  Program p;
  Builder b{p};
  Reg cond, mark;
  explicit Sketch(uint32_t blocks) {
    p.name = std::string("sketch");
    mark = p.add_reg(Width::b32);
    cond = p.add_reg(Width::pred);
    for (uint32_t i = 0; i < blocks; ++i) {
      b.set_block(b.add_block());
      b.emit(Op::mov, Type::u32, {mark}, {imm(i)});
      b.exit();
    }
  }
  void jump(uint32_t from, uint32_t to) {
    b.set_block(from);
    b.jump(to);
  }
  void branch(uint32_t from, uint32_t yes, uint32_t no) {
    b.set_block(from);
    b.branch({cond, false}, yes, no);
  }
};

}  // namespace

TEST_CASE("structurise keeps the meaning of random graphs") {
  std::mt19937 rng(20240611);
  size_t irreducible = 0, graphs = 0;
  for (const Shape shape : {Shape::any, Shape::local, Shape::nested}) {
    for (uint32_t i = 0; i < rounds(1500); ++i) {
      RandomOptions o;
      o.shape = shape;
      o.blocks = 2 + static_cast<uint32_t>(rng() % (i % 20 == 0 ? 120 : 18));
      const Program p = random_program(rng, o);
      REQUIRE(verify(p).empty());
      irreducible += is_reducible(p) ? 0 : 1;
      ++graphs;
      CAPTURE(print(p));
      check_same(p, rng());
    }
  }
  CHECK(graphs >= rounds(2000));
  CHECK(irreducible >= rounds(500));
  CHECK(graphs - irreducible >= rounds(500));
}

TEST_CASE("make_reducible and lower_switches keep the meaning") {
  std::mt19937 rng(7);
  for (uint32_t i = 0; i < rounds(600); ++i) {
    RandomOptions o;
    o.blocks = 2 + static_cast<uint32_t>(rng() % 24);
    o.switch_percent = 30;
    const Program p = random_program(rng, o);
    const uint64_t seed = rng();
    const auto want = trace_of(p, p.regs.size(), seed);
    Program q = p;
    make_reducible(q);
    REQUIRE(verify(q).empty());
    REQUIRE(is_reducible(q));
    REQUIRE(trace_of(q, p.regs.size(), seed) == want);
    lower_switches(q);
    REQUIRE(verify(q).empty());
    REQUIRE(is_reducible(q));
    REQUIRE(trace_of(q, p.regs.size(), seed) == want);
    for (const Block& b : q.blocks) REQUIRE(b.term.kind != Terminator::Kind::switch_);
  }
}

TEST_CASE("ordinary code needs neither scopes nor flags") {
  SUBCASE("diamond") {
    Sketch s(4);
    s.branch(0, 1, 2);
    s.jump(1, 3);
    s.jump(2, 3);
    const Structured t = structurise(s.p);
    CHECK(print(t) ==
          "b0: \"\"\n  r0 = mov.u32 0\nif @p1 {\n  b1: \"\"\n    r0 = mov.u32 1\n} else {\n"
          "  b2: \"\"\n    r0 = mov.u32 2\n}\nb3: \"\"\n  r0 = mov.u32 3\nexit\n");
  }
  SUBCASE("bounds check, then a loop with two exits, then the common end") {
    Sketch s(6);
    s.branch(0, 5, 1);
    s.jump(1, 2);
    s.branch(2, 4, 3);
    s.branch(3, 2, 4);
    s.jump(4, 5);
    const Structured t = structurise(s.p);
    CAPTURE(print(t));
    CHECK(count(t.body, Node::Kind::scope) == 0);
    CHECK(count(t.body, Node::Kind::assign) == 0);
    CHECK(count(t.body, Node::Kind::loop) == 1);
    CHECK(count(t.body, Node::Kind::exit) == 1);
  }
  SUBCASE("code behind a loop is not inside it") {
    Sketch s(4);
    s.jump(0, 1);
    s.branch(1, 2, 3);
    s.jump(2, 1);
    const Structured t = structurise(s.p);
    REQUIRE(t.body.size() == 4);
    CHECK(t.body[1].kind == Node::Kind::loop);
    CHECK(t.body[2].block == 3);
  }
  SUBCASE("a break out of two loops takes one flag") {
    // 1 { 2 { 3 -> 6 } 4 } 5, with 6 the common end behind both
    Sketch s(7);
    s.jump(0, 1);
    s.branch(1, 2, 5);
    s.branch(2, 3, 4);
    s.branch(3, 2, 6);
    s.jump(4, 1);
    s.jump(5, 6);
    const Structured t = structurise(s.p);
    CAPTURE(print(t));
    check_shape(t);
    CHECK(count(t.body, Node::Kind::loop) == 2);
    CHECK(t.program.regs.size() <= s.p.regs.size() + 2);
  }
}

TEST_CASE("a loop that the structuriser makes counts no steps where the program has none") {
  // Ifs in each other, the innermost the last one to begin: too deep for a tree.
  constexpr uint32_t n = 200;
  Sketch s(n);
  for (uint32_t i = 0; i + 1 < n; ++i) {
    if (i < n / 2) s.branch(i, n - 1 - i, i + 1);
    if (i >= n / 2) s.jump(i, i + 1);
  }
  CHECK(!takes_steps(s.p));
  const Structured t = structurise(s.p);
  const auto loop = std::ranges::find(t.body, Node::Kind::loop, &Node::kind);
  REQUIRE(loop != t.body.end());
  CHECK(!loop->counts);
  check_same(s.p, 3);
}

TEST_CASE("a row of exits is split where it is long, and only there") {
  for (const uint32_t n : {20U, 100U, 500U}) {
    CAPTURE(n);
    Sketch breaks(n + 2), returns(2 * n + 1);
    for (uint32_t i = 0; i < n; ++i) {
      breaks.branch(i, n, i + 1);
      returns.branch(2 * i, 2 * i + 1, 2 * i + 2);
    }
    breaks.jump(n, n + 1);
    for (const Sketch* s : {&breaks, &returns}) {
      const Structured t = structurise(s->p);
      const size_t scopes = count(t.body, Node::Kind::scope);
      CHECK(scopes <= (n > 24 ? n / 6 : 1));
      CHECK(structure::nesting(t.body, true).ifs <= 50);
      check_same(s->p, n);
    }
  }
}

TEST_CASE("structurise is fast on large graphs and never deep") {
  SUBCASE("2,000 random blocks") {
    std::mt19937 rng(99);
    for (const Shape shape : {Shape::any, Shape::local, Shape::nested}) {
      RandomOptions o;
      o.blocks = 2000;
      o.shape = shape;
      const Program p = random_program(rng, o);
      const double ms = milliseconds(p);
      MESSAGE("2,000 blocks, shape ", static_cast<int>(shape), ": ", ms, " ms");
      CHECK(ms < 1000);
      check_same(p, 5);
    }
  }
  SUBCASE("chains of 20,000 blocks") {
    constexpr uint32_t n = 20000;
    Sketch jumps(n), guards(n), diamonds(n), nests(n), skips(n), ladder(n);
    for (uint32_t i = 0; i + 2 < n; ++i) {
      jumps.jump(i, i + 1);
      guards.branch(i, n - 1, i + 1);
      if (i % 3 == 0) diamonds.branch(i, i + 1, i + 2);
      if (i % 3 != 0) diamonds.jump(i, i + (i % 3 == 1 ? 2 : 1));
      skips.branch(i, i + 1, i + 2);
      // Nested loops: the first half opens them, the second half closes them.
      if (i < n / 2) nests.jump(i, i + 1);
      if (i >= n / 2) nests.branch(i, n - 1 - i, i + 1);
      // A case ladder: each of the first blocks may enter the later ones sideways.
      if (i < n / 2) ladder.branch(i, n - 1 - i, i + 1);
      if (i >= n / 2) ladder.jump(i, i + 1);
    }
    for (const Sketch* s : {&jumps, &guards, &diamonds, &skips, &nests, &ladder}) {
      const double ms = milliseconds(s->p);
      MESSAGE("20,000 blocks: ", ms, " ms");
      CHECK(ms < 5000);
      check_same(s->p, 1);
    }
  }
}
