// `run --trace`, `run --cache`: what becomes of the memory events of a launch.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "runtime/cache/engine/exact.hpp"
#include "runtime/cli/command_line.hpp"
#include "runtime/trace/fan.hpp"

namespace lanewise::cli {

struct TraceArgs {
  std::string trace;
  std::vector<std::string> presets, reports, fail_on;
  uint32_t buffer_mib = 64;
  bool exact = false;  ///< loads return what the modelled caches hold
  bool any() const { return !trace.empty() || !presets.empty(); }
};
void add_trace_options(const Command& sub, TraceArgs& args);

/// Traces a device while it lives. Throws Error(usage) for presets, rules and files that are none.
class RunTrace {
 public:
  RunTrace(const Device& device, const TraceArgs& args, const std::string& input);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// Nothing more will come: closes the trace file, writes the reports, prints the text report
  /// unless a JSON object will hold it. True when --fail-on speaks.
  bool finish(bool json);
  nlohmann::json json() const;

 private:
  const TraceArgs& args_;
  const Device& device_;
  std::unique_ptr<trace::Sink> file_;
  std::vector<std::unique_ptr<cache::Tracker>> trackers_;
  std::vector<const cache::Tracker*> runs_;
  std::unique_ptr<cache::ExactMemory> exact_;
  trace::Fan fan_;
};

}  // namespace lanewise::cli
