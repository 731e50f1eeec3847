// Every row of the access tables: a program that reaches it, and what it must leave behind.
#include <functional>
#include <set>

#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {
namespace {

using trace::Dialect;
using trace::Space;

/// Counters of L1 and L2 after a warm-up load, then the instruction, then the warm-up load again.
struct Effect3 {
  uint64_t l1_hits = 0;   ///< sectors the instruction itself found in L1
  uint64_t l2_reads = 0;  ///< requests it sent to L2
  uint64_t l2_writes = 0;
  bool line_after = true;  ///< the warm line is still whole in L1
  bool operator==(const Effect3&) const = default;
};

struct RowTest {
  const char* row;
  const char* text;
  Effect3 expected;
};

constexpr Effect3 kHit{1, 0, 0, true}, kPass{0, 1, 0, true}, kGone{0, 1, 0, false},
    kNothing{0, 0, 0, true}, kStoreGone{0, 0, 1, false}, kStoreKept{0, 0, 1, true};

// On sm50-spec (global loads in L1, stores evict).
constexpr RowTest kSassRows[] = {
    {"sass.ld.shared", "LDS.U.32", kNothing},
    {"sass.ld.mmio", "LDG.E.MMIO", kGone},
    {"sass.ld.strong.sys", "LDG.E.STRONG.SYS", kGone},
    {"sass.ld.strong.gpu", "LDG.E.STRONG.GPU", kPass},
    {"sass.ld.cv", "LDG.E.CV", kGone},
    {"sass.ld.cg", "LDG.E.CG", kPass},
    {"sass.ld.lu", "LDG.E.LU", kPass},
    {"sass.ld.ci", "LDG.E.CI", kHit},
    {"sass.ld.na", "LDG.E.NA", kHit},
    {"sass.ld.ef", "LDG.E.EF", kHit},
    {"sass.ld.el", "LDG.E.EL", kHit},
    {"sass.ld.eu", "LDG.E.EU", kHit},
    {"sass.ld.cs", "LDG.E.CS", kHit},
    {"sass.ld.ca", "LDG.E", kHit},
    {"sass.st.shared", "STS", kNothing},
    {"sass.st.mmio", "STG.E.MMIO", kStoreGone},
    {"sass.st.strong.sys", "STG.E.STRONG.SYS", kStoreGone},
    {"sass.st.strong.gpu", "STG.E.STRONG.GPU", kStoreGone},
    {"sass.st.cg", "STG.E.CG", kStoreGone},
    {"sass.st.cs", "STG.E.CS", kStoreGone},
    {"sass.st.wt", "STG.E.WT", kStoreGone},
    {"sass.st.na", "STG.E.NA", kStoreGone},
    {"sass.st.ef", "STG.E.EF", kStoreGone},
    {"sass.st.el", "STG.E.EL", kStoreGone},
    {"sass.st.eu", "STG.E.EU", kStoreGone},
    {"sass.st.wb", "STG.E", kStoreGone},
    {"sass.atom.shared", "ATOMS.ADD", kNothing},
    {"sass.atom", "ATOM.E.ADD", {0, 1, 1, false}},
};
// On ga100 (stores update the line).
constexpr RowTest kPtxRows[] = {
    {"ptx.ld.shared", "ld.shared.u32", kNothing},
    {"ptx.ld.mmio", "ld.mmio.relaxed.sys.global.u32", kGone},
    {"ptx.ld.volatile", "ld.volatile.global.u32", kGone},
    {"ptx.ld.acquire", "ld.acquire.gpu.global.u32", kGone},
    {"ptx.ld.acquire.sys", "ld.acquire.sys.global.u32", kGone},
    {"ptx.ld.relaxed.sys", "ld.relaxed.sys.global.u32", kGone},
    {"ptx.ld.relaxed.gpu", "ld.relaxed.gpu.global.u32", kPass},
    {"ptx.ld.relaxed.cta", "ld.relaxed.cta.global.u32", kHit},
    {"ptx.ld.nc.no_allocate", "ld.global.nc.L1::no_allocate.u32", kHit},
    {"ptx.ld.nc", "ld.global.nc.u32", kHit},
    {"ptx.ld.cv", "ld.global.cv.u32", kGone},
    {"ptx.ld.cg", "ld.global.cg.u32", kPass},
    {"ptx.ld.cs", "ld.global.cs.u32", kHit},
    {"ptx.ld.lu", "ld.global.lu.u32", kHit},
    {"ptx.ld.no_allocate", "ld.global.L1::no_allocate.u32", kHit},
    {"ptx.ld.evict_first", "ld.global.L1::evict_first.u32", kHit},
    {"ptx.ld.evict_last", "ld.global.L1::evict_last.u32", kHit},
    {"ptx.ld.evict_unchanged", "ld.global.L1::evict_unchanged.u32", kHit},
    {"ptx.ld.ca", "ld.global.u32", kHit},
    {"ptx.st.shared", "st.shared.u32", kNothing},
    {"ptx.st.mmio", "st.mmio.relaxed.sys.global.u32", kStoreGone},
    {"ptx.st.volatile", "st.volatile.global.u32", kStoreGone},
    {"ptx.st.relaxed.sys", "st.release.sys.global.u32", kStoreGone},
    {"ptx.st.relaxed.gpu", "st.relaxed.gpu.global.u32", kStoreGone},
    {"ptx.st.relaxed.cta", "st.relaxed.cta.global.u32", kStoreKept},
    {"ptx.st.cg", "st.global.cg.u32", kStoreGone},
    {"ptx.st.cs", "st.global.cs.u32", kStoreKept},
    {"ptx.st.wt", "st.global.wt.u32", kStoreKept},
    {"ptx.st.no_allocate", "st.global.L1::no_allocate.u32", kStoreKept},
    {"ptx.st.evict_first", "st.global.L1::evict_first.u32", kStoreKept},
    {"ptx.st.evict_last", "st.global.L1::evict_last.u32", kStoreKept},
    {"ptx.st.evict_unchanged", "st.global.L1::evict_unchanged.u32", kStoreKept},
    {"ptx.st.wb", "st.global.u32", kStoreKept},
    {"ptx.atom.shared", "atom.shared.add.u32", kNothing},
    {"ptx.atom.acquire", "atom.acquire.gpu.global.add.u32", {0, 1, 1, false}},
    {"ptx.atom", "red.global.add.u32", {0, 1, 1, false}},
};
// On tahiti.
constexpr RowTest kGcnRows[] = {
    {"gcn.ld.glc.slc", "buffer_load_dword v0, off glc slc", kGone},
    {"gcn.ld.slc", "buffer_load_dword v0, off slc", kGone},
    {"gcn.ld.glc", "buffer_load_dword v0, off glc", kGone},
    {"gcn.ld", "buffer_load_dword", kHit},
    {"gcn.st.slc", "buffer_store_dword v0, off slc", kStoreGone},
    {"gcn.st.glc", "buffer_store_dword v0, off glc", kStoreGone},
    {"gcn.st", "buffer_store_dword", kStoreKept},
    {"gcn.atomic", "buffer_atomic_add v0, off glc", {0, 1, 1, false}},
};

void check_row(Dialect dialect, const char* preset, const char* warm, const RowTest& t) {
  CAPTURE(std::string(t.text));
  const trace::Site site = trace::site_from_text(dialect, t.text);
  const Row* row = find_row(site, site.space == Space::generic ? Space::global : site.space);
  REQUIRE(row != nullptr);
  CHECK_EQ(std::string(row->id), std::string(t.row));
  Stream s(dialect, preset);
  s.op(0, warm);
  const LevelCounters l1 = s.counters(Cache::l1), l2 = s.counters(Cache::l2);
  s.op(0, t.text);
  const LevelCounters l1_then = s.counters(Cache::l1), l2_then = s.counters(Cache::l2);
  Effect3 seen;
  seen.l1_hits = l1_then.sector_hits - l1.sector_hits;
  seen.l2_reads = l2_then.reads - l2.reads;
  seen.l2_writes = l2_then.writes - l2.writes;
  s.op(0, warm);
  seen.line_after = s.counters(Cache::l1).sector_hits == l1_then.sector_hits + 1;
  CHECK_EQ(seen.l1_hits, t.expected.l1_hits);
  CHECK_EQ(seen.l2_reads, t.expected.l2_reads);
  CHECK_EQ(seen.l2_writes, t.expected.l2_writes);
  CHECK_EQ(seen.line_after, t.expected.line_after);
}

/// Rows that this file tests one by one below.
const std::set<std::string> kOwnTests = {
    "sass.ld.const",   "sass.ld.local.lu", "sass.ld.local",     "sass.st.local",   "sass.st.crs",
    "sass.fetch",      "ptx.ld.const",     "ptx.ld.local.lu",   "ptx.ld.local",    "ptx.st.local",
    "ptx.fetch",       "gcn.ld.lds",       "gcn.ld.scalar.glc", "gcn.ld.scalar",   "gcn.ld.scratch",
    "gcn.ld.uncached", "gcn.st.lds",       "gcn.st.scalar",     "gcn.st.uncached", "gcn.atomic.lds",
    "gcn.fetch"};

}  // namespace

TEST_CASE("rows of the SASS table") {
  for (const RowTest& t : kSassRows) check_row(Dialect::sass, "sm50-spec", "LDG.E.CA", t);
}
TEST_CASE("rows of the PTX table") {
  for (const RowTest& t : kPtxRows) check_row(Dialect::ptx, "ga100", "ld.global.ca.u32", t);
}
TEST_CASE("rows of the GCN table") {
  for (const RowTest& t : kGcnRows) check_row(Dialect::gcn, "tahiti", "flat_load_dword", t);
}

TEST_CASE("no row of an access table is without a test") {
  std::set<std::string> tested = kOwnTests;
  for (const RowTest& t : kSassRows) tested.insert(t.row);
  for (const RowTest& t : kPtxRows) tested.insert(t.row);
  for (const RowTest& t : kGcnRows) tested.insert(t.row);
  for (const Dialect d : {Dialect::sass, Dialect::ptx, Dialect::gcn})
    for (const Row& r : access_rows(d)) {
      CAPTURE(std::string(r.id));
      CHECK(tested.count(std::string(r.id)) == 1);
    }
}

TEST_CASE("local lines live dirty in L1 where the preset says so") {
  Stream spec(Dialect::sass, "sm50-spec"), silicon(Dialect::sass, "sm50-silicon");
  spec.op(0, "STL", {0x40, 32, 0});
  silicon.op(0, "STL", {0x40, 32, 0});
  CHECK_EQ(spec.counters(Cache::l2).writes, 0);
  CHECK_EQ(silicon.counters(Cache::l2).writes, 1);  // equal offsets of 32 lanes share a line
  spec.op(0, "LDL", {0x40, 32, 0});
  CHECK_EQ(spec.counters(Cache::l1).sector_hits, 4);
  spec.op(0, "CCTLL.IVALL");
  CHECK_EQ(spec.counters(Cache::l2).writes, 1);
  CHECK_EQ(spec.counters(Cache::l1).write_back_bytes, 128);
  spec.op(0, "STL.64", {0x80, 32, 0});  // two dwords, two lines
  CHECK_EQ(spec.counters(Cache::l1).writes, 3);
}

TEST_CASE("a last use drops dirty bytes") {
  for (const Dialect d : {Dialect::sass, Dialect::ptx}) {
    Stream s(d, "sm50-spec");
    const bool sass = d == Dialect::sass;
    s.op(0, sass ? "STL" : "st.local.u32", {0x40, 32, 0});
    s.op(0, sass ? "LDL.LU" : "ld.local.lu.u32", {0x40, 32, 0}).end();
    CHECK_EQ(s.counters(Cache::l1).write_backs, 0);
    CHECK_EQ(s.counters(Cache::l2).writes, 0);
    s.begin().op(0, sass ? "STL" : "st.local.u32", {0x40, 32, 0});
    s.op(0, sass ? "LDL" : "ld.local.u32", {0x40, 32, 0}).op(0, "CCTLL.IVALL");
  }
}

TEST_CASE("constants and instructions have caches of their own") {
  Stream s(Dialect::sass, "sm50-spec");
  s.op(0, "LDC", {0x1'0040}).op(0, "LDC", {0x1'0044}).op(0, "LDC", {0x1'0080});
  CHECK_EQ(s.counters(Cache::constant).reads, 3);
  CHECK_EQ(s.counters(Cache::constant).read_misses, 2);
  CHECK_EQ(s.counters(Cache::constant15).read_misses, 1);  // 256-byte lines
  CHECK_EQ(s.counters(Cache::l1).reads, 0);
  trace::Site fetch = trace::sass_site("NOP");
  fetch.kind = trace::OpKind::fetch;
  fetch.space = Space::instruction;
  s.op(0, fetch, {kB}).op(0, fetch, {kB});
  CHECK_EQ(s.counters(Cache::instruction).sector_hits, 1);
  CHECK_EQ(s.counters(Cache::instruction15).reads, 1);
  s.op(0, "CCTL.I.IVALL").op(0, fetch, {kB});
  CHECK_EQ(s.counters(Cache::instruction).read_misses, 2);
  CHECK_EQ(s.counters(Cache::instruction15).sector_hits, 1);  // level 1.5 stays
  Stream p(Dialect::ptx, "sm50-spec");
  p.op(0, "ld.const.u32", {0x40}).op(0, "ld.const.u32", {0x40});
  CHECK_EQ(p.counters(Cache::constant).sector_hits, 1);
  fetch.dialect = Dialect::ptx;
  p.op(0, fetch, {kB});
  CHECK_EQ(p.counters(Cache::instruction).reads, 1);
}

TEST_CASE("GCN: scalar cache, LDS, scratch, uncached") {
  Stream s(Dialect::gcn, "fiji");
  s.op(0, "s_load_dword").op(3, "s_load_dword").op(4, "s_load_dword");
  CHECK_EQ(s.counters(Cache::scalar).read_misses, 2);  // four CUs share one
  s.op(0, "s_load_dword s0, s[2:3], 0x0 glc");
  CHECK_EQ(s.counters(Cache::scalar).reads, 3);
  CHECK_EQ(s.counters(Cache::l2).reads, 3);
  s.op(0, "s_store_dword", {kB});
  CHECK_EQ(s.counters(Cache::l2).writes, 0);
  s.op(0, "s_dcache_wb");
  CHECK_EQ(s.counters(Cache::l2).writes, 1);
  const uint64_t before = s.counters(Cache::l2).reads;
  for (const trace::OpKind kind :
       {trace::OpKind::load, trace::OpKind::store, trace::OpKind::atomic}) {
    trace::Site lds = trace::gcn_site("buffer_load_dword lds");
    lds.text += std::to_string(static_cast<int>(kind));
    lds.kind = kind;
    lds.space = Space::shared;
    s.op(0, lds);
  }
  CHECK_EQ(s.counters(Cache::l2).reads, before);
  trace::Site scratch = trace::gcn_site("buffer_load_dword scratch");
  scratch.space = Space::local;
  s.op(0, scratch, {0x40, 64, 0});
  CHECK_EQ(s.counters(Cache::l2).reads, before + 4);  // 64 dwords, 64-byte lines
  trace::Site uc = trace::gcn_site("buffer_load_dword uc");
  uc.uncached = true;
  const uint64_t misses = s.counters(Cache::l2).read_misses;
  s.op(0, uc, {kC}).op(0, uc, {kC});
  CHECK_EQ(s.counters(Cache::l2).read_misses, misses + 2);
  trace::Site fetch = trace::gcn_site("s_nop 0");
  fetch.kind = trace::OpKind::fetch;
  fetch.space = Space::instruction;
  s.op(0, fetch).op(1, fetch);
  CHECK_EQ(s.counters(Cache::instruction).sector_hits, 1);
  trace::Site store = trace::gcn_site("buffer_store_dword uc");
  store.uncached = true;
  s.op(0, store, {kC}).op(0, uc, {kC});
  CHECK_EQ(s.counters(Cache::l2).write_backs, 1);
}

}  // namespace lanewise::cache
