#include "runtime/isa/gcn/lowering/analysis/parted_lanes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"

namespace lanewise::gcn {
namespace {

bool is_scalar_alu(const Instruction& i) {
  const Encoding e = i.row->encoding;
  const bool scalar =
      e == Encoding::sop1 || e == Encoding::sop2 || e == Encoding::sopk || e == Encoding::sopc;
  return scalar && (i.row->kind == Kind::alu || i.row->kind == Kind::move);
}
/// What it does for a lane that is off is nothing, whatever the scalar registers hold that it
/// reads.
bool is_vector(const Instruction& i) {
  switch (i.row->kind) {
    case Kind::alu:
      return i.row->is_vector_alu();
    case Kind::load:
    case Kind::store:
    case Kind::atomic:
      return i.row->encoding != Encoding::smrd && !i.row->image.looks_across();
    default:
      return false;
  }
}

/// What may be other in the registers of one lane than in those of its wave.
class Parted {
 public:
  /// At the kernel's begin every lane is on.
  Parted() { bits_.turn_on(); }

  bool is_on() const { return bits_.of(kExecLo) == OwnBits::kOn; }
  bool exec_is_known() const { return is_on() || bits_.exec_off(); }
  void turn(bool on) { on ? bits_.turn_on() : bits_.turn_off(); }
  void add(const OwnDifference& difference) {
    numbers_ |= difference.numbers;
    masks_ |= difference.bits;
    forget_bits(difference.bits);
  }
  /// True when that changed anything.
  bool join(const Parted& other) {
    const ScalarSet numbers = numbers_ | other.numbers_, masks = masks_ | other.masks_;
    const bool more = numbers != numbers_ || masks != masks_;
    numbers_ = numbers;
    masks_ = masks;
    return bits_.join(other.bits_) || more;
  }

  /// False where the instruction would do something else, or it is not known that it would not.
  bool step(const Kernel& kernel, const Analysis& analysis, size_t n) {
    const Instruction& i = kernel.code[n];
    const Effects& e = analysis.effects[n];
    const bool indexes = i.row->meaning.moves_result || i.row->meaning.moves_source;
    ScalarSet reads = e.reads;
    if (analysis.indexed.contains(n)) reads.set(kM0);
    const bool number = (reads & numbers_).any(),
               mask = reads_mask(reads, analysis.through_masks[n]);
    if (indexes && (numbers_.any() || masks_.any())) return false;
    if (is_scalar_alu(i)) return step_scalar(i, n, e.writes, number, mask);
    if ((number || mask) && (is_on() || !is_vector(i))) return false;
    follow_bits(i, n);
    set(e.writes, false, false);
    return true;
  }

 private:
  bool step_scalar(const Instruction& i, size_t n, const ScalarSet& writes, bool number,
                   bool mask) {
    follow_bits(i, n);
    const bool logic = i.row->does(kMaskLogic);
    // Logic works on the bits of a mask by themselves.
    set(writes, number || (mask && !logic), mask || (number && !logic));
    if (logic && writes.test(kScc)) numbers_.set(kScc, number || mask);
    return !masks_.test(kExecLo);
  }
  void follow_bits(const Instruction& i, size_t n) {
    bits_.retire(OwnBits::made_by(n));
    bits_.step(i, OwnBits::made_by(n));
  }
  /// What is written has this from now on. A bit that is known whatever the others are is no other.
  void set(const ScalarSet& writes, bool number, bool mask) {
    for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c)) {
      const auto code = static_cast<unsigned>(c), low = code & ~1U;
      if (low != kExecLo) numbers_.set(code, number);
      if (!is_scalar(code)) continue;
      const OwnBits::Bit bit = bits_.of(low);
      const bool whole = writes.test(low) && writes.test(low + 1);
      const bool other = mask && bit != OwnBits::kOff && bit != OwnBits::kOn;
      masks_.set(low, other || (!whole && masks_.test(low)));
      if (masks_.test(low)) bits_.forget(low);
    }
  }
  void forget_bits(const ScalarSet& low) {
    for (size_t c = low._Find_first(); c < low.size(); c = low._Find_next(c))
      bits_.forget(static_cast<unsigned>(c));
  }
  /// Masks are read as pairs, and by halves where logic works on words of masks.
  bool reads_mask(const ScalarSet& reads, bool by_words) const {
    return (by_words ? reads & (masks_ | masks_ << 1) : reads & reads >> 1 & masks_).any();
  }

  OwnBits bits_ = OwnBits::distinct();  ///< the same in the lane and in its wave, but for `masks_`
  ScalarSet numbers_;                   ///< scalar registers whose number may be other
  ScalarSet masks_;                     ///< low codes of pairs whose bit of this lane may be other
};

/// Follows one lane as it goes by itself, from the kernel's begin.
class Walk {
 public:
  Walk(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths,
       const std::map<size_t, ExeczAsks>& asks, const std::map<size_t, OwnDifference>& parting)
      : kernel_(kernel), analysis_(analysis), paths_(paths), asks_(asks), parting_(parting) {}

  bool finds_no_reader() {
    come(0, Parted());
    while (!work_.empty()) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      if (!follow(place.first, entered_.at(place))) return false;
    }
    return true;
  }

 private:
  using Place = std::pair<size_t, bool>;  ///< a block of the paths, and whether the lane is on

  void come(size_t block, const Parted& state) {
    const Place place{block, state.is_on()};
    const auto [it, fresh] = entered_.try_emplace(place, state);
    if (fresh || it->second.join(state)) work_.insert(place);
  }

  /// What a lane that is off and one that is on may have at one place.
  using States = std::array<std::optional<Parted>, 2>;

  static void reach(States& states, const Parted& state) {
    std::optional<Parted>& there = states[state.is_on() ? 1 : 0];
    if (there) {
      there->join(state);
    } else {
      there = state;
    }
  }
  /// Behind an instruction after which each state may be on, off or either.
  static void sort(States& states) {
    States sorted;
    for (std::optional<Parted>& s : states) {
      if (!s) continue;
      if (!s->exec_is_known()) {
        Parted off = *s;
        off.turn(false);
        reach(sorted, off);
        s->turn(true);
      }
      reach(sorted, *s);
    }
    states = sorted;
  }

  bool follow(size_t number, const Parted& entered) {
    const PathBlock& path = paths_.blocks()[number];
    const BasicBlock& block = analysis_.blocks[path.block];
    States states;
    reach(states, entered);
    for (size_t n = block.begin; n < block.end; ++n) {
      bool sorted = true;
      for (const bool on : {false, true}) {
        std::optional<Parted>& s = states[on ? 1 : 0];
        if (!s) continue;
        if (!s->step(kernel_, analysis_, n)) return false;
        sorted = sorted && s->exec_is_known() && s->is_on() == on;
      }
      if (!sorted) sort(states);
    }
    return std::ranges::all_of(
        states, [&](const std::optional<Parted>& s) { return !s || leave(path, *s); });
  }
  /// False where a lane that is off would have to wait for what its wave does.
  bool leave(const PathBlock& path, Parted state) {
    const size_t last = analysis_.blocks[path.block].end - 1;
    const auto asked = asks_.find(last);
    if (asked == asks_.end()) {
      for (const size_t next : path.successors) come(next, state);
      return true;
    }
    if (kernel_.code[last].row->meaning.count == kVccz) {
      for (const size_t next : path.successors) come(next, state);
      return state.is_on();  // whose own bit is the answer
    }
    if (asked->second == ExeczAsks::wave && !state.is_on()) return false;
    const bool when_zero = kernel_.code[last].row->meaning.cond == ir::Cond::eq;
    const bool taken = asked->second != ExeczAsks::nobody && state.is_on() != when_zero;
    const auto parted = parting_.find(last);
    if (parted != parting_.end() && !state.is_on()) state.add(parted->second);
    const auto next = paths_.next(path, taken ? branch_target(kernel_, last) : last + 1);
    if (next) come(*next, state);
    return true;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const CallPaths& paths_;
  const std::map<size_t, ExeczAsks>& asks_;
  const std::map<size_t, OwnDifference>& parting_;
  std::map<Place, Parted> entered_;
  std::set<Place> work_;
};

}  // namespace

bool lanes_may_part(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths,
                    const std::map<size_t, ExeczAsks>& asks,
                    const std::map<size_t, OwnDifference>& parting) {
  return Walk(kernel, analysis, paths, asks, parting).finds_no_reader();
}

}  // namespace lanewise::gcn
