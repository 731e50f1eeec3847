// CUDA programs with textures and surfaces (programs.cu), as PTX and as cubins of sm_50 and sm_61,
// and the host's values: filtered texels are the literal model's, everything else is computed here.
#include "tests/kernels/texture_programs.hpp"

namespace texture_programs {

TEST_CASE("texture programs: a box filter") {
  const auto from = random_floats(kTexels, 1);
  const auto want = each_texel([&](int x, int y) {
    float sum = 0;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) sum += from[place(x + i, y + j)];
    return sum * 0.125F;
  });
  each_form("box", [&](lanewise::Kernel& k) {
    const Picture in = picture(shape(kWidth, kHeight), from);
    Buffer out = device().buffer(std::vector<float>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("texture programs: edges by Sobel's operator, of bytes with a border") {
  const auto from = small_ints<uint8_t>(kTexels, 2, 256);
  const auto want = each_texel([&](int x, int y) {
    const auto at = [&](int i, int j) {
      const bool inside = x + i >= 0 && y + j >= 0 && x + i < int{kWidth} && y + j < int{kHeight};
      return inside ? int{from[place(x + i, y + j)]} : 0;
    };
    const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    return std::abs(gx) + std::abs(gy);
  });
  TextureOptions o = integers(shape(kWidth, kHeight), LW_TEXEL_UNSIGNED, 8);
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_BORDER;
  each_form("sobel", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<int>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight).check();
    check_equal(out.read<int>(), want);
  });
}

TEST_CASE("texture programs: medians of nine, into a surface") {
  const auto from = small_ints<uint16_t>(kTexels, 3, 65536);
  const auto want = each_texel([&](int x, int y) {
    std::array<uint16_t, 9> v{};
    for (int n = 0; n < 9; ++n)
      v[static_cast<size_t>(n)] = from[place(x + n % 3 - 1, y + n / 3 - 1)];
    std::ranges::sort(v);
    return v[4];
  });
  const TextureOptions o = integers(shape(kWidth, kHeight), LW_TEXEL_UNSIGNED, 16);
  each_form("median", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from), out = blank<uint16_t>(o, kTexels);
    k.launch(plane(), in.texture, out.texture, kWidth, kHeight).check();
    check_equal(out.texels.read<uint16_t>(), want);
  });
}

TEST_CASE("texture programs: resized between texels, coordinates of the whole picture") {
  constexpr int kWide = 29, kHigh = 17;
  constexpr float kStepX = 1.0F / 28, kStepY = 1.0F / 16;
  TextureOptions o = shape(kWidth, kHeight);
  o.channels = 4;
  o.unnormalised = 0;
  o.filter = LW_FILTER_LINEAR;
  const auto from = random_floats(4 * kTexels, 4);
  const model::Texture t = modelled(o, from);
  const auto want = each_texel(
      [&](int x, int y) {
        return four(model::sample(
            t, {static_cast<float>(x) * kStepX, static_cast<float>(y) * kStepY, 0}, 0, nullptr));
      },
      kWide, kHigh);
  each_form("resize", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<Float4>(size_t{kWide} * kHigh));
    k.launch(plane(kWide, kHigh), in.texture, out, kWide, kHigh, kStepX, kStepY).check();
    check_equal(out.read<Float4>(), want);
  });
}

TEST_CASE("texture programs: rotated, with a colour beside the picture") {
  TextureOptions o = shape(kWidth, kHeight);
  o.filter = LW_FILTER_LINEAR;
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_BORDER;
  o.border[0] = 0.5F;
  const auto from = random_floats(kTexels, 5);
  const model::Texture t = modelled(o, from);
  const auto want = each_texel([&](int x, int y) {
    const auto u = static_cast<float>(x - int{kWidth} / 2),
               v = static_cast<float>(y - int{kHeight} / 2);
    return one(model::sample(t, {0.75F * u - 0.5F * v + 4.25F, 0.5F * u + 0.75F * v + 3.5F, 0}, 0,
                             nullptr));
  });
  each_form("rotate", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<float>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("texture programs: a slice of a volume, and its brightest texels along z") {
  TextureOptions o = shape(kWidth, kHeight, kDepth);
  const auto from = random_floats(kTexels * kDepth, 6);
  const auto brightest = each_texel([&](int x, int y) {
    float most = -1e30F;
    for (size_t z = 0; z < kDepth; ++z) most = std::max(most, from[z * kTexels + place(x, y)]);
    return most;
  });
  each_form("brightest", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<float>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight, kDepth).check();
    check_equal(out.read<float>(), brightest);
  });
  o.filter = LW_FILTER_LINEAR;
  const model::Texture t = modelled(o, from);
  for (const float z : {-3.0F, 1.375F, 2.5F, 9.0F}) {
    const auto want = each_texel([&](int x, int y) {
      return one(model::sample(t, {static_cast<float>(x) + 0.25F, static_cast<float>(y) + 0.75F, z},
                               0, nullptr));
    });
    each_form("slice", [&](lanewise::Kernel& k) {
      const Picture in = picture(o, from);
      Buffer out = device().buffer(std::vector<float>(kTexels));
      k.launch(plane(), in.texture, out, kWidth, kHeight, z).check();
      check_equal(out.read<float>(), want);
    });
  }
}

TEST_CASE("texture programs: what lies in a direction of a cube") {
  constexpr uint32_t kSide = 6;
  TextureOptions o = shape(kSide, kSide);
  o.channels = 4;
  o.layers = 6;
  o.cube = 1;
  o.unnormalised = 0;
  o.filter = LW_FILTER_LINEAR;
  const auto from = random_floats(size_t{kSide} * kSide * 6 * 4, 7);
  const model::Texture t = modelled(o, from);
  const auto numbers = random_floats(size_t{kCount} * 4, 8, -1, 1);
  std::vector<Float4> directions(kCount), want(kCount);
  std::memcpy(directions.data(), numbers.data(), numbers.size() * 4);
  for (size_t n = 0; n < kCount; ++n) {
    const auto f = model::face_of(directions[n][0], directions[n][1], directions[n][2]);
    want[n] = four(model::sample(t, f.at, f.face, nullptr));
  }
  each_form("environment", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer at = device().buffer(directions), out = device().buffer(std::vector<Float4>(kCount));
    k.launch(line(), in.texture, at, out, kCount).check();
    check_equal(out.read<Float4>(), want);
  });
}

TEST_CASE("texture programs: between the levels of a chain") {
  TextureOptions o = shape(32, 16);
  o.unnormalised = 0;
  o.filter = LW_FILTER_LINEAR;
  o.levels = 5;
  o.mip_filter = LW_MIP_LINEAR;
  o.most_level = 16;
  const auto from = random_floats(Texture::layout(o, 4).end / 4, 9);
  const model::Texture t = modelled(o, from);
  const auto numbers = random_floats(size_t{kCount} * 4, 10, -0.5, 5.5);
  std::vector<Float4> at(kCount);
  std::memcpy(at.data(), numbers.data(), numbers.size() * 4);
  std::vector<float> want;
  for (const Float4& a : at) want.push_back(one(model::sample(t, {a[0], a[1], 0}, 0, &a[2])));
  each_form("chain", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer places = device().buffer(at), out = device().buffer(std::vector<float>(kCount));
    k.launch(line(), in.texture, places, out, kCount).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("texture programs: a level of a chain is made of the one above it") {
  using Bytes = std::array<uint8_t, 4>;
  constexpr int kWide = kWidth / 2 + 1, kHigh = kHeight / 2 + 1;
  const auto numbers = random_ints<uint32_t>(kTexels, 11);
  std::vector<Bytes> from(kTexels);
  std::memcpy(from.data(), numbers.data(), kTexels * 4);
  const auto want = each_texel(
      [&](int x, int y) {
        std::array<unsigned, 4> sum{2, 2, 2, 2};
        for (int n = 0; n < 4; ++n)
          for (size_t k = 0; k < 4; ++k) sum[k] += from[place(2 * x + n % 2, 2 * y + n / 2)][k];
        Bytes out{};
        for (size_t k = 0; k < 4; ++k) out[k] = static_cast<uint8_t>(sum[k] / 4);
        return out;
      },
      kWide, kHigh);
  each_form("halve", [&](lanewise::Kernel& k) {
    const Picture in = picture(integers(shape(kWidth, kHeight), LW_TEXEL_UNSIGNED, 8, 4), from),
                  out = blank<Bytes>(integers(shape(kWide, kHigh), LW_TEXEL_UNSIGNED, 8, 4),
                                     want.size());
    k.launch(plane(kWide, kHigh), in.texture, out.texture, kWide, kHigh).check();
    check_equal(out.texels.read<Bytes>(), want);
  });
}

}  // namespace texture_programs
