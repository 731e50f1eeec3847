// `run --trace`, `run --cache`: what becomes of the memory events of a launch.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/cache.hpp"
#include "runtime/cli/command_line.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/support/report_format.hpp"

namespace lanewise::cli {

struct TraceArgs {
  std::string trace;
  std::vector<std::string> presets, reports, fail_on, sources;
  uint32_t buffer_mib = 64;
  bool exact = false;  ///< loads return what the modelled caches hold
  bool compare = false, reuse = false, sets = false;
  bool any() const { return !trace.empty() || !presets.empty(); }
};
void add_trace_options(const Command& sub, TraceArgs& args);
/// Of TraceArgs or others that have these: --compare, --reuse, --sets, --source.
template <class Args>
void add_analysis_options(const Command& sub, Args& args) {
  sub.flag("--compare,--without-hints", args.compare,
           "beside it, the same with hints and cache operators ignored: what did they do?");
  sub.flag("--reuse", args.reuse, "miss ratio of every capacity, in all and by instruction");
  sub.flag("--sets", args.sets, "how sets are used, and why lines were missing");
  sub.option("--source", args.sources,
             "where the HTML report looks for source files: a folder (repeat for more)")
      .repeated();
}
/// What the tracker must do for these options. Throws Error(usage) now for reports that could not
/// be written and for --fail-on without such a rule.
template <class Args>
CacheOptions cache_options(const Args& args) {
  CacheOptions options;
  for (const std::string& rule : args.fail_on) Cache::check_rule(rule);
  for (const std::string& path : args.reports) {
    const std::string format = report_format(path);
    options.profile = options.profile || format == "html" || format == "perfetto";
    check_writable(path);
  }
  options.presets = args.presets;
  options.compare = args.compare;
  options.reuse = args.reuse;
  options.sets = args.sets;
  options.source_folders = args.sources;
  return options;
}
/// Writes the reports. True when --fail-on applies.
bool write_reports(const Cache& cache, const std::vector<std::string>& reports,
                   const std::vector<std::string>& fail_on);

/// What `run --trace` and `run --cache` asked for, of a kernel or of a script. Throws Error(usage)
/// for options that do not go together, and for presets, rules and files that are none.
CacheOptions trace_options(const TraceArgs& args);

/// Nothing more will come: closes the trace file, writes the reports, prints the text report unless
/// a JSON object will hold it. True when --fail-on applies.
bool finish_trace(Cache& cache, const TraceArgs& args, bool json);
nlohmann::json trace_json(const Cache& cache, const TraceArgs& args);

/// Traces a device while it lives, if anything was asked for.
class RunTrace {
 public:
  RunTrace(const Device& device, const TraceArgs& args, const std::string& input);
  bool finish(bool json);
  nlohmann::json json() const;

 private:
  const TraceArgs& args_;
  std::optional<Cache> cache_;
};

}  // namespace lanewise::cli
