#include "runtime/ir/passes/values/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ir {
namespace {

/// So often may what is known of an argument become less before its bounds go in steps of bytes,
/// and before all is given up.
constexpr uint8_t kMostGrowths = 4, kMostBitGrowths = 48;
/// Conditions made of conditions are followed so far.
constexpr int kConditions = 3;
/// Sweeps that look for names of one number.
constexpr int kRootSweeps = 4;
/// Sweeps in which bounds that were given up in loops are found again.
constexpr int kNarrowings = 2;

constexpr uint64_t kPointerAlignment = 16;

/// Of those of integers.
Cond mirrored(Cond cond) {
  constexpr Cond kMirrored[] = {Cond::eq, Cond::ne, Cond::gt, Cond::ge, Cond::lt, Cond::le};
  return kMirrored[static_cast<size_t>(cond)];
}

/// The next bounds whose widths are whole bytes.
uint64_t widened(uint64_t most) {
  return ~uint64_t{0} >> (64 - std::max(8, (static_cast<int>(std::bit_width(most)) + 7) / 8 * 8));
}
int64_t widened(int64_t bound) {
  const auto size = static_cast<uint64_t>(bound < 0 ? ~bound : bound);
  const auto most = static_cast<int64_t>(widened(2 * size) >> 1);
  return bound < 0 ? ~most : most;
}

}  // namespace

Numbers::Numbers(const Program& program, const LaunchNumbers& launch, Ssa::Split split)
    : p_(program),
      launch_(launch),
      ssa_(program, split),
      flow_(ssa_),
      known_(ssa_.size()),
      growths_(ssa_.size()) {
  if (program.blocks.empty()) return;
  for (uint32_t v = 0; v < ssa_.size(); ++v)
    if (ssa_[v].kind == Ssa::Kind::entry)
      known_[v] = launch.unset_is_zero ? Known::exactly(0, bits(v)) : Known::any(bits(v));
  find_roots();
  find_conditions();
  find_differences();
  flow_.run(*this);
  narrowing_ = true;
  for (int n = 0; widened_ && n < kNarrowings; ++n) flow_.sweep(*this);
}

Known Numbers::of(uint32_t value) const {
  if (value == kNone || known_[value].none()) return Known::any(value == kNone ? 64 : bits(value));
  return known_[value];
}

Known Numbers::use(uint32_t block, size_t inst, size_t s) const {
  const Known known = source(block, inst, s);
  const uint32_t value = ssa_.use(block, inst, s);
  return known.none() ? Known::any(value == kNone ? 64 : bits(value)) : known;
}

Known Numbers::source(uint32_t block, size_t inst, size_t s) const {
  const Inst& i = p_.blocks[block].insts[inst];
  const Operand& o = i.src[s];
  if (o.is_imm()) return Known::exactly(o.imm, bits_of(source_width(i, s).value_or(Width::b64)));
  if (!o.is_reg()) return Known::any(bits_of(source_width(i, s).value_or(Width::b64)));
  const uint32_t value = ssa_.use(block, inst, s);
  return value == kNone ? Known::any(bits_of(p_.regs[o.index].width)) : known_[value];
}

/// What reads the operands of compares, too: the arguments behind branches on them.
void Numbers::find_conditions() {
  for (const uint32_t b : ssa_.order().nodes)
    for (const Ssa::Incoming& in : ssa_.incoming(b)) {
      if (in.from == kNone || p_.blocks[in.from].term.kind != Terminator::Kind::branch) continue;
      for (uint32_t n = 0; n < ssa_.arguments(b); ++n)
        depend(ssa_.deciding(in.from), ssa_.first_node(b) + n, kConditions);
    }
}
void Numbers::depend(uint32_t condition, uint32_t node, int depth) {
  condition = root(condition);
  const Inst* made = ssa_.made_by(condition);
  if (made == nullptr || depth == 0) return;
  const Ssa::Value& v = ssa_[condition];
  for (size_t s = 0; s < made->src.size(); ++s) {
    const uint32_t source = ssa_.use(v.block, v.inst, s);
    if (source == kNone) continue;
    if (made->op == Op::icmp)
      compared_[source].push_back(node);
    else if (made->type == Type::pred)
      depend(source, node, depth - 1);
  }
}

void Numbers::find_differences() {
  for (uint32_t v = 0; v < ssa_.size(); ++v) {
    const Inst* made = ssa_.made_by(v);
    if (made == nullptr || made->op != Op::sub) continue;
    const Ssa::Value& at = ssa_[v];
    const uint32_t from = ssa_.use(at.block, at.inst, 0), taken = ssa_.use(at.block, at.inst, 1);
    if (from == kNone || taken == kNone) continue;
    if (const auto type = order(at.block, from, taken)) ordered_.emplace(v, *type);
    const Inst* part = ssa_.made_by(taken);
    if (part == nullptr || part->op != Op::and_) continue;
    const Inst* multiple = ssa_.made_by(from);
    for (size_t s = 0; s < 2; ++s) {
      const uint32_t whole = ssa_.use(ssa_[taken].block, ssa_[taken].inst, s);
      if (whole == kNone) continue;
      uint64_t factor = whole == from ? 1 : 0;
      if (multiple != nullptr && multiple->src.size() == 2 && multiple->src[1].is_imm() &&
          ssa_.use(ssa_[from].block, ssa_[from].inst, 0) == whole) {
        const uint64_t by = multiple->src[1].imm;
        if (multiple->op == Op::shl && by < 32) factor = uint64_t{1} << by;
        if (multiple->op == Op::mul && by <= UINT32_MAX) factor = by;
      }
      if (factor == 0) continue;
      differences_[v] = {whole, ssa_[taken].block, ssa_[taken].inst, 1 - s, factor};
      const uint32_t node = ssa_.first_node(at.block) + ssa_.arguments(at.block) + at.inst;
      compared_[whole].push_back(node);
      if (const uint32_t mask = ssa_.use(ssa_[taken].block, ssa_[taken].inst, 1 - s); mask != kNone)
        compared_[mask].push_back(node);
      break;
    }
  }
}

/// Splits give one number several names, and where paths meet again another one: arguments whose
/// inputs are all one value, or themselves, are that value.
void Numbers::find_roots() {
  roots_.resize(ssa_.size());
  for (uint32_t v = 0; v < ssa_.size(); ++v) roots_[v] = v;
  bool changed = true;
  for (int n = 0; changed && n < kRootSweeps; ++n) {
    changed = false;
    for (const uint32_t b : ssa_.order().nodes) {
      for (uint32_t k = 0; k < ssa_.arguments(b); ++k) {
        const uint32_t value = ssa_.first_argument(b) + k;
        uint32_t only = kNone;
        bool one = true;
        for (const uint32_t input : ssa_.inputs(value)) {
          const uint32_t other = roots_[input];
          if (other == value || other == only) continue;
          one = one && only == kNone;
          only = other;
        }
        if (!one || only == kNone || roots_[value] == only) continue;
        roots_[value] = only;
        changed = true;
      }
    }
  }
}

/// Has a branch on the way to the block found that one value is no less than the other? The type is
/// that of the compare.
std::optional<Type> Numbers::order(uint32_t block, uint32_t greater, uint32_t less) const {
  for (int n = 0; n < kMostDominators && block != 0 && block != kNone; ++n) {
    if (const auto way = branch_to(ssa_, block))
      if (const auto type =
              order_by(way->condition, way->holds, root(greater), root(less), kConditions))
        return type;
    block = ssa_.dom().parent[block];
  }
  return {};
}

std::optional<Type> Numbers::order_by(uint32_t condition, bool holds, uint32_t greater,
                                      uint32_t less, int depth) const {
  condition = root(condition);
  const Inst* made = condition == kNone ? nullptr : ssa_.made_by(condition);
  if (made == nullptr || depth == 0) return {};
  const Ssa::Value& at = ssa_[condition];
  const auto source = [&](size_t s) { return root(ssa_.use(at.block, at.inst, s)); };
  if (made->op == Op::icmp && made->cond <= Cond::ge) {
    Cond cond = holds ? made->cond : opposite(made->cond);
    if (source(0) == less && source(1) == greater)
      cond = mirrored(cond);
    else if (source(0) != greater || source(1) != less)
      return {};
    return cond == Cond::ge || cond == Cond::gt ? std::optional(made->type) : std::nullopt;
  }
  std::optional<Type> type;
  each_implied(ssa_, condition, holds, [&](uint32_t part, bool part_holds) {
    if (!type) type = order_by(part, part_holds, greater, less, depth - 1);
  });
  return type;
}

/// (factor - 1) * whole + (whole & ~mask), or of numbers whose order is known.
Known Numbers::difference(uint32_t value, const Known& known) const {
  if (const auto order = ordered_.find(value); order != ordered_.end()) {
    const Ssa::Value& at = ssa_[value];
    const Known a = source(at.block, at.inst, 0), b = source(at.block, at.inst, 1);
    const bool plain = !is_signed(order->second) || (a.low >= 0 && b.low >= 0);
    if (a.none() || b.none() || !plain || a.most < b.least) return known;
    return met(known, Known::between(0, a.most - b.least, bits(value)), bits(value));
  }
  const auto found = differences_.find(value);
  if (found == differences_.end()) return known;
  const Difference& d = found->second;
  const Known whole = known_[d.whole], mask = source(d.block, d.inst, d.mask);
  if (whole.none() || mask.none() || whole.most > ones_of(bits(value)) / d.factor) return known;
  const uint64_t kept = std::min(whole.most, ~whole.zero & ~mask.one);
  return met(
      known,
      Known::between((d.factor - 1) * whole.least, (d.factor - 1) * whole.most + kept, bits(value)),
      bits(value));
}

Known Numbers::behind(const Known& known, uint32_t value, uint32_t condition, bool holds,
                      int depth) const {
  condition = root(condition);
  if (root(value) == condition) return met(known, Known::exactly(holds ? 1 : 0, 1), 1);
  const Inst* made = ssa_.made_by(condition);
  if (made == nullptr || depth == 0) return known;
  const Ssa::Value& at = ssa_[condition];
  const auto source = [&](size_t s) { return ssa_.use(at.block, at.inst, s); };
  if (made->op == Op::icmp && made->cond <= Cond::ge) {
    const Cond cond = holds ? made->cond : opposite(made->cond);
    if (root(source(0)) == root(value))
      return where(known, cond, this->source(at.block, at.inst, 1), made->type);
    if (root(source(1)) == root(value))
      return where(known, mirrored(cond), this->source(at.block, at.inst, 0), made->type);
    return known;
  }
  Known all = known;
  each_implied(ssa_, condition, holds, [&](uint32_t part, bool part_holds) {
    all = behind(all, value, part, part_holds, depth - 1);
  });
  return all;
}

void Numbers::argument(uint32_t value) {
  const uint32_t block = ssa_[value].block;
  const auto inputs = ssa_.inputs(value);
  const auto incoming = ssa_.incoming(block);
  Known sum;
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (!flow_.taken(incoming[n])) continue;
    Known brought = known_[inputs[n]];
    const uint32_t from = incoming[n].from;
    if (from != kNone && !brought.none()) {
      const Terminator& t = p_.blocks[from].term;
      if (t.kind == Terminator::Kind::branch && t.targets[0] != t.targets[1])
        brought = behind(brought, inputs[n], ssa_.deciding(from),
                         (t.targets[0] == block) != t.cond.negate, kConditions);
    }
    sum = joined(sum, brought);
  }
  learn(value, sum);
}

void Numbers::instruction(uint32_t block, uint32_t index) {
  const Inst& inst = p_.blocks[block].insts[index];
  if (inst.dst.empty()) return;
  in_.clear();
  bool ready = true;
  const bool reads = info(inst.op).trait == OpTrait::pure;
  for (size_t s = 0; reads && s < inst.src.size(); ++s) {
    in_.push_back(source(block, index, s));
    ready = ready && !in_.back().none();
  }
  for (size_t d = 0; d < inst.dst.size(); ++d) {
    if (!inst.dst[d].valid()) continue;
    const uint32_t value = ssa_.defined(block, index, d);
    const bool guarded = ssa_[value].kind == Ssa::Kind::merge;
    const uint32_t made = guarded ? ssa_.inputs(value)[0] : value;
    if (ready) learn(made, difference(made, result(inst, d, made, in_)));
    if (!guarded) continue;
    const Known guard = known_[ssa_.guard(block, index)];
    if (guard.none()) continue;
    const auto known = guard.constant();
    const Known before = known_[ssa_.inputs(value)[1]];
    if (known)
      learn(value, (*known != 0) != inst.guard.negate ? known_[made] : before);
    else
      learn(value, joined(known_[made], before));
  }
}

void Numbers::leave(uint32_t block) {
  const Terminator& t = p_.blocks[block].term;
  const uint32_t decides = ssa_.deciding(block);
  const auto& succs = ssa_.graph().succs[block];
  uint32_t target = kNone;
  if (decides != kNone) {
    if (known_[decides].none()) return;
    const auto known = known_[decides].constant();
    if (known && t.kind == Terminator::Kind::branch)
      target = t.targets[(*known != 0) != t.cond.negate ? 0 : 1];
    if (known && t.kind == Terminator::Kind::switch_) {
      const auto hit = std::ranges::find(t.cases, *known);
      target = t.targets[static_cast<size_t>(hit - t.cases.begin())];
    }
  }
  if (target == kNone) return flow_.reach_all(block);
  flow_.reach(block, static_cast<uint32_t>(std::ranges::find(succs, target) - succs.begin()));
}

void Numbers::learn(uint32_t value, Known made) {
  Known& now = known_[value];
  if (narrowing_) {
    now = met(now, made, bits(value));
    return;
  }
  made = joined(now, made);
  if (made == now) return;
  if (ssa_[value].kind == Ssa::Kind::argument && ++growths_[value] > kMostGrowths) {
    const Known any = Known::any(bits(value));
    widened_ = true;
    if (growths_[value] > kMostBitGrowths) {
      made = any;
      growths_[value] = kMostBitGrowths;
    } else {
      if (made.least != now.least) made.least = 0;
      if (made.most != now.most) made.most = std::min(widened(made.most), any.most);
      if (made.low != now.low) made.low = std::max(made.low < 0 ? widened(made.low) : 0, any.low);
      if (made.high != now.high)
        made.high = made.high < 0 ? -1 : std::min(widened(made.high), any.high);
    }
    if (made == now) return;
  }
  now = made;
  flow_.changed(value);
  if (const auto at = compared_.find(value); at != compared_.end())
    for (const uint32_t node : at->second) flow_.touch(node);
}

Known Numbers::result(const Inst& inst, size_t which, uint32_t value,
                      std::span<const Known> in) const {
  const unsigned width = bits(value);
  if (inst.op == Op::sreg) return special(inst, width);
  if (inst.op == Op::load) return loaded(inst, which, width);
  if (info(inst.op).trait != OpTrait::pure || inst.src.empty()) return Known::any(width);
  if (inst.op == Op::mbcnt) {  // lanes below this one
    const Known below = Known::between(0, p_.wave_lanes - 1, 32);
    Inst add;
    add.op = Op::add;
    add.type = Type::u32;
    const Known both[] = {below, in[1]};
    return compute(add, 0, both, 32);
  }
  if (std::ranges::all_of(in, [](const Known& k) { return k.constant().has_value(); })) {
    std::vector<uint64_t> sources;
    for (const Known& k : in) sources.push_back(*k.constant());
    if (const auto exact = evaluate(inst, sources)) return Known::exactly((*exact)[which], width);
  }
  return compute(inst, which, in, width);
}

Known Numbers::loaded(const Inst& inst, size_t which, unsigned width) const {
  const Mem& m = *inst.mem;
  const unsigned size = size_of(m.elem);
  if (const auto known = parameter(inst, which)) return Known::exactly(*known, width);
  if (size == 1 || size == 2) {
    const int64_t half = int64_t{1} << (8 * size - 1);
    return is_signed(m.elem) ? Known::between_signed(-half, half - 1, width)
                             : Known::between(0, static_cast<uint64_t>(2 * half - 1), width);
  }
  Known any = Known::any(width);
  if (!launch_.aligned_pointers || m.space != Space::param || !inst.src[0].is_imm()) return any;
  // The low word of a pointer argument, read whole or dword by dword.
  const uint64_t at = inst.src[0].imm + static_cast<uint64_t>(m.offset) + which * size;
  const auto is_there = [at](const Param& p) { return p.pointer && p.offset == at; };
  if (std::ranges::any_of(p_.params, is_there)) any.zero |= kPointerAlignment - 1;
  return met(any, any, width);
}

/// What the launch has where the load reads it.
std::optional<uint64_t> Numbers::parameter(const Inst& load, size_t which) const {
  const Mem& m = *load.mem;
  if (m.space != Space::param || !load.src[0].is_imm()) return {};
  const unsigned size = size_of(m.elem);
  uint64_t first = (load.src[0].imm + static_cast<uint64_t>(m.offset)) & 0xffffffff;
  if (m.align == AlignRule::force) first &= ~uint64_t{std::bit_ceil(m.alignment()) - 1};
  const uint64_t at = first + which * size;
  if (at + size > launch_.params.size()) return {};
  uint64_t value = 0;
  std::memcpy(&value, launch_.params.data() + at, size);
  if (is_signed(m.elem) && size < 4) value = static_cast<uint32_t>(signed_of(value, 8 * size));
  return value;
}

Known Numbers::special(const Inst& inst, unsigned width) const {
  const auto reg = static_cast<SReg>(inst.mode);
  const auto below = [&](uint64_t n) { return Known::between(0, n == 0 ? 0 : n - 1, width); };
  switch (reg) {
    case SReg::shared_window:
      return Known::exactly(guest::kSharedWindow, width);
    case SReg::local_window:
      return Known::exactly(guest::kLocalWindow, width);
    case SReg::laneid:
      return below(p_.wave_lanes);
    default:
      break;
  }
  static_assert(SReg::tid_x == SReg{0} && SReg::ntid_x == SReg{3} && SReg::ctaid_x == SReg{6} &&
                SReg::nctaid_x == SReg{9});
  const size_t axis = inst.mode % 3;
  if (launch_.grid && reg >= SReg::ctaid_x && reg <= SReg::nctaid_z) {
    const uint32_t groups[] = {launch_.grid->x, launch_.grid->y, launch_.grid->z};
    return reg >= SReg::nctaid_x ? Known::exactly(groups[axis], width) : below(groups[axis]);
  }
  if (!launch_.block) return Known::any(width);
  const uint64_t lanes = std::max<uint64_t>(launch_.block->total(), 1);
  const uint32_t axes[] = {launch_.block->x, launch_.block->y, launch_.block->z};
  if (reg <= SReg::tid_z) return below(axes[axis]);
  if (reg <= SReg::ntid_z) return Known::exactly(axes[axis], width);
  if (reg == SReg::linear_tid) return below(lanes);
  return reg == SReg::warpid ? below((lanes - 1) / p_.wave_lanes + 1) : Known::any(width);
}

}  // namespace lanewise::ir
