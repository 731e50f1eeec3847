#include "runtime/host/core/observe.hpp"

#include <cstdio>
#include <exception>
#include <string_view>

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/status.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/support/report_format.hpp"

namespace lanewise::core {
namespace {

lw_cache* cache = nullptr;

void write_report(const std::string& path) {
  lw_blob* report = nullptr;
  const std::string format = path.empty() ? "txt" : report_format(path);
  if (lw_cache_report(cache, format.c_str(), &report) != LW_OK)
    return report_line(std::string("no report: ") + lw_last_error());
  const std::string_view text(static_cast<const char*>(lw_blob_data(report)), lw_blob_size(report));
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stderr);
  } else {
    try {
      write_file(path, text);
    } catch (const std::exception& error) {
      report_line(error.what());
    }
  }
  lw_blob_release(report);
}

}  // namespace

void start_observing(Context& context) {
  const Settings& settings = context.settings();
  if (settings.cache.empty() && settings.trace.empty()) return;
  lw_cache_options options = LW_CACHE_OPTIONS_INIT;
  if (!settings.cache.empty()) options.presets = settings.cache.c_str();
  if (!settings.trace.empty()) options.trace_file = settings.trace.c_str();
  if (settings.report.ends_with(".html") || settings.report.ends_with(".perfetto.json"))
    options.flags = LW_CACHE_PROFILE;
  if (lw_cache_start(context.device(), &options, &cache) == LW_OK) return;
  report_line(lw_last_error());
  fail(Code::invalid_value);
}

void finish_observing(Context& context) {
  if (cache != nullptr) {
    if (lw_cache_finish(cache) != LW_OK) report_line(lw_last_error());
    if (!context.settings().cache.empty()) write_report(context.settings().report);
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
