// Guests reuse registers. What is known of a register as a whole is then known of none of the
// values that it holds one after the other.
#include <map>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

constexpr uint64_t kMostStates = uint64_t{1} << 28;  // register in block

/// Values that flow together are one web; each gets a register of its own.
class Webs {
 public:
  explicit Webs(Program& p) : p_(p), graph_(block_graph(p)), live_(liveness(p)) {}

  void run() {
    entries_.resize(p_.blocks.size());
    for (uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (uint32_t r = 0; r < p_.regs.size(); ++r)
        if (live_.in[b][r]) entries_[b][r] = fresh(r);
    for (uint32_t b = 0; b < p_.blocks.size(); ++b) walk(b);
    number();
  }

 private:
  using Current = std::map<uint32_t, uint32_t>;  ///< register to value

  uint32_t fresh(uint32_t reg) {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    reg_.push_back(reg);
    return parent_.back();
  }
  uint32_t root(uint32_t value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }

  /// Registers stand for values from here on; number() gives those their registers.
  void walk(uint32_t b) {
    Current now = entries_[b];
    const auto value_of = [&](uint32_t reg) {
      const auto [at, unset] = now.try_emplace(reg, 0);
      if (unset) at->second = fresh(reg);
      return at->second;
    };
    for (Inst& inst : p_.blocks[b].insts) {
      if (!inst.guard.always()) inst.guard.reg.id = value_of(inst.guard.reg.id);
      for (Operand& o : inst.src)
        if (o.is_reg()) o.index = value_of(o.index);
      if (inst.mem && inst.mem->cache.hint.is_reg())
        inst.mem->cache.hint.index = value_of(inst.mem->cache.hint.index);
      for (Reg& dst : inst.dst) {
        if (!dst.valid()) continue;
        // A guarded instruction may leave the old value in place.
        if (inst.guard.always()) now[dst.id] = fresh(dst.id);
        dst.id = value_of(dst.id);
      }
    }
    Terminator& t = p_.blocks[b].term;
    if (t.kind == Terminator::Kind::branch && !t.cond.always())
      t.cond.reg.id = value_of(t.cond.reg.id);
    if (t.kind == Terminator::Kind::switch_ && t.selector.is_reg())
      t.selector.index = value_of(t.selector.index);
    for (const uint32_t next : graph_.succs[b]) {
      if (next >= entries_.size()) continue;
      for (const auto& [reg, value] : entries_[next]) parent_[root(value)] = root(value_of(reg));
    }
  }

  void number() {
    std::vector<RegInfo> regs;
    std::vector<uint32_t> name(parent_.size(), kNone);
    const auto rename = [&](uint32_t& value) {
      const uint32_t web = root(value);
      if (name[web] == kNone) {
        name[web] = static_cast<uint32_t>(regs.size());
        regs.push_back(p_.regs[reg_[web]]);
      }
      value = name[web];
    };
    for (Block& block : p_.blocks) {
      for (Inst& inst : block.insts) {
        if (!inst.guard.always()) rename(inst.guard.reg.id);
        for (Operand& o : inst.src)
          if (o.is_reg()) rename(o.index);
        if (inst.mem && inst.mem->cache.hint.is_reg()) rename(inst.mem->cache.hint.index);
        for (Reg& dst : inst.dst)
          if (dst.valid()) rename(dst.id);
      }
      Terminator& t = block.term;
      if (t.kind == Terminator::Kind::branch && !t.cond.always()) rename(t.cond.reg.id);
      if (t.kind == Terminator::Kind::switch_ && t.selector.is_reg()) rename(t.selector.index);
    }
    p_.regs = std::move(regs);
  }

  Program& p_;
  Graph graph_;
  Liveness live_;
  std::vector<Current> entries_;  ///< by block: values of the registers that are read from there on
  std::vector<uint32_t> parent_, reg_;  ///< by value
};

}  // namespace

bool split_webs(Program& program) {
  if (uint64_t{program.blocks.size()} * program.regs.size() > kMostStates) return false;
  Webs(program).run();
  return uint64_t{program.blocks.size()} * program.regs.size() <= kMostStates;
}

}  // namespace lanewise::ir
