#include "runtime/guest/texture_gcn.hpp"

#include <algorithm>
#include <cmath>

namespace lanewise::guest {
namespace {

/// Fields of a descriptor by their first bit.
template <size_t N>
void put(std::array<uint32_t, N>& words, unsigned low, unsigned count, uint64_t value) {
  for (unsigned n = 0; n < count; ++n)
    words[(low + n) / 32] |= static_cast<uint32_t>(value >> n & 1) << ((low + n) % 32);
}

uint32_t image_type(const TextureDescription& d) {
  constexpr uint32_t k1D = 8, k2D = 9, k3D = 10, kCube = 11, k1DArray = 12, k2DArray = 13;
  if (d.depth != 0) return k3D;
  if (d.cube) return kCube;
  const bool array = d.layers != 0;
  return d.height == 0 ? (array ? k1DArray : k1D) : (array ? k2DArray : k2D);
}

struct Format {
  uint32_t data, number, type;  ///< the last one is OpenCL's, as its libraries number it
};
Format format(const TextureDescription& d) {
  constexpr uint32_t kData[3][3] = {{1, 3, 10}, {2, 5, 12}, {4, 11, 14}};  // bits, channels
  constexpr uint32_t kSnorm = 0, kUnorm = 2, kSigned = 8, kUnsigned = 11, kHalf = 14, kFloat = 15;
  const uint32_t bits = d.channel_bits / 16, data = kData[bits][d.channels / 2];
  const bool negative = d.kind == TexelKind::signed_;
  if (d.srgb) return {data, 9, kUnorm};
  if (d.kind == TexelKind::float_) return {data, 7, bits == 1 ? kHalf : kFloat};
  if (d.fractions) return {data, negative ? 1U : 0U, (negative ? kSnorm : kUnorm) + bits};
  return {data, negative ? 5U : 4U, (negative ? kSigned : kUnsigned) + bits};
}

/// Pitches, sizes and the address as a T# has them.
bool is_describable(const TextureDescription& d) {
  constexpr uint32_t kMost = 1 << 14, kMostSlices = 1 << 13, kAlign = 256;
  const TextureLevel first = texture_level(d, 0);
  return d.address % kAlign == 0 && d.width <= kMost && d.height <= kMost &&
         d.slices() <= kMostSlices && first.row_pitch / d.texel_bytes() <= kMost &&
         first.row_pitch % d.texel_bytes() == 0 &&
         first.slice_pitch == first.row_pitch * first.height;
}

constexpr uint32_t kInOrder = 4 | 5 << 3 | 6 << 6 | 7 << 9;

void put_image(GcnWords& w, const TextureDescription& d, const Format& f) {
  constexpr uint32_t kLinear = 8, kNone = 15;
  const TextureLevel first = texture_level(d, 0);
  put(w, 0, 40, d.address >> 8);
  put(w, 52, 6, f.data);
  put(w, 58, 4, f.number);
  put(w, 64, 14, d.width - 1);
  put(w, 78, 14, first.height - 1);
  put(w, 96, 12, kInOrder);
  put(w, 112, 4, std::max(d.levels, 1U) - 1);
  put(w, 116, 5, kLinear);
  put(w, 124, 4, is_describable(d) ? image_type(d) : kNone);
  put(w, 128, 13, first.slices - 1);
  put(w, 141, 14, first.row_pitch / d.texel_bytes() - 1);
  if (d.depth == 0) put(w, 173, 13, first.slices - 1);
}

/// A V#, whose range counts bytes, as gfx803 does.
void put_buffer(GcnWords& w, const TextureDescription& d, const Format& f) {
  put(w, 0, 48, d.address);
  put(w, 48, 14, d.texel_bytes());
  put(w, 64, 32, uint64_t{d.width} * d.texel_bytes());
  put(w, 96, 12, kInOrder);
  put(w, 108, 3, f.number);
  put(w, 111, 4, f.data);
}

/// What OpenCL's libraries read behind the descriptor.
void put_queried(GcnWords& w, const TextureDescription& d, const Format& f) {
  constexpr uint32_t kR = 1, kRg = 3, kRgba = 8;
  w[8] = f.type;
  w[9] = d.channels == 1 ? kR : d.channels == 2 ? kRg : kRgba;
  w[10] = d.width;
}

/// A number with 8 bits behind its point.
uint32_t fixed(float v, float least, float most) {
  return static_cast<uint32_t>(
      static_cast<int32_t>(std::lround(std::clamp(std::isnan(v) ? 0 : v, least, most) * 256)));
}

std::array<uint32_t, 4> sampler(const TextureDescription& d) {
  // CLAMP_X and the like, in the order of ir::sampler::Address.
  constexpr uint32_t kClamp[] = {0, 2, 1, 6, 3, 7, 4, 5};
  constexpr uint32_t kBlack = 0, kOpaqueBlack = 1, kOpaqueWhite = 2, kTable = 3;
  constexpr float kMostLevel = 4095.0F / 256;
  std::array<uint32_t, 4> w{};
  for (unsigned axis = 0; axis < 3; ++axis)
    put(w, 3 * axis, 3, kClamp[static_cast<size_t>(d.address_mode[axis])]);
  put(w, 15, 1, d.unnormalised ? 1 : 0);
  put(w, 32, 12, fixed(d.least_level, 0, kMostLevel));
  put(w, 44, 12, fixed(d.most_level, 0, kMostLevel));
  put(w, 64, 14, fixed(d.bias, -32, 32 - 1 / 256.0F));
  put(w, 84, 2, d.linear ? 1 : 0);
  put(w, 86, 2, d.linear ? 1 : 0);
  put(w, 88, 2, d.linear ? 2 : 1);
  put(w, 90, 2, d.mip_filter);
  const auto border_is = [&](float colour, float alpha) {
    return d.border == std::array{colour, colour, colour, alpha};
  };
  put(w, 126, 2,
      border_is(0, 0)   ? kBlack
      : border_is(0, 1) ? kOpaqueBlack
      : border_is(1, 1) ? kOpaqueWhite
                        : kTable);
  return w;
}

}  // namespace

GcnWords gcn_words(const TextureDescription& d) {
  GcnWords w{};
  if (d.has_image) {
    const Format f = format(d);
    (d.texel_buffer ? put_buffer : put_image)(w, d, f);
    put_queried(w, d, f);
  }
  std::ranges::copy(sampler(d), w.begin() + (d.has_image ? kSamplerWord : 0));
  return w;
}

}  // namespace lanewise::guest
