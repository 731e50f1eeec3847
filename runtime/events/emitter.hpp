// Records of waves, made of the addresses of their lanes.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "runtime/events/collector.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::events {

class Emitter {
 public:
  explicit Emitter(Collector& c) : c_(c) { batch_.reserve(kBatch); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void group(uint64_t linear) { c_.event_.wave.group = static_cast<uint32_t>(linear); }

  /// The sink learns of records in batches: what is still here is reported now.
  void flush() {
    if (!batch_.empty()) c_.sink_.waves(batch_);
    batch_.clear();
  }

  bool touched(const Point& p, uint64_t address) const {
    return !p.address || c_.touches(p, address);
  }

  /// Forgets them: the sink has refused one.
  void drop() { batch_.clear(); }

  /// Where the next address of a record is put: slot `count`.
  void put(unsigned slot, uint64_t address) { addresses_[slot] = address; }
  /// The lanes of the mask, whose addresses stand in slots 0 to count - 1.
  void emit(uint16_t wave, const Point& p, uint32_t site, uint64_t mask, unsigned count) {
    flush();
    count_record(count);
    trace::WaveRecord& r = c_.event_.wave;
    r.site = site;
    r.wave = wave;
    r.mask = mask;
    trace::pack(r, std::span(addresses_).first(p.address ? count : 0));
    c_.sink_.event(c_.event_);
  }

  /// All lanes of the wave at one point; address(i) is lane i's. The lanes that cannot touch theirs
  /// are left out.
  template <typename Address>
  void each(uint16_t wave, const Point& p, uint32_t site, uint32_t lanes, const Address& address) {
    uint64_t mask = 0;
    unsigned count = 0;
    for (uint32_t i = 0; i < lanes; ++i) {
      const uint64_t a = address(i);
      if ((p.scalar && mask != 0) || !touched(p, a)) continue;
      mask |= uint64_t{1} << i;
      put(count++, a);
    }
    if (mask != 0) emit(wave, p, site, mask, count);
  }

  /// The same for addresses in even steps.
  void strided(uint16_t wave, const Point& p, uint32_t site, uint32_t lanes, uint64_t first,
               int64_t stride) {
    const uint64_t last = first + static_cast<uint64_t>(stride) * (lanes - 1);
    if (!p.address || p.scalar || !c_.touches_between(p, first, last))
      return each(wave, p, site, lanes,
                  [&](uint32_t i) { return first + static_cast<uint64_t>(stride) * i; });
    all(wave, site, lanes, first, stride);
  }

  /// The same where every lane touches its address for sure.
  void all(uint16_t wave, uint32_t site, uint32_t lanes, uint64_t first, int64_t stride) {
    count_record(lanes);
    batch_.push_back({.site = site,
                      .group = c_.event_.wave.group,
                      .wave = wave,
                      .mask = ~uint64_t{0} >> (64 - lanes),
                      .base = first,
                      .stride = lanes > 1 ? stride : 0});
    if (batch_.size() == kBatch) flush();
  }

 private:
  static constexpr size_t kBatch = 512;

  void count_record(unsigned lanes) {
    ++c_.records_;
    c_.lane_accesses_ += lanes;
  }

  Collector& c_;
  std::array<uint64_t, trace::kMaxLanes> addresses_{};
  std::vector<trace::StridedWave> batch_;
};

}  // namespace lanewise::events
