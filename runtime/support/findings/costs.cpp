#include "runtime/support/findings/costs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace lanewise::findings {
namespace {

using nlohmann::json;

Place place_of(const json& row, const std::string& file) {
  Place p;
  p.text = row.at("text");
  p.file = row.at("source");
  p.line = row.at("source_line");
  if (p.file.empty() && row.at("line") != 0) {
    p.file = file;
    p.line = row.at("line");
  }
  return p;
}

}  // namespace

std::vector<std::pair<const char*, uint64_t Costs::Row::*>> Costs::numbers() {
  return {{"executed", &Row::executed}, {"requests", &Row::requests},
          {"sectors", &Row::sectors},   {"least_sectors", &Row::least_sectors},
          {"passes", &Row::passes},     {"least_passes", &Row::least_passes},
          {"serial", &Row::serial},     {"divergent", &Row::divergent}};
}

void Costs::add(const std::string& profile, const std::string& kernel, const std::string& file) {
  for (const json& row : json::parse(profile)) {
    Row& sum = rows_[{kernel, row.at("pc"), row.at("line"), row.at("text"), row.at("space"),
                      row.at("op")}];
    sum.place = place_of(row, file);
    for (const auto& [name, member] : numbers()) sum.*member += row.at(name).get<uint64_t>();
  }
}

std::vector<Finding> Costs::findings() const {
  std::vector<Finding> all;
  for (const auto& [key, n] : rows_) {
    const auto& [kernel, pc, line, text, space, op] = key;
    const auto add = [&, &of = kernel, &row = n](const char* rule, uint64_t times,
                                                 std::string what) {
      Finding f;
      f.rule = rule;
      f.subject = of;
      f.places = {row.place};
      f.message = what;
      f.report = fmt::format("{} [{}]: {}\n    {}", f.place().site(), rule, what, f.place().text);
      f.count = times;
      all.push_back(std::move(f));
    };
    if (space == "global" && n.sectors > n.least_sectors)
      add("perf-uncoalesced", n.requests,
          fmt::format("{} requests of waves took {} sectors of 32 bytes; their bytes fit {}",
                      n.requests, n.sectors, n.least_sectors));
    if (space == "shared" && n.passes > n.least_passes)
      add("perf-bank-conflict", n.requests,
          fmt::format("{} requests of waves took {} passes through the banks, {} without conflicts",
                      n.requests, n.passes, n.least_passes));
    if ((op == "atomic" || op == "reduction") && n.serial > n.requests)
      add("perf-atomic-conflict", n.requests,
          fmt::format("{} requests of waves took {} turns, as lanes have one address", n.requests,
                      n.serial));
    if (space == "local" && n.requests != 0)
      add("perf-local-memory", n.requests,
          fmt::format("{} requests of waves took {} sectors of local memory", n.requests,
                      n.sectors));
    if (n.divergent != 0)
      add("perf-divergent-branch", n.divergent,
          fmt::format("{} of {} executions parted the lanes of a wave", n.divergent, n.executed));
  }
  return all;
}

}  // namespace lanewise::findings
