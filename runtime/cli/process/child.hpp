// This program once more, in a process of its own: what it does there can be ended.
#pragma once

#include <string>
#include <vector>

namespace lanewise::cli {

struct ChildOutput {
  int code = 0;          ///< exit code; 128 + signal when it was killed
  bool expired = false;  ///< one of the limits ended it
  std::string out, err;
};

/// Runs it with these arguments; it does not outlive this process. Seconds; processor_seconds 0 =
/// only the clock counts.
ChildOutput run_child(const std::vector<std::string>& arguments, double processor_seconds,
                      double clock_seconds);

}  // namespace lanewise::cli
