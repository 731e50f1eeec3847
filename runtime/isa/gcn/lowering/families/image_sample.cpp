// Images through a sampler: filtered, gathered, compared.
#include <bit>

#include "runtime/isa/gcn/lowering/families/image_address.hpp"

namespace lanewise::gcn {

namespace {

using Last = ImageForm::Last;

/// The value of another lane of the quad, active or not.
Reg quad_value(LowerContext& c, const ir::Operand& value, unsigned member) {
  const Reg lane = c.special(SReg::laneid);
  const Reg first = c.make(Op::and_, Type::u32, {lane, imm(60)});
  return c.make(Op::readlane, Type::none,
                {value, c.make(Op::or_, Type::u32, {first, imm(member)})});
}

/// Lanes 0 and 1 of a quad are neighbours by the first screen axis, 0 and 2 by the second.
std::vector<ir::Operand> quad_gradients(LowerContext& c,
                                        const std::vector<ir::Operand>& coordinates) {
  std::vector<ir::Operand> out;
  for (const unsigned neighbour : {1U, 2U})
    for (const ir::Operand& v : coordinates) {
      if (v.is_imm()) {
        out.push_back(imm(0));
        continue;
      }
      const Reg here = quad_value(c, v, 0), there = quad_value(c, v, neighbour);
      out.push_back(c.make(Op::fsub, Type::f32, {there, here}));
    }
  return out;
}

ir::Operand texel_offset(Fold& f, const ir::Operand& packed, unsigned axis) {
  constexpr unsigned kUnused = 32 - 6;
  return f.sar(f.shl(packed, imm(kUnused - 8 * axis)), imm(kUnused));
}

/// 16 bits of a value that was filtered as 32.
ir::Operand narrowed(LowerContext& c, const ImageState& s, Reg value) {
  Fold f(c);
  const Reg half = c.reg(Width::b32);
  c.emit(Op::f2f, Type::f16, {half}, {value}).from = Type::f32;
  const ir::Operand integers =
      f.either(f.eq(s.number_format, imm(4)), f.eq(s.number_format, imm(5)));
  return f.select(integers, f.and_(value, 0xffff), half);
}

/// Which layer of the image a float means: the nearest, those beside it by the ends of the view.
ir::Operand layer_of(Fold& f, const ImageState& s, const ir::Operand& slice) {
  if (slice.is_imm()) return s.first_layer;
  const ir::Operand last = f.sub(s.layers, imm(1));
  const ir::Operand nearest = f.max(f.min(f.to_int(slice, Round::rn), last), imm(0));
  return f.add(nearest, s.first_layer);
}

}  // namespace

void lower_image_sample(LowerContext& c, const Instruction& i) {
  const ImageForm& form = i.row->image;
  const ImageState s = image_state(c, i);
  const auto sampler = sampler_words(c, i, s);
  Fold f(c);
  ImageAddress a(c, i, s);
  // Coordinates on a face of a cube go from 1 to 2.
  const auto on_face = [&](const ir::Operand& v) {
    return f.select(s.cube, f.fsub(v, Fold::f32(1)), v);
  };
  const std::vector<ir::Operand> coordinates = {on_face(a.x()), on_face(a.y()), a.z()};
  std::vector<ir::Operand> src(s.words.begin(), s.words.end());
  src.insert(src.end(), sampler.begin(), sampler.end());
  src.insert(src.end(), coordinates.begin(), coordinates.end());
  src.push_back(layer_of(f, s, a.slice()));
  ir::TextureAccess t = described_access();
  if (form.looks_across() || form.gradients) {
    t.lod = ir::TextureAccess::Lod::gradient;
    const std::vector<ir::Operand> g =
        form.gradients ? a.gradients() : quad_gradients(c, coordinates);
    src.insert(src.end(), g.begin(), g.end());
  } else if (form.last == Last::level) {
    t.lod = ir::TextureAccess::Lod::level;
    src.push_back(a.last());
  }
  unsigned front = form.offset ? 1 : 0;
  t.bias = form.bias;
  if (form.bias) src.push_back(a.at(front++));
  t.clamp = form.last == Last::clamp;
  if (t.clamp) src.push_back(a.last());
  t.offset = form.offset;
  for (unsigned axis = 0; form.offset && axis < 3; ++axis)
    src.push_back(texel_offset(f, a.at(0), axis));
  t.compare = form.compare;
  if (form.compare) src.push_back(a.at(front));
  if (form.gathers) t.component = static_cast<uint8_t>(std::countr_zero(i.graphics.dmask));
  const std::vector<Reg> values = zero_registers(c, 4);
  guarded(c, s.usable, [&] {
    ir::Inst& sample =
        c.emit(form.gathers ? Op::gather : Op::sample, Type::none, values, std::move(src));
    sample.texture = t;
    sample.mem = buffer_memory(i, Type::u32);
  });
  if (i.graphics.d16)
    for (const Reg v : values) c.emit(Op::mov, Type::u32, {v}, {narrowed(c, s, v)});
  deliver_components(c, i, values);
}

/// The level of detail that a sample would have, inside the image and as it is computed.
void lower_image_lod(LowerContext& c, const Instruction& i) {
  const ImageState s = image_state(c, i);
  const auto sampler = sampler_words(c, i, s);
  Fold f(c);
  ImageAddress a(c, i, s);
  const std::vector<ir::Operand> g = quad_gradients(c, {a.x(), a.y(), a.z()});
  const ir::Operand texels =
      f.field(sampler[ir::sampler::state], std::countr_zero(ir::sampler::kUnnormalised), 1);
  const ir::Operand sizes[] = {s.word(ir::image::width), s.word(ir::image::height),
                               s.word(ir::image::depth)};
  const ir::Operand there[] = {imm(1), f.not_(s.one), s.three};
  ir::Operand squares[2] = {imm(0), imm(0)};
  for (unsigned axis = 0; axis < 2; ++axis)
    for (unsigned n = 0; n < 3; ++n) {
      const ir::Operand size = f.select(f.eq(texels, imm(1)), Fold::f32(1), f.to_float(sizes[n]));
      const ir::Operand d = f.fmul(g[3 * axis + n], size);
      squares[axis] = f.fadd(squares[axis], f.select(there[n], f.fmul(d, d), imm(0)));
    }
  const auto least = [&](ir::Operand x, ir::Operand y) {
    return f.op(Op::fmin, Type::f32, {x, y});
  };
  const auto most = [&](ir::Operand x, ir::Operand y) { return f.op(Op::fmax, Type::f32, {x, y}); };
  const ir::Operand longest = most(squares[0], squares[1]);
  const ir::Operand log2 = f.op(Op::flg2_approx, Type::f32, {longest});
  const ir::Operand lod = f.fadd(f.fmul(log2, Fold::f32(0.5)), sampler[ir::sampler::bias]);
  const ir::Operand limited =
      least(most(lod, sampler[ir::sampler::min_lod]), sampler[ir::sampler::max_lod]);
  const ir::Operand last = f.to_float(f.sub(s.last_level, s.base_level));
  std::vector<Reg> values = zero_registers(c, 4);
  const ir::Operand inside = least(most(limited, imm(0)), last);
  guarded(c, s.usable, [&] {
    c.emit(Op::mov, Type::u32, {values[0]}, {inside});
    c.emit(Op::mov, Type::u32, {values[1]}, {lod});
  });
  deliver_components(c, i, values);
}

}  // namespace lanewise::gcn
