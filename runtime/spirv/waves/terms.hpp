// Values as terms over what is not known: equal terms are equal bits, whatever the unknowns hold.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::spirv {

using Term = uint32_t;

class Terms {
 public:
  /// What stands for some terms.
  using Bindings = std::unordered_map<Term, Term>;

  Terms();

  Term constant(uint64_t bits);
  /// A value of which nothing is known but how many low bits of it may be set.
  Term unknown(uint32_t bits = 64);
  Term address_of(const ir::Operand& symbol);
  /// One of the results of an operation: of equal operations on equal sources, equal terms
  /// (ir::repeatable), and of moves their source. `inst` must outlive the terms.
  Term result(const ir::Inst& inst, uint32_t which, const std::vector<Term>& sources);
  Term choice(Term condition, Term yes, Term no);
  Term opposite(Term condition);
  /// The low bytes of a value, which an access to memory compares and gives.
  Term low_bytes(Term term, uint32_t bytes);

  std::optional<uint64_t> bits(Term term) const;
  /// The unknowns that it is made of.
  std::vector<Term> unknowns(Term term) const;
  /// The term with others in the places of some, all at once.
  Term replaced(Term term, const Bindings& by);
  /// What follows when the condition has this value.
  void assume(Term condition, bool value, Bindings& known);

 private:
  enum class Kind : uint8_t { constant, unknown, symbol, operation, choice, opposite };
  struct Node {
    Kind kind = Kind::unknown;
    uint32_t width = 64;  ///< bits above are zero
    uint32_t which = 0;   ///< result of the operation
    const ir::Inst* inst = nullptr;
    uint64_t bits = 0;  ///< of a constant
    std::vector<Term> sources;
  };
  using Key = std::vector<uint64_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      uint64_t h = 0x9e3779b97f4a7c15;
      for (const uint64_t word : key) h = (h ^ word) * 0xff51afd7ed558ccd ^ (h >> 29);
      return h;
    }
  };

  Term intern(Node node, Key key);
  Term operation(const ir::Inst& inst, uint32_t which, std::vector<Term> sources);
  Term rebuilt(const Node& node, const std::vector<Term>& sources);
  std::vector<bool> parts(Term term, const Bindings& by) const;
  bool is(Term term, ir::Op op) const;
  bool is(Term term, uint64_t bits) const;
  bool complements(Term a, Term b) const;

  std::optional<Term> simpler(const ir::Inst& inst, uint32_t which, const std::vector<Term>& s);
  std::optional<Term> logic(const ir::Inst& inst, Term a, Term b);
  std::optional<Term> with_carry(const ir::Inst& inst, uint32_t which, const std::vector<Term>& s);
  std::optional<Term> with_borrow(const ir::Inst& inst, uint32_t which, const std::vector<Term>& s);
  std::optional<Term> comparison(const ir::Inst& inst, Term a, Term b);
  std::optional<Term> extended(const ir::Inst& inst, Term from);
  std::optional<Term> half(uint32_t which, Term whole);
  std::optional<Term> joined(Term low, Term high) const;

  std::vector<Node> nodes_;
  std::unordered_map<Key, Term, KeyHash> known_;
  std::deque<ir::Inst> own_;  ///< operations that the program does not have
  ir::Inst half_, pack_, zext8_, zext16_;
};

}  // namespace lanewise::spirv
