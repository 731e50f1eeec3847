#include "tests/fuzz/programs/harness/shrink.hpp"

#include <algorithm>
#include <chrono>

#include "tests/fuzz/programs/evaluate.hpp"

namespace lanewise::programs {
namespace {

using Replacements = std::vector<Block>;

template <typename T, typename Change>
void changed(Replacements& list, const T& what, const Change& change) {
  T other = what;
  if (change(other)) list.push_back({{std::move(other)}});
}
template <typename T>
bool drop_guard(T& s) {
  return std::exchange(s.guard, std::nullopt).has_value();
}
bool simplify(Condition& c) {
  if (c.right.immediate && c.right.value <= 1) return false;
  c.right = Operand::imm(0);
  return true;
}

/// What may stand in place of a statement, the least first.
struct Simpler {
  Replacements list{{}};

  void operator()(const Alu& s) {
    changed(list, s, drop_guard<Alu>);
    changed(list, s, [](Alu& a) {
      const bool plain = a.op == AluOp::mov && a.b.immediate;
      a = {AluOp::mov, a.to, 0, Operand::imm(1), a.guard};
      return !plain;
    });
    changed(list, s, [](Alu& a) {
      const bool plain = a.b.immediate;
      a.b = Operand::imm(1);
      return !plain;
    });
  }
  void operator()(const Select& s) {
    changed(list, s, drop_guard<Select>);
    list.push_back({{Alu{AluOp::mov, s.to, 0, Operand::reg(s.a), s.guard}}});
    list.push_back({{Alu{AluOp::mov, s.to, 0, s.b, s.guard}}});
  }
  void operator()(const Load& s) {
    changed(list, s, drop_guard<Load>);
    list.push_back({{Alu{AluOp::mov, s.to, 0, Operand::imm(1), s.guard}}});
    if (s.index != s.to)
      list.push_back({{Alu{AluOp::mov, s.to, 0, Operand::reg(s.index), s.guard}}});
  }
  void operator()(const Store& s) {
    changed(list, s, drop_guard<Store>);
    changed(list, s, [](Store& t) { return std::exchange(t.is_private, false); });
    changed(list, s, [](Store& t) { return !std::exchange(t.slot, Operand::imm(0)).immediate; });
  }
  void operator()(const LoadOwn& s) {
    changed(list, s, drop_guard<LoadOwn>);
    changed(list, s, [](LoadOwn& t) { return std::exchange(t.is_private, false); });
    changed(list, s, [](LoadOwn& t) { return !std::exchange(t.slot, Operand::imm(0)).immediate; });
  }
  void operator()(const Cross& s) {
    changed(list, s, drop_guard<Cross>);
    changed(list, s, [](Cross& c) { return simplify(c.test); });
    changed(list, s, [](Cross& c) { return !std::exchange(c.lane, Operand::imm(1)).immediate; });
  }
  void operator()(const Exchange& s) {
    changed(list, s, [](Exchange& e) { return std::exchange(e.by, 1) != 1; });
  }
  void operator()(const Barrier&) {}
  void operator()(const Combine& s) {
    changed(list, s, drop_guard<Combine>);
    changed(list, s, [](Combine& c) { return std::exchange(c.swaps, false); });
    changed(list, s, [](Combine& c) { return !std::exchange(c.cell, Operand::imm(0)).immediate; });
  }
  void operator()(const Pool& s) {
    list.push_back({{Exchange{s.to, s.from, 1}}});
    changed(list, s, [](Pool& p) { return std::exchange(p.swaps, false); });
    changed(list, s, [](Pool& p) { return !std::exchange(p.cell, Operand::imm(0)).immediate; });
    changed(list, s, [](Pool& p) { return !std::exchange(p.read, Operand::imm(0)).immediate; });
  }
  void operator()(const Leave& s) {
    changed(list, s, [](Leave& l) { return std::exchange(l.levels, 1) != 1; });
    changed(list, s, [](Leave& l) { return std::exchange(l.goes_on, false); });
  }
  void operator()(const Return&) {}
  void operator()(const Call& s) {
    for (size_t n = 0; n < std::min(s.arguments.size(), s.results.size()); ++n)
      list.push_back({{Alu{AluOp::mov, s.results[n], 0, Operand::reg(s.arguments[n]), {}}}});
  }
  void operator()(const If& s) {
    list.push_back(s.yes);
    list.push_back(s.no);
    changed(list, s, [](If& i) { return !std::exchange(i.no, {}).empty(); });
    changed(list, s, [](If& i) { return simplify(i.test); });
  }
  void operator()(const Loop& s) {
    list.push_back(s.body);
    changed(list, s, [](Loop& l) { return std::exchange(l.again, std::nullopt).has_value(); });
    changed(list, s, [](Loop& l) {
      const bool more = !l.trips.immediate || l.trips.value > 2;
      l.trips = Operand::imm(2);
      return more;
    });
    changed(list, s, [](Loop& l) {
      const bool more = !l.trips.immediate && l.mask > 1;
      l.mask = 1;
      return more;
    });
    changed(list, s, [](Loop& l) {
      const uint32_t least = l.tested_first ? 0 : 1;
      return !l.trips.immediate && std::exchange(l.least, least) != least;
    });
  }
  void operator()(const Switch& s) {
    for (const Case& c : s.cases) list.push_back(c.body);
    changed(list, s, [](Switch& w) {
      if (w.cases.size() > 1) w.cases.pop_back();
      return !w.cases.empty();
    });
    for (size_t n = 0; n < s.cases.size(); ++n)
      changed(list, s, [&](Switch& w) { return std::exchange(w.cases[n].falls, false); });
  }
  void operator()(const Region& s) {
    for (const Region::Node& n : s.nodes) list.push_back(n.straight);
    changed(list, s, [](Region& r) { return r.steps > 1 && (r.steps /= 2) > 0; });
    changed(list, s, [](Region& r) {
      if (r.nodes.size() < 3) return false;
      const auto last = static_cast<uint32_t>(r.nodes.size() - 1);
      r.nodes.pop_back();
      for (Region::Node& n : r.nodes) n.yes = std::min(n.yes, last), n.no = std::min(n.no, last);
      return true;
    });
  }
};

void collect(Block& b, std::vector<Block*>& list) {
  list.push_back(&b);
  for (Statement& s : b)
    for (Block* inner : blocks_in(s)) collect(*inner, list);
}
std::vector<Block*> blocks_of(Program& p) {
  std::vector<Block*> list;
  collect(p.body, list);
  for (Function& f : p.functions) collect(f.body, list);
  return list;
}

/// Jumps must still have loops to leave; a region has no jumps inside.
bool sound(const Block& b, uint32_t loops) {
  return std::ranges::all_of(b, [&](const Statement& s) {
    if (const auto* l = std::get_if<Leave>(&s.what); l != nullptr && l->levels > loops)
      return false;
    const uint32_t more = std::holds_alternative<Loop>(s.what) ? 1 : 0;
    return std::ranges::all_of(blocks_in(s),
                               [&](const Block* inner) { return sound(*inner, loops + more); });
  });
}
bool sound(const Program& p) {
  return sound(p.body, 0) &&
         std::ranges::all_of(p.functions, [](const Function& f) { return sound(f.body, 0); });
}

class Shrinker {
 public:
  Shrinker(Made made, const Fails& fails, double seconds)
      : made_(std::move(made)),
        fails_(fails),
        end_(std::chrono::steady_clock::now() +
             std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds))) {}

  Made run() {
    bool better = true;
    while (better && !late()) {
      better = style();
      better |= lanes();
      better |= ranges();
      better |= statements();
      better |= functions();
      better |= registers();
      better |= data();
    }
    return made_;
  }

 private:
  bool late() const { return std::chrono::steady_clock::now() >= end_; }

  bool keep(Made candidate) {
    if (late() || !sound(candidate.program) || !fails_(candidate)) return false;
    made_ = std::move(candidate);
    return true;
  }
  template <typename Change>
  bool attempt(const Change& change) {
    Made c = made_;
    return change(c) && keep(std::move(c));
  }

  /// Halves, quarters, ... of each block.
  bool ranges() {
    bool better = false;
    for (size_t b = 0; b < blocks_of(made_.program).size(); ++b)
      for (size_t n = blocks_of(made_.program)[b]->size() / 2; n > 1; n /= 2)
        for (size_t first = 0; first + n <= blocks_of(made_.program)[b]->size();) {
          const bool kept = attempt([&](Made& m) {
            Block& block = *blocks_of(m.program)[b];
            const auto at = block.begin() + static_cast<ptrdiff_t>(first);
            block.erase(at, at + static_cast<ptrdiff_t>(n));
            return true;
          });
          better |= kept;
          if (!kept) first += n;
          if (b >= blocks_of(made_.program).size()) return better;
        }
    return better;
  }

  /// One statement after the other becomes less.
  bool statements() {
    bool better = false;
    for (size_t b = 0; b < blocks_of(made_.program).size(); ++b)
      for (size_t i = 0; i < blocks_of(made_.program)[b]->size();) {
        const bool kept = statement(b, i);
        better |= kept;
        if (!kept) ++i;
        if (late() || b >= blocks_of(made_.program).size()) return better;
      }
    return better;
  }
  bool statement(size_t b, size_t i) {
    Simpler simpler;
    std::visit(simpler, (*blocks_of(made_.program)[b])[i].what);
    return std::ranges::any_of(simpler.list, [&](const Block& replacement) {
      return attempt([&](Made& m) {
        Block& block = *blocks_of(m.program)[b];
        const auto at = block.erase(block.begin() + static_cast<ptrdiff_t>(i));
        block.insert(at, replacement.begin(), replacement.end());
        return true;
      });
    });
  }

  bool style() {
    bool better = false;
    for (bool Style::*flag : {&Style::own_exits, &Style::predicate_ifs, &Style::rotate_loops,
                              &Style::join_tests, &Style::cold_sides, &Style::one_end})
      better |= attempt([&](Made& m) { return std::exchange(m.style.*flag, false); });
    return better;
  }

  bool lanes() {
    bool better = attempt([](Made& m) { return std::exchange(m.program.groups, 1) != 1; });
    for (const uint32_t n : {2U, 4U, 8U, 16U, 32U, 64U})
      if (attempt([&](Made& m) {
            for (Block* b : blocks_of(m.program))
              for (Statement& s : *b)
                if (auto* e = std::get_if<Exchange>(&s.what)) e->by = 1;
            return std::exchange(m.program.block, n) > n;
          }))
        return true;
    return better;
  }

  bool functions() {
    return attempt([](Made& m) {
      bool used = false;
      const size_t last = m.program.functions.size() - 1;
      each_statement(m.program, [&](const Statement& s) {
        const auto* c = std::get_if<Call>(&s.what);
        used = used || (c != nullptr && c->function == last);
      });
      if (m.program.functions.empty() || used) return false;
      m.program.functions.pop_back();
      return true;
    });
  }

  /// Registers that start as a number, and the last of them away when nothing names it: the
  /// candidate does not evaluate otherwise.
  bool registers() {
    bool better = attempt([](Made& m) {
      if (m.program.registers.size() < 2) return false;
      m.program.registers.pop_back();
      return true;
    });
    for (size_t n = 0; n < made_.program.registers.size(); ++n)
      better |= attempt([&](Made& m) {
        Initial& i = m.program.registers[n];
        if (i.kind == Initial::Kind::value && i.value == 0) return false;
        i = {};
        return true;
      });
    return better;
  }

  bool data() {
    if (std::ranges::all_of(made_.program.table,
                            [&](uint32_t n) { return n == made_.program.table[0]; }))
      return false;
    for (const uint32_t mask : {0U, 1U, 7U, 0xffU})
      if (attempt([&](Made& m) {
            bool less = false;
            for (uint32_t& n : m.program.table) less |= std::exchange(n, n & mask) != (n & mask);
            return less;
          }))
        return true;
    return false;
  }

  Made made_;
  const Fails& fails_;
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace

Made shrink(Made made, const Fails& fails, double seconds) {
  return Shrinker(std::move(made), fails, seconds).run();
}

}  // namespace lanewise::programs
