// The cache tracker and memory traces: what launches, or a recorded trace, do to the caches of a
// GPU.
//
//   auto cache = lanewise::Cache::follow(device, {.presets = {"gv100"}});
//   kernel.launch(...);
//   cache.finish();
//   puts(cache.report("txt").c_str());
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace lanewise {

struct CacheOptions {
  std::vector<std::string> presets = {};  ///< names, or file:PATH; none = a trace file alone
  bool exact = false;           ///< the reference engine alone: loads return what the caches hold
  bool profile = false;         ///< keep what the HTML and Perfetto reports draw
  bool compare = false;         ///< beside it, the same with hints and cache operators ignored
  bool reuse = false;           ///< report the miss ratio of every capacity
  bool sets = false;            ///< report how sets are used, and why lines were missing
  std::string trace_file = {};  ///< gets the trace: .lwt, .traceg, .din or .json; empty = none
  std::vector<std::string> source_folders = {};  ///< where the HTML report looks for source files
  // Launches:
  std::string input = {};     ///< the file whose lines the instructions are, for findings
  uint64_t buffer_bytes = 0;  ///< events of one part of the grid; 0 = 64 MiB
  // Traces:
  std::vector<std::string> policies = {};  ///< trace.interleave=..., trace.resident=...
  /// Of L2 the part `shard` of `shards` alone (0 = all of it). It has no report: part_file gets it,
  /// for merge().
  uint32_t shard = 0, shards = 0;
  std::string part_file = {};
  uint32_t sample = 0;  ///< one L2 set in so many, and reports estimate the rest; 0 = all of them
  /// Called now and then: bytes of a file that were read, and that it has.
  std::function<void(uint64_t done, uint64_t whole)> progress = {};
};

/// What is to be reported of a trace that was read.
struct TraceFacts {
  bool complete = true;  ///< false: it ends early, what is there was read
  std::string note;      ///< where it ends, when it is not complete
  uint64_t events = 0;
  std::vector<std::string> warnings;
};

namespace detail {

/// Options for the C API; lives as long as they are used.
class CCacheOptions {
 public:
  explicit CCacheOptions(const CacheOptions& o) : progress_(o.progress) {
    options_.flags = (o.exact ? LW_CACHE_EXACT : 0) | (o.profile ? LW_CACHE_PROFILE : 0) |
                     (o.compare ? LW_CACHE_COMPARE : 0) | (o.reuse ? LW_CACHE_REUSE : 0) |
                     (o.sets ? LW_CACHE_SETS : 0);
    for (const std::string& name : o.presets)
      presets_.append(&name == o.presets.data() ? "" : ",").append(name);
    options_.presets = o.presets.empty() ? nullptr : presets_.c_str();
    options_.trace_file = c_text(o.trace_file);
    options_.input = c_text(o.input);
    options_.buffer_bytes = o.buffer_bytes;
    for (const std::string& policy : o.policies) policies_.push_back(policy.c_str());
    options_.policies = policies_.data();
    options_.policy_count = policies_.size();
    for (const std::string& folder : o.source_folders) folders_.push_back(folder.c_str());
    options_.source_folders = folders_.data();
    options_.source_folder_count = folders_.size();
    options_.shard = o.shard;
    options_.shards = o.shards;
    options_.sample = o.sample;
    options_.part_file = c_text(o.part_file);
    if (progress_) options_.progress = report;
    options_.progress_user = this;
  }
  CCacheOptions(const CCacheOptions&) = delete;
  CCacheOptions& operator=(const CCacheOptions&) = delete;
  const lw_cache_options* get() const { return &options_; }
  /// Throws what the progress function threw, which C could not let through.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static void report(uint64_t done, uint64_t whole, void* user) {
    auto& self = *static_cast<CCacheOptions*>(user);
    if (self.thrown_) return;
    try {
      self.progress_(done, whole);
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }

  lw_cache_options options_ = LW_CACHE_OPTIONS_INIT;
  std::string presets_;
  std::vector<const char*> policies_, folders_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  std::exception_ptr thrown_;
};

}  // namespace detail

class Cache {
 public:
  /// Follows the launches on a device until finish(), or until the last handle is gone. One a
  /// device. Error(usage) for presets and files that are none.
  static Cache follow(const Device& device, const CacheOptions& options) {
    const detail::CCacheOptions how(options);
    lw_cache* handle = nullptr;
    detail::call(lw_cache_start(device.c_handle(), how.get(), &handle));
    return from_c(handle);
  }
  /// Reads a recorded or imported trace: .lwt, .traceg, .trace, kernelslist, .din, mem_trace's
  /// output; also .gz, .xz, .zst. With a trace_file it is converted.
  static Cache read(const std::string& path, const CacheOptions& options) {
    const detail::CCacheOptions how(options);
    lw_cache* handle = nullptr;
    const lw_status status = lw_cache_read(path.c_str(), how.get(), &handle);
    if (status != LW_OK) detail::raise(status);
    Cache out = from_c(handle);
    how.rethrow();
    return out;
  }
  /// The parts that read() wrote as part_file: reports are those of the trace read whole.
  /// Error(usage) unless they are the parts of one run, each once.
  static Cache merge(const std::vector<std::string>& part_files) {
    std::vector<const char*> names;
    for (const std::string& name : part_files) names.push_back(name.c_str());
    lw_cache* handle = nullptr;
    detail::call(lw_cache_merge(names.data(), names.size(), &handle));
    return from_c(handle);
  }
  /// Follows no more, and completes the trace file. What was seen can still be reported.
  void finish() { detail::call(lw_cache_finish(handle())); }

  /// "txt", "json", "csv", "sarif", "html" or "perfetto": what was seen so far.
  std::string report(const std::string& format) const {
    lw_blob* blob = nullptr;
    detail::call(lw_cache_report(handle(), format.c_str(), &blob));
    return detail::take(blob);
  }
  /// True when a finding matches: a rule ("H1"), "E" (errors), "W" (errors and warnings) or "any".
  /// Error(usage) when there is no such rule.
  bool matches(const std::string& rule) const { return asked(handle(), rule); }
  /// Error(usage) now for what matches() would refuse.
  static void check_rule(const std::string& rule) { asked(nullptr, rule); }
  /// Of a trace that was read.
  TraceFacts facts() const {
    lw_cache_info info{};
    info.struct_size = sizeof info;
    detail::call(lw_cache_get_info(handle(), &info));
    TraceFacts out{info.complete != 0, info.note, info.events, {}};
    for (size_t i = 0; i < info.warnings; ++i)
      out.warnings.emplace_back(lw_cache_warning(handle(), i));
    return out;
  }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_cache* c_handle() const { return handle(); }
  /// Takes over a handle of the C API, which it releases.
  static Cache from_c(lw_cache* handle) {
    Cache out;
    out.state_ = detail::own<detail::CacheState>(handle);
    return out;
  }

 private:
  lw_cache* handle() const { return detail::used(state_, "Cache").handle; }
  static bool asked(lw_cache* cache, const std::string& rule) {
    int matches = 0;
    detail::call(lw_cache_matches(cache, rule.c_str(), &matches));
    return matches != 0;
  }
  std::shared_ptr<detail::CacheState> state_;
};

/// The names of all presets, and what they are.
inline std::vector<std::pair<std::string, std::string>> cache_presets() {
  lw_blob* blob = nullptr;
  detail::call(lw_cache_preset(nullptr, nullptr, &blob));
  std::vector<std::pair<std::string, std::string>> out;
  const std::string rows = detail::take(blob);
  for (size_t at = 0; at < rows.size();) {
    const size_t tab = rows.find('\t', at), end = rows.find('\n', tab);
    out.emplace_back(rows.substr(at, tab - at), rows.substr(tab + 1, end - tab - 1));
    at = end + 1;
  }
  return out;
}
/// What a preset assumes, and where each figure comes from: "txt", or "json", which file:PATH
/// reads.
inline std::string cache_preset(const std::string& name, const std::string& format = "txt") {
  lw_blob* blob = nullptr;
  detail::call(lw_cache_preset(name.c_str(), format.c_str(), &blob));
  return detail::take(blob);
}

}  // namespace lanewise
