// Where fat binaries lie: alone, in the executables, libraries and object files that nvcc makes,
// and in archives of such files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host::detail {

/// One or several fat binaries of one program for the GPU.
struct Embedded {
  std::vector<std::string_view> fat_binaries;  ///< several are to be linked with each other
  std::string where;         ///< "sort.o" of an archive; empty for the file itself
  bool relocatable = false;  ///< their machine code is not linked yet
};

/// The file is one of those, whether or not it holds anything for a GPU.
bool is_container(std::string_view file);
/// In the file's order, relocatable ones first. Throws Error(usage) for what is broken, and for a
/// file without code for a GPU.
std::vector<Embedded> embedded_in(std::string_view file);

}  // namespace lanewise::host::detail
