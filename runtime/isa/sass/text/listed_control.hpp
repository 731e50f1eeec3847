// Control fields in the vendor disassembler's listings: each word of the code stands in a comment
// at the end of a line, control words included, in the order of the code.
#pragma once

#include <string_view>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// The words shown for one kernel.
class ListedWords {
 public:
  /// Each line of the kernel, comments included.
  void line(std::string_view text);
  /// Gives instructions without annotations the control fields that were shown. Where the words are
  /// not as many as the code needs, the text was changed and nothing is known.
  void give_control(Kernel& kernel, std::vector<Diagnostic>& out) const;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace lanewise::sass
