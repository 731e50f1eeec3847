#include "runtime/cache/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/reports/report_data.hpp"
#include "runtime/support/error.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::cache {
namespace {

std::string at_site(const Tracker& t, uint32_t site, const Context& c) {
  if (site == kNoContext) return "the host";
  const trace::Site& s = t.site_of(site);
  return fmt::format("kernel {}  PC {:#06x}  {}  group {} wave {} SM {}",
                     t.kernels()[s.kernel].name, s.pc, s.text, c.group, c.wave, c.sm);
}

/// The presets, each with its own count where they differ.
std::string counted(const Verdict& v) {
  const bool same = std::all_of(v.counts.begin(), v.counts.end(),
                                [&](uint64_t n) { return n == v.counts.front(); });
  std::string out;
  for (size_t i = 0; i < v.presets.size(); ++i)
    out += (i == 0 ? "" : ", ") + v.presets[i] + (same ? "" : fmt::format(" x {}", v.counts[i]));
  return out;
}

/// Of what was asked for, the share that was there; "-" where nothing was.
std::string percent(uint64_t part, uint64_t rest) {
  if (part + rest == 0) return "-";
  return fmt::format("{:.2f}",
                     100.0 * static_cast<double>(part) / static_cast<double>(part + rest));
}

void print_verdict(std::string& out, const Verdict& v, size_t runs) {
  const Finding& f = v.finding;
  out += fmt::format("{} {}  {}  x {}  {}, {} bytes   ({}: {}/{} presets)\n", rule(f.rule).id,
                     rule(f.rule).title, name(f.severity), f.count, v.tracker->describe(f.address),
                     f.bytes, counted(v), v.presets.size(), runs);
  out += fmt::format("  at     {}\n", at_site(*v.tracker, f.site, f.where));
  if (f.other_context != kNoContext)
    out += fmt::format("  other  {}\n", at_site(*v.tracker, f.other_site, f.other_where));
  out += fmt::format("  what   {}", f.message);
  if (f.has_values) out += fmt::format(" (got {:#x}, newest {:#x})", f.value, f.newest_value);
  out += "\n";
  for (const std::string& h : f.line_history) out += fmt::format("  line   {}\n", h);
  out += fmt::format("  fix    {}\n", f.fix);
}

void print_levels(std::string& out, const Tracker& t) {
  out += fmt::format("\n{:<16} {:>12} {:>7} {:>12} {:>12} {:>12} {:>7} {:>12} {:>12} {:>12}\n",
                     t.preset().name, "reads", "hit %", "sector hits", "misses", "writes", "hit %",
                     "evicted", "written back", "dirty left");
  for (size_t i = 0; i < kCaches; ++i) {
    const auto c = static_cast<Cache>(i);
    const LevelCounters& n = t.counters(c);
    if (n.reads + n.writes + n.prefetches == 0) continue;
    out +=
        fmt::format("{:<16} {:>12} {:>7} {:>12} {:>12} {:>12} {:>7} {:>12} {:>12} {:>12}\n",
                    name(c), n.reads, percent(n.sector_hits, n.sector_misses), n.sector_hits,
                    n.sector_misses, n.writes, percent(n.write_sector_hits, n.write_sector_misses),
                    n.evictions, n.write_backs, t.dirty(c).lines);
  }
  for (const Cache c : {Cache::l1, Cache::scalar, Cache::l2})
    if (const Engine::Dirty left = t.dirty(c); left.lines != 0)
      out += fmt::format("{} dirty bytes in {} lines are left in {} at the end\n", left.bytes,
                         left.lines, name(c));
}

/// "48 of 768 sets"
std::string sets_of(const Sample& s) {
  const std::string each =
      s.sets_each == 1 ? "sets" : fmt::format("groups of {} sets (for 128 bytes)", s.sets_each);
  return fmt::format("{} of {} {}", s.units, s.of, each);
}

void print_sample(std::string& out, const Tracker& t) {
  const Sample* s = t.sample();
  if (s == nullptr) return;
  out += fmt::format(
      "\nL2 of {} is estimated from {}, drawn at random; findings are those of these sets\n"
      "{:<24} {:>14}   {}\n",
      t.preset().name, sets_of(*s), "L2 counter", "estimate", "95 % interval");
  for (const Estimate& e : s->counters)
    if (e.high > 0)
      out += fmt::format("{:<24} {:>14.0f}   {:.0f} to {:.0f}\n", e.counter, e.value,
                         std::floor(e.low), std::ceil(e.high));
}

void print_sites(std::string& out, const Tracker& t) {
  std::vector<size_t> order;
  for (size_t i = 0; i < t.sites().size(); ++i)
    if (t.site_counters()[i].requests != 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return t.site_counters()[a].sectors > t.site_counters()[b].sectors;
  });
  if (order.size() > 20) order.resize(20);
  size_t width = 28;
  for (const size_t i : order) width = std::max(width, text_of(t.sites()[i]).size());
  width = std::min<size_t>(width, 64);
  out += fmt::format("\n{:<8} {:<{}} {:>10} {:>10} {:>10} {:>10} {:>9} {:>7} {:>7} {:>8} {:>8}\n",
                     "PC", "instruction", width, "waves", "lines", "hardware", "sectors",
                     "sect/req", "L1 %", "L2 %", "st L1 %", "st L2 %");
  for (const size_t i : order) {
    const SiteCounters& n = t.site_counters()[i];
    const double per_request =
        n.hardware_requests == 0
            ? 0.0
            : static_cast<double>(n.sectors) / static_cast<double>(n.hardware_requests);
    out += fmt::format(
        "{:<8} {:<{}.{}} {:>10} {:>10} {:>10} {:>10} {:>9.2f} {:>7} {:>7} {:>8} {:>8}\n",
        fmt::format("{:#06x}", t.sites()[i].pc), text_of(t.sites()[i], width), width, width,
        n.instructions, n.requests, n.hardware_requests, n.sectors, per_request,
        percent(n.l1_hits, n.l1_misses), percent(n.l2_hits, n.l2_misses),
        percent(n.l1_write_hits, n.l1_write_misses), percent(n.l2_write_hits, n.l2_write_misses));
  }
}

}  // namespace

std::string text_of(const trace::Site& s, size_t most) {
  std::string policy = policy_of(s);
  if (!policy.empty()) policy = fmt::format(" {{{}}}", policy);
  return s.text.substr(0, most - std::min(most, policy.size())) + policy;
}

std::vector<Verdict> verdicts(std::span<const Tracker* const> runs) {
  std::vector<Verdict> all;
  std::map<std::tuple<unsigned, uint32_t, uint32_t>, size_t> index;
  for (const Tracker* t : runs)
    for (const Finding& f : t->findings()) {
      const auto [it, fresh] = index.try_emplace({f.rule, f.site, f.other_site}, all.size());
      if (fresh) all.push_back({f, t, {}, {}});
      Verdict& v = all[it->second];
      v.presets.push_back(t->preset().name);
      v.counts.push_back(f.count);
      v.finding.severity = std::min(v.finding.severity, f.severity);
    }
  std::stable_sort(all.begin(), all.end(), [](const Verdict& a, const Verdict& b) {
    return a.finding.severity < b.finding.severity;
  });
  return all;
}

std::string text_report(std::span<const Tracker* const> runs) {
  const std::vector<Verdict> all = verdicts(runs);
  size_t by_severity[3] = {};
  for (const Verdict& v : all) ++by_severity[static_cast<size_t>(v.finding.severity)];
  std::string out =
      fmt::format("{} errors, {} warnings, {} advice; {} wave instructions\n", by_severity[0],
                  by_severity[1], by_severity[2], runs.empty() ? 0 : runs[0]->records());
  if (!runs.empty())
    for (const auto& [name, value] : runs[0]->options().policies)
      out += fmt::format("{} = {}\n", name, value);
  for (const Verdict& v : all) print_verdict(out, v, runs.size());
  for (const Tracker* t : runs) print_levels(out, *t);
  for (const Tracker* t : runs) print_sample(out, *t);
  for (const Tracker* t : runs) out += insight_text(*t);
  if (!runs.empty()) print_sites(out, *runs[0]);
  return out;
}

namespace {

struct ReportKind {
  std::string_view ending;
  std::string (*make)(std::span<const Tracker* const>);
};
constexpr ReportKind kReports[] = {{".txt", text_report},    {".perfetto.json", perfetto_report},
                                   {".json", json_report},   {".csv", csv_report},
                                   {".sarif", sarif_report}, {".html", html_report}};

const ReportKind& kind_of(const std::string& path) {
  for (const ReportKind& k : kReports)
    if (path.ends_with(k.ending)) return k;
  throw Error(ErrorKind::usage,
              fmt::format("{}: no report for this ending, expected .txt, .json, .csv, .sarif, "
                          ".html or .perfetto.json",
                          path));
}

}  // namespace

TrackerOptions options_for(std::span<const std::string> paths) {
  TrackerOptions options;
  for (const std::string& path : paths) {
    const auto make = kind_of(path).make;
    options.profile = options.profile || make == html_report || make == perfetto_report;
    check_writable(path);
  }
  return options;
}

void write_report(const std::string& path, std::span<const Tracker* const> runs) {
  write_file(path, kind_of(path).make(runs));
}

bool fails_on(const std::string& what, std::span<const Verdict> all) {
  unsigned number = 0;
  for (unsigned r = 1; r <= kRules; ++r)
    if (rule(r).id == what) number = r;
  if (number == 0 && what != "E" && what != "W" && what != "any")
    throw Error(ErrorKind::usage,
                fmt::format("--fail-on '{}': expected H1 ... H{}, E, W or any", what, kRules));
  return std::any_of(all.begin(), all.end(), [&](const Verdict& v) {
    const Severity s = v.finding.severity;
    if (number != 0) return v.finding.rule == number;
    return what == "any" || s == Severity::error || (what == "W" && s == Severity::warning);
  });
}

}  // namespace lanewise::cache
