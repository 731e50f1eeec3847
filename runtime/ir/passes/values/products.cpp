// Products that were made of halves, as GPUs with 16-bit multipliers do it, are multiplications.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// With a = ah << 16 | al, and b alike, a * b is al * bl + (al * bh << 16) + (ah * bl << 16): what
/// lies beyond 32 bits is lost on both sides. The middle term comes either by itself or in a word
/// with bl above it, which XMAD.MRG makes so that the third finds bl there.
class Products {
 public:
  explicit Products(Program& p) : p_(p), numbers_(p) {}

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      for (size_t n = 0; n < p_.blocks[b].insts.size(); ++n) {
        const Inst& i = p_.blocks[b].insts[n];
        numbers_.next();
        const std::optional<Made> made = describe(i);
        if (made && made->op == Op::add) look_at(b, n, *made);
        numbers_.write_all(i);
        if (made) made_[numbers_.of(i.dst[0].id)] = *made;
      }
    }
    for (auto at = found_.rbegin(); at != found_.rend(); ++at) replace(*at);
    return !found_.empty();
  }

 private:
  /// How a number was made; of the operands their numbers.
  struct Made {
    Op op = Op::mov;
    std::array<Operand, 2> from;
    std::array<uint32_t, 2> in{};
  };
  struct Factors {
    Operand a, b;
  };
  struct Found {
    uint32_t block = 0;
    size_t inst = 0;
    Factors factors;
    Operand rest;  ///< what is added, if anything
  };
  struct Term {
    uint32_t number = 0;
    Operand from;
  };

  std::optional<Made> describe(const Inst& i) {
    const bool word = i.type == Type::u32 || i.type == Type::s32;
    const bool half = i.op == Op::zext16;
    const bool known = i.op == Op::add || i.op == Op::mul || i.op == Op::shl || i.op == Op::or_ ||
                       (i.op == Op::shr && i.type == Type::u32);
    if ((!half && !(known && word)) || !i.guard.always()) return std::nullopt;
    Made made{i.op, {}, {}};
    for (size_t s = 0; s < i.src.size() && s < 2; ++s) {
      made.from[s] = i.src[s];
      made.in[s] = numbers_.of(i.src[s]);
    }
    return made;
  }

  const Made* made(uint32_t number, Op op) const {
    const auto at = made_.find(number);
    return at != made_.end() && at->second.op == op ? &at->second : nullptr;
  }
  static bool by_half(const Made& m) { return m.from[1].is_imm() && m.from[1].imm == 16; }

  /// The number whose lower half this is.
  std::optional<Term> low_of(uint32_t number, const Operand& from) const {
    if (from.is_imm() && from.imm < 0x10000) return Term{number, from};
    if (const Made* m = made(number, Op::zext16)) return Term{m->in[0], m->from[0]};
    const Made* m = made(number, Op::shr);
    if (m == nullptr || !by_half(*m)) return std::nullopt;
    const auto merged = merged_of(m->in[0]);
    return merged ? std::optional(merged->second) : std::nullopt;
  }
  std::optional<uint32_t> high_of(uint32_t number) const {
    const Made* m = made(number, Op::shr);
    return m != nullptr && by_half(*m) ? std::optional(m->in[0]) : std::nullopt;
  }
  /// zext16 x | y << 16: the numbers of x and y.
  std::optional<std::pair<uint32_t, Term>> merged_of(uint32_t number) const {
    const Made* m = made(number, Op::or_);
    if (m == nullptr) return std::nullopt;
    for (size_t s = 0; s < 2; ++s) {
      const Made* low = made(m->in[s], Op::zext16);
      const Made* high = made(m->in[1 - s], Op::shl);
      if (low != nullptr && high != nullptr && by_half(*high))
        return std::pair(low->in[0], Term{high->in[0], high->from[0]});
    }
    return std::nullopt;
  }

  /// Both halves of the factors that the product is made of, in either order.
  bool is_cross(uint32_t number, uint32_t high, uint32_t low) const {
    const Made* m = made(number, Op::mul);
    if (m == nullptr) return false;
    for (size_t s = 0; s < 2; ++s) {
      const auto l = low_of(m->in[1 - s], m->from[1 - s]);
      if (high_of(m->in[s]) == high && l && l->number == low) return true;
    }
    return false;
  }
  /// The term is the upper half of one times the lower half of the other, 16 bits up.
  bool is_upper(const Term& term, uint32_t high, uint32_t low) const {
    const Made* m = made(term.number, Op::shl);
    if (m == nullptr || !by_half(*m)) return false;
    if (is_cross(m->in[0], high, low)) return true;
    const auto merged = merged_of(m->in[0]);
    return merged && is_cross(merged->first, high, low);
  }

  void add_terms(const Made& sum, int depth, std::vector<Term>& out) const {
    for (size_t s = 0; s < 2; ++s) {
      const Made* inner = depth > 0 ? made(sum.in[s], Op::add) : nullptr;
      if (inner != nullptr)
        add_terms(*inner, depth - 1, out);
      else
        out.push_back({sum.in[s], sum.from[s]});
    }
  }

  /// The register still holds it.
  bool held(const Term& term) {
    return !term.from.is_reg() || numbers_.of(term.from) == term.number;
  }

  void look_at(uint32_t block, size_t inst, const Made& sum) {
    for (const int depth : {1, 2}) {
      std::vector<Term> terms;
      add_terms(sum, depth, terms);
      for (size_t t = 0; t < terms.size() && terms.size() <= 4; ++t) {
        const auto product = product_of(terms, t);
        if (!product) continue;
        found_.push_back({block, inst, product->first, product->second});
        return;
      }
    }
  }

  /// With term t as the product of lower halves; and what else is added.
  std::optional<std::pair<Factors, Operand>> product_of(std::vector<Term> terms, size_t t) {
    const Made* m = made(terms[t].number, Op::mul);
    if (m == nullptr) return std::nullopt;
    const auto a = low_of(m->in[0], m->from[0]), b = low_of(m->in[1], m->from[1]);
    if (!a || !b || !held(*a) || !held(*b)) return std::nullopt;
    terms.erase(terms.begin() + static_cast<ptrdiff_t>(t));
    for (const bool swapped : {false, true}) {
      const Term &high = swapped ? *b : *a, &low = swapped ? *a : *b;
      if (high.from.is_imm()) continue;  // its upper half is 0
      const auto at = std::ranges::find_if(
          terms, [&](const Term& term) { return is_upper(term, high.number, low.number); });
      if (at == terms.end()) return std::nullopt;
      terms.erase(at);
    }
    if (terms.size() > 1 || (!terms.empty() && !held(terms[0]))) return std::nullopt;
    return std::pair(Factors{a->from, b->from}, terms.empty() ? Operand() : terms[0].from);
  }

  void replace(const Found& found) {
    std::vector<Inst>& insts = p_.blocks[found.block].insts;
    Inst& sum = insts[found.inst];
    const bool adds = found.rest.kind != Operand::Kind::none;
    Inst product = sum;
    product.op = Op::mul;
    product.src = {found.factors.a, found.factors.b};
    if (!adds) {
      sum = std::move(product);
      return;
    }
    const Reg reg = p_.add_reg(Width::b32);
    product.dst = {reg};
    sum.src = {reg, found.rest};
    insts.insert(insts.begin() + static_cast<ptrdiff_t>(found.inst), std::move(product));
  }

  Program& p_;
  Numbering numbers_;
  std::unordered_map<uint32_t, Made> made_;  ///< by number
  std::vector<Found> found_;
};

}  // namespace

bool join_products(Program& program, const PassOptions&) {
  const auto halves = [](const Inst& i) { return i.op == Op::zext16; };
  return any_inst(program, halves) && Products(program).run();
}

}  // namespace lanewise::ir
