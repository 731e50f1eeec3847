#include "runtime/isa/gcn/lowering/analysis/lane_slots.hpp"

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {
namespace {

constexpr unsigned kLanes = 64;
constexpr unsigned kGeneralSgprs = 102;  // on every generation

/// A lane of a vector register: register * kLanes + lane.
using LaneSlot = unsigned;

bool accesses_lane(const Row& row) {
  return row.kind == Kind::across && row.has(Slot::ssrc1);
}
Slot vector_slot(const Row& row) {
  return row.has(Slot::vdst) ? Slot::vdst : Slot::src0;
}
Slot scalar_slot(const Row& row) {
  return row.has(Slot::vdst) ? Slot::ssrc0 : Slot::sdst;
}

class LaneSlots {
 public:
  explicit LaneSlots(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    if (kernel_.state.bare || !find_uses()) return;
    find_pairs();
    assign();
    for (size_t n = 0; n < kernel_.code.size(); ++n) rewrite(n);
  }

 private:
  /// False where there is nothing to do: no such lanes, or registers are counted at run time.
  bool find_uses() {
    for (unsigned n = 0; n < kernel_.state.workitem_ids; ++n) others_.set(n);
    for (const Instruction& i : kernel_.code) {
      const Meaning& m = i.row->meaning;
      if (m.moves_source || m.moves_result || m.indexing != Indexing::keeps) return false;
      const bool lane = constant_lane(i).has_value();
      for (size_t n = 0; n < i.operands.size(); ++n) {
        const Operand& o = i.operands[n];
        if (o.immediate) continue;
        const bool as_lane = lane && i.row->operands[n].slot == vector_slot(*i.row);
        for (unsigned code = o.code; code < o.code + o.count; ++code) {
          if (code < kGeneralSgprs) named_.set(code);
          if (code >= kVgpr0 && code < kVgpr0 + others_.size() && !as_lane)
            others_.set(code - kVgpr0);
        }
      }
    }
    for (const Instruction& i : kernel_.code)
      if (const auto slot = slot_of(i)) slots_.insert(*slot);
    return !slots_.empty();
  }

  /// Of an access to one lane that the instruction names, and that is nothing but that.
  static std::optional<unsigned> constant_lane(const Instruction& i) {
    constexpr unsigned kMostInline = kZero + 64;
    if (!accesses_lane(*i.row) || i.form != Form::plain) return {};
    if (i.clamp || i.gds || i.omod != 0) return {};
    for (const Operand& o : i.operands)
      if (o.neg || o.abs) return {};
    const Operand& lane = *i.operand(Slot::ssrc1);
    const bool known = !lane.immediate && lane.code >= kZero && lane.code <= kMostInline;
    if (!known || i.operand(vector_slot(*i.row))->code < kVgpr0) return {};
    return (lane.code - kZero) % kLanes;
  }
  std::optional<LaneSlot> slot_of(const Instruction& i) const {
    const auto lane = constant_lane(i);
    if (!lane) return {};
    const unsigned vector = i.operand(vector_slot(*i.row))->code - kVgpr0;
    if (vector >= others_.size() || others_.test(vector)) return {};
    return vector * kLanes + *lane;
  }

  /// Do this instruction and the next move both words of a pair of scalar registers?
  bool moves_pair(size_t n) const {
    if (n + 1 >= kernel_.code.size() || entered_.contains(n + 1)) return false;
    const Instruction &low = kernel_.code[n], &high = kernel_.code[n + 1];
    const auto first = slot_of(low), second = slot_of(high);
    if (!first || !second || *second != *first + 1 || *second % kLanes == 0) return false;
    if (low.row->has(Slot::vdst) != high.row->has(Slot::vdst)) return false;
    const unsigned from = low.operand(scalar_slot(*low.row))->code;
    const bool is_register = from < kGeneralSgprs || from == kVccLo;
    return is_register && from % 2 == 0 && high.operand(scalar_slot(*high.row))->code == from + 1;
  }

  /// Slots that are the low word of a pair somewhere and in no other pair.
  void find_pairs() {
    const CallWays ways = call_ways(kernel_);
    for (const auto& [from, targets] : ways.targets)
      entered_.insert(targets.begin(), targets.end());
    for (const Label& f : kernel_.functions) entered_.insert(f.index);
    for (size_t n = 0; n < kernel_.code.size(); ++n)
      if (kernel_.code[n].row->kind == Kind::branch) entered_.insert(branch_target(kernel_, n));
    for (size_t n = 0; n < kernel_.code.size(); ++n)
      if (moves_pair(n)) pairs_.insert(*slot_of(kernel_.code[n]));
    const std::set<LaneSlot> all = pairs_;
    for (const LaneSlot low : all)
      if (all.contains(low + 1)) {
        pairs_.erase(low);
        pairs_.erase(low + 1);
      }
  }

  void assign() {
    for (const LaneSlot low : pairs_) {
      unsigned code = 0;
      while (code < kGeneralSgprs && (named_.test(code) || named_.test(code + 1))) code += 2;
      if (code >= kGeneralSgprs) break;
      take(low, code);
      take(low + 1, code + 1);
    }
    unsigned code = 0;
    for (const LaneSlot slot : slots_) {
      if (scalar_.contains(slot)) continue;
      while (code < kGeneralSgprs && named_.test(code)) ++code;
      if (code < kGeneralSgprs) take(slot, code);
    }
  }
  void take(LaneSlot slot, unsigned code) {
    scalar_[slot] = code;
    named_.set(code);
  }

  void rewrite(size_t n) {
    const auto slot = slot_of(kernel_.code[n]);
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
  std::bitset<256> others_;               ///< vector registers that serve something else, too
  std::bitset<kGeneralSgprs + 1> named_;  ///< scalar registers that are in use
  std::set<LaneSlot> slots_, pairs_;      ///< pairs: their low words
  std::set<size_t> entered_;              ///< instructions that others lead to
  std::map<LaneSlot, unsigned> scalar_;
};

}  // namespace

void use_scalars_for_lane_slots(Kernel& kernel) {
  LaneSlots(kernel).run();
}

}  // namespace lanewise::gcn
