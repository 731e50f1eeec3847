// Every row of the control table, policy words, replacement, coalescing, presets.
#include <functional>
#include <random>
#include <set>
#include <unordered_map>

#include "runtime/support/error.hpp"
#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

using trace::Dialect;

const LevelCounters& l1(Stream& s) {
  return s.counters(Cache::l1);
}
const LevelCounters& l2(Stream& s) {
  return s.counters(Cache::l2);
}
constexpr Touch kLocal{0x40, 32, 0};

/// True when a load of the address is served by L1.
bool in_l1(Stream& s, const char* load, const Touch& t) {
  const uint64_t hits = l1(s).sector_hits;
  s.op(0, load, t);
  return l1(s).sector_hits != hits;
}

struct ControlTest {
  const char* row;
  std::function<void()> run;
};

const ControlTest kTests[] = {
    {"cctl.d.pf1",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "CCTL.E.PF1 [R2]");
       CHECK_EQ(l1(s).reads, 0);
       CHECK(in_l1(s, "LDG.E", {kA + 96}));  // the whole line came
       CHECK_EQ(l2(s).prefetches + l1(s).prefetches, 1);
     }},
    {"cctl.d.pf1.5",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "CCTL.E.PF1.5 [R2]");
       CHECK_EQ(l2(s).fills, 4);
     }},
    {"cctl.d.pf2",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "CCTL.E.PF2 [R2]");
       CHECK_FALSE(in_l1(s, "LDG.E", {}));
       CHECK_EQ(l2(s).sector_hits, 1);
     }},
    {"cctl.d.wb",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "STL", kLocal).op(0, "CCTLL.WB [R2]", kLocal);
       CHECK_EQ(l1(s).write_backs, 1);
       CHECK(in_l1(s, "LDL", kLocal));
     }},
    {"cctl.d.iv",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "STL", kLocal).op(0, "CCTLL.IV [R2]", kLocal);
       CHECK_EQ(l1(s).write_backs, 1);
       CHECK_FALSE(in_l1(s, "LDL", kLocal));
       CHECK_EQ(l2(s).sector_hits, 4);  // L2 is not touched by the invalidation
     }},
    {"cctl.d.rs",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "STL", kLocal).op(0, "CCTLL.RS [R2]", kLocal);
       CHECK_EQ(l1(s).write_backs, 0);
       CHECK_FALSE(in_l1(s, "LDL", kLocal));
     }},
    {"cctll.ivall",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "LDG.E").op(0, "STL", kLocal).op(0, "CCTLL.IVALL");
       CHECK_EQ(l1(s).write_backs, 1);
       CHECK(in_l1(s, "LDG.E", {}));
       CHECK_FALSE(in_l1(s, "LDL", kLocal));
     }},
    {"cctl.d.ivall",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "LDG.E").op(0, "STL", kLocal).op(0, "CCTL.IVALL");
       CHECK_EQ(l1(s).write_backs, 0);
       CHECK_FALSE(in_l1(s, "LDG.E", {}));
       CHECK(in_l1(s, "LDL", kLocal));
     }},
    {"cctl.u.ivall",
     [] {
       for (const CctlU u : {CctlU::data, CctlU::constant, CctlU::both}) {
         Preset p = load_preset("sm50-spec");
         p.knobs.cctl_u = u;
         Stream s(Dialect::sass, p);
         s.op(0, "LDG.E").op(0, "LDC", {0x40}).op(0, "CCTL.U.IVALL").op(0, "LDC", {0x40});
         CHECK_EQ(in_l1(s, "LDG.E", {}), u == CctlU::constant);
         CHECK_EQ(s.counters(Cache::constant).sector_hits, u == CctlU::data ? 1 : 0);
       }
     }},
    {"cctl.c.ivall",
     [] {
       for (const bool deep : {false, true}) {
         Preset p = load_preset("sm50-spec");
         p.knobs.ivall_reaches_l15 = deep;
         Stream s(Dialect::sass, p);
         s.op(0, "LDC", {0x40}).op(0, "CCTL.C.IVALL").op(0, "LDC", {0x40});
         CHECK_EQ(s.counters(Cache::constant).read_misses, 2);
         CHECK_EQ(s.counters(Cache::constant15).read_misses, deep ? 2 : 1);
       }
     }},
    {"cctl.i.ivall",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "LDG.E").op(0, "CCTL.I.IVALL");
       CHECK(in_l1(s, "LDG.E", {}));
     }},
    {"cctlt.ivall",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "LDG.E.CI", {kB}).op(0, "LDG.E").op(0, "CCTLT.IVALL");
       CHECK(in_l1(s, "LDG.E", {}));
       CHECK_FALSE(in_l1(s, "LDG.E.CI", {kB}));
     }},
    {"cctll.crs.wball",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       trace::Site push = trace::sass_site("ST");
       push.space = trace::Space::crs;
       s.op(0, push, {kLocalBase + 0x1000}).op(0, "CCTLL.CRS.WBALL");
       CHECK_EQ(l1(s).writes, 1);
       CHECK_EQ(l2(s).writes, 0);
       s.op(0, "CCTLL.IVALL");
       CHECK_EQ(l2(s).writes, 1);
     }},
    {"cctl.qry1",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "CCTL.QRY1 [R2]");
       CHECK_EQ(s.verdict(), "H12e");
     }},
    {"cctl.ci.undefined",
     [] {
       Stream s(Dialect::sass, "sm50-spec");
       s.op(0, "CCTL.I.PF1 [R2]");
       CHECK_EQ(s.verdict(), "H12e");
       CHECK_EQ(l2(s).fills, 0);
     }},
    {"cctl.pml2",
     [] {
       Stream s(Dialect::ptx, "ga100");
       s.op(0, "prefetch.global.L2::evict_last");
       CHECK_EQ(l2(s).fills, 4);
       // The demotion finds an evict_last line, so it is not useless.
       s.op(0, "applypriority.global.L2::evict_normal");
       CHECK_EQ(s.verdict(true), "");
     }},
    {"prefetch.l2.evict_normal",
     [] {
       Stream s(Dialect::ptx, "ga100");
       s.op(0, "prefetch.global.L2::evict_normal").op(0, "applypriority.global.L2::evict_normal");
       CHECK_EQ(l2(s).fills, 4);
       CHECK_EQ(s.verdict(true), "H11a");
     }},
    {"cctl.dml2",
     [] {
       Stream s(Dialect::sass, "ga100");
       s.op(0, "CCTL.E.PML2 [R2]").op(0, "CCTL.E.DML2 [R2]").op(0, "CCTL.E.DML2 [R4]");
       CHECK_EQ(s.verdict(true), "H11a");  // the second one only
     }},
    {"cctl.rml2",
     [] {
       Stream s(Dialect::ptx, "ga100");
       s.op(0, "st.global.u32").op(0, "discard.global.L2").end();
       CHECK_EQ(l2(s).write_backs, 0);
       Stream kept(Dialect::sass, "ga100");
       kept.op(0, "STG.E").op(0, "CCTL.E.RML2 [R2]");
       CHECK_EQ(kept.counters(Cache::l2).write_back_bytes, 0);
     }},
    {"buffer_wbinvl1",
     [] {
       for (const char* text : {"buffer_wbinvl1", "buffer_wbinvl1_sc", "buffer_wbinvl1_vol"}) {
         Stream s(Dialect::gcn, "tahiti");
         s.op(0, "buffer_load_dword").op(0, text);
         CHECK_FALSE(in_l1(s, "buffer_load_dword", {}));
       }
       Preset p = load_preset("tahiti");
       p.knobs.wbinvl1_all_lines = false;
       Stream s(Dialect::gcn, p);
       s.op(0, "buffer_load_dword").op(0, "buffer_wbinvl1_vol");
       CHECK(in_l1(s, "buffer_load_dword", {}));
     }},
    {"s_dcache_inv",
     [] {
       Stream s(Dialect::gcn, "fiji");
       s.op(0, "s_load_dword").op(0, "s_dcache_inv").op(0, "s_load_dword");
       CHECK_EQ(s.counters(Cache::scalar).read_misses, 2);
     }},
    {"s_dcache_wb",
     [] {
       Stream s(Dialect::gcn, "fiji");
       s.op(0, "s_store_dword").op(0, "s_dcache_wb").op(0, "s_dcache_inv");
       CHECK_EQ(l2(s).writes, 1);
       CHECK_EQ(s.verdict(), "");
     }},
    {"s_icache_inv",
     [] {
       Stream s(Dialect::gcn, "fiji");
       trace::Site fetch = trace::gcn_site("s_nop 0");
       fetch.kind = trace::OpKind::fetch;
       fetch.space = trace::Space::instruction;
       s.op(0, fetch).op(0, "s_icache_inv").op(0, fetch);
       CHECK_EQ(s.counters(Cache::instruction).read_misses, 2);
     }},
};

}  // namespace

TEST_CASE("rows of the control table, each with a test") {
  std::set<std::string> tested;
  for (const ControlTest& t : kTests) {
    CAPTURE(std::string(t.row));
    t.run();
    tested.insert(t.row);
  }
  for (const ControlRow& r : control_rows()) {
    CAPTURE(std::string(r.id));
    CHECK(tested.count(std::string(r.id)) == 1);
  }
}

TEST_CASE("policy words are those that ptxas folds") {
  CHECK_EQ(fractional_policy(Class::last, Class::unchanged, 1.0), 0x14F0000000000000);
  CHECK_EQ(fractional_policy(Class::first, Class::unchanged, 1.0), 0x12F0000000000000);
  CHECK_EQ(fractional_policy(Class::normal, Class::unchanged, 1.0), 0x16F0000000000000);
  CHECK_EQ(fractional_policy(Class::unchanged, Class::unchanged, 1.0), 0x10F0000000000000);
  CHECK_EQ(fractional_policy(Class::last, Class::unchanged, 0.5), 0x1470000000000000);
  CHECK_EQ(fractional_policy(Class::last, Class::first, 0.5), 0x1570000000000000);
  CHECK_EQ(fractional_policy(Class::last, Class::unchanged, 0.25), 0x1430000000000000);
  CHECK_EQ(fractional_policy(Class::last, Class::unchanged, 0.0625), 0x1400000000000000);
  CHECK_EQ(range_policy(Class::last, Class::first, 0, 4096, 4096) >> 56, 0x1D);
  const PolicyWord half = decode_policy(0x1570000000000000);
  unsigned last = 0;
  for (uint64_t i = 0; i < 16000; ++i)
    last += policy_class(half, kA + i * 128) == Class::last ? 1 : 0;
  CHECK(last > 7500);
  CHECK(last < 8500);
  const PolicyWord range =
      decode_policy(range_policy(Class::last, Class::first, kA + 0x2000, 0x2000, 0x10000));
  CHECK(policy_class(range, kA + 0x1000) == Class::first);
  CHECK(policy_class(range, kA + 0x2000) == Class::last);
  CHECK(policy_class(range, kA + 0x3f80) == Class::last);
  CHECK(policy_class(range, kA + 0x4000) == Class::first);
  CHECK_FALSE(decode_policy(0x2000000000000000).known);
}

TEST_CASE("victims: empty, then first, normal, last; inside a class the oldest") {
  Geometry g;
  g.ways = 4;
  Level level(g, 0, 100);
  const auto put = [&](uint64_t address, Priority p) {
    const uint32_t i = level.victim(address);
    if (!level.line(i).empty()) level.forget_priority(i);
    level.place(i, address, p);
  };
  put(0x000, Priority::last);
  put(0x080, Priority::normal);
  put(0x100, Priority::first);
  put(0x180, Priority::normal);
  CHECK_EQ(level.line(level.victim(0x200)).address, 0x100);
  put(0x200, Priority::normal);
  level.touch(level.find(0x080));
  CHECK_EQ(level.line(level.victim(0x280)).address, 0x180);
  level.remove(level.find(0x200));
  CHECK(level.line(level.victim(0x280)).empty());
  CHECK_EQ(level.persisting_lines(), 1);
}

TEST_CASE("replacement policies differ as their names say") {
  const auto victim_of = [](const char* name) {
    Geometry g;
    g.ways = 4;
    g.replacement = policy_named(name);
    Level level(g, 0, 100);
    for (const uint64_t a : {0x000, 0x080, 0x100, 0x180})
      level.place(level.victim(a), a, Priority::normal);
    for (const uint64_t a : {0x180, 0x000, 0x000, 0x100, 0x180}) level.touch(level.find(a));
    return level.line(level.victim(0x200)).address;
  };
  CHECK_EQ(victim_of("lru"), 0x080);
  CHECK_EQ(victim_of("fifo"), 0x000);
  CHECK_EQ(victim_of("mru"), 0x180);
  CHECK_EQ(victim_of("lfu"), 0x080);
  CHECK_EQ(victim_of("srrip"), 0x080);
  CHECK_EQ(victim_of("tree_plru"), 0x080);
  CHECK_EQ(victim_of("bit_plru"), 0x080);
  CHECK(victim_of("random") <= 0x180);
}

TEST_CASE("a cache that grows keeps every line until it is removed, at little over its size") {
  for (const uint32_t sets : {1U, 64U}) {
    Geometry g;
    g.infinite = true;
    g.sets = sets;
    Level level(g, 0, 100);
    level.keep_values();
    std::mt19937_64 random(sets);
    std::unordered_map<uint64_t, uint8_t> held;
    const auto check = [&](uint64_t address) {
      const uint32_t index = level.find(address);
      const auto it = held.find(address);
      REQUIRE_EQ(index != kNoLine, it != held.end());
      if (index == kNoLine) return;
      REQUIRE_EQ(level.line(index).address, address);
      REQUIRE_EQ(*level.bytes(index, address), it->second);
      REQUIRE_EQ(level.history(index).version[0], it->second);
    };
    // Addresses of few different sets, were sets those of the line's number.
    const auto any = [&] { return random() % 60'000 * (random() % 2 != 0 ? 0x80 : 0x80'0000); };
    for (unsigned step = 0; step < 200'000; ++step) {
      const uint64_t address = any();
      check(address);
      const uint32_t index = level.find(address);
      if (index != kNoLine) {
        if (random() % 4 != 0) continue;
        level.remove(index);
        held.erase(address);
      } else {
        const uint32_t to = level.victim(address);
        REQUIRE(level.line(to).empty());
        level.place(to, address, Priority::normal);
        const auto value = static_cast<uint8_t>(random());
        *level.bytes(to, address) = value;
        level.history(to).version[0] = value;
        held[address] = value;
      }
    }
    for (const auto& [address, value] : held) check(address);
    CHECK(held.size() > 50'000);
    CHECK(level.slots() < 2 * held.size());
  }
}

TEST_CASE("the persisting share of L2 is a limit") {
  const auto refused = [](uint32_t percent) {
    Preset p = parse_preset(R"({"name": "p", "sms": 1, "l1": {"sets": 1, "ways": 1},
                                "l2": {"sets": 1, "ways": 8}})",
                            "p");
    p.knobs.persisting_percent = percent;
    Stream s(Dialect::ptx, p);
    for (uint64_t i = 0; i < 4; ++i) s.op(0, "prefetch.global.L2::evict_last", {kA + 128 * i});
    return s.verdict(true);
  };
  CHECK_EQ(refused(50), "");
  CHECK_EQ(refused(25), "H8a");
}

TEST_CASE("requests: lines, and what the hardware forms") {
  trace::Lanes lanes;
  Requests out;
  const auto fill = [&](unsigned count, uint64_t stride) {
    lanes.count = count;
    for (unsigned i = 0; i < count; ++i) lanes.address[i] = kA + i * stride;
  };
  fill(32, 4);
  coalesce(lanes, 4, 128, out);
  CHECK_EQ(out.count, 1);
  CHECK(out.at[0].mask == ~Mask{});
  coalesce(lanes, 4, 64, out);
  CHECK_EQ(out.count, 2);
  fill(32, 128);
  coalesce(lanes, 4, 128, out);
  CHECK_EQ(out.count, 32);
  fill(2, 126);
  coalesce(lanes, 4, 128, out);  // the second lane crosses into the next line
  CHECK_EQ(out.count, 2);
  CHECK_EQ(out.at[1].mask.count(), 2);
  CHECK_EQ(nvidia_requests(0xffff'ffff, 4, 8), 4);
  CHECK_EQ(nvidia_requests(0xffff'ffff, 8, 8), 8);
  CHECK_EQ(nvidia_requests(0xffff'ffff, 16, 8), 16);
  CHECK_EQ(nvidia_requests(0xffff'ffff, 16, 32), 1);
  CHECK_EQ(nvidia_requests(0x0000'00ff, 4, 8), 1);

  trace::WaveRecord r;
  trace::BufferShape raw{true, false, 0, 0, 0};
  fill(64, 4);
  CHECK_EQ(gcn_requests(lanes, r, raw, 4, 64), 4);
  fill(64, 8);
  CHECK_EQ(gcn_requests(lanes, r, raw, 4, 64), 64);
  trace::BufferShape swizzled{true, true, 16, 4, 8};
  fill(64, 4);
  for (uint32_t i = 0; i < 64; ++i) {
    r.index.push_back(i);
    r.offset.push_back(0);
  }
  CHECK_EQ(gcn_requests(lanes, r, swizzled, 4, 64), 8);  // never across 8 indices
  swizzled.element_size = 8;
  CHECK_EQ(gcn_requests(lanes, r, swizzled, 4, 64), 64);
  swizzled.element_size = 4;
  r.offset[5] = 4;
  CHECK_EQ(gcn_requests(lanes, r, swizzled, 4, 64), 64);
  CHECK_EQ(gcn_requests(lanes, r, {true, false, 16, 0, 0}, 4, 64), 64);
}

TEST_CASE("presets: all of the contract, and errors that name the field") {
  const std::vector<std::string> names = preset_names();
  for (const char* name : {"sm50-spec", "sm50-silicon", "gm204", "gp102", "gv100", "ga100", "gh100",
                           "tahiti", "hawaii", "fiji", "infinite"}) {
    CAPTURE(std::string(name));
    CHECK_EQ(load_preset(name).name, std::string(name));
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
  CHECK_EQ(load_preset("gm204").l2.bytes(), 2u << 20);
  CHECK_EQ(load_preset("ga100").l2.bytes(), 40u << 20);
  CHECK_EQ(load_preset("gh100").l2.bytes(), 50u << 20);
  CHECK_EQ(load_preset("tahiti").l2.bytes(), 768u << 10);
  CHECK_EQ(load_preset("sm50-spec").l1.bytes(), 24u << 10);
  CHECK_THROWS_WITH_AS(load_preset("gx1"), doctest::Contains("sm50-spec"), Error);
  CHECK_THROWS_WITH_AS(parse_preset(R"({"name": "x", "l1": {"wayz": 3}})", "f.json"),
                       doctest::Contains("wayz"), Error);
  CHECK_THROWS_WITH_AS(parse_preset(R"({"name": "x", "l1": {"line": 48}, "l2": {}})", "f.json"),
                       doctest::Contains("powers of two"), Error);
  CHECK_THROWS_WITH_AS(parse_preset(R"({"name": "x", "l2": {}})", "f.json"),
                       doctest::Contains("'l1'"), Error);
  CHECK_THROWS_WITH_AS(
      parse_preset(R"({"name": "x", "l1": {}, "l2": {}, "knobs": {"l1_store": "up"}})", "f.json"),
      doctest::Contains("expected one of evict, update, write_back"), Error);
}

TEST_CASE("with values, a missing invalidation returns old data and a reset loses it") {
  Stream s(Dialect::sass, "gm204", true);
  s.op(0, "STG.E", {kA, 1, 4, 7});
  CHECK_EQ(s.load(1, "LDG.E"), 7);
  s.op(0, "STG.E", {kA, 1, 4, 9});
  CHECK_EQ(s.load(1, "LDG.E"), 7);
  CHECK_EQ(s.load(1, "LDG.E.CG"), 9);
  REQUIRE_EQ(s.tracker().findings().size(), 1);
  const Finding f = s.tracker().findings()[0];
  CHECK_EQ(f.value, 7);
  CHECK_EQ(f.newest_value, 9);
  CHECK_EQ(f.version, 1);
  CHECK_EQ(f.newest, 2);
  CHECK_EQ(f.where.sm, 1);
  CHECK_EQ(f.other_where.sm, 0);
  CHECK_EQ(f.line_history.size(), 3);
  s.op(1, "CCTL.IVALL");
  CHECK_EQ(s.load(1, "LDG.E"), 9);
  Stream lost(Dialect::sass, "sm50-spec", true);
  lost.op(0, "STL", {0x40, 1, 0, 5}).op(0, "CCTLL.WB [R2]", {0x40});
  lost.op(0, "STL", {0x40, 1, 0, 6}).op(0, "CCTLL.RS [R2]", {0x40});
  CHECK_EQ(lost.load(0, "LDL", {0x40}), 5);
  // The same value written again is no finding.
  Stream same(Dialect::sass, "gm204", true);
  same.op(0, "STG.E", {kA, 1, 4, 7}).op(1, "LDG.E").op(0, "STG.E", {kA, 1, 4, 7}).op(1, "LDG.E");
  CHECK_EQ(same.verdict(), "");
}

}  // namespace lanewise::cache
