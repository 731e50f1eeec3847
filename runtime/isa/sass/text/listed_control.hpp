// Control fields in the vendor disassembler's listings: it prints the words of a bundle as
// comments, the control word on a line of its own above its three instructions.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

class ListedControl {
 public:
  /// Before the instructions of each line, comments included.
  void line(std::string_view text);
  /// Of the next instruction on this line; none where the listing does not show its word.
  std::optional<Control> next();

 private:
  uint64_t word_ = 0;
  unsigned left_ = 0;  ///< instructions of the bundle that are still to come
  bool shown_ = false;
};

}  // namespace lanewise::sass
