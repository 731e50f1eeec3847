// Half precision of GCN3. The host computes in doubles and rounds once.
#include "tests/values/gcn/forms.hpp"

namespace values::gcn::halves {

namespace {

bool is_nan(uint32_t h) {
  return (h & 0x7fff) > 0x7c00;
}
bool is_signalling(uint32_t h) {
  return is_nan(h) && (h & 0x200) == 0;
}

/// Operands and results under the mode.
struct Half {
  Mode mode;
  static uint32_t cut(uint32_t h, bool keep) { return keep || (h & 0x7c00) != 0 ? h : h & 0x8000; }
  double operand(uint32_t x) const {
    return f16_to_double(cut(x & 0xffff, (mode.wide_subnormals & 1) != 0));
  }
  template <typename F>
  uint32_t operator()(F f, uint32_t a, uint32_t b = 0, uint32_t c = 0) const {
    const volatile double x = operand(a), y = operand(b), z = operand(c);
    const Rounding direction(mode.direction());
    const volatile double exact = f(x, y, z);
    return cut(half_result(exact, mode.wide_subnormals == 0), (mode.wide_subnormals & 2) != 0);
  }
};

Operation op(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::integer, std::vector<Pool>(sources, f16()), std::move(f)};
}

uint32_t extreme(Mode mode, uint32_t a, uint32_t b, bool least) {
  a &= 0xffff, b &= 0xffff;
  if (mode.ieee && (is_signalling(a) || is_signalling(b))) return kNaN16;
  if (is_nan(a) && is_nan(b)) return kNaN16;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  const auto order = [](uint32_t h) {
    return (h & 0x8000) != 0 ? -static_cast<int>(h & 0x7fff) - 1 : static_cast<int>(h);
  };
  return (order(a) < order(b)) == least ? a : b;
}

std::vector<Operation> arithmetic(Mode mode) {
  const Half h{mode};
  const auto two = [h](auto f) { return [h, f](auto a, auto b, auto) { return h(f, a, b); }; };
  return {op("v_add_f16", 2, two([](double x, double y, double) { return x + y; })),
          op("v_sub_f16", 2, two([](double x, double y, double) { return x - y; })),
          op("v_subrev_f16", 2, two([](double x, double y, double) { return y - x; })),
          op("v_mul_f16", 2, two([](double x, double y, double) { return x * y; })),
          op("v_min_f16", 2, [mode](auto a, auto b, auto) { return extreme(mode, a, b, true); }),
          op("v_max_f16", 2, [mode](auto a, auto b, auto) { return extreme(mode, a, b, false); })};
}

std::vector<Operation> single(Mode mode) {
  const Half h{mode};
  const auto whole = [h](double (*f)(double)) {
    return [h, f](auto a, auto, auto) {
      const Rounding nearest(FE_TONEAREST);
      return f16_bits(f(h.operand(a)));
    };
  };
  const auto split = [h](uint32_t a, int& e) {
    e = 0;
    const double x = h.operand(a);
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  };
  const auto to_integer = [h](double least, double most) {
    return [=](auto a, auto, auto) -> uint32_t {
      const double x = h.operand(a);
      if (std::isnan(x)) return 0;
      return static_cast<uint32_t>(static_cast<int>(std::clamp(std::trunc(x), least, most))) &
             0xffff;
    };
  };
  std::vector<Operation> ops = {
      op("v_floor_f16", 1, whole(std::floor)),
      op("v_ceil_f16", 1, whole(std::ceil)),
      op("v_trunc_f16", 1, whole(std::trunc)),
      op("v_rndne_f16", 1, whole(std::nearbyint)),
      op("v_fract_f16", 1,
         [h](auto a, auto, auto) {
           const uint32_t r = h([](double x, double, double) { return x - std::floor(x); }, a);
           return r == 0x3c00 ? 0x3bffU : r;
         }),
      op("v_frexp_mant_f16", 1,
         [split](auto a, auto, auto) {
           int e = 0;
           return f16_bits(split(a, e));
         }),
      op("v_frexp_exp_i16_f16", 1,
         [split](auto a, auto, auto) {
           int e = 0;
           split(a, e);
           return static_cast<uint32_t>(e) & 0xffff;
         }),
      op("v_cvt_u16_f16", 1, to_integer(0, 65535)),
      op("v_cvt_i16_f16", 1, to_integer(-32768, 32767))};
  Operation from_unsigned = op("v_cvt_f16_u16", 1, [mode](auto a, auto, auto) {
    const Rounding direction(mode.direction());
    return f16_bits(static_cast<double>(a & 0xffff));
  });
  Operation from_signed = op("v_cvt_f16_i16", 1, [mode](auto a, auto, auto) {
    const Rounding direction(mode.direction());
    return f16_bits(static_cast<double>(static_cast<int16_t>(a)));
  });
  for (Operation* o : {&from_unsigned, &from_signed}) {
    o->pools = {u16(12)};
    ops.push_back(*o);
  }
  return ops;
}

}  // namespace

void cases(Mode mode, std::vector<Case>& out) {
  const Half h{mode};
  for (const Operation& o : arithmetic(mode)) short_and_long(kGfx8, o, out);
  for (const Operation& o : single(mode)) short_and_long(kGfx8, o, out);
  long_only(kGfx8,
            op("v_fma_f16", 3,
               [h](auto a, auto b, auto c) {
                 // The product is exact; the sum is made odd where the double loses something.
                 return h(
                     [](double x, double y, double z) {
                       const volatile double zero = x * y + z;
                       if (zero == 0) return double{zero};  // its sign follows the direction
                       const Rounding nearest(FE_TONEAREST);
                       const volatile double p = x * y, s = p + z;
                       const volatile double t = s - p, error = (p - (s - t)) + (z - t);
                       const double sum = s;
                       if (!std::isfinite(sum) || error == 0 || (raw(sum) & 1) != 0) return sum;
                       return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
                     },
                     a, b, c);
               }),
            out);
  // Signs are bit 15, and the clamp's limits are halves.
  Step changed{"v_add_f16_e64 {d}, -|v10|, -v11", nullptr};
  changed.rule = [h](const Lane& l, Out o) {
    o[0] = h([](double x, double y, double) { return x + y; }, (l[0] & 0x7fff) | 0x8000,
             l[1] ^ 0x8000);
  };
  Step clamped{"v_mul_f16_e64 {d}, v10, v11 clamp", nullptr};
  clamped.rule = [h](const Lane& l, Out o) {
    const uint32_t r = h([](double x, double y, double) { return x * y; }, l[0], l[1]);
    o[0] = is_nan(r) || (r & 0x8000) != 0 ? 0 : std::min(r, 0x3c00U);
  };
  const Tuples inputs = with_flags({f16(), f16()});
  out.push_back(vector_case("v_add_f16_e64", inputs, {changed}));
  out.push_back(vector_case("v_mul_f16_e64", inputs, {clamped}));
}

}  // namespace values::gcn::halves
