#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/reports/report_data.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cache {

namespace {

Json side(const Tracker& t, uint32_t site, const Context& c, uint32_t context) {
  if (context == kNoContext) return nullptr;
  if (site == kNoContext) return {{"host", true}, {"seq", context}};
  const trace::Site& s = t.site_of(site);
  return {{"kernel", t.kernels()[s.kernel].name},
          {"pc", s.pc},
          {"file", s.file},
          {"line", s.line},
          {"text", s.text},
          {"group", c.group},
          {"wave", c.wave},
          {"sm", c.sm},
          {"seq", context}};
}

Json finding(const Verdict& v) {
  const Finding& f = v.finding;
  Json j = {{"id", rule(f.rule).id},
            {"title", rule(f.rule).title},
            {"severity", name(f.severity)},
            {"count", f.count},
            {"presets", v.presets},
            {"counts", by_preset(v)},
            {"where", v.tracker->describe(f.address)},
            {"address", f.address},
            {"bytes", f.bytes},
            {"message", f.message},
            {"at", side(*v.tracker, f.site, f.where, f.context)},
            {"other", side(*v.tracker, f.other_site, f.other_where, f.other_context)},
            {"version", f.version},
            {"newest_version", f.newest},
            {"line_history", f.line_history},
            {"fix", f.fix}};
  if (f.has_values) {
    j["value"] = f.value;
    j["newest_value"] = f.newest_value;
  }
  return j;
}

Json counters(const LevelCounters& n, const Engine::Dirty& left) {
  return {{"reads", n.reads},
          {"read_misses", n.read_misses},
          {"writes", n.writes},
          {"write_misses", n.write_misses},
          {"sector_hits", n.sector_hits},
          {"sector_misses", n.sector_misses},
          {"write_sector_hits", n.write_sector_hits},
          {"write_sector_misses", n.write_sector_misses},
          {"dirty_lines_left", left.lines},
          {"dirty_bytes_left", left.bytes},
          {"fills", n.fills},
          {"evictions", n.evictions},
          {"write_backs", n.write_backs},
          {"write_back_bytes", n.write_back_bytes},
          {"invalidated", n.invalidated},
          {"prefetches", n.prefetches},
          {"over_fetch", n.over_fetch},
          {"sectors_by_class",
           {{"normal", n.by_class[0]},
            {"first", n.by_class[1]},
            {"last", n.by_class[2]},
            {"unchanged", n.by_class[3]}}}};
}

constexpr const char* kSpaceNames[] = {"generic",  "global",      "local", "shared",
                                       "constant", "instruction", "crs"};
constexpr const char* kKinds[] = {"none", "load", "store", "atomic", "control", "fence", "fetch"};

Json site(const Tracker& t, const trace::Site& s, const SiteCounters& n) {
  Json j = {{"kernel", t.kernels().at(s.kernel).name},
            {"pc", s.pc},
            {"file", s.file},
            {"line", s.line},
            {"kind", kKinds[static_cast<size_t>(s.kind)]},
            {"space", kSpaceNames[static_cast<size_t>(s.space)]},
            {"text", s.text},
            {"instructions", n.instructions},
            {"lanes", n.lanes},
            {"requests", n.requests},
            {"hardware_requests", n.hardware_requests},
            {"sectors", n.sectors},
            {"bytes", n.bytes},
            {"l1_hits", n.l1_hits},
            {"l1_misses", n.l1_misses},
            {"l2_hits", n.l2_hits},
            {"l2_misses", n.l2_misses},
            {"l1_write_hits", n.l1_write_hits},
            {"l1_write_misses", n.l1_write_misses},
            {"l2_write_hits", n.l2_write_hits},
            {"l2_write_misses", n.l2_write_misses},
            {"stale", n.stale}};
  if (std::string policy = policy_of(s); !policy.empty()) j["policy"] = std::move(policy);
  return j;
}

Json sample(const Sample& s) {
  Json j = {{"rate", s.rate},     {"units", s.units},
            {"of", s.of},         {"sets_of_a_unit", s.sets_each},
            {"confidence", 0.95}, {"L2", Json::object()}};
  for (const Estimate& e : s.counters)
    j["L2"][std::string(e.counter)] = {{"estimate", e.value}, {"low", e.low}, {"high", e.high}};
  return j;
}

}  // namespace

Json by_preset(const Verdict& v) {
  Json j = Json::object();
  for (size_t i = 0; i < v.presets.size(); ++i) j[v.presets[i]] = v.counts[i];
  return j;
}

Json report_data(std::span<const Tracker* const> runs) {
  Json j = {{"findings", Json::array()}, {"presets", Json::array()}};
  for (const Verdict& v : verdicts(runs)) j["findings"].push_back(finding(v));
  if (!runs.empty() && !runs[0]->options().policies.empty()) {
    j["policies"] = Json::object();
    for (const auto& [name, value] : runs[0]->options().policies) j["policies"][name] = value;
  }
  for (const Tracker* t : runs) {
    Json p = {{"preset", t->preset().name},
              {"wave_instructions", t->records()},
              {"tracker_bytes", t->memory_bytes()},
              {"caches", Json::object()},
              {"instructions", Json::array()}};
    for (size_t i = 0; i < kCaches; ++i) {
      const auto c = static_cast<Cache>(i);
      const LevelCounters& n = t->counters(c);
      if (n.reads + n.writes + n.prefetches != 0)
        p["caches"][std::string(name(c))] = counters(n, t->dirty(c));
    }
    if (t->sample() != nullptr) p["sample"] = sample(*t->sample());
    for (size_t i = 0; i < t->sites().size(); ++i)
      p["instructions"].push_back(site(*t, t->sites()[i], t->site_counters()[i]));
    p.update(insight_data(*t));
    j["presets"].push_back(std::move(p));
  }
  return j;
}

std::string text_of(const Json& j, int indent) {
  // Names come from traces: what is not UTF-8 must not stop the report.
  return j.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_report(std::span<const Tracker* const> runs) {
  return json_document(report_data(runs));
}

}  // namespace lanewise::cache
