#include "tests/unit/ir/random.hpp"

namespace lanewise::ir::testing {
namespace {

class Generator {
 public:
  Generator(std::mt19937& rng, const RandomOptions& options) : rng_(rng), o_(options), b_(p_) {}

  Program run() {
    p_.name = std::string("random");
    state_ = p_.add_reg(Width::b32);
    marker_ = p_.add_reg(Width::b32);
    cond_ = p_.add_reg(Width::pred);
    scratch_ = p_.add_reg(Width::b32);
    for (uint32_t i = 0; i < o_.blocks; ++i) b_.add_block();
    for (uint32_t i = 0; i < o_.blocks; ++i) fill(i);
    return std::move(p_);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  uint32_t target(uint32_t from) {
    switch (o_.shape) {
      case Shape::any:
        return below(o_.blocks);
      case Shape::local: {
        const uint32_t near = from + below(6);
        return near >= 2 ? std::min(near - 2, o_.blocks - 1) : 0;
      }
      case Shape::nested:
        break;
    }
    // Blocks are leaves of a binary tree of regions; jumps go forward, or back to a region's start.
    if (!chance(25)) return std::min(from + 1 + below(3), o_.blocks - 1);
    const uint32_t size = 1U << below(5);
    return from / size * size;
  }

  void fill(uint32_t i) {
    b_.set_block(i);
    if (!chance(12)) {
      b_.emit(Op::mov, Type::u32, {marker_}, {imm(i)});
      b_.emit(Op::mul, Type::u32, {state_}, {state_, imm(1664525)});
      b_.emit(Op::add, Type::u32, {state_}, {state_, imm(1013904223 + i)});
    }
    if (o_.moves) moves();
    if (chance(o_.barrier_percent)) barrier();
    const uint32_t kind = below(100);
    if (kind < 4 || (i + 1 == o_.blocks && o_.shape != Shape::any)) return b_.exit();
    if (kind < 30) return b_.jump(target(i));
    b_.emit(Op::shr, Type::u32, {scratch_}, {state_, imm(11 + below(12))});
    b_.emit(Op::and_, Type::u32, {scratch_}, {scratch_, imm(7)});
    if (kind < 30 + o_.switch_percent) return choose(i);
    if (!flags_.empty() && chance(25)) {
      const Reg flag = flags_[below(static_cast<uint32_t>(flags_.size()))];
      return b_.branch({flag, chance(50)}, target(i), target(i));
    }
    const Reg cond = chance(50) ? cond_ : b_.reg(Width::pred);
    b_.emit(Op::icmp, Type::u32, {cond}, {scratch_, imm(below(8))}).cond = Cond::lt;
    b_.branch({cond, chance(50)}, target(i), target(i));
  }

  Operand any_value() {
    if (!values_.empty() && chance(60))
      return values_[below(static_cast<uint32_t>(values_.size()))];
    return chance(50) ? Operand(state_) : imm(below(9));
  }

  void moves() {
    for (uint32_t n = below(4); n > 0; --n) {
      const bool old = !values_.empty() && chance(15);
      const Reg r =
          old ? values_[below(static_cast<uint32_t>(values_.size()))] : b_.reg(Width::b32);
      Inst& i = b_.emit(Op::mov, Type::u32, {r}, {any_value()});
      if (chance(20)) i.guard = {cond_, chance(50)};
      if (!old) values_.push_back(r);
    }
    for (uint32_t n = o_.arithmetic ? below(5) : 0; n > 0; --n) compute();
    if (chance(10)) b_.emit(Op::mov, Type::pred, {cond_}, {imm(below(2))});
    if (chance(10)) flags_.push_back(b_.make(Op::mov, Type::pred, {imm(below(2))}));
    if (!flags_.empty() && chance(30)) {
      const Reg flag = flags_[below(static_cast<uint32_t>(flags_.size()))];
      b_.emit(Op::barrier, Type::none, {}, {any_value(), imm(0)}).guard = {flag, chance(50)};
    }
    b_.emit(Op::barrier, Type::none, {}, {any_value(), imm(0)});
  }

  /// Registers are written again and again, under guards too, so that what was known must be
  /// forgotten.
  void compute() {
    static constexpr Op kOps[] = {Op::add, Op::add,  Op::sub, Op::mul,    Op::shl,
                                  Op::shr, Op::and_, Op::or_, Op::xor_,   Op::not_,
                                  Op::div, Op::rem,  Op::min, Op::select, Op::icmp};
    const Op op = kOps[below(std::size(kOps))];
    const bool old = !values_.empty() && chance(60);
    const auto operand = [&]() -> Operand {
      static constexpr uint32_t kEdges[] = {0, 1, 2, 8, 31, 32, 0x80000000, 0xffffffff};
      return chance(20) ? imm(kEdges[below(std::size(kEdges))]) : any_value();
    };
    std::vector<Operand> sources;
    if (op == Op::select) sources.push_back(cond_);
    sources.push_back(operand());
    if (op != Op::not_) sources.push_back(chance(10) ? sources.back() : operand());
    const Reg r = op == Op::icmp ? cond_
                  : old          ? values_[below(static_cast<uint32_t>(values_.size()))]
                                 : b_.reg(Width::b32);
    Inst& i = b_.emit(op, Type::u32, {r}, std::move(sources));
    if (op == Op::icmp) i.cond = chance(50) ? Cond::ge : Cond::eq;
    if (chance(20)) i.guard = {cond_, chance(50)};
    if (op != Op::icmp && !old) values_.push_back(r);
    if (chance(40))
      b_.emit(Op::barrier, Type::none, {}, {r == cond_ ? Operand(state_) : r, imm(0)});
  }

  void barrier() {
    b_.emit(Op::barrier, Type::none, {}, {imm(below(3)), imm(0)});
    if (chance(30)) b_.emit(Op::barrier, Type::none, {}, {scratch_, imm(64)}).guard = {cond_, true};
    b_.emit(Op::mov, Type::u32, {marker_}, {state_});
  }

  void choose(uint32_t i) {
    Terminator t;
    t.kind = Terminator::Kind::switch_;
    t.selector = scratch_;
    for (uint32_t n = below(7); n > 0; --n) t.cases.push_back(below(8));
    for (size_t k = 0; k <= t.cases.size(); ++k) t.targets.push_back(target(i));
    b_.terminate(std::move(t));
  }

  std::mt19937& rng_;
  RandomOptions o_;
  Program p_;
  Builder b_;
  Reg state_, marker_, cond_, scratch_;
  std::vector<Reg> values_, flags_;
};

}  // namespace

Program random_program(std::mt19937& rng, const RandomOptions& options) {
  return Generator(rng, options).run();
}

void Machine::inst(const Inst& i) {
  if (!holds(i.guard)) return;
  if (i.op == Op::barrier) {
    trace.push_back({kNone, value(i.src[0])});
    return;
  }
  const uint64_t a = value(i.src[0]), b = i.src.size() > 1 ? value(i.src[1]) : 0;
  uint64_t r = 0;
  switch (i.op) {
    case Op::mov:
      r = a;
      break;
    case Op::add:
      r = a + b;
      break;
    case Op::sub:
      r = a - b;
      break;
    case Op::mul:
      r = a * b;
      break;
    case Op::shl:
      r = b < 32 ? a << b : 0;
      break;
    case Op::shr:
      r = b < 32 ? (a & 0xffffffffU) >> b : 0;
      break;
    case Op::and_:
      r = a & b;
      break;
    case Op::or_:
      r = a | b;
      break;
    case Op::xor_:
      r = a ^ b;
      break;
    case Op::not_:
      r = i.type == Type::pred ? a ^ 1 : ~a;
      break;
    case Op::div:
      r = b != 0 ? a / b : ~uint64_t{0};
      break;
    case Op::rem:
      r = b != 0 ? a % b : ~uint64_t{0};
      break;
    case Op::min:
      r = std::min(a, b);
      break;
    case Op::select:
      r = a != 0 ? b : value(i.src[2]);
      break;
    case Op::icmp:
      REQUIRE((i.cond == Cond::lt || i.cond == Cond::eq || i.cond == Cond::ge));
      r = i.cond == Cond::lt ? a < b : i.cond == Cond::eq ? a == b : a >= b;
      break;
    default:
      FAIL("operation not in the test's language");
  }
  r &= 0xffffffffU;
  regs[i.dst[0].id] = r;
  if (i.dst[0].id < traced_) trace.push_back({i.dst[0].id, r});
}

void Machine::block(const Block& b) {
  for (const Inst& i : b.insts) {
    if (trace.size() >= max_events_) return;
    inst(i);
  }
}

void Machine::run_blocks() {
  uint32_t at = 0;
  while (step()) {
    const Block& b = p_.blocks[at];
    block(b);
    const Terminator& t = b.term;
    switch (t.kind) {
      case Terminator::Kind::exit:
        return;
      case Terminator::Kind::jump:
        at = t.targets[0];
        break;
      case Terminator::Kind::branch:
        at = t.targets[holds(t.cond) ? 0 : 1];
        break;
      case Terminator::Kind::switch_: {
        const auto hit = std::find(t.cases.begin(), t.cases.end(), value(t.selector));
        at = t.targets[static_cast<size_t>(hit - t.cases.begin())];
        break;
      }
    }
  }
}

void Machine::run_tree(const std::vector<Node>& body) {
  list(body);
}

Machine::Leave Machine::list(const std::vector<Node>& nodes) {
  for (const Node& n : nodes) {
    const Leave l = node(n);
    if (l != Leave::none) return l;
  }
  return Leave::none;
}

Machine::Leave Machine::node(const Node& n) {
  if (!step()) return Leave::exit;
  switch (n.kind) {
    case Node::Kind::block:
      block(p_.blocks[n.block]);
      return Leave::none;
    case Node::Kind::if_:
      return list(holds(n.cond) ? n.body : n.otherwise);
    case Node::Kind::scope: {
      const Leave l = list(n.body);
      REQUIRE(l != Leave::cont);
      return l == Leave::brk ? Leave::none : l;
    }
    case Node::Kind::loop:
      while (step()) {
        const Leave l = list(n.body);
        if (l == Leave::exit) return l;
        if (l == Leave::brk) return Leave::none;
      }
      return Leave::exit;
    case Node::Kind::break_:
      return Leave::brk;
    case Node::Kind::continue_:
      return Leave::cont;
    case Node::Kind::exit:
      return Leave::exit;
    case Node::Kind::assign:
      regs[n.reg.id] = n.value ? 1 : 0;
      return Leave::none;
  }
  return Leave::none;
}

namespace {

void check_list(const Structured& s, const std::vector<Node>& nodes, const Node* around,
                std::vector<int>& seen) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const bool last = i + 1 == nodes.size();
    switch (n.kind) {
      case Node::Kind::block:
        REQUIRE(n.block < s.program.blocks.size());
        REQUIRE(seen[n.block]++ == 0);
        break;
      case Node::Kind::if_:
        REQUIRE(n.cond.reg.id < s.program.regs.size());
        REQUIRE(!n.body.empty());
        check_list(s, n.body, around, seen);
        check_list(s, n.otherwise, around, seen);
        break;
      case Node::Kind::loop:
      case Node::Kind::scope:
        check_list(s, n.body, &n, seen);
        break;
      case Node::Kind::break_:
        REQUIRE(around != nullptr);
        REQUIRE(last);
        break;
      case Node::Kind::continue_:
        REQUIRE(around != nullptr);
        REQUIRE(around->kind == Node::Kind::loop);
        REQUIRE(last);
        break;
      case Node::Kind::exit:
        REQUIRE(last);
        break;
      case Node::Kind::assign:
        REQUIRE(s.program.regs.at(n.reg.id).width == Width::pred);
        break;
    }
  }
}

}  // namespace

void check_shape(const Structured& s) {
  REQUIRE(verify(s.program).empty());
  std::vector<int> seen(s.program.blocks.size());
  check_list(s, s.body, nullptr, seen);
}

}  // namespace lanewise::ir::testing
