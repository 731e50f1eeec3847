// The quick way of plain waves (Tracker::waves, Engine::run_stream) against the general way, on
// random traces under every preset: every report, byte for byte.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>
#include <regex>

#include "runtime/cache/engine/contexts.hpp"
#include "runtime/cache/engine/tracker.hpp"
#include "runtime/cache/reports/report.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::cache {
namespace {

using trace::Dialect;
using trace::EventKind;

/// Mostly plain ones; the others leave flags, classes and findings behind.
std::vector<const char*> instructions(Dialect d) {
  switch (d) {
    case Dialect::ptx:
      return {"ld.global.b32",
              "st.global.b32",
              "ld.global.nc.b32",
              "ld.b32",
              "st.b32",
              "ld.global.b64",
              "st.global.v4.b32",
              "ld.global.b8",
              "st.global.b16",
              "ld.global.cg.b32",
              "ld.global.cv.b32",
              "ld.acquire.gpu.global.b32",
              "atom.global.add.u32",
              "st.local.b32",
              "ld.local.b32",
              "st.global.L1::evict_last.b32",
              "ld.global.L2::128B.b32",
              "fence.acq_rel.cta",
              "discard.global.L2",
              "prefetch.global.L1",
              "ld.global.L1::evict_first.b32"};
    case Dialect::sass:
      return {"LDG.E",    "STG.E",    "LDG.E.CI",    "LDG.E.64",   "STG.E.128", "LDG.E.U8",
              "LDG.E.CG", "LDG.E.CV", "STG.E.EF",    "CCTL.IVALL", "CCTL.E.WB", "CCTL.E.RS",
              "LDL",      "STL",      "ATOMG.E.ADD", "MEMBAR.GPU", "LDC"};
    case Dialect::gcn:
      break;
  }
  return {"global_load_dword v1, v[2:3], off",
          "global_store_dword v[2:3], v1, off",
          "flat_load_dword v1, v[2:3]",
          "flat_store_dword v[2:3], v1",
          "global_load_dwordx4 v[4:7], v[2:3], off",
          "global_store_byte v[2:3], v1, off",
          "global_load_dword v1, v[2:3], off glc",
          "global_store_dword v[2:3], v1, off slc",
          "s_load_dword s0, s[2:3], 0x0",
          "buffer_wbinvl1",
          "s_dcache_inv",
          "global_atomic_add v[2:3], v1, off"};
}

/// What a reader would hand on.
class Script {
 public:
  Script(Dialect dialect, uint64_t seed, bool with_hints) : dialect_(dialect), random_(seed) {
    k_.name = "k";
    k_.dialect = dialect;
    k_.wave_lanes = dialect == Dialect::gcn ? 64 : 32;
    k_.block = {256, 1, 1};
    k_.shared_base = 0x0100'0000;
    k_.local_base = 0x0200'0000;
    k_.shared_size = k_.local_size = 0x1'0000;
    const auto all = instructions(dialect);
    for (const char* text : all) {
      if (!with_hints && sites_.size() == 9) break;
      sites_.push_back(trace::site_from_text(dialect, text));
    }
  }
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  /// To both: one wave after the other, and as strided waves where they are.
  void run(Tracker& general, Tracker& quick, size_t rounds) {
    const auto both = [&](auto f) { f(general), f(quick); };
    both([&](trace::Sink& t) {
      t.kernel(k_);
      for (const trace::Site& s : sites_) t.site(s);
      t.buffer({"host", 0x1000'0000, 0x4000, true, false});
    });
    const auto other = [&](const trace::Event& e) { both([&](trace::Sink& t) { t.event(e); }); };
    trace::Event e;
    e.kind = EventKind::kernel_begin;
    other(e);
    std::vector<trace::StridedWave> waves;
    for (size_t i = 0; i < rounds; ++i) {
      waves.resize(1 + below(below(4) == 0 ? 700 : 5));
      for (trace::StridedWave& w : waves) w = wave();
      trace::Event each;
      for (const trace::StridedWave& w : waves) {
        trace::to_record(w, each.wave);
        general.event(each);
      }
      quick.waves(waves);
      if (below(3) == 0) other(scattered());
      const size_t what = below(60);
      e = {};
      if (what < 3) {
        e.kind = EventKind::kernel_end;
        other(e);
        e.kind = EventKind::kernel_begin;
        other(e);
      } else if (what < 6) {
        e.kind = what == 5 ? EventKind::host_read : EventKind::host_write;
        e.address = some_address();
        e.size = 4 + below(4000);
        other(e);
      } else if (what == 6) {
        e.kind = EventKind::policy_window;
        e.address = some_address();
        e.size = 1 << 16;
        other(e);
      } else if (what < 9) {
        e.kind = EventKind::end_of_window;
        other(e);
      }
    }
    e = {};
    e.kind = EventKind::kernel_end;
    other(e);
  }

 private:
  uint64_t some_address() {
    // Few lines that SMs share, more of them, and many that come once.
    const size_t kind = below(10);
    return 0x1000'0000 + (kind < 4   ? below(1 << 12)
                          : kind < 8 ? below(1 << 17)
                                     : below(uint64_t{1} << 31)) /
                             4 * 4;
  }
  trace::StridedWave wave() {
    trace::StridedWave w;
    w.site = static_cast<uint32_t>(below(3) != 0 ? below(5) : below(sites_.size()));
    w.group = static_cast<uint32_t>(below(12));
    w.wave = static_cast<uint16_t>(below(4));
    if (below(4) == 0) w.sm = static_cast<uint16_t>(below(6));
    const uint64_t full = k_.wave_lanes == 64 ? ~uint64_t{0} : 0xffff'ffffU;
    w.mask = below(3) != 0 ? full : (random_() & random_() & full);
    if (below(40) == 0) w.mask = 0;
    w.base = some_address();
    if (below(30) == 0) w.base = (below(2) == 0 ? k_.shared_base : k_.local_base) + below(200) * 4;
    const auto bytes = static_cast<int64_t>(sites_[w.site].bytes);
    const int64_t strides[] = {bytes, bytes, bytes, 0, 2 * bytes, -bytes, 128, 1000};
    w.stride = strides[below(std::size(strides))];
    return w;
  }
  trace::Event scattered() {
    trace::Event e;
    trace::to_record(wave(), e.wave);
    std::vector<uint64_t> at;
    for (unsigned i = 0; i < trace::active_lanes(e.wave); ++i) at.push_back(some_address());
    trace::pack(e.wave, at);
    return e;
  }

  Dialect dialect_;
  std::mt19937_64 random_;
  trace::Kernel k_;
  std::vector<trace::Site> sites_;
};

/// The bytes that a tracker takes are its own affair.
std::string without_bytes(const std::string& json) {
  return std::regex_replace(json, std::regex("\"tracker_bytes\": *[0-9]+"), "");
}

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
  options.general_way = true;
  Tracker general(preset, options);
  Script(dialect, seed, with_hints).run(general, quick, 60);
  compare(general, quick);
}

TEST_CASE("cache stream: the quick way and the general way give equal reports") {
  for (const std::string& name : preset_names())
    for (const Dialect d : {Dialect::ptx, Dialect::sass, Dialect::gcn})
      for (uint64_t seed = 1; seed <= 4; ++seed)
        both_ways(load_preset(name), d, seed, seed % 2 == 0);
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
               "knobs": {"l1_store": "write_back"}})"})
    for (const Dialect d : {Dialect::ptx, Dialect::gcn})
      for (uint64_t seed = 20; seed < 23; ++seed)
        both_ways(parse_preset(text, "test"), d, seed, true);
}

TEST_CASE("cache stream: pages of memory that are packed come back as they were") {
  Memory memory;
  std::map<uint64_t, SectorState> model;
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> more;
  std::mt19937_64 random(5);
  uint32_t context = 0;
  for (int round = 0; round < 40'000; ++round) {
    // Mostly onwards, at times far back.
    const uint64_t page = random() % 50 != 0 ? uint64_t(round) / 20 : random() % 2'000;
    const uint64_t address = (page << kPageShift | random() % kPageBytes) & ~uint64_t{31};
    const auto sm = static_cast<uint32_t>(random() % 90);
    Page& p = memory.page(address);
    REQUIRE_EQ(p.sector(address).version(), model[address].version());
    REQUIRE_EQ(p.sector(address).writer(), model[address].writer());
    REQUIRE_EQ(p.sector(address).sm(), model[address].sm());
    const auto known = more.find(address);
    if (known != more.end()) {
      REQUIRE_EQ(p.written_bytes(address), known->second.second);
      REQUIRE_EQ(p.system, page % 3 == 0);
    }
    p.sector(address).written(context, sm);
    model[address].written(context++, sm);
    p.system = page % 3 == 0;
    p.written_bytes(address) = static_cast<uint32_t>(random());
    p.sharers_of(address) |= uint64_t{1} << (sm & 63);
    more[address] = {p.sharers_of(address), p.written_bytes(address)};
    if (page % 2 == 0) {
      ReadOnlyUse& use = memory.read_only_use(address, 3);
      CHECK((use.reader == ~uint32_t{0} || use.read.any()));
      use.reader = context;
      use.read.lo |= uint64_t{1} << random() % 64;
    }
    memory.trim();
  }
  CHECK_LT(memory.memory_bytes(), size_t{1'400} * sizeof(Page));
  for (const auto& [address, state] : model)
    REQUIRE_EQ(memory.page(address).sector(address).writer(), state.writer());
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
