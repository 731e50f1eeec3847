// Integer vector instructions: logic, shifts, products, bit fields, sums with carries, 64-bit and
// 16-bit ones.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::vector_integer {

namespace {

int32_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}
uint32_t u(int64_t x) {
  return static_cast<uint32_t>(x);
}
uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (x >> n & 1) << (31 - n);
  return r;
}
int64_t low24(uint32_t x) {
  return s(x << 8) >> 8;
}
uint64_t low24u(uint32_t x) {
  return x & 0xffffff;
}
uint32_t field(uint32_t x, uint32_t at, uint32_t width) {
  return x >> (at & 31) & ((1U << (width & 31)) - 1);
}
uint32_t signed_field(uint32_t x, uint32_t at, uint32_t width) {
  const uint32_t w = width & 31;
  if (w == 0) return 0;
  const int64_t moved = int64_t{s(x)} >> (at & 31);
  return u(static_cast<int64_t>(static_cast<uint64_t>(moved) << (64 - w)) >> (64 - w));
}

Operation integer(const char* name, std::vector<Pool> pools, Function f) {
  const auto sources = static_cast<unsigned>(pools.size());
  return {name, sources, Kind::integer, std::move(pools), std::move(f)};
}

/// Those with a short encoding.
std::vector<Operation> short_ones(Generation g) {
  const Pool x = u32(), n = shifts();
  std::vector<Operation> ops = {
      integer("v_mov_b32", {x}, [](auto a, auto, auto) { return a; }),
      integer("v_not_b32", {x}, [](auto a, auto, auto) { return ~a; }),
      integer("v_bfrev_b32", {x}, [](auto a, auto, auto) { return reversed(a); }),
      integer("v_and_b32", {x, x}, [](auto a, auto b, auto) { return a & b; }),
      integer("v_or_b32", {x, x}, [](auto a, auto b, auto) { return a | b; }),
      integer("v_xor_b32", {x, x}, [](auto a, auto b, auto) { return a ^ b; }),
      integer("v_min_i32", {x, x}, [](auto a, auto b, auto) { return s(a) < s(b) ? a : b; }),
      integer("v_max_i32", {x, x}, [](auto a, auto b, auto) { return s(a) < s(b) ? b : a; }),
      integer("v_min_u32", {x, x}, [](auto a, auto b, auto) { return a < b ? a : b; }),
      integer("v_max_u32", {x, x}, [](auto a, auto b, auto) { return a < b ? b : a; }),
      integer("v_lshlrev_b32", {n, x}, [](auto a, auto b, auto) { return b << (a & 31); }),
      integer("v_lshrrev_b32", {n, x}, [](auto a, auto b, auto) { return b >> (a & 31); }),
      integer("v_ashrrev_i32", {n, x}, [](auto a, auto b, auto) { return u(s(b) >> (a & 31)); }),
      integer("v_mul_i32_i24", {x, x}, [](auto a, auto b, auto) { return u(low24(a) * low24(b)); }),
      integer("v_mul_u32_u24", {x, x},
              [](auto a, auto b, auto) { return static_cast<uint32_t>(low24u(a) * low24u(b)); })};
  if (g == kGfx8) return ops;
  ops.push_back(integer("v_lshl_b32", {x, n}, [](auto a, auto b, auto) { return a << (b & 31); }));
  ops.push_back(integer("v_lshr_b32", {x, n}, [](auto a, auto b, auto) { return a >> (b & 31); }));
  ops.push_back(
      integer("v_ashr_i32", {x, n}, [](auto a, auto b, auto) { return u(s(a) >> (b & 31)); }));
  return ops;
}

/// 16-bit ones of GCN3: the upper half of the result is 0.
std::vector<Operation> narrow_ones() {
  const Pool x = u16(), n = shifts();
  return {integer("v_add_u16", {x, x}, [](auto a, auto b, auto) { return (a + b) & 0xffff; }),
          integer("v_sub_u16", {x, x}, [](auto a, auto b, auto) { return (a - b) & 0xffff; }),
          integer("v_subrev_u16", {x, x}, [](auto a, auto b, auto) { return (b - a) & 0xffff; }),
          integer("v_mul_lo_u16", {x, x}, [](auto a, auto b, auto) { return a * b & 0xffff; }),
          integer("v_lshlrev_b16", {n, x},
                  [](auto a, auto b, auto) { return (b & 0xffff) << (a & 15) & 0xffff; }),
          integer("v_lshrrev_b16", {n, x},
                  [](auto a, auto b, auto) { return (b & 0xffff) >> (a & 15); }),
          integer("v_ashrrev_i16", {n, x}, [](auto a, auto b, auto) {
            return u(static_cast<int16_t>(b & 0xffff) >> (a & 15)) & 0xffff;
          })};
}

std::vector<Operation> long_ones() {
  const Pool x = u32(), n = shifts();
  return {
      integer("v_mul_lo_u32", {x, x}, [](auto a, auto b, auto) { return a * b; }),
      integer("v_mul_lo_i32", {x, x}, [](auto a, auto b, auto) { return a * b; }),
      integer("v_mul_hi_u32", {x, x},
              [](auto a, auto b, auto) { return u(static_cast<int64_t>(uint64_t{a} * b >> 32)); }),
      integer("v_mul_hi_i32", {x, x},
              [](auto a, auto b, auto) { return u(int64_t{s(a)} * s(b) >> 32); }),
      integer("v_bfe_u32", {x, n, n}, [](auto a, auto b, auto c) { return field(a, b, c); }),
      integer("v_bfe_i32", {x, n, n}, [](auto a, auto b, auto c) { return signed_field(a, b, c); }),
      integer("v_bfi_b32", {x, x, x}, [](auto a, auto b, auto c) { return (a & b) | (~a & c); }),
      integer("v_alignbit_b32", {x, x, n},
              [](auto a, auto b, auto c) {
                return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31));
              }),
      integer("v_mad_i32_i24", {x, x, x},
              [](auto a, auto b, auto c) { return u(low24(a) * low24(b)) + c; }),
      integer("v_mad_u32_u24", {x, x, x}, [](auto a, auto b, auto c) {
        return static_cast<uint32_t>(low24u(a) * low24u(b)) + c;
      })};
}

// ---- sums with a carry

struct Sum {
  uint32_t value, carry;
};
using Adder = Sum (*)(uint32_t a, uint32_t b, uint32_t carry);

Sum add(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t r = uint64_t{a} + b + c;
  return {static_cast<uint32_t>(r), static_cast<uint32_t>(r >> 32)};
}
Sum subtract(uint32_t a, uint32_t b, uint32_t c) {
  return {a - b - c, uint64_t{a} < uint64_t{b} + c ? 1U : 0U};
}
Sum subtract_from(uint32_t a, uint32_t b, uint32_t c) {
  return subtract(b, a, c);
}

Step sum_step(const std::string& text, Adder f, const Source& a, const Source& b, bool carry_in) {
  Step s{text, nullptr, 1, true};
  s.rule = [=](const Lane& l, Out out) {
    const Sum r = f(a.value(l), b.value(l), carry_in ? l.flag(1) : 0);
    out[0] = r.value;
    out[1] = r.carry;
  };
  return s;
}

Step short_sum(const std::string& name, Adder f, const Source& a, bool in) {
  return sum_step(
      fmt::format("s_mov_b64 vcc, s[22:23]\n{} {{d}}, vcc, {}, v11{}\ns_mov_b64 {{m}}, vcc", name,
                  a.text, in ? ", vcc" : ""),
      f, a, vgpr(1), in);
}
Step long_sum(const std::string& name, Adder f, const Source& a, const Source& b, bool in) {
  return sum_step(
      fmt::format("{}_e64 {{d}}, {{m}}, {}, {}{}", name, a.text, b.text, in ? ", s[22:23]" : ""), f,
      a, b, in);
}
/// The carries as a number: they are 0 in inactive lanes.
Step counted_carries(const std::string& name, Adder f) {
  Step s{fmt::format("{0} {{d}}, vcc, v10, v11\nv_mov_b32 {{d}}, vcc_lo", name), nullptr};
  s.rule = [f](const Lane& l, Out out) {
    out[0] = 0;
    for (size_t n = 0; n < 32; ++n)
      if ((l.mask(0) >> n & 1) != 0) out[0] |= f(l.wave[n][0], l.wave[n][1], 0).carry << n;
  };
  return s;
}

/// What lanes that are skipped leave in VCC is read by nobody; where none is, the carry counts.
std::vector<Step> sums_of_other_lanes(const std::string& name, Adder f, bool in) {
  const Control some = {"row_shr:3", [](int n) { return n % 16 < 3 ? -1 : n - 3; }, 11, 13, false},
                all = {"row_ror:5", [](int n) { return n / 16 * 16 + (n % 16 + 11) % 16; }, 15, 15,
                       true};
  const std::string text =
      "s_mov_b64 vcc, s[22:23]\n" + name + "_dpp {d}, vcc, v10, v11" + (in ? ", vcc" : "");
  const auto sum = [f, in](const Control& c, const Lane& l, Out out) {
    uint32_t v = 0;
    if (!dpp_reads(c, l, v)) return;
    const Sum r = f(v, l[1], in ? l.flag(1) : 0);
    out[0] = r.value;
    if (out.size() > 1) out[1] = r.carry;
  };
  Step value{text + control_text(some) + "\ns_mov_b64 vcc, 0", nullptr, 1, false, 2};
  value.rule = [=](const Lane& l, Out out) { sum(some, l, out); };
  Step carry{text + control_text(all) + "\ns_mov_b64 {m}, vcc", nullptr, 1, true, 2};
  carry.rule = [=](const Lane& l, Out out) { sum(all, l, out); };
  return {value, carry};
}

void sums(Generation g, const std::string& name, Adder f, bool in, std::vector<Case>& out) {
  const Tuples inputs = with_flags({u32(), u32(), u32()});
  const Source literal = constant("0x7fffffff", 0x7fffffff), ones = constant("-1", 0xffffffff);
  std::vector<Step> steps = {short_sum(name, f, vgpr(0), in)};
  if (in)
    steps.push_back(short_sum(name, f, ones, in));
  else {
    steps.push_back(short_sum(name, f, sgpr(0), in));
    steps.push_back(short_sum(name, f, literal, in));
    steps.push_back(counted_carries(name, f));
  }
  out.push_back(vector_case(name, inputs, steps));
  std::vector<Step> others = {long_sum(name, f, vgpr(0), vgpr(1), in),
                              long_sum(name, f, ones, vgpr(1), in),
                              long_sum(name, f, vgpr(0), constant("64", 64), in)};
  if (!in) others.push_back(long_sum(name, f, vgpr(0), sgpr(3), in));
  out.push_back(vector_case(name + "_e64", inputs, others));
  if (g != kGfx8) return;
  const Parts whole = {"DWORD", "UNUSED_PAD", "WORD_1", "BYTE_0"},
              parts = {"WORD_1", "UNUSED_PRESERVE", "DWORD", "WORD_1", false, true};
  std::vector<Step> selected;
  for (const Parts& p : {whole, parts}) {
    Step s{fmt::format("s_mov_b64 vcc, s[22:23]\n{}_sdwa {{d}}, vcc, v10, {}{}{}\n"
                       "s_mov_b64 {{m}}, vcc",
                       name, p.sext1 ? "sext(v11)" : "v11", in ? ", vcc" : "",
                       parts_text(p, true, true)),
           nullptr, 1, true, 2};
    s.rule = [f, p, in](const Lane& l, Out result) {
      const Sum r =
          f(part_of(l[0], p.src0, false), part_of(l[1], p.src1, p.sext1), in ? l.flag(1) : 0);
      result[0] = placed_part(r.value, l[2], p);
      result[1] = r.carry;
    };
    selected.push_back(s);
  }
  out.push_back(vector_case(name + ".sdwa", inputs, selected));
  out.push_back(vector_case(name + ".dpp", inputs, sums_of_other_lanes(name, f, in)));
}

// ---- 64 bits

Step wide_step(std::string text, std::function<uint64_t(const Lane&)> f) {
  Step s{std::move(text), nullptr, 2};
  s.rule = [f](const Lane& l, Out out) {
    const uint64_t r = f(l);
    out[0] = static_cast<uint32_t>(r);
    out[1] = static_cast<uint32_t>(r >> 32);
  };
  return s;
}

using Shift = uint64_t (*)(uint64_t x, unsigned n);
uint64_t left(uint64_t x, unsigned n) {
  return x << n;
}
uint64_t right(uint64_t x, unsigned n) {
  return x >> n;
}
uint64_t signed_right(uint64_t x, unsigned n) {
  return static_cast<uint64_t>(static_cast<int64_t>(x) >> n);
}

/// The value in v[10:11] and the amount in v12, in this order or the other one.
void wide_shift(const std::string& name, Shift f, bool amount_first, std::vector<Case>& out) {
  const auto text = [&](const char* value, const char* amount) {
    return name + " {p}, " +
           (amount_first ? fmt::format("{}, {}", amount, value)
                         : fmt::format("{}, {}", value, amount));
  };
  out.push_back(vector_case(
      name, with_flags({u64(), shifts()}),
      {wide_step(text("v[10:11]", "v12"), [f](const Lane& l) { return f(l.pair(0), l[2] & 63); }),
       wide_step(text("v[10:11]", "s25"),
                 [f](const Lane& l) { return f(l.pair(0), kConstants[1] & 63); }),
       wide_step(text("s[26:27]", "v12"),
                 [f](const Lane& l) { return f(wide(kConstants[2], kConstants[3]), l[2] & 63); }),
       wide_step(text("-3", "v12"), [f](const Lane& l) { return f(~uint64_t{2}, l[2] & 63); }),
       wide_step(text("v[10:11]", "64"), [f](const Lane& l) { return f(l.pair(0), 0); })}));
}

/// A product and a 64-bit addend: v10 * v11 + v[12:13].
void wide_sums(std::vector<Case>& out) {
  const Tuples inputs = with_flags({u32(), u32(), u64()});
  const auto sum = [](uint32_t a, uint32_t b, uint64_t c, Out o) {
    const uint64_t r = uint64_t{a} * b + c;
    o[0] = static_cast<uint32_t>(r);
    o[1] = static_cast<uint32_t>(r >> 32);
    o[2] = r < c ? 1 : 0;
  };
  Step plain{"v_mad_u64_u32 {p}, {m}, v10, v11, v[12:13]", nullptr, 2, true};
  plain.rule = [sum](const Lane& l, Out o) { sum(l[0], l[1], l.pair(2), o); };
  Step scalar{"v_mad_u64_u32 {p}, {m}, v10, s24, -1", nullptr, 2, true};
  scalar.rule = [sum](const Lane& l, Out o) { sum(l[0], kConstants[0], ~uint64_t{0}, o); };
  Step vcc{"v_mad_u64_u32 {p}, vcc, v10, v11, s[26:27]\ns_mov_b64 {m}, vcc", nullptr, 2, true};
  vcc.rule = [sum](const Lane& l, Out o) {
    sum(l[0], l[1], wide(kConstants[2], kConstants[3]), o);
  };
  out.push_back(vector_case("v_mad_u64_u32", inputs, {plain, scalar, vcc}));
  // {carry, result} is the sum in 65 bits: the host has 128.
  __extension__ typedef __int128 Wide;
  const auto signed_sum = [](uint32_t a, uint32_t b, uint64_t c, Out o) {
    const Wide r = Wide{int64_t{s(a)} * s(b)} + static_cast<int64_t>(c);
    o[0] = static_cast<uint32_t>(r);
    o[1] = static_cast<uint32_t>(r >> 32);
    o[2] = static_cast<uint32_t>(r >> 64) & 1;
  };
  Step pair{"v_mad_i64_i32 {p}, {m}, v10, v11, v[12:13]", nullptr, 2, true};
  pair.rule = [signed_sum](const Lane& l, Out o) { signed_sum(l[0], l[1], l.pair(2), o); };
  Step constants{"v_mad_i64_i32 {p}, vcc, s24, v11, -5\ns_mov_b64 {m}, vcc", nullptr, 2, true};
  constants.rule = [signed_sum](const Lane& l, Out o) {
    signed_sum(kConstants[0], l[1], ~uint64_t{4}, o);
  };
  // A block that is jumped over where no lane is on reads the carry: behind it vcc is still there.
  Step skipped{
      "v_mad_i64_i32 {p}, vcc, v10, v11, v[12:13]\ns_mov_b64 {m}, 0\ns_cbranch_execz "
      ".Lskipped{n}\ns_mov_b64 {m}, vcc\n.Lskipped{n}:",
      nullptr, 2, true};
  skipped.rule = pair.rule;
  out.push_back(vector_case("v_mad_i64_i32", inputs, {pair, constants, skipped}));
}

/// The choice is a mask: vcc, or any pair. Sign modifiers work on the bits.
void choices(Generation g, std::vector<Case>& out) {
  const Tuples inputs = with_flags({f32().with({0x12345678}), u32(), u32()});
  const auto pick = [](std::string text, unsigned bit, Source no, Source yes) {
    Step s{std::move(text), nullptr};
    s.rule = [=](const Lane& l, Out out) { out[0] = (l.flag(bit) != 0 ? yes : no).value(l); };
    return s;
  };
  const std::string vcc = "s_mov_b64 vcc, s[22:23]\nv_cndmask_b32 {d}, ";
  out.push_back(vector_case("v_cndmask_b32", inputs,
                            {pick(vcc + "v10, v11, vcc", 1, vgpr(0), vgpr(1)),
                             pick(vcc + "-0.5, v11, vcc", 1, constant("", 0xbf000000), vgpr(1)),
                             pick(vcc + "-16, v11, vcc", 1, constant("", 0xfffffff0), vgpr(1))}));
  const std::string any = "v_cndmask_b32_e64 {d}, ";
  out.push_back(vector_case(
      "v_cndmask_b32_e64", inputs,
      {pick(any + "v10, v11, s[22:23]", 1, vgpr(0), vgpr(1)),
       pick(any + "v11, 64, s[18:19]", 2, vgpr(1), constant("", 64)),
       pick(any + "-|v10|, -v11, s[18:19]", 2, negative(absolute(vgpr(0))), negative(vgpr(1)))}));
  if (g != kGfx8) return;
  const Parts p = {"WORD_0", "UNUSED_PRESERVE", "BYTE_1", "WORD_1"};
  Step parts{
      "s_mov_b64 vcc, s[22:23]\nv_cndmask_b32_sdwa {d}, v10, v11, vcc" + parts_text(p, true, true),
      nullptr, 1, false, 2};
  parts.rule = [p](const Lane& l, Out o) {
    o[0] = placed_part(l.flag(1) != 0 ? part_of(l[1], p.src1, false) : part_of(l[0], p.src0, false),
                       l[2], p);
  };
  out.push_back(vector_case("v_cndmask_b32.sdwa", inputs, {parts}));
  const Control c = {"row_ror:5", [](int n) { return n / 16 * 16 + (n % 16 + 11) % 16; }, 15, 7};
  Step dpp{"s_mov_b64 vcc, s[22:23]\nv_cndmask_b32_dpp {d}, v10, v11, vcc" + control_text(c),
           nullptr, 1, false, 2};
  dpp.rule = [c](const Lane& l, Out o) {
    uint32_t v = 0;
    if (dpp_reads(c, l, v)) o[0] = l.flag(1) != 0 ? l[1] : v;
  };
  out.push_back(vector_case("v_cndmask_b32.dpp", inputs, {dpp}));
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  for (const Operation& op : short_ones(g)) short_and_long(g, op, out);
  for (const Operation& op : long_ones()) long_only(g, op, out);
  const bool gcn3 = g == kGfx8;
  if (gcn3)
    for (const Operation& op : narrow_ones()) short_and_long(g, op, out);
  sums(g, gcn3 ? "v_add_u32" : "v_add_i32", add, false, out);
  sums(g, gcn3 ? "v_sub_u32" : "v_sub_i32", subtract, false, out);
  sums(g, gcn3 ? "v_subrev_u32" : "v_subrev_i32", subtract_from, false, out);
  sums(g, "v_addc_u32", add, true, out);
  sums(g, "v_subb_u32", subtract, true, out);
  sums(g, "v_subbrev_u32", subtract_from, true, out);
  wide_shift(gcn3 ? "v_lshlrev_b64" : "v_lshl_b64", left, gcn3, out);
  wide_shift(gcn3 ? "v_lshrrev_b64" : "v_lshr_b64", right, gcn3, out);
  wide_shift(gcn3 ? "v_ashrrev_i64" : "v_ashr_i64", signed_right, gcn3, out);
  if (g != kGfx6) wide_sums(out);
  choices(g, out);
}

}  // namespace values::gcn::vector_integer
