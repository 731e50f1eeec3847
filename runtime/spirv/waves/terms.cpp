#include "runtime/spirv/waves/terms.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/values/numbering.hpp"

namespace lanewise::spirv {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

uint64_t ones(Type type) {
  if (type == Type::pred) return 1;
  return ir::width_of(type) == ir::Width::b64 ? ~uint64_t{0} : 0xffffffff;
}

/// How many low bits of a result may be set, as far as the operation says it.
uint32_t result_width(const ir::Inst& inst, uint32_t which) {
  switch (inst.op) {
    case Op::icmp:
    case Op::fcmp:
      return 1;
    case Op::addc:
    case Op::subb:
      return which == 1 ? 1 : 64;
    case Op::zext8:
      return 8;
    case Op::zext16:
      return 16;
    default:
      return inst.type == Type::pred ? 1 : 64;
  }
}

}  // namespace

Terms::Terms()
    : half_(ir::instruction(Op::unpack64, Type::u32, {ir::Reg{}, ir::Reg{}}, {})),
      pack_(ir::instruction(Op::pack64, Type::u64, {ir::Reg{}}, {})),
      zext8_(ir::instruction(Op::zext8, Type::u32, {ir::Reg{}}, {})),
      zext16_(ir::instruction(Op::zext16, Type::u32, {ir::Reg{}}, {})) {}

Term Terms::intern(Node node, Key key) {
  key.push_back(static_cast<uint64_t>(node.kind));
  const auto [at, added] = known_.try_emplace(std::move(key), static_cast<Term>(nodes_.size()));
  if (added) nodes_.push_back(std::move(node));
  return at->second;
}

Term Terms::constant(uint64_t bits) {
  Node node;
  node.kind = Kind::constant;
  node.width = static_cast<uint32_t>(std::bit_width(bits));
  node.bits = bits;
  return intern(std::move(node), {bits});
}

Term Terms::unknown(uint32_t bits) {
  Node node;
  node.width = bits;
  nodes_.push_back(std::move(node));
  return static_cast<Term>(nodes_.size() - 1);
}

Term Terms::address_of(const ir::Operand& symbol) {
  Node node;
  node.kind = Kind::symbol;
  return intern(std::move(node), {symbol.index, symbol.imm});
}

Term Terms::opposite(Term condition) {
  const Node& n = nodes_[condition];
  if (n.kind == Kind::constant) return constant(n.bits ^ 1);
  if (n.kind == Kind::opposite) return n.sources[0];
  Node node;
  node.kind = Kind::opposite;
  node.width = 1;
  node.sources = {condition};
  return intern(std::move(node), {condition});
}

Term Terms::choice(Term condition, Term yes, Term no) {
  if (const auto known = bits(condition)) return *known != 0 ? yes : no;
  if (nodes_[condition].kind == Kind::opposite) {
    condition = nodes_[condition].sources[0];
    std::swap(yes, no);
  }
  const auto same_choice = [&](Term t) {
    return nodes_[t].kind == Kind::choice && nodes_[t].sources[0] == condition;
  };
  if (same_choice(yes)) yes = nodes_[yes].sources[1];
  if (same_choice(no)) no = nodes_[no].sources[2];
  if (yes == no) return yes;
  if (nodes_[condition].width == 1 && is(yes, 1) && is(no, 0)) return condition;
  if (nodes_[condition].width == 1 && is(yes, 0) && is(no, 1)) return opposite(condition);
  Node node;
  node.kind = Kind::choice;
  node.width = std::max(nodes_[yes].width, nodes_[no].width);
  node.sources = {condition, yes, no};
  return intern(std::move(node), {condition, yes, no});
}

Term Terms::low_bytes(Term term, uint32_t bytes) {
  if (bytes == 1) return result(zext8_, 0, {term});
  if (bytes == 2) return result(zext16_, 0, {term});
  return term;
}

std::optional<uint64_t> Terms::bits(Term term) const {
  if (nodes_[term].kind != Kind::constant) return std::nullopt;
  return nodes_[term].bits;
}

bool Terms::is(Term term, Op op) const {
  return nodes_[term].kind == Kind::operation && nodes_[term].inst->op == op;
}

bool Terms::is(Term term, uint64_t value) const {
  return nodes_[term].kind == Kind::constant && nodes_[term].bits == value;
}

/// Each bit of one is the opposite of the other's.
bool Terms::complements(Term a, Term b) const {
  return (is(a, Op::not_) && nodes_[a].sources[0] == b) ||
         (is(b, Op::not_) && nodes_[b].sources[0] == a);
}

Term Terms::result(const ir::Inst& inst, uint32_t which, const std::vector<Term>& sources) {
  const bool all_known =
      !sources.empty() && std::ranges::all_of(sources, [&](Term t) { return bits(t).has_value(); });
  if (all_known && !inst.mem && !inst.buffer) {
    std::vector<uint64_t> values;
    for (const Term t : sources) values.push_back(nodes_[t].bits);
    if (const auto known = ir::evaluate(inst, values)) return constant((*known)[which]);
  }
  if (const auto found = simpler(inst, which, sources)) return *found;
  return operation(inst, which, sources);
}

Term Terms::operation(const ir::Inst& inst, uint32_t which, std::vector<Term> sources) {
  if (ir::commutes(inst) && sources[0] > sources[1]) std::swap(sources[0], sources[1]);
  const auto byte = [](auto v) { return static_cast<uint64_t>(static_cast<uint8_t>(v)); };
  Key key = {byte(inst.op) | byte(ir::plain_type(inst)) << 8 | byte(inst.from) << 16 |
                 byte(inst.cond) << 24 | byte(inst.round) << 32 | byte(inst.ftz) << 40 |
                 byte(inst.sat) << 41 | byte(inst.mode) << 48,
             which};
  if (inst.mem) {  // of a parameter
    const ir::Mem& m = *inst.mem;
    key.push_back(byte(m.elem) | byte(m.count) << 8 | byte(m.align_bytes) << 16 |
                  byte(m.align) << 24);
    key.push_back(static_cast<uint64_t>(m.offset));
  }
  key.insert(key.end(), sources.begin(), sources.end());
  Node node;
  node.kind = Kind::operation;
  node.width = result_width(inst, which);
  node.which = which;
  node.inst = &inst;
  node.sources = std::move(sources);
  return intern(std::move(node), std::move(key));
}

std::optional<Term> Terms::simpler(const ir::Inst& inst, uint32_t which,
                                   const std::vector<Term>& s) {
  switch (inst.op) {
    case Op::mov:
      if (ir::is_plain_move(inst)) return s[0];
      return std::nullopt;
    case Op::select:
      return choice(s[0], s[1], s[2]);
    case Op::not_:
      if (inst.type == Type::pred) return opposite(s[0]);
      if (is(s[0], Op::not_)) return nodes_[s[0]].sources[0];
      return std::nullopt;
    case Op::and_:
    case Op::or_:
    case Op::xor_:
      return logic(inst, s[0], s[1]);
    case Op::add:
      if (is(s[1], 0)) return s[0];
      if (is(s[0], 0)) return s[1];
      return std::nullopt;
    case Op::sub:
      if (s[0] == s[1]) return constant(0);
      if (is(s[1], 0)) return s[0];
      return std::nullopt;
    case Op::addc:
      return with_carry(inst, which, s);
    case Op::subb:
      return with_borrow(inst, which, s);
    case Op::icmp:
      return comparison(inst, s[0], s[1]);
    case Op::unpack64:
      return half(which, s[0]);
    case Op::trunc32:
      return result(half_, 0, s);
    case Op::pack64:
      return joined(s[0], s[1]);
    case Op::zext64:
      return result(pack_, 0, {s[0], constant(0)});
    case Op::zext8:
    case Op::zext16:
      if (nodes_[s[0]].width <= (inst.op == Op::zext8 ? 8 : 16)) return s[0];
      return extended(inst, s[0]);
    case Op::sext8:
    case Op::sext16:
      return extended(inst, s[0]);
    default:
      return std::nullopt;
  }
}

std::optional<Term> Terms::logic(const ir::Inst& inst, Term a, Term b) {
  const uint64_t all = ones(inst.type);
  const bool conditions = inst.type == Type::pred;
  const bool apart = conditions ? opposite(a) == b : complements(a, b);
  if (bits(a)) std::swap(a, b);
  switch (inst.op) {
    case Op::and_:
      if (a == b || is(b, all)) return a;
      if (is(b, 0) || apart) return constant(0);
      if ((is(b, 0xffff) && nodes_[a].width <= 16) || (is(b, 1) && nodes_[a].width == 1)) return a;
      return std::nullopt;
    case Op::or_:
      if (a == b || is(b, 0)) return a;
      if (is(b, all) || apart) return constant(all);
      return std::nullopt;
    default:
      if (a == b) return constant(0);
      if (is(b, 0)) return a;
      if (conditions && is(b, 1)) return opposite(a);
      return std::nullopt;
  }
}

std::optional<Term> Terms::with_carry(const ir::Inst& inst, uint32_t which,
                                      const std::vector<Term>& s) {
  const bool carry = is(s[2], 1);
  if (!carry && !is(s[2], 0)) return std::nullopt;
  // ~x + x is all ones: what a SASS subtraction of equal words is.
  if (complements(s[0], s[1])) return which == 0 ? constant(carry ? 0 : ones(inst.type)) : s[2];
  if (carry || (!is(s[0], 0) && !is(s[1], 0))) return std::nullopt;
  return which == 1 ? constant(0) : is(s[0], 0) ? s[1] : s[0];
}

std::optional<Term> Terms::with_borrow(const ir::Inst& inst, uint32_t which,
                                       const std::vector<Term>& s) {
  const bool borrow = is(s[2], 1);
  if (!borrow && !is(s[2], 0)) return std::nullopt;
  if (s[0] == s[1]) return which == 0 ? constant(borrow ? ones(inst.type) : 0) : s[2];
  if (borrow || !is(s[1], 0)) return std::nullopt;
  return which == 0 ? s[0] : constant(0);
}

std::optional<Term> Terms::comparison(const ir::Inst& inst, Term a, Term b) {
  if (a == b)
    return constant(inst.cond == Cond::eq || inst.cond == Cond::le || inst.cond == Cond::ge);
  if (inst.cond == Cond::ne) {
    ir::Inst equal = inst;
    equal.cond = Cond::eq;
    own_.push_back(std::move(equal));
    return opposite(result(own_.back(), 0, {a, b}));
  }
  if (inst.cond != Cond::eq) return std::nullopt;
  if (bits(a)) std::swap(a, b);
  if (nodes_[a].width == 1 && is(b, 0)) return opposite(a);
  if (nodes_[a].width == 1 && is(b, 1)) return a;
  // A condition that was a number for a while.
  const Node& n = nodes_[a];
  if (n.kind != Kind::choice || !bits(b) || !bits(n.sources[1]) || !bits(n.sources[2]))
    return std::nullopt;
  const Term condition = n.sources[0];
  const bool yes = n.sources[1] == b, no = n.sources[2] == b;
  return choice(condition, constant(yes), constant(no));
}

/// What was extended from as many bits before is extended from what it was then.
std::optional<Term> Terms::extended(const ir::Inst& inst, Term from) {
  const bool byte = inst.op == Op::zext8 || inst.op == Op::sext8;
  const bool before = byte ? is(from, Op::zext8) || is(from, Op::sext8)
                           : is(from, Op::zext16) || is(from, Op::sext16);
  if (!before) return std::nullopt;
  return result(inst, 0, {nodes_[from].sources[0]});
}

std::optional<Term> Terms::half(uint32_t which, Term whole) {
  if (is(whole, Op::pack64)) return nodes_[whole].sources[which];
  if (which == 0 && is(whole, Op::sext64)) return nodes_[whole].sources[0];
  return std::nullopt;
}

std::optional<Term> Terms::joined(Term low, Term high) const {
  const Node &l = nodes_[low], &h = nodes_[high];
  const bool halves = is(low, Op::unpack64) && is(high, Op::unpack64) && l.which == 0 &&
                      h.which == 1 && l.sources == h.sources;
  if (!halves) return std::nullopt;
  return l.sources[0];
}

/// What must be looked at to build the term anew; sources are older than what is made of them.
std::vector<bool> Terms::parts(Term term, const Bindings& by) const {
  std::vector<bool> found(term + 1, false);
  found[term] = true;
  for (Term t = term + 1; t-- > 0;) {
    if (!found[t] || by.contains(t)) continue;
    for (const Term source : nodes_[t].sources) found[source] = true;
  }
  return found;
}

std::vector<Term> Terms::unknowns(Term term) const {
  std::vector<Term> list;
  const std::vector<bool> found = parts(term, {});
  for (Term t = 0; t <= term; ++t)
    if (found[t] && nodes_[t].kind == Kind::unknown) list.push_back(t);
  return list;
}

Term Terms::rebuilt(const Node& node, const std::vector<Term>& sources) {
  switch (node.kind) {
    case Kind::choice:
      return choice(sources[0], sources[1], sources[2]);
    case Kind::opposite:
      return opposite(sources[0]);
    default:
      return result(*node.inst, node.which, sources);
  }
}

Term Terms::replaced(Term term, const Bindings& by) {
  if (by.empty()) return term;
  const std::vector<bool> needed = parts(term, by);
  std::vector<Term> now(term + 1);
  for (Term t = 0; t <= term; ++t) {
    if (!needed[t]) continue;
    if (const auto at = by.find(t); at != by.end()) {
      now[t] = at->second;
      continue;
    }
    const Node node = nodes_[t];
    std::vector<Term> sources;
    for (const Term source : node.sources) sources.push_back(now[source]);
    now[t] = sources == node.sources ? t : rebuilt(node, sources);
  }
  return now[term];
}

void Terms::assume(Term condition, bool value, Bindings& known) {
  std::vector<std::pair<Term, bool>> work = {{condition, value}};
  while (!work.empty()) {
    const auto [term, holds] = work.back();
    work.pop_back();
    if (bits(term)) continue;
    known[term] = constant(holds ? 1 : 0);
    const Node& n = nodes_[term];
    if (n.kind == Kind::opposite) work.push_back({n.sources[0], !holds});
    if (n.kind != Kind::operation || n.inst->type != Type::pred) continue;
    const bool follows = n.inst->op == (holds ? Op::and_ : Op::or_);
    if (!follows) continue;
    for (const Term source : n.sources) work.push_back({source, holds});
  }
}

}  // namespace lanewise::spirv
