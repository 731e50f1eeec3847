// CUDA programs with textures and surfaces (programs.cu) in their three forms, and the literal
// model's pictures.
#pragma once

#include <functional>

#include "tests/kernels/support.hpp"
#include "tests/oracle/texture.hpp"
#include "tests/support/shares.hpp"

namespace texture_programs {

using namespace kernels;
namespace model = lanewise::oracle::texture;
using lanewise::Buffer;
using lanewise::Texture;
using lanewise::TextureOptions;

inline constexpr uint32_t kWidth = 21, kHeight = 13, kDepth = 5, kCount = 200;
using Float4 = std::array<float, 4>;
using Host = std::function<void(lanewise::Kernel&)>;

/// The program in its three forms; devices share the programs, and take the cubin of sm_50.
inline void each_form(const std::string& program, const Host& body) {
  size_t place = 0;
  for (const char c : program) place += static_cast<unsigned char>(c);
  if (!lanewise::test::runs_here(place, 9)) return;
  const bool every = device().info().tier == "cpu" || lanewise::test::every_device();
  for (const std::string ending : {".ptx", ".cubin", ".sm_61.cubin"}) {
    if (!every && ending != ".cubin") continue;
    CAPTURE(program);
    CAPTURE(ending);
    lanewise::Kernel kernel =
        device().load_file(corpus("textures/programs" + ending)).kernel(program);
    body(kernel);
  }
}

inline TextureOptions shape(uint32_t width, uint32_t height = 0, uint32_t depth = 0) {
  TextureOptions o;
  o.width = width;
  o.height = height;
  o.depth = depth;
  o.unnormalised = 1;
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_CLAMP;
  return o;
}
inline TextureOptions integers(TextureOptions o, uint32_t kind, uint32_t bits,
                               uint32_t channels = 1) {
  o.texel_kind = kind;
  o.channel_bits = bits;
  o.channels = channels;
  return o;
}

struct Picture {
  Buffer texels;
  Texture texture;
};
/// Rows without padding, so that the host finds texels by index.
template <typename T>
Picture picture(TextureOptions o, const std::vector<T>& texels) {
  if (o.levels < 2) o.row_pitch = uint64_t{o.width} * o.channels * o.channel_bits / 8;
  Picture p{device().buffer(texels, "texels"), {}};
  p.texture = device().texture(o, p.texels);
  return p;
}
template <typename T>
Picture blank(const TextureOptions& o, size_t count) {
  return picture(o, std::vector<T>(count));
}

/// The model's picture of the same floats: channels beside each other.
inline model::Texture modelled(const TextureOptions& o, const std::vector<float>& texels) {
  model::Texture t;
  t.format.channels = o.channels;
  t.axes = o.depth != 0 ? 3 : o.height != 0 ? 2 : 1;
  t.linear = o.filter == LW_FILTER_LINEAR;
  t.normalised = o.unnormalised == 0;
  t.layered = o.layers != 0;
  t.mip = o.mip_filter;
  constexpr model::Mode kModes[] = {model::Mode::wrap, model::Mode::clamp, model::Mode::mirror,
                                    model::Mode::border};
  for (size_t n = 0; n < 3; ++n) t.mode[n] = kModes[o.address_mode[n]];
  for (size_t n = 0; n < 4; ++n) t.border[n] = o.border[n];
  for (uint32_t n = 0; n < std::max(o.levels, 1U); ++n) {
    lw_texture_level where = Texture::layout(o, n);
    if (o.levels < 2) where.row_pitch = uint64_t{o.width} * o.channels * 4;
    if (o.levels < 2) where.slice_pitch = where.row_pitch * where.height;
    model::Level l{static_cast<int>(where.width),
                   static_cast<int>(where.height),
                   static_cast<int>(where.slices),
                   {}};
    for (uint32_t z = 0; z < where.slices; ++z)
      for (uint32_t y = 0; y < where.height; ++y)
        for (uint32_t x = 0; x < where.width; ++x) {
          const uint64_t at = where.offset + z * where.slice_pitch + y * where.row_pitch;
          model::Texel texel{};
          for (uint32_t k = 0; k < o.channels; ++k)
            texel[k] = bits(texels[at / 4 + x * o.channels + k]);
          l.texels.push_back(texel);
        }
    t.levels.push_back(std::move(l));
  }
  return t;
}
inline float one(const model::Texel& t) {
  return model::as_float(t[0]);
}
inline Float4 four(const model::Texel& t) {
  return {model::as_float(t[0]), model::as_float(t[1]), model::as_float(t[2]),
          model::as_float(t[3])};
}

inline lanewise::LaunchOptions plane(uint32_t width = kWidth, uint32_t height = kHeight) {
  return {.grid = {(width + 7) / 8, (height + 7) / 8}, .block = {8, 8}};
}
inline lanewise::LaunchOptions line(uint32_t count = kCount) {
  return {.grid = {(count + 63) / 64}, .block = {64}};
}
inline int clamped(int v, uint32_t size) {
  return std::clamp(v, 0, static_cast<int>(size) - 1);
}
inline size_t place(int x, int y, uint32_t width = kWidth, uint32_t height = kHeight) {
  return static_cast<size_t>(clamped(y, height)) * width + static_cast<size_t>(clamped(x, width));
}
/// A value of each texel of a picture of the usual size.
template <typename F>
auto each_texel(F f, int width = kWidth, int height = kHeight) {
  std::vector<decltype(f(0, 0))> out;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) out.push_back(f(x, y));
  return out;
}
template <typename T>
std::vector<T> small_ints(size_t count, uint64_t seed, uint32_t most) {
  std::vector<T> out;
  for (const uint32_t v : random_ints<uint32_t>(count, seed))
    out.push_back(static_cast<T>(v % most));
  return out;
}
inline constexpr size_t kTexels = size_t{kWidth} * kHeight;

}  // namespace texture_programs
