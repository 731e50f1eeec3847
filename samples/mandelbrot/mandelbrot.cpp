// Renders the Mandelbrot set with a kernel compiled by nvcc and writes it as a PPM picture.
//   mandelbrot KERNEL.ptx OUT.ppm [WIDTH HEIGHT]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <lanewise/lanewise.hpp>

namespace {

constexpr int kIterations = 256;
constexpr float kLeft = -2.25f, kTop = -1.25f, kSpan = 3.0f;

std::vector<uint32_t> render(lanewise::Device& device, const char* file, int width, int height) {
  const auto kernel = device.load_file(file).kernel("mandelbrot");
  auto pixels = device.allocate(uint64_t{4} * width * height, "pixels");
  const auto groups = [](int n) { return static_cast<uint32_t>((n + 15) / 16); };
  kernel
      .launch({.grid = {groups(width), groups(height)}, .block = {16, 16}}, pixels, width, height,
              kLeft, kTop, kSpan / static_cast<float>(width), kIterations)
      .check();
  return pixels.read<uint32_t>();
}

void write_ppm(const char* path, const std::vector<uint32_t>& pixels, int width, int height) {
  std::ofstream out(path, std::ios::binary);
  out << "P6\n" << width << ' ' << height << "\n255\n";
  for (const uint32_t p : pixels) {
    for (const int shift : {16, 8, 0}) out.put(static_cast<char>(p >> shift));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: mandelbrot KERNEL.ptx OUT.ppm [WIDTH HEIGHT]\n");
    return 2;
  }
  const int width = argc == 5 ? std::atoi(argv[3]) : 480;
  const int height = argc == 5 ? std::atoi(argv[4]) : 400;
  if (width < 1 || height < 1 || width > 16384 || height > 16384) {
    std::fprintf(stderr, "mandelbrot: width and height must be 1 to 16384\n");
    return 2;
  }
  auto device = lanewise::Device::open();
  const auto pixels = render(device, argv[1], width, height);
  write_ppm(argv[2], pixels, width, height);
  size_t inside = 0;
  for (const uint32_t p : pixels) inside += p == 0 ? 1 : 0;
  std::printf("%s: %dx%d, %zu pixels in the set, rendered on %s\n", argv[2], width, height, inside,
              device.info().name.c_str());
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
