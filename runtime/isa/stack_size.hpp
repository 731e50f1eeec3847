// Stacks of lanes whose size a launch may set.
#pragma once

#include <cstdint>
#include <string_view>

namespace lanewise {

/// Of kernels of PTX whose functions call themselves.
inline constexpr uint32_t kStandardStack = 64 << 10;
/// Register that the front end moves the place behind the stack to, in local memory, whose end it
/// is; policy "stack" moves it and the end.
inline constexpr std::string_view kStackEnd = "stack.end";
/// Registers of GCN kernels that get the bytes of private memory of a lane, and of a wave.
inline constexpr std::string_view kLaneStack = "stack.lane", kWaveStack = "stack.wave";

}  // namespace lanewise
