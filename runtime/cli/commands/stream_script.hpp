// `run` and `check` of stream scripts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/cli/commands/run_trace.hpp"
#include "runtime/cli/process/watchdog.hpp"

namespace lanewise::cli {

bool is_script(const std::string& file);
struct CheckedScript {
  std::vector<Diagnostic> diagnostics;  ///< printed already
  size_t cases = 0;
  bool ok = false;
};
CheckedScript check_script(const std::string& file, size_t max_errors);
/// Prints what it finds; the exit code. The watchdog learns how far it has come. trace: all
/// launches of all cases that the device can run are one trace.
int run_script(const std::string& file, const std::string& device, bool json,
               const TraceArgs& trace, Watchdog& watchdog);

}  // namespace lanewise::cli
