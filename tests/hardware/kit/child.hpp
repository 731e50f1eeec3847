// Another program, run to its end or to a limit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lanewise::kit {

struct Command {
  std::vector<std::string> words;  ///< the program first
  std::map<std::string, std::string> environment = {};
  double limit = 60;  ///< seconds, after which the program and all that it started are killed
};

struct Ended {
  int code = 0;          ///< exit code, when no signal ended it
  int signal = 0;        ///< 0: it ended by itself
  bool expired = false;  ///< the limit ended it
  double seconds = 0;
};

/// Each line of its output as it comes; `error`: of its standard error.
using OnLine = std::function<void(const std::string& line, bool error)>;
Ended run_command(const Command& command, const OnLine& on_line);

}  // namespace lanewise::kit
