// Images at random, and places in them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/hardware/truth/textures.hpp"

namespace lanewise::truth {
namespace {

using Detail = ImageForm::Detail;

bool is_cube(const std::string& geometry) {
  return geometry.ends_with("cube");
}

std::string any_geometry(bool surface, std::mt19937& random) {
  constexpr const char* kAll[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
  return kAll[random() % (surface ? 5 : 7)];
}

void choose_sizes(Image& i, const std::string& geometry, std::mt19937& random) {
  const std::string base = geometry[0] == 'a' ? geometry.substr(1) : geometry;
  i.width = 4 + random() % 9;
  if (base != "1d") i.height = base == "cube" ? i.width : 4 + random() % 6;
  if (base == "3d") i.depth = 2 + random() % 4;
  i.layered = geometry[0] == 'a';
  if (i.layered) i.layers = 1 + random() % 4;
  i.cube = is_cube(geometry);
  if (i.cube) i.layers = 6 * std::max(1U, i.layers);
}

/// Elements of the access's size; sust.p and sured.p see words.
void choose_surface(Image& i, const ImageForm& f) {
  i.surface = true;
  i.kind = LW_TEXEL_UNSIGNED;
  i.bits = f.bytes >= 4 ? 32 : 8 * f.bytes;
  i.channels = std::max(1U, f.bytes / 4);
  if (f.query) return;
  i.width = 256;
  if (i.height != 0) i.height = 2;
  if (i.depth != 0) i.depth = 2;
}

void choose_levels(Image& i, uint32_t fewest, bool reads_floats, std::mt19937& random) {
  const auto most = static_cast<uint32_t>(std::bit_width(std::max({i.width, i.height, i.depth})));
  i.levels = std::min<uint32_t>(most, fewest + random() % most);
  if (i.levels == 1) return;
  i.normalised = true;  // CUDA has no others of several levels
  i.mip_linear = reads_floats && random() % 2 == 0;
  constexpr float kBias[] = {0, 0, 0.25F, -1};
  i.bias = kBias[random() % 4];
  i.least = random() % 4 == 0 ? 1 : 0;
  i.most = random() % 4 == 0 ? 1.25F : static_cast<float>(i.levels - 1);
}

void choose_texture(Image& i, const ImageForm& f, const std::string& geometry,
                    std::mt19937& random) {
  const bool gathers = f.form.starts_with("tld4");
  i.gathers = gathers && geometry == "2d";  // CUDA has the flag for these alone
  i.kind = f.halves ? uint32_t{LW_TEXEL_FLOAT} : random() % 3;
  constexpr uint32_t kBits[] = {8, 16, 32};
  i.bits = i.kind == LW_TEXEL_FLOAT ? kBits[1 + random() % 2] : kBits[random() % 3];
  i.channels = 1U << random() % 3;
  i.fractions = i.kind != LW_TEXEL_FLOAT && i.bits != 32 && random() % 2 == 0;
  const bool reads_floats = i.kind == LW_TEXEL_FLOAT || i.fractions;
  i.linear = reads_floats && !f.integers && !gathers && random() % 2 == 0;
  i.normalised = i.cube || f.detail != Detail::base || (!f.integers && random() % 2 == 0);
  for (uint32_t& mode : i.mode) mode = random() % 4;
  if (i.cube) i.mode = {LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP};
  if (f.query || f.detail != Detail::base)
    choose_levels(i, f.query ? 1 : 2, reads_floats && !f.integers, random);
}

void fill(Image& i, std::mt19937& random) {
  i.texels.resize(i.count() * i.texel_bytes());
  const size_t components = i.count() * i.channels;
  for (size_t n = 0; n < components; ++n) {
    uint32_t value = static_cast<uint32_t>(random());
    if (i.kind == LW_TEXEL_FLOAT && i.bits == 32)
      value = std::bit_cast<uint32_t>((static_cast<float>(random() % 65536) - 32768.0F) / 4096.0F);
    if (i.kind == LW_TEXEL_FLOAT && i.bits == 16)
      value = random() % 2 * 0x8000U + 0x3000U + random() % 0x1800U;
    std::memcpy(i.texels.data() + n * i.bits / 8, &value, i.bits / 8);
  }
}

uint32_t random_coordinate(const ImageForm& f, const Image& image, uint32_t size,
                           std::mt19937& random) {
  if (f.integers) return static_cast<uint32_t>(static_cast<int>(random() % (size + 2)) - 1);
  if (image.cube)
    return std::bit_cast<uint32_t>((static_cast<float>(random() % 8191) - 4095.5F) / 1024.0F);
  const float any = static_cast<float>(random() % (1U << 16)) / (1U << 16);
  const float x = any * (static_cast<float>(size) + 4) - 2;
  return std::bit_cast<uint32_t>(image.normalised ? x / static_cast<float>(size) : x);
}

/// From beside the first level to beside the last one.
float random_level(const Image& image, std::mt19937& random) {
  const float whole = static_cast<float>(random() % (image.levels + 2)) - 1;
  const int part = static_cast<int>(random() % 64);
  return whole + static_cast<float>(image.mip_linear ? part : part % 24 - 12) / 64 - image.bias;
}

/// A level in word 4; or in words 4 and 7 what a coordinate of the first and of the last axis
/// changes by, the larger of which is a power of two of texels.
void put_detail(std::array<uint32_t, 8>& w, const ImageForm& f, const Image& image,
                std::mt19937& random) {
  if (f.detail == Detail::level) {
    w[4] = f.integers || f.query ? random() % image.levels
                                 : std::bit_cast<uint32_t>(random_level(image, random));
  } else if (f.detail == Detail::gradients) {
    const auto change = [&](int power, uint32_t size) {
      const float texels = std::ldexp(random() % 2 == 0 ? 1.0F : -1.0F, power);
      return std::bit_cast<uint32_t>(image.normalised ? texels / static_cast<float>(size) : texels);
    };
    const int power = static_cast<int>(random() % (image.levels + 2)) - 1;
    const uint32_t last = image.depth != 0    ? image.depth
                          : image.height != 0 ? image.height
                                              : image.width;
    const bool swapped = random() % 2 == 0;
    w[4] = change(power - (swapped ? 2 : 0), image.width);
    w[7] = change(power - (swapped ? 0 : 2), last);
  }
}

}  // namespace

Image random_image(const ImageForm& f, std::mt19937& random) {
  Image i;
  const std::string geometry = f.geometry.empty() ? any_geometry(f.surface, random) : f.geometry;
  choose_sizes(i, geometry, random);
  if (f.surface)
    choose_surface(i, f);
  else
    choose_texture(i, f, geometry, random);
  fill(i, random);
  return i;
}

Words random_places(const ImageForm& f, const Image& image, uint32_t lanes, std::mt19937& random) {
  Words words;
  const std::array<uint32_t, 3> sizes = {image.width, image.rows(), image.slices()};
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    std::array<uint32_t, 8> w{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      // A store's element is its lane's own.
      if (f.surface)
        w[axis] = axis == 0 ? lane % sizes[axis] : random() % sizes[axis];
      else
        w[axis] = random_coordinate(f, image, sizes[axis], random);
    }
    if (image.layers != 0)
      w[3] = random() % std::max(1U, image.cube ? image.layers / 6 : image.layers);
    put_detail(w, f, image, random);
    w[5] = static_cast<uint32_t>(random());
    w[6] = static_cast<uint32_t>(random());
    words.insert(words.end(), w.begin(), w.end());
  }
  return words;
}

}  // namespace lanewise::truth
