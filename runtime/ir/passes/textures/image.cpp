#include "runtime/ir/passes/textures/image.hpp"

#include <algorithm>

#include "runtime/ir/format_bytes.hpp"

namespace lanewise::ir::textures {
namespace {

constexpr uint32_t kNumberShift = 12, kNumberSnorm = 1, kNumberUint = 4, kNumberFloat = 7;
/// Bytes of the texels of each data format (descriptor word 3, bits 15 to 18).

/// Components of 32 bits.
bool has_words(uint64_t format) {
  const unsigned code = format >> 15 & 15;
  return code == 4 || code == 11 || code == 13 || code == 14;
}
/// How many bytes that are fractions of 255 a texel has; 0: it is no such texel.
unsigned fraction_bytes(uint64_t format) {
  const unsigned code = format >> 15 & 15, number = format >> kNumberShift & 7;
  if (number != 0) return 0;
  return code == 1 ? 1 : code == 3 ? 2 : code == 10 ? 4 : 0;
}

Operand format_bytes(Fold& f, Operand format) {
  if (format.is_imm()) return imm(kFormatBytes[format.imm >> 15 & 15]);
  const Reg r = f.builder().reg(Width::b32);
  f.builder().emit(Op::fmt_bytes, Type::none, {r}, {format});
  return r;
}

}  // namespace

Image::Image(Fold& f, const TextureAccess& access, std::span<const Operand> words) : f_(f) {
  std::copy_n(words.begin(), kImageWords, words_.begin());
  bytes_ = format_bytes(f_, words_[image::format]);
  using Dim = TextureAccess::Dim;
  if (access.dim == Dim::described) {
    const Operand dimensions = f_.and_(words_[image::kind], image::kDimensions);
    has_y_ = f_.below(imm(1), dimensions);
    has_z_ = f_.eq(dimensions, imm(3));
    has_layers_ = f_.bit(words_[image::kind], image::kArray);
  } else {
    has_y_ = imm(access.dim != Dim::d1);
    has_z_ = imm(access.dim == Dim::d3);
    has_layers_ = imm(access.array || access.dim == Dim::cube);
  }
}

Operand Image::first_level() {
  return f_.field(words_[image::levels], image::kFirstLevelShift, 4);
}
Operand Image::last_level() {
  return f_.field(words_[image::levels], image::kLastLevelShift, 4);
}

Operand Image::integer_format() {
  // uint and sint are 4 and 5.
  return f_.eq(f_.field(words_[image::format], kNumberShift + 1, 2), imm(kNumberUint >> 1));
}

Operand Image::rounded_up(Operand size, Operand power_of_two) {
  if (Fold::is(power_of_two, 0)) return size;
  const Operand power = f_.shl(imm(1), f_.sub(imm(32), f_.clz(f_.sub(size, imm(1)))));
  return f_.select(power_of_two, power, size);
}

/// Sizes of a level above 0 and its pitches.
void Image::next_level(Level& l, Operand number, Operand padded) {
  const Operand levels = words_[image::levels];
  const auto at = [&](Operand size) { return f_.umax(imm(1), f_.shr(size, number)); };
  l.width = at(words_[image::width]);
  l.height = f_.select(has_y_, at(words_[image::height]), imm(1));
  l.depth = f_.select(has_z_, at(words_[image::depth]), words_[image::depth]);
  Operand row_texels = at(rounded_up(words_[image::width], padded));
  const Operand by_pitch = f_.bit(levels, image::kMipFromPitch);
  if (!Fold::is(by_pitch, 0))
    row_texels = f_.select(
        by_pitch,
        at(rounded_up(f_.op(Op::div, Type::u32, {words_[image::row_pitch], bytes_}), padded)),
        row_texels);
  const Operand align = f_.shl(imm(1), f_.field(levels, image::kRowAlignShift, 4));
  const Operand row = f_.add(f_.mul(row_texels, bytes_), f_.sub(align, imm(1)));
  l.row = f_.op(Op::and_, Type::u32, {row, f_.sub(imm(0), align)});
  l.slice = f_.wide_product(l.row, at(rounded_up(words_[image::height], padded)));
}

Level Image::level(Operand number) {
  Level l{words_[image::width],     words_[image::height],
          words_[image::depth],     imm(0),
          words_[image::row_pitch], f_.zext(words_[image::slice_pitch])};
  if (Fold::is(number, 0)) return l;
  Builder& b = f_.builder();
  // A loop over the levels below: each begins behind all slices of the one before.
  const Operand padded = f_.bit(words_[image::levels], image::kPowerOfTwo);
  const Reg n = f_.variable(imm(0)), start = f_.variable(imm(0), Width::b64);
  const Reg width = f_.variable(l.width), height = f_.variable(l.height),
            depth = f_.variable(l.depth), row = f_.variable(l.row),
            slice = f_.variable(l.slice, Width::b64);
  const uint32_t head = b.add_block(), body = b.add_block(), done = b.add_block();
  b.jump(head);
  b.set_block(head);
  const Operand more = f_.below(n, number);
  b.branch({more.reg(), false}, body, done);
  b.set_block(body);
  // Layers of all levels are as many as those of level 0 rounded up; slices get fewer.
  const Operand slices = f_.select(has_z_, rounded_up(depth, padded), depth);
  f_.move(start, f_.add64(start, f_.mul64(slice, f_.zext(slices))));
  f_.move(n, f_.add(n, imm(1)));
  next_level(l, n, padded);
  f_.move(width, l.width);
  f_.move(height, l.height);
  f_.move(depth, l.depth);
  f_.move(row, l.row);
  f_.move(slice, l.slice);
  b.jump(head);
  b.program().blocks[body].term.counts = false;  // at most 15 times
  b.set_block(done);
  return {width, height, depth, start, row, slice};
}

Operand Image::address(const Level& l, Operand x, Operand y, Operand slice) {
  Operand at = f_.add64(words_[image::base], l.start);
  const uint64_t most = l.row.is_imm() && l.height.is_imm() && bytes_.is_imm()
                            ? l.row.imm * l.height.imm
                            : ~uint64_t{0};
  const Operand in_row = f_.mul(x, bytes_);
  if (most >> 32 == 0) {
    at = f_.add64(at, f_.zext(f_.add(f_.mul(y, l.row), in_row)));
  } else {
    at = f_.add64(at, f_.wide_product(y, l.row));
    at = f_.add64(at, f_.zext(in_row));
  }
  if (Fold::is(slice, 0)) return at;
  return f_.add64(at, f_.mul64(f_.zext(slice), l.slice));
}

/// One access to a part of a texel: for texels of `from` to `to` bytes.
struct Image::Part {
  Type elem;
  uint8_t count;
  unsigned word, from, to;
};

Mem Image::part_of(Mem m, const Part& p) {
  m.elem = p.elem;
  m.count = p.count;
  m.offset = 4 * int64_t{p.word};
  m.align_bytes = p.count == 3 ? 4 : 0;
  return m;
}

/// Calls `access(part)` for each part that the texel has, under a guard where that is not known.
template <typename Access>
void Image::for_each_part(Operand may, const Access& access) {
  Builder& b = f_.builder();
  const auto under = [&](Operand when, const Part& p) {
    if (Fold::is(when, 0)) return;
    if (when.is_reg()) b.set_guard({when.reg(), false});
    access(p);
    b.set_guard({});
  };
  if (bytes_.is_imm()) {
    const auto n = static_cast<unsigned>(bytes_.imm);
    if (n == 0) return;
    if (n < 4) return under(may, {n == 1 ? Type::u8 : Type::u16, 1, 0, n, n});
    return under(may, {Type::u32, static_cast<uint8_t>(n / 4), 0, n, n});
  }
  constexpr Part kParts[] = {{Type::u8, 1, 0, 1, 1},    {Type::u16, 1, 0, 2, 2},
                             {Type::u32, 1, 0, 4, 4},   {Type::u32, 2, 0, 8, 8},
                             {Type::u32, 3, 0, 12, 12}, {Type::u32, 4, 0, 16, 16}};
  for (const Part& p : kParts) under(f_.both(f_.eq(bytes_, imm(p.from)), may), p);
}

Image::Raw Image::read(Mem memory, Operand address, Operand when, uint32_t otherwise) {
  Builder& b = f_.builder();
  Raw raw;
  const bool certain = bytes_.is_imm() && Fold::is(when, 1);
  for (unsigned n = 0; n < 4; ++n)
    raw[n] =
        certain && uint64_t{n} * 4 < bytes_.imm ? b.reg(Width::b32) : f_.variable(imm(otherwise));
  for_each_part(when, [&](const Part& p) {
    std::vector<Reg> to(raw.begin(), raw.begin() + p.count);
    b.emit(Op::load, Type::none, to, {address}).mem = part_of(memory, p);
  });
  return raw;
}

Image::Raw Image::read_if(const Inst& like, Operand address, Operand when, uint32_t otherwise) {
  Mem memory = *like.mem;
  if (memory.certain == Certain::guarded) memory.certain = Certain::everywhere;
  return read(memory, address, when, otherwise);
}

Values Image::converted(const Inst& like, const Raw& raw, Operand may) {
  return unpack(like, {raw[0], raw[1], raw[2], raw[3]}, may);
}

Values Image::load(const Inst& like, Operand address, Operand may) {
  return converted(like, read(*like.mem, address, may, 0), may);
}

bool Image::finite() const {
  const Operand format = words_[image::format];
  return format.is_imm() && (format.imm >> kNumberShift & 7) <= kNumberSnorm;
}

std::optional<uint32_t> Image::neutral() const {
  const Operand format = words_[image::format];
  if (!format.is_imm() || (format.imm & image::kSrgb) != 0) return std::nullopt;
  const unsigned number = format.imm >> kNumberShift & 7;
  if (has_words(format.imm) && number == kNumberFloat) return 0x80000000;
  if (fraction_bytes(format.imm) != 0) return 0;  // nothing in the sum has a sign
  return std::nullopt;
}

/// Components of 32 bits stay as they are; nothing where the format has others or is not known.
std::optional<Values> Image::words(const Inst& like, const Values& raw, Operand may) {
  const Operand format = words_[image::format];
  if (!format.is_imm() || (format.imm & image::kSrgb) != 0 || like.mode != 0) return std::nullopt;
  if (!has_words(format.imm)) return std::nullopt;
  const unsigned components = kFormatBytes[format.imm >> 15 & 15] / 4U;
  const Operand one = Fold::is(integer_format(), 1) ? imm(1) : Fold::f32(1);
  Values out;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned chosen = format.imm >> (3 * n) & 7, component = chosen & 3;
    if (chosen == 1)
      out[n] = one;
    else if (chosen < 4)
      out[n] = imm(0);
    else if (component < components)
      out[n] = raw[component];
    else
      out[n] = component == 3 ? f_.select(may, one, imm(0)) : imm(0);
  }
  return out;
}

/// Bytes that are fractions of 255, of a format that is known.
std::optional<Values> Image::fractions(const Inst& like, const Values& raw, Operand may) {
  const Operand format = words_[image::format];
  if (!format.is_imm() || (format.imm & image::kSrgb) != 0 || like.mode != 0) return std::nullopt;
  const unsigned components = fraction_bytes(format.imm);
  if (components == 0) return std::nullopt;
  Values out;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned chosen = format.imm >> (3 * n) & 7, component = chosen & 3;
    if (chosen < 4)
      out[n] = chosen == 1 ? Fold::f32(1) : imm(0);
    else if (component >= components)
      out[n] = component == 3 ? f_.select(may, Fold::f32(1), imm(0)) : imm(0);
    else
      out[n] = of_255(f_.to_float(f_.field(raw[0], 8 * component, 8)));
  }
  return out;
}

/// c / 255, rounded once: of the two parts of 1 / 255 one has nine bits, so that its product is
/// exact, and the other's error is far from where the sum would be rounded the other way.
Operand Image::of_255(Operand c) {
  constexpr float kHigh = 0x1.01p-8F, kLow = 0x1.010102p-24F;
  return f_.never_nan(f_.fsum_of_product(c, Fold::f32(kHigh), f_.fmul(c, Fold::f32(kLow))));
}

Values Image::unpack(const Inst& like, const Values& raw, Operand may) {
  Builder& b = f_.builder();
  const Operand format = words_[image::format];
  const Operand srgb = f_.bit(format, image::kSrgb);
  if (const auto same = words(like, raw, may)) return *same;
  if (const auto known = fractions(like, raw, may)) return *known;
  const Operand plain = f_.and_(format, 0x7ffff);
  // With the curve the components are taken as integers first.
  const Operand uint_format =
      f_.or_(f_.and_(plain, ~(7U << kNumberShift)), imm(kNumberUint << kNumberShift));
  Values out;
  std::vector<Reg> to;
  for (Operand& o : out) {
    to.push_back(b.reg(Width::b32));
    o = to.back();
  }
  b.emit(Op::fmt_unpack, Type::none, to,
         {raw[0], raw[1], raw[2], raw[3], f_.select(srgb, uint_format, plain), may})
      .mode = like.mode;
  if (Fold::is(srgb, 0)) return out;
  const uint32_t curve = b.add_block(), done = b.add_block();
  if (srgb.is_imm())
    b.jump(curve);
  else
    b.branch({srgb.reg(), false}, curve, done);
  b.set_block(curve);
  apply_srgb(out);
  for (unsigned n = 0; n < 4; ++n) f_.move(to[n], out[n]);
  b.jump(done);
  b.set_block(done);
  return {to[0], to[1], to[2], to[3]};
}

/// 8-bit components to f32: X, Y and Z by the curve, W as a fraction of 255.
void Image::apply_srgb(Values& texel) {
  Builder& b = f_.builder();
  constexpr uint32_t kFourBytes = 10;
  const Operand has_fourth = f_.eq(f_.field(words_[image::format], 15, 4), imm(kFourBytes));
  for (unsigned n = 0; n < 4; ++n) {
    const Operand chosen = f_.field(words_[image::format], 3 * n, 3);
    const Reg curve = b.reg(Width::b32);
    b.emit(Op::srgb, Type::none, {curve}, {texel[n]});
    const Operand alpha = of_255(f_.to_float(texel[n]));
    const Operand constant = f_.select(f_.eq(texel[n], imm(0)), imm(0), Fold::f32(1));
    // What a format lacks is 0 or 1 already.
    const Operand fourth = f_.select(has_fourth, alpha, constant);
    texel[n] = f_.select(f_.below(chosen, imm(4)), constant,
                         f_.select(f_.eq(chosen, imm(7)), fourth, curve));
  }
}

void Image::store(const Inst& like, Operand address, Operand may, const Values& values) {
  Builder& b = f_.builder();
  std::vector<Reg> raw;
  for (unsigned n = 0; n < 4; ++n) raw.push_back(b.reg(Width::b32));
  b.emit(Op::fmt_pack, Type::none, raw,
         {values[0], values[1], values[2], values[3], f_.and_(words_[image::format], 0x7ffff)})
      .mode = like.mode;
  for_each_part(may, [&](const Part& p) {
    std::vector<Operand> src{address};
    src.insert(src.end(), raw.begin(), raw.begin() + p.count);
    b.emit(Op::store, Type::none, {}, src).mem = part_of(*like.mem, p);
  });
}

}  // namespace lanewise::ir::textures
