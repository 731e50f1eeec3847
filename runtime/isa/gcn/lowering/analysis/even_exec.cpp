#include "runtime/isa/gcn/lowering/analysis/even_exec.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"
#include "runtime/isa/gcn/lowering/analysis/private_memory.hpp"
#include "runtime/isa/gcn/lowering/analysis/vector_effects.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

constexpr size_t kMostSteps = 200'000;

bool is_on(const OwnBits& bits) {
  return bits.of(kExecLo) == OwnBits::kOn;
}
bool exec_is_known(const OwnBits& bits) {
  return is_on(bits) || bits.exec_off();
}
bool asks_exec(const Instruction& i) {
  return i.row->kind == Kind::branch && i.row->meaning.count == kExecz;
}
/// The block of the paths to which the branch leads if some lane is on, and if none is.
std::optional<size_t> side_of(const Kernel& k, const CallPaths& paths, const PathBlock& path,
                              size_t branch, bool some_on) {
  const bool taken = (k.code[branch].row->meaning.cond == Cond::eq) != some_on;
  return paths.next(path, taken ? branch_target(k, branch) : branch + 1);
}

/// Follows one lane from the kernel's begin by its own bits of masks, and finds where it may be
/// off. What came along different paths stays apart, as bits belong together: a lane that has left
/// a loop has its bit on among those that did.
class OffPlaces {
 public:
  OffPlaces(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths)
      : k_(kernel),
        a_(analysis),
        paths_(paths),
        in_(paths.blocks().size()),
        off_(paths.instructions()) {}

  /// By instruction of the paths; nothing where there are too many states.
  std::optional<std::vector<bool>> find() {
    OwnBits start = OwnBits::distinct();
    start.turn_on();
    come(0, start);
    while (!work_.empty()) {
      const auto [block, bits] = work_.back();
      work_.pop_back();
      if (!follow(paths_.blocks()[block], {bits})) return {};
    }
    return off_;
  }

 private:
  static constexpr size_t kMostStates = 32;  ///< at one place

  /// Bits that nobody reads, or that may be either, do not keep paths apart.
  bool come(size_t block, OwnBits bits) {
    const ScalarSet& live = a_.blocks[paths_.blocks()[block].block].live_in;
    for (unsigned low = 0; low < live.size(); low += 2) {
      const bool known = bits.of(low) == OwnBits::kOff || bits.of(low) == OwnBits::kOn;
      if (!known || (low != kExecLo && !live.test(low) && !live.test(low + 1))) bits.forget(low);
    }
    if (std::ranges::count(in_[block], bits) != 0) return true;
    in_[block].push_back(bits);
    work_.emplace_back(block, bits);
    return in_[block].size() <= kMostStates;
  }
  bool follow(const PathBlock& path, std::vector<OwnBits> states) {
    const BasicBlock& block = a_.blocks[path.block];
    for (size_t n = block.begin; n < block.end; ++n) {
      std::vector<OwnBits> behind;
      for (OwnBits& bits : states) {
        if (++steps_ > kMostSteps) return false;
        if (bits.exec_off()) off_[path.first + n - block.begin] = true;
        bits.retire(OwnBits::made_by(n));
        bits.step(k_.code[n], OwnBits::made_by(n));
        for (const bool on : {false, true}) {
          if (exec_is_known(bits) && is_on(bits) != on) continue;
          OwnBits one = bits;
          on ? one.turn_on() : one.turn_off();
          if (std::ranges::count(behind, one) == 0) behind.push_back(one);
        }
      }
      states = behind;
    }
    return std::ranges::all_of(states, [&](const OwnBits& bits) { return leave(path, bits); });
  }
  bool leave(const PathBlock& path, const OwnBits& bits) {
    const size_t last = a_.blocks[path.block].end - 1;
    if (asks_exec(k_.code[last]) && is_on(bits)) {
      const auto next = side_of(k_, paths_, path, last, true);
      return !next || come(*next, bits);
    }
    return std::ranges::all_of(path.successors, [&](size_t next) { return come(next, bits); });
  }

  const Kernel& k_;
  const Analysis& a_;
  const CallPaths& paths_;
  std::vector<std::vector<OwnBits>> in_;  ///< by block of the paths
  std::vector<std::pair<size_t, OwnBits>> work_;
  std::vector<bool> off_;
  size_t steps_ = 0;
};

/// What is the same in all lanes of the wave.
class Even {
 public:
  Even() {
    bits_.turn_on();
    masks_.set(kExecLo);
  }
  bool on() const { return is_on(bits_); }
  bool known() const { return exec_is_known(bits_); }
  bool exec() const { return masks_.test(kExecLo); }
  void turn(bool on) { on ? bits_.turn_on() : bits_.turn_off(); }
  void all_lanes_are_on() { masks_.set(kExecLo); }
  /// True when that changed anything.
  bool join(const Even& other) {
    const Even before = *this;
    bits_.join(other.bits_);
    masks_ &= other.masks_;
    vectors_ &= other.vectors_;
    slots_ &= other.slots_;
    return bits_ != before.bits_ || masks_ != before.masks_ || vectors_ != before.vectors_ ||
           slots_ != before.slots_;
  }

  void step(const Instruction& i, const PrivateAccess& access, size_t n) {
    const bool none = exec() && !on(), all = exec() && on();
    const bool alike = computes_alike(i);
    const ScalarSet masks = masks_behind(i, none || (all && alike));
    if (!none) step_vectors(i, access, all, alike);
    bits_.retire(OwnBits::made_by(n));
    bits_.step(i, OwnBits::made_by(n));
    masks_ = masks;
    // Then all lanes are where these bits are known.
    for (unsigned low = 0; exec() && low < masks_.size(); low += 2) {
      const OwnBits::Bit bit = is_scalar(low) ? bits_.of(low) : OwnBits::kAnything;
      if (bit == OwnBits::kOff || bit == OwnBits::kOn) masks_.set(low);
    }
  }

 private:
  bool even_pair(const Operand& o) const {
    if (o.immediate) return false;
    if (is_scalar(o.code)) return o.code % 2 == 0 && masks_.test(o.code);
    return o.code == kZero || o.code == kMinusOne;
  }
  /// From what all lanes have alike a vector instruction makes the same in each of them.
  bool computes_alike(const Instruction& i) const {
    const Row& row = *i.row;
    if (!row.is_vector_alu() || row.kind != Kind::alu || i.form != Form::plain || looks_across(i) ||
        row.lower == lower_mbcnt)
      return false;
    if (row.does(kReadsVcc) && !masks_.test(kVccLo)) return false;
    if (const Operand* o = i.operand(Slot::mask_src); o != nullptr && !even_pair(*o)) return false;
    const Operand* to = overwritten(i);
    Vectors read;
    for (const Operand& o : i.operands)
      if (&o != to) add_vectors(read, o);
    return (read & ~vectors_).none();
  }
  ScalarSet masks_behind(const Instruction& i, bool even_result) const {
    ScalarSet out = masks_;
    const ScalarSet writes = effects(i).writes;
    for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c))
      if (is_scalar(static_cast<unsigned>(c))) out.reset(c & ~size_t{1});
    if (i.row->does(kMaskLogic)) {
      bool even = true;
      for (size_t n = 1; n < i.operands.size(); ++n) even = even && even_pair(i.operands[n]);
      const bool saves = i.row->does(kWritesExec);
      if (saves) out.set(kExecLo, even && exec());
      const Operand& to = i.operands[0];
      if (is_scalar(to.code) && to.code % 2 == 0 && to.count == 2)
        out.set(to.code, saves ? exec() : even);
      return out;
    }
    if (!even_result) return out;
    if (const Operand* to = i.operand(Slot::mask_dst); to != nullptr && to->code % 2 == 0)
      out.set(to->code);
    if (i.row->does(kWritesVcc)) out.set(kVccLo);
    if (i.row->does(kWritesExec)) out.set(kExecLo);
    return out;
  }
  /// Some lane may be on.
  void step_vectors(const Instruction& i, const PrivateAccess& access, bool all, bool alike) {
    using Where = PrivateAccess::Where;
    const Kind kind = i.row->kind;
    if (access.where == Where::anywhere && kind != Kind::load) slots_.reset();
    if (access.where == Where::slots) {
      const unsigned first = i.operand(Slot::vdata)->code - kVgpr0;
      for (size_t d = 0; d < access.slots.size(); ++d) {
        if (kind == Kind::store)
          slots_.set(access.slots[d], all && vectors_.test(first + d));
        else
          vectors_.set(first + d, all && slots_.test(access.slots[d]));
      }
      return;
    }
    if (i.row->encoding == Encoding::mimg || i.tfe) vectors_.reset();
    Vectors written;
    if (!i.row->is_vector_alu())
      for (const Operand& o : i.operands) add_vectors(written, o);
    else if (const Operand* to = i.operand(Slot::vdst))
      add_vectors(written, *to);
    if (all && alike)
      vectors_ |= written;
    else
      vectors_ &= ~written;
  }

  OwnBits bits_ = OwnBits::distinct();  ///< of a lane
  ScalarSet masks_;                     ///< low codes of pairs: all lanes' bits are the same
  Vectors vectors_;
  PrivateSlots slots_;
};

/// Follows a wave from the kernel's begin by one of its lanes. Where no lane comes that is off all
/// are on: each step of the wave keeps that true, as the paths of all lanes are followed.
class EvenWalk {
 public:
  EvenWalk(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths,
           const std::vector<bool>& off)
      : k_(kernel),
        a_(analysis),
        paths_(paths),
        off_(off),
        comes_off_(off.size()),
        memory_(private_memory(kernel, analysis, paths)) {
    memory_.at.resize(paths.instructions());
  }

  std::set<size_t> find() {
    come(0, Even());
    while (!work_.empty()) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      if (!follow(place.first, entered_.at(place))) return {};
    }
    std::set<size_t> out;
    for (const auto& [branch, even] : branches_)
      if (even) out.insert(branch);
    return out;
  }

 private:
  using Place = std::pair<size_t, bool>;  ///< a block of the paths, and whether the lane is on
  using States = std::array<std::optional<Even>, 2>;

  static void reach(States& states, const Even& state) {
    for (const bool on : {false, true}) {
      if (state.known() && state.on() != on) continue;
      Even one = state;
      one.turn(on);
      std::optional<Even>& there = states[on ? 1 : 0];
      if (there)
        there->join(one);
      else
        there = one;
    }
  }
  void come(size_t block, const Even& state) {
    const Place place{block, state.on()};
    const auto [it, fresh] = entered_.try_emplace(place, state);
    if (fresh || it->second.join(state)) work_.insert(place);
  }

  /// What was found of the block while no lane seemed to be off there is looked at again.
  void note_off(size_t path, size_t number) {
    if (comes_off_[number]) return;
    comes_off_[number] = true;
    for (const bool on : {false, true})
      if (entered_.contains({path, on})) work_.insert({path, on});
  }

  bool follow(size_t at, const Even& entered) {
    const PathBlock& path = paths_.blocks()[at];
    const BasicBlock& block = a_.blocks[path.block];
    States states;
    reach(states, entered);
    for (size_t n = block.begin; n < block.end; ++n) {
      const size_t number = path.first + n - block.begin;
      States behind;
      for (std::optional<Even>& s : states) {
        if (!s) continue;
        if (++steps_ > kMostSteps) return false;
        if (!s->on()) {
          if (!off_[number]) continue;  // nothing comes here
          note_off(at, number);
        } else if (!comes_off_[number]) {
          s->all_lanes_are_on();
        }
        if (asks_exec(k_.code[n])) {
          bool& even = branches_.emplace(n, true).first->second;
          even = even && s->exec();
        }
        s->step(k_.code[n], memory_.at[number], n);
        reach(behind, *s);
      }
      states = behind;
    }
    for (const std::optional<Even>& s : states)
      if (s) leave(path, *s);
    return true;
  }
  void leave(const PathBlock& path, const Even& state) {
    const size_t last = a_.blocks[path.block].end - 1;
    if (!asks_exec(k_.code[last]) || !(state.on() || state.exec())) {
      for (const size_t next : path.successors) come(next, state);
    } else if (const auto next = side_of(k_, paths_, path, last, state.on())) {
      come(*next, state);
    }
  }

  const Kernel& k_;
  const Analysis& a_;
  const CallPaths& paths_;
  const std::vector<bool>& off_;
  std::vector<bool> comes_off_;  ///< instructions that are reached by a lane that is off
  PrivateMemory memory_;
  std::map<Place, Even> entered_;
  std::set<Place> work_;
  std::map<size_t, bool> branches_;  ///< on EXEC, and whether it is even there
  size_t steps_ = 0;
};

}  // namespace

std::set<size_t> branches_of_even_exec(const Kernel& kernel, const Analysis& analysis,
                                       const CallPaths& paths) {
  if (std::ranges::any_of(kernel.code, counts_registers) || !analysis.indexed.empty()) return {};
  const auto off = OffPlaces(kernel, analysis, paths).find();
  return off ? EvenWalk(kernel, analysis, paths, *off).find() : std::set<size_t>();
}

}  // namespace lanewise::gcn
