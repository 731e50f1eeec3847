// The engine's short way of plain accesses does what the general way does. An engine that keeps
// values takes the general way always.
#include <fmt/format.h>

#include "runtime/bench/cache/access_traces.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/unit/cache_support.hpp"

namespace lanewise::cache {
namespace {

/// Counts what the engine finds remarkable.
class Heard final : public Observer {
 public:
  void stale_read(const StaleRead& s) override { add(1, s.bytes.lo ^ s.bytes.hi ^ s.line.address); }
  void lost(Loss, const Access&, const Line& x, const Mask& m) override {
    add(2, x.address ^ m.lo);
  }
  void evicted(Cache c, const Line& x, Priority p, uint32_t) override {
    add(3, x.address + static_cast<uint64_t>(c) * 16 + static_cast<uint64_t>(p));
  }
  void partial_write_back(const Line& x, unsigned n) override { add(4, x.address + n); }
  void shared_write(const Access& a, const SectorState& s) override { add(5, a.block + s.sm()); }
  void priority_refused(const Access& a) override { add(6, a.block); }

  uint64_t events = 0, digest = 0;

 private:
  void add(uint64_t kind, uint64_t what) {
    ++events;
    digest = (digest ^ kind ^ what) * 0x9e3779b97f4a7c15ULL;
    digest ^= digest >> 29;
  }
};

constexpr const char* kPresets[] = {
    R"({"name": "write back", "sms": 1,
        "l1": {"sets": 8, "ways": 4, "line": 128, "sector": 32},
        "l2": {"sets": 16, "ways": 16, "line": 128, "sector": 32},
        "knobs": {"l1_store": "write_back", "fill": "line", "fetch_on_write": true}})",
    R"({"name": "partial lines", "sms": 1,
        "l1": {"sets": 2, "ways": 7, "line": 128, "sector": 32},
        "l2": {"sets": 12, "ways": 20, "line": 128, "sector": 32},
        "knobs": {"l1_store": "write_back", "fill": "sector", "dirty_limit_percent": 20}})",
    R"({"name": "write through", "sms": 3,
        "l1": {"sets": 4, "ways": 48, "line": 128, "sector": 32},
        "l2": {"slices": 4, "sets": 16, "ways": 16, "line": 128, "sector": 32, "hash": "ipoly"},
        "knobs": {"l1_store": "evict", "fill": "sector"}})",
    R"({"name": "update, several write back", "sms": 2,
        "l1": {"sets": 4, "ways": 8, "line": 128, "sector": 32, "replacement": "fifo"},
        "l2": {"sets": 8, "ways": 16, "line": 128, "sector": 32, "replacement": "tree_plru"},
        "knobs": {"l1_store": "update", "fill": "sector", "write_allocate_l2": false}})",
};

/// Plain ones first: most accesses are.
constexpr const char* kSites[] = {"ld.global.b32",
                                  "st.global.b32",
                                  "ld.global.cg.b32",
                                  "st.global.L1::evict_last.b32",
                                  "ld.global.L1::evict_first.b32",
                                  "ld.global.L2::128B.b32",
                                  "ld.global.nc.b32",
                                  "atom.global.add.u32"};

struct Side {
  explicit Side(const Preset& preset, bool general) : engine(preset, &heard, general) {
    for (const char* text : kSites)
      plans.push_back(engine.plan(trace::ptx_site(text), trace::Space::global));
    engine.set_site(&site);
  }
  Heard heard;
  Engine engine;
  std::vector<Plan> plans;
  SiteCounters site;
};

void check_equal(const Side& a, const Side& b) {
  for (const Cache c : {Cache::l1, Cache::l2}) {
    CAPTURE(name(c));
    CHECK_EQ(a.engine.counters(c).write_back_bytes, b.engine.counters(c).write_back_bytes);
    CHECK(a.engine.counters(c) == b.engine.counters(c));
  }
  CHECK(a.site == b.site);
  CHECK_EQ(a.heard.events, b.heard.events);
  CHECK_EQ(a.heard.digest, b.heard.digest);
}

TEST_CASE("plain accesses: the short way and the general way agree") {
  for (const char* text : kPresets) {
    const Preset preset = parse_preset(text, "test");
    CAPTURE(preset.name);
    Side quick(preset, false), general(preset, true);
    CHECK(quick.plans[0].plain);
    CHECK_FALSE(general.plans[0].plain);
    Random random;
    for (uint32_t i = 0; i < 40'000; ++i) {
      const uint64_t pick = random.below(40);
      const size_t site = pick < 20 ? 0 : pick < 32 ? 1 : pick % std::size(kSites);
      Access a;
      // Blocks near each other and, now and then, beyond 39 bits, where tags are ambiguous.
      a.block =
          0x4000'0000 + random.below(600) * kBlockBytes + (random.below(9) == 0 ? 1ULL << 40 : 0);
      const auto bytes = static_cast<unsigned>(4 << random.below(6));
      a.mask = byte_range(static_cast<unsigned>(random.below(kBlockBytes / bytes)) * bytes, bytes);
      a.context = i;
      a.sm = static_cast<uint32_t>(random.below(preset.sms));
      quick.engine.run(quick.plans[site], a);
      general.engine.run(general.plans[site], a);
      if (i % 8'000 == 7'999) {
        check_equal(quick, general);
        quick.engine.kernel_end();
        general.engine.kernel_end();
      }
    }
    check_equal(quick, general);
    for (uint64_t at = 0; at < 600 * kBlockBytes; at += 32) {
      const SectorState a = quick.engine.sector(0x4000'0000 + at);
      const SectorState b = general.engine.sector(0x4000'0000 + at);
      REQUIRE_EQ(a.version(), b.version());
      REQUIRE_EQ(a.writer(), b.writer());
      REQUIRE_EQ(a.sm(), b.sm());
    }
  }
}

}  // namespace
}  // namespace lanewise::cache
