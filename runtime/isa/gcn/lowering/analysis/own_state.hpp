// What a wave that goes on without a lane does to the lane's own bit of each mask, and to scalar
// registers as numbers.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// What a lane's own bit of each pair of scalar registers is: 0, 1, what it was at the branch, or
/// anything.
class OwnBits {
 public:
  using Bit = uint32_t;
  static constexpr Bit kOff = 0, kAnything = ~0U, kOn = kAnything - 1;

  bool operator==(const OwnBits& other) const {
    const size_t pairs = std::max(pairs_, other.pairs_);
    return std::equal(bits_.begin(), bits_.begin() + pairs, other.bits_.begin());
  }

  static OwnBits distinct() {
    OwnBits out;
    for (size_t n = 0; n < out.bits_.size(); ++n) out.bits_[n] = static_cast<Bit>(n + 1);
    return out;
  }
  /// kAnything of what is no scalar register.
  Bit of(unsigned code) const { return is_scalar(code) ? bits_[place(code)] : kAnything; }
  bool exec_off() const { return of(kExecLo) == kOff; }
  /// The lane is off: so are all pairs that hold the same bit.
  void turn_off() { exec_is(kOff); }
  void turn_on() { exec_is(kOn); }
  void forget(unsigned code) { set(code, kAnything); }
  /// What this stood for is another bit from here on.
  void retire(Bit name) {
    for (Bit& bit : written())
      if (bit == name || bit == inverse(name)) bit = kAnything;
  }
  /// A name for the bits that the instruction makes.
  static Bit made_by(size_t instruction) {
    return static_cast<Bit>(ScalarSet().size() + instruction);
  }
  /// True when that changed anything.
  bool join(const OwnBits& other) {
    bool changed = false;
    pairs_ = std::max(pairs_, other.pairs_);
    for (size_t n = 0; n < pairs_; ++n) {
      if (bits_[n] == other.bits_[n] || bits_[n] == kAnything) continue;
      bits_[n] = kAnything;
      changed = true;
    }
    return changed;
  }
  /// `fresh` stands for a bit that nothing is known of, or kAnything.
  void step(const Instruction& i, Bit fresh) { step(i, effects(i).writes, fresh); }
  void step(const Instruction& i, const ScalarSet& writes, Bit fresh) {
    const bool was_off = exec_off();
    const Bit exec = of(kExecLo);
    std::optional<Bit> result, new_exec;
    if (i.row->does(kMaskLogic)) {
      const Bit x = source(i.operands[1]);
      if (i.row->does(kWritesExec)) {
        new_exec = logic(i.row->meaning, x, exec, fresh);
        result = exec;
      } else {
        result = i.operands.size() < 3 ? only(i.row->meaning, x, fresh)
                                       : logic(i.row->meaning, x, source(i.operands[2]), fresh);
      }
    } else if (i.row->has(Slot::mask_dst) || i.row->does(kWritesVcc)) {
      // Compares and carries have the bits of inactive lanes off.
      result = was_off ? kOff : fresh;
      if (i.row->does(kWritesExec)) new_exec = result;
    }
    for (size_t code = writes._Find_first(); code < writes.size(); code = writes._Find_next(code))
      set(static_cast<unsigned>(code), result.value_or(kAnything));
    if (new_exec) set(kExecLo, *new_exec);
  }

 private:
  static constexpr size_t kNamedPairs = kZero / 2;  ///< that programs can name; slots follow

  static size_t place(unsigned code) {
    return code < kZero ? code / 2 : kNamedPairs + (code - kSlot0) / 2;
  }
  void set(unsigned code, Bit bit) {
    if (!is_scalar(code)) return;
    pairs_ = std::max(pairs_, place(code) + 1);
    bits_[place(code)] = bit;
  }
  std::span<Bit> written() { return std::span(bits_).first(pairs_); }
  Bit source(const Operand& o) const {
    if (o.immediate) return kAnything;
    if (is_scalar(o.code)) return o.code % 2 == 0 ? of(o.code) : kAnything;
    return o.code == kZero ? kOff : o.code == kMinusOne ? kOn : kAnything;
  }
  static constexpr Bit kComplement = 1U << 31;  ///< of a bit that has a name
  static Bit inverse(Bit x) {
    if (x == kOff || x == kOn) return x == kOff ? kOn : kOff;
    return x == kAnything ? kAnything : x ^ kComplement;
  }
  void exec_is(Bit value) {
    const Bit exec = of(kExecLo);
    // A slot that nobody has written may be where it came from.
    if (const Bit name = exec & ~kComplement; name <= bits_.size())
      pairs_ = std::max<size_t>(pairs_, name);
    for (Bit& bit : written())
      if (exec != kAnything && (bit == exec || bit == inverse(exec)))
        bit = bit == exec ? value : inverse(value);
    set(kExecLo, value);
  }
  static Bit only(const Meaning& m, Bit x, Bit fresh) {
    const Bit out = m.op == ir::Op::mov ? x : m.op == ir::Op::not_ ? inverse(x) : kAnything;
    return out != kAnything ? out : fresh;
  }
  static Bit logic(const Meaning& m, Bit x, Bit y, Bit fresh) {
    Bit out = combine(m.op, x, m.invert ? inverse(y) : y);
    if (m.invert_result) out = inverse(out);
    return out != kAnything ? out : fresh;
  }
  static Bit combine(ir::Op op, Bit x, Bit y) {
    const bool same = x == y && x != kAnything;
    const bool opposite = x == inverse(y) && x != kAnything;
    if (op == ir::Op::and_ || op == ir::Op::or_) {
      const Bit strong = op == ir::Op::and_ ? kOff : kOn;
      if (opposite || x == strong || y == strong) return strong;
      return same || y == inverse(strong) ? x : x == inverse(strong) ? y : kAnything;
    }
    if (op != ir::Op::xor_) return kAnything;
    if (opposite) return kOn;
    if (same) return kOff;
    if (x == kOff || y == kOff) return x == kOff ? y : x;
    return x == kOn ? inverse(y) : y == kOn ? inverse(x) : kAnything;
  }

  std::array<Bit, kNamedPairs + kSlots / 2> bits_{};
  size_t pairs_ = kNamedPairs;  ///< those behind them are as they were at the start
};

/// What scalar registers hold as numbers, as far as it is what one of them held at the start, the
/// address behind a call or nothing, plus a constant.
class OwnWords {
 public:
  struct Word {
    uint32_t of = 0;  ///< kConstant, a register's code + 1, or a half of an address
    uint32_t plus = 0;
    bool operator==(const Word&) const = default;
  };
  using Known = std::optional<Word>;

  bool operator==(const OwnWords&) const = default;
  bool is_as_before(unsigned code) const { return of(code) == Known(Word{code + 1, 0}); }
  /// Does the pair hold the address behind this call?
  bool leads_behind(const Operand& pair, size_t call) const;
  void step(const Instruction& i, const ScalarSet& writes);
  /// At a call: where it returns to.
  void put_address_behind(const Operand& pair, size_t call);
  /// True when that changed anything.
  bool join(const OwnWords& other);

 private:
  static constexpr uint32_t kConstant = 0;
  static uint32_t address_half(size_t call, unsigned half) {
    return static_cast<uint32_t>(ScalarSet().size() + 2 * call + half + 1);
  }
  Known of(unsigned code) const;
  Known source(const Operand& o, unsigned dword) const;
  Known result(const Instruction& i, unsigned dword) const;

  std::map<unsigned, Known> at_;  ///< others are as they were at the start
};

}  // namespace lanewise::gcn
