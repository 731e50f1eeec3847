// `run --trace`, `run --cache`: what becomes of the memory events of a launch.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/cache/reports/tracker_set.hpp"
#include "runtime/cli/command_line.hpp"
#include "runtime/trace/fan.hpp"

namespace lanewise::cli {

struct TraceArgs {
  std::string trace;
  std::vector<std::string> presets, reports, fail_on;
  uint32_t buffer_mib = 64;
  bool exact = false;  ///< loads return what the modelled caches hold
  bool compare = false, reuse = false, sets = false;
  bool any() const { return !trace.empty() || !presets.empty(); }
};
void add_trace_options(const Command& sub, TraceArgs& args);
/// Of TraceArgs or others that have these: --compare, --reuse, --sets.
template <class Args>
void add_analysis_options(const Command& sub, Args& args) {
  sub.flag("--compare,--without-hints", args.compare,
           "beside it, the same with hints and cache operators ignored: what did they do?");
  sub.flag("--reuse", args.reuse, "miss ratio of every capacity, in all and by instruction");
  sub.flag("--sets", args.sets, "how sets are used, and why lines were missing");
}
template <class Args>
cache::TrackerOptions tracker_options(const Args& args) {
  cache::TrackerOptions options = cache::options_for(args.reports);
  options.compare = args.compare;
  options.reuse = args.reuse;
  options.sets = args.sets;
  return options;
}

/// Where memory events go: the trackers and the trace file that were asked for.
class TraceOutputs {
 public:
  /// Throws Error(usage) for presets, rules and files that are none.
  explicit TraceOutputs(const TraceArgs& args);
  TraceOutputs(const TraceOutputs&) = delete;
  TraceOutputs& operator=(const TraceOutputs&) = delete;

  /// Null when nothing was asked for.
  trace::Sink* sink() { return fan_.empty() ? nullptr : &fan_; }
  events::ExactMemory* exact() { return exact_.get(); }
  /// Nothing more will come: closes the trace file, writes the reports, prints the text report
  /// unless a JSON object will hold it. True when --fail-on speaks.
  bool finish(bool json);
  nlohmann::json json() const;

 private:
  const TraceArgs& args_;
  std::unique_ptr<trace::Sink> file_;
  std::unique_ptr<cache::TrackerSet> trackers_;
  std::unique_ptr<cache::ExactMemory> exact_;
  trace::Fan fan_;
};

/// Traces a device while it lives.
class RunTrace {
 public:
  RunTrace(const Device& device, const TraceArgs& args, const std::string& input);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  bool finish(bool json);
  nlohmann::json json() const { return outputs_.json(); }

 private:
  TraceOutputs outputs_;
  const Device& device_;
};

}  // namespace lanewise::cli
