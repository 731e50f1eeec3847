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
  LaneSlots(Kernel& kernel, bool trusting)
      : kernel_(kernel), ways_(call_ways(kernel)), owners_(kernel, ways_, trusting) {}

  bool confirmed() { return owners_.confirmed(call_ways(kernel_)); }

  void run() {
    if (!find_uses()) return;
    find_pairs();
    assign();
    for (size_t n = 0; n < kernel_.code.size(); ++n) rewrite(n);
  }

 private:
  /// False where there is nothing to do: no such lanes, or registers are counted at run time.
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
    for (const auto& [from, targets] : ways_.targets)
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
    Operand once;
    once.immediate = true;
    become(kernel_.code[n + 1], "s_nop", {once});
    slot_at_[n + 1].reset();
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
  CallWays ways_;
  LaneSlotOwners owners_;
  std::vector<std::optional<LaneSlot>> slot_at_;  ///< per instruction
  std::bitset<kGeneralSgprs + 1> named_;          ///< scalar registers that are in use
  std::set<LaneSlot> slots_, pairs_;              ///< pairs: their low words
  std::set<size_t> entered_;                      ///< instructions that others lead to
  std::map<LaneSlot, unsigned> scalar_;
};

}  // namespace

void use_scalars_for_lane_slots(Kernel& kernel) {
  const auto accesses_lane = [](const Instruction& i) { return lane_access(i).has_value(); };
  if (kernel.state.bare || std::ranges::none_of(kernel.code, accesses_lane)) return;
  Kernel rewritten = kernel;
  LaneSlots slots(rewritten, true);
  slots.run();
  if (slots.confirmed())
    kernel = std::move(rewritten);
  else
    LaneSlots(kernel, false).run();
}

}  // namespace lanewise::gcn
