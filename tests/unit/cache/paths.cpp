// Batches of plain accesses (Engine::run_plain) do what the general path does, one by one.
#include <fmt/format.h>

#include "runtime/bench/cache/access_traces.hpp"
#include "runtime/cache/engine/batches/plain_level.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

/// Counts what the engine finds remarkable.
class Recorded final : public Observer {
 public:
  void stale_read(const StaleRead& s) override { add(1, s.bytes.lo ^ s.bytes.hi ^ s.line.address); }
  void lost(Loss, const Access&, const Line& x, const Mask& m) override {
    add(2, x.address ^ m.lo);
  }
  void evicted(Cache c, const Line& x, Priority p, uint32_t) override {
    add(3, x.address + static_cast<uint64_t>(c) * 16 + static_cast<uint64_t>(p));
  }
  void partial_write_back(const Line& x, unsigned n) override { add(4, x.address + n); }
  void shared_write(const Access&, uint64_t sector, const SectorState& s, uint32_t m) override {
    add(5, sector + s.sm() + (uint64_t{m} << 32));
  }
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
    R"({"name": "no fetch on write", "sms": 1,
        "l1": {"sets": 8, "ways": 3, "line": 128, "sector": 32},
        "l2": {"sets": 16, "ways": 13, "line": 128, "sector": 32},
        "knobs": {"l1_store": "write_back", "fill": "sector", "fetch_on_write": false}})",
    R"({"name": "several SMs, write back", "sms": 3,
        "l1": {"sets": 8, "ways": 4, "line": 128, "sector": 32},
        "l2": {"slices": 3, "sets": 8, "ways": 16, "line": 128, "sector": 32, "hash": "ipoly"},
        "knobs": {"l1_store": "write_back", "fill": "line", "fetch_on_write": true}})",
    R"({"name": "several SMs, whole lines", "sms": 2,
        "l1": {"sets": 8, "ways": 3, "line": 128, "sector": 32},
        "l2": {"slices": 2, "sets": 8, "ways": 14, "line": 128, "sector": 32},
        "knobs": {"l1_store": "evict", "fill": "line", "fetch_on_write": true}})",
    R"({"name": "many ways", "sms": 2,
        "l1": {"sets": 4, "ways": 20, "line": 128, "sector": 32},
        "l2": {"slices": 2, "sets": 16, "ways": 24, "line": 128, "sector": 32},
        "knobs": {"l1_store": "update", "fill": "sector"}})",
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
                                  "atom.global.add.u32",
                                  "st.local.b32",
                                  "ld.global.L2::evict_first.b32",
                                  "ld.global.L2::evict_last.b32"};

struct Side {
  explicit Side(const Preset& preset, Engine::Vectors vectors = Engine::Vectors::best)
      : engine(preset, &recorded, false, vectors) {
    for (const char* text : kSites)
      plans.push_back(engine.plan(trace::ptx_site(text), trace::ptx_site(text).space));
    engine.set_site(&site);
  }
  Recorded recorded;
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
  CHECK_EQ(a.recorded.events, b.recorded.events);
  CHECK_EQ(a.recorded.digest, b.recorded.digest);
}

/// Blocks near each other and, now and then, far beyond, where tags are ambiguous.
uint64_t some_block(Random& random) {
  const uint64_t block = random.below(random.below(3) == 0 ? 600 : 60) * kBlockBytes;
  return 0x4000'0000 + block + (random.below(9) == 0 ? 1ULL << 40 : 0);
}

Mask some_bytes(Random& random) {
  const auto bytes = static_cast<unsigned>(4 << random.below(6));
  return byte_range(static_cast<unsigned>(random.below(kBlockBytes / bytes)) * bytes, bytes);
}

void compare_batches(const Preset& preset, Engine::Vectors vectors) {
  Side quick(preset, vectors), general(preset);
  CHECK(quick.plans[0].plain);
  CHECK(quick.plans[1].plain);
  CHECK_FALSE(quick.plans[2].plain);
  Random random;
  uint32_t context = 0;
  for (uint32_t round = 0; round < 1'000; ++round) {
    const auto sm = static_cast<uint32_t>(random.below(preset.sms));
    std::vector<PlainAccess> batch(1 + random.below(random.below(2) == 0 ? 300 : 8));
    for (PlainAccess& a : batch)
      a = {some_block(random), some_bytes(random), context++, random.below(3) == 0 ? ~0u : 0};
    quick.engine.run_plain(quick.plans[0], quick.plans[1], batch, sm);
    for (const PlainAccess& a : batch)
      general.engine.run(general.plans[a.write != 0 ? 1 : 0],
                         {a.block, a.mask, a.context, sm, nullptr});
    // Something else, which leaves flags and classes behind.
    for (uint64_t n = random.below(4); n != 0; --n) {
      const size_t site = random.below(std::size(kSites));
      const Access a{some_block(random), some_bytes(random), context++, sm, nullptr};
      quick.engine.run(quick.plans[site], a);
      general.engine.run(general.plans[site], a);
    }
    if (round % 100 == 99) {
      check_equal(quick, general);
      quick.engine.kernel_end();
      general.engine.kernel_end();
    }
  }
  check_equal(quick, general);
  CHECK(quick.site.l1_hits > 1'000);
  for (uint64_t at = 0; at < 600 * kBlockBytes; at += 32) {
    const SectorState a = quick.engine.sector(0x4000'0000 + at);
    const SectorState b = general.engine.sector(0x4000'0000 + at);
    REQUIRE_EQ(a.version(), b.version());
    REQUIRE_EQ(a.writer(), b.writer());
    REQUIRE_EQ(a.sm(), b.sm());
  }
}

TEST_CASE("plain accesses: batches and the general path agree") {
  for (const char* text : kPresets) {
    const Preset preset = parse_preset(text, "test");
    CAPTURE(preset.name);
    for (const auto vectors : {Engine::Vectors::best, Engine::Vectors::avx2, Engine::Vectors::base})
      compare_batches(preset, vectors);
  }
}

// A batch keeps in mind which line of a set goes next. Whatever changes a class, or takes a line
// out, between two batches, changes that.
TEST_CASE("plain accesses: the next victim after something else happened in its set") {
  Preset preset = parse_preset(kPresets[0], "test");
  preset.knobs.unchanged_fills_at_lru_end = true;
  for (const auto vectors : {Engine::Vectors::best, Engine::Vectors::avx2}) {
    Side quick(preset, vectors), general(preset);
    Random random;
    uint32_t context = 0;
    const auto both = [&](auto f) { f(quick), f(general); };
    // Two sets of L2, of 16 ways each.
    const auto block = [&] {
      return 0x4000'0000 + kBlockBytes * (16 * random.below(24) + random.below(2));
    };
    for (uint32_t round = 0; round < 20'000; ++round) {
      std::vector<PlainAccess> batch(1 + random.below(6));
      for (PlainAccess& a : batch)
        a = {block(), some_bytes(random), context++, random.below(3) == 0 ? ~0u : 0};
      quick.engine.run_plain(quick.plans[0], quick.plans[1], batch, 0);
      for (const PlainAccess& a : batch)
        general.engine.run(general.plans[a.write != 0 ? 1 : 0],
                           {a.block, a.mask, a.context, 0, nullptr});
      const uint64_t at = block();
      const Access a{at, some_bytes(random), context++, 0, nullptr};
      switch (random.below(5)) {
        case 0:
          both([&](Side& s) { s.engine.host_write(at, kBlockBytes, a.context); });
          break;
        case 1:
          both([&](Side& s) { s.engine.run(s.plans[9], a); });
          break;
        case 2:
          both([&](Side& s) { s.engine.run(s.plans[10], a); });
          break;
        case 3:
          both([&](Side& s) {
            Plan unchanged = s.plans[2];
            unchanged.l2_class = Class::unchanged;
            s.engine.run(unchanged, a);
          });
          break;
        default:
          break;
      }
      REQUIRE(quick.engine.counters(Cache::l2) == general.engine.counters(Cache::l2));
    }
    check_equal(quick, general);
    CHECK(general.engine.counters(Cache::l2).evictions > 10'000);
  }
}

#if defined(LANEWISE_WIDE)
// Times are 29 bits; when they run out, each set's lines are numbered anew.
TEST_CASE("plain accesses: the next victim when times run out") {
  if (!wide_vectors_run()) return;
  const Preset preset = parse_preset(kPresets[0], "test");
  Level quick(preset.l2, 0, 0), general(preset.l2, 0, 0);
  Random random;
  for (uint32_t round = 0; round < 5'000; ++round) {
    PlainLevel<WideWays<16>, true, true> level(quick, quick, preset.knobs);
    std::vector<PlainAccess> batch(1 + random.below(6));
    for (PlainAccess& a : batch)
      a = {kBlockBytes * (16 * random.below(24) + random.below(2)), ~Mask{}, 0, 0};
    PlainAccess* below = nullptr;
    const PlainAccess** writes = nullptr;
    REQUIRE_EQ(level.take({batch.data(), batch.size(), below, writes}), batch.size());
    for (const PlainAccess& a : batch)
      if (const uint32_t index = general.find(a.block); index != kNoLine)
        general.touch(index);
      else
        general.place(general.victim(a.block), a.block, Priority::normal);
    for (const PlainAccess& a : batch) REQUIRE_EQ(quick.find(a.block), general.find(a.block));
    if (random.below(20) == 0) quick.take_times(Level::kTimeMask / 2);
    if (random.below(30) == 0) general.take_times(Level::kTimeMask / 2);
  }
}
#endif

}  // namespace
}  // namespace lanewise::cache
