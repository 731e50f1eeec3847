// Conversions of two numbers into the halves of a register, and of one into a byte of it.
#include <cstring>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::packing {

namespace {

Operation real(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::real, std::vector<Pool>(sources, f32()), std::move(f)};
}
Operation integer(const char* name, unsigned sources, Function f) {
  return {name, sources, Kind::integer, std::vector<Pool>(sources, u32()), std::move(f)};
}

uint32_t both(uint32_t low, uint32_t high) {
  return (low & 0xffff) | high << 16;
}
std::vector<Operation> packs(Mode mode) {
  const auto normal = [mode](uint32_t x, double most, double least) -> uint32_t {
    const double v = flushed(f32_of(x), mode.flush);
    if (std::isnan(v)) return 0;
    const Rounding nearest(FE_TONEAREST);
    return static_cast<uint32_t>(
        static_cast<int32_t>(std::clamp(std::nearbyint(v * most), least, most)));
  };
  const auto half = [mode](uint32_t x) {
    const Rounding cut(FE_TOWARDZERO);
    return f16_bits(flushed(f32_of(x), mode.flush));
  };
  const auto s = [](uint32_t x) { return static_cast<int32_t>(x); };
  std::vector<Operation> ops = {
      real("v_cvt_pkrtz_f16_f32", 2,
           [half](auto a, auto b, auto) { return both(half(a), half(b)); }),
      real("v_cvt_pknorm_i16_f32", 2,
           [normal](auto a, auto b, auto) {
             return both(normal(a, 32767, -32767), normal(b, 32767, -32767));
           }),
      real("v_cvt_pknorm_u16_f32", 2,
           [normal](auto a, auto b, auto) {
             return both(normal(a, 65535, 0), normal(b, 65535, 0));
           }),
      integer("v_cvt_pk_u16_u32", 2,
              [](auto a, auto b, auto) { return both(std::min(a, 65535U), std::min(b, 65535U)); }),
      integer("v_cvt_pk_i16_i32", 2, [s](auto a, auto b, auto) {
        const auto cut = [s](uint32_t x) {
          return static_cast<uint32_t>(std::clamp(s(x), -32768, 32767));
        };
        return both(cut(a), cut(b));
      })};
  for (Operation& op : ops) op.clamps = false;
  return ops;
}

/// One byte of input 2, or of what the result holds, becomes input 0 in the mode's direction.
void packed_bytes(Generation g, Mode mode, std::vector<Case>& out) {
  const Pool places = u32().with({0, 1, 2, 3, 0xfffffffe});
  const Pool numbers = f32().with({raw(0.5F), raw(1.5F), raw(2.5F), raw(-0.5F), raw(254.5F),
                                   raw(255.0F), raw(255.5F), raw(256.0F), raw(65536.5F)});
  const Tuples inputs = with_flags({numbers, places, u32()}, 1024);
  const auto into = [mode](uint32_t x, uint32_t place, uint32_t old) {
    const float value = flushed(f32_of(x), mode.flush);
    const Rounding direction(mode.direction());
    const volatile double whole = std::nearbyint(static_cast<double>(value));
    const double byte = std::isnan(value) ? 0.0 : std::clamp(double{whole}, 0.0, 255.0);
    uint8_t bytes[4];
    std::memcpy(bytes, &old, 4);
    bytes[place % 4] = static_cast<uint8_t>(byte);
    std::memcpy(&old, bytes, 4);
    return old;
  };
  const auto make = [&](const std::string& text, bool reads_result,
                        std::function<uint32_t(const Lane&)> f) {
    Step s{text, [f](const Lane& l, Out o) { o[0] = f(l); }};
    if (reads_result) s.old = 2;
    return s;
  };
  const std::string pack = "v_cvt_pk_u8_f32 {d}, ", add = "v_cvt_pkaccum_u8_f32";
  out.push_back(vector_case(
      "v_cvt_pk_u8_f32", inputs,
      {make(pack + "v10, v11, v12", false, [=](auto& l) { return into(l[0], l[1], l[2]); }),
       make(pack + "-|v10|, 2, v12", false,
            [=](auto& l) { return into(l[0] | 0x80000000, 2, l[2]); }),
       make(pack + "v10, v11, s25", false,
            [=](auto& l) { return into(l[0], l[1], kConstants[1]); }),
       make(pack + "4.0, v11, v12", false, [=](auto& l) { return into(raw(4.0F), l[1], l[2]); })}));
  const auto usual = [=](const Lane& l) { return into(l[0], l[1], l[2]); };
  const std::string full = g == kGfx8 ? add : add + "_e64";
  out.push_back(vector_case(full, inputs,
                            {make(full + " {d}, v10, v11", true, usual),
                             make(full + " {d}, |v10|, 3", true,
                                  [=](auto& l) { return into(l[0] & 0x7fffffff, 3, l[2]); })}));
  if (g == kGfx8) return;
  out.push_back(vector_case(add, inputs,
                            {make(add + "_e32 {d}, v10, v11", true, usual),
                             make(add + "_e32 {d}, 0x42f78000, v11", true,
                                  [=](auto& l) { return into(0x42f78000, l[1], l[2]); })}));
}

}  // namespace

void cases(Generation g, Mode mode, std::vector<Case>& out) {
  for (const Operation& op : packs(mode))
    g == kGfx8 ? long_only(g, op, out) : short_and_long(g, op, out);
  packed_bytes(g, mode, out);
}

}  // namespace values::gcn::packing
