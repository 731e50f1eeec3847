// Every counter of every preset against a literal model (tests/oracle/gpu_caches.hpp): random
// traces of several SMs with all operators, hints, cache controls, fences, host memory and host
// writes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/oracle/gpu_caches.hpp"
#include "tests/support/shares.hpp"

namespace lanewise::cache {
namespace {

using oracle::Does;
using oracle::First;
using oracle::Hint;
using oracle::Kind;
using oracle::Meaning;
using oracle::Way;
using trace::Dialect;

struct Instruction {
  const char* text;
  Meaning meaning;
};

Meaning load(Way way = Way::fill, Hint l1 = Hint::normal, Hint l2 = Hint::normal) {
  Meaning m;
  m.way = way;
  m.l1 = l1;
  m.l2 = l2;
  return m;
}
Meaning store(Does does = Does::preset, Hint l1 = Hint::normal, Hint l2 = Hint::normal) {
  Meaning m;
  m.kind = Kind::store;
  m.does = does;
  m.l1 = l1;
  m.l2 = l2;
  return m;
}
Meaning atomic() {
  Meaning m;
  m.kind = Kind::atomic;
  return m;
}
Meaning control(const char* what, bool local = false) {
  Meaning m;
  m.kind = Kind::control;
  m.control = what;
  m.local = local;
  return m;
}
Meaning fence(bool acquires) {
  Meaning m;
  m.kind = Kind::fence;
  m.acquires = acquires;
  return m;
}
template <class F>
Meaning with(Meaning m, F f) {
  f(m);
  return m;
}
Meaning local(Meaning m) {
  m.local = true;
  if (m.kind == Kind::store) m.does = Does::write_back;
  return m;
}
Meaning from(First first, Meaning m) {
  m.first = first;
  return m;
}
Meaning wide(Meaning m, unsigned bytes) {
  m.bytes = bytes;
  return m;
}
const auto kRefetch = [](Meaning& m) { m.refetch_system = true; };
const auto kUncache = [](Meaning& m) { m.uncached = true; };
const auto kThrough = [](Meaning& m) { m.write_through = true; };
const auto kStreams = [](Meaning& m) { m.stream = true; };
const auto kAcquires = [](Meaning& m) { m.acquires = true; };
const auto kLast = [](Meaning& m) { m.last_use = true; };
Meaning along(Meaning m, unsigned bytes) {
  m.prefetch = bytes;
  return m;
}

// What the Maxwell text, the PTX manual and the GCN manuals say of each (docs/cache-model.md).
std::vector<Instruction> sass() {
  return {
      {"LDG.E", load()},
      {"LDG.E.U8", wide(load(), 1)},
      {"LDG.E.128", wide(load(), 16)},
      {"LDG.E.CG", load(Way::cg)},
      {"LDG.E.CI", from(First::read_only, load())},
      {"LDG.E.CS", load()},
      {"LDG.E.LU", load(Way::cg)},
      {"LDG.E.CV", with(load(Way::drop), kRefetch)},
      {"LDG.E.EF", load(Way::fill, Hint::first, Hint::first)},
      {"LDG.E.EL", load(Way::fill, Hint::last)},
      {"LDG.E.EU", load(Way::fill, Hint::unchanged)},
      {"LDG.E.NA", load(Way::no_fill)},
      {"LDG.E.LTC128B.64", along(wide(load(), 8), 128)},
      {"LDG.E.LTC256B", along(load(), 256)},
      {"LDG.E.STRONG.CTA", load()},
      {"LDG.E.STRONG.GPU", load(Way::cg)},
      {"LDG.E.STRONG.SYS", with(load(Way::drop), kRefetch)},
      {"LDG.E.MMIO.SYS", with(load(Way::drop), kUncache)},
      {"LDC", from(First::constant, load())},
      {"LDL", local(load())},
      {"LDL.64", wide(local(load()), 8)},
      {"LDL.LU", with(local(load(Way::fill, Hint::first)), kLast)},
      {"STL", local(store())},
      {"STL.128", wide(local(store()), 16)},
      {"STG.E", store()},
      {"STG.E.U8", wide(store(), 1)},
      {"STG.E.64", wide(store(), 8)},
      {"STG.E.CG", store(Does::evict)},
      {"STG.E.CS", store(Does::preset, Hint::first, Hint::first)},
      {"STG.E.WT", with(store(), kThrough)},
      {"STG.E.NA", with(store(), [](Meaning& m) { m.way = Way::no_fill; })},
      {"STG.E.EF", store(Does::preset, Hint::first, Hint::first)},
      {"STG.E.EL", store(Does::preset, Hint::last)},
      {"STG.E.EU", store(Does::preset, Hint::unchanged, Hint::unchanged)},
      {"STG.E.STRONG.GPU", store(Does::evict)},
      {"STG.E.STRONG.SYS", with(store(Does::evict), kThrough)},
      {"STG.E.MMIO.SYS", with(store(Does::evict), kUncache)},
      {"ATOMG.E.ADD", atomic()},
      {"CCTL.E.PF1", control("prefetch l1")},
      {"CCTL.E.PF1.5", control("prefetch l2")},
      {"CCTL.E.PF2", control("prefetch l2")},
      {"CCTL.E.PML2", control("prefetch l2 last")},
      {"CCTL.E.DML2", control("demote")},
      {"CCTL.E.RML2", control("discard")},
      {"CCTL.E.WB", control("wb")},
      {"CCTL.E.IV", control("iv")},
      {"CCTL.E.RS", control("rs")},
      {"CCTLL.WB", control("wb", true)},
      {"CCTLL.IV", control("iv", true)},
      {"CCTLL.RS", control("rs", true)},
      {"CCTLL.PF1", control("prefetch l1", true)},
      {"CCTL.IVALL", control("ivall")},
      {"CCTL.U.IVALL", control("ivall")},
      {"CCTL.C.IVALL", control("ivall constant")},
      {"CCTLL.IVALL", control("ivall local")},
      {"CCTLT.IVALL", control("ivall read only")},
      {"MEMBAR.GL", fence(false)},
      {"MEMBAR.SC.GPU.IVALLD", fence(true)},
  };
}

std::vector<Instruction> ptx() {
  return {
      {"ld.global.u32", load()},
      {"ld.global.v4.u32", wide(load(), 16)},
      {"ld.global.ca.u8", wide(load(), 1)},
      {"ld.global.cg.u32", load(Way::cg)},
      {"ld.global.cs.u32", load(Way::fill, Hint::first, Hint::first)},
      {"ld.global.lu.u32", load(Way::fill, Hint::first, Hint::first)},
      {"ld.global.cv.u32", with(load(Way::drop), kRefetch)},
      {"ld.global.nc.u32", from(First::read_only, load())},
      {"ld.global.nc.L1::no_allocate.u32", from(First::read_only, load(Way::no_fill))},
      {"ld.global.L1::evict_first.u32", load(Way::fill, Hint::first)},
      {"ld.global.L1::evict_last.u32", load(Way::fill, Hint::last)},
      {"ld.global.L1::evict_unchanged.u32", load(Way::fill, Hint::unchanged)},
      {"ld.global.L1::no_allocate.u32", load(Way::no_fill)},
      {"ld.global.L2::evict_last.u32", load(Way::fill, Hint::normal, Hint::last)},
      {"ld.global.L2::evict_first.u32", load(Way::fill, Hint::normal, Hint::first)},
      {"ld.global.L2::64B.u32", along(load(), 64)},
      {"ld.global.L1::evict_last.L2::256B.u32", along(load(Way::fill, Hint::last), 256)},
      {"ld.relaxed.cta.global.u32", load()},
      {"ld.relaxed.gpu.global.u32", load(Way::cg)},
      {"ld.relaxed.sys.global.u32", with(load(Way::drop), kRefetch)},
      {"ld.acquire.gpu.global.u32", with(load(Way::cg), kAcquires)},
      {"ld.acquire.sys.global.u32", with(with(load(Way::drop), kRefetch), kAcquires)},
      {"ld.volatile.global.u32", with(load(Way::drop), kRefetch)},
      {"ld.mmio.relaxed.sys.global.u32", with(load(Way::drop), kUncache)},
      {"ld.const.u32", from(First::constant, load())},
      {"ld.local.u32", local(load())},
      {"ld.local.cs.u64", with(wide(local(load(Way::fill, Hint::first)), 8), kLast)},
      {"st.local.u32", local(store())},
      {"st.global.u32", store()},
      {"st.global.u8", wide(store(), 1)},
      {"st.global.v2.u32", wide(store(), 8)},
      {"st.global.cg.u32", store(Does::evict)},
      {"st.global.cs.u32", store(Does::preset, Hint::first, Hint::first)},
      {"st.global.wt.u32", with(store(), kThrough)},
      {"st.global.L1::no_allocate.u32", with(store(), [](Meaning& m) { m.way = Way::no_fill; })},
      {"st.global.L1::evict_first.u32", store(Does::preset, Hint::first, Hint::first)},
      {"st.global.L1::evict_last.u32", store(Does::preset, Hint::last)},
      {"st.global.L1::evict_unchanged.u32", store(Does::preset, Hint::unchanged, Hint::unchanged)},
      {"st.relaxed.gpu.global.u32", store(Does::evict)},
      {"st.release.sys.global.u32", with(store(Does::evict), kThrough)},
      {"st.volatile.global.u32", with(store(Does::evict), kThrough)},
      {"st.mmio.relaxed.sys.global.u32", with(store(Does::evict), kUncache)},
      {"atom.global.add.u32", atomic()},
      {"atom.acq_rel.gpu.global.add.u32", with(atomic(), kAcquires)},
      {"prefetch.global.L1", control("prefetch l1")},
      {"prefetch.local.L1", control("prefetch l1", true)},
      {"prefetch.global.L2", control("prefetch l2")},
      {"prefetch.global.L2::evict_last", control("prefetch l2 last")},
      {"prefetch.global.L2::evict_normal", control("prefetch l2 normal")},
      {"applypriority.global.L2::evict_normal", control("demote")},
      {"discard.global.L2", control("discard")},
      {"fence.acq_rel.cta", fence(false)},
      {"fence.acq_rel.gpu", fence(true)},
      {"fence.sc.sys", fence(true)},
  };
}

std::vector<Instruction> gcn() {
  const auto scalar = [](Meaning m) { return from(First::scalar, std::move(m)); };
  return {
      {"buffer_load_dword v1, v0, s[4:7], 0 offen", load()},
      {"buffer_load_ubyte v1, v0, s[4:7], 0 offen", wide(load(), 1)},
      {"buffer_load_dwordx4 v[1:4], v0, s[4:7], 0 offen", wide(load(), 16)},
      {"buffer_load_dword v1, v0, s[4:7], 0 offen glc", load(Way::glc)},
      {"buffer_load_dword v1, v0, s[4:7], 0 offen slc", with(load(Way::glc), kStreams)},
      {"buffer_load_dword v1, v0, s[4:7], 0 offen glc slc", with(load(Way::glc), kStreams)},
      {"buffer_store_dword v1, v0, s[4:7], 0 offen", store()},
      {"buffer_store_short v1, v0, s[4:7], 0 offen", wide(store(), 2)},
      {"buffer_store_dwordx2 v[1:2], v0, s[4:7], 0 offen", wide(store(), 8)},
      {"buffer_store_dword v1, v0, s[4:7], 0 offen glc", store(Does::evict)},
      {"buffer_store_dword v1, v0, s[4:7], 0 offen slc", with(store(Does::evict), kStreams)},
      {"buffer_atomic_add v1, v0, s[4:7], 0 offen", atomic()},
      {"buffer_atomic_add v1, v0, s[4:7], 0 offen glc", atomic()},
      {"s_load_dword s0, s[2:3], 0x0", scalar(load())},
      {"s_load_dwordx8 s[0:7], s[2:3], 0x0", scalar(wide(load(), 32))},
      {"s_load_dword s0, s[2:3], 0x0 glc", scalar(load(Way::drop))},
      {"s_store_dword s0, s[2:3], 0x0", scalar(store(Does::write_back))},
      {"buffer_wbinvl1", control("ivall vector")},
      {"buffer_wbinvl1_vol", control("ivall vector")},
      {"s_dcache_inv", control("scalar inv")},
      {"s_dcache_wb", control("scalar wb")},
  };
}

/// Blocks that fall into few sets of L2, so that they evict each other in the largest preset, too.
const std::vector<uint64_t>& crowded(const std::string& preset, oracle::Gpu& gpu, uint64_t base) {
  static std::map<std::string, std::vector<uint64_t>> known;
  std::vector<uint64_t>& blocks = known[preset];
  if (!blocks.empty()) return blocks;
  std::map<uint64_t, std::vector<uint64_t>> by_set;
  const oracle::Shape& s = gpu.shape("l2");
  const size_t wanted = s.infinite ? 24 : s.ways + 6;
  const size_t sets = std::min(2U, s.slices * s.sets);
  for (uint64_t block = base; blocks.size() < sets * wanted; block += 128) {
    auto& set = by_set[gpu.l2().set_of(block)];
    if (s.infinite || (set.size() < wanted && by_set.size() <= 2)) {
      set.push_back(block);
      blocks.push_back(block);
    } else if (by_set.size() > 2 && set.empty()) {
      by_set.erase(gpu.l2().set_of(block));
    }
  }
  return blocks;
}

uint64_t field(const LevelCounters& n, const std::string& name) {
  const std::map<std::string, uint64_t> all = {{"reads", n.reads},
                                               {"read_misses", n.read_misses},
                                               {"writes", n.writes},
                                               {"write_misses", n.write_misses},
                                               {"sector_hits", n.sector_hits},
                                               {"sector_misses", n.sector_misses},
                                               {"write_sector_hits", n.write_sector_hits},
                                               {"write_sector_misses", n.write_sector_misses},
                                               {"fills", n.fills},
                                               {"evictions", n.evictions},
                                               {"write_backs", n.write_backs},
                                               {"write_back_bytes", n.write_back_bytes},
                                               {"invalidated", n.invalidated},
                                               {"prefetches", n.prefetches},
                                               {"over_fetch", n.over_fetch},
                                               {"class normal", n.by_class[0]},
                                               {"class first", n.by_class[1]},
                                               {"class last", n.by_class[2]},
                                               {"class unchanged", n.by_class[3]}};
  return all.at(name);
}
constexpr const char* kLevelFields[] = {"reads",
                                        "read_misses",
                                        "writes",
                                        "write_misses",
                                        "sector_hits",
                                        "sector_misses",
                                        "write_sector_hits",
                                        "write_sector_misses",
                                        "fills",
                                        "evictions",
                                        "write_backs",
                                        "write_back_bytes",
                                        "invalidated",
                                        "prefetches",
                                        "over_fetch",
                                        "class normal",
                                        "class first",
                                        "class last",
                                        "class unchanged"};
constexpr std::pair<const char*, uint64_t SiteCounters::*> kSiteFields[] = {
    {"instructions", &SiteCounters::instructions},
    {"lanes", &SiteCounters::lanes},
    {"requests", &SiteCounters::requests},
    {"hardware_requests", &SiteCounters::hardware_requests},
    {"sectors", &SiteCounters::sectors},
    {"bytes", &SiteCounters::bytes},
    {"l1_hits", &SiteCounters::l1_hits},
    {"l1_misses", &SiteCounters::l1_misses},
    {"l2_hits", &SiteCounters::l2_hits},
    {"l2_misses", &SiteCounters::l2_misses},
    {"l1_write_hits", &SiteCounters::l1_write_hits},
    {"l1_write_misses", &SiteCounters::l1_write_misses},
    {"l2_write_hits", &SiteCounters::l2_write_hits},
    {"l2_write_misses", &SiteCounters::l2_write_misses},
    {"stale", &SiteCounters::stale}};

Preset with_stores(Preset p, const std::string& stores) {
  if (stores == "allocate") p.knobs.l1_store = L1Store::allocate;
  return p;
}

/// Both, fed alike.
class Both {
 public:
  /// A preset or "PRESET+VARIANT"; `stores` stands for its l1_store where it is not empty.
  Both(const std::string& preset, Dialect dialect, unsigned seed, const std::string& stores = {})
      : Both(preset,
             LANEWISE_TEST_DATA "/../runtime/cache/presets/" + preset.substr(0, preset.find('+')) +
                 ".json",
             dialect, seed, stores) {}
  /// A preset's file.
  Both(const std::filesystem::path& file, Dialect dialect, unsigned seed)
      : Both("file:" + file.string(), file.string(), dialect, seed, {}) {}

  /// One kernel begins and ends at one in `rarely` steps.
  void run(unsigned steps, unsigned rarely = 100) {
    event(trace::EventKind::kernel_begin);
    gpu_.kernel_begin();
    for (unsigned i = 0; i < steps; ++i) {
      const unsigned what = random_() % rarely;
      if (what == 0) {
        event(trace::EventKind::kernel_end);
        gpu_.kernel_end();
        event(trace::EventKind::kernel_begin);
        gpu_.kernel_begin();
      } else if (what < 3) {
        const uint64_t from = address(), bytes = 1 + random_() % 300;
        event(trace::EventKind::host_write, from, bytes);
        gpu_.host_write(from, bytes);
      } else {
        instruction();
      }
    }
    event(trace::EventKind::kernel_end);
    gpu_.kernel_end();
  }

  /// What differs, or nothing.
  std::string difference() {
    std::string out;
    for (const Cache c : {Cache::l1, Cache::l2, Cache::constant, Cache::constant15, Cache::scalar})
      for (const char* name : kLevelFields) {
        const uint64_t model = gpu_.caches[std::string(cache::name(c))][name];
        const uint64_t ours = field(tracker_.engine().counters(c), name);
        if (model != ours)
          out += fmt::format("{} {}: model {}, tracker {}\n", cache::name(c), name, model, ours);
      }
    for (unsigned i = 0; i < all_.size(); ++i)
      for (const auto& [name, at] : kSiteFields)
        if (gpu_.sites[i][name] != tracker_.site_counters()[i].*at)
          out += fmt::format("{} {}: model {}, tracker {}\n", all_[i].text, name,
                             gpu_.sites[i][name], tracker_.site_counters()[i].*at);
    return out;
  }
  uint64_t evictions() { return gpu_.caches["L2"]["evictions"] + gpu_.caches["L1"]["evictions"]; }
  uint64_t stale() {
    uint64_t n = 0;
    for (auto& [site, counts] : gpu_.sites) n += counts["stale"];
    return n;
  }

 private:
  Both(const std::string& preset, const std::string& file, Dialect dialect, unsigned seed,
       const std::string& stores)
      : random_(seed),
        dialect_(dialect),
        gpu_(file, dialect == Dialect::gcn,
             preset.find('+') == preset.npos ? "" : preset.substr(preset.find('+') + 1), stores),
        tracker_(with_stores(load_preset(preset), stores)) {
    all_ = dialect == Dialect::sass ? sass() : dialect == Dialect::ptx ? ptx() : gcn();
    trace::Kernel k;
    k.dialect = dialect;
    k.wave_lanes = lanes_ = dialect == Dialect::gcn ? 64 : 32;
    k.block = {lanes_, 1, 1};
    k.local_base = uint64_t{1} << 50;  // nobody uses generic addresses
    k.local_size = kLocal;
    tracker_.kernel(k);
    for (const Instruction& i : all_) tracker_.site(trace::site_from_text(dialect, i.text));
    trace::Buffer host;
    host.address = kHost;
    host.size = 0x10000;
    host.system = true;
    tracker_.buffer(host);
    gpu_.system_pages(kHost, 0x10000);
    pool_ = crowded(preset, gpu_, 0x4000'0000);
    sms_ = {0, gpu_.sms - 1, static_cast<unsigned>(random_() % gpu_.sms),
            std::min(64u, gpu_.sms - 1)};
  }

  static constexpr uint64_t kHost = 0x2000'0000, kLocal = 4096;

  void event(trace::EventKind kind, uint64_t address = 0, uint64_t size = 0) {
    trace::Event e;
    e.kind = kind;
    e.address = address;
    e.size = size;
    tracker_.event(e);
  }
  uint64_t address() {
    const unsigned kind = random_() % 8;
    const uint64_t within = random_() % 128;
    if (kind == 0) return kHost + random_() % 8 * 128 + within;
    if (kind == 1) return 0x6000'0000 + random_() % 1024 * 64;
    return pool_[random_() % pool_.size()] + within;
  }
  void instruction() {
    const auto site = static_cast<unsigned>(random_() % all_.size());
    const Meaning& m = all_[site].meaning;
    const unsigned sm = sms_[random_() % sms_.size()];
    const uint32_t group = random_() % 3;
    trace::Event e;
    trace::WaveRecord& r = e.wave;
    r.site = site;
    r.sm = static_cast<uint16_t>(sm);
    r.group = group;
    std::vector<oracle::Gpu::Lane> lanes;
    std::vector<uint64_t> at;
    const bool block = m.control == "demote" || m.control == "discard";
    const unsigned pattern = m.first == First::scalar ? 3 : random_() % 4;
    const uint64_t start = address() / m.bytes * m.bytes;
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      if (pattern == 3 ? !at.empty() : (pattern != 0 && random_() % 4 == 0)) continue;
      uint64_t a = pattern == 0   ? start + uint64_t{lane} * m.bytes
                   : pattern == 1 ? address() / m.bytes * m.bytes
                                  : start + uint64_t{lane} * m.bytes * 2;
      if (m.local) a = pattern == 1 ? random_() % 64 * 16 : start % 64 * 16;
      if (block && random_() % 8 != 0) a = a / 128 * 128;
      r.mask |= uint64_t{1} << lane;
      lanes.push_back({lane, a});
      at.push_back(a);
    }
    trace::pack(r, at);
    if (at.empty()) return;
    tracker_.event(e);
    gpu_.execute(site, m, sm, context_++, lanes, group, lanes_, kLocal);
  }

  std::mt19937 random_;
  Dialect dialect_;
  oracle::Gpu gpu_;
  Tracker tracker_;
  std::vector<Instruction> all_;
  unsigned lanes_ = 32;
  std::vector<uint64_t> pool_;
  std::vector<unsigned> sms_;
  uint64_t context_ = 0;
};

TEST_CASE("every counter of every preset and variant is the literal model's") {
  uint64_t evictions = 0, stale = 0;
  std::vector<std::string> all = preset_names();
  for (const std::string& variant : preset_variants()) all.push_back(variant);
  const unsigned seeds = lanewise::test::whole_tests() ? 200 : 50;
  for (const std::string& preset : all) {
    const std::string chip = preset.substr(0, preset.find('+'));
    const bool amd = chip == "tahiti" || chip == "hawaii" || chip == "fiji";
    for (unsigned seed = 0; seed < seeds; ++seed) {
      const unsigned turn = seed % (preset == "infinite" ? 3 : 2);
      const Dialect dialect = amd || turn == 2 ? Dialect::gcn
                              : turn == 1      ? Dialect::ptx
                                               : Dialect::sass;
      CAPTURE(preset);
      CAPTURE(seed);
      Both both(preset, dialect, seed);
      both.run(80);
      REQUIRE_EQ(both.difference(), "");
      evictions += both.evictions();
      stale += both.stale();
    }
  }
  // The traces do what they are meant to do.
  CHECK(evictions > 1000);
  CHECK(stale > 250);
}

TEST_CASE(
    "stores that allocate in L1 and fetch lazily are the literal model's, on a small L1, too") {
  for (const char* preset : {"gm204", "sm50-spec", "sm50-spec+lines32", "fiji", "infinite"})
    for (unsigned seed = 0; seed < 60; ++seed) {
      CAPTURE(std::string(preset));
      CAPTURE(seed);
      const Dialect dialect = std::string(preset) == "fiji" ? Dialect::gcn
                              : seed % 2 == 0               ? Dialect::ptx
                                                            : Dialect::sass;
      Both both(preset, dialect, 1000 + seed, "allocate");
      both.run(120);
      REQUIRE_EQ(both.difference(), "");
    }
}

TEST_CASE("sets of many ways are the literal model's") {
  struct Shape {
    const char *l1, *l2, *knobs;
  };
  const Shape shapes[] = {
      {R"("sets": 1, "ways": 64, "line": 128, "sector": 32)",
       R"("sets": 1, "ways": 64, "line": 128, "sector": 32)", R"("l1_store": "update")"},
      {R"("sets": 2, "ways": 48, "line": 128, "sector": 32)",
       R"("sets": 2, "ways": 100, "line": 128, "sector": 32)",
       R"("l1_store": "allocate", "persisting_percent": 25)"},
      {R"("sets": 1, "ways": 33, "line": 64, "sector": 64)",
       R"("sets": 3, "ways": 130, "line": 64, "sector": 64)", R"("l1_store": "evict")"},
      {R"("sets": 4, "ways": 224, "line": 128, "sector": 32)",
       R"("slices": 2, "sets": 1, "ways": 512, "line": 128, "sector": 32, "hash": "ipoly")",
       R"("l1_store": "update")"},
      {R"("sets": 1, "ways": 1024, "line": 128, "sector": 32)",
       R"("sets": 1, "ways": 1024, "line": 128, "sector": 32)", R"("l1_store": "update")"},
  };
  uint64_t stale = 0;
  unsigned number = 0;
  for (const Shape& shape : shapes) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() /
        fmt::format("lanewise_many_ways_{}_{}.json", ++number, std::random_device{}());
    std::ofstream(file) << fmt::format(
        R"({{"name": "many{}", "sms": 3, "l1": {{{}}}, "l2": {{{}}}, "knobs": {{{}}}}})", number,
        shape.l1, shape.l2, shape.knobs);
    uint64_t here = 0;
    for (unsigned seed = 0; seed < (lanewise::test::whole_tests() ? 4 : 2); ++seed) {
      CAPTURE(number);
      CAPTURE(seed);
      Both both(file, seed % 2 == 0 ? Dialect::ptx : Dialect::sass, 2000 + seed);
      both.run(700, 2000);
      REQUIRE_EQ(both.difference(), "");
      here += both.evictions();
      stale += both.stale();
    }
    CHECK(here > 1000);
    std::filesystem::remove(file);
  }
  CHECK(stale > 10);
}

}  // namespace
}  // namespace lanewise::cache
