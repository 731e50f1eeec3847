#include "runtime/bench/cache/cache_figures.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "runtime/bench/cache/plain_cache.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::bench {
namespace {

using namespace cache;

constexpr size_t kAccesses = 20'000'000;
/// So many by the one, then the same by the other: what else the machine does slows both alike.
constexpr size_t kSlice = 500'000;

double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Preset preset_of_the_loop() {
  return parse_preset(R"({"name": "bench", "sms": 1,
    "l1": {"sets": 64, "ways": 4, "line": 128, "sector": 32},
    "l2": {"sets": 1024, "ways": 16, "line": 128, "sector": 32},
    "knobs": {"l1_store": "write_back", "fill": "line", "fetch_on_write": true}})",
                      "bench");
}

class EngineLoop {
 public:
  /// `first`: how many accesses came before these.
  void run(std::span<const PackedAccess> trace, size_t first) {
    std::array<PlainAccess, 256> accesses;
    for (size_t at = 0; at < trace.size(); at += accesses.size()) {
      const size_t count = std::min(accesses.size(), trace.size() - at);
      for (size_t i = 0; i < count; ++i) {
        const PackedAccess packed = trace[at + i];
        PlainAccess& a = accesses[i];
        a.block = block_of(packed);
        put(a.mask, sectors_[packed / 32 % 4]);
        a.context = static_cast<uint32_t>(first + at + i);
        a.write = -static_cast<uint32_t>(packed & 1);
      }
      // A host that reads on and on fetches ahead by itself; here it does something else between.
      for (size_t i = at + count; i < std::min(at + 2 * count, trace.size()); i += kPackedPerLine)
        __builtin_prefetch(&trace[i]);
      engine_.run_plain(load_, store_, std::span(accesses).first(count), 0);
    }
  }
  uint64_t misses(Cache cache) const {
    const LevelCounters& n = engine_.counters(cache);
    return n.read_misses + n.write_misses;
  }
  size_t memory_bytes() const { return engine_.memory_bytes(); }

 private:
  Engine engine_{preset_of_the_loop(), nullptr};
  const Plan load_ = engine_.plan(trace::ptx_site("ld.global.v8.b32"), trace::Space::global);
  const Plan store_ = engine_.plan(trace::ptx_site("st.global.v8.b32"), trace::Space::global);
  static constexpr size_t kPackedPerLine = 64 / sizeof(PackedAccess);
  static constexpr Sectors sectors_[4] = {
      {~0u, 0, 0, 0}, {0, ~0u, 0, 0}, {0, 0, ~0u, 0}, {0, 0, 0, ~0u}};
};

Figure measure(const std::string& name, unsigned repeats) {
  const std::vector<PackedAccess> trace = access_trace(name, kAccesses);
  Figure f{.name = "cache/" + name, .unit = "M accesses/s", .beside = "plain loop"};
  double best = 0;
  for (unsigned i = 0; i < std::max(1U, repeats); ++i) {
    PlainLoop plain;
    EngineLoop engine;
    double plain_time = 0, engine_time = 0;
    for (size_t at = 0; at < trace.size(); at += kSlice) {
      const auto slice = std::span(trace).subspan(at, std::min(kSlice, trace.size() - at));
      const double start = seconds();
      plain.run(slice);
      const double between = seconds();
      engine.run(slice, at);
      plain_time += between - start;
      engine_time += seconds() - between;
    }
    const uint64_t l1_misses = engine.misses(Cache::l1), l2_misses = engine.misses(Cache::l2);
    if (l1_misses != plain.misses().l1 || l2_misses != plain.misses().l2)
      f.wrong = "the miss counts differ";
    if (i != 0 && plain_time + engine_time > best) continue;
    best = plain_time + engine_time;
    const double millions = 1e-6 * static_cast<double>(trace.size());
    f.value = millions / engine_time;
    f.other = millions / plain_time;
    f.more = {{"l1_misses", static_cast<double>(l1_misses)},
              {"l2_misses", static_cast<double>(l2_misses)},
              {"tracker_bytes", static_cast<double>(engine.memory_bytes())}};
  }
  return f;
}

}  // namespace

std::vector<Benchmark> cache_benchmarks() {
  std::vector<Benchmark> all;
  for (const std::string name : {"stream", "rand64", "stride", "hot", "mix"})
    all.push_back({"cache/" + name, [name](unsigned repeats) { return measure(name, repeats); }});
  return all;
}

}  // namespace lanewise::bench
