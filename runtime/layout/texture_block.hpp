// The block of memory that a texture, surface or sampler handle of PTX and SASS is the address of.
// The host writes it and guests may only read it. The words are those of runtime/ir/texture.hpp;
// then comes what queries return.
#pragma once

#include <cstdint>

namespace lanewise::guest {

/// Words of the block.
enum class TextureWord : uint8_t {
  image = 0,           ///< base (2 words), format, width, height, depth, pitches, levels, kind
  sampler = 12,        ///< state, bias, least and greatest level, border
  channel_type = 20,   ///< what PTX's queries name; the numbers are OpenCL's
  channel_order = 21,  ///
  normalised = 22,     ///< 1: coordinates are normalised
  array_size = 23,     ///< layers, 0 where there are none
  level_count = 24,    ///
  sample_count = 25,   ///
  filter_mode = 26,    ///< 0 nearest, 1 linear
  address_mode = 27,   ///< three words: 0 wrap, 1 mirror, 2 clamp_ogl, 3 clamp_to_edge, 4 border
};
inline constexpr uint32_t kTextureBlockBytes = 128;
inline constexpr uint32_t kTextureBlockWords = kTextureBlockBytes / 4;
/// In the upper half of the word `kind` of every block; anything else is no handle. A variable of a
/// module that nothing is bound to has the second one.
inline constexpr uint32_t kTextureMagic = 0x7e56, kUnboundMagic = kTextureMagic | 1;
/// Bits of the word `kind`: what the block may be used as.
inline constexpr uint32_t kIsTexture = 1 << 8, kIsSampler = 1 << 9, kIsSurface = 1 << 10;

constexpr uint32_t texture_offset(TextureWord word, uint32_t more = 0) {
  return 4 * (static_cast<uint32_t>(word) + more);
}

}  // namespace lanewise::guest
