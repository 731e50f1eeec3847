#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::ir {
namespace {

/// Sums of sums are followed so far.
constexpr int kPairDepth = 8;

/// GCN and SASS keep 64-bit values in two registers: what an access puts together was often taken
/// apart just before, or computed word by word.
class Pairs {
 public:
  explicit Pairs(Program& p) : numbers_(p), p_(p) {}

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      block_ = b;
      kept_.clear();
      kept_.reserve(p_.blocks[b].insts.size());
      for (Inst& i : p_.blocks[b].insts) {
        numbers_.next();
        if (split_to_moves(i)) continue;
        const std::optional<Words> words = words_made(i);
        rewrite(i);
        note(i, words);
        kept_.push_back(std::move(i));
      }
      std::swap(p_.blocks[b].insts, kept_);
    }
    insert_saves();
    return changed_;
  }

 private:
  /// An operand, what it held, and which instruction read it.
  struct Held {
    Operand operand;
    uint32_t number = 0, block = 0;
    size_t inst = 0;
  };
  struct Words {
    Held low, high;
  };
  struct Half {
    Held wide;
    bool high = false;
  };
  /// How a word was made that can be half of a wider result.
  struct Made {
    Op op = Op::mov;
    Type type = Type::none;
    std::array<Held, 3> src;
    uint32_t carry = 0;  ///< its number
  };
  struct Save {
    uint32_t block = 0;
    size_t before = 0;
    Reg to;
    Operand from;
  };

  Held hold(const Operand& o) { return {o, numbers_.of(o), block_, kept_.size()}; }
  bool still(const Held& h) { return !h.operand.is_reg() || numbers_.of(h.operand) == h.number; }

  const Words* words_of(const Operand& wide) {
    const auto at = words_.find(numbers_.of(wide));
    return at == words_.end() ? nullptr : &at->second;
  }
  const Half* half_of(const Held& word, bool high) {
    const auto at = halves_.find(word.number);
    return at == halves_.end() || at->second.high != high ? nullptr : &at->second;
  }
  const Made* made(const Held& word) {
    const auto at = made_.find(word.number);
    return at == made_.end() ? nullptr : &at->second;
  }

  /// The operand as it was, from a register of its own if another value is in it now.
  Operand read(const Held& h) {
    if (still(h)) return h.operand;
    const auto [at, fresh] = saved_.try_emplace({h.block, h.inst, h.operand.index});
    if (fresh) {
      at->second = p_.add_reg(p_.regs[h.operand.index].width);
      saves_.push_back({h.block, h.inst, at->second, h.operand});
    }
    return at->second;
  }

  /// Another instruction in front of the current one.
  Operand emit(const Inst& current, Op op, Type type, std::vector<Operand> src) {
    kept_.push_back(instruction(op, type, {p_.add_reg(Width::b64)}, std::move(src), current.site));
    return kept_.back().dst[0];
  }

  void become(Inst& i, Op op, Type type, std::vector<Operand> src) {
    i.op = op;
    i.type = type;
    i.src = std::move(src);
    changed_ = true;
  }

  /// Makes the instruction compute what the words are together, if that is anything simpler.
  bool join(Inst& i, const Held& low, const Held& high, int depth) {
    if (low.operand.is_imm() && high.operand.is_imm()) {
      become(i, Op::mov, Type::u64, {Operand::immediate(high.operand.imm << 32 | low.operand.imm)});
      return true;
    }
    const Half *first = half_of(low, false), *second = half_of(high, true);
    if (first != nullptr && second != nullptr && first->wide.number == second->wide.number) {
      become(i, Op::mov, Type::u64, {read(first->wide)});
      return true;
    }
    if (high.operand == Operand::immediate(0)) {
      become(i, Op::zext64, Type::u64, {read(low)});
      return true;
    }
    const Made *l = made(low), *h = made(high);
    if (h == nullptr) return false;
    const auto by = [](const Made& m, uint64_t n) {
      return m.src[1].operand == Operand::immediate(n);
    };
    const Op extend = h->type == Type::s32 ? Op::sext64 : Op::zext64;
    if (h->op == Op::shr && by(*h, 31) && h->type == Type::s32 && h->src[0].number == low.number) {
      become(i, Op::sext64, Type::u64, {read(low)});
      return true;
    }
    if (l == nullptr) return false;
    const bool alike = l->src[0].number == h->src[0].number;
    if (l->op == Op::shl && h->op == Op::shr && alike && l->src[1].operand.is_imm() &&
        l->src[1].operand.imm < 32 && by(*h, 32 - l->src[1].operand.imm)) {
      const Operand whole = emit(i, extend, Type::u64, {read(l->src[0])});
      become(i, Op::shl, Type::u64, {whole, l->src[1].operand});
      return true;
    }
    if (l->op == Op::mul && h->op == Op::mulhi && alike && l->src[1].number == h->src[1].number) {
      become(i, Op::mulwide, h->type, {read(l->src[0]), read(l->src[1])});
      return true;
    }
    const bool sums = l->op == h->op && (l->op == Op::addc || l->op == Op::subb);
    if (!sums || depth == 0 || l->src[2].operand != Operand::immediate(0) ||
        h->src[2].number != l->carry)
      return false;
    const Made below = *l, above = *h;
    const Operand a = whole(i, below.src[0], above.src[0], depth - 1);
    const Operand b = whole(i, below.src[1], above.src[1], depth - 1);
    become(i, below.op == Op::addc ? Op::add : Op::sub, Type::u64, {a, b});
    return true;
  }

  /// Both words as one operand.
  Operand whole(const Inst& current, const Held& low, const Held& high, int depth) {
    Inst pair;
    pair.site = current.site;
    if (!join(pair, low, high, depth)) become(pair, Op::pack64, Type::u64, {read(low), read(high)});
    if (pair.op == Op::mov) return pair.src[0];
    return emit(current, pair.op, pair.type, std::move(pair.src));
  }

  void rewrite(Inst& i) {
    if (i.op == Op::pack64) {
      join(i, hold(i.src[0]), hold(i.src[1]), kPairDepth);
    } else if (i.op == Op::trunc32) {
      const Words* words = words_of(i.src[0]);
      if (words != nullptr && still(words->low))
        become(i, Op::mov, Type::u32, {words->low.operand});
    }
  }

  /// unpack64 of a known pair.
  bool split_to_moves(const Inst& i) {
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
      kept_.push_back(std::move(move));
    }
    changed_ = true;
    return true;
  }

  std::optional<Words> words_made(const Inst& i) {
    if (!i.guard.always() || (i.op != Op::pack64 && i.op != Op::zext64)) return std::nullopt;
    return Words{hold(i.src[0]), hold(i.op == Op::pack64 ? i.src[1] : Operand::immediate(0))};
  }

  /// Updates the numbers for the instruction, and remembers what it put together or took apart.
  void note(const Inst& i, const std::optional<Words>& words) {
    const bool whole = i.guard.always();
    std::optional<Held> wide;
    if (whole && (i.op == Op::unpack64 || i.op == Op::trunc32) && i.src[0].is_reg())
      wide = hold(i.src[0]);
    std::optional<Made> word;
    if (whole && makes_half(i)) {
      word = Made{i.op, i.type, {}, 0};
      for (size_t s = 0; s < i.src.size(); ++s) word->src[s] = hold(i.src[s]);
    }
    numbers_.write_all(i);
    if (words) words_[numbers_.of(i.dst[0].id)] = *words;
    for (size_t d = 0; wide && d < i.dst.size(); ++d)
      halves_[numbers_.of(i.dst[d].id)] = {*wide, d == 1};
    if (!word) return;
    if (i.dst.size() > 1 && i.dst[1].valid()) word->carry = numbers_.of(i.dst[1].id);
    made_[numbers_.of(i.dst[0].id)] = *word;
  }

  static bool makes_half(const Inst& i) {
    static constexpr EnumSet<Op> kHalves{Op::addc, Op::subb, Op::shl, Op::shr, Op::mul, Op::mulhi};
    return kHalves.has(i.op) && size_of(i.type) == 4 && i.dst[0].valid();
  }

  void insert_saves() {
    std::ranges::stable_sort(saves_, [](const Save& a, const Save& b) {
      return std::pair(a.block, a.before) < std::pair(b.block, b.before);
    });
    for (size_t n = 0; n < saves_.size();) {
      const uint32_t block = saves_[n].block;
      std::vector<Inst> insts;
      std::vector<Inst>& old = p_.blocks[block].insts;
      for (size_t i = 0; i < old.size(); ++i) {
        for (; n < saves_.size() && saves_[n].block == block && saves_[n].before == i; ++n) {
          const Save& s = saves_[n];
          insts.push_back(instruction(Op::mov, bits_type(p_.regs[s.to.id].width), {s.to}, {s.from},
                                      old[i].site));
        }
        insts.push_back(std::move(old[i]));
      }
      old = std::move(insts);
    }
  }

  Numbering numbers_;
  Program& p_;
  std::unordered_map<uint32_t, Words> words_;
  std::unordered_map<uint32_t, Half> halves_;
  std::unordered_map<uint32_t, Made> made_;
  std::map<std::array<size_t, 3>, Reg> saved_;  ///< by place and register
  std::vector<Save> saves_;
  std::vector<Inst> kept_;  ///< the current block
  uint32_t block_ = 0;
  bool changed_ = false;
};

}  // namespace

bool join_pairs(Program& program, const PassOptions&) {
  return Pairs(program).run();
}

}  // namespace lanewise::ir
