#include "runtime/isa/gcn/lowering/analysis/unread_values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"
#include "runtime/isa/gcn/lowering/analysis/vector_effects.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

/// Of one lane: where copies of the value are.
class Copies {
 public:
  explicit Copies(const Operand& first) {
    bits_.turn_on();
    add_vectors(vectors_, first);
  }
  bool any() const { return vectors_.any() || slots_.any(); }
  bool is_on() const { return bits_.of(kExecLo) == OwnBits::kOn; }
  bool exec_is_known() const { return is_on() || bits_.exec_off(); }
  void turn(bool on) { on ? bits_.turn_on() : bits_.turn_off(); }
  /// True when that changed anything.
  bool join(const Copies& other) {
    const Vectors vectors = vectors_ | other.vectors_;
    const PrivateSlots slots = slots_ | other.slots_;
    const bool more = vectors != vectors_ || slots != slots_;
    vectors_ = vectors;
    slots_ = slots;
    return bits_.join(other.bits_) || more;
  }

  /// False where something else than a copy may be made of it.
  bool step(const Instruction& i, const PrivateAccess& access, size_t n) {
    // Of computed addresses nothing is known, not even whose dwords they are.
    const bool anywhere = access.where == PrivateAccess::Where::anywhere;
    if (anywhere && i.row->kind != Kind::store && slots_.any()) return false;
    if (!is_on() && !looks_across(i)) {
      follow_bits(i, n);
      return true;
    }
    const bool moves_slots = is_on() && access.where == PrivateAccess::Where::slots;
    if (moves_slots && i.row->kind == Kind::store) return store(i, access, n);
    const bool moves = is_on() && is_plain_move(i);
    const Operand* to = overwritten(i);
    Vectors read, written;
    for (const Operand& o : i.operands)
      if (&o != to && !moves_slots) add_vectors(read, o);
    const bool reads = (read & vectors_).any();
    if (reads && !moves) return false;
    if (is_on() && to != nullptr) add_vectors(written, *to);
    vectors_ &= ~written;
    if (reads) vectors_ |= written;
    if (moves_slots) load(i, access);
    follow_bits(i, n);
    return true;
  }

 private:
  bool store(const Instruction& i, const PrivateAccess& access, size_t n) {
    const unsigned first = i.operand(Slot::vdata)->code - kVgpr0;
    for (size_t d = 0; d < access.slots.size(); ++d)
      slots_.set(access.slots[d], vectors_.test(first + d));
    follow_bits(i, n);
    return true;
  }
  void load(const Instruction& i, const PrivateAccess& access) {
    const unsigned first = i.operand(Slot::vdata)->code - kVgpr0;
    for (size_t d = 0; d < access.slots.size(); ++d)
      vectors_.set(first + d, slots_.test(access.slots[d]));
  }
  void follow_bits(const Instruction& i, size_t n) {
    bits_.retire(OwnBits::made_by(n));
    bits_.step(i, OwnBits::made_by(n));
  }

  OwnBits bits_ = OwnBits::distinct();
  Vectors vectors_;
  PrivateSlots slots_;
};

/// Follows a lane that has the value, on or off, wherever it can get.
class ReaderSearch {
 public:
  ReaderSearch(const Kernel& kernel, const Analysis& analysis, const PrivateMemory& memory,
               size_t& steps)
      : kernel_(kernel), analysis_(analysis), memory_(memory), steps_(steps) {}

  bool finds_no_reader(size_t n) {
    States states;
    reach(states, Copies(*kernel_.code[n].operand(Slot::vdst)));
    if (!follow(analysis_.block_of[n], n + 1, states)) return false;
    while (!work_.empty()) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      States entered;
      reach(entered, entered_.at(place));
      if (!follow(place.first, analysis_.blocks[place.first].begin, entered)) return false;
    }
    return true;
  }

 private:
  using Place = std::pair<size_t, bool>;  ///< a block, and whether the lane is on
  using States = std::array<std::optional<Copies>, 2>;

  static void reach(States& states, const Copies& state) {
    std::optional<Copies>& there = states[state.is_on() ? 1 : 0];
    if (there)
      there->join(state);
    else
      there = state;
  }
  static void reach_both(States& states, const Copies& state) {
    for (const bool on : {false, true}) {
      if (state.exec_is_known() && state.is_on() != on) continue;
      Copies one = state;
      one.turn(on);
      reach(states, one);
    }
  }

  bool follow(size_t number, size_t from, States states) {
    const BasicBlock& block = analysis_.blocks[number];
    for (size_t n = from; n < block.end; ++n) {
      States behind;
      for (std::optional<Copies>& s : states) {
        if (!s) continue;
        if (steps_ == 0) return false;
        --steps_;
        if (!s->step(kernel_.code[n], memory_.at[n], n)) return false;
        if (s->any()) reach_both(behind, *s);
      }
      states = behind;
      if (!states[0] && !states[1]) return true;
    }
    for (const std::optional<Copies>& s : states)
      if (s) leave(block, *s);
    return true;
  }
  /// A lane that is off may go with its wave or by itself.
  void leave(const BasicBlock& block, const Copies& state) {
    const Row& row = *kernel_.code[block.end - 1].row;
    const bool asks_exec = row.kind == Kind::branch && row.meaning.count == kExecz;
    const bool one = asks_exec && state.is_on() && block.successors.size() == 2 &&
                     block.successors[0] != block.successors[1];
    const bool goes_on = row.meaning.cond == Cond::eq;  // where EXEC is not zero
    for (const size_t next : block.successors) {
      if (one && (analysis_.blocks[next].begin == block.end) != goes_on) continue;
      const Place place{next, state.is_on()};
      const auto [it, fresh] = entered_.try_emplace(place, state);
      if (fresh || it->second.join(state)) work_.insert(place);
    }
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const PrivateMemory& memory_;
  std::map<Place, Copies> entered_;
  std::set<Place> work_;
  size_t& steps_;  ///< that may yet be done
};

}  // namespace

bool is_plain_move(const Instruction& i) {
  return i.row->is_vector_alu() && i.row->kind == Kind::alu && i.row->name == "v_mov_b32" &&
         i.form == Form::plain && !i.clamp && i.omod == 0 &&
         std::ranges::none_of(i.operands, [](const Operand& o) { return o.neg || o.abs; });
}

bool value_is_unread(const Kernel& kernel, const Analysis& analysis, const PrivateMemory& memory,
                     size_t n, size_t& steps) {
  return memory.closed && ReaderSearch(kernel, analysis, memory, steps).finds_no_reader(n);
}

}  // namespace lanewise::gcn
