// Compares: a mask for vcc or any pair, 0 in inactive lanes.
#include <fmt/format.h>

#include "tests/values/gcn/forms.hpp"

namespace values::gcn::compares {

namespace {

/// What a compare makes of the order of its operands: -1, 0, 1, or 2 when there is none.
struct Condition {
  const char* name;
  bool (*holds)(int order);
};
constexpr Condition kIntegers[] = {{"f", [](int) { return false; }},
                                   {"lt", [](int o) { return o == -1; }},
                                   {"eq", [](int o) { return o == 0; }},
                                   {"le", [](int o) { return o == -1 || o == 0; }},
                                   {"gt", [](int o) { return o == 1; }},
                                   {"ne", [](int o) { return o == -1 || o == 1; }},
                                   {"ge", [](int o) { return o == 1 || o == 0; }},
                                   {"t", [](int) { return true; }}};
constexpr Condition kFloats[] = {{"f", [](int) { return false; }},
                                 {"lt", [](int o) { return o == -1; }},
                                 {"eq", [](int o) { return o == 0; }},
                                 {"le", [](int o) { return o == -1 || o == 0; }},
                                 {"gt", [](int o) { return o == 1; }},
                                 {"lg", [](int o) { return o == -1 || o == 1; }},
                                 {"ge", [](int o) { return o == 1 || o == 0; }},
                                 {"o", [](int o) { return o != 2; }},
                                 {"u", [](int o) { return o == 2; }},
                                 {"nge", [](int o) { return !(o == 1 || o == 0); }},
                                 {"nlg", [](int o) { return !(o == -1 || o == 1); }},
                                 {"ngt", [](int o) { return o != 1; }},
                                 {"nle", [](int o) { return !(o == -1 || o == 0); }},
                                 {"neq", [](int o) { return o != 0; }},
                                 {"nlt", [](int o) { return o != -1; }},
                                 {"tru", [](int) { return true; }}};

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

/// Operands are a dword each: an integer, a float or the low half of one.
struct Operands {
  Kind kind;
  Pool first, second;
  uint32_t small;  ///< what -0.5 or -16 stands for
};
Operands dwords(Kind kind) {
  const Pool pool = kind == Kind::real ? f32() : u32();
  return {kind, pool, pool, kind == Kind::real ? 0xbf000000 : 0xfffffff0};
}

/// v_cmpx: the mask is read from EXEC, which is put back.
const char* const kFromVcc = "\ns_mov_b64 {m}, vcc";
const char* const kFromExec = "\ns_mov_b64 {m}, exec\ns_mov_b64 exec, s[20:21]";
std::string after(bool to_exec) {
  return to_exec ? kFromExec : kFromVcc;
}

void parts_compare(const std::string& name, const Operands& o, const Tuples& inputs, bool to_exec,
                   const Compare& holds, std::vector<Case>& out) {
  const bool integer = !name.ends_with("f16") && name.find("_class_") == std::string::npos;
  const auto parts = [&](const char* sel0, bool extends, const char* sel1) {
    const bool sext = extends && integer;
    const Source a = {sext ? "sext(v10)" : "v10",
                      [=](const Lane& l) { return part_of(l[0], sel0, sext); }};
    const Source b = {"v11", [=](const Lane& l) { return part_of(l[1], sel1, false); }};
    return mask_step(fmt::format("{}_sdwa vcc, {}, {} src0_sel:{} src1_sel:{}{}", name, a.text,
                                 b.text, sel0, sel1, after(to_exec)),
                     a, b, holds);
  };
  out.push_back(vector_case(name + ".sdwa", inputs,
                            {parts("WORD_1", o.kind == Kind::integer, "WORD_0"),
                             parts("DWORD", false, "BYTE_3"), parts("BYTE_1", false, "DWORD")}));
}

/// DPP where no lane is skipped, so that every bit of the mask is certain.
void lanes_compare(const std::string& name, const Tuples& inputs, bool to_exec,
                   const Compare& holds, std::vector<Case>& out) {
  static const Control kControls[] = {
      {"row_shr:3", [](int n) { return n % 16 >= 3 ? n - 3 : -1; }, 15, 15, true},
      {"quad_perm:[2,0,3,1]",
       [](int n) {
         static constexpr int kPerm[] = {2, 0, 3, 1};
         return n / 4 * 4 + kPerm[n % 4];
       },
       15, 15, true}};
  std::vector<Step> steps;
  for (const Control& c : kControls) {
    Step s{fmt::format("{}_dpp vcc, v10, v11{}{}", name, control_text(c), after(to_exec)), nullptr,
           0, true};
    s.rule = [c, holds](const Lane& l, Out o) {
      uint32_t a = 0;
      o[0] = dpp_reads(c, l, a) && holds(a, l[1]) ? 1 : 0;
    };
    steps.push_back(s);
  }
  out.push_back(vector_case(name + ".dpp", inputs, steps));
}

void narrow_compare(Generation g, const std::string& name, const Operands& o, bool to_exec,
                    const Compare& holds, std::vector<Case>& out) {
  const Tuples inputs = with_flags({o.first, o.second});
  const bool real = o.kind == Kind::real;
  const Source literal = name.ends_with("16") ? constant("0xbfb5", 0xbfb5)
                         : real               ? constant("0xbfb504f3", 0xbfb504f3)
                                              : constant("0x80000001", 0x80000001);
  const Source small = constant(real ? "-0.5" : "-16", o.small);
  const auto brief = [&](const Source& a) {
    return mask_step(fmt::format("{}_e32 vcc, {}, v11{}", name, a.text, after(to_exec)), a, vgpr(1),
                     holds);
  };
  // As a number: the bits of inactive lanes are 0.
  Step number{fmt::format("{}_e32 vcc, v10, v11\nv_mov_b32 {{d}}, vcc_hi", name), nullptr};
  number.rule = [holds](const Lane& l, Out o2) {
    o2[0] = 0;
    for (size_t n = 32; n < 64; ++n)
      if ((l.mask(0) >> n & 1) != 0 && holds(l.wave[n][0], l.wave[n][1])) o2[0] |= 1U << (n - 32);
  };
  std::vector<Step> briefs = {brief(vgpr(0)), brief(sgpr(0)), brief(literal), brief(small)};
  if (!to_exec) briefs.push_back(number);
  out.push_back(vector_case(name, inputs, briefs));
  const auto full = [&](const Source& a, const Source& b, bool read_exec = false) {
    return mask_step(fmt::format("{}_e64 {{m}}, {}, {}{}", name, a.text, b.text,
                                 read_exec ? kFromExec
                                 : to_exec ? "\ns_mov_b64 exec, s[20:21]"
                                           : ""),
                     a, b, holds);
  };
  std::vector<Step> steps = {full(vgpr(0), vgpr(1)), full(vgpr(0), sgpr(3), to_exec),
                             full(small, vgpr(1))};
  if (real) steps.push_back(full(negative(absolute(vgpr(0))), negative(vgpr(1))));
  if (real && o.small != 0xbf000000) steps.pop_back();  // the sign of a half is elsewhere
  out.push_back(vector_case(name + "_e64", inputs, steps));
  if (g != kGfx8) return;
  parts_compare(name, o, inputs, to_exec, holds, out);
  lanes_compare(name, inputs, to_exec, holds, out);
}

using WideCompare = std::function<bool(uint64_t a, uint64_t b)>;

/// Operands are two dwords each. A literal is the upper half of a double; of integers it is
/// extended.
void wide_compare(const std::string& name, const Pool& pool, uint64_t literal_bits, bool to_exec,
                  const WideCompare& holds, bool real, std::vector<Case>& out) {
  const auto make = [&](std::string text, std::function<uint64_t(const Lane&)> a,
                        std::function<uint64_t(const Lane&)> b) {
    Step s{std::move(text), nullptr, 0, true};
    s.rule = [=](const Lane& l, Out o) { o[0] = holds(a(l), b(l)) ? 1 : 0; };
    return s;
  };
  const auto first = [](const Lane& l) { return l.pair(0); };
  const auto second = [](const Lane& l) { return l.pair(2); };
  const auto scalar = [](const Lane&) { return wide(kConstants[2], kConstants[3]); };
  const auto minus = [](const Lane&) { return ~uint64_t{15}; };
  const auto literal = [literal_bits](const Lane&) { return literal_bits; };
  const auto flipped = [](const Lane& l) { return l.pair(0) ^ uint64_t { 1 } << 63; };
  const std::string vcc = after(to_exec);
  const Tuples inputs = with_flags({pool, pool}, 1024);
  const auto marked = [&](Case c) {
    c.doubles = real;
    out.push_back(std::move(c));
  };
  marked(vector_case(name, inputs,
                     {make(name + "_e32 vcc, v[10:11], v[12:13]" + vcc, first, second),
                      make(name + "_e32 vcc, s[26:27], v[12:13]" + vcc, scalar, second),
                      make(name + "_e32 vcc, -16, v[12:13]" + vcc, minus, second),
                      make(name + "_e32 vcc, 0x80000000, v[12:13]" + vcc, literal, second)}));
  const std::string back = to_exec ? "\ns_mov_b64 exec, s[20:21]" : "";
  std::vector<Step> steps = {
      make(name + "_e64 {m}, v[10:11], v[12:13]" + back, first, second),
      make(name + "_e64 {m}, v[10:11], s[26:27]" + back, first, scalar),
      make(name + "_e64 {m}, v[10:11], -16" + (to_exec ? kFromExec : ""), first, minus)};
  if (real) steps.push_back(make(name + "_e64 {m}, -v[10:11], v[12:13]" + back, flipped, second));
  marked(vector_case(name + "_e64", inputs, steps));
}

/// The bit of v_cmp_class that a number's class has.
template <typename T>
unsigned class_of(T x, bool signalling) {
  if (std::isnan(x)) return signalling ? 0 : 1;
  const bool minus = std::signbit(x);
  switch (std::fpclassify(x)) {
    case FP_INFINITE:
      return minus ? 2 : 9;
    case FP_NORMAL:
      return minus ? 3 : 8;
    case FP_SUBNORMAL:
      return minus ? 4 : 7;
    default:
      return minus ? 5 : 6;
  }
}
unsigned class_of_half(uint32_t h) {
  const uint32_t size = h & 0x7fff;
  if (size > 0x7c00) return (h & 0x200) != 0 ? 1 : 0;
  const bool minus = (h & 0x8000) != 0;
  const unsigned step = size == 0 ? 0 : size < 0x400 ? 1 : size < 0x7c00 ? 2 : 3;
  return minus ? 5 - step : 6 + step;
}

Pool class_masks() {
  Pool p{1, {0, 0x3ff, 0xffffffff, 0x155, 0x2aa}};
  for (unsigned n = 0; n < 10; ++n) p.values.push_back(1U << n);
  return p;
}

}  // namespace

void class_cases(Generation g, std::vector<Case>& out) {
  for (const bool to_exec : {false, true}) {
    const std::string start = to_exec ? "v_cmpx_class_" : "v_cmp_class_";
    Operands o = dwords(Kind::integer);
    o.first = f32();
    o.second = class_masks();
    narrow_compare(
        g, start + "f32", o, to_exec,
        [](uint32_t a, uint32_t b) {
          return (b >> class_of(f32_of(a), (a >> 22 & 1) == 0) & 1) != 0;
        },
        out);
    if (g == kGfx8) {
      o.first = f16();
      narrow_compare(
          g, start + "f16", o, to_exec,
          [](uint32_t a, uint32_t b) { return (b >> class_of_half(a & 0xffff) & 1) != 0; }, out);
    }
    const std::string name = start + "f64";
    const auto make = [&](const std::string& text) {
      Step s{text, nullptr, 0, true};
      s.rule = [](const Lane& l, Out r) {
        const uint64_t a = l.pair(0);
        r[0] = l[2] >> class_of(f64_of(a), (a >> 51 & 1) == 0) & 1;
      };
      return s;
    };
    const Tuples inputs = with_flags({f64(), class_masks()}, 1024);
    for (const char* form : {"_e32", "_e64"}) {
      const bool brief = form == std::string("_e32");
      Case c = vector_case(name + (brief ? "" : form), inputs,
                           {make(name + form + (brief ? " vcc" : " {m}") + ", v[10:11], v12" +
                                 (brief || to_exec ? after(to_exec) : ""))});
      c.doubles = true;
      out.push_back(std::move(c));
    }
  }
}

namespace {

/// Calls `add` with each instruction's name as far as its type, its condition, and whether it
/// writes EXEC.
template <typename F>
void each_float_compare(Generation g, F add) {
  for (const char* family : {"v_cmp_", "v_cmpx_", "v_cmps_", "v_cmpsx_"}) {
    const std::string start = family;
    if (start.starts_with("v_cmps") && g == kGfx8) continue;
    for (const Condition& c : kFloats)
      add(start + c.name, c.holds, start.find("x_") != std::string::npos);
  }
}

}  // namespace

void double_cases(Generation g, Mode mode, std::vector<Case>& out) {
  const auto operand = [mode](uint64_t x) {
    const double v = f64_of(x);
    const bool cut = (mode.wide_subnormals & 1) == 0 && std::fpclassify(v) == FP_SUBNORMAL;
    return cut ? std::copysign(0.0, v) : v;
  };
  each_float_compare(g, [&](const std::string& name, auto holds, bool to_exec) {
    wide_compare(
        name + "_f64", f64(), uint64_t{0x80000000} << 32, to_exec,
        [=](uint64_t a, uint64_t b) { return holds(order_of(operand(a), operand(b))); }, true, out);
  });
}

void half_cases(Mode mode, std::vector<Case>& out) {
  const auto operand = [mode](uint32_t x) {
    const double v = f16_to_double(x & 0xffff);
    const bool cut = (mode.wide_subnormals & 1) == 0 && std::fabs(v) < 0x1p-14;
    return cut ? std::copysign(0.0, v) : v;
  };
  const Operands halves{Kind::real, f16(), f16(), 0xb800};
  each_float_compare(kGfx8, [&](const std::string& name, auto holds, bool to_exec) {
    narrow_compare(
        kGfx8, name + "_f16", halves, to_exec,
        [=](uint32_t a, uint32_t b) { return holds(order_of(operand(a), operand(b))); }, out);
  });
}

void float_cases(Generation g, Mode mode, std::vector<Case>& out) {
  const auto operand = [mode](uint32_t x) { return flushed(f32_of(x), mode.flush); };
  each_float_compare(g, [&](const std::string& name, auto holds, bool to_exec) {
    narrow_compare(
        g, name + "_f32", dwords(Kind::real), to_exec,
        [=](uint32_t a, uint32_t b) { return holds(order_of(operand(a), operand(b))); }, out);
  });
}

void cases(Generation g, std::vector<Case>& out) {
  for (const bool to_exec : {false, true}) {
    const std::string start = to_exec ? "v_cmpx_" : "v_cmp_";
    for (const Condition& c : kIntegers) {
      const std::string name = start + c.name;
      const auto holds = c.holds;
      narrow_compare(
          g, name + "_i32", dwords(Kind::integer), to_exec,
          [holds](uint32_t a, uint32_t b) {
            return holds(order_of(static_cast<int32_t>(a), static_cast<int32_t>(b)));
          },
          out);
      narrow_compare(
          g, name + "_u32", dwords(Kind::integer), to_exec,
          [holds](uint32_t a, uint32_t b) { return holds(order_of(a, b)); }, out);
      const Pool wides = u64().with({0xfffffffffffffff0});
      wide_compare(
          name + "_i64", wides, 0xffffffff80000000, to_exec,
          [holds](uint64_t a, uint64_t b) {
            return holds(order_of(static_cast<int64_t>(a), static_cast<int64_t>(b)));
          },
          false, out);
      wide_compare(
          name + "_u64", wides, 0x80000000, to_exec,
          [holds](uint64_t a, uint64_t b) { return holds(order_of(a, b)); }, false, out);
      if (g != kGfx8) continue;
      Operands narrow = dwords(Kind::integer);
      narrow.first = narrow.second = u16();
      narrow_compare(
          g, name + "_i16", narrow, to_exec,
          [holds](uint32_t a, uint32_t b) {
            return holds(order_of(static_cast<int16_t>(a), static_cast<int16_t>(b)));
          },
          out);
      narrow_compare(
          g, name + "_u16", narrow, to_exec,
          [holds](uint32_t a, uint32_t b) { return holds(order_of(a & 0xffff, b & 0xffff)); }, out);
    }
  }
}

}  // namespace values::gcn::compares
