// The cache tracker: on launches as they run, and on traces.
#include "runtime/api/behind.hpp"
#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/cache/parts/merge.hpp"
#include "runtime/cache/presets/preset_text.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/cache/reports/tracker_set.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/trace/formats.hpp"

namespace lanewise::host {
namespace {

/// Where memory events go: trackers and a trace file.
struct Cache final : Handled<lw_cache, HandleKind::cache> {
  /// The trackers first, then the file is opened. policies: how a trace is read, for reports.
  Cache(const lw_cache_options& o, const std::string& origin,
        std::vector<std::pair<std::string, std::string>> policies = {});
  /// Parts of a trace that were put together.
  Cache(std::vector<std::unique_ptr<cache::Tracker>> merged, trace::ReadResult of)
      : trackers(std::move(merged)), read(std::move(of)), finished(true) {}
  ~Cache() override;
  /// Takes what the launches of a device do.
  void follow(std::shared_ptr<Device> on, const lw_cache_options& o);
  /// Nothing more will come.
  void finish();

  cache::TrackerSet trackers;
  std::unique_ptr<cache::ExactMemory> exact;
  std::unique_ptr<trace::Sink> file;
  trace::Fan sink;  ///< to all of them
  trace::ReadResult read;
  std::shared_ptr<Device> device;  ///< whose launches are followed
  bool follows = false, finished = false;
  bool is_part = false;  ///< has no report
};

std::vector<std::string> split(const char* names) {
  std::vector<std::string> out;
  if (names == nullptr) return out;
  const std::string all = names;
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(',', begin), all.size());
    out.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

struct Flag {
  uint32_t bit;
  const char* name;
  bool cache::TrackerOptions::*option;
};
constexpr std::array kFlags = {
    Flag{LW_CACHE_EXACT, "LW_CACHE_EXACT", &cache::TrackerOptions::keep_values},
    Flag{LW_CACHE_PROFILE, "LW_CACHE_PROFILE", &cache::TrackerOptions::profile},
    Flag{LW_CACHE_COMPARE, "LW_CACHE_COMPARE", &cache::TrackerOptions::compare},
    Flag{LW_CACHE_REUSE, "LW_CACHE_REUSE", &cache::TrackerOptions::reuse},
    Flag{LW_CACHE_SETS, "LW_CACHE_SETS", &cache::TrackerOptions::sets}};

cache::TrackerOptions tracker_options(uint32_t flags) {
  cache::TrackerOptions options;
  uint32_t unknown = flags;
  for (const Flag& f : kFlags) {
    options.*f.option = (flags & f.bit) != 0;
    unknown &= ~f.bit;
  }
  if (unknown != 0)
    fail(ErrorDetail::invalid_value, fmt::format("flags {:#x}: unknown bits", flags));
  if (options.keep_values && options.insight())
    fail(ErrorDetail::invalid_value,
         "with LW_CACHE_EXACT loads depend on the one run: there is nothing to compare or to count "
         "beside it");
  return options;
}

/// Parts and samples: what is the whole trace's alone does not go with them.
void check_share(const lw_cache_options& o) {
  if (o.shards == 0 && o.sample == 0) {
    if (o.part_file != nullptr)
      fail(ErrorDetail::invalid_value, "part_file is for a part: shards is 0");
    return;
  }
  if (o.shards != 0 && o.sample != 0)
    fail(ErrorDetail::invalid_value, "shards and sample: a part is of all sets, a sample is not");
  if (o.shards != 0 && o.part_file == nullptr)
    fail(ErrorDetail::null_argument, "part_file: a part of a trace has no report, but a file");
  if (o.presets == nullptr)
    fail(ErrorDetail::null_argument, "presets: without them there is no L2 to divide");
  for (const Flag& f : kFlags)
    if ((o.flags & f.bit) != 0)
      fail(ErrorDetail::invalid_value, fmt::format("{} with {}: it looks at all sets of L2", f.name,
                                                   o.shards != 0 ? "shards" : "sample"));
}

void write_part(const Cache& object, const char* path) {
  write_file(path, cache::to_text(cache::part_of(object.trackers.runs(), object.read)));
}

constexpr uint64_t kMostOfAPart = uint64_t{1} << 34;

std::shared_ptr<Cache> merge(const char* const* files, size_t count) {
  std::vector<cache::NamedPart> parts;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = required(required(files, "part_files")[i], "a part file");
    parts.push_back({name, cache::parse_part(read_file(name, kMostOfAPart), name)});
  }
  auto trackers = cache::merged_trackers(parts);
  return std::make_shared<Cache>(std::move(trackers), std::move(parts.front().part.read));
}

std::string make_report(const std::string& format, std::span<const cache::Tracker* const> runs) {
  struct Row {
    const char* name;
    std::string (*make)(std::span<const cache::Tracker* const>);
  };
  constexpr std::array kRows = {
      Row{"txt", cache::text_report},  Row{"json", cache::json_report},
      Row{"csv", cache::csv_report},   Row{"sarif", cache::sarif_report},
      Row{"html", cache::html_report}, Row{"perfetto", cache::perfetto_report}};
  for (const Row& row : kRows)
    if (format == row.name) return row.make(runs);
  fail(ErrorDetail::invalid_value,
       "format '" + format + "': txt, json, csv, sarif, html or perfetto was expected");
}

/// Launches on other threads feed the trackers while they hold the device.
std::unique_lock<std::recursive_mutex> hold(const Cache& object) {
  return object.follows ? std::unique_lock(object.device->mutex)
                        : std::unique_lock<std::recursive_mutex>();
}

std::shared_ptr<Cache> follow(lw_device* device, const lw_cache_options& o) {
  const auto object = find<Device>(device);
  if (o.shards != 0 || o.sample != 0 || o.part_file != nullptr)
    fail(ErrorDetail::invalid_value,
         "shards, sample and part_file are for traces, not for launches");
  const std::string input = text_or(o.input);
  const auto made = std::make_shared<Cache>(
      o, (input.empty() ? "" : input + ", ") + "run on " + object->info.name);
  if (made->exact != nullptr && std::string_view(object->info.type) != "reference")
    fail(ErrorDetail::unsupported,
         "LW_CACHE_EXACT is the reference engine's alone: the loads of a Vulkan device cannot be "
         "served by modelled caches");
  made->follow(object, o);
  return made;
}

std::shared_ptr<Cache> read_trace(const char* path, const lw_cache_options& o) {
  required(path, "path");
  if ((o.flags & LW_CACHE_EXACT) != 0)
    fail(ErrorDetail::invalid_value, "LW_CACHE_EXACT is for launches, not for traces");
  check_share(o);
  if (o.part_file != nullptr) check_writable(o.part_file);
  trace::ReadOptions how;
  how.hash = o.shards != 0;
  for (size_t i = 0; i < o.policy_count; ++i)
    trace::set_policy(how, required(required(o.policies, "policies")[i], "a policy"));
  if (o.progress != nullptr)
    how.progress = [&o](uint64_t done, uint64_t whole) {
      o.progress(done, whole, o.progress_user);
    };
  const auto made =
      std::make_shared<Cache>(o, "trace " + std::string(path), trace::policies_of(path, how));
  std::vector<trace::Sink*> sinks(made->trackers.sink().sinks().begin(),
                                  made->trackers.sink().sinks().end());
  if (made->file != nullptr) sinks.push_back(made->file.get());
  made->read = trace::read_in_threads(path, sinks, how);
  made->finished = true;
  made->trackers.settle();
  if (o.part_file != nullptr) write_part(*made, o.part_file);
  made->is_part = o.shards != 0;
  for (const std::string& warning : made->read.warnings) log(LW_LOG_WARNING, warning);
  if (!made->read.complete) log(LW_LOG_WARNING, made->read.note);
  return made;
}

std::string preset_names() {
  std::string out;
  std::vector<std::string> all = cache::preset_names();
  std::ranges::copy(cache::preset_variants(), std::back_inserter(all));
  for (const std::string& name : all)
    out += fmt::format("{}\t{}\n", name, cache::load_preset(name).title);
  return out;
}

std::string preset_text(const cache::Preset& preset, const std::string& format) {
  if (format == "txt") return cache::preset_text(preset);
  if (format == "json") return cache::preset_json(preset);
  fail(ErrorDetail::invalid_value, "format '" + format + "': txt or json was expected");
}

}  // namespace

Cache::Cache(const lw_cache_options& o, const std::string& origin,
             std::vector<std::pair<std::string, std::string>> policies)
    : trackers(split(o.presets), [&] {
        cache::TrackerOptions options = tracker_options(o.flags);
        options.policies = std::move(policies);
        options.origin = origin;
        options.part = o.shard;
        options.parts = o.shards;
        options.sample = o.sample;
        for (size_t i = 0; i < o.source_folder_count; ++i)
          options.source_folders.emplace_back(
              required(required(o.source_folders, "source_folders")[i], "a source folder"));
        return options;
      }()) {
  if ((o.flags & LW_CACHE_EXACT) != 0) {
    if (trackers.runs().size() != 1)
      fail(ErrorDetail::invalid_value, "LW_CACHE_EXACT needs one preset");
    exact = std::make_unique<cache::ExactMemory>(trackers.first());
  }
  if (trackers.empty() && o.trace_file == nullptr)
    fail(ErrorDetail::null_argument, "neither presets nor a trace file: there is nothing to do");
  if (exact != nullptr)
    sink.add(exact.get());
  else if (!trackers.empty())
    sink.add(&trackers.sink());
  if (o.trace_file == nullptr) return;
  file = trace::open_output(o.trace_file);
  sink.add(file.get());
}

Cache::~Cache() {
  if (follows) device->stop_tracing();
}

void Cache::follow(std::shared_ptr<Device> on, const lw_cache_options& o) {
  on->start_tracing(sink, o.buffer_bytes != 0 ? o.buffer_bytes : kDefaultTraceBuffer, exact.get(),
                    text_or(o.input));
  device = std::move(on);
  follows = true;
}

void Cache::finish() {
  if (follows) device->stop_tracing();
  follows = false;
  if (!finished) sink.finish();
  finished = true;
}

lw_cache* cache_of_nothing(const lw_cache_options& options, const std::string& origin) {
  return new_handle(std::make_shared<Cache>(options, origin));
}

trace::Sink& sink_behind(lw_cache* cache) {
  return find<Cache>(cache)->sink;
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_cache_start(lw_device* device, const lw_cache_options* options, lw_cache** out) {
  return gives(out, [&] { return follow(device, read_struct(options, "lw_cache_options")); });
}

lw_status lw_cache_read(const char* path, const lw_cache_options* options, lw_cache** out) {
  return gives(out, [&] { return read_trace(path, read_struct(options, "lw_cache_options")); });
}

lw_status lw_cache_merge(const char* const* part_files, size_t count, lw_cache** out) {
  return gives(out, [&] { return merge(part_files, count); });
}

lw_status lw_cache_finish(lw_cache* cache) {
  return guarded([&] {
    const auto object = find<Cache>(cache);
    const auto lock = hold(*object);
    object->finish();
  });
}

lw_status lw_cache_get_info(lw_cache* cache, lw_cache_info* out) {
  return guarded([&] {
    const auto object = find<Cache>(cache);
    lw_cache_info value{};
    value.complete = object->read.complete ? 1 : 0;
    value.events = object->read.events;
    value.warnings = object->read.warnings.size();
    value.note = object->read.note.c_str();
    write_struct(out, value, "lw_cache_info");
  });
}

const char* lw_cache_warning(lw_cache* cache, size_t index) {
  return quiet<const char*>(nullptr,
                            [&] { return find<Cache>(cache)->read.warnings.at(index).c_str(); });
}

lw_status lw_cache_report(lw_cache* cache, const char* format, lw_blob** out) {
  return gives(out, [&] {
    const auto object = find<Cache>(cache);
    if (object->trackers.empty())
      fail(ErrorDetail::invalid_value, "a trace file alone, without presets, has no report");
    if (object->is_part)
      fail(ErrorDetail::invalid_value,
           "a part of a trace has no report: lw_cache_merge puts the parts together");
    const auto lock = hold(*object);
    return std::make_shared<Blob>(make_report(required(format, "format"), object->trackers.runs()));
  });
}

lw_status lw_cache_matches(lw_cache* cache, const char* rule, int* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    required(rule, "rule");
    if (cache == nullptr) {
      cache::fails_on(rule, {});
      return;
    }
    const auto object = find<Cache>(cache);
    const auto lock = hold(*object);
    *out = cache::fails_on(rule, cache::verdicts(object->trackers.runs())) ? 1 : 0;
  });
}

lw_status lw_cache_preset(const char* preset, const char* format, lw_blob** out) {
  return gives(out, [&] {
    return std::make_shared<Blob>(
        preset == nullptr ? preset_names()
                          : preset_text(cache::load_preset(preset), required(format, "format")));
  });
}
