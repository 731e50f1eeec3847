// GCN buffer addressing: descriptor, index and offsets to an address and a range verdict.
// Formulas: docs/gcn-addressing.md. Flags pack an ir::BufferAccess: bits 0-1 generation (0 gfx6,
// 1 gfx7, 2 gfx8), 2 idxen, 3 offen, 4 addr64, 5 format op, 6-17 instruction offset,
// 18-22 element offset, 23-27 payload bytes (0: the size of the descriptor's format), 28 the offset
// inside the buffer has 32 bits, 29 SOFFSET joins before the swizzle.

B64 low48(const in B64 a) { return b64(lo64(a), hi64(a) & 0xffffu); }

bool is_swizzled(const in uint w1) { return (w1 >> 31) != 0u; }

/// Byte offset inside a swizzled buffer. Sums are 64 bits wide: a huge index does not come back in.
B64 swizzled_offset(const in uint w3, const in uint stride, const in uint index,
                    const in B64 offset) {
  uint is_shift = 3u + bitfieldExtract(w3, 21, 2), es_shift = 1u + bitfieldExtract(w3, 19, 2);
  uint index_msb = index >> is_shift, index_lsb = index & ((1u << is_shift) - 1u);
  uint offset_lsb = lo64(offset) & ((1u << es_shift) - 1u);
  B64 rows = add64(mulwide32(index_msb, stride), sub64(offset, b64(offset_lsb, 0u)));
  return add64(shl64_some(rows, is_shift), b64((index_lsb << es_shift) + offset_lsb, 0u));
}

/// Address low, address high, 1 when in range.
uvec3 lw_buffer_address(const in uint w0, const in uint w1, const in uint w2, const in uint w3,
                        const in uint v_index, const in uint v_offset, const in uint soffset,
                        const in uint flags) {
  bool gfx8 = (flags & 3u) == 2u, idxen = (flags & 4u) != 0u, offen = (flags & 8u) != 0u;
  uint inst_offset = (flags >> 6) & 0xfffu;
  uint element = (flags >> 18) & 31u, payload = (flags >> 23) & 31u;
  B64 base = add64(b64(w0, w1 & 0xffffu), b64(soffset, 0u));
  if ((flags & 16u) != 0u) {
    B64 at = add64(add64(base, b64(v_index, v_offset)), b64(inst_offset + element, 0u));
    at = low48(at);
    return uvec3(lo64(at), hi64(at), (w3 >> 30) == 0u ? 1u : 0u);
  }
  bool add_tid = (w3 & 0x800000u) != 0u, bound = w3 < 0x40000000u;
  uint records = pick(bound, w2, 0u), stride = bitfieldExtract(w1, 16, 14);
  if (gfx8 && (flags & 32u) == 0u) stride |= pick(add_tid, ((w3 >> 15) & 15u) << 14, 0u);
  uint index = (idxen ? v_index : 0u) + (lane_index & 63u & uint(bitfieldExtract(int(w3), 23, 1)));
  uint offset = (offen ? v_offset : 0u) + inst_offset;
  bool early = (flags & 0x20000000u) != 0u, narrow = (flags & 0x10000000u) != 0u, ok;
  if (early) {
    offset += pick(is_swizzled(w1), soffset, 0u);
    base = pick(is_swizzled(w1), b64(w0, w1 & 0xffffu), base);
  }
  // An element of an invalid format has no bytes, and still must not start at the limit.
  if (payload == 0u) payload = max(lw_fmt_bytes(w3, 0u), 1u);
  // All lanes of a wave take the same side of branches on what a descriptor has. Both arms compute the
  // offset, so that one has no product, and the other no upper half where nobody asks for it.
  B64 wide_offset = add64(b64(offset, 0u), b64(element, 0u)), inside = wide_offset;
  if (gfx8 ? both(stride != 0u, is_swizzled(w1)) : stride != 0u) {
    ok = index < records;
    bool at_start = !offen && inst_offset == 0u && !early;
    if (!at_start) ok = both(ok, either(!(gfx8 || idxen || add_tid), offset < stride));
    if (is_swizzled(w1))
      inside = swizzled_offset(w3, stride, index, wide_offset);
    else
      inside = add64(mulwide32(index, stride), wide_offset);
    if (narrow) inside = b64(lo64(inside), 0u);
  } else {
    if (is_swizzled(w1))
      inside = swizzled_offset(w3, 0u, index, wide_offset);
    else if (gfx8)
      inside = add64(mulwide32(index, stride), wide_offset);
    if (narrow) inside = b64(lo64(inside), 0u);
    uint limit = records - min(records, soffset);
    uint starts = limit - min(limit, payload - 1u);
    ok = both(hi64(inside) == 0u, lo64(inside) < starts);
  }
  B64 at = add64(base, inside);
  return uvec3(lo64(at), hi64(at), ok ? 1u : 0u);
}
