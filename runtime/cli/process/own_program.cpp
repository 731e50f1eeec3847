#include "runtime/cli/process/own_program.hpp"

#include <sys/auxv.h>

#include <filesystem>

namespace lanewise::cli {

std::string own_program() {
  std::error_code ec;
  const auto listed = std::filesystem::read_symlink("/proc/self/exe", ec);
  if (!ec) return listed.string();
  // Where /proc is not mounted: the name that it was started by.
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  return std::filesystem::canonical(started, ec).string();
}

}  // namespace lanewise::cli
