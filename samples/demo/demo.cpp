// What `./dev demo` runs: kernels compiled by nvcc, on the default device, each checked against a
// host reference.
//   demo DIRECTORY-OF-KERNELS
#include <cmath>
#include <cstdio>
#include <functional>
#include <lanewise/lanewise.hpp>
#include <random>

namespace {

using lanewise::Device;
using lanewise::Result;

struct Outcome {
  bool right;
  std::string computed;
  Result result;
};

std::vector<float> random_floats(size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(rng() % 2000) / 100.0f - 10.0f;
  return v;
}

Outcome saxpy(Device& device, const std::string& dir) {
  const int n = 1 << 20;
  const auto x = random_floats(n, 1), y = random_floats(n, 2);
  auto dx = device.buffer(x, "x"), dy = device.buffer(y, "y");
  const auto kernel = device.load_file(dir + "/saxpy.ptx").kernel();
  Result r = kernel.launch({.grid = {n / 256}, .block = {256}}, n, 2.5f, dx, dy);
  const auto got = dy.read<float>();
  bool right = true;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    right = right && got[i] == std::fma(2.5f, x[i], y[i]);
    sum += got[i];
  }
  return {right, "y = 2.5 x + y over 1048576 elements, sum " + std::to_string(sum), std::move(r)};
}

Outcome sgemm(Device& device, const std::string& dir) {
  const int n = 128;
  const auto a = random_floats(n * n, 3), b = random_floats(n * n, 4);
  auto da = device.buffer(a, "A"), db = device.buffer(b, "B");
  auto dc = device.allocate(4 * n * n, "C");
  const auto kernel = device.load_file(dir + "/sgemm.ptx").kernel();
  Result r =
      kernel.launch({.grid = {n / 16, n / 16}, .block = {16, 16}}, n, n, n, 1.0f, da, db, 0.0f, dc);
  const auto got = dc.read<float>();
  bool right = true;
  double trace = 0;
  for (int row = 0; row < n; ++row) {
    for (int col = 0; col < n; ++col) {
      float s = 0;
      for (int k = 0; k < n; ++k) s = std::fma(a[row * n + k], b[k * n + col], s);
      right = right && got[row * n + col] == s;
    }
    trace += got[row * n + row];
  }
  return {right, "C = A B, 128 x 128, trace " + std::to_string(trace), std::move(r)};
}

Outcome histogram(Device& device, const std::string& dir) {
  std::vector<uint8_t> text;
  std::mt19937 rng(5);
  for (int i = 0; i < 100000; ++i)
    text.push_back(static_cast<uint8_t>((rng() % 16) * (rng() % 16)));
  auto in = device.buffer(text, "text"), bins = device.allocate(4 * 256, "bins");
  const auto kernel = device.load_file(dir + "/histogram.ptx").kernel();
  const int n = static_cast<int>(text.size());
  Result r = kernel.launch({.grid = {16}, .block = {256}}, in, n, bins);
  std::vector<uint32_t> want(256);
  for (const uint8_t c : text) ++want[c];
  const auto got = bins.read<uint32_t>();
  return {got == want, "100000 bytes counted, " + std::to_string(got[0]) + " zeros", std::move(r)};
}

Outcome mandelbrot(Device& device, const std::string& dir) {
  const int w = 72, h = 24, most = 100;
  auto out = device.allocate(4 * w * h, "pixels");
  const auto kernel = device.load_file(dir + "/mandelbrot.ptx").kernel();
  Result r =
      kernel.launch({.grid = {9, 3}, .block = {8, 8}}, out, w, h, -2.2f, -1.2f, 0.043f, most);
  const auto got = out.read<uint32_t>();
  size_t wrong = 0, inside = 0;
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const float cx = std::fma(static_cast<float>(x), 0.043f, -2.2f);
      const float cy = std::fma(static_cast<float>(y), 0.043f, -1.2f);
      float zx = 0, zy = 0;
      int i = 0;
      for (; i < most && zx * zx + zy * zy < 4.f; ++i) {
        const float t = (zx * zx - zy * zy) + cx;
        zy = std::fma(zx + zx, zy, cy);
        zx = t;
      }
      const uint32_t p = got[y * w + x];
      inside += p == 0 ? 1 : 0;
      wrong += (p & 255) != (i == most ? 0u : static_cast<uint32_t>(i * 3 & 255)) ? 1 : 0;
      std::putchar(p == 0 ? '#' : " .:-=+*%"[i % 8]);
    }
    std::putchar('\n');
  }
  return {wrong == 0, std::to_string(inside) + " of 1728 pixels in the set", std::move(r)};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string dir = argc > 1 ? argv[1] : "samples/kernels";
  for (const auto& found : Device::list())
    std::printf("%-10s  %s (%s)\n", found.type.c_str(), found.name.c_str(), found.driver.c_str());
  Device device = Device::open();
  std::printf("running on %s (%s)\n", device.info().name.c_str(), device.info().driver.c_str());
  const std::pair<const char*, std::function<Outcome(Device&, const std::string&)>> kernels[] = {
      {"mandelbrot", mandelbrot}, {"saxpy", saxpy}, {"sgemm", sgemm}, {"histogram", histogram}};
  int failed = 0;
  for (const auto& [name, run] : kernels) {
    const Outcome o = run(device, dir);
    o.result.check();
    failed += o.right ? 0 : 1;
    std::printf("%-10s  %s: %s  (translated %.1f ms, ran %.1f ms)\n", name, o.computed.c_str(),
                o.right ? "equal to the host reference" : "WRONG", o.result.times.translate_ms,
                o.result.times.dispatch_ms);
  }
  return failed == 0 ? 0 : 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "demo: error: %s\n", e.what());
  return static_cast<int>(e.kind());
}
