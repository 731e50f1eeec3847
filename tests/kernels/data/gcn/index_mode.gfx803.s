	.text
	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.globl	uniform                         ; -- Begin function uniform
	.p2align	8
	.type	uniform,@function
uniform:                                ; @uniform
; %bb.0:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx4 s[4:7], s[4:5], 0x10
	v_lshlrev_b32_e32 v1, 6, v0
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s3
	v_add_u32_e32 v5, vcc, s2, v1
	v_addc_u32_e32 v6, vcc, 0, v2, vcc
	v_add_u32_e32 v1, vcc, 48, v5
	v_addc_u32_e32 v2, vcc, 0, v6, vcc
	v_add_u32_e32 v7, vcc, 32, v5
	v_addc_u32_e32 v8, vcc, 0, v6, vcc
	flat_load_dwordx4 v[13:16], v[1:2]
	flat_load_dwordx4 v[1:4], v[5:6]
	v_add_u32_e32 v5, vcc, 16, v5
	v_addc_u32_e32 v6, vcc, 0, v6, vcc
	flat_load_dwordx4 v[9:12], v[7:8]
	flat_load_dwordx4 v[5:8], v[5:6]
	s_movk_i32 s2, 0x3e8
	s_lshl_b32 s3, s6, 1
	v_mov_b32_e32 v17, s1
	s_waitcnt vmcnt(0)
	s_set_gpr_idx_on s4, gpr_idx(SRC0)
	v_mov_b32_e32 v18, v1
	s_set_gpr_idx_off 
	v_add_u32_e32 v18, vcc, s2, v18
	s_set_gpr_idx_on s4, gpr_idx(DST)
	v_mov_b32_e32 v1, v18
	s_set_gpr_idx_off 
	s_set_gpr_idx_on s5, gpr_idx(SRC0)
	v_mov_b32_e32 v18, v1
	s_set_gpr_idx_off 
	v_mul_lo_u32 v18, v18, 3
	s_set_gpr_idx_on s3, gpr_idx(SRC0)
	v_mov_b32_e32 v19, v2
	v_mov_b32_e32 v1, v1
	s_set_gpr_idx_off 
	v_xor_b32_e32 v1, v1, v19
	v_add_u32_e32 v2, vcc, v18, v1
	v_add_u32_e32 v0, vcc, s0, v0
	v_addc_u32_e32 v1, vcc, 0, v17, vcc
	flat_store_dword v[0:1], v2
	s_endpgm
	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel uniform
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 28
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 20
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	uniform, .Lfunc_end0-uniform
                                        ; -- End function
	.section	.AMDGPU.csdata
; Kernel info:
; codeLenInByte = 188
; NumSgprs: 10
; NumVgprs: 20
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 4
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 20
; Occupancy: 10
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
	.text
	.globl	lanes                           ; -- Begin function lanes
	.p2align	8
	.type	lanes,@function
lanes:                                  ; @lanes
; %bb.0:                                ; %entry
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_load_dwordx2 s[6:7], s[4:5], 0x10
	v_lshlrev_b32_e32 v1, 6, v0
	s_load_dword s4, s[4:5], 0x18
	s_mov_b32 s5, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s3
	v_add_u32_e32 v6, vcc, s2, v1
	v_addc_u32_e32 v7, vcc, 0, v2, vcc
	v_add_u32_e32 v1, vcc, 48, v6
	v_addc_u32_e32 v2, vcc, 0, v7, vcc
	v_add_u32_e32 v8, vcc, 32, v6
	v_addc_u32_e32 v9, vcc, 0, v7, vcc
	flat_load_dwordx4 v[14:17], v[1:2]
	flat_load_dwordx4 v[2:5], v[6:7]
	v_add_u32_e32 v6, vcc, 16, v6
	v_addc_u32_e32 v7, vcc, 0, v7, vcc
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v19, s7
	v_add_u32_e32 v18, vcc, s6, v1
	v_addc_u32_e32 v19, vcc, 0, v19, vcc
	flat_load_dwordx4 v[10:13], v[8:9]
	flat_load_dwordx4 v[6:9], v[6:7]
	flat_load_dword v19, v[18:19]
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v18, v1
.LBB1_1:                                ; %loop
                                        ; =>This Loop Header: Depth=1
                                        ;     Child Loop BB1_2 Depth 2
                                        ;     Child Loop BB1_4 Depth 2
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v20, vcc, s5, v19
	v_and_b32_e32 v20, 15, v20
	s_mov_b64 s[2:3], exec
.LBB1_2:                                ;   Parent Loop BB1_1 Depth=1
                                        ; =>  This Inner Loop Header: Depth=2
	v_readfirstlane_b32 s6, v20
	v_cmp_eq_u32_e32 vcc, s6, v20
	s_and_saveexec_b64 vcc, vcc
	s_set_gpr_idx_on s6, gpr_idx(SRC0)
	v_mov_b32_e32 v22, v2
	s_set_gpr_idx_off 
	s_xor_b64 exec, exec, vcc
	s_cbranch_execnz .LBB1_2
; %bb.3:                                ;   in Loop: Header=BB1_1 Depth=1
	s_mov_b64 exec, s[2:3]
	v_mul_lo_u32 v18, v18, 3
	v_add_u32_e32 v21, vcc, 1, v22
	s_mov_b64 s[2:3], exec
	v_add_u32_e32 v18, vcc, v18, v22
.LBB1_4:                                ;   Parent Loop BB1_1 Depth=1
                                        ; =>  This Inner Loop Header: Depth=2
	v_readfirstlane_b32 s6, v20
	v_cmp_eq_u32_e32 vcc, s6, v20
	s_and_saveexec_b64 vcc, vcc
	s_set_gpr_idx_on s6, gpr_idx(DST)
	v_mov_b32_e32 v2, v21
	s_set_gpr_idx_off 
	s_xor_b64 exec, exec, vcc
	s_cbranch_execnz .LBB1_4
; %bb.5:                                ;   in Loop: Header=BB1_1 Depth=1
	s_mov_b64 exec, s[2:3]
	s_add_i32 s5, s5, 1
	s_cmp_lt_u32 s5, s4
	s_cbranch_scc1 .LBB1_1
; %bb.6:                                ; %end
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	v_mov_b32_e32 v2, s1
	v_add_u32_e32 v0, vcc, s0, v0
	v_addc_u32_e32 v1, vcc, v2, v1, vcc
	flat_store_dword v[0:1], v18
	s_endpgm
	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel lanes
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 28
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 23
		.amdhsa_next_free_sgpr 8
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end1:
	.size	lanes, .Lfunc_end1-lanes
                                        ; -- End function
	.section	.AMDGPU.csdata
; Kernel info:
; codeLenInByte = 280
; NumSgprs: 10
; NumVgprs: 23
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 23
; Occupancy: 10
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
	.section	".note.GNU-stack"
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           out
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           in
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .name:           a
        .offset:         16
        .size:           4
        .value_kind:     by_value
      - .name:           b
        .offset:         20
        .size:           4
        .value_kind:     by_value
      - .name:           c
        .offset:         24
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 28
    .max_flat_workgroup_size: 1024
    .name:           uniform
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         uniform.kd
    .vgpr_count:     20
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .args:
      - .address_space:  global
        .name:           out
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           in
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .name:           which
        .offset:         16
        .size:           8
        .value_kind:     global_buffer
      - .name:           turns
        .offset:         24
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 28
    .max_flat_workgroup_size: 1024
    .name:           lanes
    .private_segment_fixed_size: 0
    .sgpr_count:     10
    .sgpr_spill_count: 0
    .symbol:         lanes.kd
    .vgpr_count:     23
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx803
amdhsa.version:
  - 1
  - 1
...

	.end_amdgpu_metadata
