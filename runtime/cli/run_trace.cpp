#include "runtime/cli/run_trace.hpp"

#include <fmt/format.h>

#include "runtime/api/tracing.hpp"
#include "runtime/cache/reports/report.hpp"
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
  sub.option("--trace-buffer", args.buffer_mib, "MiB of events that one piece of the grid may make")
      .between(1, 2048);
}

RunTrace::RunTrace(const Device& device, const TraceArgs& args, const std::string& input)
    : args_(args), device_(device) {
  if (args.presets.empty() && !(args.reports.empty() && args.fail_on.empty()))
    throw Error(ErrorKind::usage, "--report and --fail-on need --cache PRESET");
  if (args.exact && args.presets.size() != 1)
    throw Error(ErrorKind::usage, "--cache-exact needs --cache with one preset");
  if (args.exact && device.info().type != "reference")
    throw Error(ErrorKind::usage,
                "--cache-exact runs on the reference engine only (--device reference): the loads "
                "of a Vulkan device cannot be served by modelled caches");
  for (const std::string& rule : args.fail_on) cache::fails_on(rule, {});
  cache::TrackerOptions options = cache::options_for(args.reports);
  options.keep_values = args.exact;
  for (const std::string& name : args.presets) {
    trackers_.push_back(std::make_unique<cache::Tracker>(cache::load_preset(name), options));
    runs_.push_back(trackers_.back().get());
    if (args.exact) exact_ = std::make_unique<cache::ExactMemory>(*trackers_.back());
    fan_.add(exact_ ? static_cast<trace::Sink*>(exact_.get()) : trackers_.back().get());
  }
  if (!args.trace.empty()) {
    file_ = trace::open_output(args.trace);
    fan_.add(file_.get());
  }
  if (!fan_.empty())
    detail::start_tracing(device, fan_, uint64_t{args.buffer_mib} << 20, exact_.get(), input);
}

RunTrace::~RunTrace() {
  detail::stop_tracing(device_);
}

bool RunTrace::finish(bool json) {
  detail::stop_tracing(device_);
  fan_.finish();
  if (runs_.empty()) return false;
  if (!json) fmt::print("{}", cache::text_report(runs_));
  for (const std::string& path : args_.reports) cache::write_report(path, runs_);
  const std::vector<cache::Verdict> verdicts = cache::verdicts(runs_);
  bool failed = false;
  for (const std::string& rule : args_.fail_on) failed = cache::fails_on(rule, verdicts) || failed;
  return failed;
}

nlohmann::json RunTrace::json() const {
  if (runs_.empty()) return nlohmann::json::object();
  return nlohmann::json::parse(cache::json_report(runs_));
}

}  // namespace lanewise::cli
