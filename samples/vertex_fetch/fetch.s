// The front of a vertex shader for gfx803: every lane fetches one vertex of 16 bytes through three
// buffer descriptors, lights it, and stores position and colour as eight floats.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.text
	.globl	fetch
	.p2align	8
	.type	fetch,@function
fetch:
	s_load_dwordx4 s[8:11], s[0:1], 0x0               // position:  16_16_16_16 SNORM
	s_load_dwordx4 s[12:15], s[0:1], 0x10             // normal:    2_10_10_10 SNORM
	s_load_dwordx4 s[16:19], s[0:1], 0x20             // colour:    8_8_8_8 UNORM, stored as BGRA
	s_load_dwordx2 s[20:21], s[0:1], 0x30             // out
	s_load_dword s3, s[0:1], 0x38                     // how many vertices
	s_lshl_b32 s2, s2, 6
	v_add_u32_e32 v0, vcc, s2, v0
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc, s3, v0
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .Lend
	buffer_load_format_xyz v[4:6], v0, s[8:11], 0 idxen
	buffer_load_format_xyz v[8:10], v0, s[12:15], 0 idxen offset:8
	buffer_load_format_xyzw v[12:15], v0, s[16:19], 0 idxen offset:12
	s_mov_b32 s24, 0x3f3504f3                         // the light comes from (-0.5, 0.5, 0.707)
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v1, -0.5, v8
	v_fma_f32 v1, v9, 0.5, v1
	v_fma_f32 v1, v10, s24, v1
	v_fma_f32 v1, v1, 0.5, 0.5                        // half of it is everywhere
	v_mul_f32_e32 v12, v1, v12
	v_mul_f32_e32 v13, v1, v13
	v_mul_f32_e32 v14, v1, v14
	v_mov_b32_e32 v7, 1.0
	s_or_b32 s21, s21, 0x200000                       // a descriptor of the results: records of 32 bytes
	s_lshl_b32 s22, s3, 5
	s_mov_b32 s23, 0x27fac
	buffer_store_dwordx4 v[4:7], v0, s[20:23], 0 idxen
	buffer_store_dwordx4 v[12:15], v0, s[20:23], 0 idxen offset:16
.Lend:
	s_endpgm
.Lfunc_end0:
	.size	fetch, .Lfunc_end0-fetch

	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel fetch
		.amdhsa_kernarg_size 64
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 25
		.amdhsa_ieee_mode 0
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .name: position
        .offset: 0
        .size: 16
        .value_kind: by_value
      - .name: normal
        .offset: 16
        .size: 16
        .value_kind: by_value
      - .name: colour
        .offset: 32
        .size: 16
        .value_kind: by_value
      - .name: out
        .offset: 48
        .size: 8
        .value_kind: global_buffer
        .address_space: global
      - .name: count
        .offset: 56
        .size: 4
        .value_kind: by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 16
    .kernarg_segment_size: 64
    .max_flat_workgroup_size: 64
    .name:           fetch
    .private_segment_fixed_size: 0
    .sgpr_count:     25
    .symbol:         fetch.kd
    .vgpr_count:     16
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx803
amdhsa.version:
  - 1
  - 1
...
	.end_amdgpu_metadata
