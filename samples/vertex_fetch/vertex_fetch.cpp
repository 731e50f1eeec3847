// A GCN kernel fetches vertices as a vertex shader does: through buffer descriptors that say where
// the records lie (swizzled), how they are packed and in which order components come out. The host
// checks every float against the formulas of the instruction set, fills the triangles and writes a
// PNG.
//   vertex_fetch KERNEL.s OUT.png [SIZE]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lanewise/lanewise.hpp>

#include "samples/support/png.hpp"
#include "samples/vertex_fetch/torus.hpp"

namespace {

constexpr uint32_t kStride = 16, kElement = 8, kIndexStride = 16;

/// Where byte `offset` of record `index` lies in a swizzled buffer: elements of 16 records stand
/// side by side, so that lanes next to each other read memory next to each other.
uint64_t swizzled(uint64_t index, uint64_t offset) {
  return ((index / kIndexStride) * kStride + offset / kElement * kElement) * kIndexStride +
         index % kIndexStride * kElement + offset % kElement;
}

/// The four words of a descriptor, "V#".
struct Descriptor {
  uint32_t words[4];
};
enum NumberFormat : uint32_t { kUnorm = 0, kSnorm = 1 };
enum DataFormat : uint32_t { k2_10_10_10 = 9, k8_8_8_8 = 10, k16_16_16_16 = 12 };
enum Component : uint32_t { kR = 4, kG = 5, kB = 6, kA = 7 };

Descriptor descriptor(uint64_t base, uint32_t records, DataFormat data, NumberFormat number,
                      Component x, Component y, Component z, Component w) {
  const uint32_t swizzle_enable = 1u << 31;
  const uint32_t element_8_bytes = 2, index_stride_16 = 1;
  return {{static_cast<uint32_t>(base),
           static_cast<uint32_t>(base >> 32 & 0xffff) | kStride << 16 | swizzle_enable, records,
           x | y << 3 | z << 6 | w << 9 | number << 12 | data << 15 | element_8_bytes << 19 |
               index_stride_16 << 21}};
}
lanewise::Arg by_value(const Descriptor& d) {
  return lanewise::Arg::raw(std::as_bytes(std::span(d.words)));
}

/// What the kernel stores.
struct Lit {
  float position[4], colour[4];
};

/// The same in C++, from the packed vertex.
Lit expected(const torus::Packed& v) {
  Lit out{};
  float n[3];
  for (int i = 0; i < 3; ++i) {
    out.position[i] = std::max(static_cast<float>(v.position[i]) / 32767.0f, -1.0f);
    const int bits = static_cast<int>(v.normal << (22 - 10 * i)) >> 22;
    n[i] = std::max(static_cast<float>(bits) / 511.0f, -1.0f);
  }
  out.position[3] = 1;
  const float half_root = 0x1.6a09e6p-1f;
  const float light = std::fma(n[2], half_root, std::fma(n[1], 0.5f, -0.5f * n[0]));
  const float shade = std::fma(light, 0.5f, 0.5f);
  for (int i = 0; i < 3; ++i)
    out.colour[i] = shade * (static_cast<float>(v.colour[2 - i]) / 255.0f);
  out.colour[3] = static_cast<float>(v.colour[3]) / 255.0f;
  return out;
}

std::vector<Lit> fetch(lanewise::Device& device, const char* kernel_file,
                       const std::vector<torus::Packed>& vertices) {
  std::vector<uint8_t> memory(vertices.size() * sizeof(torus::Packed));
  for (size_t i = 0; i < vertices.size(); ++i)
    for (uint32_t byte = 0; byte < sizeof(torus::Packed); byte += kElement)
      std::memcpy(&memory[swizzled(i, byte)], reinterpret_cast<const uint8_t*>(&vertices[i]) + byte,
                  kElement);
  auto in = device.buffer(memory, "vertices");
  auto out = device.allocate(vertices.size() * sizeof(Lit), "lit");
  const auto count = static_cast<uint32_t>(vertices.size());
  const auto position = descriptor(in.address(), count, k16_16_16_16, kSnorm, kR, kG, kB, kA);
  const auto normal = descriptor(in.address(), count, k2_10_10_10, kSnorm, kR, kG, kB, kA);
  const auto colour = descriptor(in.address(), count, k8_8_8_8, kUnorm, kB, kG, kR, kA);
  device.load_file(kernel_file)
      .kernel("fetch")
      .launch({.grid = {(count + 63) / 64}, .block = {64}}, by_value(position), by_value(normal),
              by_value(colour), out, count)
      .check();
  return out.read<Lit>();
}

/// Fills triangles, nearest first by a depth for each pixel.
class Canvas {
 public:
  explicit Canvas(int size)
      : picture_(size, size, 3), depth_(size_t{1} * size * size, -2.0f), size_(size) {
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) std::memset(picture_.at(x, y), 24 + 24 * y / size, 3);
  }

  void fill(const Lit& a, const Lit& b, const Lit& c) {
    const float ax = at(a, 0), ay = at(a, 1), bx = at(b, 0), by = at(b, 1), cx = at(c, 0),
                cy = at(c, 1);
    const float area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    if (area == 0) return;
    const auto low = [](float p, float q, float r) {
      return static_cast<int>(std::floor(std::min({p, q, r})));
    };
    const auto high = [](float p, float q, float r) {
      return static_cast<int>(std::ceil(std::max({p, q, r})));
    };
    for (int y = std::max(low(ay, by, cy), 0); y <= std::min(high(ay, by, cy), size_ - 1); ++y) {
      for (int x = std::max(low(ax, bx, cx), 0); x <= std::min(high(ax, bx, cx), size_ - 1); ++x) {
        const auto px = static_cast<float>(x) + 0.5f, py = static_cast<float>(y) + 0.5f;
        const float wb = ((px - ax) * (cy - ay) - (cx - ax) * (py - ay)) / area;
        const float wc = ((bx - ax) * (py - ay) - (px - ax) * (by - ay)) / area;
        const float wa = 1 - wb - wc;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        set(x, y, wa * a.position[2] + wb * b.position[2] + wc * c.position[2],
            [&](int i) { return wa * a.colour[i] + wb * b.colour[i] + wc * c.colour[i]; });
      }
    }
  }
  const samples::Picture& picture() const { return picture_; }

 private:
  float at(const Lit& v, int axis) const {
    const float turned = axis == 0 ? v.position[0] : -v.position[1];
    return (turned * 0.95f + 1) * 0.5f * static_cast<float>(size_);
  }
  template <typename Colour>
  void set(int x, int y, float depth, const Colour& colour) {
    float& nearest = depth_[size_t{1} * y * size_ + x];
    if (depth <= nearest) return;
    nearest = depth;
    for (int i = 0; i < 3; ++i)
      picture_.at(x, y)[i] = static_cast<uint8_t>(std::lround(255 * colour(i)));
  }

  samples::Picture picture_;
  std::vector<float> depth_;
  int size_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: vertex_fetch KERNEL.s OUT.png [SIZE]\n");
    return 2;
  }
  const int size = argc == 4 ? std::atoi(argv[3]) : 360;
  if (size < 1 || size > 4096) {
    std::fprintf(stderr, "vertex_fetch: SIZE must be 1 to 4096\n");
    return 2;
  }
  auto device = lanewise::Device::open();
  const auto vertices = torus::vertices();
  const auto lit = fetch(device, argv[1], vertices);
  size_t wrong = 0;
  for (size_t i = 0; i < vertices.size(); ++i) {
    const Lit want = expected(vertices[i]);
    wrong += std::memcmp(&want, &lit[i], sizeof want) == 0 ? 0 : 1;
  }
  std::printf("%zu vertices fetched on %s, %zu differ from the formulas\n", vertices.size(),
              device.info().name.c_str(), wrong);

  Canvas canvas(size);
  const auto corners = torus::triangles();
  for (size_t i = 0; i < corners.size(); i += 3)
    canvas.fill(lit[corners[i]], lit[corners[i + 1]], lit[corners[i + 2]]);
  if (!samples::write_png(argv[2], canvas.picture())) {
    std::fprintf(stderr, "vertex_fetch: %s cannot be written\n", argv[2]);
    return 2;
  }
  std::printf("%s: %zu triangles\n", argv[2], corners.size() / 3);
  return wrong == 0 ? 0 : 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
