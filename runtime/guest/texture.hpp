// Textures as the host describes them: where levels of an image lie in guest memory, and the block
// that a handle leads to.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/ir/texture.hpp"
#include "runtime/layout/texture_block.hpp"

namespace lanewise::guest {

enum class TexelKind : uint8_t { unsigned_, signed_, float_ };

struct TextureDescription {
  uint64_t address = 0;  ///< of level 0
  TexelKind kind = TexelKind::float_;
  uint32_t channels = 1, channel_bits = 32;
  uint32_t width = 1, height = 0, depth = 0;  ///< texels; 0 = the dimension is not there
  uint32_t layers = 0;                        ///< of arrays; of cubes six for each
  uint32_t levels = 1;
  bool cube = false;
  uint64_t row_pitch = 0, slice_pitch = 0;  ///< bytes, of level 0; 0 = as close as levels lie

  bool fractions = false;  ///< integers are read as fractions of 1
  bool srgb = false;
  bool unnormalised = false;
  bool linear = false;
  uint32_t mip_filter = 0;  ///< 0 level 0 alone, 1 nearest, 2 linear
  std::array<ir::sampler::Address, 3> address_mode{};
  float bias = 0, least_level = 0, most_level = 0;
  std::array<float, 4> border{};

  bool has_image = true;      ///< else a sampler alone
  bool texel_buffer = false;  ///< GCN kernels find a buffer's descriptor: a row of any length

  uint32_t texel_bytes() const { return channels * channel_bits / 8; }
  uint32_t slices() const;  ///< of level 0: those of 3D images, layers, faces
};

/// Bytes that rows of images are a multiple of where the host does not say otherwise.
inline constexpr uint32_t kRowAlignBits = 5;

struct TextureLevel {
  uint64_t offset = 0, row_pitch = 0, slice_pitch = 0;  ///< bytes
  uint32_t width = 0, height = 0, slices = 0;
  uint64_t bytes() const { return slice_pitch * slices; }
};
TextureLevel texture_level(const TextureDescription& d, uint32_t level);
/// Bytes from the beginning of level 0 to the end of the last one's last texel.
uint64_t texture_bytes(const TextureDescription& d);

/// Where every access lies that an instruction makes of the block's words, whatever dimensions it
/// takes the image to have.
struct TexelRange {
  uint64_t address = 0, bytes = 0;  ///< no bytes: there is no image
  bool aligned = false;             ///< each texel lies at a multiple of its size
};
TexelRange texel_range(const TextureDescription& d);

using TextureBlock = std::array<uint32_t, kTextureBlockWords>;
TextureBlock texture_block(const TextureDescription& d);

}  // namespace lanewise::guest
