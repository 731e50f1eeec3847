// Is this program built with AddressSanitizer? Then values are sampled: what they are is shown by
// the same tests without it, and what memory they touch by far fewer.
#pragma once

#include <cstdint>

namespace lanewise::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

/// And with ThreadSanitizer, under which times say little?
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
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
