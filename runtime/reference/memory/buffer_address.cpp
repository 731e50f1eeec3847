#include "runtime/reference/memory/buffer_address.hpp"

#include <algorithm>

#include "runtime/reference/memory/buffer_format.hpp"

namespace lanewise::reference {
namespace {

using Gen = ir::BufferAccess::Gen;

constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;

uint32_t field(uint32_t word, unsigned low, unsigned bits) {
  return word >> low & ((uint32_t{1} << bits) - 1);
}

/// On GFX8 an untyped access with ADD_TID_ENABLE takes four more stride bits from DATA_FORMAT.
uint32_t effective_stride(const ir::BufferAccess& access, const BufferDescriptor& d) {
  const bool extended = access.gen == Gen::gfx8 && d.add_tid && !access.format_op;
  return d.stride | (extended ? d.data_format << 14 : 0);
}

uint64_t offset_in_buffer(const BufferDescriptor& d, uint64_t stride, uint64_t index,
                          uint64_t offset) {
  if (!d.swizzle) return index * stride + offset;
  const uint64_t is = d.index_stride, es = d.element_size;
  return (index / is * stride + offset / es * es) * is + index % is * es + offset % es;
}

/// Records bound the access when the descriptor is structured; else bytes do.
bool counts_records(Gen gen, const BufferDescriptor& d, uint32_t stride) {
  return stride != 0 && (gen != Gen::gfx8 || d.swizzle);
}

}  // namespace

BufferDescriptor decode_descriptor(const std::array<uint32_t, 4>& w) {
  BufferDescriptor d{};
  d.base = w[0] | uint64_t{field(w[1], 0, 16)} << 32;
  d.stride = field(w[1], 16, 14);
  d.swizzle = field(w[1], 31, 1) != 0;
  d.num_records = w[2];
  d.data_format = field(w[3], 15, 4);
  d.element_size = 2u << field(w[3], 19, 2);
  d.index_stride = 8u << field(w[3], 21, 2);
  d.add_tid = field(w[3], 23, 1) != 0;
  d.type = field(w[3], 30, 2);
  return d;
}

BufferAddress buffer_address(const ir::BufferAccess& access, const std::array<uint32_t, 4>& words,
                             const BufferOperands& o) {
  const BufferDescriptor d = decode_descriptor(words);
  if (access.addr64) {
    const uint64_t vector = uint64_t{o.offset} << 32 | o.index;
    const uint64_t sum = d.base + vector + access.inst_offset + o.soffset + access.element_offset;
    return {sum & kAddressMask, d.type == 0};
  }
  const uint32_t stride = effective_stride(access, d);
  const uint32_t index = (access.idxen ? o.index : 0) + (d.add_tid ? o.lane : 0);
  const bool early = access.soffset_swizzled && d.swizzle;
  const uint32_t offset =
      (access.offen ? o.offset : 0) + access.inst_offset + (early ? o.soffset : 0);
  uint64_t in_buffer = offset_in_buffer(d, stride, index, uint64_t{offset} + access.element_offset);
  if (access.offset32) in_buffer &= 0xffffffff;
  BufferAddress result{d.base + (early ? 0 : o.soffset) + in_buffer, d.type == 0};
  if (counts_records(access.gen, d, stride)) {
    const bool offset_matters = access.gen == Gen::gfx8 || access.idxen || d.add_tid;
    if (index >= d.num_records || (offset_matters && offset >= stride)) result.in_range = false;
  } else {
    const uint64_t limit = d.num_records > o.soffset ? d.num_records - o.soffset : 0;
    // An element of an invalid format has no bytes, and still must not start at the limit.
    const uint32_t payload =
        access.payload_bytes != 0 ? access.payload_bytes : std::max(format_bytes(words[3]), 1U);
    if (in_buffer + payload > limit) result.in_range = false;
  }
  return result;
}

}  // namespace lanewise::reference
