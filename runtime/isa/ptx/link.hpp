// Several PTX texts as one: what was compiled for separate linking (nvcc -rdc) refers to functions
// and variables of its neighbours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::ptx {

struct Linked {
  struct Place {
    size_t file = 0;    ///< index into what was linked
    uint32_t line = 0;  ///< from 1
  };
  /// A name that two files define, or of which they say different things.
  struct Clash {
    std::string name;  ///< empty: it is about the width of addresses
    Place first, second;
    std::string first_states, second_states;  ///< both empty: each defines it
    /// `first_file`: where the first one stands.
    std::string message(const std::string& first_file) const;
  };
  std::string text;
  std::vector<Clash> clashes;
  std::vector<Place> lines;  ///< where each line of the text stood
  /// Of a line of the text, counted from 1; of the first file for what is no line of it.
  Place place(uint32_t line) const {
    return line - 1 < lines.size() ? lines[line - 1] : Place{0, line};
  }
};

/// One text in which `.extern` declarations meet their definitions, one of several weak definitions
/// stays, names that a file keeps to itself do not clash, and `.file` numbers are distinct. Its
/// version and target are the latest of all.
Linked link(const std::vector<std::string>& texts);

}  // namespace lanewise::ptx
