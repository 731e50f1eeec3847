// The picture's object, and how a vertex of it is packed.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace torus {

constexpr int kRound = 96, kTube = 48;

/// As the vertex buffer holds it: 16 bytes.
struct Packed {
  int16_t position[4];  ///< 16_16_16_16, SNORM
  uint32_t normal;      ///< 2_10_10_10, SNORM, x in the lowest bits
  uint8_t colour[4];    ///< 8_8_8_8, UNORM: blue, green, red, alpha
};
static_assert(sizeof(Packed) == 16);

inline int16_t snorm16(double v) {
  return static_cast<int16_t>(std::lround(v * 32767));
}
inline uint32_t snorm10(double v) {
  return static_cast<uint32_t>(std::lround(v * 511)) & 0x3ff;
}

/// Turned a little towards the viewer, who looks along -z.
inline Packed vertex(int around, int across) {
  const double pi = std::acos(-1.0), u = 2 * pi * around / kRound, v = 2 * pi * across / kTube;
  const double tilt = 0.9;
  const double n[] = {std::cos(v) * std::cos(u), std::cos(v) * std::sin(u), std::sin(v)};
  const double ring = 0.62, tube = 0.3;
  const double p[] = {(ring + tube * std::cos(v)) * std::cos(u),
                      (ring + tube * std::cos(v)) * std::sin(u), tube * std::sin(v)};
  const auto turned = [&](const double* a, int axis) {
    if (axis == 0) return a[0];
    return axis == 1 ? a[1] * std::cos(tilt) - a[2] * std::sin(tilt)
                     : a[1] * std::sin(tilt) + a[2] * std::cos(tilt);
  };
  Packed out{};
  for (int i = 0; i < 3; ++i) {
    out.position[i] = snorm16(turned(p, i));
    out.normal |= snorm10(turned(n, i)) << (10 * i);
  }
  const auto wheel = [&](double at) {
    return static_cast<uint8_t>(std::lround(255 * (0.62 + 0.38 * std::cos(u - at))));
  };
  const bool band = (around / 4 + across / 4) % 2 == 0;
  for (int i = 0; i < 3; ++i) {
    const uint8_t full = wheel(2 * pi * (2 - i) / 3);
    out.colour[i] = band ? full : static_cast<uint8_t>(full * 3 / 4);
  }
  out.colour[3] = 255;
  return out;
}

inline std::vector<Packed> vertices() {
  std::vector<Packed> all;
  for (int a = 0; a < kRound; ++a)
    for (int c = 0; c < kTube; ++c) all.push_back(vertex(a, c));
  return all;
}

/// Three vertex numbers a triangle.
inline std::vector<uint32_t> triangles() {
  std::vector<uint32_t> all;
  const auto number = [](int a, int c) {
    return static_cast<uint32_t>((a % kRound) * kTube + c % kTube);
  };
  for (int a = 0; a < kRound; ++a)
    for (int c = 0; c < kTube; ++c)
      for (const uint32_t n : {number(a, c), number(a + 1, c), number(a + 1, c + 1), number(a, c),
                               number(a + 1, c + 1), number(a, c + 1)})
        all.push_back(n);
  return all;
}

}  // namespace torus
