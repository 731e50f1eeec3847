// What is assumed of a device that cannot be asked, because it runs nothing. Only ever translated
// and compiled for, never run on: see docs/numerics.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spirv/translate.hpp"

namespace lanewise::vulkan {

/// The profile of compile-only devices: "gpu".
inline constexpr const char* kCompilerProfile = "gpu";

/// To what the device reports, adds what a probe would find on a GPU whose f32 and f64 add,
/// multiply, fma and compare are IEEE's and whose division and square root are not, without any
/// quirk.
void assume_gpu(spirv::Target& target);

/// A whole target by name, for translating without any driver; empty when there is none.
std::optional<spirv::Target> named_target(std::string_view name);
std::vector<std::string> named_targets();

}  // namespace lanewise::vulkan
