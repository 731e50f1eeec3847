// Waves of plain loads and stores whose lanes lie one behind the other: from the record's base and
// stride straight to blocks and masks, and from there to the engine, many waves at a time. Each
// wave that asks for more goes the general way (tracker.cpp) once all before it have been made.
#include <algorithm>

#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {

using trace::OpKind;
using trace::Space;

bool Tracker::may_stream() const {
  return engine_.streams() && !hazards_.watching() && profile_ == nullptr && insight_ == nullptr &&
         !options_.general_way;
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

/// False: the wave needs the general way, and nothing has been done.
bool Tracker::take(const trace::StridedWave& w) {
  if (w.site >= sites_.size() || w.mask == 0 || !streams_now_) return false;
  if (!streams_[w.site].known && !plans_[w.site].executed) return false;
  const Stream& s = stream_of(w.site);
  if (!s.takes) return false;
  const unsigned lanes = w.mask == 0xffff'ffffU ? 32
                         : ~w.mask == 0         ? 64
                                                : static_cast<unsigned>(std::popcount(w.mask));
  const bool contiguous = w.stride == s.bytes || lanes == 1;
  if (!contiguous && w.stride != 0) return false;
  if (w.base + uint64_t{lanes} * s.bytes < w.base) return false;
  if (s.generic && !all_global(w, s, lanes)) return false;

  const uint32_t sm = modulo_sms_.of(w.sm != trace::kAnySm ? w.sm : w.group);
  const uint32_t context = new_context({w.site, w.group, w.wave, static_cast<uint16_t>(sm)});
  SiteCounters& n = counters_[w.site];
  ++n.instructions;
  n.lanes += lanes;

  // Lanes at one address are as one.
  const unsigned bytes = contiguous ? lanes * s.bytes : s.bytes;
  const unsigned unit = l1_unit_;
  uint64_t at = w.base, requests = 0;
  for (unsigned left = bytes; left != 0; ++requests) {
    const auto in_block = static_cast<unsigned>(at % kBlockBytes);
    const unsigned part = std::min(left, unit - in_block % unit);
    // Most waves take whole lines.
    const Mask mask = part != unit    ? byte_range(in_block, part)
                      : unit > 64     ? ~Mask{}
                      : in_block == 0 ? Mask{~uint64_t{0}, 0}
                                      : Mask{0, ~uint64_t{0}};
    accesses_.push_back({at - in_block, mask, context, w.site, sm});
    at += part;
    left -= part;
  }
  // No sector is in two lines.
  n.sectors += (w.base + bytes - 1) / 32 - w.base / 32 + 1;
  n.bytes += bytes;
  n.requests += requests;
  if (!s.gcn) {
    n.hardware_requests += w.mask == 0xffff'ffffU
                               ? s.full_requests
                               : nvidia_requests(w.mask, s.bytes, preset().knobs.request_lanes);
  } else if (sites_[w.site].buffer.present || !contiguous) {
    trace::to_record(w, record_);
    trace::unpack(record_, lanes_);
    n.hardware_requests +=
        gcn_requests(lanes_, record_, sites_[w.site].buffer, s.bytes, preset().l1.line);
  } else {
    // Lanes share a request while they are in one line.
    const uint64_t last = w.base + uint64_t{lanes - 1} * s.bytes;
    n.hardware_requests += 1 + (last >> l1_line_shift_) - (w.base >> l1_line_shift_);
  }
  if (accesses_.size() >= 512) flush();
  return true;
}

void Tracker::flush() {
  if (accesses_.empty()) return;
  if (counters_moved_) {
    for (size_t i = 0; i < sites_.size(); ++i) stream_sites_[i].counters = &counters_[i];
    counters_moved_ = false;
  }
  engine_.run_stream(accesses_, stream_sites_.data(), hazards_.watching_read_only());
  accesses_.clear();
  streams_now_ = may_stream();
}

}  // namespace lanewise::cache
