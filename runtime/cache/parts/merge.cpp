#include "runtime/cache/parts/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/support/error.hpp"

namespace lanewise::cache {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw Error(ErrorKind::usage, why);
}

/// The same finding of another part.
void add(Finding& f, const Finding& o) {
  Finding sum = f.seen <= o.seen ? f : o;
  sum.count = f.count + o.count;
  sum.severity = std::min(f.severity, o.severity);
  const auto first = [&](std::optional<Moment> Finding::*when) -> const Finding& {
    return !(o.*when) || (f.*when && *(f.*when) <= *(o.*when)) ? f : o;
  };
  if (const Finding& first_seen = first(&Finding::observed); first_seen.observed) {
    sum.observed = first_seen.observed;
    sum.address = first_seen.address;
    sum.bytes = first_seen.bytes;
    sum.version = first_seen.version;
    sum.newest = first_seen.newest;
    sum.line_history = first_seen.line_history;
  }
  const Finding& reader = first(&Finding::read);
  sum.read = reader.read;
  sum.read_history = reader.read_history;
  f = std::move(sum);
}

void add(Findings& all, const Finding& f) {
  if (const auto [it, fresh] = all.try_emplace(key_of(f), f); !fresh) add(it->second, f);
}

/// H8 of data that was used again: a line counts while at most evict_first_window others have left
/// since, whatever part they are of.
class EarlyEvictions {
 public:
  EarlyEvictions(std::span<const PartRun* const> runs, const Preset& preset)
      : runs_(runs), preset_(preset) {}

  void add_to(Findings& all) {
    for (const PartRun* run : runs_) {
      std::set<uint64_t> found;  // lines that count as missed already
      for (const EarlyLog::Missed& m : run->early.missed) add_to(all, *run, m, found);
    }
  }

 private:
  /// Of all lines: how many had left before.
  uint64_t left_before(uint64_t clock) const {
    uint64_t n = 0;
    for (const PartRun* run : runs_) {
      const auto& left = run->early.left;
      n += static_cast<uint64_t>(std::lower_bound(left.begin(), left.end(), clock) - left.begin());
    }
    return n;
  }
  /// Among all lines, the number of one of this part.
  uint64_t number_of(const PartRun& run, uint64_t line) const {
    const auto& left = run.early.left;
    const auto same = std::lower_bound(left.begin(), left.end(), left.at(line));
    return left_before(left[line]) + line - static_cast<uint64_t>(same - left.begin());
  }
  void add_to(Findings& all, const PartRun& run, const EarlyLog::Missed& m,
              std::set<uint64_t>& found) const {
    const uint64_t window = preset_.knobs.evict_first_window;
    const uint64_t now = left_before(m.finding.seen.clock);
    // Of several with one address the one that stands first in the ring of the latest.
    std::optional<std::pair<uint64_t, uint64_t>> best;
    for (const uint64_t line : m.lines) {
      const uint64_t number = number_of(run, line);
      if (now > number + window || found.contains(line)) continue;
      const std::pair place(number % window, line);
      if (!best || place < *best) best = place;
    }
    if (!best) return;
    found.insert(best->second);
    Finding f = m.finding;
    const Finding words = early_eviction(preset_);
    f.message = words.message;
    f.fix = words.fix;
    add(all, f);
  }

  std::span<const PartRun* const> runs_;
  const Preset& preset_;
};

/// H14: the sectors of a kernel that were watched first, whatever part they are of.
void add_sharing(Findings& all, std::span<const PartRun* const> runs) {
  struct Kernel {
    std::vector<const SharingLog*> logs;
    uint64_t before(uint64_t clock) const {
      uint64_t n = 0;
      for (const SharingLog* log : logs)
        n +=
            static_cast<uint64_t>(std::ranges::lower_bound(log->since, clock) - log->since.begin());
      return n;
    }
  };
  std::map<uint64_t, Kernel> kernels;  // by their ends
  for (const PartRun* run : runs)
    for (const SharingLog& log : run->sharing) kernels[log.clock].logs.push_back(&log);
  for (const auto& [clock, kernel] : kernels)
    for (const SharingLog* log : kernel.logs)
      for (const SharedSector& s : log->often) {
        const uint64_t since = log->since.at(s.since);
        const auto same = std::ranges::lower_bound(log->since, since) - log->since.begin();
        const uint64_t number = kernel.before(since) + s.since - static_cast<uint64_t>(same);
        if (number < runs[0]->most_watched) add(all, false_sharing(s, clock));
      }
}

bool same_above_l2(const PartRun& a, const PartRun& b) {
  if (a.records != b.records || a.clock != b.clock || a.sites.size() != b.sites.size() ||
      a.most_watched != b.most_watched)
    return false;
  for (size_t i = 0; i < kCaches; ++i)
    if (static_cast<Cache>(i) != Cache::l2 &&
        (a.counters[i] != b.counters[i] || a.dirty[i].lines != b.dirty[i].lines ||
         a.dirty[i].bytes != b.dirty[i].bytes))
      return false;
  return true;
}

/// The part of an instruction's counters that L2 decides; the other is the same in all parts.
void take_l2(SiteCounters& n, const SiteCounters& o) {
  n.l2_hits += o.l2_hits;
  n.l2_misses += o.l2_misses;
  n.l2_write_hits += o.l2_write_hits;
  n.l2_write_misses += o.l2_write_misses;
  n.stale += o.stale;
}
SiteCounters above_l2(SiteCounters n) {
  n.l2_hits = n.l2_misses = n.l2_write_hits = n.l2_write_misses = n.stale = 0;
  return n;
}

void check_limits(std::span<const PartRun* const> runs, const Preset& preset) {
  uint64_t persisting = 0;
  for (const PartRun* run : runs) persisting += run->most_persisting;
  const Geometry& l2 = preset.l2;
  const uint64_t lines = uint64_t{l2.slices} * l2.sets * l2.ways;
  if (preset.knobs.persisting_percent != 100 && !l2.infinite &&
      persisting > lines * preset.knobs.persisting_percent / 100)
    fail(
        fmt::format("preset {} cannot be put together: persisting_percent {}: evict_last lines "
                    "of all sets share a quota, which they may have reached; run the trace whole",
                    preset.name, preset.knobs.persisting_percent));
}

std::string numbers(const std::set<uint32_t>& all) {
  std::string out;
  for (const uint32_t n : all) out += fmt::format("{}{}", out.empty() ? "" : ", ", n);
  return out;
}

bool same_run(const Part& a, const Part& b, std::string& what) {
  const auto differs = [&](const char* name) {
    what = name;
    return false;
  };
  if (a.count != b.count) return differs("another number of parts");
  if (a.read.content != b.read.content || a.read.events != b.read.events ||
      a.read.complete != b.read.complete)
    return differs("another trace");
  if (a.policies != b.policies) return differs("other policies for reading the trace");
  if (a.runs.size() != b.runs.size()) return differs("other presets");
  for (size_t i = 0; i < a.runs.size(); ++i)
    if (a.runs[i].preset != b.runs[i].preset) return differs("other presets");
  return true;
}

}  // namespace

void check_parts(std::span<const NamedPart> parts) {
  if (parts.empty()) fail("no parts to put together");
  const NamedPart& first = parts.front();
  std::vector<const NamedPart*> by_index(first.part.count);
  for (const NamedPart& p : parts) {
    if (std::string what; !same_run(first.part, p.part, what))
      fail(fmt::format("{} and {} do not belong together: {}", first.name, p.name, what));
    if (p.part.index >= p.part.count) fail(fmt::format("{}: is damaged", p.name));
    const NamedPart*& slot = by_index[p.part.index];
    if (slot != nullptr)
      fail(fmt::format("{} and {} are both part {} of {}", slot->name, p.name, p.part.index,
                       p.part.count));
    slot = &p;
  }
  std::set<uint32_t> missing;
  for (uint32_t i = 0; i < by_index.size(); ++i)
    if (by_index[i] == nullptr) missing.insert(i);
  if (!missing.empty())
    fail(fmt::format("{} {} of {} {} missing", missing.size() == 1 ? "part" : "parts",
                     numbers(missing), first.part.count, missing.size() == 1 ? "is" : "are"));
}

Results merge(std::span<const NamedPart> parts, size_t number) {
  std::vector<const PartRun*> runs;
  for (const NamedPart& p : parts) runs.push_back(&p.part.runs.at(number));
  const PartRun& first = *runs.front();
  const Preset preset = parse_preset(first.preset, parts.front().name);
  Results all = first;
  Findings findings;
  constexpr auto kL2 = static_cast<size_t>(Cache::l2);
  for (size_t i = 0; i < runs.size(); ++i) {
    const PartRun& r = *runs[i];
    bool same = same_above_l2(first, r);
    for (size_t s = 0; same && s < r.sites.size(); ++s)
      same = above_l2(first.sites[s]) == above_l2(r.sites[s]);
    if (!same)
      fail(
          fmt::format("{} and {} do not agree on what happened above L2; were they made by "
                      "different versions of this program?",
                      parts.front().name, parts[i].name));
    all.tracker_bytes = std::max(all.tracker_bytes, r.tracker_bytes);
    for (const Finding& f : r.findings) add(findings, f);
    if (i == 0) continue;
    all.counters[kL2] += r.counters[kL2];
    all.dirty[kL2].lines += r.dirty[kL2].lines;
    all.dirty[kL2].bytes += r.dirty[kL2].bytes;
    for (size_t s = 0; s < r.sites.size(); ++s) take_l2(all.sites[s], r.sites[s]);
  }
  check_limits(runs, preset);
  EarlyEvictions(runs, preset).add_to(findings);
  add_sharing(findings, runs);
  all.findings = to_report(findings, preset);
  return all;
}

std::vector<std::unique_ptr<Tracker>> merged_trackers(std::span<const NamedPart> parts) {
  check_parts(parts);
  const Part& first = parts.front().part;
  TrackerOptions options;
  options.policies = first.policies;
  std::vector<std::unique_ptr<Tracker>> all;
  for (size_t i = 0; i < first.runs.size(); ++i) {
    Tracker& t = *all.emplace_back(
        std::make_unique<Tracker>(parse_preset(first.runs[i].preset, parts.front().name), options));
    for (const trace::Kernel& k : first.kernels) t.kernel(k);
    for (const trace::Site& s : first.sites) t.site(s);
    for (const trace::Buffer& b : first.buffers) t.buffer(b);
    t.hold(merge(parts, i));
  }
  return all;
}

}  // namespace lanewise::cache
