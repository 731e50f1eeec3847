// Which values an option offers: in its help, to shells, in the table of `help --json`.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lanewise::cli {

/// Values that are listed elsewhere, and only looked up for who asks.
enum class ValueKind : unsigned char {
  listed,  ///< in OptionValues::words
  preset,  ///< of caches
  policy,  ///< NAME=VALUE
  device,  ///< the names that every machine has
  target,  ///< sm_... and gfx...
  gpu,     ///< that `exec` shows to programs
  rule,    ///< of --fail-on
};

struct OptionValues {
  ValueKind kind = ValueKind::listed;
  std::vector<std::string> words;
  bool closed = false;  ///< nothing else is taken
};

/// Looks words of the other kinds up.
using KnownWords = std::function<std::vector<std::string>(ValueKind)>;

}  // namespace lanewise::cli
