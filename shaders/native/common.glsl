// What the hand-written kernels share: pointers in push constants, as the guests' parameters are. WORDS:
// pairs of words, for devices without 64-bit integers.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#if WORDS
#define POINTER uvec2
#else
#define POINTER uint64_t
#endif
layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer F4 { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer U { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer D { double v[]; };
#if !WORDS
layout(buffer_reference, std430, buffer_reference_align = 1) buffer B { uint8_t v[]; };
#endif
layout(push_constant, std430) uniform P { POINTER p0, p1, p2, p3; int i0, i1, i2, i3; float f0; } pc;
