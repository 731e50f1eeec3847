// Which functions of the device's own stay inside the bounds that PTX states for its approximate
// ones (policy float.approx=device).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

/// The order of the shader's results.
enum class OwnFunction : uint8_t { exp2, log2, sin, cos, div, rcp, sqrt, rsqrt };
inline constexpr uint32_t kOwnFunctions = 8;

/// Operands for which translated kernels take the device's function (lw_*_is_usual_f32 of
/// shaders/lib/numbers and runtime/spirv/lane/emit_quick.cpp); quotients have a second one.
bool is_usual(OwnFunction function, uint32_t operand, uint32_t divisor = 0);
/// The result of a usual operand is inside PTX's bound.
bool is_inside(OwnFunction function, uint32_t operand, uint32_t result, uint32_t divisor = 0);

/// Operands of both signs and all exponents, most of them of those where functions bend.
std::vector<uint32_t> own_function_inputs();

/// Per function, the number of usual operands among these whose results are outside.
std::array<uint32_t, kOwnFunctions> count_outside(Device& device, Pipelines& pipelines);

}  // namespace lanewise::vulkan
