// Texture and surface instructions of PTX as ptxas 11.8 compiled them: both forms of a kernel read
// the same texels and leave the same ones. tests/kernels/textures.cpp holds the PTX to the model.
#include <array>
#include <bit>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::TextureOptions;

namespace {

constexpr uint32_t kTextureLanes = 64;

struct Lane {
  std::array<uint32_t, 8> words{};  ///< x, y, z, layer, level as f32 and as s32
};

struct TextureForm {
  uint32_t axes = 2;
  bool layered = false, cube = false, integers = false, levels = false;
};
/// In the order of textures.ptx.
constexpr TextureForm kTextureForms[] = {{1},
                                         {2},
                                         {3},
                                         {1, true},
                                         {2, true},
                                         {2, false, true},
                                         {2, true, true},
                                         {1, false, false, false, true},
                                         {2, false, false, false, true},
                                         {3, false, false, false, true},
                                         {2, true, false, false, true},
                                         {2, false, true, false, true},
                                         {2, false, false, false, true},
                                         {1, false, false, false, true},
                                         {2, true, false, false, true},
                                         {1, false, false, true},
                                         {2, false, false, true},
                                         {3, false, false, true},
                                         {2, true, false, true},
                                         {2, false, false, true, true},
                                         {2},
                                         {2, false, false, true},
                                         {2},
                                         {2, true}};

struct SampledPicture {
  TextureOptions options;
  std::vector<uint32_t> texels;
};

SampledPicture random_picture(std::mt19937& rng, const TextureForm& f) {
  SampledPicture p;
  TextureOptions& o = p.options;
  o.width = 1 + rng() % 9;
  if (f.axes > 1) o.height = f.cube ? o.width : 1 + rng() % 9;
  if (f.axes > 2) o.depth = 1 + rng() % 4;
  if (f.layered) o.layers = 1 + rng() % 4;
  if (f.cube) o.layers = 6 * std::max(o.layers, 1U);
  o.cube = f.cube ? 1 : 0;
  o.channels = 1U << rng() % 3;
  if (f.levels)
    for (o.levels = 1; o.levels < 3 && std::max(o.width, o.height) >> o.levels != 0;) ++o.levels;
  o.unnormalised = f.cube || f.levels ? 0 : rng() % 2;
  o.filter = f.integers ? 0 : static_cast<uint32_t>(rng() % 2);
  o.mip_filter = f.levels && o.unnormalised == 0 ? rng() % 3 : 0;
  for (uint32_t& mode : o.address_mode) mode = rng() % 4;
  const auto end = lanewise::Texture::layout(o, std::max(o.levels, 1U) - 1).end;
  for (uint64_t n = 0; n < end; n += 4)
    p.texels.push_back(bits(static_cast<float>(rng() % 4096) / 512 - 4));
  return p;
}

std::vector<Lane> random_lanes(std::mt19937& rng, const TextureForm& f, const TextureOptions& o) {
  std::vector<Lane> lanes(kTextureLanes);
  const std::array sizes = {o.width, std::max(o.height, 1U), std::max(o.depth, 1U)};
  for (Lane& l : lanes) {
    const uint32_t longest = rng() % 3;
    for (uint32_t n = 0; n < 3; ++n) {
      float v = (static_cast<float>(rng() % 257) / 64 - 1) *
                (o.unnormalised != 0 ? static_cast<float>(sizes[n]) : 1.0F);
      // ptxas scales directions by an approximate reciprocal, which is exact for powers of two.
      if (f.cube) v = n == longest ? (rng() % 2 == 0 ? 2.0F : -2.0F) : v / 4;
      l.words[n] = f.integers ? rng() % (sizes[n] + 2) - 1 : bits(v);
    }
    l.words[3] = rng() % 8 == 0 ? 70000 : rng() % 6;
    l.words[4] = bits(static_cast<float>(rng() % 600) / 256);
    l.words[5] = rng() % 4;
  }
  return lanes;
}

/// What the kernel writes, and then the texels.
std::vector<uint32_t> outcome(lanewise::Module& module, const std::string& kernel,
                              const SampledPicture& p, const std::vector<Lane>& lanes) {
  auto texels = device().buffer(p.texels, "texels");
  const lanewise::Texture texture = device().texture(p.options, texels);
  auto in = device().buffer(lanes, "in"),
       out = device().buffer(std::vector<uint32_t>(size_t{4} * kTextureLanes), "out"),
       handles = device().buffer(std::vector<uint64_t>{texture.handle()}, "handles");
  const lanewise::LaunchOptions options{.grid = {1}, .block = {kTextureLanes}};
  if (kernel[0] == 'm')
    module.kernel(kernel).launch(options, handles, in, out).check();
  else
    module.kernel(kernel).launch(options, texture, in, out).check();
  std::vector<uint32_t> got = out.read<uint32_t>();
  const auto left = texels.read<uint32_t>();
  got.insert(got.end(), left.begin(), left.end());
  return got;
}

/// Behind the front end the forms are those of PTX, which devices have.
bool runs_here() {
  return device().info().tier == "cpu" || std::getenv("LANEWISE_TEST_EVERY_DEVICE") != nullptr;
}

struct Both {
  lanewise::Module ptx = device().load_file(corpus("textures/textures.ptx")),
                   cubin = device().load_file(corpus("textures/textures.cubin"));
  void compare(const std::string& kernel, const SampledPicture& p, const std::vector<Lane>& lanes) {
    CAPTURE(kernel);
    check_equal(outcome(cubin, kernel, p, lanes), outcome(ptx, kernel, p, lanes));
  }
};

}  // namespace

TEST_CASE("compiled textures: each form of a fetch, by parameter and from memory") {
  if (!runs_here()) return;
  Both both;
  std::mt19937 rng(77);
  for (uint32_t n = 0; n < std::size(kTextureForms); ++n)
    for (int round = 0; round < 3; ++round) {
      const SampledPicture p = random_picture(rng, kTextureForms[n]);
      const auto lanes = random_lanes(rng, kTextureForms[n], p.options);
      both.compare("p" + std::to_string(n), p, lanes);
      both.compare("m" + std::to_string(n), p, lanes);
    }
}

TEST_CASE("compiled surfaces: loads, stores and reductions") {
  if (!runs_here()) return;
  constexpr uint32_t kBytes[] = {4, 8, 16, 1, 4, 1, 4, 4};  // what the first coordinate counts by
  constexpr TextureForm kSurfaces[] = {{2}, {1}, {2, true}, {3}, {2}, {2}, {2}, {2}};
  Both both;
  std::mt19937 rng(78);
  for (uint32_t n = 0; n < std::size(kSurfaces); ++n)
    for (int round = 0; round < 3; ++round) {
      SampledPicture p;
      p.options = TextureOptions();
      p.options.texel_kind = LW_TEXEL_SIGNED;
      p.options.channels = kSurfaces[n].layered ? 4 : 1;
      p.options.width = 16;
      if (kSurfaces[n].axes > 1) p.options.height = 8;
      if (kSurfaces[n].axes > 2) p.options.depth = 2;
      if (kSurfaces[n].layered) p.options.layers = 3;
      const auto end = lanewise::Texture::layout(p.options).end;
      for (uint64_t k = 0; k < end * 8; k += 4) p.texels.push_back(rng());
      std::vector<Lane> lanes(kTextureLanes);
      for (uint32_t lane = 0; lane < kTextureLanes; ++lane) {
        // No two lanes write one texel; the first kernel stays inside.
        const bool inside = n == 0 || lane % 8 != 7;
        lanes[lane].words = {kBytes[n] * (lane % 16), lane / 16, static_cast<uint32_t>(rng() % 2),
                             static_cast<uint32_t>(rng() % 3)};
        if (!inside && n != 4 && n != 7) lanes[lane].words[rng() % 2] = 1000;
      }
      both.compare("s" + std::to_string(n), p, lanes);
    }
}

TEST_CASE("compiled textures: what a module declares is bound by its name") {
  if (!runs_here()) return;
  for (const char* file : {"textures/textures.ptx", "textures/textures.cubin"}) {
    CAPTURE(file);
    lanewise::Module module = device().load_file(corpus(file));
    TextureOptions o;
    o.texel_kind = LW_TEXEL_UNSIGNED;
    o.width = 8;
    o.height = 2;
    auto texels = device().buffer(random_ints<uint32_t>(16, 5), "texels"),
         plane = device().buffer(std::vector<uint32_t>(16), "plane");
    module.bind_texture("picture", device().texture(o, texels));
    module.bind_texture("plane", device().texture(o, plane));
    auto out = device().buffer(std::vector<uint32_t>(8), "out");
    module.kernel("named").launch({.grid = {1}, .block = {8}}, out).check();
    std::vector<uint32_t> want = texels.read<uint32_t>();
    want.erase(want.begin(), want.begin() + 8);
    check_equal(out.read<uint32_t>(), want);
    want.resize(16);
    check_equal(plane.read<uint32_t>(), want);
  }
}
