// Items of a block: definitions and events, to bytes and back.
#pragma once

#include "runtime/trace/bytes.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::trace {

enum class Item : uint8_t {
  kernel = 1,
  site,
  buffer,
  wave,
  kernel_begin,
  kernel_end,
  host_write,
  host_read,
  policy_window,
  end_of_window,
  end
};

void put_kernel(Put& out, const Kernel& k);
void put_site(Put& out, const Site& s);
void put_buffer(Put& out, const Buffer& b);
/// `previous` is the base address of the wave record before, in the same block.
void put_event(Put& out, const Event& e, uint64_t& previous);
/// The same record as the event that holds it (to_record).
void put_strided(Put& out, const StridedWave& w, uint64_t& previous);

Kernel take_kernel(Take& in);
Site take_site(Take& in);
Buffer take_buffer(Take& in);
/// The part of a wave record that every one has.
struct WaveStart {
  static constexpr uint8_t kFullMask = 1, kHasSm = 2, kHasValues = 4, kHasIndex = 8;
  uint8_t head = 0;
  StridedWave wave;
  AddressMode mode() const { return static_cast<AddressMode>(head >> 4); }
  /// `wave` is all of it.
  bool strided() const {
    return mode() == AddressMode::affine && (head & (kHasValues | kHasIndex)) == 0;
  }
};
inline void take_wave_start(Take& in, WaveStart& s, uint64_t& previous) {
  s.head = in.byte();
  if (s.head >> 4 > static_cast<uint8_t>(AddressMode::deltas))
    Take::fail("holds an address mode we do not know");
  StridedWave& w = s.wave;
  w.site = static_cast<uint32_t>(in.below(1ULL << 32, "site"));
  w.group = static_cast<uint32_t>(in.below(1ULL << 32, "work-group"));
  w.wave = static_cast<uint16_t>(in.below(1 << 16, "wave"));
  w.sm =
      (s.head & WaveStart::kHasSm) != 0 ? static_cast<uint16_t>(in.below(1 << 16, "SM")) : kAnySm;
  w.mask = (s.head & WaveStart::kFullMask) != 0 ? 0xffff'ffffULL : in.u();
  w.base = 0;
  w.stride = 0;
  if (s.mode() != AddressMode::none) previous = w.base = previous + static_cast<uint64_t>(in.s());
  if (s.mode() == AddressMode::affine) w.stride = in.s();
}
/// The whole record.
void take_wave(Take& in, const WaveStart& start, WaveRecord& r);
void take_plain_event(Take& in, Item item, Event& e);

}  // namespace lanewise::trace
