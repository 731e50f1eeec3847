// Where the fields stand: AMD's manuals of the three generations, and the register headers of open
// drivers. What a driver sets up beside the descriptor is not there: of the tiling modes index 8 is
// the linear one, as every driver of these generations has it, and border colours of a table are
// refused.
#include "runtime/isa/gcn/lowering/families/image_words.hpp"

#include <bit>

#include "lanewise/types.hpp"
#include "runtime/isa/gcn/text/operands/format_text.hpp"

namespace lanewise::gcn {

namespace {

/// f32 of a number with 8 bits behind the point.
ir::Operand fixed_point(LowerContext& c, ir::Operand word, bool is_signed) {
  constexpr uint32_t kPart = 0x3b800000;  // 1 / 256
  if (word.is_imm()) {
    const auto bits = static_cast<uint32_t>(word.imm);
    const float value =
        is_signed ? static_cast<float>(static_cast<int32_t>(bits)) : static_cast<float>(bits);
    return imm(std::bit_cast<uint32_t>(value / 256));
  }
  const Reg whole = c.reg(Width::b32);
  c.emit(Op::i2f, Type::f32, {whole}, {word}).from = is_signed ? Type::s32 : Type::u32;
  return c.make(Op::fmul, Type::f32, {whole, imm(kPart)});
}

/// The words of a descriptor that lies in scalar registers.
class DescriptorFields {
 public:
  DescriptorFields(LowerContext& c, Fold& fold, const Operand& registers, unsigned count)
      : fold_(fold) {
    for (unsigned n = 0; n < count; ++n) words_.push_back(c.read_known(registers, n));
  }
  ir::Operand word(unsigned n) const { return n < words_.size() ? words_[n] : ir::Operand(imm(0)); }
  ir::Operand operator()(unsigned word_number, unsigned at, unsigned count) const {
    return fold_.field(word(word_number), at, count);
  }

 private:
  Fold& fold_;
  std::vector<ir::Operand> words_;
};

/// By image type, from 8 (1D) on: the word `kind` of ir/texture.hpp. Every 1D and 2D image is an
/// array, of one layer at least, and a cube is an array of its faces.
constexpr uint32_t kKinds = 0x00656365;
constexpr uint32_t kFirstType = 8, kCube = 11;
constexpr uint32_t kLinearTiling = 8;
constexpr uint32_t kSrgb = 9;      ///< number format
constexpr uint32_t kRowAlign = 5;  // log2 of the bytes that rows begin at, as the host has them

/// Does bit n of the set stand?
ir::Operand stands_in(Fold& f, uint32_t set, ir::Operand n) {
  return f.eq(f.field(f.shr(imm(set), n), 0, 1), imm(1));
}

/// The format word of ir/texture.hpp, and whether there is such a format.
struct ImageFormat {
  ir::Operand word, known;
};
ImageFormat image_format(LowerContext& c, const Instruction& i, const DescriptorFields& t) {
  constexpr uint32_t kBytes = 1U << 1 | 1U << 3 | 1U << 10;  // what can have the curve
  constexpr uint32_t kData = 0x7ffe, kNumbers = 0xff;
  Fold f(c);
  const bool store = i.row->kind == Kind::store;
  const ir::Operand data = t(1, 20, 6), number = t(1, 26, 4), curved = f.eq(number, imm(kSrgb));
  // Shifts by 32 and more give 0, so codes beyond the sets are in none of them.
  const ir::Operand shape = stands_in(f, kData, data), plain = stands_in(f, kNumbers, number);
  const ir::Operand code =
      f.or_(f.shl(f.field(data, 0, 4), imm(15)), f.shl(f.select(curved, imm(0), number), imm(12)));
  ImageFormat out;
  out.word = f.or_(t(3, 0, 12), code);
  ir::Operand legal;
  if (out.word.is_imm()) {
    const auto word = static_cast<unsigned>(out.word.imm);
    legal = imm(documented_format(word >> 15 & 15, word >> 12 & 7, store, c.gen()) ? 1 : 0);
  } else {
    const Reg r = c.reg(Width::pred);
    c.emit(Op::fmt_legal, Type::none, {r}, {out.word}).mode = format_mode(c, i);
    legal = r;
  }
  const ir::Operand with_curve = store ? ir::Operand(imm(0)) : stands_in(f, kBytes, data);
  out.known = f.both(f.both(shape, legal), f.select(curved, with_curve, plain, Type::pred));
  out.word = f.or_(out.word, f.select(curved, imm(ir::image::kSrgb), imm(0)));
  return out;
}

/// S# fields by the codes of T# and S#: CLAMP_X and the like as ir::sampler::Address.
constexpr uint32_t kAddresses =
    0 | 2 << 3 | 1 << 6 | 4 << 9 | 6 << 12 | 7 << 15 | 3 << 18 | 5 << 21;
ir::Operand sampler_address(Fold& f, ir::Operand code) {
  const ir::Operand at = f.add(f.shl(code, imm(1)), code);
  return f.field(f.shr(imm(kAddresses), at), 0, 3);
}

}  // namespace

uint8_t format_mode(const LowerContext& c, const Instruction& i) {
  const auto bit = [](ir::FormatMode m) { return static_cast<uint8_t>(m); };
  uint8_t mode = 0;
  if (i.graphics.d16) mode |= bit(ir::FormatMode::d16);
  if (c.gen() == Gen::gfx8) mode |= bit(ir::FormatMode::gfx8);
  if (i.row->kind == Kind::store) mode |= bit(ir::FormatMode::store);
  return mode;
}

void report_encoding(LowerContext& c, ir::Operand when) {
  if (when.is_imm() && when.imm == 0) return;
  const ir::Operand lanes = when.is_imm() && !c.exec_full ? ir::Operand(c.exec()) : c.active(when);
  if (lanes.is_reg()) c.set_guard({lanes.reg(), false});
  c.emit(Op::report, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::illegal_encoding);
  c.set_guard({});
}

ImageState image_state(LowerContext& c, const Instruction& i) {
  Fold f(c);
  const bool small = i.graphics.r128;  // 1D and 2D images alone, without a pitch
  const DescriptorFields t(c, f, *i.operand(Slot::irsrc), small ? 4 : 8);
  ImageState s;
  const ir::Operand type = t(3, 28, 4);
  const ir::Operand bound = f.compare(Cond::ge, Type::u32, type, imm(kFirstType));
  const ir::Operand place = f.shl(f.field(type, 0, 3), imm(2));
  const ir::Operand kind = f.field(f.shr(imm(kKinds), place), 0, 3);
  const ir::Operand dimensions = f.field(kind, 0, 2);
  s.cube = f.eq(type, imm(kCube));
  s.one = f.eq(dimensions, imm(1));
  s.three = f.eq(dimensions, imm(3));
  const ImageFormat format = image_format(c, i, t);
  const ir::Operand multisampled = f.eq(dimensions, imm(0));
  const ir::Operand known =
      f.both(f.both(format.known, f.eq(t(3, 20, 5), imm(kLinearTiling))), f.not_(multisampled));
  s.usable = f.both(bound, known);
  // A descriptor of zeros is no image; another one of these types is a buffer's.
  const ir::Operand null = f.eq(t.word(3), imm(0));
  report_encoding(c, f.either(f.both(bound, f.not_(known)), f.not_(f.either(bound, null))));

  const ir::Operand width = f.add(t(2, 0, 14), imm(1));
  const ir::Operand height = f.select(s.one, imm(1), f.add(t(2, 14, 14), imm(1)));
  s.first_layer = t(5, 0, 13);
  const ir::Operand last_layer = t(5, 13, 13), end = f.add(last_layer, imm(1));
  s.layers = f.sub(end, s.first_layer);
  s.number_format = t(1, 26, 4);
  if (format.word.is_imm()) {
    s.bytes = imm(data_format_bytes(format.word.imm >> 15 & 15));
  } else {
    s.bytes = c.make(Op::fmt_bytes, Type::u32, {format.word});
  }
  const auto product = [&](ir::Operand x, ir::Operand y) { return f.mul(x, y); };
  ir::Operand row;
  if (small) {
    constexpr uint32_t kLast = (1U << kRowAlign) - 1;
    row = f.and_(f.add(product(width, s.bytes), imm(kLast)), ~kLast);
  } else {
    row = product(f.add(t(4, 13, 14), imm(1)), s.bytes);
  }
  s.min_lod = t(1, 8, 12);
  s.base_level = t(3, 12, 4);
  s.last_level = t(3, 16, 4);
  const ir::Operand high = f.field(t.word(1), 0, 8);
  const ir::Operand low = f.shl(t.word(0), imm(8));
  const ir::Operand upper = f.or_(f.shr(t.word(0), imm(24)), f.shl(high, imm(8)));
  using namespace ir::image;
  if (low.is_imm() && upper.is_imm()) {
    s.words[base] = imm(upper.imm << 32 | low.imm);
  } else {
    const Reg r = c.make(Op::pack64, Type::u64, {low, upper});
    s.words[base] = r;
  }
  s.words[ir::image::format] = format.word;
  s.words[ir::image::width] = width;
  s.words[ir::image::height] = height;
  s.words[depth] = f.select(s.three, f.add(t(4, 0, 13), imm(1)), end);
  s.words[row_pitch] = row;
  s.words[slice_pitch] = product(row, height);
  const ir::Operand padded = f.select(f.eq(t(3, 25, 1), imm(1)), imm(kPowerOfTwo), imm(0));
  s.words[levels] = f.or_(
      f.or_(f.shl(s.base_level, imm(kFirstLevelShift)), f.shl(s.last_level, imm(kLastLevelShift))),
      f.or_(padded, imm(kRowAlign << kRowAlignShift)));
  s.words[ir::image::kind] = kind;
  return s;
}

std::array<ir::Operand, ir::kSamplerWords> sampler_words(LowerContext& c, const Instruction& i,
                                                         const ImageState& image) {
  using namespace ir::sampler;
  Fold f(c);
  const DescriptorFields s(c, f, *i.operand(Slot::isamp), 4);
  std::array<ir::Operand, ir::kSamplerWords> words;
  ir::Operand state = imm(0);
  for (unsigned axis = 0; axis < 3; ++axis) {
    ir::Operand mode = sampler_address(f, s(0, 3 * axis, 3));
    // Faces of a cube end where their coordinates do.
    if (axis < 2) mode = f.select(image.cube, imm(static_cast<uint32_t>(Address::clamp)), mode);
    state = f.or_(state, f.shl(mode, imm(uint64_t{3} * axis)));
  }
  const auto flag = [&](ir::Operand bit, uint32_t value) {
    state = f.or_(state, f.select(f.eq(bit, imm(1)), imm(value), imm(0)));
  };
  // Filters for anisotropic sampling are their isotropic halves.
  flag(s(2, 20, 1), kMagLinear);
  flag(s(2, 22, 1), kMinLinear);
  state = f.or_(state, f.shl(s(2, 26, 2), imm(kMipShift)));
  state = f.or_(state, f.shl(s(0, 12, 3), imm(kCompareShift)));
  if (i.graphics.unorm)
    state = f.or_(state, imm(kUnnormalised));
  else
    flag(s(0, 15, 1), kUnnormalised);
  words[ir::sampler::state] = state;

  constexpr unsigned kUnused = 32 - 14;
  const ir::Operand shifted = f.shl(s.word(2), imm(kUnused));
  words[bias] = fixed_point(c, f.sar(shifted, imm(kUnused)), true);
  const ir::Operand lowest = f.umax(s(1, 0, 12), image.min_lod);
  words[min_lod] = fixed_point(c, lowest, false);
  words[max_lod] = fixed_point(c, s(1, 12, 12), false);

  constexpr uint32_t kOpaqueBlack = 1, kOpaqueWhite = 2, kTable = 3, kOne = 0x3f800000;
  const ir::Operand border = s(3, 30, 2);
  report_encoding(c, f.both(image.usable, f.eq(border, imm(kTable))));
  const ir::Operand integers = stands_in(f, 1U << 4 | 1U << 5, image.number_format);
  const ir::Operand one = f.select(integers, imm(1), imm(kOne));
  const ir::Operand white = f.select(f.eq(border, imm(kOpaqueWhite)), one, imm(0));
  words[border_x] = words[border_y] = words[border_z] = white;
  words[border_w] = f.select(f.eq(border, imm(kOpaqueBlack)), one, white);
  return words;
}

}  // namespace lanewise::gcn
