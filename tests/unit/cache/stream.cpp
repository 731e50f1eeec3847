// The fast path of plain waves (Tracker::waves, Engine::run_stream) against the general path, on
// random traces under every preset: every report, byte for byte.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

#include "runtime/cache/reports/report.hpp"
#include "runtime/cache/tracker/contexts.hpp"
#include "runtime/cache/tracker/tracker.hpp"
#include "tests/support/shares.hpp"
#include "tests/unit/cache/script.hpp"

namespace lanewise::cache {
namespace {

void compare(const Tracker& general, const Tracker& quick) {
  const Tracker* const a[] = {&general};
  const Tracker* const b[] = {&quick};
  REQUIRE_EQ(text_report(a), text_report(b));
  CHECK_EQ(csv_report(a), csv_report(b));
  CHECK_EQ(sarif_report(a), sarif_report(b));
  CHECK((without_bytes(html_report(a)) == without_bytes(html_report(b))));
  CHECK_EQ(without_bytes(json_report(a)), without_bytes(json_report(b)));
}

void both_ways(const Preset& preset, Dialect dialect, uint64_t seed, bool with_hints,
               uint32_t kept = 1 << 20) {
  CAPTURE(preset.name);
  CAPTURE(seed);
  TrackerOptions options;
  options.kept_contexts = kept;
  Tracker quick(preset, options);
  options.general_path = true;
  Tracker general(preset, options);
  Tracker* const one[] = {&general};
  Tracker* const other[] = {&quick};
  Script(dialect, seed, with_hints).run(one, other, 60);
  compare(general, quick);
}

TEST_CASE("cache stream: the fast path and the general path give equal reports") {
  // With and without hints in turn.
  uint64_t turn = 0;
  for (const std::string& name : preset_names())
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn}) {
      ++turn;
      for (uint64_t seed = 1; seed <= 4; ++seed)
        if (lanewise::test::whole_tests() || seed == 1 + turn % 2)
          both_ways(load_preset(name), d, seed, seed % 2 == 0);
    }
}

TEST_CASE("cache stream: what is too old to be named is so on both ways") {
  for (uint64_t seed = 10; seed < 16; ++seed)
    both_ways(load_preset("gv100"), Dialect::ptx, seed, seed % 2 == 0, 50);
}

TEST_CASE("cache stream: shapes that no preset has") {
  for (const char* text : {
           R"({"name": "small", "sms": 3, "l1": {"sets": 2, "ways": 3, "line": 128, "sector": 32},
               "l2": {"sets": 4, "ways": 5, "line": 128, "sector": 32},
               "knobs": {"l1_store": "update"}})",
           R"({"name": "lines", "sms": 70, "l1": {"sets": 3, "ways": 40, "line": 128, "sector": 32},
               "l2": {"sets": 4, "ways": 64, "line": 128, "sector": 32, "hash": "fold"},
               "knobs": {"fill": "line", "global_in_l1": false}})",
           R"({"name": "whole", "sms": 2, "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 128},
               "l2": {"sets": 8, "ways": 4, "line": 128, "sector": 128}})",
           R"({"name": "mixed", "sms": 2, "l1": {"sets": 4, "ways": 4, "line": 64, "sector": 32},
               "l2": {"sets": 8, "ways": 4, "line": 128, "sector": 32}})",
           R"({"name": "fifo", "sms": 2,
               "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 32, "replacement": "fifo"},
               "l2": {"sets": 8, "ways": 4, "line": 128, "sector": 32}})",
           R"({"name": "write back", "sms": 3,
               "l1": {"sets": 4, "ways": 4, "line": 64, "sector": 64},
               "l2": {"sets": 8, "ways": 4, "line": 64, "sector": 64},
               "knobs": {"l1_store": "write_back"}})",
           R"({"name": "write back, sectors", "sms": 2,
               "l1": {"sets": 4, "ways": 4, "line": 128, "sector": 32},
               "l2": {"sets": 8, "ways": 4, "line": 128, "sector": 32},
               "knobs": {"l1_store": "write_back"}})",
           R"({"name": "one set", "sms": 3,
               "l1": {"sets": 1, "ways": 40, "line": 64, "sector": 64},
               "l2": {"sets": 1, "ways": 130, "line": 64, "sector": 64},
               "knobs": {"l1_store": "update"}})",
           R"({"name": "many, fifo", "sms": 2,
               "l1": {"sets": 1, "ways": 40, "line": 128, "sector": 32, "replacement": "fifo"},
               "l2": {"sets": 2, "ways": 70, "line": 128, "sector": 32, "replacement": "lfu"}})"})
    for (const Dialect d : {Dialect::ptx, Dialect::gcn})
      for (uint64_t seed = 20; seed < (lanewise::test::whole_tests() ? 23 : 21); ++seed)
        both_ways(parse_preset(text, "test"), d, seed, true);
}

TEST_CASE("cache stream: lines whose tags are the same, and sets that few lines come to") {
  for (const std::string& name : preset_names()) {
    const Preset preset = load_preset(name);
    const uint64_t set_bytes = uint64_t{preset.l2.line} * preset.l2.sets * preset.l2.slices;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      TrackerOptions options;
      Tracker quick(preset, options);
      options.general_path = true;
      Tracker general(preset, options);
      std::mt19937_64 random(seed);
      trace::Kernel k;
      for (Tracker* t : {&quick, &general}) {
        t->kernel(k);
        t->site(trace::ptx_site("ld.global.b32"));
        t->site(trace::ptx_site("st.global.b32"));
        trace::Event begin;
        begin.kind = EventKind::kernel_begin;
        t->event(begin);
      }
      for (int batch = 0; batch < 6; ++batch) {
        std::vector<trace::StridedWave> waves(700);
        for (trace::StridedWave& w : waves) {
          w.site = random() % 3 == 0 ? 1 : 0;
          w.group = static_cast<uint32_t>(random() % 4);
          w.mask = 0xffff'ffff;
          w.stride = 4;
          // Tags are 32 bits of the line's number.
          const uint64_t same_tag = random() % 3 * (uint64_t{preset.l2.line} << 32);
          w.base = (random() % 40 * set_bytes + same_tag + random() % 2 * 64) & ~uint64_t{63};
        }
        trace::Event each;
        for (const trace::StridedWave& w : waves) {
          trace::to_record(w, each.wave);
          general.event(each);
        }
        quick.waves(waves);
      }
      compare(general, quick);
    }
  }
}

TEST_CASE("cache stream: remainders without a division") {
  std::mt19937_64 random(4);
  for (uint64_t divisor : {1ULL, 2ULL, 3ULL, 6ULL, 768ULL, 1024ULL, 25'600ULL, 0xffff'fffbULL}) {
    const Remainder remainder(static_cast<uint32_t>(divisor));
    for (const uint64_t whole : {divisor, divisor * 0xffff'ffff, ~uint64_t{0} / divisor * divisor})
      for (const uint64_t n : {whole - 1, whole, whole + 1})
        REQUIRE_EQ(remainder.of(n), n % divisor);
    for (int i = 0; i < 10'000; ++i) {
      const uint64_t n = random() >> random() % 64;
      REQUIRE_EQ(remainder.of(n), n % divisor);
    }
  }
}

/// What a Memory should know, sector by sector.
struct LiteralMemory {
  struct Sector {
    SectorState state;
    uint32_t bytes = 0;
  };
  std::map<uint64_t, Sector> sectors;
  std::map<uint64_t, uint64_t> sharers;
  std::set<uint64_t> system;  ///< pages

  void write(uint64_t block, unsigned which, uint32_t bytes, uint32_t context, uint32_t sm) {
    for (unsigned s = 0; s < 4; ++s) {
      if ((which >> s & 1) == 0) continue;
      Sector& x = sectors[block + uint64_t{32} * s];
      x.state.written(context, sm);
      x.bytes = bytes;
    }
  }
  void compare(Memory& memory, uint64_t block) {
    const Page& p = memory.page(block);
    REQUIRE_EQ(p.sharers[block % kPageBytes / kBlockBytes], sharers[block]);
    for (uint64_t at = block; at < block + kBlockBytes; at += 32) {
      REQUIRE_EQ(p.writes.state(at).bits(), sectors[at].state.bits());
      REQUIRE_EQ(p.writes.written(at), sectors[at].bytes);
    }
  }
};

/// Pages 3n + 1 are only read. Of those that are written, 6n are as lines, the others mostly.
void read_and_write_pages(unsigned line) {
  CAPTURE(line);
  Memory memory(line);
  LiteralMemory model;
  std::mt19937_64 random(5);
  for (uint32_t round = 0; round < 40'000; ++round) {
    // Mostly onwards, at times far back.
    const uint64_t page = random() % 50 != 0 ? round / 20 : random() % 2'000;
    const uint64_t block = (page << kPageShift | random() % kPageBytes) & ~uint64_t{127};
    const auto sm = static_cast<uint32_t>(random() % 90);
    Page& p = memory.page(block);
    model.compare(memory, block);
    p.sharers_of(block) = model.sharers[block] |= uint64_t{1} << (sm & 63);
    if (page % 3 != 1) {
      const unsigned lines = line == 128 ? 15 : random() % 2 == 0 ? 3 : 12;
      const unsigned sectors =
          page % 6 == 0 || random() % 40 != 0 ? lines : static_cast<unsigned>(random() % 16);
      const auto bytes = static_cast<uint32_t>(random());
      memory.writes().change(p.writes, block, sectors, [&](SectorState& s, uint32_t& written) {
        s.written(round, sm);
        written = bytes;
      });
      model.write(block, sectors, bytes, round, sm);
      CHECK((page % 6 != 0 || !p.writes.by_sector()));
    } else {
      CHECK(p.writes.none());
    }
    CHECK_EQ(p.system, model.system.contains(page));
    if (page % 4 == 0) model.system.insert(page);
    p.system = page % 4 == 0;
    if (page % 2 == 0) {
      ReadOnlyUse& use = memory.read_only_use(block, 3);
      CHECK((use.reader == ~uint32_t{0} || use.read.any()));
      use.reader = round;
      use.read.lo |= uint64_t{1} << random() % 64;
    }
    memory.trim();
  }
  CHECK_LT(memory.memory_bytes(), size_t{1'400} * kPageBytes / 32 * 12);
  std::vector<uint64_t> blocks;
  for (const auto& [block, sharers] : model.sharers) blocks.push_back(block);
  for (const uint64_t block : blocks) {
    model.compare(memory, block);
    // What nobody has touched is so in each page that was used again.
    model.compare(memory, block ^ kBlockBytes);
    memory.trim();
  }
}

TEST_CASE("cache stream: pages of memory that are packed come back as they were") {
  for (const unsigned line : {64U, 128U}) read_and_write_pages(line);
}

TEST_CASE("cache stream: a line's entry becomes those of its sectors") {
  for (const unsigned line : {64U, 128U}) {
    CAPTURE(line);
    WritesPool pool(line);
    Writes w;
    const auto write = [&](uint64_t block, unsigned sectors, uint32_t bytes) {
      pool.change(w, block, sectors, [&](SectorState& s, uint32_t& written) {
        s.written(bytes + 1, 7);
        written = bytes;
      });
    };
    write(0, 15, 1);
    write(1280, line == 64 ? 12 : 15, 2);
    CHECK_EQ(w.count(), kPageBytes / line);
    constexpr uint64_t kEveryOther = 0x5555'5555'5555'5555;
    const Mask whole = ~Mask{}, low{~uint64_t{0}, 0}, sector{0xffff'ffff, 0},
               every_other{kEveryOther, line == 64 ? uint64_t{0} : kEveryOther};
    CHECK_EQ(w.takes_as_one(whole), line == 128);
    CHECK_EQ(w.takes_as_one(low), line == 64);
    CHECK_FALSE(w.takes_as_one(sector));
    CHECK(w.takes_as_one(every_other));
    write(1408, 2, 3);
    CHECK(w.by_sector());
    CHECK_FALSE(w.takes_as_one(whole));
    const auto holds = [&](uint64_t at, uint32_t bytes) {
      CAPTURE(at);
      CHECK_EQ(w.written(at), bytes);
      CHECK_EQ(w.state(at).version(), bytes == 0 ? 0 : 1);
      CHECK_EQ(w.state(at).writer(), bytes == 0 ? kNoContext : bytes + 1);
    };
    for (uint64_t s = 0; s < 4; ++s) {
      holds(32 * s, 1);
      holds(1280 + 32 * s, line == 64 && s < 2 ? 0 : 2);
      holds(1408 + 32 * s, s == 1 ? 3 : 0);
      holds(128 + 32 * s, 0);
    }
    pool.end(w);
    CHECK(w.none());
    // Used again, they are as new.
    write(256, 1, 4);
    holds(0, 0);
    holds(256, 4);
  }
}

TEST_CASE("cache stream: contexts") {
  Contexts contexts(1000);
  std::vector<Context> model;
  std::mt19937_64 random(9);
  for (int i = 0; i < 300'000; ++i) {
    const bool large = i > 150'000;
    Context c{static_cast<uint32_t>(random() % (large ? 1'000'000 : 60'000)),
              static_cast<uint32_t>(random()), static_cast<uint16_t>(random() % 256),
              static_cast<uint16_t>(random() % 256)};
    if (random() % 10 == 0) c = {};
    model.push_back(c);
    REQUIRE_EQ(contexts.add(c), model.size() - 1);
    const auto now = static_cast<uint32_t>(model.size() - random() % std::min<size_t>(i + 1, 4000));
    const auto which = static_cast<uint32_t>(now - random() % std::min<uint32_t>(now, 1200));
    const Context got = contexts.at(which, now);
    const Context want = which < now && now - which <= 1000 ? model[which] : Context{};
    REQUIRE_EQ(got.site, want.site);
    REQUIRE_EQ(got.group, want.group);
    REQUIRE_EQ(got.wave, want.wave);
    REQUIRE_EQ(got.sm, want.sm);
  }
}

}  // namespace
}  // namespace lanewise::cache
