#include "runtime/reference/perf/profile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

namespace lanewise::reference {
namespace {

constexpr uint64_t kSector = 32, kBankWord = 4, kBanks = 32;

size_t distinct(std::vector<uint64_t>& values) {
  std::ranges::sort(values);
  return static_cast<size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

/// Numbers of all units of this size that the access touches.
std::vector<uint64_t> units_of(const WaveBytes& a, uint64_t unit) {
  std::vector<uint64_t> all;
  for (const auto& [lane, address] : a.lanes)
    for (uint64_t n = address / unit; n <= (address + a.bytes - 1) / unit; ++n) all.push_back(n);
  return all;
}

/// Lanes whose words pass the banks together: as many as have 128 bytes.
uint32_t lanes_of_pass(const WaveBytes& a) {
  return static_cast<uint32_t>(kBanks * kBankWord / std::max<uint64_t>(a.bytes, kBankWord));
}

template <typename Each>
void for_each_part(const WaveBytes& a, const Each& each) {
  const uint32_t size = std::max(lanes_of_pass(a), 1U);
  std::map<uint32_t, WaveBytes> parts;
  for (const auto& lane : a.lanes) {
    WaveBytes& part = parts[lane.first / size];
    part.bytes = a.bytes;
    part.lanes.push_back(lane);
  }
  for (const auto& [number, part] : parts) each(part);
}

constexpr std::array kKinds = {"global", "shared", "local", "branch", "f32", "f64"};
constexpr std::array kWhats = {"load",   "store", "atomic", "reduction",
                               "branch", "add",   "mul",    "fma"};

}  // namespace

uint64_t sectors_of(const WaveBytes& access) {
  std::vector<uint64_t> all = units_of(access, kSector);
  return distinct(all);
}

uint64_t least_sectors_of(const WaveBytes& access) {
  std::vector<uint64_t> bytes = units_of(access, 1);
  return (distinct(bytes) + kSector - 1) / kSector;
}

uint64_t local_sectors_of(const WaveBytes& access) {
  constexpr uint64_t kLanesOfSector = kSector / kBankWord;
  std::vector<uint64_t> all;
  for (const auto& [lane, address] : access.lanes)
    for (uint64_t n = address / kBankWord; n <= (address + access.bytes - 1) / kBankWord; ++n)
      all.push_back(n << 8 | lane / kLanesOfSector);
  return distinct(all);
}

uint64_t passes_of(const WaveBytes& access) {
  uint64_t passes = 0;
  for_each_part(access, [&](const WaveBytes& part) {
    std::vector<uint64_t> words = units_of(part, kBankWord);
    words.resize(distinct(words));
    std::array<uint64_t, kBanks> load{};
    for (const uint64_t word : words) ++load[word % kBanks];
    passes += *std::ranges::max_element(load);
  });
  return passes;
}

uint64_t least_passes_of(const WaveBytes& access) {
  uint64_t parts = 0;
  for_each_part(access, [&](const WaveBytes&) { ++parts; });
  return parts;
}

uint64_t same_address_of(const WaveBytes& access) {
  std::map<uint64_t, uint64_t> lanes;
  uint64_t most = 0;
  for (const auto& [lane, address] : access.lanes) most = std::max(most, ++lanes[address]);
  return most;
}

Profile::Profile(const ir::Program& program) : program_(program), parts_(program.sites.size()) {
  for (const ir::Block& block : program.blocks)
    for (const ir::Inst& inst : block.insts)
      if (inst.mem && ir::info(inst.op).trait == ir::OpTrait::mem && inst.site < parts_.size())
        ++parts_[inst.site];
}

void Profile::access(uint32_t site, Kind kind, What what, const WaveBytes& a) {
  Cost& c = costs_[{site, kind, what}];
  ++c.executed;
  if (a.lanes.empty()) return;
  ++c.requests;
  c.lanes += a.lanes.size();
  if (kind == Kind::shared) {
    c.passes += passes_of(a);
    c.least_passes += least_passes_of(a);
  } else {
    c.sectors += kind == Kind::local ? local_sectors_of(a) : sectors_of(a);
    c.least_sectors += kind == Kind::local ? (a.lanes.size() * a.bytes + kSector - 1) / kSector
                                           : least_sectors_of(a);
  }
  if (what == What::atomic || what == What::reduction) c.serial += same_address_of(a);
}

void Profile::branch(uint32_t site, uint64_t active, uint64_t taken) {
  Cost& c = costs_[{site, Kind::branch, What::branch}];
  ++c.executed;
  c.lanes += static_cast<uint64_t>(std::popcount(active));
  if (taken != 0 && taken != active) ++c.divergent;
}

void Profile::arithmetic(uint32_t site, Kind kind, What what, uint64_t lanes) {
  Cost& c = costs_[{site, kind, what}];
  ++c.executed;
  c.lanes += static_cast<uint64_t>(std::popcount(lanes));
}

std::string Profile::json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [key, c] : costs_) {
    if (key.site >= program_.sites.size()) continue;
    const ir::Site& s = program_.sites[key.site];
    rows.push_back({{"text", s.text},
                    {"pc", s.pc},
                    {"line", s.line},
                    {"source", s.source_file},
                    {"source_line", s.source_line},
                    {"space", kKinds[static_cast<size_t>(key.kind)]},
                    {"op", kWhats[static_cast<size_t>(key.what)]},
                    {"parts", parts_[key.site]},
                    {"executed", c.executed},
                    {"requests", c.requests},
                    {"lanes", c.lanes},
                    {"sectors", c.sectors},
                    {"least_sectors", c.least_sectors},
                    {"passes", c.passes},
                    {"least_passes", c.least_passes},
                    {"serial", c.serial},
                    {"divergent", c.divergent}});
  }
  return rows.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace lanewise::reference
