#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// GCN and SASS keep 64-bit values in two registers: what an access puts together was often taken
/// apart just before.
class Pairs {
 public:
  explicit Pairs(Program& p) : numbers_(p), p_(p) {}

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      std::vector<Inst> kept;
      kept.reserve(p_.blocks[b].insts.size());
      for (Inst& i : p_.blocks[b].insts) {
        numbers_.next();
        if (split_to_moves(i, kept)) continue;
        rewrite(i);
        note(i);
        kept.push_back(std::move(i));
      }
      p_.blocks[b].insts = std::move(kept);
    }
    return changed_;
  }

 private:
  /// An operand and what it held.
  struct Held {
    Operand operand;
    uint32_t number = 0;
  };
  struct Words {
    Held low, high;
  };
  struct Half {
    Held wide;
    bool high = false;
  };

  Held hold(const Operand& o) { return {o, numbers_.of(o)}; }
  bool still(const Held& h) { return !h.operand.is_reg() || numbers_.of(h.operand) == h.number; }

  const Words* words_of(const Operand& wide) {
    const auto at = words_.find(numbers_.of(wide));
    return at == words_.end() ? nullptr : &at->second;
  }
  const Half* half_of(const Operand& word, bool high) {
    if (!word.is_reg()) return nullptr;
    const auto at = halves_.find(numbers_.of(word));
    return at == halves_.end() || at->second.high != high ? nullptr : &at->second;
  }

  void become(Inst& i, Op op, Type type, Operand source) {
    i.op = op;
    i.type = type;
    i.src = {source};
    changed_ = true;
  }

  void rewrite(Inst& i) {
    if (i.op == Op::pack64) {
      const Half* low = half_of(i.src[0], false);
      const Half* high = half_of(i.src[1], true);
      if (low != nullptr && high != nullptr && low->wide.number == high->wide.number &&
          still(low->wide)) {
        become(i, Op::mov, Type::u64, low->wide.operand);
      } else if (i.src[1] == Operand::immediate(0)) {
        become(i, Op::zext64, i.type, i.src[0]);
      }
    } else if (i.op == Op::trunc32) {
      const Words* words = words_of(i.src[0]);
      if (words != nullptr && still(words->low)) become(i, Op::mov, Type::u32, words->low.operand);
    }
  }

  /// unpack64 of a known pair.
  bool split_to_moves(const Inst& i, std::vector<Inst>& to) {
    if (i.op != Op::unpack64) return false;
    const Words* words = words_of(i.src[0]);
    if (words == nullptr || !still(words->low) || !still(words->high)) return false;
    const Operand parts[] = {words->low.operand, words->high.operand};
    if (parts[1] == Operand(i.dst[0])) return false;  // overwritten before it is read
    for (size_t d = 0; d < 2; ++d) {
      Inst move = i;
      move.op = Op::mov;
      move.type = Type::u32;
      move.dst = {i.dst[d]};
      move.src = {parts[d]};
      numbers_.write_all(move);
      to.push_back(std::move(move));
    }
    changed_ = true;
    return true;
  }

  /// Updates the numbers for the instruction, and remembers what it put together or took apart.
  void note(const Inst& i) {
    const bool whole = i.guard.always();
    if (whole && (i.op == Op::pack64 || i.op == Op::zext64)) {
      const Words w = {hold(i.src[0]),
                       i.op == Op::pack64 ? hold(i.src[1]) : hold(Operand::immediate(0))};
      numbers_.write_all(i);
      words_[numbers_.of(i.dst[0].id)] = w;
    } else if (whole && (i.op == Op::unpack64 || i.op == Op::trunc32) && i.src[0].is_reg()) {
      const Held wide = hold(i.src[0]);
      numbers_.write_all(i);
      for (size_t d = 0; d < i.dst.size(); ++d) halves_[numbers_.of(i.dst[d].id)] = {wide, d == 1};
    } else {
      numbers_.write_all(i);
    }
  }

  Numbering numbers_;
  Program& p_;
  std::unordered_map<uint32_t, Words> words_;
  std::unordered_map<uint32_t, Half> halves_;
  bool changed_ = false;
};

}  // namespace

bool join_pairs(Program& program, const PassOptions&) {
  return Pairs(program).run();
}

}  // namespace lanewise::ir
