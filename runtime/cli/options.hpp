// Options that several commands share, and how their text becomes values.
#pragma once

#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/command_line.hpp"
#include "runtime/support/findings/output.hpp"

namespace lanewise::cli {

struct LaunchArgs {
  std::string grid, block;  ///< empty = not given
  uint32_t dyn_shared = 0;
  std::string memcheck = "alloc", wave = "auto";
  std::string max_steps, stack, schedule;
  double timeout = 0;
  std::vector<std::string> policies, check;
  bool operator==(const LaunchArgs&) const = default;
};
void add_launch_options(const Command& sub, LaunchArgs& args);
/// --timeout alone.
void add_timeout_option(const Command& sub, double& seconds);
LaunchOptions to_options(const LaunchArgs& args);
/// Throws Error(usage) unless --grid and --block were given.
void need_sizes(const LaunchArgs& args);

/// Where findings go, and which of them do not count.
void add_finding_options(const Command& sub, findings::Options& options);

void add_isa_option(const Command& sub, std::string& isa);
Isa to_isa(const std::string& text);

}  // namespace lanewise::cli
