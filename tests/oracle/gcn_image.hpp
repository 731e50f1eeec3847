// GCN images, literally: the fields of T# and S#, where texels of the linear mode lie, and what a
// sample makes of them by the rules of docs/gcn.md and docs/textures.md. Coordinates and weights
// are integers of 1/256, sums are f32 in the order of the texels.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/oracle/gcn_format.hpp"

namespace lanewise::oracle::gcn {

inline uint32_t bits_of(const uint32_t* words, unsigned low, unsigned count) {
  uint32_t v = 0;
  for (unsigned n = 0; n < count; ++n) v |= (words[(low + n) / 32] >> ((low + n) % 32) & 1) << n;
  return v;
}

enum ImageType { k1D = 8, k2D, k3D, kCube, k1DArray, k2DArray };
constexpr unsigned kSrgbNumbers = 9, kLinearMode = 8, kRowBytes = 32;

struct ImageResource {
  uint64_t base = 0, row = 0;  ///< bytes of level 0's rows
  double min_lod = 0;
  unsigned dfmt = 0, nfmt = 0, width = 1, height = 1, depth = 1, type = 0, tiling = 0;
  unsigned base_level = 0, last_level = 0, base_array = 0, last_array = 0;
  bool pow2 = false;
  std::array<unsigned, 4> select{};

  static ImageResource of(const uint32_t* w, bool r128) {
    ImageResource r;
    r.base = (uint64_t{bits_of(w, 32, 8)} << 32 | w[0]) << 8;
    r.min_lod = bits_of(w, 40, 12) / 256.0;
    r.dfmt = bits_of(w, 52, 6);
    r.nfmt = bits_of(w, 58, 4);
    r.width = bits_of(w, 64, 14) + 1;
    r.height = bits_of(w, 78, 14) + 1;
    for (unsigned n = 0; n < 4; ++n) r.select[n] = bits_of(w, 96 + 3 * n, 3);
    r.base_level = bits_of(w, 108, 4);
    r.last_level = bits_of(w, 112, 4);
    r.tiling = bits_of(w, 116, 5);
    r.pow2 = bits_of(w, 121, 1) != 0;
    r.type = bits_of(w, 124, 4);
    if (r128) {
      r.row = (uint64_t{r.width} * r.bytes() + kRowBytes - 1) / kRowBytes * kRowBytes;
      return r;
    }
    r.depth = bits_of(w, 128, 13) + 1;
    r.row = uint64_t{bits_of(w, 141, 14) + 1} * r.bytes();
    r.base_array = bits_of(w, 160, 13);
    r.last_array = bits_of(w, 173, 13);
    return r;
  }

  unsigned bytes() const { return layout(dfmt & 15).bytes; }
  /// How many coordinates there are, the face of a cube among them.
  unsigned dimensions() const {
    return type == k1D || type == k1DArray ? 1 : type == k2D || type == k2DArray ? 2 : 3;
  }
  bool is_array() const { return dimensions() < 3; }
  bool usable(bool store, bool vi) const {
    if (type < k1D || type > k2DArray || tiling != kLinearMode || dfmt > 14) return false;
    if (nfmt == kSrgbNumbers) return !store && (dfmt == 1 || dfmt == 3 || dfmt == 10);
    return nfmt < 8 && legal(dfmt, nfmt, store, vi);
  }
};

struct ImageLevel {
  unsigned width, height, depth;
  uint64_t start, row, slice;
};
inline unsigned padded(unsigned v, bool pow2) {
  unsigned p = 1;
  while (p < v) p *= 2;
  return pow2 ? p : v;
}
inline ImageLevel level_of(const ImageResource& r, unsigned level) {
  ImageLevel l{r.width, r.type == k1D || r.type == k1DArray ? 1 : r.height, 1, 0, 0, 0};
  const bool deep = r.type == k3D;
  l.depth = deep ? r.depth : r.last_array + 1;
  l.row = r.row;
  l.slice = l.row * l.height;
  for (unsigned n = 1; n <= level; ++n) {
    l.start += l.slice * (deep ? padded(l.depth, r.pow2) : l.depth);
    const auto at = [&](unsigned size) { return std::max(size >> n, 1U); };
    l.width = at(r.width);
    l.height = r.dimensions() == 1 ? 1 : at(r.height);
    if (deep) l.depth = at(r.depth);
    l.row =
        (uint64_t{at(padded(r.width, r.pow2))} * r.bytes() + kRowBytes - 1) / kRowBytes * kRowBytes;
    l.slice = l.row * (r.dimensions() == 1 ? 1 : at(padded(r.height, r.pow2)));
  }
  return l;
}

/// Guest memory from `base` on.
struct TexelMemory {
  uint64_t base = 0;
  std::vector<uint8_t> bytes;
};

struct TexelPlace {
  bool inside = false;
  uint64_t address = 0;
};
inline TexelPlace texel_place(const ImageResource& r, uint32_t x, uint32_t y, uint32_t z,
                              uint32_t slice, uint32_t mip) {
  TexelPlace p;
  if (mip > r.last_level - r.base_level) return p;
  const ImageLevel l = level_of(r, r.base_level + mip);
  const uint32_t layers = r.last_array - r.base_array + 1;
  const bool deep = r.type == k3D;
  if (x >= l.width || (r.dimensions() > 1 && y >= l.height)) return p;
  if (deep ? z >= l.depth : slice >= layers) return p;
  p.inside = true;
  p.address = r.base + l.start + uint64_t{x} * r.bytes() + (r.dimensions() > 1 ? y : 0) * l.row +
              uint64_t{deep ? z : slice + r.base_array} * l.slice;
  return p;
}

inline uint32_t srgb(uint32_t c) {
  const double v = c / 255.0;
  return std::bit_cast<uint32_t>(
      static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4)));
}

inline Texel read_texel(const ImageResource& r, const TexelMemory& m, const TexelPlace& p,
                        bool d16) {
  Texel raw{};
  if (p.inside)
    for (unsigned n = 0; n < r.bytes(); ++n)
      raw[n / 4] |= uint32_t{m.bytes.at(p.address - m.base + n)} << (8 * (n % 4));
  Rules rules;
  rules.d16 = d16;
  if (r.nfmt != kSrgbNumbers) return load(raw, r.dfmt, r.nfmt, r.select, p.inside, rules);
  const Layout l = layout(r.dfmt);
  Texel rgba = {0, 0, 0, p.inside ? 0x3f800000U : 0};
  for (unsigned k = 0; p.inside && k < l.count; ++k) {
    const uint32_t c = take(raw, l.field[k]);
    rgba[k] = k == 3 ? load_component(c, 8, unorm) : srgb(c);
  }
  Texel out{};
  for (unsigned n = 0; n < 4; ++n)
    out[n] = r.select[n] >= 4 ? rgba[r.select[n] - 4] : r.select[n] == 1 ? 0x3f800000 : 0;
  return out;
}

struct SamplerResource {
  unsigned clamp[3]{}, compare = 0, border = 0, mip = 0;
  bool unnormalised = false, mag = false, min = false;
  float min_lod = 0, max_lod = 0, bias = 0;

  static SamplerResource of(const uint32_t* w) {
    SamplerResource s;
    for (unsigned n = 0; n < 3; ++n) s.clamp[n] = bits_of(w, 3 * n, 3);
    s.compare = bits_of(w, 12, 3);
    s.unnormalised = bits_of(w, 15, 1) != 0;
    s.min_lod = static_cast<float>(bits_of(w, 32, 12)) / 256;
    s.max_lod = static_cast<float>(bits_of(w, 44, 12)) / 256;
    s.bias = static_cast<float>(sign_extended(bits_of(w, 64, 14), 14)) / 256;
    s.mag = bits_of(w, 84, 1) != 0;
    s.min = bits_of(w, 86, 1) != 0;
    s.mip = bits_of(w, 90, 2);
    s.border = bits_of(w, 126, 2);
    return s;
  }
  std::array<uint32_t, 4> border_texel(bool integers) const {
    const uint32_t one = integers ? 1 : 0x3f800000, colour = border == 2 ? one : 0;
    return {colour, colour, colour, border == 1 || border == 2 ? one : 0};
  }
};

/// Two texels of an axis: -1 stands for the border. The second one's weight is of 256.
struct AxisTexels {
  int64_t at[2] = {0, 0};
  uint32_t weight = 0;
};
inline AxisTexels axis_texels(float coordinate, unsigned size, unsigned mode, bool unnormalised,
                              bool linear, int offset) {
  enum { wrap, mirror, clamp, mirror_once, half_border, mirror_half_border, border, mirror_border };
  if (unnormalised && mode <= mirror) mode = clamp;
  float u = coordinate;
  bool reversed = false;
  if (mode == wrap) u = u - std::floor(u);
  if (mode == mirror) {
    const float whole = std::floor(u), part = u - whole;
    reversed = std::floor(whole * 0.5F) != whole * 0.5F;
    u = reversed ? 1 - part : part;
  }
  if (mode == mirror_once || mode == mirror_half_border || mode == mirror_border) u = std::fabs(u);
  if (!unnormalised) u *= static_cast<float>(size);
  if (mode == half_border || mode == mirror_half_border)
    u = std::fmin(std::fmax(u, 0.0F), static_cast<float>(size));
  // To the nearest 1/256, ties to even; what is not finite is far away, NaN is 0.
  constexpr double kFar = 1 << 30;
  const double exact = static_cast<double>(u * 256);
  const double fixed = std::isnan(exact) ? 0 : std::clamp(std::nearbyint(exact), -kFar, kFar);
  const auto shifted = static_cast<int64_t>(fixed) - (linear ? 128 : reversed ? 1 : 0);
  AxisTexels out;
  out.weight = linear ? static_cast<uint32_t>(shifted & 255) : 0;
  for (int n = 0; n < 2; ++n) {
    int64_t i = (shifted >> 8) + offset + n;
    const auto s = static_cast<int64_t>(size);
    const bool low = mode == half_border || mode == border, high = mode >= half_border;
    if ((low && i < 0) || (high && i >= s)) {
      out.at[n] = -1;
      continue;
    }
    if (mode == wrap) {
      i = (i % s + s) % s;
    } else if (mode == mirror && offset != 0) {
      i = i < 0 ? -1 - i : i;
      i = i < s ? i : 2 * s - 1 - i;
    }
    out.at[n] = std::clamp<int64_t>(i, 0, s - 1);
  }
  return out;
}

struct SampleRequest {
  float x = 0, y = 0, z = 0, slice = 0;  ///< on a cube's face from 1 to 2, slice = the face
  std::optional<float> level;            ///< else the base level
  std::optional<float> least;            ///< of the level, behind all other limits
  int offset[3] = {0, 0, 0};
  std::optional<float> compare;
  int gather = -1;  ///< a component
};

inline bool compares(unsigned function, float value, float texel) {
  return ((function & 1) != 0 && value < texel) || ((function & 2) != 0 && value == texel) ||
         ((function & 4) != 0 && value > texel) || function == 7;
}

class Sampler {
 public:
  Sampler(const ImageResource& image, const SamplerResource& sampler, const TexelMemory& memory)
      : r_(image), s_(sampler), m_(memory) {}

  Texel sample(const SampleRequest& q) const {
    const bool integers = r_.nfmt == uint_ || r_.nfmt == sint;
    if (q.gather >= 0) return gather(q, first_level(q).first);
    if (!q.level) return one_level(q, r_.base_level, s_.mag && !integers, 1, nullptr);
    const auto [level, fraction] = first_level(q);
    const float lod = limited(q);
    const bool linear = (lod > 0 ? s_.min : s_.mag) && !integers;
    if (fraction == 0 || integers) return one_level(q, level, linear, 1, nullptr);
    Texel sum = one_level(q, level, linear, static_cast<float>(256 - fraction) / 256, &kNothing);
    return one_level(q, std::min(level + 1, r_.last_level), linear,
                     static_cast<float>(fraction) / 256, &sum);
  }

 private:
  static constexpr Texel kNothing = {0x80000000, 0x80000000, 0x80000000, 0x80000000};

  float limited(const SampleRequest& q) const {
    const float least = std::fmax(s_.min_lod, static_cast<float>(r_.min_lod));
    const float lod = std::fmin(std::fmax(*q.level + s_.bias, least), s_.max_lod);
    return q.least ? std::fmax(lod, *q.least) : lod;
  }
  /// The level, and the weight of the next one in 1/256.
  std::pair<unsigned, uint32_t> first_level(const SampleRequest& q) const {
    if (!q.level) return {r_.base_level, 0};
    const double most = (r_.last_level - r_.base_level) * 256.0;
    const float lod = limited(q);
    const double exact = std::isnan(lod) ? 0 : std::nearbyint(static_cast<double>(lod * 256));
    const auto fixed = static_cast<uint32_t>(std::clamp(exact, 0.0, most));
    if (s_.mip == 0) return {r_.base_level, 0};
    if (s_.mip == 1) return {r_.base_level + ((fixed + 128) >> 8), 0};
    return {r_.base_level + (fixed >> 8), s_.mip == 2 ? fixed & 255 : 0};
  }

  Texel texel(const SampleRequest& q, unsigned level, int64_t x, int64_t y, int64_t z) const {
    Texel out;
    if (x < 0 || y < 0 || z < 0) {
      out = s_.border_texel(r_.nfmt == uint_ || r_.nfmt == sint);
    } else {
      uint32_t slice = 0;
      if (r_.type != k3D) {
        const double nearest_slice = std::isnan(q.slice) ? 0 : std::nearbyint(q.slice);
        slice = static_cast<uint32_t>(
            std::clamp(nearest_slice, 0.0, static_cast<double>(r_.last_array - r_.base_array)));
      }
      out = read_texel(r_, m_,
                       texel_place(r_, static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                                   static_cast<uint32_t>(z), slice, level - r_.base_level),
                       false);
    }
    if (q.compare)
      out.fill(compares(s_.compare, *q.compare, std::bit_cast<float>(out[0])) ? 0x3f800000 : 0);
    return out;
  }

  std::array<AxisTexels, 3> axes(const SampleRequest& q, unsigned level, bool linear) const {
    const ImageLevel l = level_of(r_, level);
    const bool cube = r_.type == kCube;
    constexpr unsigned kClamp = 2;
    std::array<AxisTexels, 3> out;
    out[0] = axis_texels(cube ? q.x - 1 : q.x, l.width, cube ? kClamp : s_.clamp[0],
                         s_.unnormalised, linear, q.offset[0]);
    if (r_.dimensions() > 1)
      out[1] = axis_texels(cube ? q.y - 1 : q.y, l.height, cube ? kClamp : s_.clamp[1],
                           s_.unnormalised, linear, q.offset[1]);
    if (r_.type == k3D)
      out[2] = axis_texels(q.z, l.depth, s_.clamp[2], s_.unnormalised, linear, q.offset[2]);
    return out;
  }

  Texel one_level(const SampleRequest& q, unsigned level, bool linear, float share,
                  const Texel* sum) const {
    const auto a = axes(q, level, linear);
    if (!linear && sum == nullptr) return texel(q, level, a[0].at[0], a[1].at[0], a[2].at[0]);
    Texel out = sum != nullptr ? *sum : kNothing;
    for (unsigned tap = 0; tap < 8; ++tap) {
      uint32_t weight = 1;
      std::array<int64_t, 3> at{};
      for (unsigned n = 0; n < 3; ++n) {
        const bool high = (tap >> n & 1) != 0;
        weight *= high ? a[n].weight : 256 - a[n].weight;
        at[n] = a[n].at[high ? 1 : 0];
      }
      if (weight == 0) continue;
      const Texel t = texel(q, level, at[0], at[1], at[2]);
      const float w = static_cast<float>(weight) / 16777216.0F * share;
      for (unsigned k = 0; k < 4; ++k) {
        const float product = std::bit_cast<float>(t[k]) * w;
        out[k] = std::bit_cast<uint32_t>(std::bit_cast<float>(out[k]) + product);
      }
    }
    return out;
  }

  Texel gather(const SampleRequest& q, unsigned level) const {
    const auto a = axes(q, level, true);
    constexpr unsigned kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel out;
    for (unsigned n = 0; n < 4; ++n)
      out[n] = texel(q, level, a[0].at[kOrder[n][0]], a[1].at[kOrder[n][1]],
                     a[2].at[0])[static_cast<size_t>(q.gather)];
    return out;
  }

  const ImageResource& r_;
  const SamplerResource& s_;
  const TexelMemory& m_;
};

}  // namespace lanewise::oracle::gcn
