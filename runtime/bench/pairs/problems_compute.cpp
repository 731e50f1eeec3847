// Problems that arithmetic decides.
#include "runtime/bench/pairs/data.hpp"
#include "runtime/bench/pairs/problems.hpp"

namespace lanewise::bench {

Problem sgemm() {
  constexpr size_t n = kMatrixSide;
  const auto a = made<float>(n * n, [](size_t i) { return scattered(i) % 64; });
  const auto b = made<float>(n * n, [](size_t i) { return scattered(i + 7) % 64; });
  std::vector<float> c(n * n);
  for (size_t r = 0; r < n; ++r)
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j) c[r * n + j] += a[r * n + k] * b[k * n + j];
  Problem p;
  p.buffers = {to_bytes(a), to_bytes(b), zeros<float>(n * n)};
  p.integers = {static_cast<int32_t>(n)};
  p.wrong = [c](const std::vector<Bytes>& after) { return differences(after[2], c); };
  return p;
}

Problem matrix_tiles() {
  constexpr size_t n = kTilesSide;
  // f16 of 0 to 7: sums are exact under each rule of mma.accumulate.
  constexpr uint16_t kNumbers[8] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
  const auto a = made<uint32_t>(n * n, [](size_t i) { return scattered(i) % 8; });
  const auto b = made<uint32_t>(n * n, [](size_t i) { return scattered(i + 7) % 8; });
  const auto halves = [&](const std::vector<uint32_t>& from) {
    return to_bytes(made<uint16_t>(n * n, [&](size_t i) { return kNumbers[from[i]]; }));
  };
  std::vector<float> c(n * n);
  for (size_t r = 0; r < n; ++r)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        c[r * n + j] += static_cast<float>(a[r * n + k] * b[j * n + k]);
  Problem p;
  p.buffers = {halves(a), halves(b), zeros<float>(n * n)};
  p.integers = {static_cast<int32_t>(n)};
  p.wrong = [c](const std::vector<Bytes>& after) { return differences(after[2], c); };
  return p;
}

Problem mandelbrot() {
  constexpr int w = kFractalSide, h = kFractalSide, most = 100;
  std::vector<uint32_t> steps(size_t{w} * h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const float cx = -2.2F + static_cast<float>(x) * 3.0F / w;
      const float cy = -1.2F + static_cast<float>(y) * 2.4F / h;
      float zx = 0, zy = 0;
      uint32_t k = 0;
      for (; k < most && zx * zx + zy * zy < 4; ++k) {
        const float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
      }
      steps[static_cast<size_t>(y) * w + static_cast<size_t>(x)] = k;
    }
  Problem p;
  p.buffers = {zeros<uint32_t>(steps.size())};
  p.integers = {w, h, most};
  // Compilers may fuse a multiplication with an addition, which moves a few pixels at the rim.
  p.wrong = [steps](const std::vector<Bytes>& after) {
    return differences(
        from_bytes<uint32_t>(after[0]), steps, [](uint32_t a, uint32_t b) { return a == b; },
        steps.size() / 200);
  };
  return p;
}

Problem nbody() {
  constexpr size_t n = kBodyCount;
  const auto bodies = made<float>(
      4 * n, [](size_t i) { return static_cast<float>(scattered(i) % 2000) * 0.001F - 1.0F; });
  std::vector<float> forces(4 * n);
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    double sum[3] = {};
    for (size_t j = 0; j < n; ++j) {
      double d[3], square = 0.01;
      for (size_t k = 0; k < 3; ++k) {
        d[k] = static_cast<double>(bodies[4 * j + k]) - bodies[4 * i + k];
        square += d[k] * d[k];
      }
      const double r = 1 / std::sqrt(square);
      for (size_t k = 0; k < 3; ++k) sum[k] += bodies[4 * j + 3] * r * r * r * d[k];
    }
    for (size_t k = 0; k < 3; ++k) {
      forces[4 * i + k] = static_cast<float>(sum[k]);
      largest = std::max(largest, std::abs(sum[k]));
    }
  }
  Problem p;
  p.buffers = {to_bytes(bodies), zeros<float>(4 * n)};
  p.integers = {static_cast<int32_t>(n)};
  // Sums of a thousand rounded terms with approximate roots.
  p.wrong = [forces, bound = largest * 1e-4](const std::vector<Bytes>& after) {
    return differences(from_bytes<float>(after[1]), forces,
                       [bound](float a, float b) { return std::abs(a - b) <= bound; });
  };
  return p;
}

Problem sums_of_doubles() {
  // Halves: every step is exact, fused or not.
  const auto a = made<double>(kWordCount, [](size_t i) { return i % 2 == 0 ? 0.5 : 0.25; });
  const auto b = made<double>(kWordCount, [](size_t i) { return i % 1024; });
  std::vector<double> sums = b;
  for (size_t i = 0; i < sums.size(); ++i)
    for (int k = 0; k < 16; ++k) sums[i] = sums[i] * a[i] + 1;
  Problem p;
  p.buffers = {to_bytes(a), to_bytes(b)};
  p.integers = {kWordCount};
  p.wrong = [sums](const std::vector<Bytes>& after) { return differences(after[1], sums); };
  return p;
}

Problem mix_words() {
  const auto a = made<uint32_t>(kWordCount, scattered);
  const auto mixed = made<uint32_t>(kWordCount, [&](size_t i) {
    uint32_t h = a[i], g = 0x9e3779b9U;
    for (int k = 0; k < 64; ++k) {
      h ^= g << 13 | g >> 19;
      g += h * 5 + 0xe6546b64U;
      h = h >> 7 | h << 25;
    }
    return h ^ g;
  });
  Problem p;
  p.buffers = {to_bytes(a), zeros<uint32_t>(kWordCount)};
  p.integers = {kWordCount};
  p.wrong = [mixed](const std::vector<Bytes>& after) { return differences(after[1], mixed); };
  return p;
}

}  // namespace lanewise::bench
