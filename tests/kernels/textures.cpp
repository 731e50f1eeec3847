// Texture instructions of PTX against the literal model: each group of a launch reads another
// texture, so that one kernel of a form serves all formats, filters and address modes.
#include "tests/oracle/texture.hpp"

#include <fmt/format.h>

#include <set>

#include "tests/kernels/support.hpp"

namespace texture_tests {

using namespace kernels;
namespace model = lanewise::oracle::texture;
using model::Texel;

namespace {

constexpr uint32_t kLanes = 32;

/// What a lane gives the instruction: coordinates, layer, level, all as bits.
struct Lane {
  std::array<uint32_t, 3> at{};
  uint32_t layer = 0, level = 0, pad[3] = {0, 0, 0};
  std::array<float, 3> place() const {
    return {model::as_float(at[0]), model::as_float(at[1]), model::as_float(at[2])};
  }
};
static_assert(sizeof(Lane) == 32);

/// `fetch` reads %f1 to %f3 (or %r1 to %r3), %r4 = layer, %f5 or %r5 = level, and writes %r10 to
/// %r13.
std::string kernel_text(const std::string& fetch, bool direct) {
  return ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 table, "
         ".param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<20>; .reg .f32 %f<10>; .reg .b64 "
         "%rd<20>; .reg .b16 %h<8>; .reg .pred %p<2>;\nld.param.u64 %rd1, [table]; ld.param.u64 "
         "%rd2, [in]; ld.param.u64 %rd3, [out];\nmov.u32 %r14, %ctaid.x; mov.u32 %r15, %tid.x;\n"
         "mul.wide.u32 %rd4, %r14, 8; add.s64 %rd1, %rd1, %rd4; " +
         std::string(direct ? "ld.param.u64 %rd5, [table]" : "ld.global.u64 %rd5, [%rd1]") +
         ";\n"
         "mov.u32 %r16, %ntid.x; mad.lo.u32 %r17, %r14, %r16, %r15;\nmul.wide.u32 %rd6, %r17, 32; "
         "add.s64 %rd2, %rd2, %rd6; mul.wide.u32 %rd7, %r17, 16; add.s64 %rd3, %rd3, %rd7;\n"
         "ld.global.b32 %r1, [%rd2]; ld.global.b32 %r2, [%rd2+4]; ld.global.b32 %r3, [%rd2+8]; "
         "ld.global.b32 %r4, [%rd2+12]; ld.global.b32 %r5, [%rd2+16];\nmov.b32 %f1, %r1; mov.b32 "
         "%f2, %r2; mov.b32 %f3, %r3; mov.b32 %f5, %r5;\n" +
         fetch + "\nst.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};\nret;\n}\n";
}

/// A texture of the model, and the same on the device.
struct Made {
  model::Texture texture;
  lanewise::Buffer buffer;
  lanewise::Texture handle;
};

uint32_t random_component(std::mt19937& rng, const model::Format& f) {
  if (f.kind != model::Kind::float_)
    return static_cast<uint32_t>(rng() & (f.bits == 32 ? ~0U : (1U << f.bits) - 1));
  const unsigned special = rng() % 64;
  if (f.bits == 16)
    return special == 0   ? 0x7c00U
           : special == 1 ? 0x7e01U
           : special == 2 ? 0x8001U
                          : rng() % 2 * 0x8000U + 0x3000U + rng() % 0x1800U;
  if (special == 0) return 0x7f800000U;
  if (special == 1) return 0x7fc12345U;
  if (special == 2) return 0x00000123U;
  return model::as_bits((static_cast<float>(rng() % 65536) - 32768.0F) / 4096.0F);
}

struct Shape {
  int width = 1, height = 0, depth = 0, layers = 0, levels = 1;
  bool cube = false;
};

Made make(std::mt19937& rng, model::Texture t, const Shape& s) {
  lanewise::TextureOptions o;
  o.texel_kind = static_cast<uint32_t>(t.format.kind);
  o.channels = t.format.channels;
  o.channel_bits = t.format.bits;
  o.width = static_cast<uint32_t>(s.width);
  o.height = static_cast<uint32_t>(s.height);
  o.depth = static_cast<uint32_t>(s.depth);
  o.layers = static_cast<uint32_t>(s.layers);
  o.cube = s.cube ? 1 : 0;
  o.levels = static_cast<uint32_t>(s.levels);
  o.fractions = t.format.fractions ? 1 : 0;
  o.srgb = t.format.srgb ? 1 : 0;
  o.unnormalised = t.normalised ? 0 : 1;
  o.filter = t.linear ? LW_FILTER_LINEAR : LW_FILTER_NEAREST;
  o.mip_filter = t.mip;
  for (int n = 0; n < 3; ++n)
    o.address_mode[n] = static_cast<uint32_t>(t.mode[static_cast<size_t>(n)]);
  std::copy(t.border.begin(), t.border.end(), o.border);
  o.bias = t.bias;
  o.least_level = t.least;
  o.most_level = t.most;
  const auto end = lanewise::Texture::layout(o, o.levels - 1).end;
  std::vector<std::byte> bytes(end);
  for (uint32_t n = 0; n < o.levels; ++n) {
    const lw_texture_level at = lanewise::Texture::layout(o, n);
    model::Level level{
        static_cast<int>(at.width), static_cast<int>(at.height), static_cast<int>(at.slices), {}};
    for (uint32_t z = 0; z < at.slices; ++z)
      for (uint32_t y = 0; y < at.height; ++y)
        for (uint32_t x = 0; x < at.width; ++x) {
          Texel raw{};
          std::byte* to = bytes.data() + at.offset + z * at.slice_pitch + y * at.row_pitch +
                          uint64_t{x} * t.format.bytes();
          for (unsigned c = 0; c < t.format.channels; ++c) {
            raw[c] = random_component(rng, t.format);
            std::memcpy(to + c * t.format.bits / 8, &raw[c], t.format.bits / 8);
          }
          level.texels.push_back(raw);
        }
    t.levels.push_back(std::move(level));
  }
  Made made{std::move(t), device().allocate(bytes.size(), "texels"), {}};
  made.buffer.write(bytes);
  made.handle = device().texture(o, made.buffer);
  return made;
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float random_coordinate(std::mt19937& rng, int size, bool normalised) {
  constexpr float kEdges[] = {0,       -0.0F,       1,           0.5F,   -1,     2,
                              kNan,    kInf,        -kInf,       1e30F,  -1e30F, 1e-40F,
                              -1e-10F, 0.99999994F, 16777216.0F, -3.0e9F};
  if (rng() % 4 == 0) return kEdges[rng() % std::size(kEdges)];
  const auto n = static_cast<float>(size);
  const float any = static_cast<float>(rng() % (1U << 20)) / (1U << 20);
  // Texels' edges and middles, and anything around the image.
  float x = rng() % 3 == 0
                ? static_cast<float>(
                      static_cast<int>(rng() % (2 * static_cast<unsigned>(size) + 8)) - 4) *
                      0.5F
                : any * (n + 8) - 4;
  if (rng() % 5 == 0) x += static_cast<float>(rng() % 512) / 512.0F;
  return normalised ? x / n : x;
}

struct Form {
  const char* fetch;
  unsigned axes = 2;
  bool layered = false, cube = false, level = false, integers = false;
  int component = -1;  ///< of a gather
};

Texel expected(const Form& f, const model::Texture& t, const Lane& lane) {
  const float lod = model::as_float(lane.level);
  const int64_t layer = lane.layer;  // without a sign
  if (f.integers)
    return model::fetch(t,
                        {static_cast<int32_t>(lane.at[0]), static_cast<int32_t>(lane.at[1]),
                         static_cast<int32_t>(lane.at[2])},
                        layer);
  if (f.cube) {
    const auto p = lane.place();
    const model::Face face = model::face_of(p[0], p[1], p[2]);
    const int cubes = t.levels[0].slices / 6;
    const int64_t cube = f.layered ? std::clamp<int64_t>(layer, 0, cubes - 1) : 0;
    return model::sample(t, face.at, 6 * cube + face.face, f.level ? &lod : nullptr);
  }
  if (f.component >= 0)
    return model::gather(t, lane.place(), layer, static_cast<unsigned>(f.component));
  return model::sample(t, lane.place(), layer, f.level ? &lod : nullptr);
}

Lane random_lane(std::mt19937& rng, const Form& f, const model::Texture& t) {
  const model::Level& l = t.levels[0];
  const std::array sizes = {l.width, l.height, l.slices};
  Lane lane;
  for (unsigned n = 0; n < 3; ++n) {
    if (f.integers)
      lane.at[n] = rng() % 8 == 0
                       ? static_cast<uint32_t>(rng())
                       : static_cast<uint32_t>(
                             static_cast<int>(rng() % (static_cast<unsigned>(sizes[n]) + 2)) - 1);
    else if (f.cube)
      lane.at[n] = model::as_bits((static_cast<float>(rng() % 33) - 16.0F) /
                                  static_cast<float>(1 + rng() % 7));
    else
      lane.at[n] = model::as_bits(random_coordinate(rng, sizes[n], t.normalised));
  }
  if (f.cube && lane.at[0] << 1 == 0 && lane.at[1] << 1 == 0 && lane.at[2] << 1 == 0)
    lane.at[0] = 0x3f800000;
  lane.layer = rng() % 4 == 0 ? static_cast<uint32_t>(rng()) : static_cast<uint32_t>(rng() % 8) - 1;
  constexpr float kLevels[] = {0, -1, 0.5F, 1, 1.5F, 2, 100, kNan, kInf, 0.4990234F};
  lane.level = model::as_bits(rng() % 2 == 0 ? kLevels[rng() % std::size(kLevels)]
                                             : static_cast<float>(rng() % 1000) / 300.0F);
  return lane;
}

bool same_texel(const Texel& a, const Texel& b) {
  for (unsigned n = 0; n < 4; ++n) {
    const bool nans = (a[n] & 0x7fffffff) > 0x7f800000 && (b[n] & 0x7fffffff) > 0x7f800000;
    if (a[n] != b[n] && !nans) return false;
  }
  return true;
}

/// lavapipe takes half a minute for a kernel that reads textures of any format: its kernels get
/// each of some textures as a parameter, and with that a version for its format and filter.
bool compiles_slowly() {
  return device().info().name.find("llvmpipe") != std::string::npos;
}

void check_form(const Form& f, const std::vector<Made>& textures, uint32_t seed,
                bool direct = compiles_slowly()) {
  CAPTURE(f.fetch);
  std::mt19937 rng(seed);
  std::vector<uint64_t> handles;
  std::vector<Lane> lanes;
  for (const Made& m : textures) {
    handles.push_back(m.handle.handle());
    for (uint32_t n = 0; n < kLanes; ++n) lanes.push_back(random_lane(rng, f, m.texture));
  }
  const auto kernel = device().load_text(kernel_text(f.fetch, direct), lanewise::Isa::ptx).kernel();
  auto table = device().buffer(handles), in = device().buffer(lanes);
  auto out = device().allocate(16 * lanes.size(), "out");
  const auto groups = static_cast<uint32_t>(textures.size());
  if (direct) {
    for (uint32_t n = 0; n < groups; ++n)
      kernel
          .launch({.grid = {1}, .block = {kLanes}}, handles[n], lanewise::Arg(in, 32 * kLanes * n),
                  lanewise::Arg(out, 16 * kLanes * n))
          .check();
  } else {
    kernel.launch({.grid = {groups}, .block = {kLanes}}, table, in, out).check();
  }
  const auto got = out.read<Texel>();
  size_t wrong = 0;
  std::string first;
  for (size_t n = 0; n < lanes.size(); ++n) {
    const model::Texture& t = textures[n / kLanes].texture;
    const Texel want = expected(f, t, lanes[n]);
    if (same_texel(got[n], want)) continue;
    if (wrong++ == 0)
      first = fmt::format(
          "texture {}: {} axes of {}x{}x{}, format {}/{}x{}{}, linear {}, normalised {}, modes {} "
          "{} {}, at {:08x} ({}) {:08x} ({}) {:08x} layer {} level {}: got {:08x} {:08x} {:08x} "
          "{:08x}, the model has {:08x} {:08x} {:08x} {:08x}",
          n / kLanes, t.axes, t.levels[0].width, t.levels[0].height, t.levels[0].slices,
          static_cast<int>(t.format.kind), t.format.channels, t.format.bits,
          t.format.srgb        ? " srgb"
          : t.format.fractions ? " fractions"
                               : "",
          t.linear, t.normalised, static_cast<int>(t.mode[0]), static_cast<int>(t.mode[1]),
          static_cast<int>(t.mode[2]), lanes[n].at[0], model::as_float(lanes[n].at[0]),
          lanes[n].at[1], model::as_float(lanes[n].at[1]), lanes[n].at[2],
          static_cast<int>(lanes[n].layer), model::as_float(lanes[n].level), got[n][0], got[n][1],
          got[n][2], got[n][3], want[0], want[1], want[2], want[3]);
  }
  CAPTURE(first);
  CHECK(wrong == 0);
}

std::vector<model::Format> formats() {
  std::vector<model::Format> all;
  for (const model::Kind kind : {model::Kind::unsigned_, model::Kind::signed_, model::Kind::float_})
    for (const unsigned bits : {8U, 16U, 32U})
      for (const unsigned channels : {1U, 2U, 4U}) {
        if (kind == model::Kind::float_ && bits == 8) continue;
        all.push_back({kind, channels, bits, false, false});
        if (kind != model::Kind::float_ && bits != 32)
          all.push_back({kind, channels, bits, true, false});
      }
  all.push_back({model::Kind::unsigned_, 4, 8, true, true});
  return all;
}

/// What is independent of a texture's size, at random.
model::Texture random_texture(std::mt19937& rng, const Form& f) {
  static const auto all = formats();
  model::Texture t;
  t.format = all[rng() % all.size()];
  t.axes = f.axes;
  t.layered = f.layered || f.cube;
  t.linear = rng() % 2 == 0 && !t.format.integers();
  t.normalised = rng() % 2 == 0 || f.cube || f.level;
  for (auto& mode : t.mode) mode = static_cast<model::Mode>(rng() % 4);
  t.border = {1, 0.5F, 3, -2};
  if (f.level) {
    t.mip = static_cast<unsigned>(rng() % 3);
    t.bias = rng() % 3 == 0 ? 0.25F : 0;
    t.least = rng() % 3 == 0 ? 0.75F : 0;
    t.most = rng() % 3 == 0 ? 1.25F : 16;
  }
  return t;
}

/// Two axes with a value each.
using Pair = std::array<int, 4>;
std::vector<Pair> pairs_of(const model::Texture& t) {
  const model::Format& o = t.format;
  const int format = static_cast<int>(o.kind) * 1000 + static_cast<int>(o.bits * 10 + o.channels) +
                     (o.fractions ? 400 : 0) + (o.srgb ? 400 : 0);
  std::vector<int> values = {
      format,      t.linear ? 1 : 0, t.normalised ? 1 : 0, static_cast<int>(t.mip),
      t.bias != 0, t.least != 0,     t.most < 16};
  for (unsigned n = 0; n < t.axes; ++n) values.push_back(static_cast<int>(t.mode[n]));
  std::vector<Pair> out;
  for (int a = 0; a < static_cast<int>(values.size()); ++a)
    for (int b = a + 1; b < static_cast<int>(values.size()); ++b)
      out.push_back({a, values[static_cast<size_t>(a)], b, values[static_cast<size_t>(b)]});
  return out;
}

/// Textures among which each pair of values that two axes can have comes up: of some that are drawn
/// the one with the most new pairs is taken, until none is missing.
std::vector<model::Texture> pairwise(std::mt19937& rng, const Form& f) {
  constexpr size_t kDrawn = 4000, kChoice = 16;
  std::vector<model::Texture> drawn, out;
  std::set<Pair> missing;
  for (size_t n = 0; n < kDrawn; ++n) {
    drawn.push_back(random_texture(rng, f));
    for (const Pair& p : pairs_of(drawn.back())) missing.insert(p);
  }
  const auto new_pairs = [&](const model::Texture& t) {
    return std::ranges::count_if(pairs_of(t), [&](const Pair& p) { return missing.contains(p); });
  };
  while (!missing.empty()) {
    // Without a new pair among some, the first one drawn that has any.
    const model::Texture* best = &drawn[rng() % kDrawn];
    for (size_t n = 1; n < kChoice; ++n)
      if (const model::Texture& other = drawn[rng() % kDrawn]; new_pairs(other) > new_pairs(*best))
        best = &other;
    if (new_pairs(*best) == 0)
      best = &*std::ranges::find_if(drawn, [&](const auto& t) { return new_pairs(t) != 0; });
    for (const Pair& p : pairs_of(*best)) missing.erase(p);
    out.push_back(*best);
  }
  return out;
}

/// LANEWISE_TEXTURES=N: so many rounds of pairs and places, beside the one of each test run.
unsigned rounds() {
  const char* n = std::getenv("LANEWISE_TEXTURES");
  return n == nullptr ? 1 : static_cast<unsigned>(std::strtoul(n, nullptr, 10));
}

std::vector<Made> some(uint32_t seed, const Form& f) {
  std::mt19937 rng(seed);
  std::vector<Made> out;
  for (const model::Texture& t : pairwise(rng, f)) {
    Shape s;
    s.width = 1 + static_cast<int>(rng() % 9);
    if (f.axes > 1) s.height = f.cube ? s.width : 1 + static_cast<int>(rng() % 9);
    if (f.axes > 2) s.depth = 1 + static_cast<int>(rng() % 5);
    if (f.layered) s.layers = 1 + static_cast<int>(rng() % 4);
    if (f.cube) s.layers = f.layered ? 6 * s.layers : 6, s.cube = true;
    if (f.level) {
      const int most = std::max({s.width, s.height, s.depth});
      s.levels = 1 + static_cast<int>(rng() % 4);
      while (most >> (s.levels - 1) == 0) --s.levels;
    }
    out.push_back(make(rng, t, s));
    if (compiles_slowly() && out.size() == 3) break;
  }
  return out;
}

#define LW_TEXEL "{%r10, %r11, %r12, %r13}, [%rd5, "
constexpr Form kForms[] = {
    {"tex.1d.v4.u32.f32 " LW_TEXEL "{%f1}];", 1},
    {"tex.3d.v4.u32.f32 " LW_TEXEL "{%f1, %f2, %f3, %f3}];", 3},
    {"tex.a1d.v4.u32.f32 " LW_TEXEL "{%r4, %f1}];", 1, true},
    {"tex.a2d.v4.u32.f32 " LW_TEXEL "{%r4, %f1, %f2, %f2}];", 2, true},
    {"tex.cube.v4.u32.f32 " LW_TEXEL "{%f1, %f2, %f3, %f3}];", 2, false, true},
    {"tex.acube.v4.u32.f32 " LW_TEXEL "{%r4, %f1, %f2, %f3}];", 2, true, true},
    {"tex.level.1d.v4.u32.f32 " LW_TEXEL "{%f1}], %f5;", 1, false, false, true},
    {"tex.level.2d.v4.u32.f32 " LW_TEXEL "{%f1, %f2}], %f5;", 2, false, false, true},
    {"tex.level.3d.v4.u32.f32 " LW_TEXEL "{%f1, %f2, %f3, %f3}], %f5;", 3, false, false, true},
    {"tex.level.a2d.v4.u32.f32 " LW_TEXEL "{%r4, %f1, %f2, %f2}], %f5;", 2, true, false, true},
    {"tex.level.cube.v4.u32.f32 " LW_TEXEL "{%f1, %f2, %f3, %f3}], %f5;", 2, false, true, true},
    {"tex.1d.v4.u32.s32 " LW_TEXEL "{%r1}];", 1, false, false, false, true},
    {"tex.2d.v4.u32.s32 " LW_TEXEL "{%r1, %r2}];", 2, false, false, false, true},
    {"tex.3d.v4.u32.s32 " LW_TEXEL "{%r1, %r2, %r3, %r3}];", 3, false, false, false, true},
    {"tex.a2d.v4.u32.s32 " LW_TEXEL "{%r4, %r1, %r2, %r2}];", 2, true, false, false, true},
    {"tld4.r.2d.v4.u32.f32 " LW_TEXEL "{%f1, %f2}];", 2, false, false, false, false, 0},
    {"tld4.b.a2d.v4.u32.f32 " LW_TEXEL "{%r4, %f1, %f2, %f2}];", 2, true, false, false, false, 2},
};

bool on_reference() {
  return device().info().name == "reference";
}
/// Lane mode and serial mode make the same accesses of the same operations.
bool repeats() {
  const char* wave = std::getenv("LANEWISE_WAVE");
  return wave != nullptr && !on_reference();
}

}  // namespace

TEST_CASE("textures: formats x filters x address modes x coordinates of two dimensions") {
  if (repeats()) return;
  std::mt19937 rng(45);
  std::vector<Made> all;
  for (const model::Format& format : formats())
    for (int filter = 0; filter < 2; ++filter)
      for (int normalised = 0; normalised < 2; ++normalised)
        for (unsigned modes = 0; modes < 16; ++modes) {
          model::Texture t;
          t.format = format;
          t.linear = filter != 0 && !format.integers();
          if (filter != 0 && !t.linear) continue;
          t.normalised = normalised != 0;
          t.mode = {static_cast<model::Mode>(modes & 3), static_cast<model::Mode>(modes >> 2),
                    model::Mode::clamp};
          t.border = {1, 0.5F, 3, -2};
          all.push_back(
              make(rng, t, {1 + static_cast<int>(rng() % 9), 1 + static_cast<int>(rng() % 7)}));
        }
  if (compiles_slowly()) {
    std::ranges::shuffle(all, rng);
    all.resize(12);
  }
  for (unsigned round = 0; round < rounds(); ++round)
    check_form({"tex.2d.v4.u32.f32 " LW_TEXEL "{%f1, %f2}];", 2}, all, 1 + round);
}

/// A kernel has so many versions for what is known of a texture.
TEST_CASE("textures: what is known of a texture changes no value") {
  if (!on_reference()) return;
  std::mt19937 rng(46);
  std::vector<Made> all;
  for (const model::Format& format : formats())
    for (int filter = 0; filter < 2; ++filter)
      for (int normalised = 0; normalised < 2; ++normalised) {
        model::Texture t;
        t.format = format;
        t.linear = filter != 0;
        if (filter != 0 && format.integers()) continue;
        t.normalised = normalised != 0;
        t.mode = {model::Mode::clamp, rng() % 4 == 0 ? model::Mode::wrap : model::Mode::clamp,
                  model::Mode::clamp};
        all.push_back(
            make(rng, t, {1 + static_cast<int>(rng() % 9), 1 + static_cast<int>(rng() % 7)}));
      }
  constexpr size_t kVersions = 30;
  const Form form{"tex.2d.v4.u32.f32 " LW_TEXEL "{%f1, %f2}];", 2};
  for (size_t first = 0; first < all.size(); first += kVersions) {
    const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), first + kVersions));
    check_form(form, {all.begin() + static_cast<ptrdiff_t>(first), end}, 2, true);
  }
}

TEST_CASE("textures: other geometries, levels, integer coordinates, gathers") {
  if (repeats()) return;
  uint32_t seed = 100;
  for (unsigned round = 0; round < rounds(); ++round)
    for (const Form& f : kForms) {
      ++seed;
      const bool shared = f.axes == 3 && (f.level || f.integers);
      if (on_reference() || shared || (f.cube && !f.level && !f.layered))
        check_form(f, some(seed, f), seed);
    }
}

}  // namespace texture_tests
