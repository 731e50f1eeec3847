// Problems that memory decides: copies, gathers, tiles, formats.
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

}  // namespace lanewise::bench
