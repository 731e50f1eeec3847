// Random traces for tests that run one trace through several trackers: plain loads and stores
// mostly, every kind of event between them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::cache {

using trace::Dialect;
using trace::EventKind;

/// The bytes that a tracker takes are its own affair.
inline std::string without_bytes(std::string report) {
  const std::string name = "\"tracker_bytes\":";
  for (size_t at = report.find(name); at != std::string::npos; at = report.find(name, at)) {
    at += name.size();
    report.erase(at, report.find_first_not_of(" 0123456789", at) - at);
  }
  return report;
}

/// Mostly plain ones; the others leave flags, classes and findings behind.
inline std::vector<const char*> instructions(Dialect d) {
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
  /// more: instructions beside the usual ones.
  Script(Dialect dialect, uint64_t seed, bool with_hints, std::span<const trace::Site> more = {})
      : random_(seed) {
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
    sites_.insert(sites_.end(), more.begin(), more.end());
  }
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  /// To all: to `general` one wave after the other, to `quick` as strided waves where they are.
  void run(std::span<Tracker* const> general, std::span<Tracker* const> quick, size_t rounds) {
    const auto both = [&](auto f) {
      for (Tracker* t : general) f(*t);
      for (Tracker* t : quick) f(*t);
    };
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
        for (Tracker* t : general) t->event(each);
      }
      for (Tracker* t : quick) t->waves(waves);
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

  std::mt19937_64 random_;
  trace::Kernel k_;
  std::vector<trace::Site> sites_;
};

}  // namespace lanewise::cache
