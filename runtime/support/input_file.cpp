#include "runtime/support/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "lanewise/error_detail.hpp"

namespace lanewise {

std::string read_file(const std::string& path, uint64_t most) {
  const auto fail = [&path](const std::string& why) {
    throw DetailedError(ErrorKind::usage, ErrorDetail::host_file,
                        "cannot read '" + path + "': " + why);
  };
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) fail("it is a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(std::strerror(errno));
  // A device or a pipe may never end.
  if (!std::filesystem::is_regular_file(path, ec)) most = std::min(most, kMaxProgramBytes);
  std::string text;
  std::vector<char> chunk(size_t{1} << 16);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > most) fail("it is larger than " + std::to_string(most) + " bytes");
  }
  if (in.bad()) fail("read error");
  return text;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace lanewise
