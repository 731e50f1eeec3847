// Event streams written by hand: one call is one instruction executed by one wave on one SM.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::cache {

inline constexpr uint64_t kA = 0x1000'0000, kB = 0x1001'0000, kC = 0x1002'0000;

/// How one instruction touches memory.
struct Touch {
  uint64_t address = kA;
  unsigned lanes = 1;
  int64_t stride = 4;
  uint64_t value = 0;  ///< low bytes are stored by every lane
};

class Stream {
 public:
  explicit Stream(trace::Dialect dialect, const std::string& preset = "infinite",
                  bool values = false)
      : Stream(dialect, load_preset(preset), values) {}
  Stream(trace::Dialect dialect, const Preset& preset, bool values = false)
      : dialect_(dialect), values_(values), tracker_(preset, options(values)) {
    trace::Kernel k;
    k.name = "k";
    k.dialect = dialect;
    k.wave_lanes = dialect == trace::Dialect::gcn ? 64 : 32;
    k.block = {k.wave_lanes, 1, 1};
    k.shared_base = 0x0100'0000;
    k.local_base = 0x0200'0000;
    k.shared_size = k.local_size = 0x1'0000;
    tracker_.kernel(k);
    begin();
  }

  Tracker& tracker() { return tracker_; }
  Engine& engine() { return tracker_.engine(); }
  const LevelCounters& counters(Cache c) { return tracker_.engine().counters(c); }

  Stream& begin() { return event(trace::EventKind::kernel_begin); }
  Stream& end() { return event(trace::EventKind::kernel_end); }
  Stream& next_kernel() { return end().begin(); }
  Stream& buffer(const trace::Buffer& b) {
    tracker_.buffer(b);
    return *this;
  }
  Stream& host_write(uint64_t address, uint64_t size) {
    return event(trace::EventKind::host_write, address, size);
  }
  Stream& host_read(uint64_t address, uint64_t size) {
    return event(trace::EventKind::host_read, address, size);
  }

  Stream& op(unsigned sm, const std::string& text, const Touch& t = {}) {
    return op(sm, trace::site_from_text(dialect_, text), t);
  }
  Stream& op(unsigned sm, const trace::Site& site, const Touch& t = {}) {
    trace::Event e;
    e.wave = record(sm, site, t);
    tracker_.event(e);
    return *this;
  }
  /// What the first lane of a load sees.
  uint64_t load(unsigned sm, const std::string& text, const Touch& t = {}) {
    const std::vector<uint8_t> bytes =
        tracker_.load_values(record(sm, trace::site_from_text(dialect_, text), t));
    uint64_t v = 0;
    for (size_t i = 0; i < bytes.size() / t.lanes; ++i) v |= uint64_t{bytes[i]} << (8 * i);
    return v;
  }

  /// Rule ids that spoke, the severity's first letter behind: "H1e H2w". Advice only on request.
  std::string verdict(bool advice = false) const {
    std::string all;
    for (const Finding& f : tracker_.findings()) {
      if (f.severity == Severity::advice && !advice) continue;
      if (!all.empty()) all += ' ';
      all += rule(f.rule).id;
      all += name(f.severity)[0];
    }
    return all;
  }

 private:
  static TrackerOptions options(bool values) {
    TrackerOptions o;
    o.keep_values = values;
    o.kept_contexts = 1 << 20;
    return o;
  }
  Stream& event(trace::EventKind kind, uint64_t address = 0, uint64_t size = 0) {
    trace::Event e;
    e.kind = kind;
    e.address = address;
    e.size = size;
    tracker_.event(e);
    return *this;
  }
  /// The same instruction is the same site.
  uint32_t site_index(const trace::Site& site) {
    const auto& all = tracker_.sites();
    for (uint32_t i = 0; i < all.size(); ++i)
      if (all[i].text == site.text && all[i].policy == site.policy && all[i].kind == site.kind &&
          all[i].emitted == site.emitted)
        return i;
    tracker_.site(site);
    return static_cast<uint32_t>(all.size() - 1);
  }
  trace::WaveRecord record(unsigned sm, const trace::Site& site, const Touch& t) {
    trace::WaveRecord r;
    r.site = site_index(site);
    r.group = sm;
    r.sm = static_cast<uint16_t>(sm);
    r.mask = t.lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << t.lanes) - 1;
    std::vector<uint64_t> at;
    for (unsigned i = 0; i < t.lanes; ++i)
      at.push_back(t.address + static_cast<uint64_t>(t.stride * static_cast<int64_t>(i)));
    trace::pack(r, at);
    if (values_)
      for (unsigned i = 0; i < t.lanes; ++i)
        for (unsigned b = 0; b < site.bytes; ++b)
          r.values.push_back(b < 8 ? static_cast<uint8_t>(t.value >> (8 * b)) : 0);
    return r;
  }

  trace::Dialect dialect_;
  bool values_;
  Tracker tracker_;
};

}  // namespace lanewise::cache
