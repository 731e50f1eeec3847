// What counters mean: stores have hits and misses of their own, dirty bytes at the end are
// reported, and a read of part of an absent sector asks for the whole sector on every path.
#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

using trace::Dialect;

TEST_CASE("stores hit and miss on their own") {
  Stream s(Dialect::ptx, "ga100");
  s.op(0, "st.global.u32", {kA, 32});  // a miss in both
  s.op(0, "ld.global.u32", {kA, 32});
  s.op(0, "st.global.u32", {kA, 8});  // a sector of a line that both have
  const LevelCounters &l1 = s.counters(Cache::l1), &l2 = s.counters(Cache::l2);
  CHECK_EQ(l1.writes, 2);
  CHECK_EQ(l1.write_misses, 1);
  CHECK_EQ(l1.write_sector_hits, 1);
  CHECK_EQ(l1.write_sector_misses, 4);
  CHECK_EQ(l2.writes, 2);
  CHECK_EQ(l2.write_misses, 1);
  CHECK_EQ(l2.write_sector_hits, 1);
  CHECK_EQ(l2.write_sector_misses, 4);
  // Loads are not among them.
  CHECK_EQ(l1.sector_hits, 0);
  CHECK_EQ(l1.sector_misses, 4);
  CHECK_EQ(l2.sector_hits, 4);
  const SiteCounters& store = s.tracker().site_counters()[0];
  CHECK_EQ(store.l2_write_hits, 1);
  CHECK_EQ(store.l2_write_misses, 4);
  CHECK_EQ(store.l2_hits + store.l2_misses, 0);
  CHECK_EQ(s.tracker().site_counters()[1].l2_write_hits, 0);
  CHECK_EQ(s.engine().dirty(Cache::l2).lines, 1);
  CHECK_EQ(s.engine().dirty(Cache::l2).bytes, 128);
}

TEST_CASE("an evicted line is no store of the instruction that pushes it out") {
  Stream s(Dialect::sass, parse_preset(R"({"name": "small", "sms": 1,
    "l1": {"sets": 1, "ways": 1, "line": 128, "sector": 32},
    "l2": {"sets": 1, "ways": 4, "line": 128, "sector": 32}})",
                                       "small"));
  s.op(0, "STL", {0, 32, 0}).op(0, "LDL", {4, 32, 0});
  const SiteCounters& load = s.tracker().site_counters()[1];
  CHECK_EQ(load.l1_write_hits + load.l1_write_misses + load.l2_write_hits + load.l2_write_misses,
           0);
  CHECK_EQ(s.counters(Cache::l2).writes, 1);
  CHECK_EQ(s.counters(Cache::l1).write_backs, 1);
}

TEST_CASE("reading what a store left of a sector fetches the sector, through L1 or past it") {
  for (const char* preset : {"gm204", "sm50-silicon", "gv100", "ga100"})
    for (const char* load : {"LDG.E.U8", "LDG.E.U8.CG", "LDG.E.U8.CI", "LDG.E.U8.NA"}) {
      CAPTURE(std::string(preset));
      CAPTURE(std::string(load));
      Stream s(Dialect::sass, preset);
      s.op(0, "STG.E.U8", {kA}).op(1, load, {kA});
      CHECK_EQ(s.counters(Cache::l2).read_misses, 1);
      CHECK_EQ(s.counters(Cache::l2).sector_misses, 1);
      CHECK_EQ(s.counters(Cache::l2).fills, 1);
    }
}

TEST_CASE("findings of several presets are counted for each") {
  // Two lines: tiny L1 loses the first before it is read again.
  std::vector<std::unique_ptr<Stream>> streams;
  for (const char* ways : {"1", "8"})
    streams.push_back(
        std::make_unique<Stream>(
            Dialect::sass, parse_preset(std::string(R"({"name": "ways )") + ways + R"(", "sms": 4,
    "l1": {"sets": 1, "ways": )" + ways + R"(}, "l2": {"sets": 1, "ways": 16}})",
                                        "ways")));
  for (auto& s : streams)
    for (unsigned i = 0; i < 3; ++i) {
      s->op(1, "LDG.E", {kA}).op(0, "STG.E", {kA}).op(1, "LDG.E", {kA});
      s->op(1, "LDG.E", {kB}).op(0, "STG.E", {kB}).op(1, "LDG.E", {kA});
    }
  CHECK_EQ(streams[0]->tracker().findings().at(0).count, 3);
  CHECK_EQ(streams[1]->tracker().findings().at(0).count, 10);
}

}  // namespace
}  // namespace lanewise::cache
