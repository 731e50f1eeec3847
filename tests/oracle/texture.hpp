// Textures, literally: what docs/textures.md says in sentences, on texels that are kept one by one.
// Nothing here is the runtime's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lanewise::oracle::texture {

using Texel = std::array<uint32_t, 4>;  ///< bits, as a kernel sees them

enum class Kind { unsigned_, signed_, float_ };
enum class Mode { wrap, clamp, mirror, border };

struct Format {
  Kind kind = Kind::float_;
  unsigned channels = 1, bits = 32;
  bool fractions = false, srgb = false;
  bool integers() const { return kind != Kind::float_ && !fractions; }
  unsigned bytes() const { return channels * bits / 8; }
};

struct Level {
  int width = 1, height = 1, slices = 1;
  std::vector<Texel> texels;  ///< raw components, x first
  const Texel& at(int x, int y, int s) const {
    return texels[(static_cast<size_t>(s) * height + y) * width + x];
  }
};

struct Texture {
  Format format;
  unsigned axes = 2;  ///< that are filtered: 1, 2, 3
  bool layered = false;
  std::vector<Level> levels;
  bool linear = false, normalised = false;
  unsigned mip = 0;  ///< 0 none, 1 nearest, 2 linear
  std::array<Mode, 3> mode{};
  std::array<float, 4> border{};
  float bias = 0, least = 0, most = 16;
};

inline float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t as_bits(float v) {
  return v != v ? 0x7fffffffU : std::bit_cast<uint32_t>(v);
}

inline float half_value(uint32_t h) {
  const int e = static_cast<int>(h >> 10 & 31), m = static_cast<int>(h & 1023);
  float v = e == 0    ? std::ldexp(static_cast<float>(m), -24)
            : e == 31 ? (m == 0 ? INFINITY : NAN)
                      : std::ldexp(static_cast<float>(1024 + m), e - 25);
  return (h & 0x8000) != 0 ? -v : v;
}

/// A component as the read mode gives it.
inline uint32_t component(const Format& f, uint32_t raw, unsigned channel) {
  const double most = std::ldexp(1.0, static_cast<int>(f.bits)) - 1;
  const auto negative = static_cast<int32_t>(raw << (32 - f.bits)) >> (32 - f.bits);
  if (f.kind == Kind::float_) {
    // The bits of a single are not looked at; those of a half become a single's.
    if (f.bits == 32) return raw;
    const uint32_t inf_or_nan = raw & 0x7fff;
    if (inf_or_nan > 0x7c00) return (raw & 0x8000) << 16 | 0x7f800000 | (raw & 1023) << 13;
    return std::bit_cast<uint32_t>(half_value(raw));
  }
  if (!f.fractions) return f.kind == Kind::signed_ ? static_cast<uint32_t>(negative) : raw;
  if (f.kind == Kind::signed_) {
    const double top = std::ldexp(1.0, static_cast<int>(f.bits) - 1) - 1;
    const double v = std::max(negative / top, -1.0);
    return std::bit_cast<uint32_t>(static_cast<float>(v));
  }
  const double v = raw / most;
  if (!f.srgb || channel == 3) return std::bit_cast<uint32_t>(static_cast<float>(v));
  const double linear = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  return std::bit_cast<uint32_t>(static_cast<float>(linear));
}

/// Missing channels are 0, the fourth is 1.
inline Texel texel(const Texture& t, const Texel& raw) {
  Texel out{0, 0, 0, t.format.integers() ? 1U : 0x3f800000U};
  for (unsigned n = 0; n < t.format.channels; ++n) out[n] = component(t.format, raw[n], n);
  return out;
}

inline Texel border_of(const Texture& t) {
  Texel out;
  for (unsigned n = 0; n < 4; ++n)
    out[n] = t.format.integers() ? static_cast<uint32_t>(static_cast<int64_t>(t.border[n]))
                                 : std::bit_cast<uint32_t>(t.border[n]);
  return out;
}

/// Floor to an integer; beyond all images it does not matter how far. NaN is 0.
inline int64_t floor_of(float v) {
  if (v != v) return 0;
  return static_cast<int64_t>(std::floor(std::clamp(v, -1e9F, 1e9F)));
}

struct Axis {
  std::array<int64_t, 2> texel;  ///< -1 = the border
  int weight = 0;                ///< of the second, of 256
};

inline int64_t place(Mode mode, int64_t i, int size) {
  switch (mode) {
    case Mode::wrap:
      return ((i % size) + size) % size;
    case Mode::mirror: {
      const int64_t period = 2 * static_cast<int64_t>(size);
      const int64_t k = ((i % period) + period) % period;
      return k < size ? k : period - 1 - k;
    }
    case Mode::border:
      return i < 0 || i >= size ? -1 : i;
    default:
      return std::clamp<int64_t>(i, 0, size - 1);
  }
}

inline Axis axis(const Texture& t, unsigned n, float coordinate, int size, bool linear) {
  Mode mode = t.mode[n];
  float x = coordinate;
  if (t.normalised) {
    if (mode == Mode::wrap) x = x - std::floor(x);
    if (mode == Mode::mirror) {
      const float whole = std::floor(x);
      const bool odd = std::isfinite(whole) && std::fmod(std::fabs(whole), 2.0F) == 1.0F;
      x = odd ? 1.0F - (x - whole) : x - whole;
    }
    x *= static_cast<float>(size);
  } else if (mode == Mode::wrap || mode == Mode::mirror) {
    mode = Mode::clamp;
  }
  if (mode == Mode::mirror) mode = Mode::clamp;  // is folded already; the edge is its own mirror
  Axis out;
  if (linear) {
    x -= 0.5F;
    const float fraction = (x - std::floor(x)) * 256.0F;
    out.weight = fraction != fraction ? 0 : static_cast<int>(std::nearbyint(fraction));
  }
  const int64_t i = floor_of(x);
  // A coordinate that is not finite has no place in a pattern that repeats.
  if (mode == Mode::wrap && (i < -1 || i > size)) {
    out.texel = {std::clamp<int64_t>(i, 0, size - 1), std::clamp<int64_t>(i + 1, 0, size - 1)};
    return out;
  }
  out.texel = {place(mode, i, size), place(mode, i + 1, size)};
  return out;
}

/// One level, its values times `weight`, added to `sum`; bits where nothing is added.
struct Sum {
  std::array<float, 4> value{-0.0F, -0.0F, -0.0F, -0.0F};
  Texel bits{};
};

inline void add_level(Sum& sum, const Texture& t, unsigned number, std::array<float, 3> at,
                      int64_t layer, bool linear, float weight) {
  const Level& l = t.levels[number];
  const std::array sizes = {l.width, l.height, l.slices};
  std::array<Axis, 3> axes;
  for (unsigned n = 0; n < 3; ++n) {
    axes[n] = {{0, 0}, 0};
    if (n < t.axes) axes[n] = axis(t, n, at[n], sizes[n], linear);
  }
  const auto slice = t.layered ? std::clamp<int64_t>(layer, 0, l.slices - 1) : 0;
  for (unsigned tap = 0; tap < 8; ++tap) {
    std::array<int64_t, 3> i;
    int product = 1;
    bool inside = true;
    for (unsigned n = 0; n < 3; ++n) {
      const bool high = (tap >> n & 1) != 0;
      i[n] = axes[n].texel[high ? 1 : 0];
      product *= high ? axes[n].weight : 256 - axes[n].weight;
      inside = inside && i[n] >= 0;
    }
    if (product == 0) continue;
    const int s = static_cast<int>(t.axes == 3 ? i[2] : slice);
    const Texel v =
        inside ? texel(t, l.at(static_cast<int>(i[0]), static_cast<int>(i[1]), s)) : border_of(t);
    sum.bits = v;
    const float share = std::ldexp(static_cast<float>(product), -24) * weight;
    for (unsigned n = 0; n < 4; ++n) sum.value[n] = sum.value[n] + as_float(v[n]) * share;
  }
}

/// `lod` as the instruction has it; null: level 0 alone.
inline Texel sample(const Texture& t, std::array<float, 3> at, int64_t layer, const float* lod) {
  const bool linear = t.linear && !t.format.integers();
  Sum sum;
  const auto result = [&](bool adds) {
    if (!adds) return sum.bits;
    Texel out;
    for (unsigned n = 0; n < 4; ++n) out[n] = as_bits(sum.value[n]);
    return out;
  };
  const int last = static_cast<int>(t.levels.size()) - 1;
  float wanted = 0;
  if (lod != nullptr) {
    wanted = *lod + t.bias;
    wanted = wanted != wanted ? t.least : std::max(wanted, t.least);
    wanted = std::min(wanted, t.most);
  }
  const float scaled = wanted * 256.0F;
  const int fixed = lod == nullptr
                        ? 0
                        : static_cast<int>(std::clamp(std::nearbyint(scaled), 0.0F,
                                                      256.0F * static_cast<float>(last)));
  if (lod == nullptr || t.mip == 0) {
    add_level(sum, t, 0, at, layer, linear, 1);
    return result(linear);
  }
  if (t.mip == 1) {
    add_level(sum, t, static_cast<unsigned>(fixed + 128) >> 8, at, layer, linear, 1);
    return result(linear);
  }
  const auto first = static_cast<unsigned>(fixed) >> 8;
  const int part = t.format.integers() ? 0 : fixed & 255;
  if (part == 0) {
    add_level(sum, t, first, at, layer, linear, 1);
    return result(linear);
  }
  add_level(sum, t, first, at, layer, linear, static_cast<float>(256 - part) / 256.0F);
  add_level(sum, t, std::min<unsigned>(first + 1, static_cast<unsigned>(last)), at, layer, linear,
            static_cast<float>(part) / 256.0F);
  return result(true);
}

/// The face of a cube that a direction meets, and its coordinates there.
struct Face {
  int face;
  std::array<float, 3> at;
};
inline Face face_of(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face = 0;
  float m = ax, s = 0, t = 0;
  if (ax >= ay && ax >= az) {
    face = std::signbit(x) ? 1 : 0;
    s = std::signbit(x) ? z : -z;
    t = -y;
  } else if (ay >= az) {
    m = ay;
    face = std::signbit(y) ? 3 : 2;
    s = x;
    t = std::signbit(y) ? -z : z;
  } else {
    m = az;
    face = std::signbit(z) ? 5 : 4;
    s = std::signbit(z) ? -x : x;
    t = -y;
  }
  return {face, {(s / m + 1.0F) * 0.5F, (t / m + 1.0F) * 0.5F, 0}};
}

/// The four texels around a place, one component: (0,1), (1,1), (1,0), (0,0).
inline Texel gather(const Texture& t, std::array<float, 3> at, int64_t layer, unsigned channel) {
  const Level& l = t.levels[0];
  const Axis x = axis(t, 0, at[0], l.width, true), y = axis(t, 1, at[1], l.height, true);
  const int s = static_cast<int>(t.layered ? std::clamp<int64_t>(layer, 0, l.slices - 1) : 0);
  constexpr unsigned kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel out;
  for (unsigned n = 0; n < 4; ++n) {
    const int64_t i = x.texel[kOrder[n][0]], j = y.texel[kOrder[n][1]];
    out[n] = i < 0 || j < 0 ? border_of(t)[channel]
                            : texel(t, l.at(static_cast<int>(i), static_cast<int>(j), s))[channel];
  }
  return out;
}

/// Integer coordinates: zeros beside the image.
inline Texel fetch(const Texture& t, std::array<int64_t, 3> i, int64_t layer) {
  const Level& l = t.levels[0];
  const std::array sizes = {l.width, l.height, l.slices};
  for (unsigned n = 0; n < t.axes; ++n)
    if (i[n] < 0 || i[n] >= sizes[n]) return {};
  const int64_t s = t.axes == 3 ? i[2]
                    : t.layered ? std::clamp<int64_t>(layer, 0, l.slices - 1)
                                : 0;
  return texel(t, l.at(static_cast<int>(i[0]), static_cast<int>(t.axes > 1 ? i[1] : 0),
                       static_cast<int>(s)));
}

}  // namespace lanewise::oracle::texture
