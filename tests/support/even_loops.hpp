// GCN: loops with a barrier in them whose condition is a mask, as compilers leave them that do not
// optimise: the counter lies in private memory.
#pragma once

#include <string>
#include <vector>

namespace lanewise::test {

struct EvenLoop {
  std::string before;  ///< the loop; v2 is the counter, 1, and lies in the private dword 4
  std::string step;    ///< v2 is the counter and becomes the next one
  bool even;           ///< surely the same in all lanes
};

inline std::string call_of(const std::string& function, const std::string& back = "s[30:31]") {
  return "s_getpc_b64 s[40:41]\ns_add_u32 s40, s40, " + function +
         "$@rel32@lo+4\ns_addc_u32 s41, s41, " + function + "$@rel32@hi+12\ns_swappc_b64 " + back +
         ", s[40:41]\n";
}
/// `some` lanes store to the private dword where s32 points, `outer` has them do so with a frame of
/// its own, and `own` gives a number of the lane in v8.
inline std::string called_functions() {
  return ".type some$,@function\nsome$:\ns_mov_b32 s34, s33\ns_mov_b32 s33, s32\n"
         "v_cmp_gt_u32 s[36:37], 5, v0\ns_and_saveexec_b64 s[38:39], s[36:37]\n"
         "s_cbranch_execz N$\nbuffer_store_dword v3, off, s[0:3], s33\nN$:\n"
         "s_or_b64 exec, exec, s[38:39]\ns_mov_b32 s33, s34\ns_setpc_b64 s[30:31]\n"
         ".type outer$,@function\nouter$:\ns_add_u32 s32, s32, 0x400\n" +
         call_of("some") + call_of("some") +
         "s_sub_u32 s32, s32, 0x400\ns_setpc_b64 s[44:45]\n"
         ".type own$,@function\nown$:\nv_and_b32 v8, 64, v0\ns_setpc_b64 s[30:31]\n";
}

/// Each iteration adds up what neighbours hold. Whatever the text says, all lanes do 6 iterations.
inline const std::vector<EvenLoop>& even_loops() {
  static const std::vector<EvenLoop> loops = {
      {"", "v_lshlrev_b32 v2, 1, v2", true},
      {"", "s_mov_b32 s34, 1\nv_mov_b32 v8, s34\nv_lshlrev_b32 v2, v8, v2", true},
      {"s_movk_i32 s35, 7\nv_mov_b32 v8, s35\nbuffer_store_dword v8, off, s[0:3], s33 offset:8",
       "buffer_load_dword v8, off, s[0:3], s33 offset:8\ns_waitcnt vmcnt(0)\n"
       "v_sub_u32 v8, vcc, 8, v8\nv_lshlrev_b32 v2, v8, v2",
       true},
      // Behind a loop that lanes leave one by one all of them are on again.
      {"v_and_b32 v8, 3, v0\ns_mov_b64 s[24:25], 0\nB$:\nv_add_u32 v8, vcc, -1, v8\n"
       "v_cmp_gt_i32 vcc, 0, v8\ns_or_b64 s[24:25], vcc, s[24:25]\n"
       "s_andn2_b64 exec, exec, s[24:25]\ns_cbranch_execnz B$\ns_or_b64 exec, exec, s[24:25]\n"
       "v_mov_b32 v2, 1\nbuffer_store_dword v2, off, s[0:3], s33 offset:4",
       "v_lshlrev_b32 v2, 1, v2", true},
      {"v_cmp_gt_u32 s[24:25], 5, v0\ns_and_saveexec_b64 s[26:27], s[24:25]\nv_mov_b32 v9, 1\n"
       "s_or_b64 exec, exec, s[26:27]\nv_mov_b32 v2, 1\n"
       "buffer_store_dword v2, off, s[0:3], s33 offset:4",
       "v_lshlrev_b32 v2, 1, v2", true},
      {"",
       "v_cmp_gt_u32 s[24:25], 5, v0\ns_and_saveexec_b64 s[26:27], s[24:25]\n"
       "s_cbranch_execz B$\nv_mov_b32 v9, 1\nB$:\ns_or_b64 exec, exec, s[26:27]\n"
       "v_lshlrev_b32 v2, 1, v2",
       true},
      // Functions that are called from several places, with private memory of their own.
      {call_of("some") + call_of("some"), call_of("some") + "v_lshlrev_b32 v2, 1, v2", true},
      {call_of("outer", "s[44:45]"),
       call_of("outer", "s[44:45]") + call_of("some") + "v_lshlrev_b32 v2, 1, v2", true},
      {call_of("own"), call_of("own") + "v_add_u32 v8, vcc, 1, v8\nv_lshlrev_b32 v2, v8, v2",
       false},
      // What a lane computes of its own number, of memory, or of a part of the wave.
      {"", "v_and_b32 v8, 64, v0\nv_add_u32 v8, vcc, 1, v8\nv_lshlrev_b32 v2, v8, v2", false},
      {"", "v_mbcnt_lo_u32_b32 v8, 0, 0\nv_add_u32 v8, vcc, 1, v8\nv_lshlrev_b32 v2, v8, v2",
       false},
      {"",
       "buffer_load_dword v8, v5, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\nv_and_b32 v8, 0, v8\n"
       "v_add_u32 v8, vcc, 1, v8\nv_lshlrev_b32 v2, v8, v2",
       false},
      {"",
       "v_mov_b32_dpp v8, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf\n"
       "v_lshlrev_b32 v2, 1, v8",
       false},
      {"v_cmp_gt_u32 s[24:25], 5, v0\ns_and_saveexec_b64 s[26:27], s[24:25]\nv_mov_b32 v2, 1\n"
       "s_or_b64 exec, exec, s[26:27]\nbuffer_store_dword v2, off, s[0:3], s33 offset:4",
       "v_lshlrev_b32 v2, 1, v2", false},
      {"v_cmp_gt_u32 s[24:25], 5, v0\ns_and_saveexec_b64 s[26:27], s[24:25]\n"
       "buffer_store_dword v2, off, s[0:3], s33 offset:4\ns_or_b64 exec, exec, s[26:27]",
       "v_lshlrev_b32 v2, 1, v2", false},
      {"", "v_cmp_gt_u32 vcc, 0x80, v0\nv_cndmask_b32 v8, 0, 1, vcc\nv_lshlrev_b32 v2, v8, v2",
       false},
      // The counter may be written at an address that is computed, by bytes, or as an atomic.
      {"",
       "v_lshlrev_b32 v2, 1, v2\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\n"
       "v_mov_b32 v8, v2\nbuffer_store_dword v8, v6, s[0:3], s33 offen offset:4\n"
       "buffer_load_dword v2, off, s[0:3], s33 offset:4\ns_waitcnt vmcnt(0)",
       false},
      {"",
       "v_lshlrev_b32 v2, 1, v2\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\n"
       "buffer_store_byte v2, off, s[0:3], s33 offset:4\n"
       "buffer_load_dword v2, off, s[0:3], s33 offset:4\ns_waitcnt vmcnt(0)",
       false},
      {"",
       "buffer_store_dword v2, off, s[0:3], s33 offset:4\nv_mov_b32 v8, v2\n"
       "buffer_atomic_add v8, off, s[0:3], s33 offset:4\n"
       "buffer_load_dword v2, off, s[0:3], s33 offset:4\ns_waitcnt vmcnt(0)",
       false},
      // The address of private memory is known to others.
      {"v_mov_b32 v8, s0", "v_lshlrev_b32 v2, 1, v2", false}};
  return loops;
}

/// For gfx803: `values`, with the output as its argument.
inline std::string even_loop_text(const EvenLoop& loop, size_t number) {
  std::string text =
      ".amdgcn_target \"amdgcn--amdhsa--gfx803\"\nvalues:\ns_add_u32 s0, s0, s7\n"
      "s_addc_u32 s1, s1, 0\ns_mov_b32 s33, 0\ns_movk_i32 s32, 0x400\ns_load_dwordx2 s[8:9], "
      "s[4:5], 0x0\n"
      "s_waitcnt lgkmcnt(0)\ns_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, -1\n"
      "s_mov_b32 s15, 0xf000\ns_mov_b32 m0, -1\nv_lshlrev_b32 v5, 2, v0\nv_mov_b32 v6, 0\n"
      "v_mov_b32 v3, v0\nv_mov_b32 v2, 1\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\n" +
      loop.before +
      "\ns_mov_b64 s[20:21], 0\nL$:\nbuffer_load_dword v2, off, s[0:3], s33 offset:4\n"
      "s_waitcnt vmcnt(0)\nv_cmp_gt_i32 s[16:17], 64, v2\ns_mov_b64 s[18:19], exec\n"
      "s_and_b64 s[22:23], s[18:19], s[16:17]\ns_mov_b64 exec, s[22:23]\ns_cbranch_execz M$\n"
      "ds_write_b32 v5, v3\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v7, 4, v5\n"
      "ds_read_b32 v7, v7\ns_waitcnt lgkmcnt(0)\nv_add_u32 v3, vcc, v3, v7\n"
      "v_add_u32 v3, vcc, v3, v0\ns_barrier\n"
      "buffer_load_dword v2, off, s[0:3], s33 offset:4\ns_waitcnt vmcnt(0)\n" +
      loop.step +
      "\nbuffer_store_dword v2, off, s[0:3], s33 offset:4\nM$:\n"
      "s_or_b64 exec, exec, s[18:19]\ns_not_b64 s[16:17], s[16:17]\n"
      "s_and_b64 s[16:17], exec, s[16:17]\ns_or_b64 s[20:21], s[16:17], s[20:21]\n"
      "s_andn2_b64 exec, exec, s[20:21]\ns_cbranch_execnz L$\ns_or_b64 exec, exec, s[20:21]\n"
      "buffer_store_dword v3, v5, s[12:15], 0 offen\n";
  for (size_t n = 0; n < 200; ++n) text += "s_nop 0\n";  // small kernels keep their waves
  text += "s_endpgm\n";
  if (text.find("s_swappc") != std::string::npos) text += called_functions();
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at))
    text.replace(at, 1, std::to_string(number));
  return text + R"(.section .rodata
.amdhsa_kernel values
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_kernarg_size 8
.amdhsa_next_free_vgpr 12
.amdhsa_next_free_sgpr 48
.end_amdhsa_kernel
)";
}

}  // namespace lanewise::test
