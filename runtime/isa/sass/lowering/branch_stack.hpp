// The branch stack as something known while translating: every path through a kernel pushes and
// pops known targets, so SYNC, BRK, CONT and RET become plain jumps. Equal stacks have one number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/isa/sass/tables/form.hpp"

namespace lanewise::sass {

class BranchStack {
 public:
  using Id = uint32_t;
  static constexpr Id kEmpty = 0;
  struct Entry {
    Token kind;
    size_t target;  ///< index of an instruction
    Id below;       ///< the stack without it and everything above
    unsigned calls = 0;
    unsigned alike = 1;  ///< equal tokens from here down
    Id bottom = kEmpty;  ///< the stack below all of them
  };

  /// A loop can push the same target each round and leave with BRK or EXIT. Beyond four equal
  /// tokens (return addresses excepted) the stack stands for any number of them: it is below
  /// itself.
  Id push(Id stack, Token kind, size_t target);
  /// The highest token of the kind; what lies above it is dropped with it.
  std::optional<Entry> find(Id stack, Token kind) const;
  /// Return tokens on the stack.
  unsigned calls(Id stack) const { return stack == kEmpty ? 0 : tokens_[stack - 1].calls; }

 private:
  unsigned run(Id stack, Token kind, size_t target) const;
  Id bottom(Id stack, unsigned alike) const;

  std::vector<Entry> tokens_;  ///< stack `n` is token n - 1 on top of the one below
  std::map<std::tuple<Token, size_t, Id>, Id> known_;
};

}  // namespace lanewise::sass
