#include "runtime/ir/passes/flow/branch_on_guards.hpp"

#include <algorithm>

#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/needs.hpp"

namespace lanewise::ir {
namespace {

/// How far back a row collects what only it needs, so that the pass stays linear.
constexpr size_t kReach = 96;
/// A row of loads is worth a branch from this length on. Stores and atomics branch anyway.
constexpr size_t kLeastRow = 4;

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

bool is_access(const Inst& i) {
  return (i.op == Op::load || i.op == Op::store || i.op == Op::atom) && i.event == 0 &&
         i.mem->space != Space::param;
}

class Rows {
 public:
  explicit Rows(const Program& p)
      : p_(p), needs_(p), in_row_(p.regs.size()), skipped_(p.regs.size()) {}

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

 private:
  void split(const Block& block) {
    made_.emplace_back().label = block.label;
    insts_.clear();
    for (size_t n = 0; n < block.insts.size(); ++n) insts_.push_back({&block.insts[n], n});
    const bool reached = needs_.ssa().order().reachable(block_);
    for (size_t n = 0; n < insts_.size();) {
      const Inst& i = *insts_[n].inst;
      const bool starts = reached && !i.guard.always() && is_access(i);
      const size_t end = starts ? take_row(n) : n;
      if (end == n) plain_.push_back(insts_[n]);
      n = std::max(n + 1, end);
    }
    finish();
    made_.back().term = block.term;
  }

  bool same_guard(const Item& item) const {
    return !item.inst->guard.always() && item.inst->guard.negate != holds_ &&
           needs_.ssa().guard(block_, item.at) == condition_;
  }
  /// Nobody asks for its results where the row does not run.
  bool only_for_row(const Item& item) const {
    for (size_t d = 0; d < item.inst->dst.size(); ++d)
      if (!needs_.only_where(needs_.ssa().defined(block_, item.at, d), condition_, holds_))
        return false;
    return true;
  }
  bool is_free(const Item& item) const { return Needs::is_free(p_, *item.inst); }
  bool belongs(const Item& item) const {
    if (same_guard(item)) return is_free(item) || is_access(*item.inst);
    return is_free(item) && item.inst->guard.always() && only_for_row(item);
  }

  /// Makes a block of the row that begins with instruction n. Where it ends; n if it is too short.
  size_t take_row(size_t n) {
    condition_ = needs_.ssa().guard(block_, insts_[n].at);
    holds_ = !insts_[n].inst->guard.negate;
    in_row_.clear();
    std::vector<Item> row, others;
    size_t length = 0, between = 0, end = n;
    bool writes = false;
    for (size_t k = n; k < insts_.size() && k < end + kReach; ++k) {
      const Item& item = insts_[k];
      if (belongs(item)) {
        row.push_back(item);
        in_row_.add(*item.inst);
        if (!same_guard(item)) continue;
        writes = writes || (is_access(*item.inst) && item.inst->op != Op::load);
        end = k + 1, length = row.size(), between = others.size();
      } else if (is_free(item) && in_row_.free_of(*item.inst)) {
        others.push_back(item);  // it may as well stand in front
      } else {
        break;
      }
    }
    row.resize(length);
    others.resize(between);
    const std::vector<size_t> collected = collect(others);
    if (row.size() + collected.size() < (writes ? 2 : kLeastRow)) return n;
    std::vector<Item> body;
    body.reserve(collected.size() + row.size());
    for (const size_t k : collected) body.push_back(plain_[k]);
    body.insert(body.end(), row.begin(), row.end());
    for (size_t k = collected.size(); k-- > 0;)
      plain_.erase(plain_.begin() + static_cast<ptrdiff_t>(collected[k]));
    plain_.insert(plain_.end(), others.begin(), others.end());
    branch(insts_[n].inst->guard, body);
    return end;
  }

  /// What stands in front of the row and only it needs, as far as that may be done later.
  std::vector<size_t> collect(const std::vector<Item>& others) {
    std::vector<size_t> found;
    skipped_.clear();
    for (const Item& item : others) skipped_.add(*item.inst);
    const size_t reach = plain_.size() > kReach ? plain_.size() - kReach : 0;
    for (size_t k = plain_.size(); k-- > reach;) {
      const Item& item = plain_[k];
      if (is_free(item) && belongs(item) && skipped_.free_of(*item.inst))
        found.push_back(k);
      else
        skipped_.add(*item.inst);
    }
    std::ranges::reverse(found);
    return found;
  }

  void branch(const Guard& guard, const std::vector<Item>& body) {
    finish();
    const auto row = static_cast<uint32_t>(made_.size());
    Terminator& t = made_.back().term;
    t.kind = Terminator::Kind::branch;
    t.cond = guard;
    t.targets = {row, row + 1};
    t.site = body.front().inst->site;
    Block& block = made_.emplace_back();
    block.term.kind = Terminator::Kind::jump;
    block.term.targets = {row + 1};
    block.term.site = body.front().inst->site;
    for (const Item& item : body) block.insts.emplace_back(*item.inst).guard = Guard{};
    made_.emplace_back();
  }

  void finish() {
    for (const Item& item : plain_) made_.back().insts.push_back(*item.inst);
    plain_.clear();
  }

  const Program& p_;
  Needs needs_;
  Touched in_row_, skipped_;
  std::vector<Block> made_;
  std::vector<Item> insts_;  ///< of the block
  std::vector<Item> plain_;  ///< of the new block that is not finished
  uint32_t block_ = 0, condition_ = kNone;
  bool holds_ = true;
};

}  // namespace

void branch_on_guards(Program& program) {
  const bool any = std::ranges::any_of(program.blocks, [](const Block& block) {
    return std::ranges::any_of(block.insts,
                               [](const Inst& i) { return !i.guard.always() && is_access(i); });
  });
  if (any) program.blocks = Rows(program).run();
}

}  // namespace lanewise::ir
