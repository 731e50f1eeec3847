// `run` and `check` of stream scripts.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/cli/commands/run_trace.hpp"
#include "runtime/cli/process/watchdog.hpp"

namespace lanewise::cli {

bool is_script(const std::string& file);
/// Both print what they find and return the exit code.
int check_script(const std::string& file, size_t max_errors);
/// The watchdog learns how far it has come. trace: all launches of all cases that the device can
/// run are one trace.
int run_script(const std::string& file, const std::string& device, bool json,
               const TraceArgs& trace, Watchdog& watchdog);

}  // namespace lanewise::cli
