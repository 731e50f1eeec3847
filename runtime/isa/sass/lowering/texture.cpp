// Textures: registers to the operations of ir/texture.hpp. What stands in which register is what
// ptxas passes: coordinates in the first source, a layer in front of them, and in the second the
// handle, the level of detail, offsets and the value to compare with, in this order.
#include <algorithm>

#include "runtime/isa/sass/lowering/texture_sources.hpp"

namespace lanewise::sass {

using guest::TextureWord;
using ir::TextureAccess;

namespace {

using Dim = TextureAccess::Dim;
using Lod = TextureAccess::Lod;

constexpr Field kDestination{0, 8}, kFirstSource{8, 8}, kSecondSource{20, 8}, kNumber{36, 13},
    kComponents{31, 4}, kDimension{28, 3};

unsigned texture_field(const Instruction& i, Field f) {
  return static_cast<unsigned>(f.get(i.word));
}
bool texture_bit(const Instruction& i, uint8_t at) {
  return Field{at, 1}.get(i.word) != 0;
}
/// The handle stands in a register: the operand that prints as a number has no bits.
bool bindless(const Instruction& i) {
  return std::ranges::any_of(i.form->operands, [](const OperandSpec& o) {
    return o.kind == OperandSpec::Kind::imm && o.field.pos == kNumber.pos && o.field.len == 0;
  });
}

struct TextureShape {
  Dim dim;
  bool array;
  unsigned coordinates;
};
TextureShape shape_of(const Instruction& i) {
  static constexpr TextureShape kShapes[] = {
      {Dim::d1, false, 1}, {Dim::d1, true, 1}, {Dim::d2, false, 2},   {Dim::d2, true, 2},
      {Dim::d3, false, 3}, {Dim::d3, true, 3}, {Dim::cube, false, 3}, {Dim::cube, true, 3}};
  const TextureShape s = kShapes[texture_field(i, kDimension)];
  refuse(s.dim == Dim::d3 && s.array, "arrays of 3D textures do not exist");
  return s;
}

/// What an instruction asks of a texture.
struct Request {
  TextureAccess access;
  Handle handle;
  Operand at[3] = {imm(0), imm(0), imm(0)};
  Operand layer = imm(0);
  Operand level, bias, compare;
  Words gradient, offsets;

  void use(const TextureShape& s) {
    access.dim = s.dim;
    access.array = s.array;
  }
};

/// Signed fields of `bits` bits, `step` apart.
Words offsets_of(LowerContext& c, Operand packed, const TextureShape& s, unsigned bits,
                 unsigned step) {
  Words out;
  for (unsigned n = 0; n < 3; ++n) {
    if (n >= s.coordinates) {
      out.push_back(imm(0));
      continue;
    }
    const Reg high = c.make(Op::shl, Type::u32, {packed, imm(32 - bits - step * n)});
    out.push_back(c.make(Op::shr, Type::s32, {high, imm(32 - bits)}));
  }
  return out;
}

void take_coordinates(Request& r, Sources& a, const TextureShape& s) {
  r.use(s);
  if (s.array) r.layer = a.take_layer();
  for (unsigned n = 0; n < s.coordinates; ++n) r.at[n] = a.take();
}

std::vector<Reg> fetch(LowerContext& c, Request& r, Op op = Op::sample) {
  const bool levels = r.access.lod != Lod::zero || r.access.bias;
  Words src = image_words(c, r.handle.image, levels);
  // Compilers sample textures of one dimension as ones of two whose second coordinate is 0: the
  // middle of their only row.
  if (r.access.dim == Dim::d2 && !r.access.integers && !r.access.array) {
    constexpr uint32_t kHalf = 0x3f000000;
    const Reg dimensions = c.make(Op::and_, Type::u32, {src[ir::image::kind], imm(3)});
    const Reg one = c.reg(Width::pred);
    c.emit(Op::icmp, Type::u32, {one}, {dimensions, imm(1)});
    r.at[1] = c.make(Op::select, Type::u32, {one, imm(kHalf), r.at[1]});
  }
  const Words sampler = sampler_words(c, r.handle.sampler);
  const auto append = [&](const Words& more) { src.insert(src.end(), more.begin(), more.end()); };
  append(sampler);
  append({r.at[0], r.at[1], r.at[2], r.layer});
  if (r.access.lod == Lod::level) append({r.level});
  append(r.gradient);
  if (r.access.bias) append({r.bias});
  append(r.offsets);
  if (r.access.compare) append({r.compare});
  std::vector<Reg> texel;
  for (unsigned n = 0; n < 4; ++n) texel.push_back(c.reg(Width::b32));
  ir::Inst& inst = c.emit(op, Type::none, texel, std::move(src));
  inst.texture = r.access;
  inst.mem.emplace();
  inst.mem->cache.op = CacheOp::nc;
  return texel;
}

/// Every texel is resident here, so the predicate of those that are not is false.
void put_residency(LowerContext& c, const Instruction& i) {
  if (i.operand(Role::p) != nullptr) c.write_predicate(i, Role::p, imm(0));
}

/// The components that the mask names, in registers that follow each other.
void put_masked(LowerContext& c, const Instruction& i, const std::vector<Reg>& values) {
  const unsigned mask = texture_field(i, kComponents);
  std::vector<Reg> wanted;
  for (unsigned n = 0; n < 4; ++n)
    if ((mask >> n & 1) != 0) wanted.push_back(values[n]);
  put_registers(c, texture_field(i, kDestination), wanted);
  put_residency(c, i);
}

Handle handle_of(LowerContext& c, const Instruction& i, Sources& b) {
  return bindless(i) ? register_handle(c, b.take()) : numbered_handle(c, texture_field(i, kNumber));
}

void refuse_differences(const Instruction& i) {
  refuse(texture_bit(i, 35),
         "levels of detail from the differences between lanes (NDV) are not supported");
}

/// The level of detail of TEX and its short form; without one, outside of pixel shaders, level 0.
enum class Level : uint8_t { none, zero, bias, value };

void take_level(Request& r, Sources& b, Level level) {
  if (level == Level::value) {
    r.access.lod = Lod::level;
    r.level = b.take();
  } else if (level == Level::bias) {
    r.access.bias = true;
    r.bias = b.take();
  }
}

}  // namespace

void lower_tex(LowerContext& c, const Instruction& i) {
  const bool b = bindless(i);
  const uint8_t at = b ? 36 : 54;
  const unsigned level = texture_field(i, Field{static_cast<uint8_t>(at + 1), 3});
  refuse(level > 3, "TEX with .LBA, .LLA and the like is not documented");
  refuse_differences(i);
  Request r;
  const TextureShape s = shape_of(i);
  Sources first(c, texture_field(i, kFirstSource)), second(c, texture_field(i, kSecondSource));
  r.handle = handle_of(c, i, second);
  take_coordinates(r, first, s);
  take_level(r, second, static_cast<Level>(level));
  if (texture_bit(i, at)) {
    r.access.offset = true;
    r.offsets = offsets_of(c, second.take(), s, 4, 4);
  }
  if (texture_bit(i, 50)) {
    r.access.compare = true;
    r.compare = second.take();
  }
  put_masked(c, i, fetch(c, r));
}

void lower_tld(LowerContext& c, const Instruction& i) {
  refuse(texture_bit(i, 50), "textures of several samples are not supported");
  Request r;
  const TextureShape s = shape_of(i);
  refuse(s.dim == Dim::cube, "TLD of a cube is not documented");
  Sources first(c, texture_field(i, kFirstSource)), second(c, texture_field(i, kSecondSource));
  r.handle = handle_of(c, i, second);
  take_coordinates(r, first, s);
  r.access.integers = true;
  take_level(r, second, texture_bit(i, 55) ? Level::value : Level::zero);
  if (texture_bit(i, 35)) {
    r.access.offset = true;
    r.offsets = offsets_of(c, second.take(), s, 4, 4);
  }
  put_masked(c, i, fetch(c, r));
}

void lower_tld4(LowerContext& c, const Instruction& i) {
  const bool b = bindless(i);
  const unsigned offset = texture_field(i, Field{static_cast<uint8_t>(b ? 36 : 54), 2});
  refuse(offset > 1, "TLD4 with an offset for each texel (PTP) is not supported");
  refuse_differences(i);
  Request r;
  const TextureShape s = shape_of(i);
  Sources first(c, texture_field(i, kFirstSource)), second(c, texture_field(i, kSecondSource));
  r.handle = handle_of(c, i, second);
  take_coordinates(r, first, s);
  r.access.component =
      static_cast<uint8_t>(texture_field(i, Field{static_cast<uint8_t>(b ? 38 : 56), 2}));
  if (offset != 0) {
    r.access.offset = true;
    r.offsets = offsets_of(c, second.take(), s, 6, 8);
  }
  if (texture_bit(i, 50)) {
    r.access.compare = true;
    r.compare = second.take();
  }
  put_masked(c, i, fetch(c, r, Op::gather));
}

/// Gradients alternate between the two screen axes. Behind the coordinates stand the layer and, in
/// the upper half of the same register, offsets.
void lower_txd(LowerContext& c, const Instruction& i) {
  Request r;
  const TextureShape s = shape_of(i);
  refuse(s.coordinates > 2, "TXD exists for one and two dimensions");
  Sources first(c, texture_field(i, kFirstSource)), second(c, texture_field(i, kSecondSource));
  r.handle = handle_of(c, i, first);
  r.use(s);
  for (unsigned n = 0; n < s.coordinates; ++n) r.at[n] = first.take();
  const bool offset = texture_bit(i, 35);
  if (s.array || offset) {
    const Operand word = first.take();
    if (s.array) r.layer = c.make(Op::and_, Type::u32, {word, imm(0xffff)});
    if (offset) {
      r.access.offset = true;
      r.offsets = offsets_of(c, c.make(Op::shr, Type::u32, {word, imm(16)}), s, 4, 4);
    }
  }
  r.access.lod = Lod::gradient;
  r.gradient.assign(6, imm(0));
  for (unsigned n = 0; n < s.coordinates; ++n)
    for (unsigned axis = 0; axis < 2; ++axis) r.gradient[3 * axis + n] = second.take();
  put_masked(c, i, fetch(c, r));
}

namespace {

// The short forms.
constexpr Field kShortShape{53, 4}, kShortChannels{50, 3}, kShortSecond{28, 8};
struct ShortForm {
  Dim dim = Dim::d2;
  bool array = false;
  Level level = Level::zero;
  bool offset = false, compare = false, samples = false, exists = false;
};
constexpr ShortForm short_form(Dim dim, bool array, Level level, bool compare = false) {
  return {dim, array, level, false, compare, false, true};
}
constexpr ShortForm kSampledForms[16] = {
    short_form(Dim::d1, false, Level::zero),       short_form(Dim::d2, false, Level::none),
    short_form(Dim::d2, false, Level::zero),       short_form(Dim::d2, false, Level::value),
    short_form(Dim::d2, false, Level::none, true), short_form(Dim::d2, false, Level::value, true),
    short_form(Dim::d2, false, Level::zero, true), short_form(Dim::d2, true, Level::none),
    short_form(Dim::d2, true, Level::zero),        short_form(Dim::d2, true, Level::zero, true),
    short_form(Dim::d3, false, Level::none),       short_form(Dim::d3, false, Level::zero),
    short_form(Dim::cube, false, Level::none),     short_form(Dim::cube, false, Level::value)};
constexpr ShortForm loaded(Dim dim, bool array, Level level, bool offset = false,
                           bool samples = false) {
  return {dim, array, level, offset, false, samples, true};
}
constexpr ShortForm kLoadedForms[16] = {loaded(Dim::d1, false, Level::zero),
                                        loaded(Dim::d1, false, Level::value),
                                        loaded(Dim::d2, false, Level::zero),
                                        {},
                                        loaded(Dim::d2, false, Level::zero, true),
                                        loaded(Dim::d2, false, Level::value),
                                        loaded(Dim::d2, false, Level::zero, false, true),
                                        loaded(Dim::d3, false, Level::zero),
                                        loaded(Dim::d2, true, Level::zero),
                                        {},
                                        {},
                                        {},
                                        loaded(Dim::d2, false, Level::value, true)};

/// All sources of a short form one after another: what its first source has no registers for
/// stands in the second.
class ShortSources {
 public:
  ShortSources(LowerContext& c, const Instruction& i, const OperandSpec& a)
      : first_(c, texture_field(i, kFirstSource)), second_(c, texture_field(i, kSecondSource)) {
    for (const Count& n : a.counts) left_ += n.get(i.word);
  }
  Operand take() { return left_ != 0 ? (--left_, first_.take()) : second_.take(); }

 private:
  Sources first_, second_;
  unsigned left_ = 0;
};

/// What the registers of a result hold: a component each, or two halves, rounded to nearest or
/// toward zero.
enum class Packing : uint8_t { words, halves, truncated_halves };

/// Of a half without a second one the upper bits are 0.
std::vector<Reg> packed(LowerContext& c, std::vector<Reg> texel, Packing packing) {
  if (packing == Packing::words) return texel;
  std::vector<Reg> out;
  for (size_t n = 0; n < texel.size(); ++n) {
    const Reg half = c.reg(Width::b32);
    ir::Inst& narrow = c.emit(Op::f2f, Type::f16, {half}, {texel[n]});
    narrow.from = Type::f32;
    if (packing == Packing::truncated_halves) narrow.round = Round::rz;
    if (n % 2 == 0) {
      out.push_back(half);
      continue;
    }
    const Reg high = c.make(Op::shl, Type::u32, {half, imm(16)});
    out.back() = c.make(Op::or_, Type::u32, {out.back(), high});
  }
  return out;
}

/// The first two components go to the place that is printed second, the rest to the other one.
void put_channels(LowerContext& c, const Instruction& i, const std::vector<Reg>& texel) {
  static constexpr uint8_t kPairs[8] = {1, 2, 4, 8, 3, 9, 10, 12},
                           kTriples[8] = {7, 11, 13, 14, 15};
  const unsigned second = texture_field(i, kShortSecond),
                 channels = texture_field(i, kShortChannels);
  const unsigned mask = second == kRZ ? kPairs[channels] : kTriples[channels];
  refuse(mask == 0, "such channels do not exist");
  std::vector<Reg> low, high;
  for (unsigned n = 0; n < 4; ++n)
    if ((mask >> n & 1) != 0) (low.size() < 2 ? low : high).push_back(texel[n]);
  static constexpr Packing kPackings[4] = {Packing::halves, Packing::truncated_halves,
                                           Packing::words};
  const Packing packing = kPackings[texture_field(i, {58, 2})];
  put_registers(c, texture_field(i, kDestination), packed(c, std::move(low), packing));
  put_registers(c, second, packed(c, std::move(high), packing));
}

void lower_short(LowerContext& c, const Instruction& i, const ShortForm& form, bool integers) {
  refuse(!form.exists, "such a shape does not exist");
  refuse(form.samples, "textures of several samples are not supported");
  Request r;
  r.handle = numbered_handle(c, texture_field(i, kNumber));
  r.access.dim = form.dim;
  r.access.array = form.array;
  r.access.integers = integers;
  const unsigned count = form.dim == Dim::d1 ? 1 : form.dim == Dim::d2 ? 2 : 3;
  ShortSources from(c, i, *i.operand(Role::a));
  if (form.array) r.layer = c.make(Op::and_, Type::u32, {from.take(), imm(0xffff)});
  for (unsigned n = 0; n < count; ++n) r.at[n] = from.take();
  if (form.level == Level::value) {
    r.access.lod = Lod::level;
    r.level = from.take();
  }
  if (form.offset) {
    r.access.offset = true;
    r.offsets = offsets_of(c, from.take(), {form.dim, form.array, count}, 4, 4);
  }
  if (form.compare) {
    r.access.compare = true;
    r.compare = from.take();
  }
  put_channels(c, i, fetch(c, r));
}

}  // namespace

void lower_texs(LowerContext& c, const Instruction& i) {
  lower_short(c, i, kSampledForms[texture_field(i, kShortShape)], false);
}
void lower_tlds(LowerContext& c, const Instruction& i) {
  lower_short(c, i, kLoadedForms[texture_field(i, kShortShape)], true);
}

void lower_tld4s(LowerContext& c, const Instruction& i) {
  Request r;
  const TextureShape s{Dim::d2, false, 2};
  r.use(s);
  r.handle = numbered_handle(c, texture_field(i, kNumber));
  r.access.component = static_cast<uint8_t>(texture_field(i, {52, 2}));
  ShortSources from(c, i, *i.operand(Role::a));
  for (unsigned n = 0; n < 2; ++n) r.at[n] = from.take();
  if (texture_bit(i, 51)) {
    r.access.offset = true;
    r.offsets = offsets_of(c, from.take(), s, 6, 8);
  }
  if (texture_bit(i, 50)) {
    r.access.compare = true;
    r.compare = from.take();
  }
  const std::vector<Reg> texels = fetch(c, r, Op::gather);
  static constexpr Packing kPackings[4] = {Packing::words, Packing::words, Packing::halves,
                                           Packing::truncated_halves};
  const Packing packing = kPackings[texture_field(i, {54, 2})];
  put_registers(c, texture_field(i, kDestination), packed(c, {texels[0], texels[1]}, packing));
  put_registers(c, texture_field(i, kShortSecond), packed(c, {texels[2], texels[3]}, packing));
}

/// Width, height and depth of a level, and the number of levels.
void lower_txq(LowerContext& c, const Instruction& i) {
  constexpr unsigned kSizes = 1;
  refuse(texture_field(i, {22, 6}) != kSizes,
         "what this query returns is not documented; TEX_HEADER_DIMENSION is");
  Sources from(c, texture_field(i, kFirstSource));
  const Operand handle = handle_of(c, i, from).image, level = from.take();
  const Words image = image_words(c, handle, true);
  const Operand levels = block_words(c, handle, TextureWord::level_count, 0, 1)[0];
  const auto at_level = [&](Operand size) {
    return c.make(Op::max, Type::u32, {c.make(Op::shr, Type::u32, {size, level}), imm(1)});
  };
  const Reg depth = at_level(image[ir::image::depth]);
  const Reg dimensions = c.make(Op::and_, Type::u32, {image[ir::image::kind], imm(3)});
  const Reg three = c.reg(Width::pred);
  c.emit(Op::icmp, Type::u32, {three}, {dimensions, imm(3)});
  const Reg layers = c.make(Op::select, Type::u32, {three, depth, image[ir::image::depth]});
  put_masked(c, i,
             {at_level(image[ir::image::width]), at_level(image[ir::image::height]), layers,
              c.make(Op::mov, Type::u32, {levels})});
}

}  // namespace lanewise::sass
