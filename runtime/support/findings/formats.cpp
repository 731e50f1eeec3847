#include "runtime/support/findings/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "runtime/support/error.hpp"
#include "runtime/support/findings/rules.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/support/junit.hpp"
#include "runtime/support/sarif.hpp"

namespace lanewise::findings {
namespace {

using Json = sarif::Json;

std::string_view level_of(const Finding& f) {
  const Rule* rule = rule_named(f.rule);
  return rule != nullptr ? rule->level : "error";
}

std::string why_not(const Finding& f) {
  return f.suppressed.empty() ? "in the baseline: " + f.known : "suppressed by " + f.suppressed;
}

Json place_json(const Place& p) {
  Json j = {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"text", p.text}};
  if (!p.what.empty()) j["what"] = p.what;
  if (!p.thread.empty()) j["thread"] = p.thread;
  return j;
}

/// "store st.global.u32 [%rd1], %r1 by lane 3 of wave 0 in group (0,0,0)"
std::string place_text(const Place& p) {
  std::string out = p.what;
  if (!p.text.empty()) out += (out.empty() ? "" : ": ") + p.text;
  if (!p.thread.empty()) out += (out.empty() ? "" : ", ") + p.thread;
  return out;
}

/// A path as a URI reference.
std::string uri(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/._-~+=@,").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Json location(const Finding& f, const Place& p) {
  Json j = Json::object();
  if (!p.file.empty()) {
    Json& physical = j["physicalLocation"];
    physical["artifactLocation"]["uri"] = uri(p.file);
    if (p.line != 0) physical["region"]["startLine"] = p.line;
    if (p.line != 0 && p.column != 0) physical["region"]["startColumn"] = p.column;
  }
  if (!f.subject.empty())
    j["logicalLocations"] = Json::array({Json{{"name", f.subject}, {"kind", "function"}}});
  if (const std::string text = place_text(p); !text.empty()) j["message"]["text"] = text;
  return j;
}

/// Each lane is a thread of its own: the flow interleaves them by executionOrder.
Json code_flow(const Finding& f) {
  Json threads = Json::array();
  for (size_t i = 0; i < f.places.size(); ++i) {
    const Place& p = f.places[i];
    const auto same = std::ranges::find_if(
        threads, [&](const Json& t) { return !p.thread.empty() && t["id"] == p.thread; });
    Json step = {{"location", location(f, p)}, {"executionOrder", i + 1}};
    if (same != threads.end()) {
      (*same)["locations"].push_back(std::move(step));
    } else {
      const std::string id = p.thread.empty() ? fmt::format("place {}", i + 1) : p.thread;
      threads.push_back({{"id", id}, {"locations", Json::array({std::move(step)})}});
    }
  }
  return {{"threadFlows", std::move(threads)}};
}

Json sarif_result(const Finding& f, size_t rule, bool baseline) {
  Json j = {{"ruleId", f.rule},
            {"ruleIndex", rule},
            {"level", level_of(f)},
            {"message", {{"text", f.message}}},
            {"locations", Json::array({location(f, f.place())})},
            {"occurrenceCount", f.count}};
  if (f.places.size() > 1) {
    j["codeFlows"] = Json::array({code_flow(f)});
    for (size_t i = 0; i + 1 < f.places.size(); ++i)
      j["relatedLocations"].push_back(location(f, f.places[i]));
  }
  j["partialFingerprints"]["lanewise/v1"] = fmt::format("{:016x}", hash_text(f.key()));
  if (baseline) j["baselineState"] = f.known.empty() ? "new" : "unchanged";
  if (!f.suppressed.empty())
    j["suppressions"] = Json::array({Json{{"kind", "external"}, {"justification", why_not(f)}}});
  return j;
}

}  // namespace

std::string as_text(const Contents& c) {
  std::string out;
  uint64_t counted = 0;
  for (const Finding& f : c.findings) {
    counted += f.counts() ? 1 : 0;
    out += fmt::format("[{}] {}", f.rule, f.report.empty() ? f.message : f.report);
    if (!out.ends_with('\n')) out += '\n';
    if (f.count > 1) out += fmt::format("    {} times\n", f.count);
    if (!f.counts()) out += fmt::format("    {}\n", why_not(f));
  }
  return out + fmt::format("{} findings, {} of them suppressed or known\n", c.findings.size(),
                           c.findings.size() - counted);
}

std::string as_json(const Contents& c) {
  Json list = Json::array();
  for (const Finding& f : c.findings) {
    Json places = Json::array();
    for (const Place& p : f.places) places.push_back(place_json(p));
    Json j = {{"rule", f.rule},       {"level", level_of(f)}, {"subject", f.subject},
              {"message", f.message}, {"count", f.count},     {"places", std::move(places)},
              {"report", f.report}};
    if (!f.suppressed.empty()) j["suppressed"] = f.suppressed;
    if (!f.known.empty()) j["known"] = f.known;
    list.push_back(std::move(j));
  }
  return json_document(Json{{"subjects", c.subjects}, {"findings", std::move(list)}});
}

std::string as_sarif(const Contents& c) {
  Json rule_list = Json::array();
  std::vector<std::string> used;
  for (const Finding& f : c.findings)
    if (std::ranges::find(used, f.rule) == used.end()) used.push_back(f.rule);
  for (const std::string& id : used) {
    const Rule* rule = rule_named(id);
    rule_list.push_back(
        {{"id", id}, {"shortDescription", {{"text", rule != nullptr ? rule->what : id}}}});
  }
  Json results = Json::array();
  for (const Finding& f : c.findings)
    results.push_back(sarif_result(
        f, static_cast<size_t>(std::ranges::find(used, f.rule) - used.begin()), c.baseline));
  return sarif::text_of(sarif::document(std::move(rule_list), std::move(results)));
}

/// A case for each finding, which failed or was skipped, and one for each subject without any.
std::string as_junit(const Contents& c) {
  JunitReport out("lanewise");
  std::set<std::string> seen;
  for (const Finding& f : c.findings) {
    seen.insert(f.subject);
    const std::string name = fmt::format("{} at {}", f.rule, f.place().site());
    if (f.counts())
      out.fail(f.subject, name, f.rule, f.message, f.report);
    else
      out.skip(f.subject, name, why_not(f));
  }
  for (const std::string& subject : c.subjects)
    if (seen.insert(subject).second) out.pass(subject, "no findings");
  return out.text();
}

Format format_of(const std::string& path) {
  constexpr std::pair<const char*, Format> kFormats[] = {
      {".txt", as_text}, {".json", as_json}, {".sarif", as_sarif}, {".xml", as_junit}};
  for (const auto& [ending, format] : kFormats)
    if (path.ends_with(ending)) return format;
  throw Error(ErrorKind::usage,
              fmt::format("{}: findings are written as .txt, .json, .sarif or .xml (JUnit)", path));
}

}  // namespace lanewise::findings
