// Integer vector instructions on bits, bytes and halves, and registers by number.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::bit_ops {

namespace {

int32_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}
uint32_t byte(uint32_t x, unsigned n) {
  return x >> (8 * n) & 255;
}
uint32_t apart(uint32_t x, uint32_t y) {
  return x > y ? x - y : y - x;
}
Operation integer(const char* name, std::vector<Pool> pools, Function f) {
  const auto sources = static_cast<unsigned>(pools.size());
  return {name, sources, Kind::integer, std::move(pools), std::move(f)};
}

uint32_t first_unlike_sign(uint32_t a) {
  const uint32_t x = s(a) < 0 ? ~a : a;
  return x == 0 ? 0xffffffff : static_cast<uint32_t>(std::countl_zero(x));
}
uint32_t bytes_apart(uint32_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (unsigned n = 0; n < 4; ++n)
    if (!masked || byte(b, n) != 0) sum += apart(byte(a, n), byte(b, n));
  return sum;
}
uint32_t permuted(uint32_t a, uint32_t b, uint32_t sel) {
  const uint64_t all = uint64_t{a} << 32 | b;
  uint32_t r = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const uint32_t k = byte(sel, n);
    uint32_t v = 255;
    if (k < 8) v = static_cast<uint32_t>(all >> (8 * k) & 255);
    if (k >= 8 && k < 12) v = (all >> (16 * (k - 8) + 15) & 1) != 0 ? 255 : 0;
    if (k == 12) v = 0;
    r |= v << (8 * n);
  }
  return r;
}
uint32_t means(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 4; ++n) r |= (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) / 2 << (8 * n);
  return r;
}

std::vector<Operation> one_source() {
  const Pool x = u32(24).with({0x00010000, 0xfffeffff, 0x40000000});
  return {
      integer("v_ffbh_u32", {x},
              [](auto a, auto, auto) {
                return a == 0 ? 0xffffffff : static_cast<uint32_t>(std::countl_zero(a));
              }),
      integer("v_ffbl_b32", {x},
              [](auto a, auto, auto) {
                return a == 0 ? 0xffffffff : static_cast<uint32_t>(std::countr_zero(a));
              }),
      integer("v_ffbh_i32", {x}, [](auto a, auto, auto) { return first_unlike_sign(a); }),
  };
}

std::vector<Operation> long_ones() {
  const Pool x = u32(), n = shifts();
  const Pool selectors = u32().with({0x03020100, 0x07060504, 0x0b0a0908, 0x0d0c0408, 0xff0c0700});
  return {integer("v_alignbyte_b32", {x, x, n},
                  [](auto a, auto b, auto c) {
                    return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3)));
                  }),
          integer("v_lerp_u8", {x, x, x}, [](auto a, auto b, auto c) { return means(a, b, c); }),
          integer("v_min3_i32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    return static_cast<uint32_t>(std::min({s(a), s(b), s(c)}));
                  }),
          integer("v_max3_i32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    return static_cast<uint32_t>(std::max({s(a), s(b), s(c)}));
                  }),
          integer("v_min3_u32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    return std::min({a, b, c});
                  }),
          integer("v_max3_u32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    return std::max({a, b, c});
                  }),
          integer("v_med3_i32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    int32_t v[] = {s(a), s(b), s(c)};
                    std::sort(std::begin(v), std::end(v));
                    return static_cast<uint32_t>(v[1]);
                  }),
          integer("v_med3_u32", {x, x, x},
                  [](auto a, auto b, auto c) {
                    uint32_t v[] = {a, b, c};
                    std::sort(std::begin(v), std::end(v));
                    return v[1];
                  }),
          integer("v_sad_u8", {x, x, x},
                  [](auto a, auto b, auto c) { return bytes_apart(a, b, false) + c; }),
          integer("v_sad_hi_u8", {x, x, x},
                  [](auto a, auto b, auto c) { return (bytes_apart(a, b, false) << 16) + c; }),
          integer("v_sad_u16", {x, x, x},
                  [](auto a, auto b, auto c) {
                    return apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16) + c;
                  }),
          integer("v_sad_u32", {x, x, x}, [](auto a, auto b, auto c) { return apart(a, b) + c; }),
          integer("v_msad_u8", {x, x, x},
                  [](auto a, auto b, auto c) { return bytes_apart(a, b, true) + c; }),
          integer("v_perm_b32", {x, x, selectors},
                  [](auto a, auto b, auto c) { return permuted(a, b, c); })};
}

/// In the short encoding before GCN3.
std::vector<Operation> once_short() {
  const Pool x = u32(), n = shifts();
  return {integer("v_bfm_b32", {n, n},
                  [](auto a, auto b, auto) { return ((1U << (a & 31)) - 1) << (b & 31); }),
          integer("v_bcnt_u32_b32", {x, x}, [](auto a, auto b, auto) {
            return static_cast<uint32_t>(std::popcount(a)) + b;
          })};
}

std::vector<Operation> products() {
  const Pool x = u32();
  const auto low = [](uint32_t v) { return int64_t{s(v << 8) >> 8}; };
  return {
      integer("v_mul_hi_i32_i24", {x, x},
              [low](auto a, auto b, auto) { return static_cast<uint32_t>(low(a) * low(b) >> 32); }),
      integer("v_mul_hi_u32_u24", {x, x}, [](auto a, auto b, auto) {
        return static_cast<uint32_t>(uint64_t{a & 0xffffff} * (b & 0xffffff) >> 32);
      })};
}

std::vector<Operation> halves() {
  const Pool x = u16();
  const auto i = [](uint32_t v) { return static_cast<int16_t>(v); };
  const auto cut = [](int v) { return static_cast<uint32_t>(v) & 0xffff; };
  return {
      integer("v_max_u16", {x, x},
              [](auto a, auto b, auto) { return std::max(a & 0xffff, b & 0xffff); }),
      integer("v_min_u16", {x, x},
              [](auto a, auto b, auto) { return std::min(a & 0xffff, b & 0xffff); }),
      integer("v_max_i16", {x, x}, [=](auto a, auto b, auto) { return cut(std::max(i(a), i(b))); }),
      integer("v_min_i16", {x, x},
              [=](auto a, auto b, auto) { return cut(std::min(i(a), i(b))); })};
}

Step words_step(std::string text, unsigned words, std::function<void(const Lane&, Out)> f) {
  Step step{std::move(text), nullptr, words};
  step.rule = std::move(f);
  return step;
}

/// Four windows of v[10:11]'s bytes against v12, added to what v[13:...] holds.
void wide_differences(Generation g, std::vector<Case>& out) {
  const auto window = [](const Lane& l, unsigned n) {
    return static_cast<uint32_t>(l.pair(0) >> (8 * n));
  };
  const auto packed = [&](const char* name, bool masked) {
    out.push_back(vector_case(
        name, with_flags({u64(), u32(), u64()}),
        {words_step(
            fmt::format("{} {{p}}, v[10:11], v12, v[13:14]", name), 2, [=](const Lane& l, Out o) {
              o[0] = o[1] = 0;
              for (unsigned n = 0; n < 4; ++n) {
                const auto so_far = static_cast<uint32_t>(l.pair(3) >> (16 * n) & 0xffff);
                const uint32_t sum = (bytes_apart(window(l, n), l[2], masked) + so_far) & 0xffff;
                o[n / 2] |= sum << (16 * (n % 2));
              }
            })}));
  };
  packed("v_mqsad_pk_u16_u8", true);
  if (g == kGfx6) return;
  packed("v_qsad_pk_u16_u8", false);
  out.push_back(vector_case(
      "v_mqsad_u32_u8", with_flags({u64(), u32(), u64(), u64()}),
      {words_step("v_mqsad_u32_u8 {q}, v[10:11], v12, v[13:16]", 4, [=](const Lane& l, Out o) {
        for (unsigned n = 0; n < 4; ++n) o[n] = bytes_apart(window(l, n), l[2], true) + l[3 + n];
      })}));
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  for (const Operation& op : one_source()) short_and_long(g, op, out);
  for (const Operation& op : products()) short_and_long(g, op, out);
  for (const Operation& op : once_short())
    g == kGfx8 ? long_only(g, op, out) : short_and_long(g, op, out);
  for (const Operation& op : long_ones())
    if (g == kGfx8 || op.name != "v_perm_b32") long_only(g, op, out);
  wide_differences(g, out);
  if (g != kGfx8) return;
  for (const Operation& op : halves()) short_and_long(g, op, out);
  const Pool x = u16();
  const auto mad = [](auto a, auto b, auto c) { return (a * b + c) & 0xffff; };
  long_only(g, integer("v_mad_u16", {x, x, x}, mad), out);
  long_only(g, integer("v_mad_i16", {x, x, x}, mad), out);
}

/// The number of registers is the same in all lanes, so it comes from the wave's first one.
void moving_cases(std::vector<Case>& out) {
  const Tuples inputs = with_flags({u32(), u32(), u32(), u32()}, 256);
  const auto read = [](const char* number, unsigned n) {
    Step step{fmt::format("{}v_movrels_b32 {{d}}, v10\ns_mov_b32 m0, -1", number), nullptr};
    step.rule = [n](const Lane& l, Out o) { o[0] = l[n]; };
    return step;
  };
  const std::string dynamic = "s_and_b32 s14, s25, 3\ns_mov_b32 m0, s14\n";  // 37 & 3
  const auto cases = [&](const std::string& name, std::vector<Step> steps) {
    std::vector<Step> long_steps = steps;
    for (Step& step : long_steps)
      step.text.replace(step.text.find(name), name.size(), name + "_e64");
    out.push_back(vector_case(name, inputs, steps));
    out.push_back(vector_case(name + "_e64", inputs, long_steps));
  };
  cases("v_movrels_b32", {read("s_mov_b32 m0, 2\n", 2), read(dynamic.c_str(), 1)});
  // v60 to v63 are free; the one that is counted to is read back.
  const auto written = [&](const std::string& number, unsigned n) {
    Step step{fmt::format("v_mov_b32 v60, v11\nv_mov_b32 v61, v11\nv_mov_b32 v62, v11\n{}"
                          "v_movreld_b32 v60, v10\ns_mov_b32 m0, -1\nv_mov_b32 {{d}}, v{}",
                          number, 60 + n),
              nullptr};
    step.rule = [](const Lane& l, Out o) { o[0] = l[0]; };
    return step;
  };
  Step beside = written(dynamic, 2);
  beside.rule = [](const Lane& l, Out o) { o[0] = l[1]; };
  cases("v_movreld_b32", {written("s_mov_b32 m0, 2\n", 2), written(dynamic, 1), beside});
  Step both{"v_mov_b32 v61, 0\n" + dynamic +
                "v_movrelsd_b32 v60, v11\ns_mov_b32 m0, -1\nv_mov_b32 {d}, v61",
            nullptr};
  both.rule = [](const Lane& l, Out o) { o[0] = l[2]; };
  cases("v_movrelsd_b32", {both});
}

}  // namespace values::gcn::bit_ops
