#include "runtime/isa/gcn/lowering/analysis/unread_bits.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"

namespace lanewise::gcn {
namespace {

/// Whether VCC is zero: of its number, or of all lanes' bits.
bool asks_vcc(const Instruction& i) {
  return i.row->kind == Kind::branch && i.row->does(kReadsVcc);
}

/// Codes that the instruction reads as numbers: all but masks that it reads lane by lane.
ScalarSet number_reads(const Instruction& i) {
  ScalarSet out;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot s = i.row->operands[n].slot;
    const Operand& o = i.operands[n];
    if (o.immediate || !is_source_slot(s) || s == Slot::mask_src) continue;
    for (unsigned c = o.code; c < o.code + o.count && is_scalar(c); ++c) out.set(c);
    if (o.code == kVccz) out.set(kVccLo).set(kVccLo + 1);
  }
  if (asks_vcc(i)) out.set(kVccLo).set(kVccLo + 1);
  return out;
}

/// Pairs that a vector instruction reads lane by lane.
ScalarSet mask_reads(const Instruction& i) {
  ScalarSet out;
  if (!asks_vcc(i) && i.row->does(kReadsVcc)) out.set(kVccLo);
  if (const Operand* o = i.operand(Slot::mask_src); o != nullptr && is_scalar(o->code))
    out.set(o->code & ~1U);
  return out;
}

/// What an instruction has to do with scalar registers: each search comes to it many times.
struct ScalarUse {
  ScalarUse(const Instruction& i, const Effects& effects)
      : touched(effects), numbers(number_reads(i)), masks(mask_reads(i)) {
    for (const unsigned code : {unsigned{kScc}, unsigned{kM0}})
      numbers.set(code, touched.reads.test(code));
    if (i.row->does(kReadsDst)) numbers |= touched.writes;
    none = (touched.reads | touched.writes | numbers | masks).none();
  }

  const Effects& touched;
  ScalarSet numbers, masks;  ///< that it reads as numbers, and lane by lane
  bool none = false;
};

/// Of one lane: where the meaningless bit has come to.
class Traces {
 public:
  explicit Traces(unsigned low) {
    own_.set(low);
    wave_.set(low);
    bits_.forget(low);
  }
  bool any() const { return own_.any() || wave_.any() || numbers_.any(); }
  bool own() const { return own_.any(); }
  bool is_on() const { return bits_.of(kExecLo) == OwnBits::kOn; }
  bool exec_is_known() const { return is_on() || bits_.exec_off(); }
  void turn(bool on) { on ? bits_.turn_on() : bits_.turn_off(); }
  /// True when that changed anything.
  bool join(const Traces& other) {
    bool changed = bits_.join(other.bits_);
    const auto add = [&](ScalarSet& to, const ScalarSet& more) {
      changed = changed || (more & ~to).any();
      to |= more;
    };
    add(own_, other.own_);
    add(wave_, other.wave_);
    add(numbers_, other.numbers_);
    return changed;
  }

  /// False where the lane does something else for what the bit is.
  bool step(const Instruction& i, const ScalarUse& use, size_t n) {
    const Effects& e = use.touched;
    if (i.row->does(kMaskLogic)) return step_logic(i, n, e);
    if (asks_vcc(i) && wave_.test(kVccLo)) return false;
    const bool other = (use.numbers & numbers_).any();
    const bool own = (use.masks & own_).any();
    const bool moves = i.row->kind == Kind::move;
    const bool by_lane = i.row->kind == Kind::alu && i.row->is_vector_alu();
    if ((other && !moves && (is_on() || !by_lane)) || (own && (is_on() || !by_lane))) return false;
    const bool moved = other && moves;
    follow_bits(i, n, e.writes);
    set(e.writes, moved, moved, moved);
    return true;
  }

 private:
  /// It works on each bit by itself; of the result as a number any lane's bit is a part.
  bool step_logic(const Instruction& i, size_t n, const Effects& e) {
    const ScalarSet both = own_ | own_ << 1, some = wave_ | wave_ << 1;
    const bool own = (e.reads & both).any(), wave = (e.reads & some).any();
    const bool number = wave || (e.reads & numbers_).any();
    follow_bits(i, n, e.writes);
    set(e.writes, number, own, wave);
    return !own_.test(kExecLo);
  }
  void follow_bits(const Instruction& i, size_t n, const ScalarSet& writes) {
    if (writes.none()) return;
    bits_.retire(OwnBits::made_by(n));
    bits_.step(i, writes, OwnBits::made_by(n));
  }
  void set(const ScalarSet& writes, bool number, bool own, bool wave) {
    for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c)) {
      const auto code = static_cast<unsigned>(c), low = code & ~1U;
      numbers_.set(code, number && low != kExecLo);
      if (!is_scalar(code)) continue;
      const OwnBits::Bit bit = bits_.of(low);
      const bool whole = writes.test(low) && writes.test(low + 1);
      const bool known = bit == OwnBits::kOff || bit == OwnBits::kOn;
      own_.set(low, (own && !known) || (!whole && own_.test(low)));
      // Each lane's bit of EXEC is followed by itself.
      wave_.set(low, low != kExecLo && (wave || (!whole && wave_.test(low))));
      if (own_.test(low)) bits_.forget(low);
    }
  }

  OwnBits bits_ = OwnBits::distinct();
  ScalarSet own_;      ///< low codes of pairs whose bit of this lane depends on it
  ScalarSet wave_;     ///< ... of some lane of the wave
  ScalarSet numbers_;  ///< registers whose number does
};

/// Follows a lane that is on behind the instruction, and one that is off, wherever they can get.
class Search {
 public:
  Search(const Kernel& kernel, const Analysis& analysis) : kernel_(kernel), analysis_(analysis) {
    for (size_t n = 0; n < kernel.code.size(); ++n)
      uses_.emplace_back(kernel.code[n], analysis.effects[n]);
  }

  bool finds_no_reader(size_t n, unsigned low) {
    entered_.clear();
    work_.clear();
    const size_t block = analysis_.block_of[n];
    if (!follow(block, n + 1, split(Traces(low)))) return false;
    while (!work_.empty()) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      const BasicBlock& next = analysis_.blocks[place.first];
      States states;
      states[place.second] = entered_.at(place);
      if (!follow(place.first, next.begin, states)) return false;
    }
    return true;
  }

 private:
  /// Lanes that are on, or that hold the bit themselves, are followed apart from the others.
  static unsigned class_of(const Traces& s) { return (s.is_on() ? 1 : 0) + (s.own() ? 2 : 0); }
  using Place = std::pair<size_t, unsigned>;  ///< a block, and the class
  using States = std::array<std::optional<Traces>, 4>;

  static void reach(States& states, const Traces& state) {
    std::optional<Traces>& there = states[class_of(state)];
    if (there)
      there->join(state);
    else
      there = state;
  }
  /// A lane whose bit of EXEC is not known is followed as on and as off.
  static States split(const Traces& state) {
    States out;
    for (const bool on : {false, true}) {
      if (state.exec_is_known() && state.is_on() != on) continue;
      Traces one = state;
      one.turn(on);
      reach(out, one);
    }
    return out;
  }
  static States sort(const States& states, const std::array<bool, 4>& moved) {
    States out;
    for (unsigned c = 0; c < states.size(); ++c)
      if (!moved[c]) out[c] = states[c];
    for (unsigned c = 0; c < states.size(); ++c) {
      if (!moved[c]) continue;
      for (const std::optional<Traces>& part : split(*states[c]))
        if (part) reach(out, *part);
    }
    return out;
  }

  bool follow(size_t number, size_t from, States states) {
    const BasicBlock& block = analysis_.blocks[number];
    for (size_t n = from; n < block.end; ++n) {
      const Instruction& i = kernel_.code[n];
      const Meaning& m = i.row->meaning;
      const bool counts = analysis_.indexed.contains(n) || m.moves_result || m.moves_source;
      bool some = false;
      std::array<bool, 4> moved{};  // to another class, or to both
      for (unsigned c = 0; c < states.size(); ++c) {
        std::optional<Traces>& s = states[c];
        if (!s) continue;
        some = true;
        if (steps_ == 0) return false;
        --steps_;
        if (counts) return false;
        if (uses_[n].none) continue;
        if (!s->step(i, uses_[n], n)) return false;
        if (!s->any())
          s.reset();
        else
          moved[c] = !s->exec_is_known() || class_of(*s) != c;
      }
      if (!some) return true;
      if (std::ranges::find(moved, true) != moved.end()) states = sort(states, moved);
    }
    for (const std::optional<Traces>& s : states)
      if (s) leave(block, *s);
    return true;
  }
  /// A lane that is off may go with its wave or by itself.
  void leave(const BasicBlock& block, const Traces& state) {
    const size_t last = block.end - 1;
    const Row& row = *kernel_.code[last].row;
    const bool asks_exec = row.kind == Kind::branch && row.meaning.count == kExecz;
    const bool one = asks_exec && state.is_on() && block.successors.size() == 2 &&
                     block.successors[0] != block.successors[1];
    const bool goes_on = row.meaning.cond == ir::Cond::eq;  // where EXEC is not zero
    for (const size_t next : block.successors) {
      if (one && (analysis_.blocks[next].begin == block.end) != goes_on) continue;
      const Place place{next, class_of(state)};
      const auto [it, fresh] = entered_.try_emplace(place, state);
      if (fresh || it->second.join(state)) work_.insert(place);
    }
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::vector<ScalarUse> uses_;  ///< by instruction
  std::map<Place, Traces> entered_;
  std::set<Place> work_;
  size_t steps_ = 200'000;  ///< that may yet be done, by all searches together
};

}  // namespace

std::map<size_t, unsigned> unread_bits(const Kernel& kernel, const Analysis& analysis,
                                       std::map<size_t, unsigned> written) {
  if (written.empty()) return written;
  Search search(kernel, analysis);
  std::erase_if(written,
                [&](const auto& pair) { return !search.finds_no_reader(pair.first, pair.second); });
  return written;
}

}  // namespace lanewise::gcn
