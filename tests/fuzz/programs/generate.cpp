#include "tests/fuzz/programs/generate.hpp"

#include <algorithm>

#include "tests/fuzz/programs/evaluate.hpp"

namespace lanewise::programs {
namespace {

/// Where a statement is to stand.
struct Place {
  uint32_t registers = 0;  ///< that may be written: 0 to registers - 1
  uint32_t depth = 0;      ///< of ifs, loops and switches around
  uint32_t loops = 0;      ///< around, in this function
  uint32_t floor = 0;      ///< so many of them, the outer ones, are left by all lanes at once
  bool together = false;   ///< all lanes of the group are here
  bool across = true;      ///< operations across lanes may stand here
  bool straight = false;   ///< in a region: no control flow
  uint32_t function = 0;   ///< functions before this one may be called
  bool in_function = false;
};

class Maker {
 public:
  Maker(Random& random, const InstructionSet& set, const Choices& choices, bool row)
      : random_(random), set_(set), choices_(choices), row_(row) {}

  Program make() {
    p_.wave = set_.wave;
    p_.block = set_.wave == 64 ? random_.pick({64U, 64U, 40U, 96U})
                               : random_.pick({64U, 64U, 40U, 96U, 32U});
    p_.groups = random_.chance(3) ? 2 : 1;
    p_.live = 5 + (random_.chance(3) ? random_.below(4) : 0);
    make_table();
    if (set_.features.calls && random_.chance(3)) make_functions();
    left_ = statements();
    counters_ = 0;
    Place top;
    top.registers = p_.live;
    top.together = true;
    top.function = static_cast<uint32_t>(p_.functions.size());
    while (left_ > 0) add(p_.body, top);
    // GCN masks lanes: its exits are no control flow, but a register each.
    if (row_ && set_.wave != 64) add_row(p_.body, top);
    make_registers();
    return std::move(p_);
  }

 private:
  /// Mostly small programs, some large.
  uint32_t statements() {
    const uint32_t n = 6 + random_.below(18);
    return random_.chance(8) ? std::max(n, choices_.most_statements * 3 / 4 +
                                               random_.below(choices_.most_statements / 4))
                             : n;
  }

  /// Small numbers and zeros steer loops and ifs; the rest is anything.
  void make_table() {
    for (uint32_t n = 0; n < kTableWords; ++n) {
      const uint32_t habit = random_.below(6);
      p_.table.push_back(habit == 0   ? 0
                         : habit <= 2 ? random_.below(16)
                         : habit == 3 ? random_.pick({1U, 0x80000000U, 0x7fffffffU, 0xffffffffU})
                                      : random_.word());
    }
  }
  void make_registers() {
    for (uint32_t n = 0; n < p_.live; ++n) {
      // Each access is a lot of code for a driver: one load is enough.
      const uint32_t habit = n == 0 ? 0 : n < 2 ? 1 : 2 + random_.below(3);
      Initial i;
      if (habit == 0) i.kind = Initial::Kind::thread;
      if (habit == 1)
        i = {Initial::Kind::table, random_.below(kTableWords), random_.pick({1U, 3U, 5U, 7U})};
      if (habit == 2 || habit == 3)
        i = {Initial::Kind::linear, random_.word(), random_.word() >> random_.below(32) | 1};
      if (habit == 4) i.value = random_.word() >> random_.below(32);
      p_.registers.push_back(i);
    }
    for (uint32_t n = 0; n < counters_; ++n)
      p_.registers.push_back({Initial::Kind::value, 0xc0de0000 + n, 1});
  }

  void make_functions() {
    const uint32_t n = 1 + random_.below(2);
    for (uint32_t f = 0; f < n; ++f) {
      Function made;
      made.arguments = 1 + random_.below(3);
      made.results = 1 + random_.below(2);
      const uint32_t locals = std::max(made.arguments, made.results) + random_.below(3);
      counters_ = 0;
      left_ = 3 + random_.below(6);
      Place in;
      in.registers = locals;
      in.function = f;
      in.in_function = true;
      in.depth = 1;
      while (left_ > 0) add(made.body, in);
      made.registers = locals + counters_;
      p_.functions.push_back(std::move(made));
    }
  }

  uint32_t reg(const Place& at) { return random_.below(at.registers); }
  /// To read from: the counters of the loops around as well.
  uint32_t source(const Place& at) { return random_.below(at.registers + at.loops); }
  uint32_t number() {
    return random_.chance(3) ? random_.word() : random_.below(random_.pick({4U, 16U, 256U}));
  }
  Operand operand(const Place& at) {
    return random_.chance(3) ? Operand::imm(number()) : Operand::reg(source(at));
  }

  Condition condition(const Place& at) {
    Condition c;
    c.relation = static_cast<Relation>(random_.below(10));
    c.left = source(at);
    c.right = random_.chance(2) ? Operand::reg(source(at)) : Operand::imm(random_.below(8));
    if (!c.right.immediate && c.right.value == c.left) c.right = Operand::imm(number());
    // A number is seldom equal to another one.
    const bool equality = c.relation == Relation::eq || c.relation == Relation::ne;
    if (equality && random_.chance(2)) c.right = Operand::imm(0);
    return c;
  }
  /// The same, on a few bits of a register: so both sides of an if have lanes.
  Condition narrowed(Block& out, const Place& at) {
    Condition c = condition(at);
    if (random_.chance(3)) return c;
    const uint32_t to = reg(at), mask = random_.pick({1U, 3U, 7U, 15U});
    uint32_t from = source(at);
    if (random_.chance(3)) {
      out.push_back({Alu{AluOp::shr, to, from, Operand::imm(random_.below(8)), {}}});
      from = to;
    }
    out.push_back({Alu{AluOp::band, to, from, Operand::imm(mask), {}}});
    const uint32_t limit = 1 + random_.below(mask);
    c.relation = random_.pick({Relation::ult, Relation::uge, Relation::slt, Relation::sge});
    if (random_.chance(2)) c.relation = random_.pick({Relation::eq, Relation::ne});
    c.left = to;
    c.right = Operand::imm(limit);
    return c;
  }
  /// Of loops: holds more often than not.
  Condition lasting(const Place& at) {
    Condition c = condition(at);
    if (random_.chance(3)) return c;
    c.relation = random_.pick({Relation::ne, Relation::ne, Relation::uge, Relation::sgt});
    c.right = Operand::imm(random_.below(4));
    return c;
  }
  Guard guard(const Place& at) { return random_.chance(4) ? Guard(condition(at)) : std::nullopt; }
  uint32_t counter(const Place& at) {
    const uint32_t n = at.loops;
    counters_ = std::max(counters_, n + 1);
    // In a function the counters follow its own registers as well.
    return at.registers + n;
  }

  void add(Block& out, const Place& at) {
    if (left_ > 0) --left_;
    const uint32_t habit = random_.below(100);
    if (habit < 45 || at.straight || left_ == 0) return plain(out, at);
    if (habit < 57) return add_if(out, at);
    if (habit < 73) return add_loop(out, at);
    if (habit < 80) return leave(out, at);
    if (habit < 86) return add_switch(out, at);
    if (habit < 89) return add_region(out, at);
    if (habit < 91) return call(out, at);
    if (habit < 96) return cross(out, at);
    if (habit < 98) return combine(out, at);
    return exchange(out, at);
  }

  Operand cell(const Place& at) {
    return random_.chance(3) ? Operand::imm(random_.below(kCells)) : Operand::reg(source(at));
  }
  void combine(Block& out, const Place& at) {
    if (at.in_function) return plain(out, at);
    Combine c;
    c.op = static_cast<CombineOp>(random_.below(kCombineOps));
    c.from = source(at);
    c.cell = cell(at);
    c.swaps = !at.straight && random_.chance(2);
    if (!c.swaps) c.guard = guard(at);
    out.push_back({c});
  }
  void pool(Block& out, const Place& at) {
    Pool p;
    p.op = static_cast<CombineOp>(random_.below(kCombineOps - 1));
    p.to = reg(at);
    p.from = source(at);
    p.start = number();
    p.cell = cell(at);
    p.read = cell(at);
    p.swaps = random_.chance(2);
    out.push_back({p});
  }

  void plain(Block& out, const Place& at) {
    // Drivers take ten times as long over an access as over arithmetic.
    if (!at.in_function && random_.chance(40)) return combine(out, at);
    const uint32_t habit = random_.below(at.in_function ? 14 : 16);
    if (habit < 9) return alu(out, at);
    if (habit < 11)
      out.push_back({Select{reg(at), condition(at), source(at), operand(at), guard(at)}});
    if (habit >= 11 && habit < 14) out.push_back({Load{reg(at), source(at), guard(at)}});
    const bool is_private = habit >= 14 && set_.features.private_slots && random_.chance(3);
    if (habit == 14) out.push_back({Store{slot(at), source(at), guard(at), is_private}});
    if (habit == 15) out.push_back({LoadOwn{reg(at), slot(at), guard(at), is_private}});
  }
  Operand slot(const Place& at) {
    return random_.chance(2) ? Operand::imm(random_.below(kSlots)) : Operand::reg(source(at));
  }
  void alu(Block& out, const Place& at) {
    Alu a;
    a.op = static_cast<AluOp>(random_.below(14));
    a.to = reg(at);
    a.a = source(at);
    const bool shift = a.op == AluOp::shl || a.op == AluOp::shr || a.op == AluOp::sar;
    a.b = shift ? Operand::imm(random_.below(32)) : operand(at);
    a.guard = guard(at);
    out.push_back({a});
  }

  /// A block of its own, at most so many statements.
  Block inside(Place at, uint32_t most) {
    ++at.depth;
    Block b;
    for (uint32_t n = 1 + random_.below(most); n > 0 && left_ > 0; --n) add(b, at);
    return b;
  }

  void add_if(Block& out, Place at) {
    if (at.depth > 4) return plain(out, at);
    If s;
    s.test = narrowed(out, at);
    at.together = false;
    s.yes = inside(at, 4);
    if (random_.chance(2)) s.no = inside(at, 3);
    out.push_back({std::move(s)});
  }

  void add_loop(Block& out, Place at) {
    if (at.loops >= 3 || at.depth > 4) return add_if(out, at);
    Loop s;
    s.counter = counter(at);
    s.tested_first = random_.chance(2);
    const bool uniform = at.together && random_.chance(3);
    const uint32_t most = at.loops < 2 ? 8 : 4;
    if (uniform || random_.chance(5)) {
      s.trips = Operand::imm(2 + random_.below(most));
    } else {
      s.trips = Operand::reg(source(at));
      s.mask = most - 1;
      s.least = (s.tested_first ? 0 : 1) + random_.below(4);
    }
    // Lanes stay together where nothing but the count ends the loop.
    if (uniform)
      at.floor = at.loops + 1;
    else
      at.together = false;
    if (!uniform && random_.chance(3)) s.again = lasting(at);
    ++at.loops;
    if (!uniform && random_.chance(4)) search(s, at);
    for (Statement& one : inside(at, 6)) s.body.push_back(std::move(one));
    out.push_back({std::move(s)});
  }

  /// A loop that runs until it has found something in the table.
  void search(Loop& s, const Place& at) {
    const uint32_t found = reg(at), index = reg(at);
    s.again = lasting(at);
    s.again->left = found;
    s.body.push_back({Load{found, index, {}}});
    s.body.push_back({Alu{AluOp::add, index, index, Operand::imm(1 + random_.below(3)), {}}});
    if (index == found) s.body.pop_back();
  }

  /// if (test) { a few statements; break, continue or return }
  void leave(Block& out, Place at) {
    const uint32_t loops = at.loops - at.floor;  // that may be left
    const bool seldom = at.loops == 0 && at.depth == 0 && !random_.chance(3);
    if (seldom || (loops == 0 && at.floor > 0)) return plain(out, at);
    If s;
    s.test = narrowed(out, at);
    at.straight = true;
    for (uint32_t n = random_.below(3); n > 0; --n) plain(s.yes, at);
    if (loops > 0 && (at.floor > 0 || !random_.chance(6))) {
      s.yes.push_back({Leave{1 + random_.below(random_.chance(2) ? loops : 1), random_.chance(3)}});
    } else {
      if (!at.in_function) returned_ = true;
      s.yes.push_back({Return{++marks_}});
    }
    out.push_back({std::move(s)});
  }

  void add_switch(Block& out, Place at) {
    if (!set_.features.switches || at.depth > 3) return add_if(out, at);
    Switch s;
    s.selector = source(at);
    s.mask = random_.pick({3U, 3U, 7U});
    at.together = false;
    const uint32_t cases = 2 + random_.below(s.mask == 7 ? 5 : 3);
    for (uint32_t n = 0; n < std::min(cases, s.mask + 1); ++n)
      s.cases.push_back({inside(at, 2), random_.chance(3)});
    out.push_back({std::move(s)});
  }

  void add_region(Block& out, Place at) {
    if (!set_.features.regions || at.loops >= 3) return add_if(out, at);
    Region s;
    s.fuel = counter(at);
    s.steps = 3 + random_.below(at.loops == 0 ? 9 : 4);
    s.enter_second = narrowed(out, at);
    at.straight = true;
    const uint32_t nodes = 2 + random_.below(3);
    for (uint32_t n = 0; n < nodes; ++n) {
      Region::Node node;
      for (uint32_t k = random_.below(3); k > 0; --k) plain(node.straight, at);
      node.test = narrowed(node.straight, at);
      node.yes = random_.below(nodes + 1);
      node.no = n + 1 < nodes ? random_.pick({n + 1, n + 1, random_.below(nodes + 1)})
                              : random_.pick({0U, 1U, nodes});
      s.nodes.push_back(std::move(node));
    }
    out.push_back({std::move(s)});
  }

  /// Holds for few lanes.
  Condition seldom(Block& out, const Place& at) {
    const uint32_t to = reg(at);
    out.push_back({Alu{AluOp::band, to, source(at), Operand::imm(127), {}}});
    Condition c;
    c.relation = Relation::eq;
    c.left = to;
    c.right = Operand::imm(random_.below(128));
    return c;
  }

  /// Many exits behind each other, or ifs in each other: drivers nest both.
  void add_row(Block& out, Place at) {
    const uint32_t ways = 30 + random_.below(70);
    const uint32_t habit = random_.below(4);
    if (habit == 0 && set_.features.regions) return long_region(out, at, ways);
    if (habit == 1) return nested(out, at, ways);
    if (habit == 2) {
      Loop s;
      s.counter = counter(at);
      s.trips = Operand::imm(2 + random_.below(2));
      ++at.loops;
      row(s.body, at, ways);
      out.push_back({std::move(s)});
    } else {
      row(out, at, ways);
    }
    alu(out, at);
  }
  void row(Block& out, const Place& at, uint32_t ways) {
    for (; ways > 0; --ways) {
      If s;
      s.test = seldom(out, at);
      if (random_.chance(3)) alu(s.yes, at);
      if (at.loops > 0 && !random_.chance(8)) {
        s.yes.push_back({Leave{1, random_.chance(2)}});
      } else {
        s.yes.push_back({Return{++marks_}});
      }
      out.push_back({std::move(s)});
      alu(out, at);
    }
  }
  void long_region(Block& out, const Place& at, uint32_t ways) {
    Region s;
    s.fuel = counter(at);
    s.steps = ways + random_.below(20);
    s.enter_second = narrowed(out, at);
    for (uint32_t n = 0; n < ways; ++n) {
      Region::Node node;
      alu(node.straight, at);
      node.test = seldom(node.straight, at);
      node.yes = random_.chance(4) ? random_.below(ways + 1) : ways;
      node.no = n + 1;
      s.nodes.push_back(std::move(node));
    }
    out.push_back({std::move(s)});
  }
  void nested(Block& out, const Place& at, uint32_t ways) {
    Block inside;
    alu(inside, at);
    for (; ways > 0; --ways) {
      Block around;
      If s;
      s.test = seldom(around, at);
      alu(s.yes, at);
      (random_.chance(6) ? s.yes : s.no) = std::move(inside);
      around.push_back({std::move(s)});
      alu(around, at);
      inside = std::move(around);
    }
    for (Statement& one : inside) out.push_back(std::move(one));
  }

  void call(Block& out, const Place& at) {
    if (at.function == 0) return plain(out, at);
    Call c;
    c.function = random_.below(at.function);
    const Function& f = p_.functions[c.function];
    for (uint32_t n = 0; n < f.arguments; ++n) c.arguments.push_back(source(at));
    while (c.results.size() < f.results) {
      const uint32_t r = reg(at);
      if (std::ranges::find(c.results, r) == c.results.end()) c.results.push_back(r);
      if (at.registers < f.results) break;
    }
    if (c.results.size() == f.results) out.push_back({std::move(c)});
  }

  bool together(const Place& at) const { return at.together && !returned_; }

  void cross(Block& out, const Place& at) {
    using Across = Choices::Across;
    const bool allowed = choices_.across == Across::all       ? at.across
                         : choices_.across == Across::uniform ? together(at)
                                                              : false;
    if (!allowed || set_.features.cross.empty()) return plain(out, at);
    Cross c;
    c.op = random_.pick(set_.features.cross);
    c.to = reg(at);
    c.from = source(at);
    c.lane =
        Operand::imm(c.op == CrossOp::shuffle_xor ? 1 + random_.below(31) : 1 + random_.below(8));
    if (c.op == CrossOp::shuffle_index)
      c.lane = random_.chance(2) ? Operand::reg(source(at)) : Operand::imm(random_.below(32));
    c.test = narrowed(out, at);
    c.high = set_.wave == 64 && random_.chance(2);
    if (choices_.across == Across::all) c.guard = guard(at);
    if (set_.features.tiles && random_.chance(2) && c.op != CrossOp::active &&
        c.op != CrossOp::read_first)
      c.tile = random_.pick({1U, 4U, 8U, 16U});
    out.push_back({c});
  }

  void exchange(Block& out, const Place& at) {
    if (!set_.features.exchange || !together(at)) return cross(out, at);
    if (random_.chance(3)) return pool(out, at);
    if (random_.chance(4))
      out.push_back({Barrier{}});
    else
      out.push_back({Exchange{reg(at), source(at), 1 + random_.below(p_.block - 1)}});
  }

  Random& random_;
  const InstructionSet& set_;
  const Choices& choices_;
  const bool row_;
  Program p_;
  uint32_t left_ = 0;      ///< statements still to make
  uint32_t counters_ = 0;  ///< of the program or function that is being made
  uint32_t marks_ = 0;
  bool returned_ = false;  ///< lanes may have ended before this place
};

}  // namespace

Made make_program(uint64_t seed, const InstructionSet& set, const Choices& choices) {
  for (uint64_t attempt = 0;; ++attempt) {
    Random random(seed * 0x9e3779b97f4a7c15 + attempt);
    Made m;
    // The others are what they were before there were rows.
    m.program = Maker(random, set, choices, seed % 24 == 7).make();
    m.program.seed = seed;
    m.style = random_style(random);
    // A program that runs long says little more than a short one.
    if (evaluate(m.program, uint64_t{500} * m.program.threads())) return m;
  }
}

}  // namespace lanewise::programs
