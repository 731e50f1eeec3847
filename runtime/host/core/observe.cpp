#include "runtime/host/core/observe.hpp"

#include <cstdio>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/status.hpp"

namespace lanewise::core {
namespace {

lw_cache* cache = nullptr;

std::string format_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "txt" : path.substr(dot + 1);
}

void write_report(const std::string& path) {
  lw_blob* report = nullptr;
  const std::string format = path == "-" ? "txt" : format_of(path);
  if (lw_cache_report(cache, format.c_str(), &report) != LW_OK)
    return report_line(std::string("no report: ") + lw_last_error());
  FILE* to = path == "-" ? stderr : std::fopen(path.c_str(), "wb");
  if (to == nullptr) return report_line(path + " cannot be written");
  std::fwrite(lw_blob_data(report), 1, lw_blob_size(report), to);
  if (to != stderr) std::fclose(to);
  lw_blob_release(report);
}

}  // namespace

void start_observing(Context& context) {
  const Settings& settings = context.settings();
  if (settings.cache.empty() && settings.trace.empty()) return;
  lw_cache_options options = LW_CACHE_OPTIONS_INIT;
  if (!settings.cache.empty()) options.presets = settings.cache.c_str();
  if (!settings.trace.empty()) options.trace_file = settings.trace.c_str();
  if (settings.report.ends_with(".html")) options.flags = LW_CACHE_PROFILE;
  if (lw_cache_start(context.device(), &options, &cache) == LW_OK) return;
  report_line(lw_last_error());
  fail(Code::invalid_value);
}

void observe_launch(Context&, const lw_result_info&) {}

void finish_observing(Context& context) {
  if (cache != nullptr) {
    if (lw_cache_finish(cache) != LW_OK) report_line(lw_last_error());
    if (!context.settings().cache.empty())
      write_report(context.settings().report.empty() ? "-" : context.settings().report);
    lw_cache_release(cache);
    cache = nullptr;
  }
  const Counts& c = context.counts();
  if (context.settings().summary)
    report_line(std::to_string(c.launches) + " launches, " + std::to_string(c.copies) +
                " copies of " + std::to_string(c.copied_bytes) + " bytes, " +
                std::to_string(c.faults) + " lanes faulted");
}

}  // namespace lanewise::core
