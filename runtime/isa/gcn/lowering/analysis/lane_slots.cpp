#include "runtime/isa/gcn/lowering/analysis/lane_slots.hpp"

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"
#include "runtime/isa/gcn/lowering/analysis/lane_slot_owners.hpp"

namespace lanewise::gcn {
namespace {

constexpr unsigned kLanes = 64;
constexpr unsigned kGeneralSgprs = 102;  // on every generation

/// A lane of an owner's vector register: (owner * 256 + register) * kLanes + lane. A pair may have
/// the last lane of one register and the first of the next.
using LaneSlot = size_t;

Slot scalar_slot(const Row& row) {
  return row.has(Slot::vdst) ? Slot::ssrc0 : Slot::sdst;
}

class LaneSlots {
 public:
  LaneSlots(Kernel& kernel, const CallTargets& calls, bool trusting)
      : kernel_(kernel), calls_(calls), owners_(kernel, calls, trusting) {}

  bool confirmed(const CallTargets& calls) { return owners_.confirmed(calls); }

  /// False where there is nothing to do.
  bool run() {
    if (!find_uses()) return false;
    find_pairs();
    assign();
    for (size_t n = 0; n < kernel_.code.size(); ++n) rewrite(n);
    bool dropped = false;
    for (const auto& [owner, vector] : owned_)
      if (owner != 0) dropped = drop_saves(owner, vector) || dropped;
    for (size_t n = 0; dropped && n < kernel_.code.size(); ++n) drop_whole_wave(n);
    return true;
  }

 private:
  /// False where there are no such lanes, or registers are counted at run time.
  bool find_uses() {
    for (const Instruction& i : kernel_.code) {
      const Meaning& m = i.row->meaning;
      if (m.moves_source || m.moves_result || m.indexing != Indexing::keeps) return false;
      for (const Operand& o : i.operands)
        for (unsigned code = o.code; !o.immediate && code < o.code + o.count; ++code)
          if (code < kGeneralSgprs) named_.set(code);
    }
    slot_at_.resize(kernel_.code.size());
    for (size_t n = 0; n < kernel_.code.size(); ++n) {
      const auto owner = owners_.owner(n);
      if (!owner) continue;
      const LaneAccess access = *lane_access(kernel_.code[n]);
      slot_at_[n] = (*owner * 256 + access.vector) * kLanes + access.lane;
      slots_.insert(*slot_at_[n]);
      owned_.emplace(*owner, access.vector);
    }
    return !slots_.empty();
  }

  /// Do this instruction and the next move both words of a pair of scalar registers?
  bool moves_pair(size_t n) const {
    if (n + 1 >= kernel_.code.size() || entered_.contains(n + 1)) return false;
    const Instruction &low = kernel_.code[n], &high = kernel_.code[n + 1];
    const auto first = slot_at_[n], second = slot_at_[n + 1];
    if (!first || !second || *second != *first + 1) return false;
    if (low.row->has(Slot::vdst) != high.row->has(Slot::vdst)) return false;
    const unsigned from = low.operand(scalar_slot(*low.row))->code;
    const bool is_register = from < kGeneralSgprs || from == kVccLo;
    return is_register && from % 2 == 0 && high.operand(scalar_slot(*high.row))->code == from + 1;
  }

  /// Slots that are the low word of a pair somewhere and in no other pair.
  void find_pairs() {
    for (const auto& [from, targets] : calls_.targets)
      entered_.insert(targets.begin(), targets.end());
    for (const Label& f : kernel_.functions) entered_.insert(f.index);
    for (size_t n = 0; n < kernel_.code.size(); ++n)
      if (kernel_.code[n].row->kind == Kind::branch) entered_.insert(branch_target(kernel_, n));
    for (size_t n = 0; n < kernel_.code.size(); ++n)
      if (moves_pair(n)) pairs_.insert(*slot_at_[n]);
    const std::set<LaneSlot> all = pairs_;
    for (const LaneSlot low : all)
      if (all.contains(low + 1)) {
        pairs_.erase(low);
        pairs_.erase(low + 1);
      }
  }

  /// Registers that programs can name come first: what they are is seen everywhere.
  void assign() {
    unsigned code = 0;
    const auto next = [&](unsigned count) {
      code += code % count;
      while (code < kGeneralSgprs && (named_.test(code) || (count == 2 && named_.test(code + 1))))
        code += count;
      if (code >= kGeneralSgprs) code = std::max(code, kSlot0);
      return code + count <= kSlot0 + kSlots;
    };
    for (const LaneSlot low : pairs_) {
      if (!next(2)) break;
      take(low, code);
      take(low + 1, code + 1);
      code += 2;
    }
    if (code < kSlot0) code = 0;
    for (const LaneSlot slot : slots_) {
      if (scalar_.contains(slot)) continue;
      if (!next(1)) break;
      take(slot, code);
      ++code;
    }
  }
  void take(LaneSlot slot, unsigned code) {
    scalar_[slot] = code;
    if (code < kGeneralSgprs) named_.set(code);
  }

  void rewrite(size_t n) {
    const auto slot = slot_at_[n];
    if (!slot || !scalar_.contains(*slot)) return;
    const bool both = pairs_.contains(*slot) && scalar_.contains(*slot + 1) && moves_pair(n);
    Instruction& i = kernel_.code[n];
    Operand lane, other = *i.operand(scalar_slot(*i.row));
    lane.code = scalar_.at(*slot);
    lane.count = other.count = both ? 2 : 1;
    const bool writes = i.row->has(Slot::vdst);
    become(i, both ? "s_mov_b64" : "s_mov_b32",
           writes ? std::vector{lane, other} : std::vector{other, lane});
    if (!both) return;
    become(kernel_.code[n + 1], "s_nop", {none()});
    slot_at_[n + 1].reset();
  }

  /// A function that keeps nothing in the register any more need not save and restore it.
  bool drop_saves(size_t owner, unsigned vector) {
    const std::vector<size_t> saves = owners_.naming(owner, vector);
    const auto is_lane = [&](size_t n) { return lane_access(kernel_.code[n]).has_value(); };
    if (std::ranges::any_of(saves, is_lane)) return false;
    for (const size_t n : saves) become(kernel_.code[n], "s_nop", {none()});
    return !saves.empty();
  }
  /// All lanes are turned on and back again with nothing in between. SCC becomes 1 either way.
  void drop_whole_wave(size_t n) {
    const Instruction& on = kernel_.code[n];
    const Meaning& m = on.row->meaning;
    const bool turns_on = on.row->does(kWritesExec) && m.op == ir::Op::or_ && !m.invert &&
                          !m.invert_result && on.operands[1].code == kMinusOne;
    const unsigned saved = turns_on ? on.operands[0].code : kExecLo;
    if (saved == kExecLo) return;
    size_t end = n + 1;
    const auto here = [&] { return end < kernel_.code.size() && !entered_.contains(end); };
    const auto waits = [&](const Instruction& i) {
      return i.row->kind == Kind::nothing || i.row->kind == Kind::wait;
    };
    while (here() && waits(kernel_.code[end])) ++end;
    if (!here()) return;
    Instruction& back = kernel_.code[end];
    const bool restores = back.row->kind == Kind::move && back.operands[0].code == kExecLo &&
                          back.operands[0].count == 2 && back.operands[1].code == saved;
    if (!restores) return;
    Operand pair, exec, zero;
    pair.code = saved;
    exec.code = kExecLo;
    pair.count = exec.count = 2;
    zero.code = kZero;
    become(kernel_.code[n], "s_mov_b64", {pair, exec});
    become(back, "s_cmp_eq_u32", {zero, zero});
  }
  static Operand none() {
    Operand zero;
    zero.immediate = true;
    return zero;
  }
  void become(Instruction& i, std::string_view name, std::vector<Operand> operands) const {
    Instruction move;
    move.row = rows_named(name).front();
    move.operands = std::move(operands);
    move.pc = i.pc;
    move.line = i.line;
    move.column = i.column;
    move.text = i.text.empty() ? print(i, kernel_.gen) : i.text;
    i = std::move(move);
  }

  Kernel& kernel_;
  const CallTargets& calls_;
  LaneSlotOwners owners_;
  std::vector<std::optional<LaneSlot>> slot_at_;  ///< per instruction
  std::bitset<kGeneralSgprs + 1> named_;          ///< scalar registers that are in use
  std::set<LaneSlot> slots_, pairs_;              ///< pairs: their low words
  std::set<std::pair<size_t, unsigned>> owned_;   ///< owners, and registers whose lanes they own
  std::set<size_t> entered_;                      ///< instructions that others lead to
  std::map<LaneSlot, unsigned> scalar_;
};

}  // namespace

CallTargets use_scalars_for_lane_slots(Kernel& kernel, CallTargets calls) {
  const auto accesses_lane = [](const Instruction& i) { return lane_access(i).has_value(); };
  if (kernel.state.bare || std::ranges::none_of(kernel.code, accesses_lane)) return calls;
  Kernel rewritten = kernel;
  LaneSlots slots(rewritten, calls, true);
  if (!slots.run()) return calls;
  CallTargets found = find_call_targets(rewritten);
  if (slots.confirmed(found)) {
    kernel = std::move(rewritten);
    return found;
  }
  return LaneSlots(kernel, calls, false).run() ? find_call_targets(kernel) : calls;
}

}  // namespace lanewise::gcn
