// Runs the installed program as a user would and captures what it says.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cli_test {

struct Output {
  int code = -1;
  std::string out, err;
};

/// Decorates cases whose answer no device has a part in: one run of them shows as much as one for
/// each device.
inline const doctest::test_suite kHostCase("host");

/// A directory of this process's own, removed at exit.
inline const std::string& scratch() {
  static const struct Scratch {
    std::string path;
    Scratch() {
      path = (std::filesystem::temp_directory_path() / ("lanewise-cli-" + std::to_string(getpid())))
                 .string();
      std::filesystem::create_directories(path);
    }
    ~Scratch() {
      std::error_code ec;
      std::filesystem::remove_all(path, ec);
    }
  } s;
  return s.path;
}

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string write(const std::string& name, const std::string& text) {
  const std::string path = scratch() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline const char* device() {
  const char* d = std::getenv("LANEWISE_TEST_DEVICE");
  return d != nullptr ? d : "reference";
}

/// `run` of a kernel wants its sizes: one group and one thread unless the line says otherwise.
inline std::string with_sizes(std::string line) {
  const bool script = (line + " ").find(".lw ") != std::string::npos;
  if (!line.starts_with("run ") || script) return line;
  std::string sizes = "run";
  for (const char* option : {" --grid", " --block"})
    if (line.find(option) == std::string::npos) sizes += std::string(option) + " 1";
  return line.replace(0, 3, sizes);
}

/// Arguments are given as one shell line. A hang ends after two minutes with code 124.
inline Output program_as_is(const std::string& arguments) {
  const std::string out = scratch() + "/stdout", err = scratch() + "/stderr";
  const std::string line =
      "timeout 120 " LANEWISE_PROGRAM " " + arguments + " >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  Output o;
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  o.out = slurp(out);
  o.err = slurp(err);
  return o;
}

inline Output program(const std::string& arguments) {
  return program_as_is(with_sizes(arguments));
}

/// A reader of the format (sarif, junit, ncu) that shares nothing with the writer: a line for each
/// result, or what is wrong.
inline Output read_as(const std::string& format, const std::string& file) {
  const std::string out = scratch() + "/read.txt";
  const int status = std::system(("python3 " LANEWISE_TEST_DATA "/cli/formats.py " + format + " " +
                                  file + " >" + out + " 2>&1")
                                     .c_str());
  return {WEXITSTATUS(status), slurp(out), ""};
}

inline Output run(const std::string& arguments) {
  return program("run --device '" + std::string(device()) + "' " + arguments);
}

template <typename T>
std::vector<T> read_bin(const std::string& path) {
  const std::string bytes = slurp(path);
  std::vector<T> v(bytes.size() / sizeof(T));
  std::memcpy(v.data(), bytes.data(), v.size() * sizeof(T));
  return v;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline size_t lines_of(const std::string& text) {
  size_t n = 0;
  for (const char c : text) n += c == '\n' ? 1 : 0;
  return n;
}

/// A character device that a program which goes wrong may do to what it likes: root would lose the
/// system's own. Empty where this user, or this file system, has no devices.
inline std::string device_file(const std::string& name, unsigned minor) {
  if (geteuid() != 0) return "/dev/" + name;
  const std::string path = scratch() + "/" + name;
  std::filesystem::remove(path);
  if (mknod(path.c_str(), S_IFCHR | 0666, makedev(1, minor)) != 0) return {};
  return std::ofstream(path) ? path : std::string();
}

inline const std::string kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

}  // namespace cli_test
