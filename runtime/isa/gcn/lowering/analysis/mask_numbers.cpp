// A pair of scalar registers can hold a mask: one predicate of each lane. Its 64-bit number costs a
// look at the other lanes, so it is made only where somebody wants it before the pair is written
// again.
#include <algorithm>
#include <optional>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"
#include "runtime/isa/gcn/lowering/analysis/unread_bits.hpp"
#include "runtime/isa/gcn/lowering/analysis/unread_values.hpp"
#include "runtime/isa/gcn/lowering/analysis/vector_effects.hpp"

namespace lanewise::gcn {
namespace {

bool mask_logic(const Instruction& i) {
  return i.row->does(kMaskLogic);
}

/// Low codes of the pairs that the instruction reads lane by lane.
void mask_reads(const Instruction& i, const ScalarSet& masks, ScalarSet& out) {
  if (i.row->does(kReadsVcc)) out.set(kVccLo);
  const Operand* dst = i.operand(Slot::sdst);
  const bool into_mask =
      mask_logic(i) && dst != nullptr && (i.row->does(kWritesExec) || masks.test(dst->code & ~1U));
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot s = i.row->operands[n].slot;
    const unsigned code = i.operands[n].code;
    if (i.operands[n].immediate || !is_scalar(code)) continue;
    if (s == Slot::mask_src || (into_mask && is_source_slot(s))) out.set(code & ~1U);
  }
}

void find_masks(const Kernel& k, Analysis& a) {
  a.masks.set(kExecLo);
  a.through_masks.resize(k.code.size());
  for (const BasicBlock& b : a.blocks) {
    ScalarSet stale = b.stale_in;
    for (size_t n = b.begin; n < b.end; ++n) {
      const Instruction& i = k.code[n];
      a.through_masks[n] = mask_logic(i) && is_mask_write(i, stale);
      if (a.through_masks[n])
        for (const Operand& o : i.operands)
          if (!o.immediate && is_scalar(o.code)) a.masks.set(o.code & ~1U);
      step_stale(i, stale);
    }
  }
  for (size_t before = 0; before != a.masks.count();) {
    before = a.masks.count();
    for (const Instruction& i : k.code) {
      ScalarSet more;
      mask_reads(i, a.masks, more);
      a.masks |= more;
    }
  }
}

/// May the result have bits of lanes that do not exist, as the complement of any mask has?
bool sets_missing_lanes(const Instruction& i, const ScalarSet& beyond) {
  const Meaning& m = i.row->meaning;
  const auto has = [&](size_t n) {
    const Operand& o = i.operands[n];
    if (!o.immediate && is_scalar(o.code)) return beyond.test(o.code & ~1U);
    return o.immediate ? o.value != 0 : o.code != kZero;
  };
  if (i.operands[0].code == kExecLo || m.invert_result || m.op == ir::Op::not_)
    return i.operands[0].code != kExecLo;
  if (i.operands.size() < 3) return has(1);
  const bool second = has(2) || m.invert;
  return m.op == ir::Op::and_ ? has(1) && second : has(1) || second;
}

/// Numbers may have any bits.
void step_beyond(const Instruction& i, const ScalarSet& writes, ScalarSet& beyond) {
  const bool is_mask = i.row->has(Slot::mask_dst) || i.row->does(kWritesVcc);
  const bool logic = mask_logic(i) && !i.row->does(kWritesExec);
  const bool result = logic && sets_missing_lanes(i, beyond);
  const bool zero =
      i.row->kind == Kind::move && !i.operands[1].immediate && i.operands[1].code == kZero;
  for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c)) {
    const size_t low = c & ~size_t{1};
    if (low == kExecLo || !is_scalar(static_cast<unsigned>(c))) continue;
    if (mask_logic(i) || is_mask)
      beyond.set(low, result);
    else if (!zero)
      beyond.set(low);
  }
}

void find_beyond(const Kernel& k, Analysis& a) {
  a.result_beyond.resize(k.code.size());
  a.asks_number.resize(k.code.size());
  a.blocks[0].beyond_in.set().reset(kExecLo);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock& b : a.blocks) {
      ScalarSet beyond = b.beyond_in;
      for (size_t n = b.begin; n < b.end; ++n) {
        const Instruction& i = k.code[n];
        const bool asks_vcc = i.row->kind == Kind::branch && i.row->does(kReadsVcc);
        a.asks_number[n] = asks_vcc && beyond.test(kVccLo);
        step_beyond(i, a.effects[n].writes, beyond);
        a.result_beyond[n] = mask_logic(i) && beyond.test(i.operands[0].code & ~1U);
      }
      for (const size_t s : b.successors) {
        ScalarSet& in = a.blocks[s].beyond_in;
        changed = changed || (beyond & ~in).any();
        in |= beyond;
      }
    }
  }
}

/// The low code of the mask that the instruction writes one word of, while the other word's number
/// was not made.
std::optional<unsigned> half_of_mask(const Instruction& i, const Analysis& a,
                                     const ScalarSet& stale) {
  const Operand* to = i.operand(Slot::sdst);
  if (to == nullptr || to->count != 1 || !is_scalar(to->code) || i.row->meaning.moves_result)
    return {};
  const unsigned low = to->code & ~1U;
  if (low == kExecLo || !a.masks.test(low) || !stale.test(to->code ^ 1)) return {};
  return low;
}

/// What is wanted in front of an instruction, of what is wanted behind it.
struct Wanted {
  ScalarSet numbers, masks;  ///< of a mask both words, until they are written

  void step_back(const Kernel& k, const Analysis& a, size_t index) {
    const Instruction& i = k.code[index];
    const Effects& e = a.effects[index];
    const bool counted = i.row->meaning.moves_result;  // M0 says which register is written
    const bool scc = i.row->does(kWritesScc) && a.scc_live[index];
    // A ballot knows only the lanes that exist. A mask that logic makes of others may have bits
    // beyond them, so where its number is wanted, or whether it is zero, so are those of its
    // sources.
    const bool number =
        !a.through_masks[index] ||
        (!i.row->does(kWritesExec) && a.makes_number(index, i.operands[0].code, numbers, scc));
    // One word of a pair: the mask over it is made of both.
    ScalarSet others;
    for (size_t code = e.writes._Find_first(); code < e.writes.size();
         code = e.writes._Find_next(code)) {
      const size_t other = code ^ 1;
      if (a.unread_bits.contains(index)) continue;
      const bool reads_both = masks.test(other) && (counted || masks.test(code));
      if (reads_both && (code & ~size_t{1}) != kExecLo && (counted || !e.writes.test(other)))
        others.set(other);
    }
    if (!counted) {
      numbers &= ~e.writes;
      masks &= ~e.writes;
    }
    numbers |= others;
    if (number && !a.dead_moves[index]) add_numbers(i, e);
    if (a.asks_number[index]) numbers.set(kVccLo).set(kVccLo + 1);
    ScalarSet read;
    mask_reads(i, a.masks, read);
    if (a.through_masks[index])
      for (size_t n = 1; n < i.operands.size(); ++n)
        if (!i.operands[n].immediate && is_scalar(i.operands[n].code))
          read.set(i.operands[n].code & ~1U);
    masks |= read | read << 1;
  }

 private:
  void add_numbers(const Instruction& i, const Effects& e) {
    if (i.row->does(kReadsDst) || i.row->meaning.moves_result) numbers |= e.writes;
    if (i.row->meaning.moves_source) numbers |= e.reads;
    for (size_t n = 0; n < i.operands.size(); ++n) {
      const Slot s = i.row->operands[n].slot;
      const Operand& o = i.operands[n];
      if (o.immediate || !is_source_slot(s) || s == Slot::mask_src) continue;
      // Whether it is zero is asked of the number, as lanes that do not exist may count.
      const unsigned code = o.code == kVccz ? kVccLo : o.code;
      const unsigned count = o.code == kVccz ? 2 : o.count;
      for (unsigned c = code; c < code + count && is_scalar(c); ++c) numbers.set(c);
    }
  }
};

/// Instructions of the block whose mask some lane may read before the word is written again.
std::vector<bool> makes_read_masks(const Kernel& k, const Analysis& a, const BasicBlock& b) {
  std::vector<bool> out(b.end - b.begin);
  Wanted wanted{b.numbers_out, b.masks_out};
  for (size_t n = b.end; n-- > b.begin;) {
    const Operand* to = k.code[n].operand(Slot::sdst);
    out[n - b.begin] = to != nullptr && is_scalar(to->code) && wanted.masks.test(to->code);
    wanted.step_back(k, a, n);
  }
  return out;
}

/// Of an analysis that knows what is wanted if all bits are read.
void find_unread_bits(const Kernel& k, Analysis& a) {
  std::map<size_t, unsigned> read_masks;
  for (const BasicBlock& b : a.blocks) {
    if (!b.reached) continue;
    const std::vector<bool> read = makes_read_masks(k, a, b);
    ScalarSet stale = b.stale_in;
    for (size_t n = b.begin; n < b.end; ++n) {
      const std::optional<unsigned> low = half_of_mask(k.code[n], a, stale);
      if (low && read[n - b.begin]) read_masks[n] = *low;
      step_stale(k.code[n], stale);
    }
  }
  a.unread_bits = unread_bits(k, a, std::move(read_masks));
}

/// Moves of a mask's number to lanes that do not read it.
std::vector<size_t> moves_of_numbers(const Kernel& k, const Analysis& a) {
  std::vector<size_t> out;
  for (const BasicBlock& b : a.blocks) {
    if (!b.reached) continue;
    ScalarSet stale = b.stale_in;
    for (size_t n = b.begin; n < b.end; ++n) {
      const Instruction& i = k.code[n];
      const Operand* from = is_plain_move(i) ? i.operand(Slot::src0) : nullptr;
      const bool scalar = from != nullptr && !from->immediate && is_scalar(from->code);
      if (scalar && stale.test(from->code) && !a.dead_moves[n]) out.push_back(n);
      step_stale(i, stale);
    }
  }
  return out;
}

/// They are dead, too: what keeps lanes from parting is looked for as long as they may. Where
/// registers are counted, dead moves are not looked for either.
void find_unread_values(const Kernel& k, Analysis& a) {
  if (std::ranges::any_of(k.code, counts_registers) || !a.indexed.empty()) return;
  const std::vector<size_t> moves = moves_of_numbers(k, a);
  if (moves.empty()) return;
  const PrivateMemory memory = private_memory(k, a, CallPaths(a));
  size_t steps = 200'000;
  for (const size_t n : moves)
    if (value_is_unread(k, a, memory, n, steps)) a.dead_moves[n] = a.only_by_lane = true;
}

void find_wanted(const Kernel& k, const LowerOptions& options, Analysis& a) {
  ScalarSet always;
  for (const unsigned low : options.numbers)
    for (const unsigned code : {low, low + 1})
      if (is_scalar(code)) always.set(code);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = a.blocks.size(); n-- > 0;) {
      BasicBlock& b = a.blocks[n];
      Wanted wanted{always, {}};
      for (const size_t s : b.successors) {
        wanted.numbers |= a.blocks[s].numbers_in;
        wanted.masks |= a.blocks[s].masks_in;
      }
      b.numbers_out = wanted.numbers;
      b.masks_out = wanted.masks;
      for (size_t i = b.end; i-- > b.begin;) {
        wanted.step_back(k, a, i);
        wanted.numbers |= always;
      }
      changed = changed || wanted.numbers != b.numbers_in || wanted.masks != b.masks_in;
      b.numbers_in = wanted.numbers;
      b.masks_in = wanted.masks;
    }
  }
  a.always_numbers = always;
}

}  // namespace

bool Analysis::makes_number(size_t index, unsigned code, const ScalarSet& numbers,
                            bool scc_wanted) const {
  const unsigned low = code & ~1U;
  if (low == kExecLo || !result_beyond[index]) return false;
  return numbers.test(low) || numbers.test(low + 1) || scc_wanted;
}

std::vector<ScalarSet> numbers_behind(const Kernel& k, const Analysis& a, const BasicBlock& b) {
  std::vector<ScalarSet> behind(b.end - b.begin);
  Wanted wanted{b.numbers_out, b.masks_out};
  for (size_t n = b.end; n-- > b.begin;) {
    behind[n - b.begin] = wanted.numbers;
    wanted.step_back(k, a, n);
    wanted.numbers |= a.always_numbers;
  }
  return behind;
}

void find_mask_numbers(const Kernel& k, const LowerOptions& options, Analysis& a) {
  a.scc_live.resize(k.code.size());
  for (const BasicBlock& b : a.blocks) {
    const std::vector<ScalarSet> live = live_behind(k, a, b);
    for (size_t n = b.begin; n < b.end; ++n)
      a.scc_live[n] = options.keep_scc || live[n - b.begin].test(kScc);
  }
  find_masks(k, a);
  find_beyond(k, a);
  find_dead_moves(k, a);
  if (options.by_lane) find_unread_values(k, a);
  find_wanted(k, options, a);
  if (options.numbers.empty() && !options.keep_scc) find_unread_bits(k, a);
  if (a.unread_bits.empty()) return;
  for (BasicBlock& b : a.blocks) {
    b.numbers_in.reset();
    b.masks_in.reset();
  }
  find_wanted(k, options, a);
}

}  // namespace lanewise::gcn
