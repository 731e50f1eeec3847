// The block of memory that a texture, surface or sampler handle is the address of. The host writes
// it and guests may only read it. PTX and SASS find the words of runtime/ir/texture.hpp there, then
// what queries return; GCN finds descriptors at its beginning.
#pragma once

#include <cstdint>

namespace lanewise::guest {

/// Words of the block.
enum class TextureWord : uint8_t {
  gcn = 0,             ///< 16 words: T#, what OpenCL's libraries ask, S#; of samplers an S# alone
  image = 16,          ///< base (2 words), format, width, height, depth, pitches, levels, kind
  sampler = 28,        ///< state, bias, least and greatest level, border
  channel_type = 36,   ///< what PTX's queries name; the numbers are OpenCL's
  channel_order = 37,  ///
  normalised = 38,     ///< 1: coordinates are normalised
  array_size = 39,     ///< layers, 0 where there are none
  level_count = 40,    ///
  sample_count = 41,   ///
  filter_mode = 42,    ///< 0 nearest, 1 linear
  address_mode = 43,   ///< three words: 0 wrap, 1 mirror, 2 clamp_ogl, 3 clamp_to_edge, 4 border
};
inline constexpr uint32_t kTextureBlockBytes = 256;
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
