// Are sanitizers in this program? With ASan values are sampled: what they are is shown by the same
// tests without it, and what memory they touch by far fewer. The build with clang (LANEWISE_FUZZ)
// may have compiled the runtime for it alone.
#pragma once

#include <cstdint>

namespace lanewise::test {

#if defined(__SANITIZE_ADDRESS__) || defined(LANEWISE_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// And with ThreadSanitizer, under which times say little?
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

/// From one value to the next in a loop over all of `count`. Odd, so that all low bits come up.
constexpr uint32_t value_step(uint32_t count) {
  return kSanitized && count >= 1024 ? 15 : 1;
}

/// Of random inputs.
constexpr uint32_t rounds(uint32_t count) {
  return kSanitized ? (count + 9) / 10 : count;
}

}  // namespace lanewise::test
