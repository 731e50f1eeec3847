// The tracker's engine beside a plain two-level loop, on one core: what full state costs.
//
// Both model L1 32 KB (64 x 4 x 128 B) and L2 2 MB (1024 x 16 x 128 B), LRU, write back, write
// allocate; an access is one aligned 32-byte sector. The plain loop keeps per way a struct of tag,
// time, valid and dirty. The engine keeps everything it keeps for a real trace: byte masks, who
// filled and wrote each line, write versions per sector, sharers, counters per instruction. Miss
// counts of both must agree. Arguments: repeats, one trace's name, accesses. Times are processor
// time of the process, best of the repeats.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "runtime/cache/engine.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/support/access_traces.hpp"

namespace {

using namespace lanewise;
using namespace lanewise::cache;

size_t kAccesses = 20000000;

double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A struct per way, time stamps, no vector instructions by hand.
class PlainCache {
 public:
  PlainCache(size_t sets, size_t ways, PlainCache* below)
      : sets_(sets), ways_(ways), below_(below), lines_(sets * ways) {}

  void access(uint64_t address, bool write) {
    const uint64_t number = address >> 7;
    Way* set = &lines_[(number & (sets_ - 1)) * ways_];
    ++time_;
    for (size_t w = 0; w < ways_; ++w)
      if (set[w].valid && set[w].tag == number) {
        set[w].time = time_;
        set[w].dirty |= write;
        return;
      }
    ++misses;
    size_t victim = 0;
    for (size_t w = 0; w < ways_; ++w) {
      if (!set[w].valid) {
        victim = w;
        break;
      }
      if (set[w].time < set[victim].time) victim = w;
    }
    Way& v = set[victim];
    if (below_ != nullptr) {
      if (v.valid && v.dirty) below_->access(v.tag << 7, true);
      below_->access(address, false);
    }
    v = {number, time_, true, write};
  }

  uint64_t misses = 0;

 private:
  struct Way {
    uint64_t tag = 0, time = 0;
    bool valid = false, dirty = false;
  };
  size_t sets_, ways_;
  PlainCache* below_;
  std::vector<Way> lines_;
  uint64_t time_ = 0;
};

struct Run {
  double rate = 0;  ///< million accesses a second
  uint64_t l1_misses = 0, l2_misses = 0;
  size_t memory = 0;
};

Run run_plain(const std::vector<PackedAccess>& trace) {
  PlainCache l2(1024, 16, nullptr), l1(64, 4, &l2);
  const double start = seconds();
  for (const PackedAccess p : trace) l1.access(p & ~uint64_t{1}, (p & 1) != 0);
  const double time = seconds() - start;
  return {1e-6 * static_cast<double>(trace.size()) / time, l1.misses, l2.misses, 0};
}

Run run_engine(const std::vector<PackedAccess>& trace) {
  const Preset preset = parse_preset(R"({"name": "bench", "sms": 1,
    "l1": {"sets": 64, "ways": 4, "line": 128, "sector": 32},
    "l2": {"sets": 1024, "ways": 16, "line": 128, "sector": 32},
    "knobs": {"l1_store": "write_back", "fill": "line", "fetch_on_write": true}})",
                                     "bench");
  Engine engine(preset, nullptr);
  const Plan load = engine.plan(trace::ptx_site("ld.global.v8.b32"), trace::Space::global);
  const Plan store = engine.plan(trace::ptx_site("st.global.v8.b32"), trace::Space::global);
  const double start = seconds();
  for (size_t i = 0; i < trace.size(); ++i) {
    const uint64_t address = trace[i] & ~uint64_t{1};
    Access a;
    a.block = block_of(address);
    a.mask = byte_range(static_cast<unsigned>(address - a.block), 32);
    a.context = static_cast<uint32_t>(i);
    engine.run((trace[i] & 1) != 0 ? store : load, a);
  }
  const double time = seconds() - start;
  const LevelCounters& l1 = engine.counters(Cache::l1);
  const LevelCounters& l2 = engine.counters(Cache::l2);
  return {1e-6 * static_cast<double>(trace.size()) / time, l1.read_misses + l1.write_misses,
          l2.read_misses + l2.write_misses, engine.memory_bytes()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) kAccesses = std::strtoul(argv[3], nullptr, 10);
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 3;
  int wrong = 0;
  fmt::print("{:<8} {:>10} {:>10} {:>7} {:>11} {:>11} {:>11}\n", "trace", "plain M/s", "engine M/s",
             "ratio", "L1 misses", "L2 misses", "engine MiB");
  for (const char* name : {"stream", "rand64", "stride", "hot", "mix"}) {
    if (argc > 2 && std::string(name) != argv[2]) continue;
    const std::vector<PackedAccess> trace = access_trace(name, kAccesses);
    Run plain, engine;
    for (int i = 0; i < std::max(1, repeats); ++i) {
      const Run p = run_plain(trace), e = run_engine(trace);
      if (p.rate > plain.rate) plain = p;
      if (e.rate > engine.rate) engine = e;
    }
    const bool same = plain.l1_misses == engine.l1_misses && plain.l2_misses == engine.l2_misses;
    if (!same) ++wrong;
    fmt::print("{:<8} {:>10.1f} {:>10.1f} {:>6.2f}x {:>11} {:>11} {:>11.1f}{}\n", name, plain.rate,
               engine.rate, engine.rate / plain.rate, engine.l1_misses, engine.l2_misses,
               static_cast<double>(engine.memory) / (1 << 20), same ? "" : "  MISS COUNTS DIFFER");
  }
  return wrong == 0 ? 0 : 1;
}
