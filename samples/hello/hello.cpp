// Runs a compiled CUDA kernel on whatever Vulkan device there is.
#include <cstdio>
#include <lanewise/lanewise.hpp>

int main(int argc, char** argv) try {
  auto device = lanewise::Device::open();
  auto module = device.load_file(argc > 1 ? argv[1] : "samples/kernels/saxpy.ptx");
  const std::vector<float> x(1000, 3.0f), y(1000, 1.0f);
  auto dx = device.buffer(x), dy = device.buffer(y);
  module.kernel("saxpy").launch({.grid = {4}, .block = {256}}, 1000, 2.0f, dx, dy).check();
  std::printf("2 * 3 + 1 = %g on %s\n", dy.read<float>()[999], device.info().name.c_str());
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
