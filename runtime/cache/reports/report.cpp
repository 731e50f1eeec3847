#include "runtime/cache/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/cache/dialects/policy_word.hpp"
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

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

double percent(uint64_t part, uint64_t rest) {
  return part + rest == 0 ? 0
                          : 100.0 * static_cast<double>(part) / static_cast<double>(part + rest);
}

void print_verdict(std::string& out, const Verdict& v, size_t runs) {
  const Finding& f = v.finding;
  out += fmt::format("{} {}  {}  x {}  {}, {} bytes   ({}: {}/{} presets)\n", rule(f.rule).id,
                     rule(f.rule).title, name(f.severity), f.count, v.tracker->describe(f.address),
                     f.bytes, joined(v.presets), v.presets.size(), runs);
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
  out +=
      fmt::format("\n{:<16} {:>12} {:>12} {:>7} {:>12} {:>12} {:>12} {:>12}\n", t.preset().name,
                  "reads", "writes", "hit %", "sector hits", "misses", "evicted", "written back");
  for (size_t i = 0; i < kCaches; ++i) {
    const LevelCounters& n = t.engine().counters(static_cast<Cache>(i));
    if (n.reads + n.writes + n.prefetches == 0) continue;
    out += fmt::format("{:<16} {:>12} {:>12} {:>7.2f} {:>12} {:>12} {:>12} {:>12}\n",
                       name(static_cast<Cache>(i)), n.reads, n.writes,
                       percent(n.sector_hits, n.sector_misses), n.sector_hits, n.sector_misses,
                       n.evictions, n.write_backs);
  }
}

/// The instruction with what its policy word says; where that is too long, the instruction is cut.
std::string text_of(const trace::Site& s, size_t most = std::string::npos) {
  std::string policy = policy_of(s);
  if (!policy.empty()) policy = fmt::format(" {{{}}}", policy);
  return s.text.substr(0, most - std::min(most, policy.size())) + policy;
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
  out += fmt::format("\n{:<8} {:<{}} {:>10} {:>10} {:>10} {:>10} {:>9} {:>7} {:>7}\n", "PC",
                     "instruction", width, "waves", "lines", "hardware", "sectors", "sect/req",
                     "L1 %", "L2 %");
  for (const size_t i : order) {
    const SiteCounters& n = t.site_counters()[i];
    out += fmt::format("{:<8} {:<{}.{}} {:>10} {:>10} {:>10} {:>10} {:>9.2f} {:>7.2f} {:>7.2f}\n",
                       fmt::format("{:#06x}", t.sites()[i].pc), text_of(t.sites()[i], width), width,
                       width, n.instructions, n.requests, n.hardware_requests, n.sectors,
                       n.hardware_requests == 0 ? 0.0
                                                : static_cast<double>(n.sectors) /
                                                      static_cast<double>(n.hardware_requests),
                       percent(n.l1_hits, n.l1_misses), percent(n.l2_hits, n.l2_misses));
  }
}

struct Metric {
  std::string name;
  uint64_t value;
};

/// What the sites of one kind in global memory came to: instructions of that kind only.
SiteCounters sum_of(const Tracker& t, trace::OpKind kind) {
  SiteCounters sum;
  for (size_t i = 0; i < t.sites().size(); ++i) {
    const trace::Site& s = t.sites()[i];
    if (s.kind != kind || s.space == trace::Space::local) continue;
    const SiteCounters& n = t.site_counters()[i];
    sum.hardware_requests += n.hardware_requests;
    sum.sectors += n.sectors;
    sum.l1_hits += n.l1_hits;
    sum.l1_misses += n.l1_misses;
  }
  return sum;
}

/// As Nsight Compute names them (docs/cache.md says how far to trust the names).
std::vector<Metric> nvidia_metrics(const Tracker& t) {
  const LevelCounters& l2 = t.engine().counters(Cache::l2);
  const SiteCounters loads = sum_of(t, trace::OpKind::load);
  const SiteCounters stores = sum_of(t, trace::OpKind::store);
  const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
  return {{requests + "ld.sum", loads.hardware_requests},
          {requests + "st.sum", stores.hardware_requests},
          {sectors + "ld.sum", loads.sectors},
          {sectors + "st.sum", stores.sectors},
          {sectors + "ld_lookup_hit.sum", loads.l1_hits},
          {sectors + "ld_lookup_miss.sum", loads.l1_misses},
          {"lts__t_sectors_op_read.sum", l2.sector_hits + l2.sector_misses},
          {"lts__t_sectors_lookup_hit.sum", l2.sector_hits},
          {"lts__t_sectors_lookup_miss.sum", l2.sector_misses},
          {"lts__t_sectors_evict_normal.sum", l2.by_class[0]},
          {"lts__t_sectors_evict_first.sum", l2.by_class[1]},
          {"lts__t_sectors_evict_last.sum", l2.by_class[2]}};
}

/// As rocprof names them.
std::vector<Metric> amd_metrics(const Tracker& t) {
  const LevelCounters& l1 = t.engine().counters(Cache::l1);
  const LevelCounters& l2 = t.engine().counters(Cache::l2);
  const uint64_t misses = l2.read_misses + l2.write_misses;
  return {{"TCP_TOTAL_ACCESSES", l1.reads + l1.writes},
          {"TCP_TCC_READ_REQ", l2.reads},
          {"TCP_TCC_WRITE_REQ", l2.writes},
          {"TCC_REQ", l2.reads + l2.writes},
          {"TCC_HIT", l2.reads + l2.writes - misses},
          {"TCC_MISS", misses},
          {"TCC_STREAMING_REQ", l2.by_class[1]},
          {"TCC_NORMAL_EVICT", l2.evictions},
          {"TCC_NORMAL_WRITEBACK", l2.write_backs}};
}

/// What no profiler of either vendor counts, under names of our own.
std::vector<Metric> own_metrics(const Tracker& t) {
  const LevelCounters& l1 = t.engine().counters(Cache::l1);
  const LevelCounters& l2 = t.engine().counters(Cache::l2);
  return {{"l1_lines_invalidated", l1.invalidated},
          {"l2_lines_evicted", l2.evictions},
          {"l2_lines_written_back", l2.write_backs},
          {"memory_bytes_read", l2.fills * t.preset().l2.sector},
          {"memory_bytes_written", l2.write_back_bytes}};
}

std::string csv_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::vector<Verdict> verdicts(std::span<const Tracker* const> runs) {
  std::vector<Verdict> all;
  std::map<std::tuple<unsigned, uint32_t, uint32_t>, size_t> index;
  for (const Tracker* t : runs)
    for (const Finding& f : t->findings()) {
      const auto [it, fresh] = index.try_emplace({f.rule, f.site, f.other_site}, all.size());
      if (fresh) all.push_back({f, t, {}});
      all[it->second].presets.push_back(t->preset().name);
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
  for (const Verdict& v : all) print_verdict(out, v, runs.size());
  for (const Tracker* t : runs) print_levels(out, *t);
  if (!runs.empty()) print_sites(out, *runs[0]);
  return out;
}

std::string csv_report(std::span<const Tracker* const> runs) {
  std::string out = "preset,scope,pc,instruction,metric,value\n";
  for (const Tracker* t : runs) {
    const bool amd = !t->sites().empty() && t->sites()[0].dialect == trace::Dialect::gcn;
    for (const auto& list : {amd ? amd_metrics(*t) : nvidia_metrics(*t), own_metrics(*t)})
      for (const Metric& m : list)
        out += fmt::format("{},total,,,{},{}\n", t->preset().name, m.name, m.value);
    for (size_t i = 0; i < t->sites().size(); ++i) {
      const SiteCounters& n = t->site_counters()[i];
      const std::string head = fmt::format("{},instruction,{:#x},{}", t->preset().name,
                                           t->sites()[i].pc, csv_text(text_of(t->sites()[i])));
      const std::pair<const char*, uint64_t> rows[] = {{"inst_executed", n.instructions},
                                                       {"thread_inst_executed", n.lanes},
                                                       {"memory_l1_requests", n.hardware_requests},
                                                       {"memory_l1_lines", n.requests},
                                                       {"memory_l1_sectors", n.sectors},
                                                       {"bytes_asked_for", n.bytes},
                                                       {"l1_sectors_hit", n.l1_hits},
                                                       {"l1_sectors_miss", n.l1_misses},
                                                       {"l2_sectors_hit", n.l2_hits},
                                                       {"l2_sectors_miss", n.l2_misses},
                                                       {"stale_requests", n.stale}};
      for (const auto& [metric, value] : rows)
        out += fmt::format("{},{},{}\n", head, metric, value);
    }
  }
  return out;
}

namespace {

struct ReportKind {
  std::string_view ending;
  std::string (*make)(std::span<const Tracker* const>);
};
constexpr ReportKind kReports[] = {{".txt", text_report},
                                   {".json", json_report},
                                   {".csv", csv_report},
                                   {".sarif", sarif_report},
                                   {".html", html_report}};

const ReportKind& kind_of(const std::string& path) {
  for (const ReportKind& k : kReports)
    if (path.ends_with(k.ending)) return k;
  throw Error(ErrorKind::usage,
              fmt::format("{}: no report for this ending, expected .txt, .json, .csv, .sarif or "
                          ".html",
                          path));
}

}  // namespace

TrackerOptions options_for(std::span<const std::string> paths) {
  TrackerOptions options;
  for (const std::string& path : paths) {
    options.profile = options.profile || kind_of(path).make == html_report;
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
