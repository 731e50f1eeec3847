#include "runtime/ir/passes/textures/coordinates.hpp"

namespace lanewise::ir::textures {
namespace {

using sampler::Address;

constexpr uint32_t kFar = 1 << 30;     ///< no image is so large; sums with offsets stay below 2^31
constexpr uint32_t k256 = 0x43800000;  ///< f32 256

Operand number(Address mode) {
  return imm(static_cast<uint32_t>(mode));
}

}  // namespace

Sources take_sources(const Inst& inst) {
  const TextureAccess& t = *inst.texture;
  const Operand* from = inst.src.data() + kImageWords;
  Sources s;
  for (Operand& o : s.sampler) o = *from++;
  for (Operand& o : s.at) o = *from++;
  s.layer = *from++;
  if (t.lod == TextureAccess::Lod::level) s.level = *from++;
  if (t.lod == TextureAccess::Lod::gradient)
    for (Operand& o : s.gradient) o = *from++;
  if (t.bias) s.bias = *from++;
  if (t.clamp) s.least = *from++;
  s.offset.fill(imm(0));
  if (t.offset)
    for (Operand& o : s.offset) o = *from++;
  if (t.compare) s.compare = *from++;
  return s;
}

Coordinates::Coordinates(Fold& f, const TextureAccess& access, Image& image, const Sources& sources,
                         FilterRule rule)
    : f_(f),
      access_(access),
      image_(image),
      s_(sources),
      rule_(rule),
      at_(sources.at),
      layer_(sources.layer) {
  if (access_.dim == TextureAccess::Dim::cube && !access_.integers) face_of_cube();
}

/// The face that the direction meets, and where: CUDA's table. X before Y before Z where they are
/// equally long.
void Coordinates::face_of_cube() {
  const auto magnitude = [&](Operand v) { return f_.and_(v, 0x7fffffff); };
  const auto negative = [&](Operand v) { return f_.op(Op::xor_, Type::u32, {v, imm(0x80000000)}); };
  const Operand x = at_[0], y = at_[1], z = at_[2];
  const Operand ax = magnitude(x), ay = magnitude(y), az = magnitude(z);
  const Operand is_x = f_.both(f_.not_(f_.below(ax, ay)), f_.not_(f_.below(ax, az)));
  const Operand is_y = f_.both(f_.not_(is_x), f_.not_(f_.below(ay, az)));
  const auto of_major = [&](Operand a, Operand b, Operand c) {
    return f_.select(is_x, a, f_.select(is_y, b, c));
  };
  const Operand major = of_major(x, y, z), length = of_major(ax, ay, az);
  const Operand minus = f_.bit(major, 0x80000000);
  const Operand s = of_major(f_.select(minus, z, negative(z)), x, f_.select(minus, negative(x), x));
  const Operand t = of_major(negative(y), f_.select(minus, negative(z), z), negative(y));
  const auto on_face = [&](Operand v) {
    const Operand q = f_.op(Op::fdiv, Type::f32, {v, length});
    return f_.fmul(f_.fadd(q, Fold::f32(1)), Fold::f32(0.5));
  };
  at_ = {on_face(s), on_face(t), imm(0)};
  const Operand face = f_.add(of_major(imm(0), imm(2), imm(4)), f_.select(minus, imm(1), imm(0)));
  layer_ = access_.array
               ? f_.add(f_.mul(clamped(layer_, f_.op(Op::div, Type::u32,
                                                     {image_.word(image::depth), imm(6)})),
                               imm(6)),
                        face)
               : face;
}

/// Wrapping and mirroring exist for normalised coordinates alone; others are clamped then.
Operand Coordinates::address_mode(unsigned axis) {
  const Operand mode = f_.field(s_.sampler[sampler::state], 3 * axis, 3);
  const Operand repeats = f_.eq(f_.and_(mode, 5), imm(0));  // wrap and mirror
  return f_.select(f_.both(repeats, state(sampler::kUnnormalised)), number(Address::clamp), mode);
}

/// What wrapping and mirroring make of a normalised coordinate, mirroring once of any; and whether
/// it lies in an image that runs backwards.
Coordinates::Folded Coordinates::folded(Operand s, Operand mode) {
  const Operand wraps = f_.eq(mode, number(Address::wrap));
  const Operand mirrors = f_.eq(mode, number(Address::mirror));
  const Operand once = f_.both(f_.bit(mode, 4), f_.ne(mode, number(Address::half_border)));
  Operand out = Fold::is(once, 0) ? s : f_.select(once, f_.and_(s, 0x7fffffff), s);
  Operand reversed = imm(0);
  if (Fold::is(wraps, 0) && Fold::is(mirrors, 0)) return {out, reversed};
  const Operand whole = f_.floor(s), part = f_.fsub(s, whole);
  if (!Fold::is(mirrors, 0)) {
    const Operand half = f_.fmul(whole, Fold::f32(0.5));
    const Operand odd = f_.fcompare(Cond::ne, f_.floor(half), half);
    const Operand mirrored = f_.select(odd, f_.fsub(Fold::f32(1), part), part);
    out = f_.select(mirrors, mirrored, out);
    reversed = f_.both(mirrors, odd);
  }
  return {f_.select(wraps, part, out), reversed};
}

/// axis() where both neighbours are clamped, in f32 as far as it goes: what has no bits there costs
/// a conversion, which has to look for a NaN and for both limits.
AxisPlace Coordinates::clamped_axis(Operand x, Operand size, bool linear) {
  const auto between = [&](Operand v, float low) {  // NaN: low
    return f_.at_most(f_.at_least(v, low), static_cast<float>(kFar));
  };
  const Operand last = f_.sub(size, imm(1));
  AxisPlace place;
  place.inside.fill(imm(1));
  place.high_weight = imm(0);
  if (!linear) {
    const Operand index = f_.to_int_inside(between(x, 0), Round::rz);
    place.index.fill(f_.min(index, last));
    return place;
  }
  const Operand shifted = f_.fsub(x, Fold::f32(0.5)), whole = f_.floor(shifted);
  const Operand part = f_.round_even(f_.fmul(f_.fsub(shifted, whole), imm(k256)));
  place.high_share = f_.fmul(f_.at_least(part, 0), Fold::f32(1 / 256.0F));
  const Operand index = f_.to_int_inside(between(whole, -1), Round::rz);
  place.index = {f_.max(f_.min(index, last), imm(0)), f_.min(f_.add(index, imm(1)), last)};
  return place;
}

AxisPlace Coordinates::axis(unsigned n, Operand size, Operand linear) {
  const Operand mode = address_mode(n);
  const Operand length = f_.to_float(size);
  const auto [at, reversed] = folded(at_[n], mode);
  Operand x = at;
  const Operand unnormalised = state(sampler::kUnnormalised);
  x = Fold::is(unnormalised, 1) ? x : f_.select(unnormalised, x, f_.fmul(x, length));
  const bool clamps = Fold::is(mode, static_cast<uint64_t>(Address::clamp)) && !access_.offset;
  if (clamps && linear.is_imm() && rule_ == FilterRule::cuda_1_8)
    return clamped_axis(x, size, linear.imm != 0);
  const Operand halves = f_.both(f_.bit(mode, 4), f_.bit(mode, 2));
  if (!Fold::is(halves, 0)) {
    const Operand limited =
        f_.op(Op::fmin, Type::f32, {f_.op(Op::fmax, Type::f32, {x, imm(0)}), length});
    x = f_.select(halves, limited, x);
  }
  AxisPlace place;
  const Operand no = imm(0), most = imm(kFar), least = imm(-kFar & 0xffffffff);
  const auto near = [&](Operand v) { return f_.max(f_.min(v, most), least); };
  Operand index;
  if (rule_ == FilterRule::cuda_1_8) {
    if (!Fold::is(linear, 0)) {
      const Operand shifted = f_.fsub(x, Fold::f32(0.5));
      x = f_.select(linear, shifted, x);
      const Operand part = f_.fmul(f_.fsub(shifted, f_.floor(shifted)), imm(k256));
      place.high_weight = f_.select(linear, f_.to_int(part, Round::rn), no);
    } else {
      place.high_weight = no;
    }
    index = near(f_.to_int(x, Round::rm));
  } else {
    const Operand fixed = near(f_.to_int(f_.fmul(x, imm(k256)), Round::rn));
    // Backwards, the edge between two texels belongs to the one before it.
    const Operand edge = f_.select(reversed, imm(1), no);
    const Operand shifted = f_.sub(fixed, f_.select(linear, imm(128), edge));
    index = f_.sar(shifted, imm(8));
    place.high_weight = f_.select(linear, f_.and_(shifted, 255), no);
  }
  index = f_.add(index, near(s_.offset[n]));
  place.index = {index, f_.add(index, imm(1))};
  resolve(place, size, mode);
  return place;
}

Operand Coordinates::clamped(Operand index, Operand size) {
  return f_.max(f_.min(index, f_.sub(size, imm(1))), imm(0));
}

/// The remainder, not below 0. Without offsets the index is off by one at most.
Operand Coordinates::wrapped(Operand index, Operand size) {
  if (access_.offset) {
    const Operand rest = f_.rem(index, size);
    return f_.select(f_.less(rest, imm(0)), f_.add(rest, size), rest);
  }
  const Operand up = f_.select(f_.less(index, imm(0)), f_.add(index, size), index);
  // A coordinate that is not finite may lead anywhere.
  return clamped(f_.select(f_.less(up, size), up, f_.sub(up, size)), size);
}

void Coordinates::resolve(AxisPlace& place, Operand size, Operand mode) {
  const Operand wraps = f_.eq(mode, number(Address::wrap));
  const Operand mirrors = f_.eq(mode, number(Address::mirror));
  const Operand above =
      f_.either(f_.eq(mode, number(Address::border)), f_.below(number(Address::mirror_once), mode));
  const Operand beneath =
      f_.either(f_.eq(mode, number(Address::border)), f_.eq(mode, number(Address::half_border)));
  for (unsigned k = 0; k < 2; ++k) {
    const Operand i = place.index[k];
    Operand at = i;
    if (access_.offset && !Fold::is(mirrors, 0)) {
      const Operand positive = f_.select(f_.less(i, imm(0)), f_.sub(imm(0xffffffff), i), i);
      const Operand back = f_.sub(f_.sub(f_.add(size, size), imm(1)), positive);
      at = f_.select(mirrors, f_.select(f_.less(positive, size), positive, back), i);
    }
    at = clamped(at, size);
    if (!Fold::is(wraps, 0)) at = f_.select(wraps, wrapped(i, size), at);
    place.index[k] = at;
    place.inside[k] = f_.not_(
        f_.either(f_.both(above, f_.not_(f_.less(i, size))), f_.both(beneath, f_.less(i, imm(0)))));
  }
}

Footprint Coordinates::footprint(const Level& level, Operand linear) {
  const AxisPlace none{{imm(0), imm(0)}, {imm(1), imm(1)}, imm(0)};
  Footprint out;
  out.axes.fill(none);
  out.axes[0] = axis(0, level.width, linear);
  const auto other = [&](unsigned n, Operand has, Operand size) {
    if (Fold::is(has, 0)) return;
    AxisPlace a = axis(n, size, linear);
    for (unsigned k = 0; k < 2; ++k) {
      a.index[k] = f_.select(has, a.index[k], imm(0));
      a.inside[k] = f_.either(f_.not_(has), a.inside[k]);
    }
    a.high_weight = f_.select(has, a.high_weight, imm(0));
    if (a.high_share) a.high_share = f_.select(has, *a.high_share, imm(0));
    out.axes[n] = a;
  };
  other(1, image_.has_y(), level.height);
  other(2, image_.has_z(), level.depth);
  out.layer = Fold::is(image_.has_layers(), 0)
                  ? imm(0)
                  : f_.select(image_.has_layers(), clamped(layer_, level.depth), imm(0));
  return out;
}

/// log2 of the longer of the two gradients in texels, by f32 arithmetic.
Operand Coordinates::gradient_level() {
  const Operand unnormalised = state(sampler::kUnnormalised);
  const std::array sizes = {image_.word(image::width), image_.word(image::height),
                            image_.word(image::depth)};
  const std::array has = {imm(1), image_.has_y(), image_.has_z()};
  std::array<Operand, 2> squares;
  for (unsigned n = 0; n < 2; ++n) {
    Operand sum = imm(0);
    for (unsigned k = 0; k < 3; ++k) {
      if (Fold::is(has[k], 0)) continue;
      const Operand d = s_.gradient[3 * n + k];
      const Operand scaled =
          f_.fmul(d, f_.select(unnormalised, Fold::f32(1), f_.to_float(sizes[k])));
      const Operand square = f_.select(has[k], f_.fmul(scaled, scaled), imm(0));
      sum = k == 0 ? square : f_.fadd(sum, square);
    }
    squares[n] = sum;
  }
  const Operand most = f_.op(Op::fmax, Type::f32, {squares[0], squares[1]});
  return f_.fmul(f_.op(Op::flg2_approx, Type::f32, {most}), Fold::f32(0.5));
}

LevelOfDetail Coordinates::level_of_detail() {
  const Operand state_word = s_.sampler[sampler::state];
  const Operand magnified = state(sampler::kMagLinear);
  const Operand base = image_.first_level();
  if (access_.lod == TextureAccess::Lod::zero && !access_.bias && !access_.clamp)
    return {base, imm(0), imm(0), magnified};
  Operand lod = access_.lod == TextureAccess::Lod::level      ? *s_.level
                : access_.lod == TextureAccess::Lod::gradient ? gradient_level()
                                                              : imm(0);
  if (access_.bias) lod = f_.fadd(lod, *s_.bias);
  lod = f_.fadd(lod, s_.sampler[sampler::bias]);
  const auto at_least = [&](Operand v, Operand low) {
    return f_.op(Op::fmax, Type::f32, {v, low});
  };
  lod = f_.op(Op::fmin, Type::f32,
              {at_least(lod, s_.sampler[sampler::min_lod]), s_.sampler[sampler::max_lod]});
  if (access_.clamp) lod = at_least(lod, *s_.least);
  const Operand minified = f_.fcompare(Cond::gt, lod, imm(0));
  // In 1/256, from 0 to the last level.
  const Operand last = f_.sub(image_.last_level(), base);
  const Operand fixed =
      f_.max(f_.min(f_.to_int(f_.fmul(lod, imm(k256)), Round::rn), f_.shl(last, imm(8))), imm(0));
  const Operand mode = f_.field(state_word, sampler::kMipShift, 2);
  const Operand nearest = f_.shr(f_.add(fixed, imm(128)), imm(8));
  const Operand between = f_.eq(mode, imm(2));
  const Operand first =
      f_.select(between, f_.shr(fixed, imm(8)), f_.select(f_.eq(mode, imm(1)), nearest, imm(0)));
  LevelOfDetail out;
  out.first = f_.add(base, first);
  out.second = f_.umin(f_.add(out.first, imm(1)), image_.last_level());
  out.fraction = f_.select(between, f_.and_(fixed, 255), imm(0));
  if (Fold::is(out.fraction, 0)) out.second = imm(0);
  out.linear = f_.select(minified, state(sampler::kMinLinear), magnified, Type::pred);
  return out;
}

Operand Coordinates::integer_level() {
  if (!s_.level) return image_.first_level();
  return f_.add(image_.first_level(), *s_.level);
}

Place Coordinates::texel(const Level& level) {
  const auto at = [&](unsigned n) { return f_.add(at_[n], s_.offset[n]); };
  Place p{at(0), imm(0), imm(0), imm(1)};
  p.inside = f_.below(p.x, level.width);
  const auto use = [&](Operand& to, Operand has, Operand value, Operand size) {
    if (Fold::is(has, 0)) return;
    p.inside = f_.both(p.inside, f_.either(f_.not_(has), f_.below(value, size)));
    to = f_.select(has, value, to);
  };
  use(p.y, image_.has_y(), at(1), level.height);
  use(p.slice, image_.has_z(), at(2), level.depth);
  if (!Fold::is(image_.has_layers(), 0))
    p.slice = f_.select(image_.has_layers(), clamped(layer_, level.depth), p.slice);
  if (s_.level)  // a level that does not exist has no texels
    p.inside = f_.both(p.inside, f_.not_(f_.below(image_.last_level(), integer_level())));
  return p;
}

}  // namespace lanewise::ir::textures
