// The same image on both sides, and kernels that read or write it.
#pragma once

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {

struct Image {
  uint32_t kind = LW_TEXEL_FLOAT, bits = 32, channels = 1;
  uint32_t width = 1, height = 0, depth = 0, layers = 0;
  bool cube = false, layered = false, gathers = false, linear = false, normalised = false,
       fractions = false, surface = false;
  uint32_t levels = 1;
  bool mip_linear = false;
  float bias = 0, least = 0, most = 0;  ///< of the level of detail
  std::array<uint32_t, 3> mode{LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP};
  std::vector<std::byte> texels;  ///< without gaps, x first, level after level

  uint32_t texel_bytes() const { return channels * bits / 8; }
  uint32_t columns(uint32_t level = 0) const { return std::max(1U, width >> level); }
  uint32_t rows(uint32_t level = 0) const { return std::max(1U, height >> level); }
  uint32_t slices(uint32_t level = 0) const { return std::max({1U, depth >> level, layers}); }
  size_t count() const {
    size_t all = 0;
    for (uint32_t l = 0; l < levels; ++l) all += size_t{columns(l)} * rows(l) * slices(l);
    return all;
  }
  bool blends() const { return linear || mip_linear; }
};

/// What an instruction does with an image: `in` has eight words of a lane, `out` four.
struct ImageJob {
  std::string text;
  const Image* image = nullptr;
  Words in;
};
struct ImageResult {
  Words out;
  std::vector<std::byte> texels;  ///< afterwards
};
ImageResult image_on_card(const Card& card, const ImageJob& job);
ImageResult image_on_ours(Device& device, const ImageJob& job);

/// A texture or surface instruction of the table.
struct ImageForm {
  std::string form, code;  ///< reads %f1 .. %f5, %f8, %r1 .. %r5; its result is in %r10 .. %r13
  std::string geometry;    ///< empty where any image will do
  enum class Detail : uint8_t { base, level, gradients } detail = Detail::base;
  bool query = false;
  bool integers = false;  ///< coordinates
  bool surface = false, stores = false;
  bool halves = false;  ///< its results are .f16
  unsigned bytes = 4;   ///< of a surface's element
};
/// The instruction by itself, with the geometries that it may ask about.
std::optional<ImageForm> query_form(const std::string& form);
std::optional<ImageForm> image_form(const std::string& form);
std::string image_kernel(const std::string& header, const std::string& code);

/// An image of the form's geometry, filled at random. Levels of detail that are not blended stay
/// clear of the middle between two levels, where manuals do not say which is taken.
Image random_image(const ImageForm& f, std::mt19937& random);
Words random_places(const ImageForm& f, const Image& image, uint32_t lanes, std::mt19937& random);

}  // namespace lanewise::truth
