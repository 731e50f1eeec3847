// The frame of a trace file: magic numbers and little-endian words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise::trace {

inline constexpr std::string_view kMagic = "LWTRACE\n";
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kBlockHeadBytes = 16;
inline constexpr uint32_t kBlockMagic = 0x4b42574c;  // "LWBK"
inline constexpr uint32_t kMaxBlockBytes = uint32_t{1} << 26;

inline void put_le32(std::string& out, uint32_t v) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<char>(v >> (8 * i)));
}
inline void put_le64(std::string& out, uint64_t v) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<char>(v >> (8 * i)));
}
inline uint64_t take_le(const char* p, unsigned bytes) {
  uint64_t v = 0;
  for (unsigned i = 0; i < bytes; ++i)
    v |= static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  return v;
}

}  // namespace lanewise::trace
