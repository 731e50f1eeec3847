// Problems that memory decides: copies, gathers, tiles, formats.
#include <algorithm>
#include <cmath>

#include "runtime/bench/pairs/data.hpp"
#include "runtime/bench/pairs/problems.hpp"

namespace lanewise::bench {
namespace {

std::vector<float> small_floats(size_t n) {
  return made<float>(n, [](size_t i) { return scattered(i) % 1000; });
}

Problem copy_of(size_t words, int32_t elements) {
  const std::vector<float> a = small_floats(words);
  Problem p;
  p.buffers = {to_bytes(a), zeros<float>(words)};
  p.integers = {elements};
  p.wrong = [a](const std::vector<Bytes>& after) { return differences(after[1], a); };
  return p;
}

}  // namespace

Problem copy_words() {
  return copy_of(kWordCount, kWordCount);
}
Problem copy_vectors() {
  return copy_of(kWordCount, kWordCount / 4);
}

Problem saxpy() {
  const std::vector<float> x = small_floats(kWordCount);
  std::vector<float> y = made<float>(kWordCount, [](size_t i) { return i % 512; });
  Problem p;
  p.buffers = {to_bytes(x), to_bytes(y)};
  p.integers = {kWordCount};
  p.number = 3;
  for (size_t i = 0; i < y.size(); ++i) y[i] += 3 * x[i];
  p.wrong = [y](const std::vector<Bytes>& after) { return differences(after[1], y); };
  return p;
}

Problem gather() {
  const std::vector<float> a = small_floats(kWordCount);
  const auto at = made<uint32_t>(kWordCount, [](size_t i) { return scattered(i) % kWordCount; });
  Problem p;
  p.buffers = {to_bytes(at), to_bytes(a), zeros<float>(kWordCount)};
  p.integers = {kWordCount};
  const auto b = made<float>(kWordCount, [&](size_t i) { return a[at[i]]; });
  p.wrong = [b](const std::vector<Bytes>& after) { return differences(after[2], b); };
  return p;
}

Problem transpose() {
  const std::vector<float> a = small_floats(kSide * kSide);
  Problem p;
  p.buffers = {to_bytes(a), zeros<float>(a.size())};
  p.integers = {kSide, kSide};
  const auto b = made<float>(a.size(), [&](size_t i) { return a[i % kSide * kSide + i / kSide]; });
  p.wrong = [b](const std::vector<Bytes>& after) { return differences(after[1], b); };
  return p;
}

Problem stencil() {
  const std::vector<float> a = small_floats(kSide * kSide);
  Problem p;
  p.buffers = {to_bytes(a), zeros<float>(a.size())};
  p.integers = {kSide, kSide};
  std::vector<float> b(a.size());
  for (size_t y = 1; y + 1 < kSide; ++y)
    for (size_t x = 1; x + 1 < kSide; ++x) {
      const size_t i = y * kSide + x;
      b[i] = 0.5F * a[i] + 0.125F * (a[i - 1] + a[i + 1] + a[i - kSide] + a[i + kSide]);
    }
  p.wrong = [b](const std::vector<Bytes>& after) { return differences(after[1], b); };
  return p;
}

Problem unpack() {
  const auto texels = made<uint32_t>(kWordCount, scattered);
  Problem p;
  p.buffers = {to_bytes(texels), zeros<float>(4 * size_t{kWordCount})};
  p.integers = {kWordCount};
  p.number = 0.75F;
  const auto numbers = made<float>(4 * size_t{kWordCount}, [&](size_t i) {
    return 0.75F * (static_cast<float>(texels[i / 4] >> (8 * (i % 4)) & 255) / 255.0F);
  });
  // Vulkan leaves the last bit of an unpacked number to the driver.
  p.wrong = [numbers](const std::vector<Bytes>& after) {
    return differences(from_bytes<float>(after[1]), numbers,
                       [](float a, float b) { return std::abs(a - b) < 2e-7F; });
  };
  return p;
}

Problem table() {
  constexpr uint32_t kEntries = 1 << 16;
  const auto words = made<uint32_t>(kEntries, scattered);
  // One index in 64 lies beyond the table.
  const auto at = made<uint32_t>(kWordCount, [](size_t i) {
    return scattered(i) % 64 == 0 ? kEntries + i : scattered(i + 1) % kEntries;
  });
  Problem p;
  p.buffers = {to_bytes(at), to_bytes(words), zeros<uint32_t>(kWordCount)};
  p.integers = {kWordCount, kEntries};
  const auto out =
      made<uint32_t>(kWordCount, [&](size_t i) { return at[i] < kEntries ? words[at[i]] : 0; });
  p.wrong = [out](const std::vector<Bytes>& after) { return differences(after[2], out); };
  return p;
}

namespace {

/// What a picture of another size has of the texels. `channels` numbers a texel, which are those of
/// `picture` as numbers.
std::vector<float> resized(const std::vector<float>& picture, size_t channels, float step,
                           bool linear) {
  struct Axis {
    size_t low, high;
    float weight;
  };
  const auto axis = [&](size_t i) {
    const float at = static_cast<float>(i) * step + 0.25F - (linear ? 0.5F : 0);
    const float whole = std::floor(at);
    const auto clamped = [](float v) {
      return static_cast<size_t>(std::clamp(v, 0.0F, static_cast<float>(kSide - 1)));
    };
    return Axis{clamped(whole), clamped(whole + 1), linear ? at - whole : 0};
  };
  return made<float>(size_t{kSide} * kSide * channels, [&](size_t i) {
    const size_t to = i / channels, channel = i % channels;
    const Axis x = axis(to % kSide), y = axis(to / kSide);
    const auto row = [&](size_t line) {
      const auto texel = [&](size_t column) {
        return picture[(line * kSide + column) * channels + channel];
      };
      return texel(x.low) * (1 - x.weight) + texel(x.high) * x.weight;
    };
    return row(y.low) * (1 - y.weight) + row(y.high) * y.weight;
  });
}

/// The step keeps weights in quarters.
Problem resize_of(Bytes texels, const std::vector<float>& picture, size_t channels, bool linear) {
  Problem p;
  p.number = 0.75F;
  p.integers = {kSide, kSide, kSide};
  const std::vector<float> want = resized(picture, channels, p.number, linear);
  p.buffers = {std::move(texels), zeros<float>(want.size())};
  // As of unpack().
  p.wrong = [want](const std::vector<Bytes>& after) {
    return differences(from_bytes<float>(after[1]), want,
                       [](float a, float b) { return std::abs(a - b) < 3e-7F; });
  };
  return p;
}
Problem resize_numbers(bool linear) {
  const auto picture =
      made<float>(size_t{kSide} * kSide, [](size_t i) { return scattered(i) % 256; });
  return resize_of(to_bytes(picture), picture, 1, linear);
}
Problem resize_colours(bool linear) {
  const auto texels = made<uint32_t>(size_t{kSide} * kSide, scattered);
  const auto picture = made<float>(4 * texels.size(), [&](size_t i) {
    return static_cast<float>(texels[i / 4] >> (8 * (i % 4)) & 255) / 255.0F;
  });
  return resize_of(to_bytes(texels), picture, 4, linear);
}

}  // namespace

Problem nearest_numbers() {
  return resize_numbers(false);
}
Problem nearest_colours() {
  return resize_colours(false);
}
Problem bilinear_numbers() {
  return resize_numbers(true);
}
Problem bilinear_colours() {
  return resize_colours(true);
}

}  // namespace lanewise::bench
