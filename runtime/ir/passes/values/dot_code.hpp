// Plain operations in the place of one Op::dot.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "runtime/ir/dot.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Appends operations that belong to the guest instruction of the dot.
class DotCode {
 public:
  DotCode(Program& program, std::vector<Inst>& out) : program_(program), out_(out) {}
  void set_site(uint32_t site) { site_ = site; }

  Inst inst(Op op, Type type, std::vector<Operand> src) const;
  Operand emit(Inst i, Width width = Width::b32);
  Operand emit(Op op, Type type, std::vector<Operand> src) {
    return emit(inst(op, type, std::move(src)));
  }
  /// A float operation whose NaN, if it gives one, is not looked at.
  Operand number(Op op, std::vector<Operand> src);
  Operand word(Op op, Operand a, Operand b) { return emit(op, Type::u32, {a, b}); }
  Operand word(Op op, Operand a, uint64_t b) { return word(op, a, Operand::immediate(b)); }
  Operand largest(Operand a, Operand b) { return word(Op::max, a, b); }
  Operand is(Cond cond, Operand a, Operand b);
  Operand select(Operand predicate, Operand yes, Operand no) {
    return emit(Op::select, Type::u32, {predicate, yes, no});
  }
  Operand convert(Op op, Type type, Type from, Operand x);
  /// An f16, whose NaN only sums look at.
  Operand widened(Operand half);
  /// The f32 with the value of element i of a word.
  Operand element(Operand w, Element e, unsigned i);
  /// The number with the value of integer i of a word.
  Operand integer(Operand w, Element e, unsigned i);
  /// `made` gives result and validity like that shuffle of another value.
  Operand shuffled(const Inst& shuffle, Operand value);

 private:
  Program& program_;
  std::vector<Inst>& out_;
  uint32_t site_ = kNone;
};

/// Words of factors and where they come from: a word that a shuffle brought may be computed with
/// before it is shuffled, once instead of in each lane that gets it.
class Factors {
 public:
  explicit Factors(DotCode& code) : code_(code) {}

  /// An instruction stands in front of the next dot.
  void note(const Inst& inst);
  /// The f32 with the value of element i of a word.
  Operand element(Operand w, Element e, unsigned i);
  /// For each element, 0 for zero; else 64 and the exponent field, of subnormal numbers 1, less 1.
  /// Bytes for a word of 8-bit floats, or for two words of f16 (bytes 0 and 2 of the first, 1 and 3
  /// of the second; one of f16 where the second is an immediate). Of bf16 and tf32 there is one
  /// word, sums have the places of its elements, and 512 stands for 64.
  Operand exponents(Operand first, Operand second, Element e);

 private:
  struct Shuffle {
    Inst inst;
    std::vector<unsigned> versions;  ///< of its sources
    unsigned version;                ///< of its result
  };
  /// A word as it is now.
  using Word = std::pair<uint64_t, unsigned>;
  struct Key {
    Word first, second;
    unsigned what;
    auto operator<=>(const Key&) const = default;
  };

  unsigned version(const Operand& o) const;
  Word word_of(const Operand& o) const;
  const Shuffle* shuffle_of(const Operand& o) const;
  Operand exponents_here(Operand first, Operand second, Element e);

  DotCode& code_;
  std::map<uint32_t, unsigned> versions_;
  std::map<uint32_t, Shuffle> shuffles_;
  std::map<Key, Operand> made_;
};

}  // namespace lanewise::ir
