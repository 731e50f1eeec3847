// The push constants of a dispatch, 32-bit words: what every kernel wants at once. The rest of a
// launch lies in the launch block (shaders/INTERFACE.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanewise::guest {

/// How the host writes 64 bits for shaders.
inline void put64(uint32_t* words, uint64_t value) {
  words[0] = static_cast<uint32_t>(value);
  words[1] = static_cast<uint32_t>(value >> 32);
}

inline constexpr uint32_t kPushWords = 32;  ///< Vulkan promises 128 bytes
inline constexpr uint32_t kPushArenaAddress = 0, kPushArenaSize = 2;
/// x, y, z of the dispatch's first group: Vulkan's own base cannot reach beyond the device's
/// limits.
inline constexpr uint32_t kPushBase = 4;
inline constexpr uint32_t kPushParams = 8;
/// The first parameters, as many as fit.
inline constexpr uint32_t kPushedParamBytes = 4 * (kPushWords - kPushParams);
/// Behind the parameters, where they and it fit: LAUNCH_BEYOND of the launch block.
constexpr uint32_t push_beyond(uint32_t param_bytes) {
  return kPushParams + (param_bytes + 3) / 4;
}
constexpr bool pushes_beyond(uint32_t param_bytes, size_t pointers) {
  return push_beyond(param_bytes) + 2 * pointers <= kPushWords;
}
/// Arenas of up to so many bytes are reached with 32-bit offsets (and no sum of such an offset and
/// an access's size wraps).
inline constexpr uint64_t kSmallArena = 0xffff'0000;

}  // namespace lanewise::guest
