// Coordinates to texels and weights, by the rules of docs/textures.md.
#include "runtime/ir/passes/textures/sample.hpp"

#include <algorithm>

#include "runtime/ir/passes/textures/coordinates.hpp"

namespace lanewise::ir::textures {
namespace {

/// The least significant bits of a weight of `axes` axes are 2^-8 to the power of that.
Operand weight_scale(unsigned axes) {
  return imm((127U - 8 * axes) << 23);
}

class Sampling {
 public:
  Sampling(Fold& f, const Inst& inst, FilterRule rule)
      : f_(f),
        b_(f.builder()),
        inst_(inst),
        access_(*inst.texture),
        image_(f, access_, std::span(inst.src).first(kImageWords)),
        sources_(take_sources(inst)),
        places_(f, access_, image_, sources_, rule) {}

  Values run() {
    if (inst_.op == Op::gather) return gather();
    if (access_.integers) {
      const Level level = image_.level(places_.integer_level());
      const Place place = places_.texel(level);
      return image_.load(inst_, image_.address(level, place.x, place.y, place.slice), place.inside);
    }
    const LevelOfDetail lod = places_.level_of_detail();
    const Operand linear = f_.both(lod.linear, f_.not_(image_.integer_format()));
    for (Reg& r : sum_) r = b_.reg(Width::b32);
    for (const Reg r : sum_) f_.move(r, imm(0x80000000));  // -0 + x is x
    if (!Fold::is(lod.second, 0))
      levels(lod, linear);
    else
      one_level(lod.first, Fold::f32(1), linear, imm(0));
    return {sum_[0], sum_[1], sum_[2], sum_[3]};
  }

 private:
  /// Two levels, as a loop: the second one where it has a weight.
  void levels(const LevelOfDetail& lod, Operand linear) {
    const Operand both = f_.both(f_.ne(lod.fraction, imm(0)), f_.not_(image_.integer_format()));
    const Operand last = f_.select(both, imm(1), imm(0));
    const Reg n = f_.variable(imm(0));
    const uint32_t head = b_.add_block(), done = b_.add_block();
    b_.jump(head);
    b_.set_block(head);
    const Operand second = f_.ne(n, imm(0));
    const Operand weight =
        f_.fmul(f_.to_float(f_.select(second, lod.fraction, f_.sub(imm(256), lod.fraction))),
                weight_scale(1));
    one_level(f_.select(second, lod.second, lod.first), f_.select(both, weight, Fold::f32(1)),
              linear, both);
    const Operand more = f_.below(n, last);
    f_.move(n, f_.add(n, imm(1)));
    b_.branch({more.reg(), false}, head, done);
    b_.program().blocks[b_.block()].term.counts = false;  // at most twice
    b_.set_block(done);
  }

  using Chosen = std::array<Operand, 3>;  ///< for each axis: the higher texel

  /// Adds what a level gives, times its weight. `adds`: another level is added, too.
  void one_level(Operand number, Operand weight, Operand linear, Operand adds) {
    const Level level = image_.level(number);
    const Footprint at = places_.footprint(level, linear);
    finite_ = image_.finite() && always_inside(at) && !access_.compare;
    if (Fold::is(linear, 0)) return nearest(level, at, weight, adds);
    if (linear.is_imm()) return all_taps(level, at, weight);
    const Reg tap = f_.variable(imm(0));
    const Operand taps = f_.select(
        linear, f_.select(image_.has_z(), imm(8), f_.select(image_.has_y(), imm(4), imm(2))),
        imm(1));
    const uint32_t head = b_.add_block(), next = b_.add_block(), done = b_.add_block();
    b_.jump(head);
    b_.set_block(head);
    one_tap(level, at, {f_.bit(tap, 1), f_.bit(tap, 2), f_.bit(tap, 4)}, weight,
            f_.either(linear, adds), next);
    b_.jump(next);
    b_.set_block(next);
    f_.move(tap, f_.add(tap, imm(1)));
    const Operand more = f_.below(tap, taps);
    b_.branch({more.reg(), false}, head, done);
    b_.program().blocks[next].term.counts = false;  // at most eight times
    b_.set_block(done);
  }

  void nearest(const Level& level, const Footprint& at, Operand weight, Operand adds) {
    add(texel(level, at, {imm(0), imm(0), imm(0)}), weight, adds);
  }

  /// Every tap of its own, where it is known that there are so many.
  void all_taps(const Level& level, const Footprint& at, Operand weight) {
    const unsigned axes = Fold::is(image_.has_z(), 0) ? Fold::is(image_.has_y(), 0) ? 1 : 2 : 3;
    const auto nothing = image_.neutral();
    if (nothing && !access_.compare && always_inside(at))
      return straight_taps(level, at, axes, weight, *nothing);
    for (unsigned tap = 0; tap < 1U << axes; ++tap) {
      const uint32_t next = b_.add_block();
      known_tap(level, at, {imm(tap & 1), imm(tap >> 1 & 1), imm(tap >> 2)}, axes, weight, next);
      b_.jump(next);
      b_.set_block(next);
    }
  }

  static bool always_inside(const Footprint& at) {
    return std::ranges::all_of(at.axes, [](const AxisPlace& a) {
      return Fold::is(a.inside[0], 1) && Fold::is(a.inside[1], 1);
    });
  }

  /// All taps without a branch, reads first: a texel without weight is not read, and what stands in
  /// its place adds nothing.
  void straight_taps(const Level& level, const Footprint& at, unsigned axes, Operand weight,
                     uint32_t nothing) {
    std::vector<std::pair<Operand, Image::Raw>> taps;
    for (unsigned tap = 0; tap < 1U << axes; ++tap) {
      const Chosen high{imm(tap & 1), imm(tap >> 1 & 1), imm(tap >> 2)};
      const Operand share = share_of(at, high, axes);
      const Operand counts = f_.fcompare(Cond::ne, share, imm(0));
      taps.emplace_back(share, image_.read_if(inst_, address(level, at, high), counts, nothing));
    }
    for (const auto& [share, raw] : taps)
      add(image_.converted(inst_, raw, imm(1)), f_.fmul(share, weight), imm(1));
  }

  /// As f32: products of weights are exact, they have at most 24 bits.
  Operand share_of(const Footprint& at, const Chosen& high, unsigned axes) {
    Operand share = Fold::f32(1);
    for (unsigned axis = 0; axis < axes; ++axis) {
      const AxisPlace& a = at.axes[axis];
      const Operand higher =
          a.high_share ? *a.high_share : f_.fmul(f_.to_float(a.high_weight), weight_scale(1));
      share = f_.fmul(share, high[axis].imm != 0 ? higher : f_.fsub(Fold::f32(1), higher));
    }
    return share;
  }

  /// one_tap() where it is known which.
  void known_tap(const Level& level, const Footprint& at, const Chosen& high, unsigned axes,
                 Operand weight, uint32_t next) {
    const Operand share = share_of(at, high, axes);
    const uint32_t read = b_.add_block();
    b_.branch({f_.fcompare(Cond::ne, share, imm(0)).reg(), false}, read, next);
    b_.set_block(read);
    add(texel(level, at, high), f_.fmul(share, weight), imm(1));
  }

  /// A texel without weight is not read: neither its bits nor its address count.
  void one_tap(const Level& level, const Footprint& at, const Chosen& high, Operand weight,
               Operand adds, uint32_t next) {
    Operand product = imm(0);
    for (unsigned axis = 0; axis < 3; ++axis) {
      const Operand w = f_.select(high[axis], at.axes[axis].high_weight,
                                  f_.sub(imm(256), at.axes[axis].high_weight));
      product = axis == 0 ? w : f_.mul(product, w);
    }
    const uint32_t read = b_.add_block();
    const Operand any = f_.ne(product, imm(0));
    if (any.is_imm())
      b_.jump(any.imm != 0 ? read : next);
    else
      b_.branch({any.reg(), false}, read, next);
    b_.set_block(read);
    const Operand share = f_.fmul(f_.to_float(product), weight_scale(3));
    add(texel(level, at, high), f_.fmul(share, weight), adds);
  }

  void add(const Values& texel, Operand weight, Operand adds) {
    for (unsigned n = 0; n < 4; ++n) {
      if (Fold::is(adds, 0)) {
        f_.move(sum_[n], texel[n]);
        continue;
      }
      Operand sum = f_.fadd(sum_[n], f_.fmul(texel[n], weight));
      if (finite_) sum = f_.never_nan(sum);
      f_.move(sum_[n], f_.select(adds, sum, texel[n]));
    }
  }

  Operand address(const Level& level, const Footprint& at, const Chosen& high) {
    std::array<Operand, 3> i;
    for (unsigned axis = 0; axis < 3; ++axis)
      i[axis] = f_.select(high[axis], at.axes[axis].index[1], at.axes[axis].index[0]);
    return image_.address(level, i[0], i[1], f_.select(image_.has_z(), i[2], at.layer));
  }

  /// One texel of the footprint or the border's colour.
  Values texel(const Level& level, const Footprint& at, const Chosen& high) {
    Operand inside = imm(1);
    for (unsigned axis = 0; axis < 3; ++axis) {
      const AxisPlace& a = at.axes[axis];
      inside = f_.both(inside, f_.select(high[axis], a.inside[1], a.inside[0], Type::pred));
    }
    Values out = image_.load(inst_, address(level, at, high), inside);
    for (unsigned n = 0; n < 4; ++n)
      out[n] = f_.select(inside, out[n], sources_.sampler[sampler::border_x + n]);
    if (access_.compare) compare(out);
    return out;
  }

  /// 1 where the operand compares with X as the sampler says, else 0.
  void compare(Values& texel) {
    const Operand function = f_.field(sources_.sampler[sampler::state], sampler::kCompareShift, 3);
    const Operand x = texel[0], value = *sources_.compare;
    const auto part = [&](uint32_t mask, Cond cond) {
      return f_.both(f_.bit(function, mask), f_.fcompare(cond, value, x));
    };
    const Operand holds = f_.either(f_.either(part(1, Cond::lt), part(2, Cond::eq)),
                                    f_.either(part(4, Cond::gt), f_.eq(function, imm(7))));
    texel.fill(f_.select(holds, Fold::f32(1), imm(0)));
  }

  Values gather() {
    const Level level = image_.level(places_.level_of_detail().first);
    const Footprint at = places_.footprint(level, imm(1));
    constexpr unsigned kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Values out;
    for (unsigned n = 0; n < 4; ++n)
      out[n] = texel(level, at, {imm(kOrder[n][0]), imm(kOrder[n][1]), imm(0)})[access_.component];
    return out;
  }

  Fold& f_;
  Builder& b_;
  const Inst& inst_;
  const TextureAccess& access_;
  Image image_;
  Sources sources_;
  Coordinates places_;
  std::array<Reg, 4> sum_;
  bool finite_ = false;  ///< all that is added
};

}  // namespace

Values sample(Fold& f, const Inst& inst, FilterRule rule) {
  return Sampling(f, inst, rule).run();
}

}  // namespace lanewise::ir::textures
