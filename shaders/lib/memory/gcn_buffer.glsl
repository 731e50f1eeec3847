// GCN buffer addressing: descriptor, index and offsets to an address and a range verdict.
// Formulas: docs/gcn-addressing.md. Flags pack an ir::BufferAccess: bits 0-1 generation (0 gfx6,
// 1 gfx7, 2 gfx8), 2 idxen, 3 offen, 4 addr64, 5 format op, 6-17 instruction offset,
// 18-22 element offset, 23-27 payload bytes (0: the size of the descriptor's format), 28 the offset
// inside the buffer has 32 bits, 29 SOFFSET joins before the swizzle.

B64 low48(const in B64 a) { return b64(lo64(a), hi64(a) & 0xffffu); }

/// Byte offset inside the buffer. The sums are 64 bits wide: a huge index does not come back in.
B64 offset_in_buffer(const in uint w1, const in uint w3, const in uint stride, const in uint index,
                     const in B64 offset) {
  if ((w1 >> 31) == 0u) return add64(mulwide32(index, stride), offset);
  uint is_shift = 3u + ((w3 >> 21) & 3u), es_shift = 1u + ((w3 >> 19) & 3u);
  uint index_msb = index >> is_shift, index_lsb = index & ((1u << is_shift) - 1u);
  uint offset_lsb = lo64(offset) & ((1u << es_shift) - 1u);
  B64 rows = add64(mulwide32(index_msb, stride), sub64(offset, b64(offset_lsb, 0u)));
  return add64(shl64(rows, is_shift), b64((index_lsb << es_shift) + offset_lsb, 0u));
}

/// Address low, address high, 1 when in range.
uvec3 lw_buffer_address(const in uint w0, const in uint w1, const in uint w2, const in uint w3,
                        const in uint v_index, const in uint v_offset, const in uint soffset,
                        const in uint flags) {
  bool gfx8 = (flags & 3u) == 2u, idxen = (flags & 4u) != 0u, offen = (flags & 8u) != 0u;
  uint inst_offset = (flags >> 6) & 0xfffu;
  uint element = (flags >> 18) & 31u, payload = (flags >> 23) & 31u;
  bool ok = (w3 >> 30) == 0u;
  B64 base = add64(b64(w0, w1 & 0xffffu), b64(soffset, 0u));
  if ((flags & 16u) != 0u) {
    B64 at = add64(add64(base, b64(v_index, v_offset)), b64(inst_offset + element, 0u));
    at = low48(at);
    return uvec3(lo64(at), hi64(at), ok ? 1u : 0u);
  }
  bool add_tid = ((w3 >> 23) & 1u) != 0u, swizzle = (w1 >> 31) != 0u;
  uint stride = (w1 >> 16) & 0x3fffu;
  if (gfx8 && add_tid && (flags & 32u) == 0u) stride |= ((w3 >> 15) & 15u) << 14;
  uint index = (idxen ? v_index : 0u) + (add_tid ? lane_index & 63u : 0u);
  uint offset = (offen ? v_offset : 0u) + inst_offset;
  if (swizzle && (flags & 0x20000000u) != 0u) {
    offset += soffset;
    base = b64(w0, w1 & 0xffffu);
  }
  B64 inside = offset_in_buffer(w1, w3, stride, index, add64(b64(offset, 0u), b64(element, 0u)));
  if ((flags & 0x10000000u) != 0u) inside = b64(lo64(inside), 0u);
  if (stride != 0u && (!gfx8 || swizzle)) {
    if (index >= w2 || ((gfx8 || idxen || add_tid) && offset >= stride)) ok = false;
  } else {
    B64 limit = b64(w2 > soffset ? w2 - soffset : 0u, 0u);
    // An element of an invalid format has no bytes, and still must not start at the limit.
    if (payload == 0u) payload = max(lw_fmt_bytes(w3, 0u), 1u);
    if (lt64(limit, add64(inside, b64(payload, 0u)))) ok = false;
  }
  B64 at = add64(base, inside);
  return uvec3(lo64(at), hi64(at), ok ? 1u : 0u);
}
