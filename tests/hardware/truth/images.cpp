// An image on the card and on a device of ours.
#include <algorithm>
#include <cstring>

#include "tests/hardware/truth/textures.hpp"

namespace lanewise::truth {
namespace {

constexpr uint32_t kLaneWords = 8, kOutWords = 4, kGroup = 128;

const TextureOptions kPlain;

cuda::ArrayDescriptor descriptor(const Image& i) {
  const bool is_float = i.kind == LW_TEXEL_FLOAT;
  const int of_unsigned = i.bits == 8 ? cuda::kU8 : i.bits == 16 ? cuda::kU16 : cuda::kU32;
  const int of_signed = i.bits == 8 ? cuda::kS8 : i.bits == 16 ? cuda::kS16 : cuda::kS32;
  cuda::ArrayDescriptor d{};
  d.width = i.width;
  d.height = i.height;
  d.depth = std::max(i.depth, i.layers);
  d.format = is_float                      ? (i.bits == 16 ? cuda::kHalf : cuda::kFloat)
             : i.kind == LW_TEXEL_UNSIGNED ? of_unsigned
                                           : of_signed;
  d.channels = i.channels;
  d.flags = (i.surface ? cuda::kSurface : 0U) | (i.cube ? cuda::kCubes : 0U) |
            (i.layered ? cuda::kLayered : 0U) | (i.gathers ? cuda::kGather : 0U);
  return d;
}

cuda::Sampling sampling(const Image& i) {
  cuda::Sampling s{};
  std::ranges::transform(i.mode, s.address, [](uint32_t m) { return static_cast<int>(m); });
  s.filter = i.linear ? 1 : 0;
  s.mip_filter = i.mip_linear ? 1 : 0;
  s.bias = i.bias;
  s.least = i.least;
  s.most = i.most;
  s.flags = (i.fractions || i.kind == LW_TEXEL_FLOAT ? 0U : cuda::kAsIntegers) |
            (i.normalised ? cuda::kNormalised : 0U);
  return s;
}

TextureOptions options_of(const Image& i) {
  TextureOptions o = kPlain;
  o.texel_kind = i.kind;
  o.channels = i.channels;
  o.channel_bits = i.bits;
  o.width = i.width;
  o.height = i.height;
  o.depth = i.depth;
  o.layers = i.layers;
  o.cube = i.cube ? 1 : 0;
  o.levels = i.levels;
  if (i.levels > 1) o.mip_filter = i.mip_linear ? LW_MIP_LINEAR : LW_MIP_NEAREST;
  o.bias = i.bias;
  o.least_level = i.least;
  o.most_level = i.most;
  o.fractions = i.fractions ? 1 : 0;
  o.unnormalised = i.normalised ? 0 : 1;
  o.filter = i.linear ? LW_FILTER_LINEAR : LW_FILTER_NEAREST;
  std::ranges::copy(i.mode, o.address_mode);
  return o;
}

/// Rows of an image in memory with and without what lies between them, level after level.
void each_row(const Image& i, const TextureOptions& options, auto f) {
  size_t here = 0;
  for (uint32_t level = 0; level < i.levels; ++level) {
    const lw_texture_level at = Texture::layout(options, level);
    const size_t row = size_t{at.width} * i.texel_bytes();
    for (uint32_t z = 0; z < i.slices(level); ++z)
      for (uint32_t y = 0; y < i.rows(level); ++y, here += row)
        f(at.offset + z * at.slice_pitch + y * at.row_pitch, here, row);
  }
}

}  // namespace

ImageResult image_on_card(const Card& card, const ImageJob& job) {
  const Image& i = *job.image;
  const auto array = card.array(descriptor(i), i.texel_bytes(), i.levels);
  array->write(i.texels);
  const uint64_t handle = i.surface ? array->surface() : array->texture(sampling(i));
  const size_t lanes = job.in.size() / kLaneWords;
  const auto in = card.allocate(job.in.size() * sizeof(uint32_t));
  in->write(std::as_bytes(std::span(job.in)));
  ImageResult result{Words(lanes * kOutWords, kPoison), i.texels};
  const auto out = card.allocate(result.out.size() * sizeof(uint32_t));
  const Shape shape{{static_cast<uint32_t>(lanes / kGroup), 1, 1}, {kGroup, 1, 1}};
  card.load(job.text)->launch(
      "k", shape,
      std::vector<std::vector<std::byte>>{argument(handle), argument(in->address()),
                                          argument(out->address())});
  out->read(std::as_writable_bytes(std::span(result.out)));
  if (i.surface) array->read(result.texels);
  return result;
}

ImageResult image_on_ours(Device& device, const ImageJob& job) {
  const Image& i = *job.image;
  const TextureOptions options = options_of(i);
  std::vector<std::byte> memory(Texture::layout(options, i.levels - 1).end);
  each_row(i, options, [&](size_t there, size_t here, size_t bytes) {
    std::memcpy(memory.data() + there, i.texels.data() + here, bytes);
  });
  Buffer texels = device.allocate(memory.size(), "texels");
  texels.write(memory);
  const Texture texture = device.texture(options, texels);
  const size_t lanes = job.in.size() / kLaneWords;
  Buffer in = device.buffer(job.in), out = device.allocate(lanes * kOutWords * sizeof(uint32_t));
  device.load_text(job.text, Isa::ptx, "image.ptx")
      .kernel("k")
      .launch({.grid = {static_cast<uint32_t>(lanes / kGroup)}, .block = {kGroup}}, texture, in,
              out)
      .check();
  ImageResult result{out.read<uint32_t>(), i.texels};
  texels.read(memory);
  each_row(i, options, [&](size_t there, size_t here, size_t bytes) {
    std::memcpy(result.texels.data() + here, memory.data() + there, bytes);
  });
  return result;
}

}  // namespace lanewise::truth
