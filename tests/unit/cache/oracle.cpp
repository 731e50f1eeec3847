// The engine's counts on LRU write-back presets are those of the literal model, exactly.
#include <fmt/format.h>

#include "runtime/bench/cache/access_traces.hpp"
#include "tests/oracle/cache_model.hpp"
#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

struct Shape {
  uint32_t l1_sets, l1_ways, l1_line, l2_sets, l2_ways, l2_line;
};
constexpr Shape kShapes[] = {
    {64, 4, 128, 1024, 16, 128}, {32, 1, 32, 64, 2, 128},   {1, 16, 64, 16, 4, 64},
    {16, 2, 32, 128, 8, 32},     {3, 20, 128, 48, 33, 128}, {128, 8, 64, 256, 24, 128},
};

Preset write_back_preset(const Shape& s) {
  return parse_preset(fmt::format(R"({{"name": "oracle", "sms": 1,
        "l1": {{"sets": {}, "ways": {}, "line": {}, "sector": {}}},
        "l2": {{"sets": {}, "ways": {}, "line": {}, "sector": {}}},
        "knobs": {{"l1_store": "write_back", "fill": "line", "fetch_on_write": true}}}})",
                                  s.l1_sets, s.l1_ways, s.l1_line, std::min(s.l1_line, 32u),
                                  s.l2_sets, s.l2_ways, s.l2_line, std::min(s.l2_line, 32u)),
                      "oracle");
}

std::vector<PackedAccess> matrix_transpose() {
  std::vector<PackedAccess> trace;
  for (uint64_t row = 0; row < 200; ++row)
    for (uint64_t column = 0; column < 200; ++column) {
      trace.push_back(pack_access(0x1000'0000 + (row * 200 + column) * 4, false));
      trace.push_back(pack_access(0x1100'0000 + (column * 200 + row) * 4, true));
    }
  return trace;
}

std::vector<PackedAccess> read_modify_write() {
  std::vector<PackedAccess> trace;
  Random random;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t at = 0x2000'0000 + random.below(5000) * random.below(200) * 4;
    trace.push_back(pack_access(at, false));
    trace.push_back(pack_access(at, true));
  }
  return trace;
}

std::vector<PackedAccess> named_trace(const std::string& name) {
  if (name == "transpose") return matrix_transpose();
  if (name == "update") return read_modify_write();
  return access_trace(name, 100'000);
}

oracle::CacheCounts counts_of(const LevelCounters& n) {
  return {n.reads, n.read_misses, n.writes, n.write_misses, n.write_backs};
}

}  // namespace

TEST_CASE("read, write, miss and write-back counts equal the literal model's") {
  for (const Shape& shape : kShapes)
    for (const char* name : {"stream", "rand64", "stride", "hot", "mix", "transpose", "update"}) {
      CAPTURE(std::string(name));
      CAPTURE(shape.l1_sets);
      oracle::CacheModel l2(shape.l2_sets, shape.l2_ways, shape.l2_line, nullptr);
      oracle::CacheModel l1(shape.l1_sets, shape.l1_ways, shape.l1_line, &l2);
      Engine engine(write_back_preset(shape), nullptr);
      const Plan load = engine.plan(trace::ptx_site("ld.global.u32"), trace::Space::global);
      const Plan store = engine.plan(trace::ptx_site("st.global.u32"), trace::Space::global);
      uint32_t context = 0;
      for (const PackedAccess p : named_trace(name)) {
        const uint64_t address = p & ~uint64_t{1};
        const bool write = (p & 1) != 0;
        l1.access(address, write);
        Access a;
        a.block = block_of(address);
        a.mask = byte_range(static_cast<unsigned>(address - a.block), 4);
        a.context = context++;
        if (write)
          engine.store(store, a);
        else
          engine.load(load, a);
      }
      const oracle::CacheCounts first = counts_of(engine.counters(Cache::l1));
      const oracle::CacheCounts second = counts_of(engine.counters(Cache::l2));
      CHECK_EQ(first.reads, l1.counts.reads);
      CHECK_EQ(first.read_misses, l1.counts.read_misses);
      CHECK_EQ(first.write_misses, l1.counts.write_misses);
      CHECK_EQ(first.write_backs, l1.counts.write_backs);
      CHECK_EQ(second.reads, l2.counts.reads);
      CHECK_EQ(second.read_misses, l2.counts.read_misses);
      CHECK_EQ(second.writes, l2.counts.writes);
      CHECK_EQ(second.write_misses, l2.counts.write_misses);
      CHECK_EQ(second.write_backs, l2.counts.write_backs);
      CHECK(first == l1.counts);
      CHECK(l1.counts.read_misses + l1.counts.write_misses > 0);
    }
}

}  // namespace lanewise::cache
