// Runs a packed program with Lanewise's runtime in place of CUDA's, and takes what it prints.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/support.hpp"

namespace host_test {

using cli_test::Output;

/// Of the runtime, of the driver API, whose kernels call the device's runtime, and of HIP.
inline const std::vector<std::string>& folders() {
  static const std::string data = std::string(LANEWISE_TEST_DATA) + "/host/";
  static const std::vector<std::string> all = {data + "programs", data + "driver/programs",
                                               data + "device/programs", data + "hip/programs"};
  return all;
}
inline std::string path_of(const std::string& program) {
  for (const std::string& folder : folders())
    if (std::filesystem::exists(folder + "/" + program)) return folder + "/" + program;
  return program;
}

inline std::vector<std::string> all_programs() {
  std::vector<std::string> names;
  for (const std::string& folder : folders())
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline bool is(const std::string& program, const char* name) {
  return program.starts_with(std::string(name) + ".");
}

/// Archives keep no right to execute.
inline void make_executable(const std::string& path) {
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
}

/// `environment`: NAME=VALUE, separated by spaces. A hang ends after two minutes with code 124.
inline Output run(const std::string& program, const std::string& arguments = {},
                  const std::string& environment = {}) {
  const std::string path = path_of(program);
  make_executable(path);
  const std::string out = cli_test::scratch() + "/stdout", err = cli_test::scratch() + "/stderr";
  const std::string line = std::string("env LD_LIBRARY_PATH=" LANEWISE_CUDART " LANEWISE_DEVICE=") +
                           cli_test::device() + " " + environment + " timeout 120 " + path + " " +
                           arguments + " >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  Output o;
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  o.out = cli_test::slurp(out);
  o.err = cli_test::slurp(err);
  return o;
}

inline size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}
inline size_t reports(const Output& o) {
  return count(o.err, "========= lanewise: fault");
}

/// Of CUDA's versions those whose runtime can stand in here.
inline bool is_served(const std::string& program) {
  if (program.ends_with(".hip5")) return true;
  const std::string versions = LANEWISE_CUDART_VERSIONS;
  return versions.find(program.substr(program.rfind(".cuda") + 5)) != std::string::npos;
}

/// Whether the device of this run is the reference engine.
inline bool on_reference() {
  return std::string(cli_test::device()) == "reference";
}

}  // namespace host_test
