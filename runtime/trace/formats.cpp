#include "runtime/trace/formats.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/support/error.hpp"
#include "runtime/trace/interchange/input.hpp"
#include "runtime/trace/relay.hpp"

namespace lanewise::trace {
namespace {

/// Without folders and ".xz": "kernel-1.traceg".
std::string plain_name(const std::string& path) {
  return without_compression(std::filesystem::path(path).filename().string());
}
bool is_list(const std::string& name) {
  return name.starts_with("kernelslist");
}

}  // namespace

ReadResult read_any(const std::string& path, Sink& sink, const ReadOptions& options) {
  if (options.hash) {
    const HashContent hash;
    ReadOptions once = options;
    once.hash = false;
    ReadResult result = read_any(path, sink, once);
    result.content = hash.value();
    return result;
  }
  const ReportProgress reporting(options.progress);
  const std::string name = plain_name(path);
  if (name.ends_with(".traceg") || name.ends_with(".trace") || name.ends_with(".tracez") ||
      is_list(name))
    return import_accelsim(path, sink, options);
  if (name.ends_with(".din")) return import_dinero(path, sink);
  if (name.ends_with(".lwt") || is_trace(path)) return read_trace(path, sink);
  if (is_mem_trace(path)) return import_mem_trace(path, sink);
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: not a trace that is known (.lwt, .traceg, .trace, kernelslist, .din, "
                  "what NVBit's mem_trace prints; each also as .gz, .xz or .zst)",
                  path));
}

ReadResult read_in_threads(const std::string& path, std::span<Sink* const> sinks,
                           const ReadOptions& options) {
  Relay relay(sinks);
  try {
    return read_any(path, relay, options);
  } catch (...) {
    relay.drain();  // what a sink says of an earlier part comes first
    throw;
  }
}

std::vector<std::pair<std::string, std::string>> policies_of(const std::string& path,
                                                             const ReadOptions& options) {
  const std::string name = plain_name(path);
  if (!name.ends_with(".traceg") && !is_list(name)) return {};
  const bool serial = options.interleave == Interleave::serial;
  std::vector<std::pair<std::string, std::string>> all{
      {"trace.interleave", serial ? "serial" : "round-robin"}};
  if (!serial) all.emplace_back("trace.resident", std::to_string(options.resident));
  return all;
}

std::unique_ptr<Sink> open_output(const std::string& path) {
  if (path.ends_with(".lwt")) return std::make_unique<Writer>(path);
  if (path.ends_with(".din")) return export_dinero(path);
  if (path.ends_with(".traceg")) return export_accelsim(path);
  if (path.ends_with(".json")) return export_perfetto(path);
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: no format for this ending, expected .lwt, .traceg, .din or .json", path));
}

}  // namespace lanewise::trace
