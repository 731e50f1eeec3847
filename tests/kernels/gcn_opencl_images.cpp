// OpenCL kernels with images, compiled for three targets (images.cl): textures of the API as their
// arguments, and the host's values.
#include <functional>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::Texture;
using lanewise::TextureOptions;

namespace {

constexpr uint32_t kWidth = 13, kHeight = 9, kDepth = 5, kLayers = 4;

struct Picture {
  Buffer texels;
  Texture texture;
};

/// An image without padding between its rows, so that the host finds its texels by index.
template <typename T>
Picture picture(TextureOptions o, const std::vector<T>& texels) {
  o.row_pitch = uint64_t{o.width} * o.channels * o.channel_bits / 8;
  Picture p{device().buffer(texels, "texels"), {}};
  p.texture = device().texture(o, p.texels);
  return p;
}

TextureOptions shape(uint32_t width, uint32_t height = 0, uint32_t depth = 0, uint32_t layers = 0) {
  TextureOptions o;
  o.width = width;
  o.height = height;
  o.depth = depth;
  o.layers = layers;
  return o;
}
TextureOptions integers(TextureOptions o, uint32_t kind, uint32_t channels) {
  o.texel_kind = kind;
  o.channels = channels;
  return o;
}

Texture sampler(uint32_t filter, uint32_t address, bool unnormalised) {
  TextureOptions o;
  o.filter = filter;
  o.unnormalised = unnormalised ? 1 : 0;
  for (uint32_t& mode : o.address_mode) mode = address;
  return device().texture(o);
}

using Float4 = std::array<float, 4>;

/// Runs the test with the code object of each target.
void each_target(const std::string& name, const std::function<void(lanewise::Kernel&)>& body) {
  for (size_t n = 0; n < 3; ++n) {
    constexpr const char* kTargets[] = {"gfx600", "gfx700", "gfx803"};
    constexpr size_t kKind[] = {0, 1, 3};
    if (!gcn::runs_here(name, kKind[n])) continue;
    const std::string file = corpus(std::string("gcn/images/images.") + kTargets[n] + ".hsaco");
    CAPTURE(file);
    CAPTURE(name);
    lanewise::Kernel kernel = device().load_file(file).kernel(name);
    body(kernel);
  }
}

lanewise::LaunchOptions whole(uint32_t width, uint32_t height = 1) {
  return {.grid = {1}, .block = {width, height}};
}

int clamped(int v, uint32_t size) {
  return std::clamp(v, 0, static_cast<int>(size) - 1);
}

/// Weight of the second of two texels in 1/256, and the first one.
struct Between {
  int first;
  int weight;
};
Between between(float x) {
  const auto fixed = static_cast<int>(std::nearbyint(x * 256)) - 128;
  return {fixed >> 8, fixed & 255};
}

/// What the kernel `blur` makes of four channels.
std::vector<float> blurred(const std::vector<float>& from, uint32_t width, uint32_t height) {
  std::vector<float> out(from.size());
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      for (uint32_t k = 0; k < 4; ++k) {
        float sum = 0;
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) {
            const int at_x = clamped(static_cast<int>(x) + i, width),
                      at_y = clamped(static_cast<int>(y) + j, height);
            sum += from[(static_cast<size_t>(at_y) * width + static_cast<size_t>(at_x)) * 4 + k];
          }
        out[(size_t{y} * width + x) * 4 + k] = sum * 0.125F;
      }
  return out;
}

}  // namespace

TEST_CASE("OpenCL images: blur, from one image to another") {
  const auto from = random_floats(size_t{kWidth} * kHeight * 4, 1);
  const auto want = blurred(from, kWidth, kHeight);
  TextureOptions o = shape(kWidth, kHeight);
  o.channels = 4;
  each_target("blur", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from), out = picture(o, std::vector<float>(from.size()));
    k.launch(whole(kWidth, kHeight), in.texture, out.texture).check();
    check_equal(out.texels.read<float>(), want);
  });
}

TEST_CASE("OpenCL images: one kernel for images of several formats and sizes, by turns") {
  each_target("blur", [&](lanewise::Kernel& k) {
    for (uint32_t turn = 0; turn < 6; ++turn) {
      CAPTURE(turn);
      const uint32_t width = kWidth - turn, height = kHeight + turn, kind = turn % 3;
      TextureOptions o = shape(width, height);
      o.channels = 4;
      const Picture out = picture(o, std::vector<float>(size_t{width} * height * 4));
      std::vector<float> read;
      Picture in;
      if (kind == 0) {
        read = random_floats(size_t{width} * height * 4, turn);
        in = picture(o, read);
      } else {
        o = integers(o, kind == 1 ? LW_TEXEL_UNSIGNED : LW_TEXEL_SIGNED, 4);
        o.channel_bits = kind == 1 ? 8 : 16;
        o.fractions = 1;
        std::vector<uint8_t> bytes(size_t{width} * height * 4);
        std::vector<int16_t> words(bytes.size());
        for (size_t n = 0; n < bytes.size(); ++n) {
          bytes[n] = static_cast<uint8_t>(n * 37 + turn);
          words[n] = static_cast<int16_t>(n * 2999 + turn);
          read.push_back(kind == 1 ? static_cast<float>(bytes[n]) / 255.0F
                                   : std::max(static_cast<float>(words[n]) / 32767.0F, -1.0F));
        }
        in = kind == 1 ? picture(o, bytes) : picture(o, words);
      }
      k.launch(whole(width, height), in.texture, out.texture).check();
      check_equal(out.texels.read<float>(), blurred(read, width, height));
    }
  });
}

TEST_CASE("OpenCL images: resampling by a linear sampler") {
  const auto from = random_floats(size_t{kWidth} * kHeight, 2);
  constexpr uint32_t kOut = 11;
  constexpr float kScale[2] = {1.25F, 0.75F};
  std::vector<float> want;
  for (uint32_t y = 0; y < kOut; ++y)
    for (uint32_t x = 0; x < kOut; ++x) {
      const Between at_x = between((static_cast<float>(x) + 0.5F) * kScale[0]),
                    at_y = between((static_cast<float>(y) + 0.5F) * kScale[1]);
      float sum = -0.0F;
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
          const int weight = (i != 0 ? at_x.weight : 256 - at_x.weight) *
                             (j != 0 ? at_y.weight : 256 - at_y.weight);
          if (weight == 0) continue;
          const int row = clamped(at_y.first + j, kHeight),
                    column = clamped(at_x.first + i, kWidth);
          sum += from[static_cast<size_t>(row * static_cast<int>(kWidth) + column)] *
                 (static_cast<float>(weight) / 65536);
        }
      want.insert(want.end(), {sum, 0, 0, 1});
    }
  each_target("resample", [&](lanewise::Kernel& k) {
    const Picture in = picture(shape(kWidth, kHeight), from);
    const Texture linear = sampler(LW_FILTER_LINEAR, LW_ADDRESS_CLAMP, true);
    auto out = device().buffer(std::vector<float>(want.size()), "out");
    k.launch(whole(kOut, kOut), in.texture, linear, out,
             lanewise::Arg::raw(std::as_bytes(std::span(kScale))))
        .check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("OpenCL images: integers turned around, without a sampler") {
  const auto from = random_ints<uint32_t>(size_t{kWidth} * kHeight * 2, 3);
  std::vector<uint32_t> want(from.size());
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x)
      for (uint32_t k = 0; k < 2; ++k)
        want[(size_t{x} * kHeight + y) * 2 + k] = from[(size_t{y} * kWidth + x) * 2 + k];
  each_target("transpose", [&](lanewise::Kernel& k) {
    const Picture in = picture(integers(shape(kWidth, kHeight), LW_TEXEL_UNSIGNED, 2), from),
                  out = picture(integers(shape(kHeight, kWidth), LW_TEXEL_UNSIGNED, 2),
                                std::vector<uint32_t>(from.size()));
    k.launch(whole(kWidth, kHeight), in.texture, out.texture).check();
    check_equal(out.texels.read<uint32_t>(), want);
  });
}

TEST_CASE("OpenCL images: a slice of a volume between its slices") {
  const auto volume = random_floats(size_t{kWidth} * kHeight * kDepth, 4);
  constexpr float kZ = 2.875F;
  std::vector<float> want;
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x) {
      const Between at[3] = {between(static_cast<float>(x) + 0.25F),
                             between(static_cast<float>(y) + 0.75F), between(kZ)};
      float sum = -0.0F;
      for (int tap = 0; tap < 8; ++tap) {
        int weight = 1, i[3];
        for (int n = 0; n < 3; ++n) {
          const bool high = (tap >> n & 1) != 0;
          weight *= high ? at[n].weight : 256 - at[n].weight;
          i[n] = at[n].first + (high ? 1 : 0);
        }
        if (weight == 0) continue;
        const size_t place = (static_cast<size_t>(clamped(i[2], kDepth)) * kHeight +
                              static_cast<size_t>(clamped(i[1], kHeight))) *
                                 kWidth +
                             static_cast<size_t>(clamped(i[0], kWidth));
        sum += volume[place] * (static_cast<float>(weight) / 16777216);
      }
      want.insert(want.end(), {sum, 0, 0, 1});
    }
  each_target("slice", [&](lanewise::Kernel& k) {
    const Picture in = picture(shape(kWidth, kHeight, kDepth), volume);
    const Texture linear = sampler(LW_FILTER_LINEAR, LW_ADDRESS_CLAMP, true);
    auto out = device().buffer(std::vector<float>(want.size()), "out");
    k.launch(whole(kWidth, kHeight), in.texture, linear, out, kZ).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("OpenCL images: a table of one dimension, with normalised coordinates that repeat") {
  constexpr uint32_t kEntries = 16, kReads = 64;
  const auto table = random_floats(kEntries, 5);
  std::vector<float> at, want;
  for (uint32_t n = 0; n < kReads; ++n) {
    at.push_back((static_cast<float>(n) - 20) / 24);
    const Between b = between((at[n] - std::floor(at[n])) * static_cast<float>(kEntries));
    const auto entry = [&](int i) { return table[static_cast<size_t>(i + 16) % kEntries]; };
    const float low = static_cast<float>(256 - b.weight) / 256,
                high = static_cast<float>(b.weight) / 256;
    want.push_back(b.weight == 0 ? entry(b.first)
                                 : entry(b.first) * low + entry(b.first + 1) * high);
  }
  each_target("lookup", [&](lanewise::Kernel& k) {
    const Picture in = picture(shape(kEntries), table);
    const Texture linear = sampler(LW_FILTER_LINEAR, LW_ADDRESS_WRAP, false);
    auto places = device().buffer(at, "at");
    auto out = device().buffer(std::vector<float>(kReads), "out");
    k.launch(whole(kReads), in.texture, linear, places, out).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("OpenCL images: sums over the layers of an array") {
  constexpr uint32_t kBeside = 15;  // wider than the image: the border is 0
  const auto stack = random_ints<uint8_t>(size_t{kWidth} * kHeight * kLayers * 4, 6);
  std::vector<uint32_t> want;
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kBeside; ++x)
      for (uint32_t k = 0; k < 4; ++k) {
        uint32_t sum = 0;
        for (uint32_t n = 0; x < kWidth && n < kLayers; ++n)
          sum += stack[((size_t{n} * kHeight + y) * kWidth + x) * 4 + k];
        want.push_back(sum);
      }
  TextureOptions o = integers(shape(kWidth, kHeight, 0, kLayers), LW_TEXEL_UNSIGNED, 4);
  o.channel_bits = 8;
  each_target("layers", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, stack);
    auto out = device().buffer(std::vector<uint32_t>(want.size()), "out");
    k.launch(whole(kBeside, kHeight), in.texture, out).check();
    check_equal(out.read<uint32_t>(), want);
  });
}

TEST_CASE("OpenCL images: edges of a picture of halves, a border around it") {
  std::vector<uint16_t> from;
  for (const uint32_t v : random_ints<uint32_t>(size_t{kWidth} * kHeight, 7))
    from.push_back(static_cast<uint16_t>(0x3000 + v % 0x1400));
  const auto at = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= static_cast<int>(kWidth) || y >= static_cast<int>(kHeight))
      return 0.0F;
    const uint16_t h = from[static_cast<size_t>(y) * kWidth + static_cast<size_t>(x)];
    return std::ldexp(static_cast<float>(1024 + (h & 1023)), (h >> 10) - 25);
  };
  std::vector<float> want;
  for (int y = 0; y < static_cast<int>(kHeight); ++y)
    for (int x = 0; x < static_cast<int>(kWidth); ++x)
      want.push_back(std::fabs(at(x + 1, y) - at(x - 1, y)) +
                     std::fabs(at(x, y + 1) - at(x, y - 1)));
  TextureOptions o = shape(kWidth, kHeight);
  o.channel_bits = 16;
  each_target("edges", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    auto out = device().buffer(std::vector<float>(want.size()), "out");
    k.launch(whole(kWidth, kHeight), in.texture, out).check();
    check_equal(out.read<float>(), want);
  });
}

TEST_CASE("OpenCL images: sizes, channels and layers that kernels ask for") {
  constexpr int kUnormInt8 = 0x10d2, kRgba = 0x10b5;
  const std::vector<int32_t> want = {13, 9, kUnormInt8, kRgba, 4, 3, 5, 16, 6, 7};
  TextureOptions bytes = integers(shape(13, 9), LW_TEXEL_UNSIGNED, 4);
  bytes.channel_bits = 8;
  bytes.fractions = 1;
  each_target("sizes", [&](lanewise::Kernel& k) {
    const Picture a = picture(bytes, std::vector<uint32_t>(13 * 9)),
                  b = picture(shape(4, 3, 5), std::vector<float>(60)),
                  c = picture(shape(16), std::vector<float>(16)),
                  d = picture(shape(6, 2, 0, 7), std::vector<float>(84));
    auto out = device().buffer(std::vector<int32_t>(want.size()), "out");
    k.launch(whole(1), a.texture, b.texture, c.texture, d.texture, out).check();
    check_equal(out.read<int32_t>(), want);
  });
}

TEST_CASE("OpenCL images: a histogram") {
  const auto from = random_ints<uint16_t>(size_t{kWidth} * kHeight, 8);
  std::vector<uint32_t> want(16);
  for (const uint16_t v : from) ++want[v & 15];
  TextureOptions o = integers(shape(kWidth, kHeight), LW_TEXEL_UNSIGNED, 1);
  o.channel_bits = 16;
  each_target("histogram", [&](lanewise::Kernel& k) {
    const Picture in = picture(o, from);
    auto out = device().buffer(std::vector<uint32_t>(16), "out");
    k.launch(whole(16, 16), in.texture, out).check();
    check_equal(out.read<uint32_t>(), want);
  });
}

TEST_CASE("OpenCL images: rows of an array of one dimension become layers of another") {
  const auto from = random_ints<int32_t>(size_t{kWidth} * kLayers * 4, 9);
  std::vector<int32_t> want(size_t{kWidth} * kLayers * 2 * 4);
  for (uint32_t y = 0; y < kLayers; ++y)
    for (uint32_t x = 0; x < kWidth; ++x)
      for (uint32_t k = 0; k < 4; ++k)
        want[((size_t{y & 1} * kLayers + y) * kWidth + x) * 4 + k] = static_cast<int32_t>(
            static_cast<uint32_t>(from[(size_t{y} * kWidth + x) * 4 + k]) + k + 1);
  each_target("stack", [&](lanewise::Kernel& k) {
    const Picture in = picture(integers(shape(kWidth, 0, 0, kLayers), LW_TEXEL_SIGNED, 4), from),
                  out = picture(integers(shape(kWidth, kLayers, 0, 2), LW_TEXEL_SIGNED, 4),
                                std::vector<int32_t>(want.size()));
    k.launch(whole(kWidth, kLayers), in.texture, out.texture).check();
    check_equal(out.texels.read<int32_t>(), want);
  });
}
