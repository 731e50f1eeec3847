// What hints did, reuse distances, and the use of sets: an Insight in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/cache/analysis/hints.hpp"
#include "runtime/cache/reports/report_data.hpp"

namespace lanewise::cache {
namespace {

constexpr Cache kBoth[] = {Cache::l1, Cache::l2};

/// 7422 -> "7,422"
std::string grouped(uint64_t n) {
  return n < 1000 ? std::to_string(n) : fmt::format("{},{:03}", grouped(n / 1000), n % 1000);
}

std::string site_name(const Tracker& t, uint32_t site, size_t most = 40) {
  if (site == kNoContext) return "the host or a kernel's end";
  const trace::Site& s = t.sites()[site];
  const std::string line = s.line != 0 ? fmt::format(" (line {})", s.line) : "";
  return fmt::format("{:#06x} {}{}", s.pc, text_of(s, most), line);
}

// --- what hints did -------------------------------------------------------------------------

struct Total {
  std::string name;
  uint64_t kept, ignored;
};

std::vector<Total> totals(const Tracker& t) {
  const Tracker& u = *t.without_hints();
  std::vector<Total> all;
  for (const Cache c : kBoth) {
    const LevelCounters &n = t.engine().counters(c), &m = u.engine().counters(c);
    const auto add = [&](const char* what, uint64_t kept, uint64_t ignored) {
      all.push_back({fmt::format("{} {}", name(c), what), kept, ignored});
    };
    add("sectors read, hits", n.sector_hits, m.sector_hits);
    add("sectors read, misses", n.sector_misses, m.sector_misses);
    add("sectors written, hits", n.write_sector_hits, m.write_sector_hits);
    add("sectors written, misses", n.write_sector_misses, m.write_sector_misses);
    add("sectors filled", n.fills, m.fills);
    add("lines evicted", n.evictions, m.evictions);
    add("write-backs", n.write_backs, m.write_backs);
    add("bytes written back", n.write_back_bytes, m.write_back_bytes);
    add("dirty bytes discarded", t.insight()->discarded_bytes(c), u.insight()->discarded_bytes(c));
    add("dirty bytes left", t.engine().dirty(c).bytes, u.engine().dirty(c).bytes);
  }
  const auto stale = [](const Tracker& x) {
    uint64_t n = 0;
    for (const SiteCounters& s : x.site_counters()) n += s.stale;
    return n;
  };
  all.push_back({"stale reads", stale(t), stale(u)});
  return all;
}

/// What one instruction came to, on one side.
struct SiteCosts {
  static constexpr size_t kCount = 9;
  static constexpr const char* kNames[kCount] = {"L1 sector misses",
                                                 "L2 sector misses",
                                                 "L1 write-backs",
                                                 "L2 write-backs",
                                                 "lines it evicts from L1",
                                                 "lines it evicts from L2",
                                                 "evictions of its lines from L1",
                                                 "evictions of its lines from L2",
                                                 "stale reads"};
  static constexpr const char* kKeys[kCount] = {"l1_misses",      "l2_misses",  "l1_write_backs",
                                                "l2_write_backs", "evicts_l1",  "evicts_l2",
                                                "evicted_l1",     "evicted_l2", "stale"};
  std::array<uint64_t, kCount> of;
};

SiteCosts costs(const Tracker& t, uint32_t site) {
  const SiteCounters& n = t.site_counters()[site];
  const SiteInsight& s = t.insight()->of_site(site);
  return {{n.l1_misses + n.l1_write_misses, n.l2_misses + n.l2_write_misses, s.write_backs[0],
           s.write_backs[1], s.evicts[0], s.evicts[1], s.evicted[0], s.evicted[1], n.stale}};
}

/// "evict_first on 0x0040 st.global (line 12) cut L2 write-backs from 7,422 to 254". The changes
/// are the instruction's own: other instructions' hints may have a part in them.
std::string sentence(const Tracker& t, uint32_t site) {
  const std::string hints = hints_of(t.sites()[site]);
  const SiteCosts kept = costs(t, site), ignored = costs(*t.without_hints(), site);
  std::vector<size_t> changed;
  for (size_t i = 0; i < SiteCosts::kCount; ++i)
    if (kept.of[i] != ignored.of[i]) changed.push_back(i);
  const auto change = [&](size_t i) {
    return kept.of[i] > ignored.of[i] ? kept.of[i] - ignored.of[i] : ignored.of[i] - kept.of[i];
  };
  std::stable_sort(changed.begin(), changed.end(),
                   [&](size_t a, size_t b) { return change(a) > change(b); });
  if (changed.size() > 3) changed.resize(3);
  std::string out = hints.empty() ? site_name(t, site) + ", which has no hint: others'"
                                  : fmt::format("{} on {}:", hints, site_name(t, site));
  if (changed.empty()) {
    const bool ran = t.site_counters()[site].instructions != 0;
    return hints.empty() ? "" : out + (ran ? " its own counts do not change" : " never ran");
  }
  if (hints.empty()) out += " hints";
  std::string parts;
  for (const size_t i : changed)
    parts += fmt::format("{} {} {} from {} to {}", parts.empty() ? "" : ",",
                         kept.of[i] < ignored.of[i] ? "cut" : "raised", SiteCosts::kNames[i],
                         grouped(ignored.of[i]), grouped(kept.of[i]));
  return out + parts;
}

/// Those with hints first, then by the size of what they ask for.
std::vector<uint32_t> reported_sites(const Tracker& t) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < t.sites().size(); ++i)
    if (t.site_counters()[i].instructions != 0 || !hints_of(t.sites()[i]).empty()) all.push_back(i);
  std::stable_sort(all.begin(), all.end(), [&](uint32_t a, uint32_t b) {
    const bool hinted_a = !hints_of(t.sites()[a]).empty(),
               hinted_b = !hints_of(t.sites()[b]).empty();
    if (hinted_a != hinted_b) return hinted_a;
    return t.site_counters()[a].sectors > t.site_counters()[b].sectors;
  });
  return all;
}

struct Pushed {
  uint32_t by, of;
  uint64_t kept, ignored;
};
std::vector<Pushed> evictions(const Tracker& t, Cache c) {
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, uint64_t>> sum;
  for (const auto& [who, n] : t.insight()->evictions(c)) sum[who].first = n;
  if (const Tracker* u = t.without_hints())
    for (const auto& [who, n] : u->insight()->evictions(c)) sum[who].second = n;
  std::vector<Pushed> all;
  for (const auto& [who, n] : sum) all.push_back({who.first, who.second, n.first, n.second});
  std::stable_sort(all.begin(), all.end(), [](const Pushed& a, const Pushed& b) {
    return a.kept + a.ignored > b.kept + b.ignored;
  });
  return all;
}

void print_occupancy(std::string& out, const Tracker& t) {
  const std::vector<Occupancy>& all = t.insight()->occupancy();
  uint32_t most_last = 0, most_first = 0;
  for (const Occupancy& o : all) {
    most_last = std::max(most_last, o.last);
    most_first = std::max(most_first, o.first);
  }
  if (most_last == 0 && most_first == 0) return;
  const Geometry& g = t.preset().l2;
  out += g.infinite ? "\nL2 lines by class over time\n"
                    : fmt::format("\nL2 lines by class over time; {} may be evict_last of {}\n",
                                  grouped(t.engine().persisting_limit()),
                                  grouped(uint64_t{g.slices} * g.sets * g.ways));
  out += fmt::format("{:>16} {:>12} {:>12} {:>12}\n", "wave instr.", "evict_first", "normal",
                     "evict_last");
  const size_t step = std::max<size_t>(1, (all.size() + 7) / 8);
  for (size_t i = step - 1; i < all.size(); i += step)
    out += fmt::format("{:>16} {:>12} {:>12} {:>12}\n", i * t.insight()->sample_width(),
                       all[i].first, all[i].normal, all[i].last);
}

void print_compare(std::string& out, const Tracker& t) {
  if (t.without_hints() == nullptr) return;
  out += fmt::format("\nwhat hints did, {:<16} {:>14} {:>14} {:>9}\n", t.preset().name, "kept",
                     "ignored", "change");
  for (const Total& x : totals(t)) {
    if (x.kept == 0 && x.ignored == 0) continue;
    const std::string change =
        x.ignored == 0
            ? ""
            : fmt::format(
                  "{:+.1f} %",
                  100.0 * (static_cast<double>(x.kept) / static_cast<double>(x.ignored) - 1));
    out += fmt::format("{:<32} {:>14} {:>14} {:>9}\n", x.name, x.kept, x.ignored,
                       x.kept == x.ignored ? "" : change);
  }
  size_t shown = 0, hinted = 0;
  for (const uint32_t site : reported_sites(t)) {
    hinted += hints_of(t.sites()[site]).empty() ? 0 : 1;
    const std::string text = sentence(t, site);
    if (!text.empty() && shown++ < 20) out += text + "\n";
  }
  if (shown > 20) out += fmt::format("{} more instructions are in the JSON report\n", shown - 20);
  if (hinted == 0) out += "no instruction has a hint\n";
  for (const Cache c : kBoth) {
    std::vector<Pushed> all = evictions(t, c);
    if (all.empty()) continue;
    out += fmt::format("\nwho evicted whom from {:<2} {:>54} {:>12} {:>12}\n", name(c), "", "kept",
                       "ignored");
    for (size_t i = 0; i < std::min<size_t>(all.size(), 12); ++i)
      out += fmt::format("{:<38.38} evicted {:<32.32} {:>12} {:>12}\n", site_name(t, all[i].by),
                         site_name(t, all[i].of), all[i].kept, all[i].ignored);
    if (all.size() > 12) out += fmt::format("{} more pairs\n", all.size() - 12);
  }
  print_occupancy(out, t);
}

Json class_lines(const Tracker& t) {
  Json columns = Json::array();
  for (const Occupancy& o : t.insight()->occupancy())
    columns.push_back({{"first", o.first}, {"normal", o.normal}, {"last", o.last}});
  return {
      {"wave_instructions_per_sample", t.insight()->sample_width()},
      {"evict_last_limit", t.preset().l2.infinite ? Json() : Json(t.engine().persisting_limit())},
      {"samples", std::move(columns)}};
}

Json site_json(uint32_t site) {
  if (site == kNoContext) return nullptr;
  return site;
}

Json compare_data(const Tracker& t) {
  Json j = {{"totals", Json::object()},
            {"instructions", Json::array()},
            {"evictions", Json::object()},
            {"l2_lines_by_class",
             {{"kept", class_lines(t)}, {"ignored", class_lines(*t.without_hints())}}}};
  for (const Total& x : totals(t)) j["totals"][x.name] = {{"kept", x.kept}, {"ignored", x.ignored}};
  for (const uint32_t site : reported_sites(t)) {
    const SiteCosts kept = costs(t, site), ignored = costs(*t.without_hints(), site);
    Json one = {{"instruction", site},
                {"pc", t.sites()[site].pc},
                {"hints", hints_of(t.sites()[site])},
                {"sentence", sentence(t, site)}};
    for (size_t i = 0; i < SiteCosts::kCount; ++i)
      one[SiteCosts::kKeys[i]] = {{"kept", kept.of[i]}, {"ignored", ignored.of[i]}};
    j["instructions"].push_back(std::move(one));
  }
  for (const Cache c : kBoth) {
    Json& list = j["evictions"][std::string(name(c))] = Json::array();
    for (const Pushed& p : evictions(t, c))
      list.push_back({{"by", site_json(p.by)},
                      {"of", site_json(p.of)},
                      {"kept", p.kept},
                      {"ignored", p.ignored}});
  }
  return j;
}

// --- reuse distances ------------------------------------------------------------------------

constexpr const char* kStreamKeys[kAsked] = {"all", "l1", "l2"};
constexpr const char* kStreamNames[kAsked] = {"all SMs, no L1", "each SM's L1", "L2 behind L1"};

uint32_t stream_line(const Tracker& t, size_t stream) {
  return stream == static_cast<size_t>(Asked::l1) ? t.preset().l1.line : t.insight()->line_bytes();
}

std::string size_text(uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string miss_percent(const ReuseCurve& c, uint64_t lines) {
  if (c.uses() == 0) return "-";
  return fmt::format("{:.1f}",
                     100.0 * static_cast<double>(c.misses(lines)) / static_cast<double>(c.uses()));
}

/// Powers of two of bytes, up to one that holds all that is ever used again.
std::vector<uint64_t> sizes_to_print(const Tracker& t) {
  uint64_t most = 0;
  for (size_t s = 0; s < kAsked; ++s) {
    const auto points = t.insight()->reuse(static_cast<Asked>(s)).points();
    most = std::max(most, points.back().lines * stream_line(t, s));
  }
  std::vector<uint64_t> sizes;
  for (uint64_t size = 1024;; size *= 4) {
    sizes.push_back(size);
    if (size >= most || sizes.size() == 12) return sizes;
  }
}

void print_reuse(std::string& out, const Tracker& t) {
  const Insight& insight = *t.insight();
  const std::vector<uint64_t> sizes = sizes_to_print(t);
  out += fmt::format("\nmiss % of an LRU cache without sets, {}\n{:<40} {:>12}", t.preset().name,
                     "", "lines asked");
  for (const uint64_t size : sizes) out += fmt::format(" {:>8}", size_text(size));
  out += fmt::format(" {:>8}\n", "any size");
  const auto row = [&](const std::string& label, const ReuseCurve& c, uint32_t line) {
    if (c.uses() == 0) return;
    out += fmt::format("{:<40.40} {:>12}", label, c.uses());
    for (const uint64_t size : sizes) out += fmt::format(" {:>8}", miss_percent(c, size / line));
    out += fmt::format(" {:>8}\n", miss_percent(c, ~uint64_t{0}));
  };
  for (size_t s = 0; s < kAsked; ++s)
    row(kStreamNames[s], insight.reuse(static_cast<Asked>(s)), stream_line(t, s));
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < t.sites().size(); ++i)
    if (insight.of_site(i).reuse[0].uses() != 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return insight.of_site(a).reuse[0].uses() > insight.of_site(b).reuse[0].uses();
  });
  if (order.size() > 20) order.resize(20);
  for (const uint32_t i : order)
    row("  " + site_name(t, i, 32), insight.of_site(i).reuse[0], stream_line(t, 0));
}

Json curve(const ReuseCurve& c) {
  Json points = Json::array();
  for (const ReuseCurve::Point& p : c.points()) points.push_back({p.lines, p.misses});
  return {
      {"uses", c.uses()}, {"first_uses", c.first_uses()}, {"misses_by_lines", std::move(points)}};
}

Json reuse_data(const Tracker& t) {
  Json j = Json::object();
  for (size_t s = 0; s < kAsked; ++s) {
    Json one = curve(t.insight()->reuse(static_cast<Asked>(s)));
    one["line_bytes"] = stream_line(t, s);
    one["instructions"] = Json::array();
    for (uint32_t i = 0; i < t.sites().size(); ++i) {
      const ReuseCurve& c = t.insight()->of_site(i).reuse[s];
      if (c.uses() == 0) continue;
      Json site = curve(c);
      site["instruction"] = i;
      site["pc"] = t.sites()[i].pc;
      one["instructions"].push_back(std::move(site));
    }
    j[kStreamKeys[s]] = std::move(one);
  }
  return j;
}

// --- sets -----------------------------------------------------------------------------------

Json causes_data(const MissCauses& n) {
  return {{"first_use", n.first},
          {"capacity", n.capacity},
          {"conflict", n.conflict},
          {"invalidated", n.invalidated}};
}

/// Lines that each set of L2 holds now.
std::vector<uint32_t> held(const Tracker& t) {
  const Level& l2 = t.engine().l2();
  std::vector<uint32_t> lines(t.insight()->sets(Cache::l2).size());
  if (lines.empty()) return lines;
  for (uint32_t i = 0; i < l2.slots(); ++i)
    if (!l2.line(i).empty()) ++lines[l2.set_of(l2.line(i).address)];
  return lines;
}

void print_sets(std::string& out, const Tracker& t) {
  out += fmt::format("\nmissing lines, {:<16} {:>12} {:>12} {:>12} {:>12}\n", t.preset().name,
                     "first use", "capacity", "conflict", "invalidated");
  const auto row = [&](const std::string& label, const MissCauses& n) {
    if (n.all() != 0)
      out += fmt::format("{:<31.31} {:>12} {:>12} {:>12} {:>12}\n", label, n.first, n.capacity,
                         n.conflict, n.invalidated);
  };
  for (size_t c = 0; c < 2; ++c) {
    row(std::string(name(kBoth[c])), t.insight()->causes(kBoth[c]));
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < t.sites().size(); ++i)
      if (t.insight()->of_site(i).causes[c].all() != 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const MissCauses &x = t.insight()->of_site(a).causes[c],
                       &y = t.insight()->of_site(b).causes[c];
      return std::pair(x.conflict, x.all()) > std::pair(y.conflict, y.all());
    });
    if (order.size() > 10) order.resize(10);
    for (const uint32_t i : order) row("  " + site_name(t, i), t.insight()->of_site(i).causes[c]);
  }
  for (const Cache c : kBoth) {
    const std::vector<SetUse>& sets = t.insight()->sets(c);
    if (sets.empty()) continue;
    std::vector<uint32_t> order;
    uint64_t requests = 0;
    for (uint32_t i = 0; i < sets.size(); ++i) {
      requests += sets[i].requests;
      if (sets[i].requests != 0) order.push_back(i);
    }
    if (order.empty()) continue;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(sets[a].conflicts, sets[a].evictions, sets[a].requests) >
             std::tuple(sets[b].conflicts, sets[b].evictions, sets[b].requests);
    });
    const uint64_t most =
        sets[*std::max_element(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
          return sets[a].requests < sets[b].requests;
        })].requests;
    out += fmt::format(
        "\n{}: {} of {} sets are used; the busiest has {:.2f} times the requests of an even "
        "share\n",
        name(c), order.size(), sets.size(),
        static_cast<double>(most) * static_cast<double>(sets.size()) /
            static_cast<double>(requests));
    out += fmt::format("{:>8} {:>12} {:>12} {:>12} {:>12}\n", "set", "requests", "misses",
                       "conflicts", "evictions");
    if (order.size() > 8) order.resize(8);
    for (const uint32_t i : order)
      out += fmt::format("{:>8} {:>12} {:>12} {:>12} {:>12}\n", i, sets[i].requests, sets[i].misses,
                         sets[i].conflicts, sets[i].evictions);
  }
}

Json sets_data(const Tracker& t) {
  Json j = Json::object();
  for (size_t c = 0; c < 2; ++c) {
    Json one = {{"missing_lines", causes_data(t.insight()->causes(kBoth[c]))},
                {"instructions", Json::array()},
                {"sets", Json::array()}};
    for (uint32_t i = 0; i < t.sites().size(); ++i) {
      const MissCauses& n = t.insight()->of_site(i).causes[c];
      if (n.all() == 0) continue;
      Json site = causes_data(n);
      site["instruction"] = i;
      site["pc"] = t.sites()[i].pc;
      one["instructions"].push_back(std::move(site));
    }
    for (const SetUse& s : t.insight()->sets(kBoth[c]))
      one["sets"].push_back({s.requests, s.misses, s.conflicts, s.evictions});
    if (kBoth[c] == Cache::l2) one["lines_held"] = held(t);
    j[std::string(name(kBoth[c]))] = std::move(one);
  }
  return j;
}

}  // namespace

std::string insight_text(const Tracker& t) {
  std::string out;
  if (t.insight() == nullptr) return out;
  if (t.options().compare) print_compare(out, t);
  if (t.options().reuse) print_reuse(out, t);
  if (t.options().sets) print_sets(out, t);
  return out;
}

Json insight_data(const Tracker& t) {
  Json j = Json::object();
  if (t.insight() == nullptr) return j;
  if (t.options().compare && t.without_hints() != nullptr) j["hints"] = compare_data(t);
  if (t.options().reuse) j["reuse"] = reuse_data(t);
  if (t.options().sets) j["sets"] = sets_data(t);
  return j;
}

}  // namespace lanewise::cache
