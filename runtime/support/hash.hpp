// FNV-1a, 64 bits: cache keys and checksums of files we write ourselves (not for security).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lanewise {

inline constexpr uint64_t kHashSeed = 0xcbf29ce484222325ULL;

inline uint64_t hash_bytes(const void* data, size_t size, uint64_t h = kHashSeed) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) h = (h ^ p[i]) * 0x100000001b3ULL;
  return h;
}
inline uint64_t hash_text(std::string_view s, uint64_t h = kHashSeed) {
  return hash_bytes(s.data(), s.size(), h);
}

}  // namespace lanewise
