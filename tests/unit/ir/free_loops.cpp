// Loops that are no part of the step budget: those with a limit, and only those.
#include <doctest/doctest.h>

#include <random>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/integer.hpp"
#include "runtime/ir/passes/passes.hpp"

using namespace lanewise::ir;

namespace {

/// One way to write a loop: `do { i += step } while (!(i cond limit))`, or with the test first.
struct Shape {
  uint64_t start = 0, step = 1, limit = 64;
  Cond cond = Cond::ge;
  Type type = Type::u32;
  bool test_first = false, swapped = false, leaves_when_false = false;
  Op op = Op::add;
};

uint64_t mask_of(Type type) {
  return width_of(type) == Width::b64 ? ~uint64_t{0} : 0xffffffff;
}

uint64_t after(const Shape& s, uint64_t i) {
  const uint64_t mask = mask_of(s.type);
  if (s.op == Op::add) return (i + s.step) & mask;
  if (s.op == Op::shl) return i << s.step & mask;
  if (s.type == Type::s32) return static_cast<uint32_t>(static_cast<int32_t>(i) >> s.step);
  if (s.type == Type::s64) return static_cast<uint64_t>(static_cast<int64_t>(i) >> s.step);
  return i >> s.step;
}

/// Turns until the loop is left, counted by running it; nothing after 10000.
std::optional<uint64_t> turns(const Shape& s) {
  const uint64_t mask = mask_of(s.type);
  uint64_t i = s.start & mask;
  for (uint64_t turn = 0; turn <= 10000; ++turn) {
    const uint64_t next = after(s, i), seen = s.test_first ? i : next;
    const uint64_t a = s.swapped ? s.limit & mask : seen, b = s.swapped ? seen : s.limit & mask;
    if (integer_compare(s.type, s.cond, a, b) != s.leaves_when_false) return turn;
    i = next;
  }
  return std::nullopt;
}

struct Kernel {
  Program p;
  Builder b{p};
  Reg counter, unknown;
  explicit Kernel(uint32_t blocks, Type type = Type::u32) {
    p.name = "k";
    for (uint32_t i = 0; i < blocks; ++i) b.add_block();
    b.set_block(0);
    counter = b.reg(width_of(type));
    unknown = b.reg(Width::b32);
    b.emit(Op::sreg, Type::u32, {unknown}, {}).mode = static_cast<uint8_t>(SReg::tid_x);
  }
  void set(Reg reg, Operand value, Type type = Type::u32) { b.emit(Op::mov, type, {reg}, {value}); }
  Inst& add(Reg reg, Operand step, Type type = Type::u32, Op op = Op::add) {
    return b.emit(op, type, {reg}, {reg, step});
  }
  Reg compare(Cond cond, Operand x, Operand y, Type type = Type::u32) {
    const Reg out = b.reg(Width::pred);
    Inst& i = b.emit(Op::icmp, type, {out}, {x, y});
    i.cond = cond;
    return out;
  }
  void branch(Guard cond, uint32_t taken, uint32_t otherwise) { b.branch(cond, taken, otherwise); }
  bool counts(uint32_t latch) {
    b.set_block(static_cast<uint32_t>(p.blocks.size()) - 1);
    b.exit();
    REQUIRE(verify(p).empty());
    mark_free_loops(p);
    return p.blocks[latch].term.counts;
  }
  /// `do { i += step } while (i < limit)` in one block.
  void simple(uint32_t block, uint32_t next, Operand limit, Operand step = imm(1)) {
    b.set_block(block);
    add(counter, step);
    branch({compare(Cond::lt, counter, limit), false}, block, next);
  }
};

bool counts(const Shape& s, bool anywhere = false) {
  Kernel k(4, s.type);
  if (anywhere)
    k.b.emit(s.type == Type::u32 || s.type == Type::s32 ? Op::mov : Op::zext64, s.type, {k.counter},
             {k.unknown});
  else
    k.set(k.counter, imm(s.start), s.type);
  k.b.jump(1);
  k.b.set_block(1);
  const auto exit = [&](uint32_t stays) {
    const Reg left = s.swapped ? k.compare(s.cond, imm(s.limit), k.counter, s.type)
                               : k.compare(s.cond, k.counter, imm(s.limit), s.type);
    if (s.leaves_when_false)
      k.branch({left, false}, stays, 3);
    else
      k.branch({left, false}, 3, stays);
  };
  if (s.test_first) {
    exit(2);
    k.b.set_block(2);
    k.add(k.counter, imm(s.step), s.type, s.op);
    k.b.jump(1);
    return k.counts(2);
  }
  k.b.jump(2);
  k.b.set_block(2);
  k.add(k.counter, imm(s.step), s.type, s.op);
  exit(1);
  return k.counts(2);
}

}  // namespace

TEST_CASE("a loop is free when its counter ends it within 4096 turns") {
  Shape s;
  CHECK(!counts(s));
  s.limit = 4096;
  CHECK(!counts(s));
  s.limit = 4097;
  CHECK(counts(s));
  CHECK(counts({.start = 1, .step = 2, .limit = 64, .cond = Cond::eq}));  // never 64
  CHECK(!counts({.start = 64, .step = 0xffffffff, .limit = 0, .cond = Cond::eq}));
  std::mt19937_64 rng(5);
  size_t free = 0, ends = 0;
  for (int n = 0; n < 4000; ++n) {
    constexpr Type kTypes[] = {Type::u32, Type::s32, Type::u64, Type::s64};
    constexpr Cond kConds[] = {Cond::eq, Cond::ne, Cond::lt, Cond::le, Cond::gt, Cond::ge};
    const auto small = [&] { return rng() % 9000 - 4500; };
    s = {small(), rng() % 9 - 4, small(), kConds[rng() % 6], kTypes[rng() % 4]};
    for (uint64_t* value : {&s.start, &s.step, &s.limit}) *value &= mask_of(s.type);
    s.test_first = rng() % 2 != 0;
    s.swapped = rng() % 2 != 0;
    s.leaves_when_false = rng() % 2 != 0;
    const auto real = turns(s);
    ends += real && *real < 4096 ? 1 : 0;
    if (counts(s)) continue;
    ++free;
    CAPTURE(n);
    REQUIRE(real);
    REQUIRE(*real <= 4096);
  }
  // What leaves in its first turn is not always believed.
  CHECK(free > ends / 3);
  CHECK(free > 500);
}

TEST_CASE("a loop whose counter is shifted is free when it ends at what is left of it") {
  std::mt19937_64 rng(7);
  size_t free = 0, anywhere = 0;
  for (int n = 0; n < 4000; ++n) {
    constexpr Type kTypes[] = {Type::u32, Type::s32, Type::u64, Type::s64};
    Shape s{rng() >> rng() % 64, 1 + rng() % 4, rng() % 5 == 0 ? rng() % 600 : rng() % 3,
            static_cast<Cond>(rng() % 6), kTypes[rng() % 4]};
    s.op = rng() % 2 == 0 ? Op::shl : Op::shr;
    if (rng() % 8 == 0) s.limit = mask_of(s.type) - rng() % 2;
    s.start &= mask_of(s.type);
    s.test_first = rng() % 2 != 0;
    s.swapped = rng() % 2 != 0;
    s.leaves_when_false = rng() % 2 != 0;
    CAPTURE(n);
    if (!counts(s)) {
      ++free;
      const auto real = turns(s);
      REQUIRE(real);
      REQUIRE(*real <= 4096);
    }
    if (counts(s, true)) continue;
    ++anywhere;
    for (int from = 0; from < 40; ++from) {
      s.start =
          (rng() % 4 == 0 ? ~uint64_t{0} << rng() % 64 : rng() >> rng() % 64) & mask_of(s.type);
      const auto real = turns(s);
      REQUIRE(real);
      REQUIRE(*real <= 65);
    }
  }
  CHECK(free > 500);
  CHECK(anywhere > 300);
  // As reductions halve their distance: from wherever it starts, and no farther than to 1.
  CHECK(!counts({.step = 1, .limit = 0, .cond = Cond::eq, .op = Op::shr}, true));
  CHECK(!counts({.step = 1, .limit = 32, .cond = Cond::le, .op = Op::shr}, true));
  CHECK(counts({.step = 1, .limit = 64, .cond = Cond::ge, .op = Op::shl}, true));
  CHECK(!counts({.start = 1, .step = 1, .limit = 64, .cond = Cond::ge, .op = Op::shl}));
}

TEST_CASE("a loop counts when its start, its step, its end or its counter is not certain") {
  {
    Kernel k(3);  // the start
    k.set(k.counter, k.unknown);
    k.b.jump(1);
    k.simple(1, 2, imm(64));
    CHECK(k.counts(1));
  }
  {
    Kernel k(3);  // the end
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.simple(1, 2, k.unknown);
    CHECK(k.counts(1));
  }
  {
    Kernel k(3);  // the step
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.simple(1, 2, imm(64), k.unknown);
    CHECK(k.counts(1));
  }
  {
    Kernel k(3);  // a second write
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.simple(1, 2, imm(64));
    k.p.blocks[1].insts.insert(k.p.blocks[1].insts.begin(), k.p.blocks[0].insts.back());
    CHECK(k.counts(1));
  }
  {
    Kernel k(3);  // only some lanes add
    const Reg some = k.compare(Cond::lt, k.unknown, imm(3));
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.simple(1, 2, imm(64));
    k.p.blocks[1].insts[0].guard = {some, false};
    CHECK(k.counts(1));
  }
  {
    Kernel k(5);  // only some turns add
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.b.set_block(1);
    k.branch({k.compare(Cond::lt, k.unknown, imm(3)), false}, 2, 3);
    k.b.set_block(2);
    k.add(k.counter, imm(1));
    k.b.jump(3);
    k.b.set_block(3);
    k.branch({k.compare(Cond::lt, k.counter, imm(64)), false}, 1, 4);
    CHECK(k.counts(3));
  }
  {
    Kernel k(5);  // only some turns ask
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.b.set_block(1);
    k.add(k.counter, imm(1));
    k.branch({k.compare(Cond::lt, k.unknown, imm(3)), false}, 2, 3);
    k.b.set_block(2);
    k.branch({k.compare(Cond::lt, k.counter, imm(64)), false}, 3, 4);
    k.b.set_block(3);
    k.b.jump(1);
    CHECK(k.counts(3));
  }
}

TEST_CASE("a loop may stand in front of its header: jumps to lower blocks in it are free with it") {
  // As compilers for GCN write a reduction; block 1 is the end of a trip, block 2 its begin.
  const auto reduction = [](bool ends, uint32_t block) {
    Kernel k(5);
    const Reg by = k.b.reg(Width::b32);
    k.set(k.counter, imm(128));
    k.b.emit(Op::and_, Type::u32, {by}, {imm(33), imm(31)});
    k.b.jump(2);
    k.b.set_block(1);
    const Reg last =
        ends ? k.compare(Cond::lt, k.counter, imm(2)) : k.compare(Cond::lt, k.counter, k.unknown);
    k.b.emit(Op::shr, Type::u32, {k.counter}, {k.counter, by});
    k.branch({last, false}, 4, 2);
    k.b.set_block(2);
    k.branch({k.compare(Cond::lt, k.unknown, k.counter), false}, 3, 1);
    k.b.set_block(3);
    k.b.jump(1);
    return k.counts(block);
  };
  for (const uint32_t block : {1U, 2U, 3U}) {
    CHECK(!reduction(true, block));
    CHECK(reduction(false, block));
  }
}

TEST_CASE("loops may share a predicate") {
  Kernel k(5);
  const Reg j = k.b.reg(Width::b32), p = k.b.reg(Width::pred);
  const auto test = [&](Reg counter, uint32_t again, uint32_t next) {
    k.add(counter, imm(1));
    Inst& i = k.b.emit(Op::icmp, Type::u32, {p}, {counter, imm(10)});
    i.cond = Cond::lt;
    k.branch({p, false}, again, next);
  };
  k.set(j, imm(0));
  k.b.jump(1);
  k.b.set_block(1);
  k.set(k.counter, imm(0));
  k.b.jump(2);
  k.b.set_block(2);
  test(k.counter, 2, 3);
  k.b.set_block(3);
  test(j, 1, 4);
  CHECK(!k.counts(3));
  CHECK(!k.p.blocks[2].term.counts);
}

TEST_CASE("an inner loop starts anew, or it counts; a nest is free up to 2^20 turns") {
  // for (j = 0; j < outer; ++j) { [i = 0;] do ++i while (i < inner); }
  const auto nest = [](bool resets, uint64_t inner, uint64_t outer, uint32_t latch) {
    Kernel k(5);
    const Reg j = k.b.reg(Width::b32);
    k.set(j, imm(0));
    k.set(k.counter, imm(0));
    k.b.jump(1);
    k.b.set_block(1);
    if (resets) k.set(k.counter, imm(0));
    k.b.jump(2);
    k.simple(2, 3, imm(inner));
    k.b.set_block(3);
    k.add(j, imm(1));
    k.branch({k.compare(Cond::lt, j, imm(outer)), false}, 1, 4);
    return k.counts(latch);
  };
  CHECK(!nest(true, 64, 64, 2));
  CHECK(!nest(true, 64, 64, 3));
  CHECK(nest(false, 64, 64, 2));
  CHECK(!nest(true, 1024, 1024, 3));
  CHECK(!nest(true, 1024, 1025, 2));
  CHECK(nest(true, 1024, 1025, 3));
  CHECK(nest(true, 5000, 10, 2));
  CHECK(!nest(true, 5000, 10, 3));
}
