#include "runtime/bench/cache/cache_figures.hpp"

#include <algorithm>
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
  for (size_t i = 0; i < trace.size(); ++i) {
    const uint64_t address = trace[i] & ~uint64_t{1};
    Access a;
    a.block = block_of(address);
    a.mask = byte_range(static_cast<unsigned>(address - a.block), 32);
    a.context = static_cast<uint32_t>(i);
    engine.run((trace[i] & 1) != 0 ? store : load, a);
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
