// GCN buffer addressing, word by word as the documents have it. Nothing here is shared with the
// runtime, nothing is fast; the formulas are in docs/gcn-addressing.md.
#pragma once

#include <array>
#include <cstdint>

namespace lanewise::oracle::gcn {

using Words = std::array<uint32_t, 4>;
enum class Generation { si, ci, vi };

/// Bits `high` to `low` of the 128-bit descriptor.
constexpr uint64_t bits(const Words& w, unsigned high, unsigned low) {
  uint64_t value = 0;
  for (unsigned b = high + 1; b-- > low;) value = value * 2 + ((w[b / 32] >> (b % 32)) & 1);
  return value;
}

struct Descriptor {
  uint64_t base, stride, num_records;
  bool cache_swizzle, swizzle_enable, add_tid_enable;
  std::array<unsigned, 4> dst_sel;
  unsigned num_format, data_format;
  uint64_t element_size, index_stride;  ///< bytes, records
  unsigned mtype, type;
  bool atc, hash_enable, heap;
};
constexpr Descriptor decode(const Words& w) {
  Descriptor d{};
  d.base = bits(w, 47, 0);
  d.stride = bits(w, 61, 48);
  d.cache_swizzle = bits(w, 62, 62) != 0;
  d.swizzle_enable = bits(w, 63, 63) != 0;
  d.num_records = bits(w, 95, 64);
  for (unsigned n = 0; n < 4; ++n)
    d.dst_sel[n] = static_cast<unsigned>(bits(w, 98 + 3 * n, 96 + 3 * n));
  d.num_format = static_cast<unsigned>(bits(w, 110, 108));
  d.data_format = static_cast<unsigned>(bits(w, 114, 111));
  d.element_size = uint64_t{2} << bits(w, 116, 115);
  d.index_stride = uint64_t{8} << bits(w, 118, 117);
  d.add_tid_enable = bits(w, 119, 119) != 0;
  d.atc = bits(w, 120, 120) != 0;
  d.hash_enable = bits(w, 121, 121) != 0;
  d.heap = bits(w, 122, 122) != 0;
  d.mtype = static_cast<unsigned>(bits(w, 125, 123));
  d.type = static_cast<unsigned>(bits(w, 127, 126));
  return d;
}

struct Instruction {
  Generation gen = Generation::si;
  bool idxen = false, offen = false, addr64 = false;
  bool format = false;  ///< MTBUF, or MUBUF ..._FORMAT_...
  uint32_t inst_offset = 0;
};
struct Operands {
  uint32_t vgpr[2] = {0, 0};  ///< VADDR and the register after it
  uint32_t soffset = 0;
  uint32_t lane = 0;
};
struct Place {
  uint64_t address;
  bool in_range;
};

/// Where `size` bytes at `element` bytes into the access are, and whether the lane may have them.
constexpr Place place(const Instruction& i, const Descriptor& d, const Operands& o,
                      uint64_t element, uint64_t size) {
  if (i.addr64) {
    const uint64_t v = o.vgpr[0] + (uint64_t{o.vgpr[1]} << 32);
    const uint64_t sum = d.base + v + i.inst_offset + o.soffset + element;
    return {sum % (uint64_t{1} << 48), d.type == 0};
  }
  uint32_t v_index = 0, v_offset = 0;
  if (i.idxen && i.offen) {
    v_index = o.vgpr[0];
    v_offset = o.vgpr[1];
  } else if (i.idxen) {
    v_index = o.vgpr[0];
  } else if (i.offen) {
    v_offset = o.vgpr[0];
  }
  const uint32_t aindex = v_index + (d.add_tid_enable ? o.lane : 0);
  const uint32_t aoffset = v_offset + i.inst_offset;
  uint64_t stride = d.stride;
  if (i.gen == Generation::vi && d.add_tid_enable && !i.format)
    stride = stride + uint64_t{d.data_format} * 16384;

  uint64_t buffer_offset = 0;
  const uint64_t offset = uint64_t{aoffset} + element;
  if (!d.swizzle_enable) {
    buffer_offset = aindex * stride + offset;
  } else {
    const uint64_t index_msb = aindex / d.index_stride, index_lsb = aindex % d.index_stride;
    const uint64_t offset_msb = offset / d.element_size, offset_lsb = offset % d.element_size;
    buffer_offset = (index_msb * stride + offset_msb * d.element_size) * d.index_stride +
                    index_lsb * d.element_size + offset_lsb;
  }

  bool in_range = d.type == 0;
  const bool by_records = i.gen == Generation::vi ? stride != 0 && d.swizzle_enable : stride != 0;
  if (by_records) {
    if (aindex >= d.num_records) in_range = false;
    const bool looks_at_offset = i.gen == Generation::vi || i.idxen || d.add_tid_enable;
    if (looks_at_offset && aoffset >= stride) in_range = false;
  } else {
    const uint64_t limit = d.num_records >= o.soffset ? d.num_records - o.soffset : 0;
    // An element of no bytes (an invalid format) still must not start at the limit.
    if (buffer_offset >= limit || buffer_offset + size > limit) in_range = false;
  }
  return {d.base + o.soffset + buffer_offset, in_range};
}

/// Low address bits that the memory path drops: dwords and more to 4, halves to 2.
constexpr uint64_t aligned(uint64_t address, unsigned size) {
  const uint64_t unit = size >= 4 ? 4 : size;
  return address / unit * unit;
}

// Witnesses. The scratch descriptor: four-byte elements, 64 records a stripe, the lane added.
constexpr Words kScratch = {0x1000, 0x80000000, 0xffffffff, 0x00e8f000};
static_assert(decode(kScratch).element_size == 4 && decode(kScratch).index_stride == 64);
static_assert(decode(kScratch).add_tid_enable && decode(kScratch).swizzle_enable);
static_assert(place({}, decode(kScratch), {{0, 0}, 0, 5}, 12, 4).address == 0x1000 + 788);
// 16 records a stripe, 8-byte elements, stride 32, index 35, offset 20.
constexpr Words kStripes = {0, 0x80000000 | 32 << 16, 1000, 2 << 19 | 1 << 21};
static_assert(place({.idxen = true, .offen = true}, decode(kStripes), {{35, 20}, 0, 0}, 0, 4)
                  .address == 1308);
// What compilers put behind a global pointer with ADDR64: no records at all, and still in range.
constexpr Words kGlobal = {0x10000, 0, 0, 0xf000};
static_assert(place({.addr64 = true, .inst_offset = 4}, decode(kGlobal), {{8, 1}, 16, 0}, 0, 4)
                  .address == 0x10001001c);
static_assert(place({.addr64 = true}, decode(kGlobal), {{8, 0}, 0, 0}, 0, 4).in_range);
static_assert(!place({}, decode(kGlobal), {}, 0, 4).in_range);
// The null descriptor names the invalid format, whose elements have no bytes.
static_assert(!place({.gen = Generation::vi, .format = true}, decode({}), {}, 0, 0).in_range);
// A scalar offset beyond the end leaves nothing, also where the subtraction would wrap.
constexpr Words kSmall = {0, 0, 64, 0xf000};
static_assert(place({}, decode(kSmall), {{0, 0}, 60, 0}, 0, 4).in_range);
static_assert(!place({}, decode(kSmall), {{0, 0}, 64, 0}, 0, 4).in_range);
static_assert(!place({}, decode(kSmall), {{0, 0}, 100, 0}, 0, 4).in_range);

// --- atomics ------------------------------------------------------------------------------------
/// New memory from old memory and the data registers (CMPSWAP: source, then compare).
template <typename U, typename S>
constexpr U atomic(unsigned operation, U memory, U data, U compare) {
  switch (operation) {
    case 0:  // swap
      return data;
    case 1:  // cmpswap
      return memory == compare ? data : memory;
    case 2:
      return memory + data;
    case 3:
      return memory - data;
    case 4:  // rsub
      return data - memory;
    case 5:
      return static_cast<S>(data) < static_cast<S>(memory) ? data : memory;
    case 6:
      return data < memory ? data : memory;
    case 7:
      return static_cast<S>(data) > static_cast<S>(memory) ? data : memory;
    case 8:
      return data > memory ? data : memory;
    case 9:
      return memory & data;
    case 10:
      return memory | data;
    case 11:
      return memory ^ data;
    case 12:  // inc
      return memory >= data ? 0 : memory + 1;
    default:  // dec
      return memory == 0 || memory > data ? data : memory - 1;
  }
}
static_assert(atomic<uint32_t, int32_t>(4, 3, 10, 0) == 7);
static_assert(atomic<uint32_t, int32_t>(12, 5, 5, 0) == 0);
static_assert(atomic<uint32_t, int32_t>(13, 0, 9, 0) == 9);

}  // namespace lanewise::oracle::gcn
