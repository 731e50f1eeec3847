// Finds the edges of a picture with a CUDA kernel and writes them as a PNG. The host computes the
// same and compares every pixel.
//   image_filter KERNEL.ptx OUT.png [IN.pgm]       IN is a binary PGM; without it a picture is made
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <lanewise/lanewise.hpp>

#include "samples/support/png.hpp"

namespace {

using samples::Picture;

/// Rings and a square.
Picture made() {
  Picture p(200, 140, 1);
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      const int dx = x - 130, dy = y - 70;
      const bool ring = static_cast<int>(std::sqrt(dx * dx + dy * dy)) / 14 % 2 == 0;
      const bool square = x >= 24 && x < 80 && y >= 40 && y < 96;
      *p.at(x, y) = square ? static_cast<uint8_t>(y * 2) : ring ? 200 : 60;
    }
  }
  return p;
}

Picture read_pgm(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, most = 0;
  in >> magic >> width >> height >> most;
  in.get();
  if (!in || magic != "P5" || most != 255 || width < 1 || height < 1 || width > 8192 ||
      height > 8192)
    throw lanewise::Error(lanewise::ErrorKind::usage,
                          std::string(path) + " is no binary PGM of 8 bits without comments");
  Picture p(width, height, 1);
  in.read(reinterpret_cast<char*>(p.bytes.data()), static_cast<std::streamsize>(p.bytes.size()));
  if (!in) throw lanewise::Error(lanewise::ErrorKind::usage, std::string(path) + " ends too early");
  return p;
}

Picture on_device(lanewise::Device& device, const char* kernel_file, const Picture& picture) {
  auto in = device.buffer(picture.bytes, "in"), out = device.allocate(picture.bytes.size(), "out");
  const auto groups = [](int n) { return static_cast<uint32_t>((n + 15) / 16); };
  device.load_file(kernel_file)
      .kernel("edges")
      .launch({.grid = {groups(picture.width), groups(picture.height)}, .block = {16, 16}}, in, out,
              picture.width, picture.height)
      .check();
  Picture result(picture.width, picture.height, 1);
  result.bytes = out.read<uint8_t>();
  return result;
}

Picture on_host(Picture in) {
  Picture out(in.width, in.height, 1);
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      const auto at = [&](int dx, int dy) {
        return int{
            *in.at(std::clamp(x + dx, 0, in.width - 1), std::clamp(y + dy, 0, in.height - 1))};
      };
      int across = 0, down = 0;
      for (const int i : {-1, 0, 1}) {
        const int weight = i == 0 ? 2 : 1;
        across += weight * (at(1, i) - at(-1, i));
        down += weight * (at(i, 1) - at(i, -1));
      }
      *out.at(x, y) = static_cast<uint8_t>(std::min(std::abs(across) + std::abs(down), 255));
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: image_filter KERNEL.ptx OUT.png [IN.pgm]\n");
    return 2;
  }
  const Picture in = argc == 4 ? read_pgm(argv[3]) : made();
  auto device = lanewise::Device::open();
  const Picture edges = on_device(device, argv[1], in), expected = on_host(in);
  if (!samples::write_png(argv[2], edges)) {
    std::fprintf(stderr, "image_filter: %s cannot be written\n", argv[2]);
    return 2;
  }
  const bool same = edges.bytes == expected.bytes;
  std::printf("%s: %d x %d, edges found on %s, %s\n", argv[2], in.width, in.height,
              device.info().name.c_str(), same ? "every pixel as on the host" : "WRONG");
  return same ? 0 : 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
