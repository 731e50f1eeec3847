// More of the CUDA programs with textures: tables, layers, surfaces, and what counts.
#include "tests/kernels/texture_programs.hpp"

namespace texture_programs {

TEST_CASE("texture programs: tables of one dimension and of colours") {
  TextureOptions o = shape(16);
  o.unnormalised = 0;
  o.filter = LW_FILTER_LINEAR;
  const auto table = random_floats(16, 12), at = random_floats(kCount, 13, -0.25, 1.25);
  const model::Texture t = modelled(o, table);
  std::vector<float> want;
  for (const float a : at) want.push_back(one(model::sample(t, {a, 0, 0}, 0, nullptr)));
  each_form("curve", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, table);
    Buffer places = device().buffer(at), out = device().buffer(std::vector<float>(kCount));
    k.launch(line(), in.texture, places, out, kCount).check();
    check_equal(out.read<float>(), want);
  });

  TextureOptions cube = shape(5, 5, 5);
  cube.channels = 4;
  cube.unnormalised = 0;
  cube.filter = LW_FILTER_LINEAR;
  const auto colours = random_floats(size_t{5} * 5 * 5 * 4, 14, 0, 1);
  const model::Texture graded = modelled(cube, colours);
  const auto numbers = random_floats(size_t{kCount} * 4, 15, 0, 1);
  std::vector<Float4> from(kCount), made;
  std::memcpy(from.data(), numbers.data(), numbers.size() * 4);
  for (const Float4& c : from)
    made.push_back(four(model::sample(graded, {c[0], c[1], c[2]}, 0, nullptr)));
  each_form("grade", [&](lanewise::Kernel& k) {
    const Picture in = picture(cube, colours);
    Buffer places = device().buffer(from), out = device().buffer(std::vector<Float4>(kCount));
    k.launch(line(), in.texture, places, out, kCount).check();
    check_equal(out.read<Float4>(), made);
  });
}

TEST_CASE("texture programs: layers with their weights") {
  const auto from = small_ints<int>(kTexels * kDepth, 16, 1000);
  const auto want = each_texel([&](int x, int y) {
    int sum = 0;
    for (int n = 0; n < int{kDepth}; ++n)
      sum += (n + 1) * from[static_cast<size_t>(n) * kTexels + place(x, y)];
    return sum;
  });
  TextureOptions o = integers(shape(kWidth, kHeight), LW_TEXEL_SIGNED, 32);
  o.layers = kDepth;
  each_form("layers", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<int>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight, kDepth).check();
    check_equal(out.read<int>(), want);
  });
}

TEST_CASE("texture programs: surfaces, transposed and shifted") {
  using Int2 = std::array<int, 2>;
  const auto numbers = random_ints<uint64_t>(kTexels, 17);
  std::vector<Int2> from(kTexels);
  std::memcpy(from.data(), numbers.data(), kTexels * 8);
  const auto want = each_texel([&](int x, int y) { return from[place(y, x)]; }, kHeight, kWidth);
  each_form("transpose", [&](lanewise::Kernel& k) {
    const Picture in = picture(integers(shape(kWidth, kHeight), LW_TEXEL_SIGNED, 32, 2), from),
                  out = blank<Int2>(integers(shape(kHeight, kWidth), LW_TEXEL_SIGNED, 32, 2),
                                    kTexels);
    k.launch(plane(), in.texture, out.texture, kWidth, kHeight).check();
    check_equal(out.texels.read<Int2>(), want);
  });

  const auto volume = random_floats(kTexels * kDepth, 18);
  std::vector<float> shifted(volume.size());
  for (int z = 0; z < int{kDepth}; ++z)
    for (int y = 0; y < int{kHeight}; ++y)
      for (int x = 0; x < int{kWidth}; ++x) {
        const bool inside = x + 1 < int{kWidth} && y > 0;
        const size_t slice = static_cast<size_t>(z) * kTexels,
                     next = static_cast<size_t>((z + 1) % int{kDepth}) * kTexels;
        shifted[next + place(x, y)] = (inside ? volume[slice + place(x + 1, y - 1)] : 0) + 1;
      }
  each_form("shift_volume", [&](lanewise::Kernel& k) {
    const TextureOptions o = shape(kWidth, kHeight, kDepth);
    const Picture in = picture(o, volume), out = blank<float>(o, volume.size());
    k.launch(plane(), in.texture, out.texture, kWidth, kHeight, kDepth).check();
    check_equal(out.texels.read<float>(), shifted);
  });
}

TEST_CASE("texture programs: a histogram of fetched bytes") {
  const auto from = small_ints<uint8_t>(kCount, 19, 256);
  std::vector<int> want(16);
  for (const uint8_t v : from) ++want[v / 16];
  each_form("histogram", [&](lanewise::Kernel& k) {
    const Picture in = picture(integers(shape(kCount), LW_TEXEL_UNSIGNED, 8), from);
    Buffer out = device().buffer(std::vector<int>(16));
    k.launch(line(), in.texture, out, kCount).check();
    check_equal(out.read<int>(), want);
  });
}

TEST_CASE("texture programs: life on a torus, by coordinates that wrap") {
  constexpr uint32_t kSide = 16;  // quotients are exact
  auto cells = small_ints<uint8_t>(size_t{kSide} * kSide, 20, 2);
  TextureOptions o = integers(shape(kSide, kSide), LW_TEXEL_UNSIGNED, 8);
  o.unnormalised = 0;
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_WRAP;
  const auto want = each_texel(
      [&](int x, int y) {
        int alive = 0;
        for (int n = 0; n < 9; ++n)
          if (n != 4)
            alive += cells[static_cast<size_t>((y + n / 3 + 15) % 16 * 16 + (x + n % 3 + 15) % 16)];
        const bool me = cells[static_cast<size_t>(y * 16 + x)] != 0;
        return static_cast<uint8_t>(alive == 3 || (me && alive == 2));
      },
      kSide, kSide);
  each_form("life", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, cells), out = blank<uint8_t>(o, cells.size());
    k.launch(plane(kSide, kSide), in.texture, out.texture, kSide, kSide).check();
    check_equal(out.texels.read<uint8_t>(), want);
  });
}

TEST_CASE("texture programs: the four corners around a texel's end, second channel") {
  const auto from = random_floats(2 * kTexels, 21);
  const auto want = each_texel([&](int x, int y) {
    const auto at = [&](int i, int j) { return from[2 * place(x + i, y + j) + 1]; };
    return Float4{at(0, 1), at(1, 1), at(1, 0), at(0, 0)};
  });
  TextureOptions o = shape(kWidth, kHeight);
  o.channels = 2;
  each_form("corners", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    Buffer out = device().buffer(std::vector<Float4>(kTexels));
    k.launch(plane(), in.texture, out, kWidth, kHeight).check();
    check_equal(out.read<Float4>(), want);
  });
}

}  // namespace texture_programs
