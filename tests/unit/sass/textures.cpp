// Textures and surfaces of SASS on the reference engine: which register holds what. Values are
// those of tests/oracle/texture.hpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "runtime/guest/texture.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "tests/oracle/texture.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
namespace model = lanewise::oracle::texture;
using model::Texel;
using test::Bench;

namespace {

constexpr uint32_t kLanes = 64;

/// Names of what a lane has, in the registers from R8 on.
enum Value { kX, kY, kZ, kLayer, kLevel, kOffsets, kReference, kHandle, kDx, kDy, kCount };
constexpr unsigned kFirstValue = 8, kInWords = 12;

struct Form {
  std::string text;                  ///< results from R40 on
  std::vector<Value> first, second;  ///< registers from R20 and from R28 on
  unsigned axes = 2;
  bool layered = false, cube = false, level = false, integers = false, compare = false;
  unsigned offset_bits = 0, offset_step = 0;
  int component = -1;
  unsigned results = 4;
  bool flat_one = false;  ///< a texture of one dimension, read as one of two
  unsigned arch = 50;
  bool halves = false, truncated = false;  ///< two of them in a register
};

/// The bits of the half nearest to the float, ties to even, or of the one toward zero.
uint32_t half_of(uint32_t bits, bool truncated) {
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  // Steps of the half's last place, which has no subnormal ones below 2^-24.
  const double value = model::as_float(magnitude);
  const int exponent = std::max(value == 0 ? -14 : std::ilogb(value), -14);
  const double steps = std::ldexp(value, 10 - exponent);
  const auto whole = static_cast<uint32_t>(steps);
  const double rest = steps - whole;
  const bool up = !truncated && (rest > 0.5 || (rest == 0.5 && whole % 2 == 1));
  const uint32_t half = (static_cast<uint32_t>(exponent + 14) << 10) + whole + (up ? 1 : 0);
  return sign | (half < 0x7c00 ? half : truncated ? 0x7bff : 0x7c00);
}

/// What R40 to R43 hold: components as they are, or halves in R40 and in R42.
Texel registers(const Form& f, const Texel& texel) {
  Texel out;
  out.fill(0x5eed);
  for (unsigned n = 0; n < f.results; ++n) {
    if (!f.halves) {
      out[n] = texel[n];
      continue;
    }
    uint32_t& r = out[n & 2];
    r = (n % 2 == 0 ? 0 : r) | half_of(texel[n], f.truncated) << (16 * (n % 2));
  }
  return out;
}

ir::Program lowered(const std::string& text, unsigned arch = 50) {
  const sass::Listing listing = sass::parse(text, arch);
  for (const Diagnostic& d : listing.diagnostics) FAIL(d.line << ": " << d.message);
  sass::LowerResult r = sass::lower(listing);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL(d.line << ": " << d.message);
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  CHECK((ir::expand_textures(r.module.kernels[0], ir::FilterRule::cuda_1_8) ||
         text.find("TXQ") != std::string::npos));
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  return std::move(r.module.kernels[0]);
}

/// c[0x0][0x140]: what lanes read; 0x148: where they write; 0x150: the handle.
std::string kernel_text(const std::string& body, unsigned results) {
  std::string t =
      "S2R R0, SR_TID.X ;\nSHL R1, R0, 0x4 ;\nSHL R2, R0, 0x5 ;\nIADD R2, R2, R1 ;\n"
      "IADD R2.CC, R2, c[0x0][0x140] ;\nIADD.X R3, RZ, c[0x0][0x144] ;\n"
      "IADD R4.CC, R1, c[0x0][0x148] ;\nIADD.X R5, RZ, c[0x0][0x14c] ;\n"
      "LDG.E.128 R8, [R2] ;\nLDG.E.128 R12, [R2+0x10] ;\nLDG.E.128 R16, [R2+0x20] ;\n"
      "MOV32I R40, 0x5eed ;\nMOV R41, R40 ;\nMOV R42, R40 ;\nMOV R43, R40 ;\n";
  t += body;
  t += "STG.E.128 [R4], R40 ;\nEXIT ;\n";
  (void)results;
  return t;
}

std::string placed(const std::vector<Value>& values, unsigned first) {
  std::string t;
  for (const Value v : values)
    t += fmt::format("MOV R{}, R{} ;\n", first++, kFirstValue + static_cast<unsigned>(v));
  return t;
}

struct Made {
  model::Texture texture;
  guest::TextureDescription description;
  std::vector<std::byte> bytes;
};

Made random_texture(std::mt19937& rng, const Form& f) {
  Made m;
  model::Texture& t = m.texture;
  guest::TextureDescription& d = m.description;
  const bool exact = f.offset_bits != 0;
  t.axes = f.flat_one ? 1 : f.axes;
  t.layered = f.layered || f.cube;
  t.format = {model::Kind::float_, 1U << rng() % 3, 32, false, false};
  if (f.integers || rng() % 3 == 0)
    t.format = {rng() % 2 == 0 ? model::Kind::unsigned_ : model::Kind::signed_, 1U << rng() % 3,
                8U << rng() % 2, rng() % 2 == 0, false};
  if (f.compare) t.format = {model::Kind::float_, 1, 32, false, false};
  t.linear = rng() % 2 == 0 && !t.format.integers() && !f.compare;
  t.normalised = !exact && (f.cube || f.level || rng() % 2 == 0);
  for (auto& mode : t.mode)
    mode = static_cast<model::Mode>(exact ? 1 + 2 * (rng() % 2) : rng() % 4);
  t.border = {1, 0.5F, 3, -2};
  if (f.level && !f.integers) t.mip = rng() % (f.compare ? 2 : 3);
  d.kind = static_cast<guest::TexelKind>(t.format.kind);
  d.channels = t.format.channels;
  d.channel_bits = t.format.bits;
  d.fractions = t.format.fractions;
  d.width = 1 + rng() % 9;
  if (t.axes > 1) d.height = f.cube ? d.width : 1 + rng() % 9;
  if (t.axes > 2) d.depth = 1 + rng() % 4;
  if (f.layered) d.layers = 1 + rng() % 4;
  if (f.cube) d.layers = 6 * std::max(d.layers, 1U);
  d.cube = f.cube;
  const uint32_t longest = std::max({d.width, d.height, d.depth});
  if (f.level && !f.integers)
    for (uint32_t more = rng() % 3; more != 0 && longest >> d.levels != 0; --more) ++d.levels;
  d.unnormalised = !t.normalised;
  d.linear = t.linear;
  d.mip_filter = t.mip;
  d.most_level = 16;
  for (size_t n = 0; n < 3; ++n) d.address_mode[n] = static_cast<ir::sampler::Address>(t.mode[n]);
  std::copy(t.border.begin(), t.border.end(), d.border.begin());
  m.bytes.resize(guest::texture_bytes(d));
  for (uint32_t n = 0; n < d.levels; ++n) {
    const guest::TextureLevel at = guest::texture_level(d, n);
    model::Level level{
        static_cast<int>(at.width), static_cast<int>(at.height), static_cast<int>(at.slices), {}};
    for (uint32_t z = 0; z < at.slices; ++z)
      for (uint32_t y = 0; y < at.height; ++y)
        for (uint32_t x = 0; x < at.width; ++x) {
          Texel raw{};
          for (unsigned k = 0; k < t.format.channels; ++k) {
            raw[k] = t.format.bits < 32
                         ? rng() & ((1U << t.format.bits) - 1)
                         : model::as_bits(static_cast<float>(rng() % 4096) / 512 - 4);
            std::memcpy(m.bytes.data() + at.offset + z * at.slice_pitch + y * at.row_pitch +
                            x * t.format.bytes() + k * t.format.bits / 8,
                        &raw[k], t.format.bits / 8);
          }
          level.texels.push_back(raw);
        }
    t.levels.push_back(std::move(level));
  }
  return m;
}

struct Lane {
  std::array<uint32_t, kInWords> words{};
  std::array<float, 3> at{};
  std::array<int, 3> place{}, offset{};
  int layer = 0;
  float level = 0, reference = 0;
};

Lane random_lane(std::mt19937& rng, const Form& f, const Made& m, uint32_t handle) {
  Lane l;
  const std::array sizes = {m.description.width, std::max(m.description.height, 1U),
                            std::max(m.description.depth, 1U)};
  for (unsigned n = 0; n < 3; ++n) {
    l.place[n] = static_cast<int>(rng() % (sizes[n] + 2)) - 1;
    l.at[n] = static_cast<float>(static_cast<int>(rng() % (64 * (sizes[n] + 4))) - 128) / 64;
    if (m.texture.normalised) l.at[n] /= static_cast<float>(sizes[n]);
    if (f.cube) l.at[n] = (static_cast<float>(rng() % 33) - 16) / 8 + 0.01F;
    l.words[kX + n] = f.integers ? static_cast<uint32_t>(l.place[n]) : model::as_bits(l.at[n]);
  }
  if (f.flat_one) l.words[kY] = 0;
  l.layer = static_cast<int>(rng() % 6);
  l.words[kLayer] = static_cast<uint32_t>(l.layer) | (f.layered ? 0xabcd0000 : 0);
  l.level = static_cast<float>(rng() % 800) / 256 - 0.5F;
  l.words[kLevel] = f.integers ? 0 : model::as_bits(l.level);
  for (unsigned n = 0; n < 3 && f.offset_bits != 0; ++n) {
    const auto range = static_cast<int>(1U << f.offset_bits);
    l.offset[n] = static_cast<int>(rng() % static_cast<unsigned>(range)) - range / 2;
    if (n >= f.axes) l.offset[n] = 0;
    l.words[kOffsets] |= (static_cast<uint32_t>(l.offset[n]) & static_cast<uint32_t>(range - 1))
                         << (f.offset_step * n);
  }
  l.reference = static_cast<float>(rng() % 64) / 8 - 4;
  l.words[kReference] = model::as_bits(l.reference);
  l.words[kHandle] = handle;
  return l;
}

Texel expected(const Form& f, const model::Texture& t, const Lane& l, unsigned function) {
  if (f.integers)
    return model::fetch(
        t, {l.place[0] + l.offset[0], l.place[1] + l.offset[1], l.place[2] + l.offset[2]}, l.layer);
  std::array<float, 3> at = l.at;
  for (unsigned n = 0; n < 3; ++n) at[n] += static_cast<float>(l.offset[n]);
  if (f.component >= 0) return model::gather(t, at, l.layer, static_cast<unsigned>(f.component));
  Texel out;
  if (f.cube) {
    const model::Face face = model::face_of(at[0], at[1], at[2]);
    const int64_t cube = f.layered ? std::clamp(l.layer, 0, t.levels[0].slices / 6 - 1) : 0;
    out = model::sample(t, face.at, 6 * cube + face.face, f.level ? &l.level : nullptr);
  } else {
    out = model::sample(t, at, l.layer, f.level ? &l.level : nullptr);
  }
  if (!f.compare) return out;
  const float texel = model::as_float(out[0]);
  const bool holds = ((function & 1) != 0 && l.reference < texel) ||
                     ((function & 2) != 0 && l.reference == texel) ||
                     ((function & 4) != 0 && l.reference > texel) || function == 7;
  out.fill(holds ? 0x3f800000 : 0);
  return out;
}

bool same(uint32_t a, uint32_t b) {
  const auto nan = [](uint32_t v) { return (v & 0x7fffffff) > 0x7f800000; };
  return a == b || (nan(a) && nan(b));
}

void check_form(const Form& f, uint32_t seed) {
  CAPTURE(f.text);
  CAPTURE(seed);
  std::mt19937 rng(seed);
  Made m = random_texture(rng, f);
  Bench bench;
  m.description.address = bench.put(m.bytes);
  guest::TextureBlock block = guest::texture_block(m.description);
  const unsigned function = rng() % 8;
  block[guest::texture_offset(guest::TextureWord::sampler) / 4] |= function
                                                                   << ir::sampler::kCompareShift;
  const uint64_t handle = bench.put(std::vector<uint32_t>(block.begin(), block.end()));
  std::vector<Lane> lanes;
  std::vector<uint32_t> in;
  for (uint32_t n = 0; n < kLanes; ++n) {
    lanes.push_back(random_lane(rng, f, m, static_cast<uint32_t>(handle)));
    in.insert(in.end(), lanes[n].words.begin(), lanes[n].words.end());
  }
  const ir::Program program = lowered(
      kernel_text(placed(f.first, 20) + placed(f.second, 28) + f.text + " ;\n", f.results), f.arch);
  const uint64_t from = bench.put(in), to = bench.put(std::vector<uint32_t>(4 * kLanes));
  bench.arg(from).arg(to).arg(handle);
  CHECK(bench.run(program, 1, kLanes).fault_count == 0);
  const auto got = bench.get<uint32_t>(to, size_t{4} * kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const Texel want = registers(f, expected(f, m.texture, lanes[lane], function));
    for (unsigned n = 0; n < 4; ++n) {
      const uint32_t w = want[n];
      if (same(got[4 * lane + n], w)) continue;
      CAPTURE(lane);
      CAPTURE(n);
      CHECK(fmt::format("{:08x}", got[4 * lane + n]) == fmt::format("{:08x}", w));
      return;
    }
  }
}

Form form(std::string text, std::vector<Value> first, std::vector<Value> second, unsigned axes) {
  Form f;
  f.text = std::move(text);
  f.first = std::move(first);
  f.second = std::move(second);
  f.axes = axes;
  return f;
}
template <typename... Flags>
Form with(Form f, Flags... flags) {
  ((f.*flags = true), ...);
  return f;
}
Form offsets(Form f, unsigned bits, unsigned step) {
  f.offset_bits = bits;
  f.offset_step = step;
  return f;
}
Form gathers(Form f, int component) {
  f.component = component;
  return f;
}
Form results(Form f, unsigned count) {
  f.results = count;
  return f;
}
Form halves(Form f, unsigned arch, bool truncated = false) {
  f.arch = arch;
  f.halves = true;
  f.truncated = truncated;
  return f;
}

std::vector<Form> forms() {
  constexpr auto layered = &Form::layered, cube = &Form::cube, level = &Form::level,
                 integers = &Form::integers, compare = &Form::compare, one = &Form::flat_one;
  return {
      form("TEX R40, R20, 0x54, 1D, 0xf", {kX}, {}, 1),
      form("TEX R40, R20, 0x54, 2D, 0xf", {kX, kY}, {}, 2),
      with(form("TEX.LZ R40, R20, 0x54, 2D, 0xf", {kX, kY}, {}, 2), one),
      form("TEX R40, R20, 0x54, 3D, 0xf", {kX, kY, kZ}, {}, 3),
      with(form("TEX R40, R20, 0x54, ARRAY_1D, 0xf", {kLayer, kX}, {}, 1), layered),
      with(form("TEX.LL R40, R20, R28, 0x54, ARRAY_2D, 0xf", {kLayer, kX, kY}, {kLevel}, 2),
           layered, level),
      with(form("TEX.LL R40, R20, R28, 0x54, CUBE, 0xf", {kX, kY, kZ}, {kLevel}, 2), cube, level),
      with(form("TEX R40, R20, 0x54, ARRAY_CUBE, 0xf", {kLayer, kX, kY, kZ}, {}, 2), cube, layered),
      form("TEX.B R40, R20, R28, 0x0, 2D, 0xf", {kX, kY}, {kHandle}, 2),
      with(form("TEX.B.LL R40, R20, R28, 0x0, 3D, 0xf", {kX, kY, kZ}, {kHandle, kLevel}, 3), level),
      with(form("TEX.LB R40, R20, R28, 0x54, 2D, 0xf", {kX, kY}, {kLevel}, 2), level),
      offsets(form("TEX.AOFFI R40, R20, R28, 0x54, 2D, 0xf", {kX, kY}, {kOffsets}, 2), 4, 4),
      offsets(form("TEX.B.AOFFI R40, R20, R28, 0x0, 3D, 0xf", {kX, kY, kZ}, {kHandle, kOffsets}, 3),
              4, 4),
      with(form("TEX.DC R40, R20, R28, 0x54, 2D, 0xf", {kX, kY}, {kReference}, 2), compare),
      with(form("TEX.LL.DC R40, R20, R28, 0x54, CUBE, 0xf", {kX, kY, kZ}, {kLevel, kReference}, 2),
           cube, level, compare),
      results(form("TEX R40, R20, 0x54, 2D, 0x1", {kX, kY}, {}, 2), 1),
      results(form("TEX R40, R20, 0x54, 2D, 0x7", {kX, kY}, {}, 2), 3),
      form("TEXS.LZ R42, R40, R20, 0x54, 1D, RGBA", {kX}, {}, 1),
      form("TEXS R42, R40, R20, R28, 0x54, 2D, RGBA", {kX}, {kY}, 2),
      with(form("TEXS R42, R40, R20, R28, 0x54, 2D, RGBA", {kX}, {kY}, 2), one),
      with(form("TEXS.LL R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kLevel}, 2), level),
      with(form("TEXS.DC R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kReference}, 2), compare),
      with(form("TEXS.LL.DC R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kLevel, kReference}, 2),
           level, compare),
      with(form("TEXS.LZ.DC R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kReference}, 2),
           compare),
      with(form("TEXS R42, R40, R20, R28, 0x54, ARRAY_2D, RGBA", {kLayer, kX}, {kY}, 2), layered),
      with(form("TEXS.LZ.DC R42, R40, R20, R28, 0x54, ARRAY_2D, RGBA", {kLayer, kX},
                {kY, kReference}, 2),
           layered, compare),
      form("TEXS R42, R40, R20, R28, 0x54, 3D, RGBA", {kX, kY}, {kZ}, 3),
      with(form("TEXS R42, R40, R20, R28, 0x54, CUBE, RGBA", {kX, kY}, {kZ}, 2), cube),
      with(form("TEXS.LL R42, R40, R20, R28, 0x54, CUBE, RGBA", {kX, kY}, {kZ, kLevel}, 2), cube,
           level),
      results(form("TEXS RZ, R40, R20, R28, 0x54, 2D, R", {kX}, {kY}, 2), 1),
      results(form("TEXS RZ, R40, R20, R28, 0x54, 2D, RG", {kX}, {kY}, 2), 2),
      results(form("TEXS R42, R40, R20, R28, 0x54, 2D, RGB", {kX}, {kY}, 2), 3),
      with(form("TLD.LZ R40, R20, 0x54, 1D, 0xf", {kX}, {}, 1), integers),
      with(form("TLD.LZ R40, R20, 0x54, ARRAY_2D, 0xf", {kLayer, kX, kY}, {}, 2), integers,
           layered),
      with(form("TLD.LL.CL R40, R20, R28, 0x54, 3D, 0xf", {kX, kY, kZ}, {kLevel}, 3), integers),
      with(form("TLD.B.LZ R40, R20, R28, 0x0, 2D, 0xf", {kX, kY}, {kHandle}, 2), integers),
      with(offsets(form("TLD.LL.AOFFI.CL R40, R20, R28, 0x54, 2D, 0xf", {kX, kY},
                        {kLevel, kOffsets}, 2),
                   4, 4),
           integers),
      with(form("TLDS.LZ R42, R40, R20, 0x54, 1D, RGBA", {kX}, {}, 1), integers),
      with(form("TLDS.LL R42, R40, R20, R28, 0x54, 1D, RGBA", {kX}, {kLevel}, 1), integers),
      with(form("TLDS.LZ R42, R40, R20, R28, 0x54, 2D, RGBA", {kX}, {kY}, 2), integers),
      with(form("TLDS.LL R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kLevel}, 2), integers),
      with(
          offsets(form("TLDS.LZ.AOFFI R42, R40, R20, R28, 0x54, 2D, RGBA", {kX, kY}, {kOffsets}, 2),
                  4, 4),
          integers),
      with(form("TLDS.LZ R42, R40, R20, R28, 0x54, 3D, RGBA", {kX, kY}, {kZ}, 3), integers),
      with(form("TLDS.LZ R42, R40, R20, R28, 0x54, ARRAY_2D, RGBA", {kLayer}, {kX, kY}, 2),
           integers, layered),
      gathers(form("TLD4S.R R42, R40, R20, R28, 0x54", {kX}, {kY}, 2), 0),
      gathers(
          offsets(form("TLD4S.A.AOFFI R42, R40, R20, R28, 0x54", {kX, kY}, {kOffsets}, 2), 6, 8),
          3),
      gathers(form("TLD4.G R40, R20, 0x54, 2D, 0xf", {kX, kY}, {}, 2), 1),
      gathers(with(form("TLD4.B R40, R20, 0x54, ARRAY_2D, 0xf", {kLayer, kX, kY}, {}, 2), layered),
              2),
      gathers(form("TLD4.G.B R40, R20, R28, 0x0, 2D, 0xf", {kX, kY}, {kHandle}, 2), 1),
      gathers(
          offsets(form("TLD4.R.AOFFI R40, R20, R28, 0x54, 2D, 0xf", {kX, kY}, {kOffsets}, 2), 6, 8),
          0),
      halves(form("TEXS.F16 R42, R40, R20, R28, 0x54, 2D, RGBA", {kX}, {kY}, 2), 53),
      halves(form("TEXS.F16.RTZ R42, R40, R20, R28, 0x54, 3D, RGBA", {kX, kY}, {kZ}, 3), 60, true),
      halves(results(form("TEXS.F16 R42, R40, R20, R28, 0x54, 2D, RGB", {kX}, {kY}, 2), 3), 52),
      halves(results(form("TEXS.F16 RZ, R40, R20, R28, 0x54, 2D, RG", {kX}, {kY}, 2), 2), 61),
      halves(results(form("TEXS.F16 RZ, R40, R20, R28, 0x54, 2D, R", {kX}, {kY}, 2), 1), 61),
      halves(with(form("TLDS.F16.LZ R42, R40, R20, R28, 0x54, 2D, RGBA", {kX}, {kY}, 2), integers),
             53),
      halves(gathers(form("TLD4S.F16.R R42, R40, R20, R28, 0x54", {kX}, {kY}, 2), 0), 52),
      halves(gathers(form("TLD4S.F16.RTZ.G R42, R40, R20, R28, 0x54", {kX}, {kY}, 2), 1), 61, true),
  };
}

}  // namespace

TEST_CASE("textures: each form of TEX, TLD, TLD4 and of their short forms") {
  uint32_t seed = 1;
  for (const Form& f : forms())
    for (int round = 0; round < 4; ++round) check_form(f, seed++);
}

namespace {

/// A texture or surface of 32-bit integers, x + 10 y + 100 z in each texel.
struct Plain {
  Bench bench;
  guest::TextureDescription d;
  uint64_t handle = 0;

  Plain(uint32_t width, uint32_t height, uint32_t depth, uint32_t layers, uint32_t levels = 1) {
    d.kind = guest::TexelKind::unsigned_;
    d.width = width;
    d.height = height;
    d.depth = depth;
    d.layers = layers;
    d.levels = levels;
    std::vector<std::byte> bytes(guest::texture_bytes(d));
    for (uint32_t n = 0; n < levels; ++n) {
      const guest::TextureLevel l = guest::texture_level(d, n);
      for (uint32_t z = 0; z < l.slices; ++z)
        for (uint32_t y = 0; y < l.height; ++y)
          for (uint32_t x = 0; x < l.width; ++x) {
            const uint32_t v = x + 10 * y + 100 * z + 1000 * n;
            std::memcpy(&bytes[l.offset + z * l.slice_pitch + y * l.row_pitch + 4 * x], &v, 4);
          }
    }
    d.address = bench.put(bytes);
    const guest::TextureBlock block = guest::texture_block(d);
    handle = bench.put(std::vector<uint32_t>(block.begin(), block.end()));
  }
  uint32_t texel(uint32_t x, uint32_t y, uint32_t z = 0) {
    const guest::TextureLevel l = guest::texture_level(d, 0);
    return bench.get<uint32_t>(d.address + z * l.slice_pitch + y * l.row_pitch + 4 * x, 1)[0];
  }
  /// One lane runs the body; R40 to R43 come back.
  std::vector<uint32_t> run(const std::string& body, uint64_t faults = 0, unsigned arch = 50) {
    const ir::Program program = lowered(kernel_text(body, 4), arch);
    const uint64_t in = bench.put(std::vector<uint32_t>(kInWords)),
                   out = bench.put(std::vector<uint32_t>(4));
    bench.clear();
    bench.arg(in).arg(out).arg(handle);
    CHECK(bench.run(program, 1, 1).fault_count == faults);
    return bench.get<uint32_t>(out, 4);
  }
};

std::string numbers(std::initializer_list<int32_t> values, unsigned first = 20) {
  std::string t;
  for (const int32_t v : values)
    t += fmt::format("MOV32I R{}, {:#x} ;\n", first++, static_cast<uint32_t>(v));
  return t;
}

}  // namespace

TEST_CASE("textures: gradients, sizes, and handles that lead nowhere") {
  Plain chain(16, 8, 0, 0, 4);
  CHECK(chain.run(numbers({1}) + "TXQ R40, R20, TEX_HEADER_DIMENSION, 0x54, 0xf ;\n") ==
        std::vector<uint32_t>{8, 4, 1, 4});
  CHECK(chain.run(numbers({0}) + "MOV R21, RZ ;\nMOV R20, c[0x0][0x150] ;\n"
                                 "TXQ.B R40, R20, TEX_HEADER_DIMENSION, 0x0, 0x2 ;\n")[0] == 8);
  Plain volume(5, 4, 3, 0);
  CHECK(volume.run("TXQ R40, RZ, TEX_HEADER_DIMENSION, 0x54, 0x7 ;\n") ==
        std::vector<uint32_t>{5, 4, 3, 0x5eed});
  Plain layered(5, 4, 0, 7);
  CHECK(layered.run("TXQ R40, RZ, TEX_HEADER_DIMENSION, 0x54, 0x4 ;\n")[0] == 7);

  // 2 texels by dx, 4 by dy: the third level of the nearest ones.
  chain.d.mip_filter = 1;
  chain.d.most_level = 16;
  const guest::TextureBlock nearest = guest::texture_block(chain.d);
  chain.bench.write(chain.handle, std::vector<uint32_t>(nearest.begin(), nearest.end()));
  const std::string at = numbers({0x3f000000, 0x3f000000}),  // 0.5
      gradients = numbers({0x3e000000, 0, 0, 0x3f000000}, 28);
  CHECK(chain.run(at + gradients + "TXD R40, R20, R28, 0x54, 2D, 0x1 ;\n")[0] == 2000 + 2 + 10);
  CHECK(chain.run("MOV R20, c[0x0][0x150] ;\n" + numbers({0x3f000000, 0x3f000000}, 21) + gradients +
                  "TXD.B R40, R20, R28, 0x0, 2D, 0x1 ;\n")[0] == 2012);
  // An offset of (1, -1) texels stands in the upper half behind the coordinates.
  CHECK(chain.run(at + numbers({0x00f10000}, 22) + gradients +
                  "TXD.AOFFI R40, R20, R28, 0x54, 2D, 0x1 ;\n")[0] == 2000 + 3 + 0);

  const std::vector<uint32_t> nothing =
      chain.run("MOV R28, c[0x0][0x148] ;\nTEX.B.LZ R40, R20, R28, 0x0, 1D, 0x1 ;\n", 1);
  CHECK(nothing[0] == 0);
}

TEST_CASE("surfaces: loads and stores of bytes and of texels, and what is beside them") {
  Plain s(8, 4, 0, 0);
  const auto load = [&](const std::string& text, int32_t x, int32_t y, uint64_t faults = 0) {
    return s.run(numbers({x, y}) + text + " ;\n", faults);
  };
  CHECK(load("SULD.D.BA.2D.TRAP R40, [R20], 0x54", 12, 2)[0] == 23);
  CHECK(load("SULD.D.2D.TRAP R40, [R20], 0x54", 3, 2)[0] == 23);
  CHECK(load("SULD.P.2D.R.TRAP R40, [R20], 0x54", 3, 2)[0] == 23);
  CHECK(load("SULD.D.BA.2D.64.TRAP R40, [R20], 0x54", 8, 1) ==
        std::vector<uint32_t>{12, 13, 0x5eed, 0x5eed});
  CHECK(load("SULD.D.BA.2D.128.TRAP R40, [R20], 0x54", 16, 3) ==
        std::vector<uint32_t>{34, 35, 36, 37});
  CHECK(load("SULD.D.BA.2D.U8.TRAP R40, [R20], 0x54", 4, 0)[0] == 1);
  CHECK(load("SULD.D.BA.2D R40, [R20], 0x54", 400, -3)[0] == 7);  // the nearest one
  CHECK(load("SULD.D.2D R40, [R20], 0x54", -2, 70)[0] == 30);
  CHECK(load("SULD.D.2D R40, [R20], 0x54", 0x40000003, 1)[0] == 17);  // 4 x wraps to 12
  CHECK(load("SULD.D.BA.2D.IGN R40, [R20], 0x54", 32, 0)[0] == 0);
  CHECK(load("SULD.D.BA.2D.128.IGN R40, [R20], 0x54", 20, 0)[0] == 0);  // reaches beyond the row
  load("SULD.D.BA.2D.TRAP R40, [R20], 0x54", 32, 0, 1);
  CHECK(load("MOV R24, c[0x0][0x150] ;\nSULD.D.BA.2D.TRAP R40, [R20], R24", 12, 2)[0] == 23);

  s.run(numbers({8, 1, 777}) + "SUST.D.BA.2D.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(2, 1) == 777);
  s.run(numbers({3, 3, 888}) + "SUST.P.2D.R.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(3, 3) == 888);
  s.run(numbers({40, 0, 1}) + "SUST.D.BA.2D.IGN [R20], R22, 0x54 ;\n");
  s.run(numbers({40, 0, 999}) + "SUST.D.BA.2D [R20], R22, 0x54 ;\n");
  CHECK(s.texel(7, 0) == 999);
  CHECK(s.texel(0, 1) == 10);

  Plain volume(4, 3, 2, 0);
  CHECK(volume.run(numbers({4, 2, 1}) + "SULD.D.BA.3D.TRAP R40, [R20], 0x54 ;\n")[0] == 121);
  Plain stack(4, 3, 0, 5);
  CHECK(stack.run(numbers({4, 2, 4}) + "SULD.D.BA.2D_ARRAY.TRAP R40, [R20], 0x54 ;\n")[0] == 421);
  Plain rows(4, 0, 0, 3);
  CHECK(rows.run(numbers({8, 2}) + "SULD.D.BA.1D_ARRAY.TRAP R40, [R20], 0x54 ;\n")[0] == 202);
}

TEST_CASE("surfaces: reductions and atomic operations") {
  Plain s(8, 4, 0, 0);
  s.run(numbers({12, 1, 5}) + "SURED.D.BA.2D.ADD.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(3, 1) == 18);
  s.run(numbers({3, 1, -7}) + "SURED.D.2D.MIN.S32.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(3, 1) == static_cast<uint32_t>(-7));
  s.run(numbers({3, 1, 9}) + "SURED.P.2D.MIN.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(3, 1) == 9);  // the format has no sign
  s.run(numbers({8, 2, 0, 1}) + "SURED.D.BA.2D.ADD.U64.TRAP [R20], R22, 0x54 ;\n");
  CHECK(s.texel(2, 2) == 22);
  CHECK(s.texel(3, 2) == 24);
  CHECK(s.run(numbers({4, 0, 6}) + "SUATOM.D.BA.2D.EXCH.TRAP R40, [R20], R22, 0x54 ;\n")[0] == 1);
  CHECK(s.texel(1, 0) == 6);
  CHECK(s.run(numbers({4, 0, 6, 60}) + "SUATOM.D.BA.2D.CAS.TRAP R40, [R20], R22, 0x54 ;\n")[0] ==
        6);
  CHECK(s.texel(1, 0) == 60);
  CHECK(s.run(numbers({4, 0, 6, 61}) + "SUATOM.D.BA.2D.CAS.TRAP R40, [R20], R22, 0x54 ;\n")[0] ==
        60);
  CHECK(s.texel(1, 0) == 60);
  CHECK(s.run(numbers({5, 3, 5}) + "SUATOM.P.2D.OR.TRAP R40, [R20], R22, 0x54 ;\n")[0] == 35);
  CHECK(s.texel(5, 3) == (35 | 5));
  CHECK(s.run(numbers({400, 3, 5}) + "SUATOM.D.BA.2D.ADD.IGN R40, [R20], R22, 0x54 ;\n")[0] == 0);
}

TEST_CASE("surfaces: sums of two halves, from sm_52 on; none is flushed from sm_60 on") {
  for (const unsigned arch : {52U, 53U, 60U, 61U}) {
    CAPTURE(arch);
    const std::string type = arch < 60 ? ".ADD.F16x2.FTZ.RN" : ".ADD.F16x2.RN";
    const uint32_t sum = arch < 60 ? 0x3c000000 : 0x3c000002;
    Plain s(8, 4, 0, 0);
    const std::string start = numbers({12, 1, 0x00010001}) +
                              "SUST.D.BA.2D.TRAP [R20], R22, 0x54 ;\n" +
                              numbers({12, 1, 0x3c000001});
    s.run(start + "SURED.D.BA.2D" + type + ".TRAP [R20], R22, 0x54 ;\n", 0, arch);
    CHECK(s.texel(3, 1) == sum);
    CHECK(s.run(start + "SUATOM.D.BA.2D" + type + ".TRAP R40, [R20], R22, 0x54 ;\n", 0, arch)[0] ==
          0x00010001);
    CHECK(s.texel(3, 1) == sum);
  }
  // sm_50 has another name for the code, and no meaning.
  const std::string none = "SURED.D.2D.ADD.INVALIDATOMICSIZE4 [R20], R22, 0x54\nEXIT\n";
  const sass::Listing listing = sass::parse(none, 50);
  REQUIRE(listing.diagnostics.empty());
  CHECK(!sass::lower(listing).diagnostics.empty());
  CHECK(!sass::parse("SURED.D.2D.ADD.F16x2.RN [R20], R22, 0x54\nEXIT\n", 50).diagnostics.empty());
}

TEST_CASE("textures and surfaces: every texel is resident, so the predicate of others is false") {
  Plain s(8, 4, 0, 0);
  const std::string place = numbers({4, 1, 0, 0, 0, 0, 0, 0});
  for (const char* text :
       {"SULD.D.BA.2D.TRAP %R40, [R20], 0x54", "SULD.P.2D.R.TRAP %R40, [R20], 0x54",
        "SULD.D.2D.TRAP %R40, [R20], R30", "SUATOM.D.BA.2D.CAS.TRAP %R40, [R20], R22, 0x54",
        "SUATOM.D.2D.ADD.TRAP %R40, [R20], R22, R30", "TEX.LZ %R40, R20, 0x54, 2D, 0x1",
        "TEX.B %R40, R20, R30, 0x0, 2D, 0x1", "TLD4.R %R40, R20, 0x54, 2D, 0x1",
        "TLD.LZ %R40, R20, 0x54, 2D, 0x1", "TXD %R40, R20, R24, 0x54, 2D, 0x1"}) {
    CAPTURE(text);
    const auto with = [&](const std::string& predicate) {
      std::string t = text;
      return place + "MOV R30, c[0x0][0x150] ;\nISETP.EQ.AND P6, PT, RZ, RZ, PT ;\n" +
             t.replace(t.find('%'), 1, predicate) + " ;\n@P6 MOV32I R43, 0x1 ;\n";
    };
    std::vector<uint32_t> plain = s.run(with(""), 0, 61);
    CHECK(plain[3] == 1);
    plain[3] = 0x5eed;
    CHECK(s.run(with("P6, "), 0, 61) == plain);
    // sm_50 has no such form.
    CHECK(!sass::parse(with("P6, ") + "EXIT\n", 50).diagnostics.empty());
  }
  // What limits the level of detail stands in no document.
  const sass::Listing limited = sass::parse("TEX.LC R40, R20, 0x54, 2D, 0x1\nEXIT\n", 61);
  REQUIRE(limited.diagnostics.empty());
  const auto refused = sass::lower(limited).diagnostics;
  REQUIRE(!refused.empty());
  CHECK(refused[0].message.find("TEX.LC is not executed") != std::string::npos);
}
