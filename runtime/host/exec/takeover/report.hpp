// What the library that is loaded into programs writes: lines on standard error, whole ones.
#pragma once

#include <unistd.h>

#include <string_view>

#include "runtime/host/exec/object/inspect.hpp"

namespace lanewise::exec {

inline void report(std::string_view text) {
  Line line;
  line << "lanewise: " << text << "\n";
  [[maybe_unused]] const ssize_t written = write(2, line.text().data(), line.text().size());
}

/// Before the program started: exit code 125.
[[noreturn]] inline void refuse(std::string_view text) {
  report(text);
  _exit(125);
}

}  // namespace lanewise::exec
