// Values and what is known of them: against reaching definitions, and against runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/values/under_guard.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ir/random.hpp"

using namespace lanewise::ir;
using namespace lanewise::ir::testing;
using lanewise::test::rounds;

namespace {

/// A definition: block and instruction, or kNone for what the register held at first.
using Places = std::set<std::pair<uint32_t, uint32_t>>;
constexpr std::pair<uint32_t, uint32_t> kEntry{kNone, 0};

/// Which writes a register may hold, by walking until nothing changes.
class Reaching {
 public:
  explicit Reaching(const Program& p) : p_(p), in_(p.blocks.size()) {
    in_[0].assign(p.regs.size(), Places{kEntry});
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = 0; b < p.blocks.size(); ++b) {
        if (in_[b].empty()) continue;
        std::vector<Places> now = in_[b];
        for (uint32_t i = 0; i < p.blocks[b].insts.size(); ++i) step(now, b, i);
        for (const uint32_t to : p.blocks[b].term.targets) {
          if (in_[to].empty()) in_[to].resize(p.regs.size()), changed = true;
          for (size_t r = 0; r < now.size(); ++r) {
            const size_t before = in_[to][r].size();
            in_[to][r].insert(now[r].begin(), now[r].end());
            changed = changed || in_[to][r].size() != before;
          }
        }
      }
    }
  }
  bool reached(uint32_t b) const { return !in_[b].empty(); }
  std::vector<Places> at(uint32_t b) const { return in_[b]; }
  void step(std::vector<Places>& now, uint32_t b, uint32_t i) const {
    const Inst& inst = p_.blocks[b].insts[i];
    for (const Reg r : inst.dst) {
      if (inst.guard.always()) now[r.id].clear();
      now[r.id].insert({b, i});
    }
  }

 private:
  const Program& p_;
  std::vector<std::vector<Places>> in_;
};

/// The writes that a value comes from, through arguments and merges.
Places sources(const Ssa& ssa, uint32_t value) {
  Places places;
  std::set<uint32_t> seen;
  std::vector<uint32_t> work = {value};
  while (!work.empty()) {
    const uint32_t v = work.back();
    work.pop_back();
    if (!seen.insert(v).second) continue;
    const Ssa::Value& d = ssa[v];
    if (d.kind == Ssa::Kind::entry) places.insert(kEntry);
    if (d.kind == Ssa::Kind::result) places.insert({d.block, d.inst});
    for (const uint32_t input : ssa.inputs(v)) work.push_back(input);
  }
  return places;
}

void check_against_reaching(const Program& p, Ssa::Split split) {
  const Ssa ssa(p, split);
  const auto defects = verify(ssa);
  REQUIRE_MESSAGE(defects.empty(), defects.front());
  const Reaching reaching(p);
  for (uint32_t b = 0; b < p.blocks.size(); ++b) {
    REQUIRE(ssa.order().reachable(b) == reaching.reached(b));
    if (!reaching.reached(b)) continue;
    std::vector<Places> now = reaching.at(b);
    const auto& insts = p.blocks[b].insts;
    for (uint32_t i = 0; i < insts.size(); ++i) {
      for (size_t s = 0; s < insts[i].src.size(); ++s)
        if (insts[i].src[s].is_reg())
          REQUIRE(sources(ssa, ssa.use(b, i, s)) == now[insts[i].src[s].index]);
      if (!insts[i].guard.always())
        REQUIRE(sources(ssa, ssa.guard(b, i)) == now[insts[i].guard.reg.id]);
      reaching.step(now, b, i);
    }
    for_each_use(p.blocks[b].term,
                 [&](uint32_t r) { REQUIRE(sources(ssa, ssa.deciding(b)) == now[r]); });
  }
}

bool allows(const Known& k, uint64_t value, unsigned bits) {
  const auto number = static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
  return (value & k.zero) == 0 && (~value & k.one) == 0 && value >= k.least && value <= k.most &&
         number >= k.low && number <= k.high;
}

/// Runs the program and holds all that is read and written against what was known.
void check_run(const Program& p, const Numbers& numbers) {
  std::vector<uint64_t> regs(p.regs.size());
  uint32_t b = 0;
  const auto value = [&](const Operand& o) { return o.is_reg() ? regs[o.index] : o.imm; };
  const auto holds = [&](const Guard& g) {
    return g.always() || (regs[g.reg.id] != 0) != g.negate;
  };
  for (int steps = 0; steps < 300; ++steps) {
    REQUIRE(numbers.reached(b));
    const Block& block = p.blocks[b];
    for (uint32_t i = 0; i < block.insts.size(); ++i) {
      const Inst& inst = block.insts[i];
      std::vector<uint64_t> in;
      for (size_t s = 0; s < inst.src.size(); ++s) {
        in.push_back(value(inst.src[s]));
        if (inst.src[s].is_reg())
          REQUIRE(allows(numbers.use(b, i, s), in[s], bits_of(p.regs[inst.src[s].index].width)));
      }
      if (!holds(inst.guard)) continue;
      if (!inst.guard.always()) {
        UnderGuard guarded(numbers, b, i);
        for (size_t s = 0; s < inst.src.size(); ++s)
          if (inst.src[s].is_reg())
            REQUIRE(allows(guarded.use(s), in[s], bits_of(p.regs[inst.src[s].index].width)));
      }
      if (inst.dst.empty()) continue;
      const auto out = evaluate(inst, in);
      REQUIRE(out);
      regs[inst.dst[0].id] = (*out)[0];
      const Known known = numbers.of(numbers.ssa().defined(b, i, 0));
      REQUIRE_MESSAGE(allows(known, (*out)[0], bits_of(p.regs[inst.dst[0].id].width)),
                      print(p, inst));
    }
    const Terminator& t = block.term;
    if (t.kind == Terminator::Kind::exit) return;
    size_t n = 0;
    if (t.kind == Terminator::Kind::branch) n = holds(t.cond) ? 0 : 1;
    if (t.kind == Terminator::Kind::switch_)
      n = static_cast<size_t>(std::ranges::find(t.cases, value(t.selector)) - t.cases.begin());
    b = t.targets[n];
  }
}

}  // namespace

TEST_CASE("values: reads see what reaches them, in random programs") {
  std::mt19937 rng(41);
  for (uint32_t n = 0; n < rounds(300); ++n) {
    RandomOptions o;
    o.blocks = 2 + rng() % 30;
    o.shape = static_cast<lanewise::ir::testing::Shape>(rng() % 3);
    o.moves = true;
    o.arithmetic = n % 2 != 0;
    const Program p = random_program(rng, o);
    for (const Ssa::Split split : {Ssa::Split::at_joins, Ssa::Split::at_branches})
      check_against_reaching(p, split);
  }
}

TEST_CASE("numbers: random programs stay inside what is known of them") {
  std::mt19937 rng(43);
  for (uint32_t n = 0; n < rounds(600); ++n) {
    RandomOptions o;
    o.blocks = 2 + rng() % 20;
    o.shape = static_cast<lanewise::ir::testing::Shape>(rng() % 3);
    o.moves = o.arithmetic = true;
    const Program p = random_program(rng, o);
    check_run(p, Numbers(p, {.block = {}, .aligned_pointers = false, .unset_is_zero = true}));
  }
}

/// Most of it under masks that are made of each other, as GCN's EXEC is.
Program masked_program(std::mt19937& rng) {
  constexpr uint32_t kNumbers = 5, kMasks = 4, kBlocks = 6;
  Program p;
  p.name = "masked";
  Builder b(p);
  std::vector<Reg> numbers, masks;
  for (uint32_t n = 0; n < kNumbers; ++n) numbers.push_back(b.reg(Width::b32));
  for (uint32_t n = 0; n < kMasks; ++n) masks.push_back(b.reg(Width::pred));
  const auto number = [&] { return numbers[rng() % kNumbers]; };
  const auto mask = [&] { return masks[rng() % kMasks]; };
  const auto operand = [&] { return rng() % 3 == 0 ? Operand(imm(rng() % 64)) : number(); };
  for (uint32_t n = 0; n < kBlocks; ++n) b.add_block();
  for (uint32_t n = 0; n < kBlocks; ++n) {
    b.set_block(n);
    for (uint32_t i = rng() % 8 + (n == 0 ? 4 : 0); i > 0; --i) {
      static constexpr Op kOps[] = {Op::add, Op::sub, Op::and_, Op::or_, Op::shl, Op::min};
      static constexpr Op kLogic[] = {Op::and_, Op::and_, Op::or_, Op::xor_};
      if (rng() % 2 == 0) b.set_guard({mask(), rng() % 4 == 0});
      switch (rng() % 5) {
        case 0:
          b.emit(Op::icmp, Type::u32, {mask()}, {number(), operand()}).cond =
              static_cast<Cond>(rng() % 6);
          break;
        case 1:
          b.emit(kLogic[rng() % 4], Type::pred, {mask()}, {mask(), mask()});
          break;
        case 2:
          b.emit(rng() % 2 == 0 ? Op::mov : Op::not_, Type::pred, {mask()}, {mask()});
          break;
        case 3:
          b.emit(Op::mov, Type::u32, {number()}, {operand()});
          break;
        default:
          b.emit(kOps[rng() % 6], Type::u32, {number()}, {number(), operand()});
      }
      b.set_guard({});
    }
    if (n + 1 == kBlocks)
      b.exit();
    else
      b.branch({mask(), rng() % 2 == 0}, rng() % kBlocks, n + 1);
  }
  return p;
}

TEST_CASE("numbers: what is known under a guard, in random programs under masks") {
  std::mt19937 rng(53);
  for (uint32_t n = 0; n < rounds(3000); ++n) {
    const Program p = masked_program(rng);
    check_run(p, Numbers(p, {.block = {}, .aligned_pointers = false, .unset_is_zero = true}));
  }
}

TEST_CASE("numbers: each operation allows what it computes") {
  std::mt19937_64 rng(47);
  // Numbers near each other, with few bits, near the ends.
  const auto some = [&](unsigned bits) {
    const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t base = rng() >> rng() % 64, mask = rng() & rng() >> rng() % 64;
    std::vector<uint64_t> list;
    for (size_t n = 1 + rng() % 3; n > 0; --n) {
      uint64_t v = (base & ~mask) | (rng() & mask);
      if (rng() % 8 == 0) v = rng() % 4 - 2;
      if (rng() % 8 == 0) v = uint64_t{1} << (bits - 1);
      list.push_back(v & all);
    }
    return list;
  };
  const auto of_all = [](const std::vector<uint64_t>& values, unsigned bits) {
    Known k;
    for (const uint64_t v : values) k = joined(k, Known::exactly(v, bits));
    return k;
  };
  size_t narrower = 0;
  const auto try_one = [&](const Inst& inst, const std::string& letters) {
    std::vector<std::vector<uint64_t>> values;
    std::vector<Known> in;
    const unsigned own = bits_of(width_of(inst.type));
    for (const char letter : letters) {
      const unsigned bits = letter == 'p' ? 1 : letter == 'w' ? 32 : letter == 'd' ? 64 : own;
      values.push_back(some(bits));
      if (letter == 'w' && rng() % 2 == 0)
        for (uint64_t& v : values.back()) v &= 63;
      in.push_back(of_all(values.back(), bits));
    }
    std::vector<size_t> at(values.size());
    for (;;) {
      std::vector<uint64_t> sources;
      for (size_t s = 0; s < at.size(); ++s) sources.push_back(values[s][at[s]]);
      const auto out = evaluate(inst, sources);
      if (!out) return;
      for (size_t d = 0; d < inst.dst.size(); ++d) {
        const char letter = std::string(info(inst.op).signature)[d];
        const unsigned bits = letter == 'p' ? 1 : letter == 'w' ? 32 : letter == 'd' ? 64 : own;
        const Known known = compute(inst, d, in, bits);
        REQUIRE_MESSAGE(allows(known, (*out)[d], bits), info(inst.op).name);
        narrower += known != Known::any(bits) ? 1 : 0;
      }
      size_t s = 0;
      while (s < at.size() && ++at[s] == values[s].size()) at[s++] = 0;
      if (s == at.size()) return;
    }
  };
  for (int n = 0; n < 40'000; ++n) {
    Inst inst;
    inst.op = static_cast<Op>(rng() % (static_cast<size_t>(Op::icmp) + 1));
    constexpr Type kTypes[] = {Type::u32, Type::s32, Type::u64, Type::s64, Type::pred};
    inst.type = kTypes[rng() % 5];
    const bool logic = inst.op == Op::and_ || inst.op == Op::or_ || inst.op == Op::xor_ ||
                       inst.op == Op::not_ || inst.op == Op::mov || inst.op == Op::select;
    if (inst.op == Op::sreg || (inst.type == Type::pred && !logic)) continue;
    const std::string signature = info(inst.op).signature;
    const size_t colon = signature.find(':');
    if (inst.op == Op::mulwide && bits_of(width_of(inst.type)) == 64) continue;
    inst.dst.resize(colon);
    inst.src.resize(signature.size() - colon - 1);
    inst.cond = static_cast<Cond>(rng() % 6);
    inst.mode = inst.op == Op::lop3 ? static_cast<uint8_t>(rng()) : static_cast<uint8_t>(rng() % 2);
    try_one(inst, signature.substr(colon + 1));
  }
  CHECK(narrower > 10'000);
}

TEST_CASE("numbers: a counter's bounds, through the branch that ends its loop") {
  const Program p = parse_program(R"(program "k" ptx wave 32
memory param 8 shared 1024 local 0
reg r0 b32
reg r1 b32
reg r2 b32
reg p3 pred
block b0 "entry"
  r0 = mov.u32 0
  jump b1
block b1 "head"
  p3 = icmp.s32.ge r0, 100
  branch @p3 b3 b2
block b2 "body"
  r1 = shl.u32 r0, 2
  r2 = xor.u32 r1, 4
  r0 = add.u32 r0, 1
  jump b1
block b3 "end"
  r1 = add.u32 r0, 0
  exit
)");
  const Numbers numbers(p, {});
  const Known index = numbers.use(2, 0, 0), end = numbers.use(3, 0, 0),
              address = numbers.of(numbers.ssa().defined(2, 1, 0));
  CHECK(index.least == 0);
  CHECK(index.most == 99);
  CHECK(end.constant() == 100);
  CHECK(address.zeros() == 2);
  CHECK(address.most < 512);
}

TEST_CASE("numbers: a multiple less a part of what it is of") {
  std::mt19937 rng(59);
  size_t exact = 0;
  for (int n = 0; n < 400; ++n) {
    const uint32_t range = (2U << rng() % 10) - 1,
                   mask = rng() % 2 == 0 ? (1U << rng() % 11) - 1 : rng();
    const uint32_t by = rng() % 4, factor = rng() % 3;
    const std::string multiple = factor == 0   ? "  r2 = mov.u32 r0\n"
                                 : factor == 1 ? "  r2 = shl.u32 r0, " + std::to_string(by) + "\n"
                                               : "  r2 = mul.u32 r0, " + std::to_string(by) + "\n";
    const Program p = parse_program(
        "program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\nreg r0 b32\nreg r1 b32\n"
        "reg r2 b32\nreg r3 b32\nblock b0 \"entry\"\n  r0 = load 0 {param u32}\n  r0 = and.u32 "
        "r0, " +
        std::to_string(range) + "\n" + multiple + "  r1 = and.u32 r0, " + std::to_string(mask) +
        "\n  r3 = sub.u32 r2, r1\n  exit\n");
    const Numbers numbers(p, {});
    const Known known = numbers.of(numbers.ssa().defined(0, 4, 0));
    uint32_t most = 0;
    for (uint32_t y = 0; y <= range; ++y) {
      const uint32_t whole = factor == 0 ? y : factor == 1 ? y << by : y * by;
      const uint32_t left = whole - (y & mask);
      most = std::max(most, left);
      REQUIRE(allows(known, left, 32));
    }
    exact += known.most == most && known.least == 0 ? 1 : 0;
  }
  CHECK(exact > 150);
}

TEST_CASE("values: the text form") {
  const Program p = parse_program(R"(program "k" ptx wave 32
memory param 8 shared 0 local 0
reg r0 b32
reg r1 b32
reg p2 pred
block b0 "entry"
  r0 = mov.u32 7
  p2 = icmp.u32.lt r1, 9
  branch @p2 b1 b2
block b1 "left"
  @p2 r0 = mov.u32 r1
  jump b2
block b2 "end"
  r1 = add.u32 r0, r1
  exit
)");
  CHECK(print(Ssa(p)) == R"(b0 from entry
  v1 = r0 = mov.u32 7 ; -
  v3 = p2 = icmp.u32.lt r1, 9 ; v2 -
  by v3
b1 from b0
  v5 = @p2 r0 = mov.u32 r1 ; @v3 v2 or v1
b2 from b0 b1
  v0 = r0 of v1 v5
  v6 = r1 = add.u32 r0, r1 ; v0 v2
)");
}
