// GCN masks as compilers and people leave them: pairs that hold a number in one half and the bits
// of lanes in the other, masks that are copied, looked at and put together by halves, masks that
// lanes collect on top of what a pair held before, and branches on VCC for conditions of scalar
// registers. SCC stays as it is, unless a function states that it changes.
#include "tests/fuzz/programs/gcn/masks.hpp"

#include <array>

namespace lanewise::programs::gcn {
namespace {

/// A number that is nobody's mask.
void number_to(Writer& w, const std::string& half, bool never_zero) {
  Random& r = w.odd;
  switch (r.below(never_zero ? 4 : 6)) {
    case 0:
      return w.line("s_mov_b32 {}, {:#x}", half, r.word() | 1);
    case 1:
      return w.line("s_bfm_b32 {}, {}, {}", half, 1 + r.below(31), r.below(32));
    case 2:
      return w.line("s_brev_b32 {}, {}", half, 1 + r.below(64));
    case 3:
      return w.line("s_movk_i32 {}, {}", half, 1 + r.below(0x7fff));
    case 4:
      return w.line("s_mov_b32 {}, 0", half);
    default:
      return w.line("s_mov_b32 {}, s{}", half, r.pick({3, 4, 6}));
  }
}
/// All of it a mask of some lanes, whose number nobody asked for.
void some_mask(Writer& w, const std::string& pair) {
  switch (w.odd.below(4)) {
    case 0:
      return w.line("s_mov_b64 {}, exec", pair);
    case 1:
      return w.line("v_cmp_le_u32 {}, {}, {}", pair, w.odd.below(64), kSelf);
    case 2:
      return w.line("v_cmp_gt_u32 {}, {}, {}", pair, 1 + w.odd.below(64), kSelf);
    default:
      return w.line("v_cmp_eq_u32 {}, {}, {}", pair, kThread, Writer::reg(0));
  }
}

/// One half of a mask as it is, by one instruction or more.
void copy_half(Writer& w, const std::string& to, const std::string& from) {
  switch (w.odd.below(5)) {
    case 0: {
      const std::string turned = w.odd_scalar();
      w.line("s_brev_b32 {}, {}", turned, from);
      return w.line("s_brev_b32 {}, {}", to, turned);
    }
    case 1: {
      const std::string spilled = w.vector();
      const uint32_t last = w.program.block % 64, lane = w.odd.below(last != 0 ? last : 64);
      w.line("v_writelane_b32 {}, {}, {}", spilled, from, lane);
      return w.line("v_readlane_b32 {}, {}, {}", to, spilled, lane);
    }
    default:
      return w.line("s_mov_b32 {}, {}", to, from);
  }
}

/// To the label where neither half is set; VCC and SCC change.
void jump_by_halves(Writer& w, const std::string& mask, const std::string& to) {
  const std::string low = half_of(mask, false), high = half_of(mask, true);
  Random& r = w.odd;
  const bool upper = r.chance(2);
  const std::string &first = upper ? high : low, &other = upper ? low : high;
  const std::string vcc_first = upper ? "vcc_hi" : "vcc_lo",
                    vcc_other = upper ? "vcc_lo" : "vcc_hi";
  const std::string on = w.new_label("some");
  switch (r.below(6)) {
    case 0:  // the one half in VCC, the other as a number
      w.line("s_mov_b64 vcc, {}", mask);
      w.line("s_mov_b32 {}, 0", vcc_first);
      w.line("s_cbranch_vccnz {}", on);
      w.line("s_cmp_eq_u32 {}, 0", first);
      w.line("s_cbranch_scc1 {}", to);
      return w.label(on);
    case 1:
      some_mask(w, "vcc");
      w.line("s_mov_b32 {}, {}", vcc_first, first);
      w.line("s_mov_b32 {}, {}", vcc_other, other);
      return w.line("s_cbranch_vccz {}", to);
    case 2:
      some_mask(w, "vcc");
      w.line("s_or_b32 {}, {}, {}", vcc_first, first, other);
      w.line("s_mov_b32 {}, 0", vcc_other);
      return w.line("s_cbranch_vccz {}", to);
    case 3:
      some_mask(w, "vcc");
      w.line("s_mov_b32 {}, {}", vcc_first, first);
      w.line("s_mov_b32 {}, {}", vcc_other, other);
      w.line("s_cmp_lg_u32 vccz, 0");
      return w.line("s_cbranch_scc1 {}", to);
    case 4: {
      const std::string n = w.odd_scalar();
      w.line("s_bcnt1_i32_b64 {}, {}", n, mask);
      w.line("s_cmp_eq_u32 {}, 0", n);
      return w.line("s_cbranch_scc1 {}", to);
    }
    default:
      w.line("s_mov_b64 vcc, {}", mask);
      w.line("s_mov_b32 {}, {}", vcc_first, first);
      return w.line("s_cbranch_vccz {}", to);
  }
}

/// A branch that is never taken: VCC has a number that is not zero in one half.
void never_jump(Writer& w, const std::string& to) {
  some_mask(w, "vcc");
  number_to(w, w.odd.chance(2) ? "vcc_lo" : "vcc_hi", true);
  w.line("s_cbranch_vccz {}", to);
}

}  // namespace

std::string half_of(const std::string& pair, bool high) {
  if (pair == "vcc") return high ? "vcc_hi" : "vcc_lo";
  if (pair == "exec") return high ? "exec_hi" : "exec_lo";
  const size_t colon = pair.find(':');
  if (high) return "s" + pair.substr(colon + 1, pair.size() - colon - 2);
  return "s" + pair.substr(2, colon - 2);
}

void leave_numbers(Writer& w, const std::string& pair) {
  if (!w.odd.chance(4)) some_mask(w, pair);
  number_to(w, half_of(pair, w.odd.chance(2)), false);
}

void leave_numbers_behind(Writer& w) {
  if (!w.has_odd_masks) return;
  if (w.odd.chance(4)) leave_numbers(w, "vcc");
  const Scope scope(w);
  for (uint32_t n = w.odd.below(5); n > 0; --n) {
    const std::string pair = w.mask();
    if (w.odd.chance(2)) leave_numbers(w, pair);
  }
}

std::string by_halves(Writer& w, const std::string& mask) {
  if (!w.has_odd_masks || w.apart || !w.odd.chance(3)) return mask;
  const std::string to = w.mask();
  const bool upper = w.odd.chance(2), whole = w.odd.chance(3);
  if (whole)
    w.line("s_mov_b64 {}, {}", to, mask);
  else if (w.odd.chance(2))
    leave_numbers(w, to);
  copy_half(w, half_of(to, upper), half_of(mask, upper));
  if (!whole) copy_half(w, half_of(to, !upper), half_of(mask, !upper));
  return to;
}

std::string collected(Writer& w, const std::string& mask) {
  if (!w.has_odd_masks || !w.odd.chance(3)) return mask;
  const std::string to = w.mask();
  if (w.odd.chance(3)) leave_numbers(w, to);
  w.line("s_andn2_b64 {}, {}, exec", to, to);
  const bool turned = w.odd.chance(2);
  w.line("s_or_b64 {}, {}, {}", to, turned ? mask : to, turned ? to : mask);
  return to;
}

bool skip_if_none(Writer& w, const std::string& mask, const std::string& to) {
  if (!w.has_odd_masks || w.apart || mask == "vcc" || !w.odd.chance(2)) return false;
  const Scope scope(w);
  if (w.odd.chance(3)) never_jump(w, to);
  jump_by_halves(w, mask, to);
  return true;
}

void jump_by_scc(Writer& w, bool when_set, const std::string& to, bool also_without_lanes) {
  if (!w.has_odd_masks || !w.odd.chance(2))
    return w.line("s_cbranch_scc{} {}", when_set ? 1 : 0, to);
  const Scope scope(w);
  const bool upper = w.odd.chance(2);
  const std::string first = upper ? "vcc_hi" : "vcc_lo", other = upper ? "vcc_lo" : "vcc_hi";
  switch (w.odd.below(w.apart ? 2 : 4)) {
    case 0: {  // as compilers do
      const bool when_zero = also_without_lanes || w.odd.chance(2), turned = w.odd.chance(2);
      const bool set = when_set != when_zero, inverse = w.odd.chance(2);
      const std::string pair = w.mask();
      w.line("s_cselect_b64 {}, {}", pair, set != inverse ? "-1, 0" : "0, -1");
      if (inverse)
        w.line("s_andn2_b64 vcc, exec, {}", pair);
      else
        w.line("s_and_b64 vcc, {}, {}", turned ? "exec" : pair, turned ? pair : "exec");
      return w.line("s_cbranch_vcc{} {}", when_zero ? "z" : "nz", to);
    }
    case 1:
      w.line("s_cselect_b32 {}, {}, 0", first, 1 + w.odd.below(64));
      w.line("s_mov_b32 {}, 0", other);
      break;
    case 2:  // no lane passes, and the number is in one half
      w.line("v_cmp_gt_u32 vcc, 0, {}", kSelf);
      w.line("s_cselect_b32 {}, {}, 0", first, 1 + w.odd.below(64));
      break;
    default:  // lanes that passed are forgotten by halves
      some_mask(w, "vcc");
      w.line("s_cselect_b32 {}, -1, 0", first);
      w.line("s_mov_b32 {}, 0", other);
  }
  w.line("s_cbranch_vcc{} {}", when_set ? "nz" : "z", to);
}

}  // namespace lanewise::programs::gcn
