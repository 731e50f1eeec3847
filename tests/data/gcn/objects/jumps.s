; Kernels that jump to computed addresses: each group stores one number for its four lanes.
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.macro begin name
.section .text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  s_lshl_b32 s2, s6, 4
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v1, vcc, s2, v1
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v1, vcc, s0, v1
  v_mov_b32_e32 v2, s1
  v_addc_u32_e32 v2, vcc, 0, v2, vcc
.endm
.macro store
  flat_store_dword v[1:2], v3
  s_endpgm
.endm
.macro finish name, size=1
.L\name\()_end:
.if \size
.size \name, .L\name\()_end-\name
.endif
.section .rodata,"a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel
.endm
.macro address to, low, high, of
  s_getpc_b64 \to
  s_add_u32 \low, \low, \of@rel32@lo+4
  s_addc_u32 \high, \high, \of@rel32@hi+12
.endm

; Into a ladder, by the number of the group: data stand between the jump and its targets.
begin ladder
  s_and_b32 s7, s6, 7
  s_lshl_b32 s7, s7, 3
  s_getpc_b64 s[10:11]
.Lladder_base:
  s_add_u32 s10, s10, .Lrungs-.Lladder_base
  s_addc_u32 s11, s11, 0
  s_add_u32 s10, s10, s7
  s_addc_u32 s11, s11, 0
  s_setpc_b64 s[10:11]
  .long 0x12345678, 0xd2850003
.Lrungs:
.irp n, 100, 101, 102, 103, 104, 105, 106, 107
  s_movk_i32 s20, \n
  s_branch .Lladder_out
.endr
.Lladder_out:
  v_mov_b32 v3, s20
  store
finish ladder

; One of two ways inside of the kernel, called in a loop; a function of no size behind it.
begin ways
  v_mov_b32 v3, 0
  s_mov_b32 s20, 0
.Lways_loop:
  s_getpc_b64 s[10:11]
.Lways_base:
  s_add_u32 s12, s10, .Lone-.Lways_base
  s_addc_u32 s13, s11, 0
  s_add_u32 s14, s10, .Lhundred-.Lways_base
  s_addc_u32 s15, s11, 0
  s_bitcmp1_b32 s20, 0
  s_cselect_b64 s[16:17], s[12:13], s[14:15]
  s_swappc_b64 s[30:31], s[16:17]
  s_add_u32 s20, s20, 1
  s_cmp_lt_u32 s20, 10
  s_cbranch_scc1 .Lways_loop
  s_branch .Lways_store
.Lone:
  v_add_u32 v3, vcc, 1, v3
  s_setpc_b64 s[30:31]
.Lhundred:
  v_add_u32 v3, vcc, 100, v3
  s_setpc_b64 s[30:31]
.Lways_store:
  store
finish ways, 0

; Backwards, by a difference and by a sum; the first word of the data takes the next instruction
; for its second one, and what stands behind the end is data, too.
begin back
  s_branch .Lback_go
  .long 0xd1180000
.Lback_five:
  v_mov_b32 v3, 5
  store
  .long 0xd1180000
.Lback_six:
  v_mov_b32 v3, 6
  store
.Lback_go:
  s_getpc_b64 s[10:11]
.Lback_base:
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 .Lback_sum
  s_sub_u32 s10, s10, .Lback_base-.Lback_five
  s_subb_u32 s11, s11, 0
  s_mov_b64 s[18:19], s[10:11]
  s_setpc_b64 s[18:19]
.Lback_sum:
  s_add_u32 s10, s10, .Lback_six-.Lback_base
  s_addc_u32 s11, s11, -1
  s_setpc_b64 s[10:11]
  .long 0xd2850003, 0xffffffff, 0xbf9e0000, 0xbfb10000
finish back

; By a table of addresses, after a call of a function whose address the linker keeps.
begin table
  address s[10:11], s10, s11, places
  s_load_dwordx2 s[12:13], s[10:11], 0x8
  s_getpc_b64 s[14:15]
  s_add_u32 s14, s14, forty@gotpcrel32@lo+4
  s_addc_u32 s15, s15, forty@gotpcrel32@hi+12
  s_load_dwordx2 s[16:17], s[14:15], 0x0
  s_waitcnt lgkmcnt(0)
  s_swappc_b64 s[30:31], s[16:17]
  s_setpc_b64 s[12:13]
.Lfirst:
  v_mov_b32 v3, 1
  store
.Lsecond:
  v_add_u32 v3, vcc, 2, v3
  store
finish table
.section .data.rel.ro,"aw"
.p2align 3
places:
  .quad .Lfirst, .Lsecond
.section .text
.globl forty
.type forty,@function
forty:
  v_mov_b32 v3, 40
  s_setpc_b64 s[30:31]

; By way of a vector register.
begin kept
  address s[10:11], s10, s11, .Lkept_target
  v_mov_b32 v6, s10
  v_mov_b32 v7, s11
  v_readfirstlane_b32 s12, v6
  v_readfirstlane_b32 s13, v7
  s_setpc_b64 s[12:13]
.Lkept_target:
  v_mov_b32 v3, 31
  store
finish kept

; A branch into another section.
begin away
  v_mov_b32 v3, 9
  s_branch elsewhere
finish away
.section .text.more,"ax"
.globl elsewhere
.hidden elsewhere
.type elsewhere,@function
elsewhere:
  store

; The right place in the wrong memory: only group 0 comes to the end.
begin astray
  s_getpc_b64 s[10:11]
.Lastray_base:
  s_add_u32 s10, s10, .Lastray_target-.Lastray_base
  s_addc_u32 s11, s11, s6
  s_setpc_b64 s[10:11]
.Lastray_target:
  v_mov_b32 v3, 78
  store
finish astray
