#include "runtime/host/core/cost_watch.hpp"

#include <algorithm>
#include <filesystem>

#include "runtime/host/core/failure.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::core {

CountedLaunchPtr CostWatch::counted(const std::string& kernel, const lw_launch_options& shape) {
  findings::CountedLaunch launch;
  std::error_code unknown;
  launch.program = std::filesystem::read_symlink("/proc/self/exe", unknown).filename().string();
  launch.kernel = kernel;
  std::copy_n(shape.grid, 3, launch.grid.begin());
  std::copy_n(shape.block, 3, launch.block.begin());
  return std::make_shared<const findings::CountedLaunch>(std::move(launch));
}

void CostWatch::add(const char* profile, const findings::CountedLaunch& launch) {
  if (*profile == '\0') return;
  costs_.add(profile, launch.kernel, "");
  if (file_.empty()) return;
  const std::string why = counters_.add(profile, launch);
  if (!why.empty() && left_out_ != launch.kernel)
    report_line("no counters of kernel '" + launch.kernel + "': " + why);
  if (!why.empty()) left_out_ = launch.kernel;
}

void CostWatch::write() const {
  if (!file_.empty()) write_file(file_, counters_.csv());
}

}  // namespace lanewise::core
