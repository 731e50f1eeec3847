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
  std::array<uint32_t, 3> mode{LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP};
  std::vector<std::byte> texels;  ///< without gaps, x first

  uint32_t texel_bytes() const { return channels * bits / 8; }
  uint32_t rows() const { return std::max(1U, height); }
  uint32_t slices() const { return std::max({1U, depth, layers}); }
  size_t count() const { return size_t{width} * rows() * slices(); }
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
  std::string form, code;  ///< reads %f1 .. %f5, %r1 .. %r5, leaves its result in %r10 .. %r13
  std::string geometry;
  bool integers = false;  ///< coordinates
  bool surface = false, stores = false;
  bool halves = false;  ///< its results are .f16
  unsigned bytes = 4;   ///< of a surface's element
};
std::optional<ImageForm> image_form(const std::string& form);
std::string image_kernel(const std::string& header, const std::string& code);

/// An image of the form's geometry, filled at random.
Image random_image(const ImageForm& f, std::mt19937& random);
Words random_places(const ImageForm& f, const Image& image, uint32_t lanes, std::mt19937& random);

}  // namespace lanewise::truth
