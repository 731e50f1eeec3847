// The one translation unit of the library; compiled once per variant (see ../CMakeLists.txt).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#if LW_INT64
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#endif
#if LW_ATOMIC64
#extension GL_EXT_shader_atomic_int64 : require
#endif
#if LW_FLOAT64
#extension GL_ARB_gpu_shader_fp64 : enable
#endif
layout(local_size_x = 1) in;
#include "bindings.glsl"
#include "base.glsl"
#include "int64.glsl"
#include "integer.glsl"
#include "rounding.glsl"
#include "float32.glsl"
#include "nearest.glsl"
#include "nearest_scaled.glsl"
#include "quotient.glsl"
#if LW_FLOAT64
#include "round_to_odd.glsl"
#include "fma_double.glsl"
#include "fma_wide.glsl"
#endif
#include "float16.glsl"
#if !LW_FLOAT64
#include "nearest_wide.glsl"
#endif
#include "float64.glsl"
#include "convert.glsl"
#include "approx.glsl"
#include "lane_state.glsl"
#include "memory_check.glsl"
#include "memory_words.glsl"
#include "clear.glsl"
#include "memory_access.glsl"
#include "memory_api.glsl"
#include "atomics.glsl"
#include "atomics_api.glsl"
#include "gcn_format.glsl"
#include "gcn_buffer.glsl"
#include "phase.glsl"
#include "wave.glsl"
#include "wave_group.glsl"
#include "trace.glsl"
void main() {}
