#include "runtime/cli/commands/run_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::cli {

void add_trace_options(const Command& sub, TraceArgs& args) {
  sub.option("--trace", args.trace, "write the memory trace: FILE.lwt, .traceg, .din or .json");
  sub.option("--cache", args.presets, "run the cache tracker: a GPU's preset, or several")
      .suggests(ValueKind::preset)
      .split_at(',');
  sub.flag("--cache-exact", args.exact,
           "with --cache PRESET on the reference engine: loads return what the caches hold");
  sub.option("--report", args.reports,
             "with --cache: write FILE.txt, .json, .csv, .sarif, .html or .perfetto.json")
      .repeated();
  sub.option("--fail-on", args.fail_on, "with --cache: exit code 1 on a rule, E, W or any")
      .suggests(ValueKind::rule)
      .split_at(',');
  add_analysis_options(sub, args);
  sub.option("--trace-buffer", args.buffer_mib, "MiB of events that one part of the grid may make")
      .between(1, 2048);
}

bool write_reports(const Cache& cache, const std::vector<std::string>& reports,
                   const std::vector<std::string>& fail_on) {
  for (const std::string& path : reports) write_file(path, cache.report(report_format(path)));
  return std::ranges::any_of(fail_on, [&](const std::string& rule) { return cache.matches(rule); });
}

CacheOptions trace_options(const TraceArgs& args) {
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
  CacheOptions options = cache_options(args);
  options.exact = args.exact;
  options.trace_file = args.trace;
  options.buffer_bytes = uint64_t{args.buffer_mib} << 20;
  return options;
}

bool finish_trace(Cache& cache, const TraceArgs& args, bool json) {
  cache.finish();
  if (args.presets.empty()) return false;
  if (!json) fmt::print("{}", cache.report("txt"));
  return write_reports(cache, args.reports, args.fail_on);
}

nlohmann::json trace_json(const Cache& cache, const TraceArgs& args) {
  if (args.presets.empty()) return nlohmann::json::object();
  nlohmann::json report = nlohmann::json::parse(cache.report("json"));
  report.erase("lanewise");  // the document around it has the versions
  return report;
}

RunTrace::RunTrace(const Device& device, const TraceArgs& args, const std::string& input)
    : args_(args) {
  CacheOptions options = trace_options(args);
  if (args.exact && device.info().type != "reference")
    throw Error(ErrorKind::usage,
                "--cache-exact runs on the reference engine only (--device reference): the loads "
                "of a Vulkan device cannot be served by modelled caches");
  options.input = input;
  if (args.any()) cache_ = Cache::follow(device, options);
}

bool RunTrace::finish(bool json) {
  return cache_ && finish_trace(*cache_, args_, json);
}

nlohmann::json RunTrace::json() const {
  return cache_ ? trace_json(*cache_, args_) : nlohmann::json::object();
}

}  // namespace lanewise::cli
