// One operation, y = a x + y, written for three instruction sets: PTX, Maxwell SASS and GCN. All
// three run on the same numbers, and their results are the same bytes.
//   three_sets DIRECTORY
#include <cmath>
#include <cstdio>
#include <cstring>
#include <lanewise/lanewise.hpp>
#include <random>

namespace {

constexpr int kCount = 10000;
constexpr float kFactor = 1.7f;

std::vector<float> numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(kCount);
  for (float& x : v) x = static_cast<float>(random()) / 1e8f - 20.0f;
  return v;
}

std::vector<float> run(lanewise::Device& device, const std::string& file,
                       const std::vector<float>& x, const std::vector<float>& y) {
  const auto kernel = device.load_file(file).kernel("saxpy");
  auto dx = device.buffer(x, "x"), dy = device.buffer(y, "y");
  const uint32_t groups = (kCount + 255) / 256;
  kernel.launch({.grid = {groups}, .block = {256}}, kCount, kFactor, dx, dy).check();
  return dy.read<float>();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string directory = argc > 1 ? argv[1] : "samples/three_sets";
  auto device = lanewise::Device::open();
  const auto x = numbers(1), y = numbers(2);
  std::vector<float> expected(kCount);
  for (int i = 0; i < kCount; ++i) expected[i] = std::fma(kFactor, x[i], y[i]);

  int wrong = 0;
  for (const char* file : {"saxpy.ptx", "saxpy.sass", "saxpy.s"}) {
    const auto got = run(device, directory + "/" + file, x, y);
    const bool same = std::memcmp(got.data(), expected.data(), kCount * sizeof(float)) == 0;
    std::printf("%-10s  y[0] = %.9g, y[%d] = %.9g: %s\n", file, got[0], kCount - 1, got.back(),
                same ? "every byte as on the host" : "DIFFERENT from the host");
    wrong += same ? 0 : 1;
  }
  std::printf("on %s\n", device.info().name.c_str());
  return wrong == 0 ? 0 : 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
