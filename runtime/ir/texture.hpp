// Textures, surfaces and images: one model for the three instruction sets.
//
// A front end brings its descriptor (PTX and SASS: a block in memory that the handle points to;
// GCN: T# and S# in registers) into the words below, by ordinary instructions, and makes one
// operation of the family. Words that are immediates are specialised. expand_textures() turns the
// operations into arithmetic and plain loads and stores, so checks, faults, memory events, modes
// and both engines are those of any other access.
//
// Texels lie in guest memory. Texel (x, y, z, layer) of level l begins at
//   base + level_start(l) + x * bytes + y * row_pitch(l) + (z or layer) * slice_pitch(l)
// Level 0 has the pitches of the words. Level l > 0 has the sizes max(1, size >> l) (no layers are
// lost), a row of width * bytes rounded up to the row alignment, slices of height rows, and begins
// behind all slices of level l - 1. With `power_of_two` sizes of levels above 0 are rounded up to
// powers of two before pitches are made of them, and with `mip_from_pitch` the width that rows of
// levels are made of is (row pitch / bytes) >> l.
//
// Sources of an operation, in this order:
//   image          kImageWords operands (Image::...)
//   sample, gather kSamplerWords operands (Sampler::...), then the coordinates x, y, z: f32, or s32
//   with `integers`;
//                  then the layer (b32; of cube arrays the cube), then, where the access has them:
//                  the level (f32, or s32 with `integers`) or the gradients (six: x y z by the
//                  first screen axis, x y z by the second), bias, least level of detail, three
//                  texel offsets (s32), the value to compare with
//   texel_*        x, y, z, layer (s32), level (b32); texel_store: then four values
// Coordinates that a geometry does not have are not looked at (immediate 0). A cube's coordinates
// are a direction; of texel_* they are x, y and the face, in z. A layer beside the image is the
// nearest one of sample and gather.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Operands that describe an image.
namespace image {
enum Word : uint8_t {
  base,         ///< b64 address of level 0
  format,       ///< as of fmt_unpack (descriptor word 3), and bit 31: sRGB
  width,        ///< texels
  height,       ///< 1 where there is none
  depth,        ///< slices of 3D images, layers of arrays, faces of cubes (6 each); else 1
  row_pitch,    ///< bytes
  slice_pitch,  ///< bytes
  levels,       ///< kFirstLevel ...
  kind,         ///< kDimensions ...: for Dim::described
  count
};
// Fields of the word `levels`.
inline constexpr uint32_t kFirstLevelShift = 0;  ///< 4 bits: level that sampling calls 0
inline constexpr uint32_t kLastLevelShift = 4;   ///< 4 bits
inline constexpr uint32_t kRowAlignShift =
    8;  ///< 4 bits: log2 of what rows of levels > 0 are a multiple of
inline constexpr uint32_t kPowerOfTwo = 1 << 12;
inline constexpr uint32_t kMipFromPitch = 1 << 13;
// Fields of the word `kind`.
inline constexpr uint32_t kDimensions = 3;  ///< mask: 1, 2 or 3
inline constexpr uint32_t kArray = 4;
inline constexpr uint32_t kSrgb = 1U << 31;  ///< of the word `format`
}  // namespace image

/// Operands that describe a sampler.
namespace sampler {
enum Word : uint8_t {
  state,     ///< kAddress ...
  bias,      ///< f32, added to the level of detail
  min_lod,   ///< f32
  max_lod,   ///< f32
  border_x,  ///< four values as the format gives them (f32 bits, integers)
  border_y,
  border_z,
  border_w,
  count
};
/// Three bits for each axis, from bit 0, 3 and 6 on.
enum class Address : uint8_t {
  wrap,
  clamp,
  mirror,
  border,
  mirror_once,
  mirror_border,
  half_border,
  mirror_half_border
};
inline constexpr uint32_t kMagLinear = 1 << 9;
inline constexpr uint32_t kMinLinear = 1 << 10;
inline constexpr uint32_t kMipShift =
    11;  ///< 2 bits: 0 level 0 alone, 1 nearest level, 2 two levels
inline constexpr uint32_t kUnnormalised = 1 << 13;  ///< coordinates count texels
inline constexpr uint32_t kCompareShift =
    14;  ///< 3 bits: never < == <= > != >= always, the operand first
}  // namespace sampler

inline constexpr size_t kImageWords = image::count, kSamplerWords = sampler::count;
/// Sources of texel_* behind the image: x, y, z, layer, level.
inline constexpr size_t kTexelPlace = 5;

/// How many sources a texture operation takes; `i.texture` is set.
inline size_t texture_sources(const Inst& i) {
  if (i.op == Op::texel_address || i.op == Op::texel_load) return kImageWords + kTexelPlace;
  if (i.op == Op::texel_store) return kImageWords + kTexelPlace + 4;
  const TextureAccess& t = *i.texture;
  const size_t lod = t.lod == TextureAccess::Lod::level      ? 1
                     : t.lod == TextureAccess::Lod::gradient ? 6
                                                             : 0;
  return kImageWords + kSamplerWords + 4 + lod + (t.bias ? 1U : 0U) + (t.clamp ? 1U : 0U) +
         (t.offset ? 3U : 0U) + (t.compare ? 1U : 0U);
}

inline bool is_texture(Op op) {
  return op >= Op::texel_address && op <= Op::gather;
}

/// Value of Inst::mode for Op::load.
enum class LoadMode : uint8_t {
  plain,
  descriptor,  ///< of a texture: hardware has a cache of its own for them, no event is recorded
};

/// Value of Inst::mode for Op::f2i.
enum class ToIntMode : uint8_t {
  clamps,
  fits,  ///< the source is known to be inside the range of the type, and no NaN
};

/// How coordinates and levels of detail become places and weights (--policy texture.filter).
/// Weights have 8 bits of fraction.
enum class FilterRule : uint8_t {
  cuda_1_8,  ///< floor of the coordinate less a half; its fraction is rounded to 8 bits
  gcn_1_8,   ///< the coordinate is rounded to 8 bits of fraction first, for nearest texels, too
};

/// Replaces the operations of the family by plain ones. Launches do it behind their policies.
/// False where the program has none.
bool expand_textures(Program& program, FilterRule rule);

}  // namespace lanewise::ir
