#include "runtime/cache/tracker/coalesce.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

void add(Requests& out, uint64_t line, uint64_t block, const Mask& mask, unsigned line_bytes) {
  const auto same = [&](const Request& r) {
    const unsigned at = r.mask.lo != 0 ? 0 : 64;
    return r.block == block && (line_bytes >= kBlockBytes || block + at == line);
  };
  for (unsigned i = out.count; i-- > 0;)
    if (same(out.at[i])) {
      out.at[i].mask |= mask;
      return;
    }
  if (out.count < out.at.size()) out.at[out.count++] = {block, mask};
}

bool contiguous(const trace::Lanes& lanes, unsigned i, unsigned bytes) {
  return lanes.address[i] == lanes.address[i - 1] + bytes;
}

bool indices_coalesce(const trace::WaveRecord& r, const trace::BufferShape& s, unsigned bytes) {
  if (r.index.empty() || !(s.stride <= 1 || s.swizzle)) return false;
  if (std::adjacent_find(r.offset.begin(), r.offset.end(), std::not_equal_to<>()) != r.offset.end())
    return false;
  return !s.swizzle || s.element_size == bytes;
}

}  // namespace

void coalesce(const trace::Lanes& lanes, unsigned bytes, unsigned line, Requests& out) {
  const unsigned unit = line >= kBlockBytes ? 128 : 64;
  out.count = 0;
  for (unsigned i = 0; i < lanes.count;) {
    uint64_t at = lanes.address[i];
    // Lanes that follow each other without a gap, as most do, are one range.
    unsigned left = bytes;
    while (++i < lanes.count && lanes.address[i] == at + left) left += bytes;
    while (left != 0) {
      const auto in_block = static_cast<unsigned>(at % kBlockBytes);
      const unsigned n = std::min(left, unit - in_block % unit);
      add(out, at & ~uint64_t{unit - 1}, at - in_block, byte_range(in_block, n), unit);
      at += n;
      left -= n;
    }
  }
}

unsigned nvidia_requests(uint64_t lane_mask, unsigned bytes, unsigned request_lanes) {
  const unsigned shrink = request_lanes < 32 ? std::max(1u, bytes / 4) : 1;
  const unsigned lanes = std::clamp(request_lanes / shrink, 1u, 64u);
  const uint64_t group = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
  unsigned requests = 0;
  for (unsigned at = 0; at < 64; at += lanes)
    if ((lane_mask >> at & group) != 0) ++requests;
  return requests;
}

unsigned gcn_requests(const trace::Lanes& lanes, const trace::WaveRecord& record,
                      const trace::BufferShape& shape, unsigned bytes, unsigned line) {
  if (lanes.count == 0) return 0;
  const bool by_address = !shape.present || (shape.stride == 0 && !shape.swizzle);
  const bool by_index = !by_address && indices_coalesce(record, shape, bytes);
  unsigned requests = 1;
  for (unsigned i = 1; i < lanes.count; ++i) {
    bool joins = false;
    if (by_address) {
      joins = contiguous(lanes, i, bytes);
    } else if (by_index) {
      joins =
          record.index[i] == record.index[i - 1] + 1 &&
          !(shape.swizzle && shape.index_stride != 0 && record.index[i] % shape.index_stride == 0);
    }
    if (joins && lanes.address[i] / line == lanes.address[i - 1] / line) continue;
    ++requests;
  }
  return requests;
}

uint64_t local_address(uint64_t wave, uint64_t wave_bytes, unsigned wave_lanes, unsigned lane,
                       uint64_t offset) {
  const uint64_t word = offset / 4;
  return kLocalBase + (wave * wave_bytes + word * 4) * wave_lanes % kLocalBase +
         uint64_t{lane} * 4 + offset % 4;
}

}  // namespace lanewise::cache
