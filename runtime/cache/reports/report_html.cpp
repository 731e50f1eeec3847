// The page is made of reports/page/ when the program is built, with the data put in: everything is
// drawn by its own script.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "runtime/cache/presets/embedded_presets.hpp"
#include "runtime/cache/presets/knobs.hpp"
#include "runtime/cache/reports/report_data.hpp"
#include "runtime/cache/reports/source_text.hpp"

namespace lanewise::cache {
namespace {

constexpr size_t kFoundLinesShown = 64, kLinesShown = 12;

Json geometry(const Geometry& g) {
  return {{"bytes", g.infinite ? 0 : g.bytes()}, {"line", g.line}, {"sector", g.sector},
          {"sets", g.sets * g.slices},           {"ways", g.ways}, {"infinite", g.infinite}};
}

/// Addresses have more bits than a script's numbers, so they travel as text.
std::string hex(uint64_t address) {
  return fmt::format("{:#x}", address);
}

/// Cells that are not empty: where they are (row * columns + column), and each count.
class Cells {
 public:
  explicit Cells(uint32_t columns) : columns_(columns) {
    each_heat_field(none_, [&](const char* name, uint64_t) { json_[name] = Json::array(); });
    json_["index"] = Json::array();
  }
  void row(const HeatRow& row) {
    for (uint32_t c = 0; c < columns_; ++c) {
      if (row.at(c) == none_) continue;
      json_["index"].push_back(uint64_t{rows_} * columns_ + c);
      each_heat_field(row.at(c), [&](const char* name, uint64_t n) { json_[name].push_back(n); });
    }
    ++rows_;
  }
  Json take() { return std::move(json_); }

 private:
  const HeatCell none_;
  uint32_t columns_, rows_ = 0;
  Json json_;
};

Json heat_map(const NumberedHeat& map, uint32_t columns, const char* one) {
  Cells cells(columns);
  Json labels = Json::array();
  for (uint32_t r = 0; r < map.rows(); ++r) {
    cells.row(map.row(r));
    const uint32_t first = map.first(r), last = map.first(r + 1) - 1;
    labels.push_back(first == last ? fmt::format("{} {}", one, first)
                                   : fmt::format("{} {}-{}", one, first, last));
  }
  return {{"rows", labels}, {"cells", cells.take()}};
}

Json heat_map(const Tracker& t, const AddressHeat& map, uint32_t columns) {
  Cells cells(columns);
  Json labels = Json::array();
  for (const auto& [band, row] : map.rows()) {
    cells.row(row);
    labels.push_back(t.describe(band * map.band_bytes()));
  }
  return {{"rows", labels}, {"band", map.band_bytes()}, {"cells", cells.take()}};
}

Json heat(const Tracker& t) {
  const Profile& p = *t.profile();
  const uint32_t columns = p.columns_used();
  return {{"columns", columns},
          {"width", p.column_width()},
          {"maps",
           {{"address", heat_map(t, p.by_address(), columns)},
            {"SM", heat_map(p.by_sm(), columns, "SM")},
            {"L2 set", heat_map(p.by_set(), columns, "set")}}}};
}

Json history(const Tracker& t, const LineHistory& s) {
  Json events = Json::array();
  for (const LineEvent& e : s.events())
    events.push_back({e.context, e.site, e.sm, static_cast<unsigned>(e.outcome)});
  return {{"where", t.describe(s.block)},
          {"block", hex(s.block)},
          {"accesses", s.accesses},
          {"misses", s.misses},
          {"dropped", s.dropped},
          {"later", s.later},
          {"events", events}};
}

/// Lines of findings first, then those that went to memory most often.
Json histories(const Tracker& t) {
  std::vector<const LineHistory*> found, others;
  std::vector<uint64_t> accused;
  for (const Finding& f : t.findings()) accused.push_back(f.address & ~(kBlockBytes - 1));
  for (const auto& [block, one] : t.profile()->lines())
    (std::ranges::find(accused, block) != accused.end() ? found : others).push_back(&one);
  const auto rank = [](const LineHistory* s) {
    return std::tuple(~s->misses, ~s->accesses, s->block);
  };
  const auto first = [&](std::vector<const LineHistory*>& list, size_t most) {
    std::ranges::sort(list, {}, rank);
    if (list.size() > most) list.resize(most);
  };
  first(found, kFoundLinesShown);
  first(others, kLinesShown);
  Json list = Json::array();
  for (const LineHistory* s : found) list.push_back(history(t, *s));
  for (const LineHistory* s : others) list.push_back(history(t, *s));
  return list;
}

/// Sectors and bytes of a launch at each level; null where the trace does not say where it ends.
Json launches(const Tracker& t) {
  Json list = Json::array();
  for (const LaunchSpan& l : t.profile()->launches()) {
    const trace::Kernel& k = t.kernels().at(l.kernel);
    Json one = {{"kernel", k.name},
                {"grid", k.grid},
                {"block", k.block},
                {"wave_instructions", l.end - l.begin}};
    for (size_t i = 0; i < l.after.size(); ++i) {
      const auto n = [&](uint64_t LevelCounters::*field) {
        return l.after.at(i).*field - l.before.at(i).*field;
      };
      one[i == 0 ? "L1" : "L2"] =
          !l.ended ? Json()
                   : Json{{"hits", n(&LevelCounters::sector_hits)},
                          {"misses", n(&LevelCounters::sector_misses)},
                          {"write_hits", n(&LevelCounters::write_sector_hits)},
                          {"write_misses", n(&LevelCounters::write_sector_misses)},
                          {"fills", n(&LevelCounters::fills)},
                          {"write_back_bytes", n(&LevelCounters::write_back_bytes)}};
    }
    list.push_back(std::move(one));
  }
  return list;
}

/// The day the page was made, or the one that a reproducible build names.
std::string today() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = fixed != nullptr ? std::strtoll(fixed, nullptr, 10) : std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

Json sources(const Tracker& t) {
  Json list = Json::array();
  for (const SourceFile& file : source_files(t.sites(), t.options().source_folders)) {
    Json chunks = Json::array();
    for (const SourceLines& chunk : file.chunks)
      chunks.push_back({{"first", chunk.first}, {"text", chunk.text}});
    list.push_back({{"name", file.name}, {"why", file.why}, {"chunks", chunks}});
  }
  return list;
}

}  // namespace

std::string html_report(std::span<const Tracker* const> runs) {
  Json j = report_data(runs);
  j["sources"] = runs.empty() ? Json::array() : sources(*runs[0]);
  j["date"] = today();
  j["origin"] = runs.empty() ? "" : runs[0]->options().origin;
  const std::vector<Verdict> found = verdicts(runs);
  for (size_t i = 0; i < found.size(); ++i)
    j["findings"][i]["block"] = hex(found[i].finding.address & ~(kBlockBytes - 1));
  for (size_t i = 0; i < runs.size(); ++i) {
    Json& p = j["presets"][i];
    p["title"] = runs[i]->preset().title;
    p["geometry"] = Json::object();
    size_t cache = 0;  // each_cache() goes in the order of Cache
    each_cache(runs[i]->preset(), [&](const char*, const Geometry& g) {
      const auto c = static_cast<Cache>(cache++);
      if (g.present) p["geometry"][std::string(name(c))] = geometry(g);
    });
    if (runs[i]->profile() == nullptr) continue;
    p["heat"] = heat(*runs[i]);
    p["lines"] = histories(*runs[i]);
    p["launches"] = launches(*runs[i]);
  }
  // A name that holds "</script>" must not end the script.
  std::string data;
  for (const char c : text_of(j, -1))
    if (c == '<')
      data.append("\\u003c");
    else
      data.push_back(c);
  std::string page(report_page());
  const std::string_view mark = "/*DATA*/";
  page.replace(page.find(mark), mark.size(), data);
  return page;
}

}  // namespace lanewise::cache
