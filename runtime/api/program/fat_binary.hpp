// Fat binaries: what nvcc -fatbin makes, images of one program for several targets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lanewise/launch.hpp"

namespace lanewise::host::detail {

bool is_fat_binary(std::string_view file);

/// The image of a fat binary that runs here.
struct ChosenImage {
  Isa isa = Isa::ptx;
  std::string data;
  std::string note;  ///< which images there are, and which this is
};
/// Of the language, or any: machine code that runs as it is before PTX, and of several the one for
/// the latest target. Throws Error(usage) that lists the images where none can be taken, or says
/// how the file is broken.
ChosenImage image_of(std::string_view file, Isa wanted = Isa::automatic);

}  // namespace lanewise::host::detail
