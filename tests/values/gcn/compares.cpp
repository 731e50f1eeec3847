// Compares: a mask for vcc or any pair, 0 in inactive lanes.
#include <fmt/format.h>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn {

namespace {

/// What a compare makes of the order of its operands: -1, 0, 1, or 2 when there is none.
struct Condition {
  const char* name;
  bool (*holds)(int order);
};
constexpr Condition kConditions[] = {{"lt", [](int o) { return o == -1; }},
                                     {"eq", [](int o) { return o == 0; }},
                                     {"le", [](int o) { return o == -1 || o == 0; }},
                                     {"gt", [](int o) { return o == 1; }},
                                     {"ne", [](int o) { return o == -1 || o == 1; }},
                                     {"ge", [](int o) { return o == 1 || o == 0; }}};

template <typename T>
int order_of(T a, T b) {
  return a < b ? -1 : a == b ? 0 : a > b ? 1 : 2;
}

using Compare = std::function<bool(uint32_t a, uint32_t b)>;

Step mask_step(const std::string& text, const Source& a, const Source& b, const Compare& holds) {
  Step s{text, nullptr, 0, true};
  s.rule = [=](const Lane& l, Out out) { out[0] = holds(a.value(l), b.value(l)) ? 1 : 0; };
  return s;
}

void narrow_compare(Generation g, const std::string& name, Kind kind, const Compare& holds,
                    std::vector<Case>& out) {
  const Pool pool = kind == Kind::real ? f32() : u32();
  const Tuples inputs = with_flags({pool, pool});
  const bool real = kind == Kind::real;
  const Source literal =
      real ? constant("0xbfb504f3", 0xbfb504f3) : constant("0x80000001", 0x80000001);
  const Source small = real ? constant("-0.5", 0xbf000000) : constant("-16", 0xfffffff0);
  const auto brief = [&](const Source& a) {
    return mask_step(fmt::format("{}_e32 vcc, {}, v11\ns_mov_b64 {{m}}, vcc", name, a.text), a,
                     vgpr(1), holds);
  };
  // As a number: the bits of inactive lanes are 0.
  Step number{fmt::format("{}_e32 vcc, v10, v11\nv_mov_b32 {{d}}, vcc_hi", name), nullptr};
  number.rule = [holds](const Lane& l, Out o) {
    o[0] = 0;
    for (size_t n = 32; n < 64; ++n)
      if ((l.mask(0) >> n & 1) != 0 && holds(l.wave[n][0], l.wave[n][1])) o[0] |= 1U << (n - 32);
  };
  out.push_back(vector_case(
      name, inputs, {brief(vgpr(0)), brief(sgpr(0)), brief(literal), brief(small), number}));
  const auto full = [&](const Source& a, const Source& b) {
    return mask_step(fmt::format("{}_e64 {{m}}, {}, {}", name, a.text, b.text), a, b, holds);
  };
  std::vector<Step> steps = {full(vgpr(0), vgpr(1)), full(vgpr(0), sgpr(3)), full(small, vgpr(1))};
  if (real) steps.push_back(full(negative(absolute(vgpr(0))), negative(vgpr(1))));
  out.push_back(vector_case(name + "_e64", inputs, steps));
  if (g != kGfx8) return;
  const auto parts = [&](const char* sel0, bool sext, const char* sel1) {
    const Source a = {sext ? "sext(v10)" : "v10",
                      [=](const Lane& l) { return part_of(l[0], sel0, sext); }};
    const Source b = {"v11", [=](const Lane& l) { return part_of(l[1], sel1, false); }};
    return mask_step(
        fmt::format("{}_sdwa vcc, {}, {} src0_sel:{} src1_sel:{}\ns_mov_b64 {{m}}, vcc", name,
                    a.text, b.text, sel0, sel1),
        a, b, holds);
  };
  out.push_back(vector_case(name + ".sdwa", inputs,
                            {parts("WORD_1", !real, "WORD_0"), parts("DWORD", false, "BYTE_3"),
                             parts("BYTE_1", false, "DWORD")}));
}

template <typename T>
void wide_compare(const std::string& name, const Condition& c, std::vector<Case>& out) {
  const auto test = [c](uint64_t a, uint64_t b) {
    return c.holds(order_of(static_cast<T>(a), static_cast<T>(b))) ? 1U : 0U;
  };
  const auto make = [&](std::string text, std::function<uint64_t(const Lane&)> a,
                        std::function<uint64_t(const Lane&)> b) {
    Step s{std::move(text), nullptr, 0, true};
    s.rule = [=](const Lane& l, Out o) { o[0] = test(a(l), b(l)); };
    return s;
  };
  const auto first = [](const Lane& l) { return l.pair(0); };
  const auto second = [](const Lane& l) { return l.pair(2); };
  const auto scalar = [](const Lane&) { return wide(kConstants[2], kConstants[3]); };
  const auto minus = [](const Lane&) { return ~uint64_t{15}; };
  // A literal of 32 bits: signed operands extend its sign.
  const auto literal = [](const Lane&) {
    return std::is_signed_v<T> ? 0xffffffff80000000 : uint64_t{0x80000000};
  };
  const std::string vcc = "\ns_mov_b64 {m}, vcc";
  const Tuples inputs = with_flags({u64().with({0xfffffffffffffff0}), u64()});
  out.push_back(
      vector_case(name, inputs,
                  {make(name + "_e32 vcc, v[10:11], v[12:13]" + vcc, first, second),
                   make(name + "_e32 vcc, s[26:27], v[12:13]" + vcc, scalar, second),
                   make(name + "_e32 vcc, -16, v[12:13]" + vcc, minus, second),
                   make(name + "_e32 vcc, 0x80000000, v[12:13]" + vcc, literal, second)}));
  out.push_back(vector_case(name + "_e64", inputs,
                            {make(name + "_e64 {m}, v[10:11], v[12:13]", first, second),
                             make(name + "_e64 {m}, v[10:11], s[26:27]", first, scalar),
                             make(name + "_e64 {m}, v[10:11], -16", first, minus)}));
}

}  // namespace

void float_compare_cases(Generation g, Mode mode, std::vector<Case>& out) {
  const auto operand = [mode](uint32_t x) { return flushed(f32_of(x), mode.flush); };
  for (const Condition& c : kConditions) {
    const std::string name = c.name == std::string("ne") ? "lg" : c.name;
    const auto holds = c.holds;
    narrow_compare(
        g, "v_cmp_" + name + "_f32", Kind::real,
        [=](uint32_t a, uint32_t b) { return holds(order_of(operand(a), operand(b))); }, out);
  }
}

void compare_cases(Generation g, std::vector<Case>& out) {
  for (const Condition& c : kConditions) {
    const std::string name = std::string("v_cmp_") + c.name;
    const auto holds = c.holds;
    narrow_compare(
        g, name + "_i32", Kind::integer,
        [holds](uint32_t a, uint32_t b) {
          return holds(order_of(static_cast<int32_t>(a), static_cast<int32_t>(b)));
        },
        out);
    narrow_compare(
        g, name + "_u32", Kind::integer,
        [holds](uint32_t a, uint32_t b) { return holds(order_of(a, b)); }, out);
    wide_compare<int64_t>(name + "_i64", c, out);
    wide_compare<uint64_t>(name + "_u64", c, out);
  }
}

}  // namespace values::gcn
