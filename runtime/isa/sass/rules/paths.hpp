// The ways through a kernel's code for analyses of machine code: blocks, and where each can go on,
// with the branch stack followed as far as it is known.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "runtime/isa/sass/lowering/branch_stack.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// An instruction under one branch stack: a function is a place of its own for each of its calls.
struct Place {
  size_t index;
  BranchStack::Id stack = BranchStack::kEmpty;
  auto operator<=>(const Place&) const = default;
};

class Paths {
 public:
  explicit Paths(const Kernel& kernel);

  /// Instructions at which a block begins.
  const std::set<size_t>& leaders() const { return leaders_; }
  bool ends_block(size_t n) const;
  /// The branch stack behind an instruction that does not end with a jump.
  BranchStack::Id behind(Place at);
  /// Where control can go from the last instruction of a block. A call that is not followed (into
  /// another section, or nested too deep) leads nowhere: what is behind it is in `unknown()`.
  std::vector<Place> successors(Place last);
  /// Instructions that control comes to by paths that are not followed.
  const std::set<size_t>& unknown() const { return unknown_; }

 private:
  const Instruction& at(size_t n) const { return kernel_.code[n]; }
  size_t target(const Instruction& i) const;
  void taken(const Instruction& i, Place last, std::vector<Place>& out);
  void add_unknown(size_t n) {
    if (n < kernel_.code.size()) unknown_.insert(n);
  }

  const Kernel& kernel_;
  std::map<uint64_t, size_t> by_pc_;
  std::set<size_t> leaders_, unknown_;
  BranchStack stacks_;
};

}  // namespace lanewise::sass
