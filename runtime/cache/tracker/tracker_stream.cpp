// Waves of plain loads and stores whose lanes lie one behind the other: from the record's base and
// stride straight to blocks and masks, and from there to the engine, many waves at a time. Each
// wave that asks for more takes the general path (tracker.cpp) once all before it have been made.
#include <algorithm>

#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {

using trace::OpKind;
using trace::Space;

bool Tracker::may_stream() const {
  return engine_.streams() && !hazards_.watching() && profile_ == nullptr && insight_ == nullptr &&
         !options_.general_path;
}

const Tracker::Stream& Tracker::new_stream(uint32_t site) {
  Stream& x = streams_[site];
  x.known = true;
  const trace::Site& s = sites_[site];
  if ((s.kind != OpKind::load && s.kind != OpKind::store) || s.bytes == 0 || s.bytes > 64) return x;
  x.generic = s.space == Space::generic;
  const Plan& p = plan(s, site, x.generic ? Space::global : s.space);
  if (p.row != nullptr) stream_sites_[site].set_plan(p);
  x.takes = p.streams && (x.generic || s.space == Space::global);
  x.gcn = s.dialect == trace::Dialect::gcn;
  x.buffer = s.buffer.present;
  x.bytes = static_cast<uint8_t>(s.bytes);
  x.kernel = s.kernel;
  x.full_requests =
      static_cast<uint8_t>(nvidia_requests(0xffff'ffffU, s.bytes, preset().knobs.request_lanes));
  return x;
}

/// Of generic addresses.
bool Tracker::all_global(const trace::StridedWave& w, const Stream& s, unsigned lanes) const {
  const trace::Kernel& k = kernels_[s.kernel];
  if (k.shared_size == 0 && k.local_size == 0) return true;
  if (w.stride < 0 || w.stride > 4096) return false;
  const uint64_t span = static_cast<uint64_t>(w.stride) * (lanes - 1);
  const auto apart = [&](uint64_t base, uint64_t size) {
    return size == 0 || (w.base - base >= size && base - w.base > span);
  };
  return apart(k.shared_base, k.shared_size) && apart(k.local_base, k.local_size);
}

void Tracker::waves(std::span<const trace::StridedWave> waves) {
  streams_now_ = may_stream();
  for (const trace::StridedWave& w : waves) {
    if (take(w)) [[likely]]
      continue;
    flush();
    trace::to_record(w, record_);
    wave(record_, nullptr);
    streams_now_ = may_stream();
  }
  flush();
}

/// Of the lines of `unit` bytes in which these bytes lie: block and mask of each, in their order.
template <class F>
inline void each_request(uint64_t at, unsigned bytes, unsigned unit, F f) {
  const uint64_t end = at + bytes;
  if (((at | bytes) & (unit - 1)) == 0) [[likely]] {
    if (unit == kBlockBytes) {
      for (; at != end; at += kBlockBytes) f(at, ~Mask{});
    } else {
      for (; at != end; at += 64) {
        const uint64_t low = (at / 64 % 2) - 1;  // all ones in the lower half
        f(at & ~uint64_t{64}, Mask{low, ~low});
      }
    }
    return;
  }
  while (at != end) {
    const auto in_block = static_cast<unsigned>(at % kBlockBytes);
    const unsigned part =
        static_cast<unsigned>(std::min<uint64_t>(end - at, unit - in_block % unit));
    f(at - in_block, byte_range(in_block, part));
    at += part;
  }
}

/// False: the wave needs the general path, and nothing has been done.
bool Tracker::take(const trace::StridedWave& w) {
  if (w.site >= streams_.size() || w.mask == 0 || !streams_now_) return false;
  const Stream& s = streams_[w.site];
  if (!s.takes && (s.known || !plans_[w.site].executed || !new_stream(w.site).takes)) return false;
  const unsigned lanes = w.mask == 0xffff'ffffU ? 32
                         : ~w.mask == 0         ? 64
                                                : static_cast<unsigned>(std::popcount(w.mask));
  const bool contiguous = w.stride == s.bytes || lanes == 1;
  if (!contiguous && w.stride != 0) return false;
  if (w.base + uint64_t{lanes} * s.bytes < w.base) return false;
  if (s.generic && !all_global(w, s, lanes)) return false;

  const uint32_t sm = modulo_sms_.of(w.sm != trace::kAnySm ? w.sm : w.group);
  const uint32_t context = new_context({w.site, w.group, w.wave, static_cast<uint16_t>(sm)});
  // Lanes at one address are as one.
  const unsigned bytes = contiguous ? lanes * s.bytes : s.bytes;
  StreamAccess* const first = accesses_.data() + waiting_;
  StreamAccess* next = first;
  each_request(w.base, bytes, l1_unit_, [&](uint64_t block, const Mask& mask) {
    *next++ = {block, mask, context, w.site, sm};
  });
  const auto requests = static_cast<size_t>(next - first);
  waiting_ += requests;

  SiteCounters& n = counters_[w.site];
  ++n.instructions;
  n.lanes += lanes;
  n.requests += requests;
  n.bytes += bytes;
  // No sector is in two lines.
  n.sectors += (w.base + bytes - 1) / 32 - w.base / 32 + 1;
  if (!s.gcn) {
    n.hardware_requests += w.mask == 0xffff'ffffU
                               ? s.full_requests
                               : nvidia_requests(w.mask, s.bytes, preset().knobs.request_lanes);
  } else if (s.buffer || !contiguous) {
    trace::to_record(w, record_);
    trace::unpack(record_, lanes_);
    n.hardware_requests +=
        gcn_requests(lanes_, record_, sites_[w.site].buffer, s.bytes, preset().l1.line);
  } else {
    // Lanes share a request while they are in one line.
    const uint64_t last = w.base + uint64_t{lanes - 1} * s.bytes;
    n.hardware_requests += 1 + (last >> l1_line_shift_) - (w.base >> l1_line_shift_);
  }
  if (waiting_ >= kMostWaiting) flush();
  return true;
}

void Tracker::flush() {
  if (waiting_ == 0) return;
  if (counters_moved_) {
    for (size_t i = 0; i < sites_.size(); ++i) stream_sites_[i].counters = &counters_[i];
    counters_moved_ = false;
  }
  const size_t count = std::exchange(waiting_, 0);
  engine_.run_stream({accesses_.data(), count}, stream_sites_.data(),
                     hazards_.watching_read_only());
  streams_now_ = may_stream();
}

}  // namespace lanewise::cache
