// SARIF 2.1.0: one run, a rule for each of H1 to H18, a result for each finding. Places are lines
// where the instruction stream names them, else the instruction as a logical location.
#include <fmt/format.h>

#include "runtime/cache/reports/report_data.hpp"
#include "runtime/support/sarif.hpp"

namespace lanewise::cache {
namespace {

const char* level(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

Json rules() {
  Json list = Json::array();
  for (unsigned i = 1; i <= kRules; ++i)
    list.push_back({{"id", rule(i).id}, {"shortDescription", {{"text", rule(i).title}}}});
  return list;
}

Json location(const Tracker& t, uint32_t site, const char* role) {
  const trace::Site& s = t.site_of(site);
  const std::string& kernel = t.kernels()[s.kernel].name;
  Json j = {{"message", {{"text", fmt::format("{}: {}", role, s.text)}}},
            {"logicalLocations",
             {{{"name", kernel},
               {"fullyQualifiedName", fmt::format("{}+{:#x}", kernel, s.pc)},
               {"kind", "function"}}}}};
  if (!s.file.empty() && s.line != 0)
    j["physicalLocation"] = {{"artifactLocation", {{"uri", s.file}}},
                             {"region", {{"startLine", s.line}}}};
  return j;
}

Json result(const Verdict& v) {
  const Finding& f = v.finding;
  Json j = {{"ruleId", rule(f.rule).id},
            {"ruleIndex", f.rule - 1},
            {"level", level(f.severity)},
            {"message",
             {{"text",
               fmt::format("{} ({}). Fix: {}", f.message, v.tracker->describe(f.address), f.fix)}}},
            {"occurrenceCount", f.count},
            {"locations", Json::array()},
            {"properties",
             {{"presets", v.presets}, {"counts", by_preset(v)}, {"lineHistory", f.line_history}}}};
  if (f.site != kNoContext) j["locations"].push_back(location(*v.tracker, f.site, "at"));
  if (f.other_context != kNoContext && f.other_site != kNoContext)
    j["relatedLocations"] = {location(*v.tracker, f.other_site, "other side")};
  return j;
}

}  // namespace

std::string sarif_report(std::span<const Tracker* const> runs) {
  Json results = Json::array();
  for (const Verdict& v : verdicts(runs)) results.push_back(result(v));
  return sarif::text_of(sarif::document(rules(), std::move(results)));
}

}  // namespace lanewise::cache
