// The page is report_page.html with the data put in: everything is drawn by its own script.
#include <algorithm>

#include "runtime/cache/presets/embedded_presets.hpp"
#include "runtime/cache/reports/report_data.hpp"

namespace lanewise::cache {
namespace {

constexpr size_t kLinesShown = 12;

Json geometry(const Geometry& g) {
  return {{"bytes", g.infinite ? 0 : g.bytes()}, {"line", g.line}, {"sector", g.sector},
          {"sets", g.sets * g.slices},           {"ways", g.ways}, {"infinite", g.infinite}};
}

Json heat(const Profile& p) {
  Json requests = Json::array(), misses = Json::array(), written = Json::array();
  for (uint32_t r = 0; r < p.rows(); ++r)
    for (uint32_t c = 0; c < p.columns_used(); ++c) {
      requests.push_back(p.cell(r, c).requests);
      misses.push_back(p.cell(r, c).misses);
      written.push_back(p.cell(r, c).write_backs);
    }
  return {{"rows", p.rows()},
          {"columns", p.columns_used()},
          {"width", p.column_width()},
          {"sets", p.sets()},
          {"cells", {{"misses", misses}, {"requests", requests}, {"write backs", written}}}};
}

/// Lines of findings first, then those that went to memory most often.
Json stories(const Tracker& t) {
  std::vector<const LineStory*> order;
  std::vector<uint64_t> accused;
  for (const Finding& f : t.findings()) accused.push_back(f.address & ~(kBlockBytes - 1));
  for (const auto& [block, story] : t.profile()->lines()) order.push_back(&story);
  const auto rank = [&](const LineStory* s) {
    const bool named = std::find(accused.begin(), accused.end(), s->block) != accused.end();
    return std::tuple(!named, ~s->misses, ~s->accesses, s->block);
  };
  std::sort(order.begin(), order.end(),
            [&](const LineStory* a, const LineStory* b) { return rank(a) < rank(b); });
  if (order.size() > kLinesShown) order.resize(kLinesShown);
  Json list = Json::array();
  for (const LineStory* s : order) {
    Json events = Json::array();
    for (const LineEvent& e : s->events())
      events.push_back({e.context, e.site, e.sm, static_cast<unsigned>(e.outcome)});
    list.push_back({{"where", t.describe(s->block)},
                    {"accesses", s->accesses},
                    {"misses", s->misses},
                    {"dropped", s->dropped},
                    {"later", s->later},
                    {"events", events}});
  }
  return list;
}

}  // namespace

std::string html_report(std::span<const Tracker* const> runs) {
  Json j = report_data(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    Json& p = j["presets"][i];
    p["title"] = runs[i]->preset().title;
    p["l1"] = geometry(runs[i]->preset().l1);
    p["l2"] = geometry(runs[i]->preset().l2);
    if (runs[i]->profile() == nullptr) continue;
    p["heat"] = heat(*runs[i]->profile());
    p["lines"] = stories(*runs[i]);
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
