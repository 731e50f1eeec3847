#include "runtime/cli/run_trace.hpp"

#include <fmt/format.h>

#include "runtime/api/tracing.hpp"
#include "runtime/capi/behind.hpp"
#include "runtime/trace/formats.hpp"

namespace lanewise::cli {

void add_trace_options(const Command& sub, TraceArgs& args) {
  sub.option("--trace", args.trace, "write the memory trace: FILE.lwt, .traceg, .din or .json");
  sub.option("--cache", args.presets, "run the cache tracker: a GPU's preset, or several")
      .split_at(',');
  sub.flag("--cache-exact", args.exact,
           "with --cache PRESET on the reference engine: loads return what the caches hold");
  sub.option("--report", args.reports, "with --cache: write FILE.txt, .json, .csv, .sarif or .html")
      .repeated();
  sub.option("--fail-on", args.fail_on, "with --cache: exit code 1 on a rule, E, W or any")
      .split_at(',');
  add_analysis_options(sub, args);
  sub.option("--trace-buffer", args.buffer_mib, "MiB of events that one piece of the grid may make")
      .between(1, 2048);
}

TraceOutputs::TraceOutputs(const TraceArgs& args) : args_(args) {
  const bool analyses = args.compare || args.reuse || args.sets;
  if (args.presets.empty() && !(args.reports.empty() && args.fail_on.empty()))
    throw Error(ErrorKind::usage, "--report and --fail-on need --cache PRESET");
  if (args.presets.empty() && analyses)
    throw Error(ErrorKind::usage, "--compare, --reuse and --sets need --cache PRESET");
  if (args.exact && analyses)
    throw Error(ErrorKind::usage,
                "--compare, --reuse and --sets cannot be had with --cache-exact, where loads "
                "depend on the one run");
  if (args.exact && args.presets.size() != 1)
    throw Error(ErrorKind::usage, "--cache-exact needs --cache with one preset");
  for (const std::string& rule : args.fail_on) cache::fails_on(rule, {});
  cache::TrackerOptions options = tracker_options(args);
  options.keep_values = args.exact;
  trackers_ = std::make_unique<cache::TrackerSet>(args.presets, options);
  if (args.exact) exact_ = std::make_unique<cache::ExactMemory>(trackers_->first());
  if (!trackers_->empty())
    fan_.add(exact_ ? static_cast<trace::Sink*>(exact_.get()) : &trackers_->sink());
  if (!args.trace.empty()) {
    file_ = trace::open_output(args.trace);
    fan_.add(file_.get());
  }
}

bool TraceOutputs::finish(bool json) {
  fan_.finish();
  const auto runs = trackers_->runs();
  if (runs.empty()) return false;
  if (!json) fmt::print("{}", cache::text_report(runs));
  for (const std::string& path : args_.reports) cache::write_report(path, runs);
  const std::vector<cache::Verdict> verdicts = cache::verdicts(runs);
  bool failed = false;
  for (const std::string& rule : args_.fail_on) failed = cache::fails_on(rule, verdicts) || failed;
  return failed;
}

nlohmann::json TraceOutputs::json() const {
  if (trackers_->empty()) return nlohmann::json::object();
  return nlohmann::json::parse(cache::json_report(trackers_->runs()));
}

RunTrace::RunTrace(const Device& device, const TraceArgs& args, const std::string& input)
    : outputs_(args), device_(device) {
  if (args.exact && device.info().type != "reference")
    throw Error(ErrorKind::usage,
                "--cache-exact runs on the reference engine only (--device reference): the loads "
                "of a Vulkan device cannot be served by modelled caches");
  if (trace::Sink* sink = outputs_.sink())
    host::detail::start_tracing(capi::device_behind(device.c_handle()), *sink,
                                uint64_t{args.buffer_mib} << 20, outputs_.exact(), input);
}

RunTrace::~RunTrace() {
  host::detail::stop_tracing(capi::device_behind(device_.c_handle()));
}

bool RunTrace::finish(bool json) {
  host::detail::stop_tracing(capi::device_behind(device_.c_handle()));
  return outputs_.finish(json);
}

}  // namespace lanewise::cli
