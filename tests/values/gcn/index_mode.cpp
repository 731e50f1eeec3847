// The index mode of registers: v10 to v13 hold the input words, so the host's array is the inputs.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::index_mode {

namespace {

// 37 & 3, with bits above that do not belong to the index.
const std::string kOne = "s_and_b32 s14, s25, 3\ns_or_b32 s14, s14, 0xff00\n";
const std::string kOff = "s_set_gpr_idx_off\ns_mov_b32 m0, -1\n";

std::string on(const std::string& index, const std::string& names) {
  return fmt::format("s_set_gpr_idx_on {}, gpr_idx({})\n", index, names);
}
Step step(const std::string& text, Rule rule, unsigned words = 1) {
  return {text, std::move(rule), words};
}
/// One word that the host computes.
Step word(const std::string& text, std::function<uint32_t(const Lane&)> f) {
  return step(text, [f](const Lane& l, Out o) { o[0] = f(l); });
}
Step pair(const std::string& text, std::function<uint64_t(const Lane&)> f) {
  return step(
      text,
      [f](const Lane& l, Out o) {
        o[0] = static_cast<uint32_t>(f(l));
        o[1] = static_cast<uint32_t>(f(l) >> 32);
      },
      2);
}
/// v60 to v63 hold word 3 in all lanes when `text` begins; `from` is read in all of them.
Step written(const std::string& text, unsigned from, std::function<uint32_t(const Lane&)> f) {
  std::string before, after = fmt::format("s_mov_b64 exec, -1\nv_mov_b32 {{d}}, v{}\n", from);
  for (int n = 60; n < 64; ++n) before += fmt::format("v_mov_b32 v{}, v13\n", n);
  Step s = word("s_mov_b64 exec, -1\n" + before + "s_mov_b64 exec, s[20:21]\n" + text + kOff +
                    after + "s_mov_b64 exec, s[20:21]\n",
                std::move(f));
  s.whole_wave = true;
  return s;
}
uint32_t if_active(const Lane& l, uint32_t value) {
  return l.active() ? value : l[3];
}
/// A value of the wave, from `reg`, in all lanes.
Step scalar(const std::string& text, const std::string& reg,
            std::function<uint32_t(const Lane&)> f) {
  Step s = word(text + "s_mov_b64 exec, -1\nv_mov_b32 {d}, " + reg +
                    "\ns_mov_b32 m0, -1\ns_mov_b64 exec, s[20:21]\n",
                std::move(f));
  s.whole_wave = true;
  return s;
}
uint32_t first_active(const Lane& l, size_t at) {
  const uint64_t mask = l.mask(0);
  return l.wave[mask == 0 ? 0 : static_cast<size_t>(std::countr_zero(mask))][at];
}

std::vector<Step> entering() {
  return {
      word(on("2", "SRC0") + "v_mov_b32 {d}, v10\n" + kOff, [](const Lane& l) { return l[2]; }),
      word(kOne + on("s14", "SRC0") + "v_mov_b32 {d}, v10\n" + kOff,
           [](const Lane& l) { return l[1]; }),
      word(kOne + on("s14", "") + "v_mov_b32 {d}, v10\n" + kOff,
           [](const Lane& l) { return l[0]; }),
      written(on("2", "DST") + "v_mov_b32 v60, v10\n", 62,
              [](const Lane& l) { return if_active(l, l[0]); }),
      written(kOne + on("s14", "DST") + "v_mov_b32 v60, v10\n", 61,
              [](const Lane& l) { return if_active(l, l[0]); }),
      written(kOne + on("s14", "DST") + "v_mov_b32 v60, v10\n", 60,
              [](const Lane& l) { return l[3]; }),
      written(kOne + on("s14", "SRC0,DST") + "v_mov_b32 v60, v11\n", 61,
              [](const Lane& l) { return if_active(l, l[2]); }),
      // Scalar operands and constants are no places that one could count from.
      word(kOne + on("s14", "SRC0,SRC1,SRC2") + "v_sub_u32 {d}, vcc, s25, v10\n" + kOff,
           [](const Lane& l) { return 37 - l[1]; }),
      word(kOne + on("s14", "SRC0,SRC1,SRC2") + "v_xor_b32 {d}, 5, v11\n" + kOff,
           [](const Lane& l) { return l[2] ^ 5; }),
      // Index and names replace their bits of M0; no carry of a condition.
      scalar("s_mov_b32 m0, 0x9abcdef0\ns_cmp_eq_u32 s25, s25\n" + on("0x12345678", "SRC1,DST") +
                 "s_set_gpr_idx_off\ns_cselect_b32 s15, 1, 0\n"
                 "s_add_u32 s14, m0, s15\n",
             "s14", [](const Lane&) { return 0x9abcae79U; }),
      // The index may be M0 itself.
      word("s_mov_b32 m0, s25\ns_and_b32 m0, m0, 3\n" + on("m0", "SRC0") + "v_mov_b32 {d}, v11\n" +
               kOff,
           [](const Lane& l) { return l[2]; }),
      // M0 written otherwise counts, too, the names among it.
      word("s_movk_i32 m0, 0x2000\n" + on("1", "SRC0") + "s_mov_b32 m0, 0x2002\n" +
               "v_sub_u32 {d}, vcc, v10, v10\n" + kOff,
           [](const Lane& l) { return l[0] - l[2]; }),
      word(on("0", "SRC0") + "s_add_u32 m0, m0, s25\ns_sub_u32 m0, m0, 35\n" +
               "v_sub_u32 {d}, vcc, v10, v10\n" + kOff,
           [](const Lane& l) { return l[2] - l[0]; }),
  };
}

/// Instructions whose operands need a word of their own.
std::vector<Step> naming() {
  const auto mode = [](const std::string& names) {
    return kOne + on("s14", "SRC0,DST") + "s_set_gpr_idx_mode gpr_idx(" + names + ")\n";
  };
  return {
      word(mode("SRC1") + "v_sub_u32 {d}, vcc, v10, v10\n" + kOff,
           [](const Lane& l) { return l[0] - l[1]; }),
      word(mode("SRC0") + "v_lshlrev_b32 {d}, v10, v11\n" + kOff,
           [](const Lane& l) { return l[1] << (l[1] & 31); }),
      word(mode("SRC1") + "v_lshlrev_b32 {d}, v10, v11\n" + kOff,
           [](const Lane& l) { return l[2] << (l[0] & 31); }),
      word(mode("SRC2") + "v_bfi_b32 {d}, v10, v11, v11\n" + kOff,
           [](const Lane& l) { return (l[0] & l[1]) | (~l[0] & l[2]); }),
      written(mode("SRC0,SRC1,SRC2,DST") + "v_bfi_b32 v60, v10, v11, v10\n", 61,
              [](const Lane& l) { return if_active(l, (l[1] & l[2]) | (~l[1] & l[1])); }),
      pair(mode("SRC1") + "v_lshrrev_b64 {p}, v10, v[10:11]\n" + kOff,
           [](const Lane& l) { return l.pair(1) >> (l[0] & 63); }),
      written(mode("DST") + "v_lshrrev_b64 v[60:61], v10, v[11:12]\n", 62,
              [](const Lane& l) {
                return if_active(l, static_cast<uint32_t>(l.pair(1) >> (l[0] & 63) >> 32));
              }),
      pair(mode("SRC2") + "v_mad_u64_u32 {p}, s[30:31], v10, v11, v[11:12]\n" + kOff,
           [](const Lane& l) { return uint64_t{l[0]} * l[1] + l.pair(2); }),
      Step{mode("SRC1") + "v_cmp_lt_u32_e64 {m}, v10, v10\n" + kOff,
           [](const Lane& l, Out o) { o[0] = l[0] < l[1] ? 1 : 0; }, 0, true},
      // The sum's addend is the result's register, and counted as that.
      written("v_cvt_f32_ubyte0 v61, v11\n" + mode("DST") + "v_mac_f32 v60, 2.0, v61\n" + kOff +
                  "v_cvt_f32_ubyte0 v62, v10\n" + mode("SRC1") + "v_mac_f32 v62, 1.0, v60\n" +
                  kOff + "v_cvt_u32_f32 v61, v62\n",
              61, [](const Lane& l) { return if_active(l, (l[0] & 255) + 3 * (l[1] & 255)); }),
      // v_madmk's literal is the second source, v_madak's the third.
      written("v_cvt_f32_ubyte0 v60, v10\nv_cvt_f32_ubyte0 v61, v11\n" + mode("SRC2") +
                  "v_madmk_f32 v63, v60, 0x40000000, v60\n" + kOff + "v_cvt_u32_f32 v62, v63\n",
              62, [](const Lane& l) { return if_active(l, 2 * (l[0] & 255) + (l[1] & 255)); }),
      written("v_cvt_f32_ubyte0 v60, v10\nv_cvt_f32_ubyte0 v61, v11\n" + mode("SRC1") +
                  "v_madak_f32 v63, v60, v60, 0x40000000\n" + kOff + "v_cvt_u32_f32 v62, v63\n",
              62, [](const Lane& l) { return if_active(l, (l[0] & 255) * (l[1] & 255) + 2); }),
      scalar("s_mov_b32 m0, 0x9abcdef0\ns_set_gpr_idx_mode gpr_idx(SRC0,SRC2)\n"
             "s_mov_b32 s14, m0\n",
             "s14", [](const Lane&) { return 0x9abc5ef0U; }),
  };
}

/// Instructions between lanes, and on parts of registers.
std::vector<Step> counting() {
  const auto one = [](const std::string& names) {
    return kOne + on("7", names) + "s_set_gpr_idx_idx s14\n";
  };
  return {
      word(one("SRC0") + "v_mov_b32 {d}, v10\n" + kOff, [](const Lane& l) { return l[1]; }),
      word(on("7", "SRC0") + "s_set_gpr_idx_idx 0x12345602\nv_mov_b32 {d}, v10\n" + kOff,
           [](const Lane& l) { return l[2]; }),
      scalar(one("SRC0") + "v_readlane_b32 s14, v10, 41\n" + kOff, "s14",
             [](const Lane& l) { return l.wave[41][1]; }),
      scalar(one("SRC0") + "v_readfirstlane_b32 s14, v10\n" + kOff, "s14",
             [](const Lane& l) { return first_active(l, 1); }),
      written(one("DST") + "v_writelane_b32 v60, s25, 6\nv_writelane_b32 v60, s24, 41\n", 61,
              [](const Lane& l) {
                return l.index == 6 ? kConstants[1] : l.index == 41 ? kConstants[0] : l[3];
              }),
      written(one("SRC0,DST") + "v_mov_b32_sdwa v60, v10 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
                                "src0_sel:WORD_1\n",
              61,
              [](const Lane& l) {
                return if_active(l, (l[3] & 0xffff00ffU) | (l[1] >> 16 & 255) << 8);
              }),
      // Lanes without a source keep what they have.
      written(one("SRC0,DST") + "v_mov_b32_dpp v60, v10 row_shl:1\n", 61,
              [](const Lane& l) {
                const bool inside = l.index % 16 != 15 && (l.mask(0) >> (l.index + 1) & 1) != 0;
                return if_active(l, inside ? l.wave[l.index + 1][1] : l[3]);
              }),
      scalar("s_mov_b32 m0, 0x9abcdef0\ns_set_gpr_idx_idx 0x12345678\ns_mov_b32 s14, m0\n", "s14",
             [](const Lane&) { return 0x9abcde78U; }),
      // Every register once, as a loop counts them.
      word("v_mov_b32 {d}, 0\ns_mov_b32 s14, 0\n" + on("0", "SRC1") +
               ".Lturn{n}:\ns_set_gpr_idx_idx s14\nv_xor_b32 {d}, s25, v10\n"
               "v_lshlrev_b32 v60, 1, v60\n"
               "s_add_u32 s14, s14, 1\ns_cmp_lt_u32 s14, 4\ns_cbranch_scc1 .Lturn{n}\n" +
               kOff,
           [](const Lane& l) { return l[3] ^ 37; }),
  };
}

std::vector<Step> leaving() {
  return {
      word(on("1", "SRC0") + "s_set_gpr_idx_off\nv_mov_b32 {d}, v10\ns_mov_b32 m0, -1\n",
           [](const Lane& l) { return l[0]; }),
      // M0 stays, and means the same when the mode is on again.
      word(kOne + on("s14", "SRC0") +
               "s_set_gpr_idx_off\nv_mov_b32 v60, v10\n"
               "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1\nv_sub_u32 {d}, vcc, v10, v60\n" +
               kOff,
           [](const Lane& l) { return l[1] - l[0]; }),
      scalar(on("1", "SRC0,SRC1") +
                 "s_getreg_b32 s14, hwreg(HW_REG_MODE, 27, 1)\ns_set_gpr_idx_off\n"
                 "s_getreg_b32 s15, hwreg(HW_REG_MODE, 27, 1)\ns_lshl_b32 s15, s15, 1\n"
                 "s_or_b32 s14, s14, s15\ns_mov_b32 s15, m0\ns_and_b32 s15, s15, 0xf0ff\n"
                 "s_or_b32 s14, s14, s15\n",
             "s14", [](const Lane&) { return 0x3001U; }),
  };
}

}  // namespace

void cases(std::vector<Case>& out) {
  const Tuples inputs = with_flags({u32(), u32(), u32(), u32()}, 256);
  out.push_back(vector_case("s_set_gpr_idx_on", inputs, entering()));
  out.push_back(vector_case("s_set_gpr_idx_mode", inputs, naming()));
  out.push_back(vector_case("s_set_gpr_idx_idx", inputs, counting()));
  out.push_back(vector_case("s_set_gpr_idx_off", inputs, leaving()));
}

}  // namespace values::gcn::index_mode
