// The one translation unit of the library; compiled once per variant (see ../CMakeLists.txt).
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
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
#include "numbers/int64.glsl"
#include "numbers/integer.glsl"
#include "numbers/rounding.glsl"
#include "numbers/float32.glsl"
#include "numbers/nearest.glsl"
#include "numbers/nearest_scaled.glsl"
#include "numbers/nearest_guarded.glsl"
#include "numbers/quotient.glsl"
#if LW_FLOAT64
#include "numbers/round_to_odd.glsl"
#include "numbers/fma_double.glsl"
#include "numbers/fma_wide.glsl"
#endif
#include "numbers/float16.glsl"
#if !LW_FLOAT64
#include "numbers/nearest_wide.glsl"
#endif
#include "numbers/float64.glsl"
#include "numbers/convert.glsl"
#include "numbers/dot.glsl"
#include "numbers/approx.glsl"
#include "lane_state.glsl"
#include "memory/memory_check.glsl"
#include "memory/memory_words.glsl"
#include "memory/clear.glsl"
#include "memory/memory_access.glsl"
#include "memory/memory_api.glsl"
#include "memory/atomics.glsl"
#include "memory/atomics_api.glsl"
#include "memory/gcn_format.glsl"
#include "memory/gcn_buffer.glsl"
#include "phase.glsl"
#include "wave.glsl"
#include "wave_group.glsl"
#include "trace.glsl"
void main() {}
