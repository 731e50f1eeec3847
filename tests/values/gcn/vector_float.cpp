// f32 vector instructions: sums, products, extremes, rounding, conversions. The host computes in
// the kernel's rounding direction; subnormals are flushed here.
#include "tests/values/gcn/forms.hpp"

namespace values::gcn::vector_float {

namespace {

/// One instruction's arithmetic under a mode.
struct Arithmetic {
  Mode mode;
  bool flush;  ///< operands and result

  float operand(uint32_t x) const { return flushed(f32_of(x), flush); }
  template <typename F>
  uint32_t operator()(F compute, uint32_t a, uint32_t b = 0, uint32_t c = 0) const {
    const volatile float x = operand(a), y = operand(b), z = operand(c);
    const Rounding direction(mode.direction());
    return bits(flushed_result([&](float k) { return compute(k, x, y, z); }, flush));
  }
};

uint32_t sum_of_product(const Arithmetic& f, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t product = f([](float k, float x, float y, float) { return k * x * y; }, a, b);
  return f([](float k, float x, float y, float) { return k * x + k * y; }, product, c);
}

bool is_nan(uint32_t x) {
  return (x & 0x7fffffff) > 0x7f800000;
}
/// Smaller on the number line, -0 below +0; no operand is a NaN.
bool below(uint32_t a, uint32_t b) {
  const bool a_negative = a >> 31 != 0, b_negative = b >> 31 != 0;
  if (a_negative != b_negative) return a_negative;
  return a_negative ? a > b : a < b;
}
bool is_signalling(uint32_t x) {
  return is_nan(x) && (x >> 22 & 1) == 0;
}
/// No mode flushes subnormals here. In IEEE mode a signalling NaN makes a quiet one; any other
/// loses.
uint32_t extreme(Mode mode, uint32_t a, uint32_t b, bool least) {
  if (mode.ieee && (is_signalling(a) || is_signalling(b))) return kNaN32;
  if (is_nan(a) && is_nan(b)) return kNaN32;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return below(a, b) == least ? a : b;
}

/// To an integer, towards zero, clamped to the range; NaN gives 0.
uint32_t to_integer(uint32_t x, double least, double most) {
  if (is_nan(x)) return 0;
  const double t = std::trunc(static_cast<double>(f32_of(x)));
  return static_cast<uint32_t>(static_cast<int64_t>(std::clamp(t, least, most)));
}

Operation real(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::real, std::vector<Pool>(sources, f32()), std::move(f)};
}

std::vector<Operation> arithmetic(Mode mode) {
  const Arithmetic f{mode, mode.flush}, flushing{mode, true};
  std::vector<Operation> ops = {
      real("v_add_f32", 2,
           [f](auto a, auto b, auto) {
             return f([](float k, float x, float y, float) { return k * x + k * y; }, a, b);
           }),
      real("v_sub_f32", 2,
           [f](auto a, auto b, auto) {
             return f([](float k, float x, float y, float) { return k * x - k * y; }, a, b);
           }),
      real("v_subrev_f32", 2,
           [f](auto a, auto b, auto) {
             return f([](float k, float x, float y, float) { return k * y - k * x; }, a, b);
           }),
      real("v_mul_f32", 2,
           [f](auto a, auto b, auto) {
             return f([](float k, float x, float y, float) { return k * x * y; }, a, b);
           }),
      real("v_min_f32", 2, [mode](auto a, auto b, auto) { return extreme(mode, a, b, true); }),
      real("v_max_f32", 2, [mode](auto a, auto b, auto) { return extreme(mode, a, b, false); }),
      // Two roundings, and no subnormals whatever the mode says.
      real("v_mac_f32", 2,
           [flushing](auto a, auto b, auto c) { return sum_of_product(flushing, a, b, c); })};
  ops.back().adds_to_result = true;
  const struct {
    const char* name;
    float (*f)(float);
    int direction;
  } rounds[] = {{"v_trunc_f32", std::trunc, FE_TONEAREST},
                {"v_ceil_f32", std::ceil, FE_TONEAREST},
                {"v_floor_f32", std::floor, FE_TONEAREST},
                {"v_rndne_f32", std::nearbyint, FE_TONEAREST}};
  for (const auto& r : rounds)
    ops.push_back(real(r.name, 1, [f, r](auto a, auto, auto) {
      const volatile float x = f.operand(a);
      const Rounding direction(r.direction);
      return bits(r.f(x));
    }));
  return ops;
}

std::vector<Operation> conversions(Mode mode) {
  const auto from_integer = [mode](double value) {
    const volatile double exact = value;
    const Rounding direction(mode.direction());
    return bits(static_cast<float>(exact));
  };
  Operation from_signed = {"v_cvt_f32_i32", 1, Kind::integer, {u32(24)}, nullptr};
  from_signed.f = [=](auto a, auto, auto) { return from_integer(static_cast<int32_t>(a)); };
  Operation from_unsigned = {"v_cvt_f32_u32", 1, Kind::integer, {u32(24)}, nullptr};
  from_unsigned.f = [=](auto a, auto, auto) { return from_integer(a); };
  std::vector<Operation> ops = {
      from_signed, from_unsigned,
      real("v_cvt_u32_f32", 1, [](auto a, auto, auto) { return to_integer(a, 0, 4294967295.0); }),
      real("v_cvt_i32_f32", 1,
           [](auto a, auto, auto) { return to_integer(a, -2147483648.0, 2147483647.0); })};
  for (Operation& op : ops) op.clamps = false;
  return ops;
}

}  // namespace

void cases(Generation g, Mode mode, std::vector<Case>& out) {
  for (const Operation& op : arithmetic(mode)) short_and_long(g, op, out);
  for (const Operation& op : conversions(mode)) short_and_long(g, op, out);
  const Arithmetic f{mode, mode.flush}, flushing{mode, true};
  long_only(g,
            real("v_mad_f32", 3,
                 [flushing](auto a, auto b, auto c) { return sum_of_product(flushing, a, b, c); }),
            out);
  long_only(g,
            real("v_fma_f32", 3,
                 [f](auto a, auto b, auto c) {
                   return f(
                       [](float k, float x, float y, float z) { return std::fma(k * x, y, k * z); },
                       a, b, c);
                 }),
            out);
}

}  // namespace values::gcn::vector_float
