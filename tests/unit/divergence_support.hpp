// Kernels with divergent control flow as small statement trees: turned into IR for the engines, and
// carried out on masks of lanes here, which is what cross-lane operations without a mask mean.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/reference/support.hpp"

namespace lanewise::test {

/// Every lane has one value x, its lane number at first. A condition is a bit of it.
struct Statement {
  enum class Kind : uint8_t {
    mix,        ///< x = x * 0x9e3779b1 + constant
    ballot,     ///< x = x * 5 + the mask of the lanes that come here with the bit set
    voter,      ///< the same of the lanes that have the bit: a guarded activemask
    if_,        ///< bit ? body : otherwise
    loop,       ///< body, x >> bit & 3 times
    break_,     ///< out of the innermost loop
    continue_,  ///< its next iteration
    return_,
  };
  Kind kind = Kind::mix;
  uint32_t bit = 0, constant = 0;
  std::vector<Statement> body, otherwise;
};
using Statements = std::vector<Statement>;

inline constexpr uint32_t kMultiplier = 0x9e3779b1;
inline constexpr uint32_t kWave = 32;

/// One wave: a statement is carried out for the lanes of a mask.
class MaskModel {
 public:
  std::array<uint32_t, kWave> x{};

  explicit MaskModel(uint32_t lanes = kWave) : all_(lanes == 32 ? ~0U : (1U << lanes) - 1) {
    for (uint32_t i = 0; i < kWave; ++i) x[i] = i;
  }
  void run(const Statements& list) {
    uint32_t breaks = 0, continues = 0;
    carry_out(list, all_, breaks, continues);
  }

 private:
  uint32_t with_bit(uint32_t mask, uint32_t bit) const {
    uint32_t found = 0;
    for (uint32_t i = 0; i < kWave; ++i) found |= (mask >> i & x[i] >> bit & 1) << i;
    return found;
  }
  template <typename Change>
  void change(uint32_t mask, Change to) {
    for (uint32_t i = 0; i < kWave; ++i)
      if ((mask >> i & 1) != 0) x[i] = to(x[i]);
  }

  /// Returns the lanes that come to the end of the list.
  uint32_t carry_out(const Statements& list, uint32_t mask, uint32_t& breaks, uint32_t& continues) {
    for (const Statement& s : list) {
      const uint32_t chosen = with_bit(mask, s.bit);
      switch (s.kind) {
        case Statement::Kind::mix:
          change(mask, [&](uint32_t v) { return v * kMultiplier + s.constant; });
          break;
        case Statement::Kind::ballot:
          change(mask, [&](uint32_t v) { return v * 5 + chosen; });
          break;
        case Statement::Kind::voter:
          change(chosen, [&](uint32_t v) { return v * 5 + chosen; });
          break;
        case Statement::Kind::if_: {
          const uint32_t rest = mask & ~chosen;
          mask = carry_out(s.body, chosen, breaks, continues);
          mask |= carry_out(s.otherwise, rest, breaks, continues);
          break;
        }
        case Statement::Kind::loop:
          mask = loop(s, mask);
          break;
        case Statement::Kind::break_:
          breaks |= mask;
          return 0;
        case Statement::Kind::continue_:
          continues |= mask;
          return 0;
        case Statement::Kind::return_:
          return 0;
      }
    }
    return mask;
  }

  uint32_t loop(const Statement& s, uint32_t mask) {
    uint32_t out = 0;
    std::array<uint32_t, kWave> times{};
    for (uint32_t i = 0; i < kWave; ++i) times[i] = x[i] >> s.bit & 3;
    for (uint32_t turn = 0; mask != 0; ++turn) {
      for (uint32_t i = 0; i < kWave; ++i) {
        if (times[i] > turn) continue;
        out |= mask & 1U << i;
        mask &= ~(1U << i);
      }
      uint32_t breaks = 0, continues = 0;
      mask = carry_out(s.body, mask, breaks, continues);
      mask |= continues;
      out |= breaks;
    }
    return out;
  }

  uint32_t all_;
};

/// The same as IR; x goes to slot 0 of each lane at its end.
class TreeKernel {
 public:
  explicit TreeKernel(const Statements& list) {
    x_ = k.b.make(Op::mov, Type::u32, {k.sreg(ir::SReg::laneid)});
    emit(list, ir::kNone, ir::kNone);
    finish();
  }
  TestKernel k;

 private:
  Reg bit(uint32_t n) {
    const Reg one = k.b.make(Op::and_, Type::u32, {x_, imm(uint64_t{1} << n)});
    const Reg p = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {p}, {one, imm(0)}).cond = ir::Cond::ne;
    return p;
  }
  void change(uint32_t factor, Operand add) {
    k.b.emit(Op::mul, Type::u32, {x_}, {x_, imm(factor)});
    k.b.emit(Op::add, Type::u32, {x_}, {x_, add});
  }
  void finish() {
    k.put(0, x_);
    k.b.exit();
  }

  /// What stands behind a jump in a list is not emitted: no lane comes there.
  bool emit(const Statements& list, uint32_t out, uint32_t again) {
    for (const Statement& s : list) {
      switch (s.kind) {
        case Statement::Kind::mix:
          change(kMultiplier, imm(s.constant));
          break;
        case Statement::Kind::ballot: {
          const Reg mask = k.b.reg(Width::b32);
          k.b.emit(Op::vote_ballot, Type::u32, {mask}, {bit(s.bit), imm(0xffffffff)});
          change(5, mask);
          break;
        }
        case Statement::Kind::voter: {
          const Reg mask = k.b.reg(Width::b32);
          k.b.set_guard({bit(s.bit), false});
          k.b.emit(Op::activemask, Type::u32, {mask}, {});
          change(5, mask);
          k.b.set_guard({});
          break;
        }
        case Statement::Kind::if_:
          branch(s, out, again);
          break;
        case Statement::Kind::loop:
          loop(s);
          break;
        case Statement::Kind::break_:
          k.b.jump(out);
          return false;
        case Statement::Kind::continue_:
          k.b.jump(again);
          return false;
        case Statement::Kind::return_:
          finish();
          return false;
      }
    }
    return true;
  }

  void side(const Statements& list, uint32_t block, uint32_t join, uint32_t out, uint32_t again) {
    k.b.set_block(block);
    if (emit(list, out, again)) k.b.jump(join);
  }

  void branch(const Statement& s, uint32_t out, uint32_t again) {
    const uint32_t yes = k.b.add_block(), no = k.b.add_block(), join = k.b.add_block();
    k.b.branch({bit(s.bit), false}, yes, no);
    side(s.body, yes, join, out, again);
    side(s.otherwise, no, join, out, again);
    k.b.set_block(join);
  }

  void loop(const Statement& s) {
    const Reg shifted = k.b.make(Op::shr, Type::u32, {x_, imm(s.bit)});
    const Reg times = k.b.make(Op::and_, Type::u32, {shifted, imm(3)});
    const Reg turn = k.b.make(Op::mov, Type::u32, {imm(0)});
    const uint32_t head = k.b.add_block(), body = k.b.add_block(), out = k.b.add_block();
    k.b.jump(head);
    k.b.set_block(head);
    const Reg more = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {more}, {turn, times}).cond = ir::Cond::lt;
    k.b.emit(Op::add, Type::u32, {turn}, {turn, imm(1)});
    k.b.branch({more, false}, body, out);
    side(s.body, body, head, out, head);
    k.b.set_block(out);
  }

  Reg x_;
};

/// Random trees. A list that leaves its loop or the kernel holds no cross-lane operation: what a
/// loop leads to stands behind it, whatever the tree says.
class RandomTree {
 public:
  explicit RandomTree(uint32_t seed) : rng_(seed) {}
  Statements run() { return list(6, 0, false, true); }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

  Statement make(Statement::Kind kind) {
    Statement s;
    s.kind = kind;
    s.bit = below(30);
    s.constant = static_cast<uint32_t>(rng_());
    return s;
  }

  Statements list(uint32_t most, uint32_t depth, bool in_loop, bool ops) {
    Statements out;
    const uint32_t n = 1 + below(most);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t pick = below(10);
      if (pick < 3 && ops) {
        out.push_back(make(below(2) != 0 ? Statement::Kind::ballot : Statement::Kind::voter));
      } else if (pick < 6 && depth < 4) {
        out.push_back(branch(depth, in_loop, ops));
      } else if (pick < 8 && depth < 3 && ops) {
        Statement s = make(Statement::Kind::loop);
        s.body = list(4, depth + 1, true, true);
        out.push_back(std::move(s));
      } else {
        out.push_back(make(Statement::Kind::mix));
      }
    }
    return out;
  }

  Statement branch(uint32_t depth, bool in_loop, bool ops) {
    Statement s = make(Statement::Kind::if_);
    const uint32_t jump = below(6);
    if (jump == 0 && in_loop) {
      s.body = list(3, depth + 1, true, ops);
      s.body.push_back(make(Statement::Kind::continue_));
    } else if (jump == 1) {
      s.body = list(2, 4, in_loop, false);
      s.body.push_back(make(in_loop ? Statement::Kind::break_ : Statement::Kind::return_));
    } else if (jump == 2 && below(4) == 0) {
      s.body = list(2, 4, in_loop, false);
      s.body.push_back(make(Statement::Kind::return_));
    } else {
      s.body = list(3, depth + 1, in_loop, ops);
    }
    if (below(2) == 0) s.otherwise = list(3, depth + 1, in_loop, ops);
    return s;
  }

  std::mt19937 rng_;
};

}  // namespace lanewise::test
