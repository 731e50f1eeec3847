// All lanes of a group walk the tree together, each block with the mask of the lanes that are in
// it.
#include "tests/fuzz/programs/evaluate.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <stdexcept>
#include <utility>

namespace lanewise::programs {
namespace {

constexpr size_t kMostLanes = 256;
using Mask = std::bitset<kMostLanes>;
using Registers = std::vector<std::vector<uint32_t>>;  ///< [register][lane]

struct TooLong {};

uint32_t alu(AluOp op, uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (op) {
    case AluOp::mov:
      return a;
    case AluOp::add:
      return a + b;
    case AluOp::sub:
      return a - b;
    case AluOp::band:
      return a & b;
    case AluOp::bor:
      return a | b;
    case AluOp::bxor:
      return a ^ b;
    case AluOp::shl:
      return a << (b & 31);
    case AluOp::shr:
      return a >> (b & 31);
    case AluOp::sar:
      return static_cast<uint32_t>(sa >> (b & 31));
    case AluOp::umin:
      return std::min(a, b);
    case AluOp::umax:
      return std::max(a, b);
    case AluOp::smin:
      return static_cast<uint32_t>(std::min(sa, sb));
    case AluOp::smax:
      return static_cast<uint32_t>(std::max(sa, sb));
    case AluOp::mul:
      return a * b;
  }
  throw std::logic_error("no such operation");
}

bool holds(Relation r, uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (r) {
    case Relation::eq:
      return a == b;
    case Relation::ne:
      return a != b;
    case Relation::ult:
      return a < b;
    case Relation::ule:
      return a <= b;
    case Relation::ugt:
      return a > b;
    case Relation::uge:
      return a >= b;
    case Relation::slt:
      return sa < sb;
    case Relation::sle:
      return sa <= sb;
    case Relation::sgt:
      return sa > sb;
    case Relation::sge:
      return sa >= sb;
  }
  throw std::logic_error("no such relation");
}

class Group {
 public:
  Group(const Program& program, uint32_t number, Outcome& out, uint64_t limit)
      : p_(program),
        first_(number * program.block),
        out_(out),
        limit_(limit),
        shared_(p_.block),
        private_(size_t{p_.block} * kSlots) {}

  void run() {
    Mask all;
    for (uint32_t lane = 0; lane < p_.block; ++lane) all.set(lane);
    regs_.assign(p_.registers.size(), std::vector<uint32_t>(p_.block));
    for (size_t r = 0; r < regs_.size(); ++r)
      for (uint32_t lane = 0; lane < p_.block; ++lane)
        regs_[r][lane] = initial(p_.registers[r], first_ + lane);
    const Mask end = block(p_.body, all);
    finish(end, kEndMark);
  }

 private:
  /// Where lanes wait that have left a loop's body early.
  struct Waiting {
    Mask behind, next;
  };

  uint32_t initial(const Initial& i, uint32_t thread) const {
    switch (i.kind) {
      case Initial::Kind::thread:
        return thread;
      case Initial::Kind::table:
        return table(thread * i.scale + i.value);
      case Initial::Kind::linear:
        return thread * i.scale + i.value;
      case Initial::Kind::value:
        return i.value;
    }
    throw std::logic_error("no such start");
  }
  uint32_t table(uint32_t index) const { return p_.table.at(index & (kTableWords - 1)); }
  uint32_t& own(uint32_t lane, uint32_t word) {
    return out_.words.at(size_t{first_ + lane} * p_.stride() + word);
  }

  uint32_t& of_lane(bool is_private, uint32_t lane, uint32_t slot) {
    return is_private ? private_.at(size_t{lane} * kSlots + slot) : own(lane, slot);
  }

  void count(const Mask& m) {
    out_.steps += m.count();
    if (out_.steps > limit_) throw TooLong();
  }
  template <typename F>
  void each(const Mask& m, const F& f) const {
    for (uint32_t lane = 0; lane < p_.block; ++lane)
      if (m[lane]) f(lane);
  }

  uint32_t value(const Operand& o, uint32_t lane) const {
    return o.immediate ? o.value : regs_.at(o.value)[lane];
  }
  bool test(const Condition& c, uint32_t lane) const {
    return holds(c.relation, regs_.at(c.left)[lane], value(c.right, lane));
  }
  Mask where(const Condition& c, const Mask& m) const {
    Mask yes;
    each(m, [&](uint32_t lane) { yes[lane] = test(c, lane); });
    return yes;
  }
  Mask guarded(const Guard& g, const Mask& m) const { return g ? where(*g, m) : m; }
  uint32_t slot(const Operand& o, uint32_t lane) const { return value(o, lane) & (kSlots - 1); }

  /// The lanes that come to the end.
  Mask block(const Block& b, Mask m) {
    for (const Statement& s : b) {
      if (m.none()) break;
      count(m);
      m = std::visit([&](const auto& what) { return run(what, m); }, s.what);
    }
    return m;
  }

  Mask run(const Alu& s, const Mask& m) {
    each(guarded(s.guard, m), [&](uint32_t lane) {
      const uint32_t b = value(s.b, lane);
      const uint32_t a = s.op == AluOp::mov ? b : regs_.at(s.a)[lane];
      regs_.at(s.to)[lane] = alu(s.op, a, b);
    });
    return m;
  }
  Mask run(const Select& s, const Mask& m) {
    each(guarded(s.guard, m), [&](uint32_t lane) {
      regs_.at(s.to)[lane] = test(s.test, lane) ? regs_.at(s.a)[lane] : value(s.b, lane);
    });
    return m;
  }
  Mask run(const Load& s, const Mask& m) {
    each(guarded(s.guard, m),
         [&](uint32_t lane) { regs_.at(s.to)[lane] = table(regs_.at(s.index)[lane]); });
    return m;
  }
  Mask run(const Store& s, const Mask& m) {
    each(guarded(s.guard, m), [&](uint32_t lane) {
      of_lane(s.is_private, lane, slot(s.slot, lane)) = regs_.at(s.from)[lane];
    });
    return m;
  }
  Mask run(const LoadOwn& s, const Mask& m) {
    each(guarded(s.guard, m), [&](uint32_t lane) {
      regs_.at(s.to)[lane] = of_lane(s.is_private, lane, slot(s.slot, lane));
    });
    return m;
  }

  Mask run(const Cross& s, const Mask& m) {
    const Mask here = guarded(s.guard, m);
    std::vector<uint32_t> results(p_.block);
    each(here, [&](uint32_t lane) { results[lane] = across(s, here & tile(s.tile, lane), lane); });
    each(here, [&](uint32_t lane) { regs_.at(s.to)[lane] = results[lane]; });
    return m;
  }
  /// The lanes of the group that are in the lane's part of its wave.
  static Mask tile(uint32_t size, uint32_t lane) {
    Mask m;
    if (size == 0) return m.set();
    for (uint32_t n = 0; n < kMostLanes; ++n)
      m[n] = size == 1 ? (n ^ lane) % 2 == 0 : n / size == lane / size;
    return m;
  }
  uint32_t across(const Cross& s, const Mask& here, uint32_t lane) const {
    const uint32_t first = lane / p_.wave * p_.wave, n = lane - first;
    const uint32_t from = regs_.at(s.from)[lane];
    // A shuffle that reads a lane which is not here gives 0; what is written for waves of 64 keeps
    // the own value.
    const uint32_t missing = p_.wave == 64 ? from : 0;
    const auto of = [&](uint32_t other) {
      if (other >= p_.wave) return from;
      const bool there = first + other < p_.block && here[first + other];
      return there ? regs_.at(s.from)[first + other] : missing;
    };
    switch (s.op) {
      case CrossOp::active:
        return half(here, first, s.high);
      case CrossOp::ballot:
        return half(where(s.test, here), first, s.high);
      case CrossOp::any:
        return voters(where(s.test, here), first) != 0 ? 1 : 0;
      case CrossOp::all:
        return voters(where(s.test, here), first) == voters(here, first) ? 1 : 0;
      case CrossOp::shuffle_index:
        return of(value(s.lane, lane) & 31);
      case CrossOp::shuffle_xor:
        return of(n ^ s.lane.value);
      case CrossOp::shuffle_up:
        return s.lane.value > n ? from : of(n - s.lane.value);
      case CrossOp::shuffle_down:
        return of(n + s.lane.value);
      case CrossOp::read_first:
        return lowest(regs_.at(s.from), here, first);
    }
    throw std::logic_error("no such operation");
  }
  uint64_t voters(const Mask& m, uint32_t first) const {
    uint64_t bits = 0;
    for (uint32_t n = 0; n < p_.wave && first + n < p_.block; ++n)
      bits |= uint64_t{m[first + n]} << n;
    return bits;
  }
  uint32_t half(const Mask& m, uint32_t first, bool high) const {
    return static_cast<uint32_t>(voters(m, first) >> (high ? 32 : 0));
  }
  static uint32_t lowest(const std::vector<uint32_t>& regs, const Mask& here, uint32_t first) {
    uint32_t lane = first;
    while (!here[lane]) ++lane;
    return regs[lane];
  }

  Mask run(const Exchange& s, const Mask& m) {
    if (s.by == 0 || s.by >= p_.block || m.count() != p_.block)
      throw std::logic_error("an exchange that is none, or not with all lanes");
    each(m, [&](uint32_t lane) { shared_[lane] = regs_.at(s.from)[lane]; });
    each(m, [&](uint32_t lane) { regs_.at(s.to)[lane] = shared_[(lane + s.by) % p_.block]; });
    return m;
  }
  static Mask run(const Barrier&, const Mask& m) { return m; }

  static uint32_t combined(CombineOp op, uint32_t cell, uint32_t from) {
    static constexpr AluOp kSame[] = {AluOp::add,  AluOp::band, AluOp::bor,  AluOp::bxor,
                                      AluOp::umin, AluOp::umax, AluOp::smin, AluOp::smax};
    return alu(kSame[static_cast<size_t>(op)], cell, from);
  }
  Mask run(const Combine& s, const Mask& m) {
    each(guarded(s.guard, m), [&](uint32_t lane) {
      const uint32_t from = regs_.at(s.from)[lane], cell = value(s.cell, lane) & (kCells - 1);
      if (s.op != CombineOp::add_wide) {
        uint32_t& word = out_.words.at(p_.cells(s.op) + cell);
        word = combined(s.op, word, from);
        return;
      }
      uint32_t* pair = &out_.words.at(p_.cells(s.op) + 2 * cell);
      const uint64_t sum = (pair[0] | uint64_t{pair[1]} << 32) + (from | uint64_t{from} << 32);
      pair[0] = static_cast<uint32_t>(sum);
      pair[1] = static_cast<uint32_t>(sum >> 32);
    });
    return m;
  }
  Mask run(const Pool& s, const Mask& m) {
    if (m.count() != p_.block || s.op == CombineOp::add_wide)
      throw std::logic_error("a pool of 64 bits, or not with all lanes");
    std::array<uint32_t, kPooled> pool;
    pool.fill(s.start);
    each(m, [&](uint32_t lane) {
      uint32_t& cell = pool.at(value(s.cell, lane) & (kPooled - 1));
      cell = combined(s.op, cell, regs_.at(s.from)[lane]);
    });
    each(m, [&](uint32_t lane) {
      regs_.at(s.to)[lane] = pool.at(value(s.read, lane) & (kPooled - 1));
    });
    return m;
  }

  Mask run(const If& s, const Mask& m) {
    const Mask yes = where(s.test, m);
    const Mask a = block(s.yes, yes), b = block(s.no, m & ~yes);
    return a | b;
  }

  Mask run(const Loop& s, const Mask& m) {
    auto& counter = regs_.at(s.counter);
    each(m, [&](uint32_t lane) {
      const uint32_t n = value(s.trips, lane);
      counter[lane] = s.trips.immediate ? n : (n & s.mask) + s.least;
    });
    const auto stays = [&](const Mask& at) {
      Mask yes;
      each(at, [&](uint32_t lane) {
        yes[lane] = counter[lane] != 0 && (!s.again || test(*s.again, lane));
      });
      return yes;
    };
    const auto step = [&](const Mask& at) { each(at, [&](uint32_t lane) { --counter[lane]; }); };
    Mask out, inside = m;
    while (inside.any()) {
      count(inside);
      if (s.tested_first) {
        const Mask stay = stays(inside);
        out |= inside & ~stay;
        inside = stay;
        step(inside);
      }
      loops_.emplace_back();
      Mask next = block(s.body, inside);
      next |= loops_.back().next;
      out |= loops_.back().behind;
      loops_.pop_back();
      inside = next;
      if (!s.tested_first) {
        step(inside);
        const Mask stay = stays(inside);
        out |= inside & ~stay;
        inside = stay;
      }
    }
    return out;
  }
  Mask run(const Leave& s, const Mask& m) {
    Waiting& loop = loops_.at(loops_.size() - s.levels);
    (s.goes_on ? loop.next : loop.behind) |= m;
    return {};
  }
  Mask run(const Return& s, const Mask& m) {
    if (returned_ != nullptr)
      *returned_ |= m;
    else
      finish(m, s.mark);
    return {};
  }
  void finish(const Mask& m, uint32_t mark) {
    each(m, [&](uint32_t lane) {
      for (uint32_t r = 0; r < p_.stored(); ++r) own(lane, kSlots + r) = regs_[r][lane];
      own(lane, kSlots + p_.stored()) = mark;
    });
  }

  Mask run(const Switch& s, const Mask& m) {
    Mask out, inside;
    const auto chosen = [&](uint32_t lane) { return regs_.at(s.selector)[lane] & s.mask; };
    Mask none = m;
    std::vector<Mask> entering(s.cases.size());
    each(m, [&](uint32_t lane) {
      const uint32_t n = chosen(lane);
      if (n >= entering.size()) return;
      entering[n].set(lane);
      none.reset(lane);
    });
    out = none;
    for (size_t n = 0; n < s.cases.size(); ++n) {
      inside = block(s.cases[n].body, inside | entering[n]);
      if (s.cases[n].falls) continue;
      out |= inside;
      inside.reset();
    }
    return out | inside;
  }

  /// Lane by lane: nothing in a region looks at other lanes.
  Mask run(const Region& s, const Mask& m) {
    each(m, [&](uint32_t lane) {
      Mask self;
      self.set(lane);
      uint32_t& fuel = regs_.at(s.fuel)[lane];
      fuel = s.steps;
      uint32_t at = test(s.enter_second, lane) ? 1 : 0;
      while (at < s.nodes.size()) {
        const Region::Node& node = s.nodes[at];
        count(self);
        block(node.straight, self);
        if (fuel == 0) break;
        --fuel;
        at = test(node.test, lane) ? node.yes : node.no;
      }
    });
    return m;
  }

  Mask run(const Call& s, const Mask& m) {
    const Function& f = p_.functions.at(s.function);
    Registers frame(f.registers, std::vector<uint32_t>(p_.block));
    for (uint32_t n = 0; n < f.arguments; ++n)
      each(m, [&](uint32_t lane) { frame[n][lane] = regs_.at(s.arguments.at(n))[lane]; });
    std::swap(regs_, frame);
    std::vector<Waiting> loops;
    std::swap(loops_, loops);
    Mask returned;
    Mask* const outer = std::exchange(returned_, &returned);
    const Mask end = block(f.body, m) | returned;
    returned_ = outer;
    std::swap(loops_, loops);
    std::swap(regs_, frame);
    for (uint32_t n = 0; n < f.results; ++n)
      each(end, [&](uint32_t lane) { regs_.at(s.results.at(n))[lane] = frame[n][lane]; });
    return end;
  }

  const Program& p_;
  const uint32_t first_;
  Outcome& out_;
  const uint64_t limit_;
  Registers regs_;
  std::vector<uint32_t> shared_, private_;
  std::vector<Waiting> loops_;  ///< innermost last
  Mask* returned_ = nullptr;    ///< in a function
};

}  // namespace

std::optional<Outcome> evaluate(const Program& program, uint64_t limit) {
  if (program.block > kMostLanes) throw std::logic_error("the group is too large");
  Outcome out;
  out.words.assign(program.words(), kUntouched);
  try {
    for (uint32_t g = 0; g < program.groups; ++g) Group(program, g, out, limit).run();
  } catch (const TooLong&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace lanewise::programs
