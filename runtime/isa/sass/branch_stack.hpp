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

namespace lanewise::sass {

class BranchStack {
 public:
  enum class Kind : uint8_t { sync, brk, cont, ret };
  using Id = uint32_t;
  static constexpr Id kEmpty = 0;
  struct Token {
    Kind kind;
    size_t target;  ///< index of an instruction
    Id below;       ///< the stack without it and everything above
    unsigned calls = 0;
  };

  Id push(Id stack, Kind kind, size_t target);
  /// The highest token of the kind; what lies above it is dropped with it.
  std::optional<Token> find(Id stack, Kind kind) const;
  /// Return tokens on the stack.
  unsigned calls(Id stack) const { return stack == kEmpty ? 0 : tokens_[stack - 1].calls; }

 private:
  std::vector<Token> tokens_;  ///< stack `n` is token n - 1 on top of the one below
  std::map<std::tuple<Kind, size_t, Id>, Id> known_;
};

}  // namespace lanewise::sass
