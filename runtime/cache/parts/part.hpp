// A part of a run under several presets, as a file: what `lanewise cache --shard` leaves for
// `lanewise cache merge`. docs/cache-parts.md describes the file.
#pragma once

#include <string>
#include <utility>

#include "runtime/cache/parts/results.hpp"
#include "runtime/cache/tracker/tracker.hpp"

namespace lanewise::cache {

/// Of one preset. What stands above L2 every part has, and all the same; the rest is of its share.
struct PartRun : Results {
  std::string preset;  ///< as a preset file
  uint64_t clock = 0;  ///< at the end
  EarlyLog early;
  std::vector<SharingLog> sharing;  ///< of kernels, as they ended
  uint64_t most_watched = 0;        ///< sectors of a kernel, of all parts together
  uint32_t most_persisting = 0;
};

struct Part {
  uint32_t index = 0, count = 1;
  trace::ReadResult read;
  std::vector<std::pair<std::string, std::string>> policies;
  std::vector<trace::Kernel> kernels;
  std::vector<trace::Site> sites;
  std::vector<trace::Buffer> buffers;
  std::vector<PartRun> runs;
};

/// Throws Error(usage) when a quota of all sets may have been reached: alone this part does not
/// know.
PartRun part_run(const Tracker& tracker);
/// The same for what was kept of sets by a sample, which reports nothing of a quota.
void check_quota(const Tracker& tracker);

/// Of trackers that took the part `index` of `count` of one trace.
Part part_of(std::span<const Tracker* const> runs, const trace::ReadResult& read);
std::string to_text(const Part& part);
/// Throws Error(usage), with the file's name, for what is no part, of another version, or damaged.
Part parse_part(const std::string& text, const std::string& name);

}  // namespace lanewise::cache
