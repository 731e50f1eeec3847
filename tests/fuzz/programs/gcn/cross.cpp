// GCN between lanes: masks as numbers, single lanes, swizzles, permutes, DPP, and exchange in LDS.
#include "tests/fuzz/programs/gcn/masks.hpp"

namespace lanewise::programs::gcn {
namespace {

void ballot(Writer& w, const Cross& s, const std::string& to) {
  w.line("v_mov_b32 {}, {}", to, half_of(by_halves(w, test(w, s.test)), s.high));
}

/// 1 when the scalar instruction behind has left something.
void from_scc(Writer& w, const std::string& to, bool when_set) {
  const std::string n = w.scalar();
  w.line("s_cselect_b32 {}, {}, {}", n, when_set ? 1 : 0, when_set ? 0 : 1);
  w.line("v_mov_b32 {}, {}", to, n);
}
void any(Writer& w, const Cross& s, const std::string& to) {
  const std::string mask = by_halves(w, test(w, s.test));
  if (w.random.chance(2)) {
    const std::string n = w.scalar();
    w.line("s_bcnt1_i32_b64 {}, {}", n, mask);
    w.line("s_cmp_lg_u32 {}, 0", n);
  } else {
    set_scc_if_any(w, mask);
  }
  from_scc(w, to, true);
}
void all(Writer& w, const Cross& s, const std::string& to) {
  const std::string mask = by_halves(w, test(w, s.test));
  if (w.random.chance(2)) {
    const std::string n = w.scalar(), of = w.scalar();
    w.line("s_bcnt1_i32_b64 {}, {}", n, mask);
    w.line("s_bcnt1_i32_b64 {}, exec", of);
    w.line("s_cmp_eq_u32 {}, {}", n, of);
    return from_scc(w, to, true);
  }
  w.line("s_andn2_b64 {}, exec, {}", w.mask(), mask);
  from_scc(w, to, false);
}

void read_first(Writer& w, const Cross& s, const std::string& to) {
  const std::string n = w.scalar(), from = Writer::reg(s.from);
  if (w.random.chance(2)) {
    w.line("v_readfirstlane_b32 {}, {}", n, from);
  } else {
    const std::string lane = w.scalar();
    w.line("s_ff1_i32_b64 {}, exec", lane);
    w.line("v_readlane_b32 {}, {}, {}", n, from, lane);
  }
  w.line("v_mov_b32 {}, {}", to, n);
}

/// Number of the lane in its wave.
std::string lane_number(Writer& w) {
  const std::string n = w.vector();
  if (w.random.chance(3)) {
    w.line("v_and_b32 {}, 63, {}", n, kSelf);
    return n;
  }
  w.line("v_mbcnt_lo_u32_b32 {}, -1, 0", n);
  w.line("v_mbcnt_hi_u32_b32 {}, -1, {}", n, n);
  return n;
}

/// The lane that this one reads from, which may be none of the wave.
std::string source_lane(Writer& w, const Cross& s) {
  const std::string n = w.vector();
  if (s.op == CrossOp::shuffle_index) {
    if (s.lane.immediate)
      w.line("v_mov_b32 {}, {}", n, s.lane.value & 31);
    else
      w.line("v_and_b32 {}, 31, {}", n, Writer::reg(s.lane.value));
    return n;
  }
  const std::string self = lane_number(w);
  if (s.op == CrossOp::shuffle_xor) w.line("v_xor_b32 {}, {}, {}", n, s.lane.value, self);
  if (s.op == CrossOp::shuffle_down) w.line("{} {}, vcc, {}, {}", w.add(), n, s.lane.value, self);
  if (s.op == CrossOp::shuffle_up)
    w.line("{} {}, vcc, {}, {}", w.add(), n, Writer::number(0 - s.lane.value), self);
  return n;
}

/// Each lane that is read from, one after the other, by v_readlane.
void waterfall(Writer& w, const Cross& s, const std::string& to) {
  const std::string lane = source_lane(w, s), got = w.vector(), head = w.new_label("each"),
                    whole = w.mask(), same = w.mask(), left = w.mask(), n = w.scalar(),
                    value = w.scalar(), bit = w.mask();
  w.line("v_mov_b32 {}, {}", got, Writer::reg(s.from));
  w.line("s_mov_b64 {}, exec", whole);
  // Lanes that nobody has keep their own.
  w.line("v_cmp_gt_u32 vcc, 64, {}", lane);
  w.line("s_and_b64 exec, exec, vcc");
  const std::string done = w.new_label("done");
  w.line("s_cbranch_execz {}", done);
  w.label(head);
  w.line("v_readfirstlane_b32 {}, {}", n, lane);
  w.line("v_readlane_b32 {}, {}, {}", value, Writer::reg(s.from), n);
  w.line("v_cmp_eq_u32 {}, {}, {}", same, n, lane);
  w.line("s_andn2_b64 {}, exec, {}", left, same);
  w.line("s_mov_b64 exec, {}", same);
  // Is the lane one of those that are here?
  w.line("s_lshr_b64 {}, {}, {}", bit, whole, n);
  w.line("s_and_b32 {}, {}, 1", half_of(bit, true), half_of(bit, false));
  w.line("s_cmp_lg_u32 {}, 0", half_of(bit, true));
  const std::string off = w.new_label("off");
  w.line("s_cbranch_scc0 {}", off);
  w.line("v_mov_b32 {}, {}", got, value);
  w.label(off);
  w.line("s_mov_b64 exec, {}", left);
  w.line("s_cbranch_execnz {}", head);
  w.label(done);
  w.line("s_mov_b64 exec, {}", whole);
  w.line("v_mov_b32 {}, {}", to, got);
}

/// A permute reads 0 of lanes that are off, also of a register that holds 1 in all that are on.
void taken_if(Writer& w, const std::string& there, const std::string& got, const std::string& to,
              const Cross& s) {
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("v_cmp_ne_u32 vcc, 0, {}", there);
  w.line("v_cndmask_b32 {}, {}, {}, vcc", to, Writer::reg(s.from), got);
}
void swizzle(Writer& w, const Cross& s, const std::string& to) {
  const std::string one = w.vector(), got = w.vector();
  const std::string how = fmt::format("offset:{:#x}", s.lane.value << 10 | 0x1f);
  w.line("v_mov_b32 {}, 1", one);
  w.line("ds_swizzle_b32 {}, {} {}", got, Writer::reg(s.from), how);
  w.line("ds_swizzle_b32 {}, {} {}", one, one, how);
  taken_if(w, one, got, to, s);
}
void permute(Writer& w, const Cross& s, const std::string& to) {
  const std::string lane = source_lane(w, s), one = w.vector(), got = w.vector(), at = w.vector();
  w.line("v_lshlrev_b32 {}, 2, {}", at, lane);
  w.line("v_mov_b32 {}, 1", one);
  w.line("ds_bpermute_b32 {}, {}, {}", got, at, Writer::reg(s.from));
  w.line("ds_bpermute_b32 {}, {}, {}", one, at, one);
  taken_if(w, one, got, to, s);
  if (s.op == CrossOp::shuffle_index) return;
  // The permute counts modulo 64.
  w.line("v_cmp_gt_u32 vcc, 64, {}", lane);
  w.line("v_cndmask_b32 {}, {}, {}, vcc", to, Writer::reg(s.from), to);
}

/// A DPP modifier that moves the lanes just so; empty for none.
std::string dpp(const Cross& s) {
  const uint32_t n = s.lane.value;
  if (s.op == CrossOp::shuffle_xor && n < 4)
    return fmt::format("quad_perm:[{},{},{},{}]", n, n ^ 1, n ^ 2, n ^ 3);
  if (s.op == CrossOp::shuffle_xor && n == 7) return "row_half_mirror";
  if (s.op == CrossOp::shuffle_xor && n == 15) return "row_mirror";
  if (s.op == CrossOp::shuffle_up && n == 1) return "wave_shr:1";
  if (s.op == CrossOp::shuffle_down && n == 1) return "wave_shl:1";
  return {};
}
void moved(Writer& w, const Cross& s, const std::string& to) {
  const std::string got = w.vector(), from = Writer::reg(s.from);
  w.line("v_mov_b32 {}, {}", got, from);
  w.line("v_mov_b32_dpp {}, {} {} row_mask:0xf bank_mask:0xf", got, from, dpp(s));
  w.line("v_mov_b32 {}, {}", to, got);
}

void shuffle(Writer& w, const Cross& s, const std::string& to) {
  // A result that is read after it has been written.
  const std::string result = w.vector();
  if (!w.before_gcn3() && !dpp(s).empty() && !w.random.chance(3))
    moved(w, s, result);
  else if (s.op == CrossOp::shuffle_xor && !w.random.chance(4))
    swizzle(w, s, result);
  else if (!w.before_gcn3() && !w.random.chance(4))
    permute(w, s, result);
  else
    waterfall(w, s, result);
  w.line("v_mov_b32 {}, {}", to, result);
}

void write(Writer& w, const Cross& s) {
  const std::string to = Writer::reg(s.to);
  switch (s.op) {
    case CrossOp::ballot:
      return ballot(w, s, to);
    case CrossOp::any:
      return any(w, s, to);
    case CrossOp::all:
      return all(w, s, to);
    case CrossOp::active:
      return w.line("v_mov_b32 {}, {}", to, half_of("exec", s.high));
    case CrossOp::read_first:
      return read_first(w, s, to);
    case CrossOp::shuffle_index:
    case CrossOp::shuffle_xor:
    case CrossOp::shuffle_up:
    case CrossOp::shuffle_down:
      return shuffle(w, s, to);
  }
}

}  // namespace

void cross(Writer& w, const Cross& s) {
  const Scope scope(w);
  if (!s.guard) return write(w, s);
  narrowed(w, loose(w, *s.guard), [&] { write(w, s); });
}

void exchange(Writer& w, const Exchange& s) {
  const Scope scope(w);
  const uint32_t block = w.program.block;
  const std::string at = w.vector(), other = w.vector(), less = w.vector();
  w.line("s_mov_b32 m0, -1");
  w.line("v_lshlrev_b32 {}, 2, {}", at, kSelf);
  w.line("ds_write_b32 {}, {}", at, Writer::reg(s.from));
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
  w.line("{} {}, vcc, {}, {}", w.add(), other, Writer::number(s.by), kSelf);
  w.line("{} {}, vcc, {}, {}", w.add(), less, Writer::number(0 - block), other);
  w.line("v_cmp_gt_u32 vcc, {}, {}", Writer::number(block), other);
  w.line("v_cndmask_b32 {}, {}, {}, vcc", other, less, other);
  w.line("v_lshlrev_b32 {}, 2, {}", other, other);
  w.line("ds_read_b32 {}, {}", Writer::reg(s.to), other);
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("s_barrier");
}

}  // namespace lanewise::programs::gcn
