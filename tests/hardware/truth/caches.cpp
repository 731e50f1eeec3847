// Caches of the card: latencies by footprint, what a pointer chase recovers, and what cache
// operators and policies change in hit rates, beside what the tracker predicts for gh100.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/chase/method.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"
#include "tests/hardware/truth/card_caches.hpp"

namespace lanewise::truth {
namespace {

using cache::ChaseWay;
using kit::Json;

constexpr uint64_t kMiB = 1 << 20;

std::vector<uint64_t> chain(uint64_t bytes, uint64_t stride) {
  std::vector<uint64_t> round;
  for (uint64_t at = 0; at < bytes; at += stride) round.push_back(at);
  return round;
}

void print_latency(const std::string& name, const char* load, uint64_t bytes, uint64_t stride,
                   double cycles, double model) {
  Json row = kit::figure(fmt::format("{}/{}/{}/{}", name, load, stride, bytes), cycles, "cycles");
  if (model != 0) row["model"] = model;  // 1: from L1, 8: from L2, 32: from memory
  kit::print_row(row);
}

}  // namespace

bool latency_table(Bench& bench, const std::string& name) {
  const uint64_t l2 = static_cast<uint64_t>(std::max(bench.card.facts().l2_bytes, 1 << 20));
  const uint64_t most = bench.small ? 4096 : 4 * l2;
  const auto card = card_target(bench.card, most + 8192);
  const auto model = cache::modelled_target(cache::load_preset(bench.preset));
  constexpr const char* kLoads[] = {"ca", "nc", "cg"};
  for (const ChaseWay way : {ChaseWay::l1, ChaseWay::read_only, ChaseWay::l2})
    for (const uint64_t stride : {32, 64, 128}) {
      if (bench.small && stride != 128) continue;
      // Three sizes to each power of two, of whole lines.
      for (uint64_t size = 1024; size <= most; size *= 2)
        for (const uint64_t bytes : {size, size * 5 / 4, size * 3 / 2}) {
          // From half of L2 on one stride is enough: each list takes long.
          if (bytes > most || (stride != 128 && bytes > l2 / 2)) continue;
          const auto round = chain(bytes / 128 * 128, stride);
          print_latency(name, kLoads[static_cast<size_t>(way)], bytes / 128 * 128, stride,
                        card->time(way, round), model->time(way, round));
        }
    }
  for (const uint32_t stride : {16, 64, 256})
    for (uint32_t bytes = 512; bytes <= (bench.small ? 512U : 65536U);
         bytes += std::max(256U, bytes / 4 / 256 * 256))
      print_latency(name, "const", bytes, stride, constant_cycles(bench.card, bytes, stride), 0);
  return true;
}

namespace {

Json chased(const std::string& name, const std::string& what, cache::ChaseTarget& target) {
  const cache::ChaseResult r = cache::chase(target);
  Json row = {{"kind", "truth"},
              {"name", fmt::format("{}/{}", name, what)},
              {"table", name},
              {"state", "measured"}};
  row["found"] = Json::parse(cache::chase_json(r, target), nullptr, false);
  row["text"] = cache::chase_text(r, target);
  return row;
}

/// Of what was found, what the preset says otherwise.
std::string unlike(const Json& found, const cache::Geometry& g) {
  std::string text;
  const auto field = [&](const char* key, uint64_t ours) {
    if (!found.contains(key) || found[key] == ours) return;
    text += fmt::format("{}{}: card {}, preset {}", text.empty() ? "" : "; ", key,
                        found[key].dump(), ours);
  };
  field("bytes", g.bytes());
  field("line", g.line);
  field("ways", g.ways);
  field("sets", uint64_t{g.slices} * g.sets);
  return text;
}

void print_chased(Json row, std::initializer_list<std::pair<const char*, cache::Geometry>> levels) {
  for (const auto& [level, geometry] : levels) {
    const std::string what = unlike(row["found"][level], geometry);
    if (!what.empty()) row[std::string("unlike_") + level] = what;
  }
  kit::print_row(row);
}

}  // namespace

bool chase_table(Bench& bench, const std::string& name) {
  const cache::Preset preset = cache::load_preset(bench.preset);
  const uint64_t l2 = static_cast<uint64_t>(std::max(bench.card.facts().l2_bytes, 1 << 20));
  const auto constants = constant_target(bench.card);
  if (bench.small) return true;
  if (preset.constant.present) {
    Json row = chased(name, "constant", *constants);
    row.erase("text");  // the global caches are not in it
    row["found"].erase("l2");
    row["found"]["l1"]["instruction"] = "ld.const";
    print_chased(row, {{"l1", preset.constant}});
  }
  const auto target = card_target(bench.card, std::max(16 * kMiB, 12 * l2));
  Json row = chased(name, "global", *target);
  row["preset"] = bench.preset;
  row["l1_slices"] = preset.l1.slices;
  row["l2_slices"] = preset.l2.slices;
  print_chased(row, {{"l1", preset.l1}, {"l2", preset.l2}});
  return true;
}

}  // namespace lanewise::truth
