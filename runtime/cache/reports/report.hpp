// Reports of one trace under one or several presets.
#pragma once

#include <span>
#include <string>

#include "runtime/cache/tracker/tracker.hpp"

namespace lanewise::cache {

/// The same finding under several presets; one under every preset does not hang on a geometry.
struct Verdict {
  Finding finding;
  const Tracker* tracker = nullptr;  ///< whose numbers they are: the first preset that has it
  std::vector<std::string> presets;
  std::vector<uint64_t> counts;  ///< of each of them; the finding has the largest
};
std::vector<Verdict> verdicts(std::span<const Tracker* const> runs);

std::string text_report(std::span<const Tracker* const> runs);
std::string json_report(std::span<const Tracker* const> runs);
/// preset,scope,pc,instruction,metric,value: metric names as the vendors' profilers spell them.
std::string csv_report(std::span<const Tracker* const> runs);
/// SARIF 2.1.0: rules and findings, for code hosts and editors.
std::string sarif_report(std::span<const Tracker* const> runs);
/// One page without network access; pictures of what Profile kept.
std::string html_report(std::span<const Tracker* const> runs);
/// Chrome's trace event format, which Perfetto reads: an SM is a process, hits and misses are
/// counters, findings instants; a microsecond of the axis is one wave instruction.
std::string perfetto_report(std::span<const Tracker* const> runs);
/// By the ending: .txt, .json, .csv, .sarif, .html, .perfetto.json. Throws Error(usage) for another
/// ending or a file that cannot be written.
void write_report(const std::string& path, std::span<const Tracker* const> runs);
/// What a tracker must keep for these reports. Throws the errors of write_report before the work.
TrackerOptions options_for(std::span<const std::string> paths);

/// True when a finding matches: a rule id ("H1"), "E" (errors), "W" (errors and warnings) or "any".
/// Throws Error(usage) for anything else.
bool fails_on(const std::string& what, std::span<const Verdict> verdicts);

}  // namespace lanewise::cache
