#include "runtime/guest/texture.hpp"

#include <algorithm>
#include <bit>

#include "runtime/guest/texture_gcn.hpp"

namespace lanewise::guest {
namespace {

/// As descriptor word 3 has it, for both ways to read integers.
uint32_t format_word(const TextureDescription& d) {
  constexpr uint32_t kData[3][3] = {{1, 3, 10}, {2, 5, 12}, {4, 11, 14}};  // bits, channels
  const uint32_t bits = d.channel_bits / 16, channels = d.channels / 2;
  const uint32_t number = d.kind == TexelKind::float_ ? 7
                          : d.fractions               ? (d.kind == TexelKind::signed_ ? 1 : 0)
                                                      : (d.kind == TexelKind::signed_ ? 5 : 4);
  constexpr uint32_t kInOrder = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  return kInOrder | number << 12 | kData[bits][channels] << 15 | (d.srgb ? ir::image::kSrgb : 0);
}

/// OpenCL's numbers, which PTX's queries have.
uint32_t channel_type(const TextureDescription& d) {
  const uint32_t size = d.channel_bits / 16;  // 8, 16, 32 bits
  if (d.kind == TexelKind::float_) return d.channel_bits == 16 ? 0x10dd : 0x10de;
  const bool negative = d.kind == TexelKind::signed_;
  if (d.fractions) return (negative ? 0x10d0 : 0x10d2) + size;
  return (negative ? 0x10d7 : 0x10da) + size;
}
uint32_t channel_order(const TextureDescription& d) {
  return d.channels == 1 ? 0x10b0 : d.channels == 2 ? 0x10b2 : 0x10b5;
}

uint64_t rounded_up(uint64_t bytes) {
  constexpr uint64_t kAlign = uint64_t{1} << kRowAlignBits;
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

uint32_t TextureDescription::slices() const {
  return std::max(depth != 0 ? depth : layers, 1U);
}

TextureLevel texture_level(const TextureDescription& d, uint32_t level) {
  const auto at = [](uint32_t size, uint32_t l) { return std::max(size >> l, 1U); };
  TextureLevel out;
  for (uint32_t l = 0; l <= level; ++l) {
    out.offset += l == 0 ? 0 : out.bytes();
    out.width = at(d.width, l);
    out.height = at(d.height, l);
    out.slices = d.depth != 0 ? at(d.depth, l) : d.slices();
    const bool own = l == 0 && d.row_pitch != 0;
    out.row_pitch = own ? d.row_pitch : rounded_up(uint64_t{out.width} * d.texel_bytes());
    out.slice_pitch = l == 0 && d.slice_pitch != 0 ? d.slice_pitch : out.row_pitch * out.height;
  }
  return out;
}

uint64_t texture_bytes(const TextureDescription& d) {
  const TextureLevel last = texture_level(d, std::max(d.levels, 1U) - 1);
  return last.offset + (last.slices - 1) * last.slice_pitch + (last.height - 1) * last.row_pitch +
         uint64_t{last.width} * d.texel_bytes();
}

TexelRange texel_range(const TextureDescription& d) {
  if (!d.has_image) return {};
  // An instruction for layers takes slices for such, which levels have as many of as level 0 has.
  TextureDescription widest = d;
  widest.layers = d.slices();
  widest.depth = 0;
  const TextureLevel first = texture_level(d, 0);
  const uint64_t size = std::min(d.texel_bytes(), 16U);
  const bool aligned = ((d.address | first.row_pitch | first.slice_pitch) & (size - 1)) == 0;
  return {d.address, texture_bytes(widest), aligned};
}

TextureBlock texture_block(const TextureDescription& d) {
  TextureBlock block{};
  const auto set = [&](TextureWord w, uint32_t more, uint32_t value) {
    block[texture_offset(w, more) / 4] = value;
  };
  using ir::sampler::Address;
  uint32_t state = (d.linear ? ir::sampler::kMagLinear | ir::sampler::kMinLinear : 0) |
                   d.mip_filter << ir::sampler::kMipShift |
                   (d.unnormalised ? ir::sampler::kUnnormalised : 0);
  for (uint32_t axis = 0; axis < 3; ++axis) {
    constexpr uint32_t kQueried[] = {0, 3, 1, 4, 3, 4, 2, 2};
    state |= static_cast<uint32_t>(d.address_mode[axis]) << (3 * axis);
    set(TextureWord::address_mode, axis, kQueried[static_cast<size_t>(d.address_mode[axis])]);
  }
  set(TextureWord::sampler, 0, state);
  set(TextureWord::sampler, 1, std::bit_cast<uint32_t>(d.bias));
  set(TextureWord::sampler, 2, std::bit_cast<uint32_t>(d.least_level));
  set(TextureWord::sampler, 3, std::bit_cast<uint32_t>(d.most_level));
  const bool integers = d.kind != TexelKind::float_ && !d.fractions;
  for (uint32_t n = 0; n < 4; ++n) {
    const float v = d.border[n];
    // Integers as the texels are: the nearest one below, none of them beyond 2^31.
    const uint32_t whole = static_cast<uint32_t>(
        static_cast<int64_t>(std::clamp(v == v ? v : 0.0F, -2147483648.0F, 4294967040.0F)));
    set(TextureWord::sampler, 4 + n, integers ? whole : std::bit_cast<uint32_t>(v));
  }
  set(TextureWord::filter_mode, 0, d.linear ? 1 : 0);
  set(TextureWord::normalised, 0, d.unnormalised ? 0 : 1);
  uint32_t role = kIsSampler;
  if (d.has_image) {
    const TextureLevel first = texture_level(d, 0);
    role |= kIsTexture | kIsSurface;
    set(TextureWord::image, 0, static_cast<uint32_t>(d.address));
    set(TextureWord::image, 1, static_cast<uint32_t>(d.address >> 32));
    set(TextureWord::image, 2, format_word(d));
    set(TextureWord::image, 3, d.width);
    set(TextureWord::image, 4, first.height);
    set(TextureWord::image, 5, first.slices);
    set(TextureWord::image, 6, static_cast<uint32_t>(first.row_pitch));
    set(TextureWord::image, 7, static_cast<uint32_t>(first.slice_pitch));
    set(TextureWord::image, 8,
        (std::max(d.levels, 1U) - 1) << ir::image::kLastLevelShift |
            kRowAlignBits << ir::image::kRowAlignShift);
    set(TextureWord::channel_type, 0, channel_type(d));
    set(TextureWord::channel_order, 0, channel_order(d));
    set(TextureWord::array_size, 0, d.depth != 0 ? 0 : d.cube ? d.layers / 6 : d.layers);
    set(TextureWord::level_count, 0, std::max(d.levels, 1U));
    set(TextureWord::sample_count, 0, 1);
  }
  std::ranges::copy(gcn_words(d), block.begin());
  const uint32_t dimensions = d.depth != 0 ? 3 : d.height != 0 ? 2 : 1;
  set(TextureWord::image, 9,
      kTextureMagic << 16 | role | dimensions | (d.layers != 0 ? ir::image::kArray : 0));
  return block;
}

}  // namespace lanewise::guest
