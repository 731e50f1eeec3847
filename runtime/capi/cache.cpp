// The cache tracker: on launches as they run, and on traces.
#include "runtime/api/tracing.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/trace/formats.hpp"

namespace lanewise::capi {
namespace {

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    out.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

cache::TrackerOptions tracker_options(uint32_t flags) {
  if ((flags & ~uint32_t{LW_CACHE_EXACT | LW_CACHE_PROFILE}) != 0)
    fail(ErrorDetail::invalid_value, fmt::format("flags {:#x}: unknown bits", flags));
  cache::TrackerOptions options;
  options.keep_values = (flags & LW_CACHE_EXACT) != 0;
  options.profile = (flags & LW_CACHE_PROFILE) != 0;
  return options;
}

std::string make_report(const std::string& format, std::span<const cache::Tracker* const> runs) {
  struct Row {
    const char* name;
    std::string (*make)(std::span<const cache::Tracker* const>);
  };
  constexpr std::array kRows = {Row{"txt", cache::text_report}, Row{"json", cache::json_report},
                                Row{"csv", cache::csv_report}, Row{"sarif", cache::sarif_report},
                                Row{"html", cache::html_report}};
  for (const Row& row : kRows)
    if (format == row.name) return row.make(runs);
  fail(ErrorDetail::invalid_value,
       "format '" + format + "': txt, json, csv, sarif or html was expected");
}

}  // namespace

CacheObject::CacheObject(const std::string& presets, uint32_t flags)
    : Object(kKind), trackers(split(presets), tracker_options(flags)) {}

CacheObject::~CacheObject() {
  if (follows) host::detail::stop_tracing(device);
}

}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_cache_start(lw_device* device, const char* presets, uint32_t flags, lw_cache** out) {
  return guarded([&] {
    clear_out(out);
    const auto object = find<DeviceObject>(device);
    const auto made = std::make_shared<CacheObject>(required(presets, "presets"), flags);
    made->device = object->device;
    const bool exact = (flags & LW_CACHE_EXACT) != 0;
    if (exact && made->trackers.runs().size() != 1)
      fail(ErrorDetail::invalid_value, "LW_CACHE_EXACT needs one preset");
    if (exact && object->device.info().type != "reference")
      fail(ErrorDetail::unsupported,
           "LW_CACHE_EXACT is the reference engine's alone: the loads of a Vulkan device cannot be "
           "served by modelled caches");
    if (exact) made->exact = std::make_unique<cache::ExactMemory>(made->trackers.first());
    trace::Sink& sink = exact ? static_cast<trace::Sink&>(*made->exact)
                              : static_cast<trace::Sink&>(made->trackers.sink());
    host::detail::start_tracing(made->device, sink, host::detail::kDefaultTraceBuffer,
                                made->exact.get());
    made->follows = true;
    *out = new_handle(made);
  });
}

lw_status lw_cache_of_trace(const char* path, const char* presets, uint32_t flags, lw_cache** out) {
  return guarded([&] {
    clear_out(out);
    if ((flags & LW_CACHE_EXACT) != 0)
      fail(ErrorDetail::invalid_value, "LW_CACHE_EXACT is for launches, not for traces");
    const auto made = std::make_shared<CacheObject>(required(presets, "presets"), flags);
    const trace::ReadResult read = trace::read_any(required(path, "path"), made->trackers.sink());
    for (const std::string& warning : read.warnings) log(LW_LOG_WARNING, warning);
    if (!read.complete) log(LW_LOG_WARNING, read.note);
    *out = new_handle(made);
  });
}

lw_status lw_cache_report(lw_cache* cache, const char* format, lw_blob** out) {
  return guarded([&] {
    clear_out(out);
    const auto object = find<CacheObject>(cache);
    // Launches on other threads feed the trackers while they hold the device.
    std::unique_lock<std::recursive_mutex> lock;
    if (object->follows) lock = host::detail::lock_device(object->device);
    give<BlobObject>(out, make_report(required(format, "format"), object->trackers.runs()));
  });
}

void lw_cache_release(lw_cache* cache) {
  release<CacheObject>(cache);
}
