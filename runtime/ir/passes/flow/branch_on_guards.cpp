#include "runtime/ir/passes/flow/branch_on_guards.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/needs.hpp"
#include "runtime/ir/passes/waves/uniformity.hpp"

namespace lanewise::ir {
namespace {

/// How far back a row collects what only it needs, so that the pass stays linear.
constexpr size_t kReach = 96;
/// A row of loads is worth a branch from this length on. Stores and atomics branch anyway.
constexpr size_t kLeastRow = 4;
/// Branches in each other.
constexpr int kGuardDepth = 6;

/// An instruction, and where the analysis knows it.
struct Item {
  const Inst* inst = nullptr;
  size_t at = 0;
};

/// Registers that instructions read and write.
class Touched {
 public:
  explicit Touched(size_t registers) : read_(registers), written_(registers) {}
  void clear() { ++now_; }
  void add(const Inst& inst) {
    for_each_use(inst, [&](uint32_t r) { read_[r] = now_; });
    for (const Reg r : inst.dst)
      if (r.valid()) written_[r.id] = now_;
  }
  /// The instruction and those here may change places.
  bool free_of(const Inst& inst) const {
    bool free = true;
    for_each_use(inst, [&](uint32_t r) { free = free && written_[r] != now_; });
    for (const Reg r : inst.dst)
      free = free && (!r.valid() || (written_[r.id] != now_ && read_[r.id] != now_));
    return free;
  }

 private:
  std::vector<uint32_t> read_, written_;  ///< [register] when that was seen last
  uint32_t now_ = 1;
};

bool is_guest_access(const Inst& i) {
  return (i.op == Op::load || i.op == Op::store || i.op == Op::atom) && i.event == 0 &&
         i.mem->space != Space::param;
}

/// A stretch of a block that goes behind a branch.
struct Row {
  uint32_t condition = kNone;
  bool holds = true;
  std::vector<Item> body, others;  ///< what stays in front
  size_t accesses = 0, end = 0;
  bool writes = false, whole = true;  ///< all guards are the condition
};

class Rows {
 public:
  explicit Rows(const Program& p)
      : p_(p), needs_(p), in_row_(p.regs.size()), skipped_(p.regs.size()), writes_(p.regs.size()) {
    for (const Block& block : p.blocks)
      for (const Inst& inst : block.insts)
        for (const Reg r : inst.dst)
          if (r.valid()) ++writes_[r.id];
  }

  std::vector<Block> run() {
    std::vector<uint32_t> first, last;  // new blocks of each old one
    for (block_ = 0; block_ < p_.blocks.size(); ++block_) {
      first.push_back(static_cast<uint32_t>(made_.size()));
      split(p_.blocks[block_]);
      last.push_back(static_cast<uint32_t>(made_.size() - 1));
    }
    for (const uint32_t b : last)
      for (uint32_t& target : made_[b].term.targets) target = first[target];
    return std::move(made_);
  }
  /// Guards are left behind the new branches.
  bool nested() const { return nested_; }

 private:
  using Fact = Needs::Fact;
  using Facts = Needs::Facts;

  void split(const Block& block) {
    made_.emplace_back().label = block.label;
    insts_.clear();
    for (size_t n = 0; n < block.insts.size(); ++n) insts_.push_back({&block.insts[n], n});
    const bool reached = needs_.ssa().order().reachable(block_);
    known_.reset();
    for (size_t n = 0; n < insts_.size();) {
      const Inst& i = *insts_[n].inst;
      const bool starts = reached && !i.guard.always() && is_guest_access(i);
      const size_t end = starts ? take_row(n) : n;
      if (end == n) plain_.push_back(insts_[n]);
      n = std::max(n + 1, end);
    }
    finish();
    made_.back().term = block.term;
  }

  /// What branches that dominate the block have found.
  const Facts& known() {
    if (known_) return *known_;
    known_.emplace();
    uint32_t b = block_;
    for (int n = 0; n < kMostDominators && b != 0 && b != kNone;
         ++n, b = needs_.ssa().dom().parent[b])
      if (const auto found = branch_to(needs_.ssa(), b); found && found->condition != kNone)
        std::ranges::copy(needs_.implied(found->condition, found->holds),
                          std::back_inserter(*known_));
    std::ranges::sort(*known_);
    return *known_;
  }

  bool same_guard(const Row& row, const Item& item) const {
    return !item.inst->guard.always() && item.inst->guard.negate != row.holds &&
           needs_.ssa().guard(block_, item.at) == row.condition;
  }
  bool guard_implies(const Row& row, const Item& item) {
    if (item.inst->guard.always()) return false;
    return std::ranges::binary_search(needs_.guarded(block_, item.at, true),
                                      Fact{row.condition, row.holds});
  }
  /// Nobody asks for its results where the row does not run.
  bool only_for_row(const Row& row, const Item& item) const {
    for (size_t d = 0; d < item.inst->dst.size(); ++d)
      if (!needs_.only_where(needs_.ssa().defined(block_, item.at, d), row.condition, row.holds))
        return false;
    return true;
  }
  bool is_free(const Item& item) const { return Needs::is_free(p_, *item.inst); }
  bool belongs(const Row& row, const Item& item) {
    if (guard_implies(row, item)) return is_free(item) || is_guest_access(*item.inst);
    return is_free(item) && item.inst->guard.always() && only_for_row(row, item);
  }

  /// The row of accesses under a condition that begins with instruction n.
  Row row_of(size_t n, const Fact& condition) {
    Row row{condition.first, condition.second, {}, {}, 0, n};
    in_row_.clear();
    size_t length = 0, between = 0;
    for (size_t k = n; k < insts_.size() && k < row.end + kReach; ++k) {
      const Item& item = insts_[k];
      if (belongs(row, item)) {
        row.body.push_back(item);
        in_row_.add(*item.inst);
        if (item.inst->guard.always()) continue;
        row.accesses += is_guest_access(*item.inst) ? 1 : 0;
        row.writes = row.writes || (is_guest_access(*item.inst) && item.inst->op != Op::load);
        row.whole = row.whole && same_guard(row, item);
        row.end = k + 1, length = row.body.size(), between = row.others.size();
      } else if (is_free(item) && in_row_.free_of(*item.inst)) {
        row.others.push_back(item);  // it may as well stand in front
      } else {
        break;
      }
    }
    row.body.resize(length);
    row.others.resize(between);
    return row;
  }

  /// Makes a block of a row that begins with instruction n: of its own guard, or of what this and
  /// the guards of others imply. Where the row ends; n if none is long enough.
  size_t take_row(size_t n) {
    const Fact own{needs_.ssa().guard(block_, insts_[n].at), !insts_[n].inst->guard.negate};
    Guard guard = insts_[n].inst->guard;
    Row row = row_of(n, own);
    std::vector<size_t> collected = collect(row);
    const size_t least = row.writes ? 2 : same_in_wave(own.first, kGuardDepth) ? 1 : kLeastRow;
    if (row.body.size() + collected.size() < least) {
      row = Row{};
      for (const Fact& fact : needs_.guarded(block_, insts_[n].at, true)) {
        if (fact == own || std::ranges::binary_search(known(), fact) || !guard_of(fact)) continue;
        Row other = row_of(n, fact);
        if (other.accesses > 1 && other.accesses > row.accesses) row = std::move(other);
      }
      if (row.accesses == 0) return n;
      guard = *guard_of({row.condition, row.holds});
      collected = collect(row);
      if (row.body.size() + collected.size() < kLeastRow) return n;
    }
    std::vector<Item> body;
    body.reserve(collected.size() + row.body.size());
    for (const size_t k : collected) body.push_back(plain_[k]);
    body.insert(body.end(), row.body.begin(), row.body.end());
    for (size_t k = collected.size(); k-- > 0;)
      plain_.erase(plain_.begin() + static_cast<ptrdiff_t>(collected[k]));
    plain_.insert(plain_.end(), row.others.begin(), row.others.end());
    branch(row, guard, body);
    return row.end;
  }

  /// What stands in front of the row and only it needs, as far as that may be done later.
  std::vector<size_t> collect(const Row& row) {
    std::vector<size_t> found;
    skipped_.clear();
    for (const Item& item : row.others) skipped_.add(*item.inst);
    const size_t reach = plain_.size() > kReach ? plain_.size() - kReach : 0;
    for (size_t k = plain_.size(); k-- > reach;) {
      const Item& item = plain_[k];
      if (is_free(item) && belongs(row, item) && skipped_.free_of(*item.inst))
        found.push_back(k);
      else
        skipped_.add(*item.inst);
    }
    std::ranges::reverse(found);
    return found;
  }

  /// The same in all lanes of the wave that hold it, also where these are not all of its lanes.
  bool same_in_wave(uint32_t value, int depth) const {
    const Ssa::Value& v = needs_.ssa()[value];
    if (p_.regs[v.reg].scalar) return true;
    const Inst* made = depth == 0 ? nullptr : needs_.ssa().made_by(value);
    if (made == nullptr || v.kind != Ssa::Kind::result || !made->guard.always()) return false;
    if (!keeps_uniform(*made, Together::wave)) return false;
    for (size_t s = 0; s < made->src.size(); ++s) {
      const uint32_t source = needs_.ssa().use(v.block, v.inst, s);
      if (source != kNone && !same_in_wave(source, depth - 1)) return false;
    }
    return true;
  }

  /// A guard that says what the fact does, if a register still holds the value.
  std::optional<Guard> guard_of(const Fact& fact) const {
    const Ssa::Value& v = needs_.ssa()[fact.first];
    if (v.kind != Ssa::Kind::result || writes_[v.reg] != 1) return {};
    if (!p_.blocks[v.block].insts[v.inst].guard.always()) return {};
    return Guard{Reg{v.reg}, !fact.second};
  }

  /// What is left of an instruction's guard behind the row's branch.
  Guard left_of(const Row& row, const Item& item) {
    if (item.inst->guard.always() || same_guard(row, item)) return {};
    const Facts all = needs_.guarded(block_, item.at, true);
    Facts beyond, left;
    std::ranges::set_difference(all, known(), std::back_inserter(beyond));
    std::ranges::set_difference(beyond, needs_.implied(row.condition, row.holds),
                                std::back_inserter(left));
    std::erase_if(left,
                  [&](const Fact& f) { return needs_.implied(f.first, f.second).size() > 1; });
    nested_ = true;
    if (all.size() >= Needs::kMostFacts || left.size() != 1) return item.inst->guard;
    return guard_of(left[0]).value_or(item.inst->guard);
  }

  void branch(const Row& row, const Guard& guard, const std::vector<Item>& body) {
    finish();
    const auto target = static_cast<uint32_t>(made_.size());
    Terminator& t = made_.back().term;
    t.kind = Terminator::Kind::branch;
    t.cond = guard;
    t.targets = {target, target + 1};
    t.site = body.front().inst->site;
    Block& block = made_.emplace_back();
    block.term.kind = Terminator::Kind::jump;
    block.term.targets = {target + 1};
    block.term.site = body.front().inst->site;
    for (const Item& item : body) block.insts.emplace_back(*item.inst).guard = left_of(row, item);
    made_.emplace_back();
  }

  void finish() {
    for (const Item& item : plain_) made_.back().insts.push_back(*item.inst);
    plain_.clear();
  }

  const Program& p_;
  Needs needs_;
  Touched in_row_, skipped_;
  std::vector<uint32_t> writes_;  ///< [register] how many instructions write it
  std::vector<Block> made_;
  std::vector<Item> insts_;  ///< of the block
  std::vector<Item> plain_;  ///< of the new block that is not finished
  std::optional<Facts> known_;
  uint32_t block_ = 0;
  bool nested_ = false;
};

}  // namespace

void branch_on_guards(Program& program) {
  bool nested =
      any_inst(program, [](const Inst& i) { return !i.guard.always() && is_guest_access(i); });
  for (int depth = 0; nested && depth < kGuardDepth; ++depth) {
    Rows rows(program);
    program.blocks = rows.run();
    nested = rows.nested();
  }
}

}  // namespace lanewise::ir
