// The images in fat binaries, programs for several targets, and which of them run here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanewise/launch.hpp"

namespace lanewise::host::detail {

/// An image that runs here, or several that were linked.
struct ChosenImage {
  Isa isa = Isa::ptx;
  std::string data;
  std::string where;  ///< which part of the file it is from; empty for all of it
};
struct ChosenImages {
  std::vector<ChosenImage> images;  ///< one for each program of the file, at least one
  std::string note;                 ///< which images there are, and which these are
};
/// From a file that is_container() is true of, of the language, or any: PTX for the latest target,
/// else machine code for the latest target that runs here and whose instructions are all known.
/// Throws Error(usage) that lists the images where none can be taken, or says how the file is
/// broken.
ChosenImages images_of(std::string_view file, Isa wanted = Isa::automatic);

}  // namespace lanewise::host::detail
