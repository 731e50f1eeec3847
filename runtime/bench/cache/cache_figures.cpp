#include "runtime/bench/cache/cache_figures.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "runtime/bench/cache/plain_cache.hpp"
#include "runtime/cache/engine.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::bench {
namespace {

using namespace cache;

constexpr size_t kAccesses = 20'000'000;

double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double rate(size_t accesses, double time) {
  return 1e-6 * static_cast<double>(accesses) / time;
}

Preset preset_of_the_loop() {
  return parse_preset(R"({"name": "bench", "sms": 1,
    "l1": {"sets": 64, "ways": 4, "line": 128, "sector": 32},
    "l2": {"sets": 1024, "ways": 16, "line": 128, "sector": 32},
    "knobs": {"l1_store": "write_back", "fill": "line", "fetch_on_write": true}})",
                      "bench");
}

void run_engine(Engine& engine, const std::vector<PackedAccess>& trace) {
  const Plan load = engine.plan(trace::ptx_site("ld.global.v8.b32"), trace::Space::global);
  const Plan store = engine.plan(trace::ptx_site("st.global.v8.b32"), trace::Space::global);
  std::array<Mask, 4> sectors;
  for (unsigned i = 0; i < 4; ++i) sectors[i] = byte_range(32 * i, 32);
  std::array<PlainAccess, 256> accesses;
  for (size_t at = 0; at < trace.size(); at += accesses.size()) {
    const size_t count = std::min(accesses.size(), trace.size() - at);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t packed = trace[at + i];
      accesses[i] = {block_of(packed), sectors[packed / 32 % 4], static_cast<uint32_t>(at + i),
                     -static_cast<uint32_t>(packed & 1)};
    }
    engine.run_plain(load, store, std::span(accesses).first(count), 0);
  }
}

Figure measure(const std::string& name, unsigned repeats) {
  const std::vector<PackedAccess> trace = access_trace(name, kAccesses);
  Figure f{.name = "cache/" + name, .unit = "M accesses/s", .beside = "plain loop"};
  for (unsigned i = 0; i < std::max(1U, repeats); ++i) {
    double start = seconds();
    const PlainMisses plain = run_plain(trace);
    f.other = std::max(f.other, rate(trace.size(), seconds() - start));
    Engine engine(preset_of_the_loop(), nullptr);
    start = seconds();
    run_engine(engine, trace);
    f.value = std::max(f.value, rate(trace.size(), seconds() - start));
    const LevelCounters& l1 = engine.counters(Cache::l1);
    const LevelCounters& l2 = engine.counters(Cache::l2);
    const uint64_t l1_misses = l1.read_misses + l1.write_misses;
    const uint64_t l2_misses = l2.read_misses + l2.write_misses;
    if (l1_misses != plain.l1 || l2_misses != plain.l2) f.wrong = "the miss counts differ";
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
