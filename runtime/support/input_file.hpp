// Files of the user's, read whole.
#pragma once

#include <cstdint>
#include <string>

namespace lanewise {

/// Far beyond what any compiler writes; what is larger is taken for something else.
inline constexpr uint64_t kMaxProgramBytes = uint64_t{256} << 20;

/// Error(usage) says what the operating system reported, or that the file is larger than `most`. Of
/// what is no regular file, as a device that never ends, a program's worth is read.
std::string read_file(const std::string& path, uint64_t most = kMaxProgramBytes);

/// The folder that the file lies in, as it can be opened.
std::string folder_of(const std::string& path);

}  // namespace lanewise
