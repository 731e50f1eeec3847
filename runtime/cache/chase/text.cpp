#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/cache/chase/method.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::cache {
namespace {

constexpr const char* kWayNames[] = {"ld.global.ca", "ld.global.nc", "ld.global.cg"};
std::string way_name(ChaseWay way) {
  return kWayNames[static_cast<size_t>(way)];
}

std::string bytes_text(uint64_t bytes) {
  if (bytes == 0) return "?";
  if (bytes % (1U << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string number(uint64_t n) {
  return n == 0 ? "?" : std::to_string(n);
}

std::string policies_text(const ChasedCache& c) {
  std::string all;
  for (const Policy* p : c.policies) all += fmt::format("{}{}", all.empty() ? "" : " or ", p->name);
  return all.empty() ? "?" : all;
}

void print(std::string& out, const char* name, const ChasedCache& c) {
  if (!c.found) {
    out += fmt::format("{:5} {:>10}\n", name, "no cache answers");
    return;
  }
  out +=
      fmt::format("{:5} {:>10} {:>8} {:>6} {:>6} {:>6} {:>6}  {:18} {:8} {:13} {:.1f}\n", name,
                  c.evicts ? bytes_text(c.bytes()) : "> " + bytes_text(c.tried), number(c.lines),
                  number(c.line), number(c.fetch), number(c.ways), number(c.sets), policies_text(c),
                  !c.modulo   ? "?"
                  : *c.modulo ? "modulo"
                              : "hashed",
                  way_name(c.way), c.hit);
}

nlohmann::ordered_json json_of(const ChasedCache& c) {
  nlohmann::ordered_json j = {{"found", c.found}};
  if (!c.found) return j;
  j["instruction"] = way_name(c.way);
  j["hit"] = c.hit;
  j["miss"] = c.miss;
  j["evicts"] = c.evicts;
  j["bytes"] = c.bytes();
  j["lines"] = c.lines;
  j["line"] = c.line;
  j["fetch"] = c.fetch;
  j["ways"] = c.ways;
  j["sets"] = c.sets;
  j["index"] = !c.modulo ? nlohmann::ordered_json()
                         : nlohmann::ordered_json(*c.modulo ? "modulo" : "hashed");
  j["replacement"] = nlohmann::ordered_json::array();
  for (const Policy* p : c.policies) j["replacement"].push_back(p->name);
  j["longest_list_bytes"] = c.tried;
  j["notes"] = c.notes;
  return j;
}

}  // namespace

std::string chase_text(const ChaseResult& r, const ChaseTarget& target) {
  std::string out = fmt::format(
      "{:5} {:>10} {:>8} {:>6} {:>6} {:>6} {:>6}  {:18} {:8} {:13} hit, in {}\n", "cache", "size",
      "lines", "line", "fetch", "ways", "sets", "replacement", "index", "asked by", target.unit());
  print(out, "L1", r.l1);
  print(out, "L2", r.l2);
  for (const auto& [name, c] : {std::pair{"L1", &r.l1}, {"L2", &r.l2}})
    for (const std::string& note : c->notes) out += fmt::format("{}: {}\n", name, note);
  out +=
      "sets are those of all slices together; slices, sharing and what stores do cannot be seen "
      "this way\n";
  return out;
}

std::string chase_json(const ChaseResult& r, const ChaseTarget& target) {
  nlohmann::ordered_json j = {{"unit", target.unit()},
                              {"noise", target.noise()},
                              {"l1", json_of(r.l1)},
                              {"l2", json_of(r.l2)}};
  return json_document(std::move(j));
}

}  // namespace lanewise::cache
