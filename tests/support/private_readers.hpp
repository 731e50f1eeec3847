// GCN: half of the number of a mask lies in private memory, as compilers leave it that do not
// optimise. One case for each kind of reader, and those where each lane overwrites it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lanewise::test {

struct PrivateReader {
  const char* text;  ///< leaves its result in v3, which is 0 before
  bool reads;        ///< some lane depends on the number
  std::function<uint32_t(uint32_t number, unsigned lane)> value;
};

/// The number is in v2 and in the private dword 4 of each lane; s33 = 0, s11 = 256, v6 = 4,
/// s[20:21] = EXEC, v0 the lane, v5 four times that; s[12:15] describe the output, at s40.
inline const std::vector<PrivateReader>& private_readers() {
  const auto whole = [](uint32_t number, unsigned) { return number; };
  static const std::vector<PrivateReader> readers = {
      {"buffer_load_dword v3, off, s[0:3], s33 offset:4", true, whole},
      {"v_mov_b32 v3, v2", true, whole},
      {"v_add_u32 v3, vcc, 1, v2", true, [](uint32_t n, unsigned) { return n + 1; }},
      {"v_cmp_eq_u32 s[18:19], 0, v2\nv_cndmask_b32 v3, 0, 1, s[18:19]", true,
       [](uint32_t n, unsigned) { return n == 0 ? 1U : 0U; }},
      // Copies of it.
      {"buffer_load_dword v4, off, s[0:3], s33 offset:4\nv_mov_b32 v7, v4\n"
       "buffer_store_dword v7, off, s[0:3], s33 offset:8\nv_mov_b32 v2, 0\nv_mov_b32 v4, 0\n"
       "v_mov_b32 v7, 0\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:8",
       true, whole},
      {"buffer_load_dwordx2 v[8:9], off, s[0:3], s33\nv_mov_b32 v3, v9", true, whole},
      {"v_mov_b32 v8, v2\nv_mov_b32 v9, 5\nbuffer_store_dwordx2 v[8:9], off, s[0:3], s33 offset:8\n"
       "v_mov_b32 v2, 0\nbuffer_load_dword v3, off, s[0:3], s33 offset:8",
       true, whole},
      {"v_mov_b32 v8, 5\nv_mov_b32 v9, v2\nbuffer_store_dwordx2 v[8:9], off, s[0:3], s33 offset:8\n"
       "v_mov_b32 v2, 0\nbuffer_load_dword v3, off, s[0:3], s33 offset:12",
       true, whole},
      // At an offset that is computed, by bytes, through another frame or another descriptor.
      {"buffer_load_dword v3, v6, s[0:3], s33 offen", true, whole},
      {"buffer_load_ubyte v3, off, s[0:3], s33 offset:5", true,
       [](uint32_t n, unsigned) { return n >> 8 & 255; }},
      {"s_mov_b32 s34, 0x100\nbuffer_load_dword v3, off, s[0:3], s34", true, whole},
      {"buffer_load_dword v3, off, s[0:3], s11", true, whole},
      {"s_mov_b64 s[24:25], s[0:1]\ns_mov_b64 s[26:27], s[2:3]\n"
       "buffer_load_dword v3, off, s[24:27], s33 offset:4",
       true, whole},
      {"s_and_b32 s37, s1, 0xffff\nv_lshlrev_b32 v8, 2, v0\nv_add_u32 v8, vcc, s0, v8\n"
       "v_mov_b32 v9, s37\nv_addc_u32 v9, vcc, 0, v9, vcc\nv_add_u32 v8, vcc, 0x100, v8\n"
       "v_addc_u32 v9, vcc, 0, v9, vcc\nflat_load_dword v3, v[8:9]",
       true, whole},
      {"v_mov_b32 v3, 1\nbuffer_atomic_add v3, off, s[0:3], s33 offset:4 glc", true, whole},
      // Out of the kernel.
      {"buffer_store_dword v2, v5, s[12:15], s40 offen\nbuffer_load_dword v3, v5, s[12:15], s40 "
       "offen",
       true, whole},
      // Other lanes, and lanes that are off.
      {"v_readlane_b32 s34, v2, 63\nv_mov_b32 v3, s34", true, whole},
      {"v_readfirstlane_b32 s34, v2\nv_mov_b32 v3, s34", true, whole},
      {"s_mov_b64 exec, 1\nv_mov_b32 v2, 7\ns_mov_b64 exec, s[20:21]\nv_readlane_b32 s34, v2, 1\n"
       "v_mov_b32 v3, s34",
       true, whole},
      {"s_mov_b64 exec, 1\nv_mov_b32 v2, 7\nv_readlane_b32 s34, v2, 1\ns_mov_b64 exec, s[20:21]\n"
       "v_mov_b32 v3, s34",
       true, whole},
      {"v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", true, whole},
      {"s_mov_b32 m0, -1\nds_bpermute_b32 v3, v5, v2", true, whole},
      // A function, the second iteration of a loop.
      {"s_getpc_b64 s[36:37]\ns_add_u32 s36, s36, reader@rel32@lo+4\n"
       "s_addc_u32 s37, s37, reader@rel32@hi+12\ns_swappc_b64 s[22:23], s[36:37]",
       true, whole},
      {"s_mov_b32 s34, 0\nL$:\ns_cmp_eq_u32 s34, 0\ns_cbranch_scc1 M$\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4\nM$:\ns_add_u32 s34, s34, 1\n"
       "s_cmp_lt_u32 s34, 2\ns_cbranch_scc1 L$",
       true, whole},
      // Some lanes overwrite it, and others read it.
      {"v_mov_b32 v4, 7\nv_cmp_gt_u32 s[18:19], 20, v0\ns_mov_b64 exec, s[18:19]\n"
       "buffer_store_dword v4, off, s[0:3], s33 offset:4\ns_mov_b64 exec, s[20:21]\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4",
       true, [](uint32_t n, unsigned lane) { return lane < 20 ? 7 : n; }},
      {"v_mov_b32 v4, 7\nv_mov_b32 v8, 9\nv_cmp_gt_u32 s[18:19], 20, v0\n"
       "v_cmp_lt_u32 s[34:35], 30, v0\ns_and_saveexec_b64 s[22:23], s[18:19]\n"
       "buffer_store_dword v4, off, s[0:3], s33 offset:4\ns_and_b64 exec, s[22:23], s[34:35]\n"
       "buffer_store_dword v8, off, s[0:3], s33 offset:4\ns_mov_b64 exec, s[20:21]\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4",
       true, [](uint32_t n, unsigned lane) { return lane < 20   ? 7
                                                    : lane > 30 ? 9
                                                                : n; }},
      {"v_mov_b32 v4, 7\nbuffer_store_byte v4, off, s[0:3], s33 offset:4\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4",
       true, [](uint32_t n, unsigned) { return (n & ~255U) | 7; }},
      {"v_mov_b32 v4, 7\nbuffer_store_dword v4, v6, s[0:3], s33 offen offset:4\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4",
       true, whole},
      // Nobody reads it: all lanes overwrite it, or each lane on one of two branches.
      {"v_mov_b32 v2, 8\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\n"
       "buffer_load_dword v3, off, s[0:3], s33 offset:4",
       false, [](uint32_t, unsigned) { return 8U; }},
      {"v_mov_b32 v2, 5\nv_cmp_gt_u32 s[18:19], 20, v0\ns_and_saveexec_b64 s[22:23], s[18:19]\n"
       "v_mov_b32 v4, 7\nbuffer_store_dword v4, off, s[0:3], s33 offset:4\n"
       "s_xor_b64 exec, exec, s[22:23]\nbuffer_load_dword v4, off, s[0:3], s33 offset:4\n"
       "buffer_store_dword v4, off, s[0:3], s33 offset:8\nv_mov_b32 v4, 9\n"
       "buffer_store_dword v4, off, s[0:3], s33 offset:8\n"
       "s_mov_b64 exec, s[20:21]\nv_cndmask_b32 v4, v4, v2, s[18:19]\n"
       "s_mov_b64 exec, s[18:19]\nbuffer_load_dword v3, off, s[0:3], s33 offset:4\n"
       "s_mov_b64 exec, s[20:21]",
       false, [](uint32_t, unsigned lane) { return lane < 20 ? 7U : 0U; }}};
  return readers;
}

inline std::string numbered(std::string text, size_t number) {
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at))
    text.replace(at, 1, std::to_string(number));
  return text;
}

/// With each instruction that loads waited for.
inline std::string with_waits(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    out += line + "\n";
    for (const char* load : {"buffer_load", "buffer_atomic", "flat_load", "ds_bpermute"})
      if (line.starts_with(load)) out += "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    at = end + 1;
  }
  return out;
}

/// A kernel of these cases for gfx803, with the output, a limit and 256 as arguments: lanes above
/// the limit are in the mask, whose upper half is the number.
inline std::string private_reader_text(const PrivateReader* first, size_t count) {
  std::string text =
      ".amdgcn_target \"amdgcn--amdhsa--gfx803\"\nvalues:\ns_add_u32 s0, s0, s7\n"
      "s_addc_u32 s1, s1, 0\ns_mov_b32 s33, 0\ns_load_dwordx4 s[8:11], s[4:5], 0x0\n"
      "s_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, -1\n"
      "s_mov_b32 s15, 0xf000\nv_lshlrev_b32 v5, 2, v0\ns_mov_b64 s[20:21], exec\n";
  for (size_t n = 0; n < count; ++n)
    text +=
        numbered("v_mov_b32 v3, 0\nv_mov_b32 v6, 4\ns_movk_i32 s40, " + std::to_string(256 * n) +
                     "\nv_cmp_lt_u32 s[16:17], s10, v0\nv_mov_b32 v2, s17\n"
                     "buffer_store_dword v2, off, s[0:3], s33 offset:4\n" +
                     with_waits(first[n].text) +
                     "s_mov_b64 exec, s[20:21]\nbuffer_store_dword v3, v5, s[12:15], s40 offen\n",
                 n);
  return text + R"(s_endpgm
reader:
  buffer_load_dword v3, off, s[0:3], s33 offset:4
  s_waitcnt vmcnt(0)
  s_setpc_b64 s[22:23]
.section .rodata
.amdhsa_kernel values
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_kernarg_size 16
.amdhsa_next_free_vgpr 12
.amdhsa_next_free_sgpr 48
.end_amdhsa_kernel
)";
}

}  // namespace lanewise::test
