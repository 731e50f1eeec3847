// Scalar instructions on numbers, with SCC.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::scalar {

namespace {

int32_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}
uint32_t u(int64_t x) {
  return static_cast<uint32_t>(x);
}

/// A result and SCC.
struct Result {
  uint64_t value;
  bool scc;
};
Result tested(uint64_t value) {
  return {value, value != 0};
}

using Narrow = std::function<Result(uint32_t a, uint32_t b, bool scc)>;
using Wide = std::function<Result(uint64_t a, uint64_t b, bool scc)>;

constexpr size_t kTuples = 96;

Tuples scalar_inputs(std::vector<Pool> pools) {
  pools.push_back(flags());
  return tuples(pools, kTuples);
}

bool overflows(int64_t exact) {
  return exact != s(u(exact));
}

ScalarStep narrow_step(const std::string& text, const std::function<Result(In)>& f) {
  ScalarStep step{text, nullptr};
  step.rule = [f](In in, Out out) {
    const Result r = f(in);
    out[0] = static_cast<uint32_t>(r.value);
    out[1] = r.scc ? 1 : 0;
  };
  return step;
}
ScalarStep wide_step(const std::string& text, const std::function<Result(In)>& f) {
  ScalarStep step{text, nullptr, 2};
  step.rule = [f](In in, Out out) {
    const Result r = f(in);
    out[0] = static_cast<uint32_t>(r.value);
    out[1] = static_cast<uint32_t>(r.value >> 32);
    out[2] = r.scc ? 1 : 0;
  };
  return step;
}

bool scc_of(In in) {
  return (in.back() & 1) != 0;
}

/// SOP2 on dwords: registers, an inline constant on either side, a literal, SCC as an operand.
void two(const std::string& name, const Narrow& f, std::vector<Case>& out, Pool second = u32()) {
  out.push_back(scalar_case(
      name, scalar_inputs({u32(), std::move(second)}),
      {narrow_step(name + " {d}, s32, s33", [f](In in) { return f(in[0], in[1], scc_of(in)); }),
       narrow_step(name + " {d}, s32, -16",
                   [f](In in) { return f(in[0], 0xfffffff0, scc_of(in)); }),
       narrow_step(name + " {d}, 64, s33", [f](In in) { return f(64, in[1], scc_of(in)); }),
       narrow_step(name + " {d}, 0x80000001, s33",
                   [f](In in) { return f(0x80000001, in[1], scc_of(in)); }),
       narrow_step(name + " {d}, s32, scc",
                   [f](In in) { return f(in[0], scc_of(in) ? 1 : 0, scc_of(in)); })}));
}

void two_wide(const std::string& name, const Wide& f, bool shift, bool is_signed,
              std::vector<Case>& out) {
  const Tuples inputs = scalar_inputs({u64(), shift ? shifts() : u64()});
  const auto second = [shift](In in) { return shift ? uint64_t{in[2]} : wide(in[2], in[3]); };
  const std::string b = shift ? "s34" : "s[34:35]";
  const uint64_t literal = is_signed ? 0xffffffff80000001 : 0x80000001;
  out.push_back(
      scalar_case(name, inputs,
                  {wide_step(name + " {p}, s[32:33], " + b,
                             [=](In in) { return f(wide(in[0], in[1]), second(in), scc_of(in)); }),
                   wide_step(name + " {p}, -3, " + b,
                             [=](In in) { return f(~uint64_t{2}, second(in), scc_of(in)); }),
                   wide_step(name + " {p}, 0x80000001, " + b,
                             [=](In in) { return f(literal, second(in), scc_of(in)); }),
                   wide_step(name + " {p}, s[32:33], 7",
                             [=](In in) { return f(wide(in[0], in[1]), 7, scc_of(in)); })}));
}

void one(const std::string& name, bool from_wide, const std::function<Result(uint64_t, bool)>& f,
         std::vector<Case>& out) {
  const auto value = [from_wide](In in) { return from_wide ? wide(in[0], in[1]) : in[0]; };
  const uint64_t minus = from_wide ? ~uint64_t{15} : 0xfffffff0;
  out.push_back(scalar_case(
      name, scalar_inputs({from_wide ? u64(40) : u32(40)}),
      {narrow_step(name + (from_wide ? " {d}, s[32:33]" : " {d}, s32"),
                   [=](In in) { return f(value(in), scc_of(in)); }),
       narrow_step(name + " {d}, -16", [=](In in) { return f(minus, scc_of(in)); }),
       narrow_step(name + " {d}, 0x00010000", [=](In in) { return f(0x10000, scc_of(in)); })}));
}

uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (unsigned n = 0; n < 32; ++n) r |= (x >> n & 1) << (31 - n);
  return r;
}

void sums(std::vector<Case>& out) {
  two(
      "s_add_u32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a + b, uint64_t{a} + b > 0xffffffff};
      },
      out);
  two(
      "s_sub_u32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a - b, a < b};
      },
      out);
  two(
      "s_add_i32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a + b, overflows(int64_t{s(a)} + s(b))};
      },
      out);
  two(
      "s_sub_i32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a - b, overflows(int64_t{s(a)} - s(b))};
      },
      out);
  two(
      "s_addc_u32",
      [](uint32_t a, uint32_t b, bool c) -> Result {
        return {a + b + (c ? 1 : 0), uint64_t{a} + b + (c ? 1 : 0) > 0xffffffff};
      },
      out);
  two(
      "s_subb_u32",
      [](uint32_t a, uint32_t b, bool c) -> Result {
        return {a - b - (c ? 1 : 0), uint64_t{a} < uint64_t{b} + (c ? 1 : 0)};
      },
      out);
  two(
      "s_mul_i32",
      [](uint32_t a, uint32_t b, bool c) -> Result {
        return {a * b, c};
      },
      out);
  two(
      "s_min_i32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {s(a) < s(b) ? a : b, s(a) < s(b)};
      },
      out);
  two(
      "s_min_u32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a < b ? a : b, a < b};
      },
      out);
  two(
      "s_max_i32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {s(a) > s(b) ? a : b, s(a) > s(b)};
      },
      out);
  two(
      "s_max_u32",
      [](uint32_t a, uint32_t b, bool) -> Result {
        return {a > b ? a : b, a > b};
      },
      out);
}

void logic(std::vector<Case>& out) {
  const struct {
    const char* name;
    uint64_t (*f)(uint64_t, uint64_t);
    bool narrow;
  } all[] = {{"s_and", [](uint64_t a, uint64_t b) { return a & b; }, true},
             {"s_or", [](uint64_t a, uint64_t b) { return a | b; }, true},
             {"s_xor", [](uint64_t a, uint64_t b) { return a ^ b; }, true},
             {"s_andn2", [](uint64_t a, uint64_t b) { return a & ~b; }, true},
             {"s_orn2", [](uint64_t a, uint64_t b) { return a | ~b; }, true},
             {"s_nand", [](uint64_t a, uint64_t b) { return ~(a & b); }, false},
             {"s_nor", [](uint64_t a, uint64_t b) { return ~(a | b); }, false},
             {"s_xnor", [](uint64_t a, uint64_t b) { return ~(a ^ b); }, false}};
  for (const auto& l : all) {
    const std::string name = l.name;
    const auto f = l.f;
    if (l.narrow)
      two(
          name + "_b32",
          [f](uint32_t a, uint32_t b, bool) { return tested(static_cast<uint32_t>(f(a, b))); },
          out);
    two_wide(
        name + "_b64", [f](uint64_t a, uint64_t b, bool) { return tested(f(a, b)); }, false, false,
        out);
  }
  one(
      "s_not_b32", false, [](uint64_t a, bool) { return tested(~static_cast<uint32_t>(a)); }, out);
  const Tuples pairs = scalar_inputs({u64(40)});
  const auto wide_one = [&](const std::string& name,
                            const std::function<Result(uint64_t, bool)>& f) {
    out.push_back(scalar_case(
        name, pairs,
        {wide_step(name + " {p}, s[32:33]",
                   [f](In in) { return f(wide(in[0], in[1]), scc_of(in)); }),
         wide_step(name + " {p}, -1", [f](In in) { return f(~uint64_t{0}, scc_of(in)); }),
         wide_step(name + " {p}, 0x80000001", [f](In in) { return f(0x80000001, scc_of(in)); })}));
  };
  wide_one("s_not_b64", [](uint64_t a, bool) { return tested(~a); });
  wide_one("s_mov_b64", [](uint64_t a, bool c) -> Result { return {a, c}; });
}

void shifts_and_fields(std::vector<Case>& out) {
  const auto narrow = [&](const char* name, uint32_t (*f)(uint32_t, uint32_t)) {
    two(
        name, [f](uint32_t a, uint32_t b, bool) { return tested(f(a, b & 31)); }, out, shifts());
  };
  narrow("s_lshl_b32", [](uint32_t a, uint32_t n) { return a << n; });
  narrow("s_lshr_b32", [](uint32_t a, uint32_t n) { return a >> n; });
  narrow("s_ashr_i32", [](uint32_t a, uint32_t n) { return u(s(a) >> n); });
  const auto wider = [&](const char* name, bool is_signed, uint64_t (*f)(uint64_t, uint32_t)) {
    two_wide(
        name,
        [f](uint64_t a, uint64_t b, bool) { return tested(f(a, static_cast<uint32_t>(b & 63))); },
        true, is_signed, out);
  };
  wider("s_lshl_b64", false, [](uint64_t a, uint32_t n) { return a << n; });
  wider("s_lshr_b64", false, [](uint64_t a, uint32_t n) { return a >> n; });
  wider("s_ashr_i64", true,
        [](uint64_t a, uint32_t n) { return static_cast<uint64_t>(static_cast<int64_t>(a) >> n); });
  two(
      "s_bfm_b32",
      [](uint32_t a, uint32_t b, bool c) -> Result {
        return {((1U << (a & 31)) - 1) << (b & 31), c};
      },
      out, shifts());
  // Position in bits 4:0, width in bits 22:16.
  Pool fields{1, {}};
  for (const uint32_t width : {0U, 1U, 5U, 31U, 32U, 33U, 64U, 127U})
    for (const uint32_t at : {0U, 1U, 16U, 31U, 32U}) fields.values.push_back(width << 16 | at);
  two(
      "s_bfe_u32",
      [](uint32_t a, uint32_t b, bool) {
        const uint32_t width = b >> 16 & 127;
        const uint64_t ones = width >= 32 ? 0xffffffff : (uint64_t{1} << width) - 1;
        return tested(a >> (b & 31) & ones);
      },
      out, fields);
  two(
      "s_bfe_i32",
      [](uint32_t a, uint32_t b, bool) {
        const uint32_t width = b >> 16 & 127;
        const int64_t moved = int64_t{s(a)} >> (b & 31);
        if (width == 0) return tested(0);
        if (width >= 32) return tested(u(moved));
        const auto high = static_cast<int64_t>(static_cast<uint64_t>(moved) << (64 - width));
        return tested(u(high >> (64 - width)));
      },
      out, fields);
}

void single(std::vector<Case>& out) {
  one(
      "s_mov_b32", false,
      [](uint64_t a, bool c) -> Result {
        return {a, c};
      },
      out);
  one(
      "s_brev_b32", false,
      [](uint64_t a, bool c) -> Result {
        return {reversed(static_cast<uint32_t>(a)), c};
      },
      out);
  one(
      "s_bcnt1_i32_b32", false,
      [](uint64_t a, bool) { return tested(static_cast<uint64_t>(std::popcount(a))); }, out);
  one(
      "s_bcnt1_i32_b64", true,
      [](uint64_t a, bool) { return tested(static_cast<uint64_t>(std::popcount(a))); }, out);
  one(
      "s_ff1_i32_b64", true,
      [](uint64_t a, bool c) -> Result {
        return {a == 0 ? 0xffffffff : static_cast<uint64_t>(std::countr_zero(a)), c};
      },
      out);
  two(
      "s_cselect_b32",
      [](uint32_t a, uint32_t b, bool c) -> Result {
        return {c ? a : b, c};
      },
      out);
  two_wide(
      "s_cselect_b64",
      [](uint64_t a, uint64_t b, bool c) -> Result {
        return {c ? a : b, c};
      },
      false, false, out);
}

/// SOPK: 16 bits in the instruction, signed but for unsigned compares.
void short_constants(std::vector<Case>& out) {
  const int values[] = {0, 1, -1, 32767, -32768, 0x1234};
  const Tuples inputs = scalar_inputs({u32(30).with({0x1234, 0xffff8000, 0xffff, 0x8000, 0x7fff})});
  std::vector<ScalarStep> moves, sums, products;
  for (const int k : values) {
    const uint32_t bits = u(k);
    const auto text = [k](const char* format) { return fmt::format(fmt::runtime(format), k); };
    moves.push_back(narrow_step(text("s_movk_i32 {{d}}, {}"), [bits](In in) -> Result {
      return {bits, scc_of(in)};
    }));
    sums.push_back(
        narrow_step(text("s_mov_b32 {{d}}, s32\ns_addk_i32 {{d}}, {}"), [bits](In in) -> Result {
          return {in[0] + bits, overflows(int64_t{s(in[0])} + s(bits))};
        }));
    products.push_back(
        narrow_step(text("s_mov_b32 {{d}}, s32\ns_mulk_i32 {{d}}, {}"), [bits](In in) -> Result {
          return {in[0] * bits, scc_of(in)};
        }));
  }
  out.push_back(scalar_case("s_movk_i32", inputs, moves));
  out.push_back(scalar_case("s_addk_i32", inputs, sums));
  out.push_back(scalar_case("s_mulk_i32", inputs, products));
}

struct Condition {
  const char* name;
  bool (*signed_)(int32_t, int32_t);
  bool (*unsigned_)(uint32_t, uint32_t);
};
constexpr Condition kConditions[] = {{"eq", [](int32_t a, int32_t b) { return a == b; },
                                      [](uint32_t a, uint32_t b) { return a == b; }},
                                     {"lg", [](int32_t a, int32_t b) { return a != b; },
                                      [](uint32_t a, uint32_t b) { return a != b; }},
                                     {"gt", [](int32_t a, int32_t b) { return a > b; },
                                      [](uint32_t a, uint32_t b) { return a > b; }},
                                     {"ge", [](int32_t a, int32_t b) { return a >= b; },
                                      [](uint32_t a, uint32_t b) { return a >= b; }},
                                     {"lt", [](int32_t a, int32_t b) { return a < b; },
                                      [](uint32_t a, uint32_t b) { return a < b; }},
                                     {"le", [](int32_t a, int32_t b) { return a <= b; },
                                      [](uint32_t a, uint32_t b) { return a <= b; }}};

using Holds = std::function<bool(uint32_t, uint32_t)>;

ScalarStep compare_step(const std::string& text, const std::function<bool(In)>& f) {
  ScalarStep step{text, nullptr, 0};
  step.rule = [f](In in, Out out) { out[0] = f(in) ? 1 : 0; };
  return step;
}

void compare(const std::string& name, const std::string& type, const Holds& f,
             std::vector<Case>& out) {
  const std::string full = "s_cmp_" + name + type;
  out.push_back(scalar_case(
      full, scalar_inputs({u32(), u32()}),
      {compare_step(full + " s32, s33", [f](In in) { return f(in[0], in[1]); }),
       compare_step(full + " s32, s32", [f](In in) { return f(in[0], in[0]); }),
       compare_step(full + " s32, -16", [f](In in) { return f(in[0], 0xfffffff0); }),
       compare_step(full + " 0x80000001, s33", [f](In in) { return f(0x80000001, in[1]); })}));
  const std::string keyed = "s_cmpk_" + name + type;
  std::vector<ScalarStep> steps;
  const bool is_signed = type == "_i32";
  for (const uint32_t k : {0U, 1U, 0x7fffU, 0x8000U, 0xffffU})
    steps.push_back(compare_step(fmt::format("{} s32, {:#x}", keyed, k), [=](In in) {
      return f(in[0], is_signed ? u(static_cast<int16_t>(k)) : k);
    }));
  out.push_back(scalar_case(
      keyed, scalar_inputs({u32(30).with({0x8000, 0xffff8000, 0xffff, 0x7fff, 0xffff7fff})}),
      steps));
}

}  // namespace

void cases(Generation, std::vector<Case>& out) {
  sums(out);
  logic(out);
  shifts_and_fields(out);
  single(out);
  short_constants(out);
  for (const Condition& c : kConditions) {
    const auto with_sign = c.signed_;
    compare(
        c.name, "_i32", [with_sign](uint32_t a, uint32_t b) { return with_sign(s(a), s(b)); }, out);
    compare(c.name, "_u32", c.unsigned_, out);
  }
}

}  // namespace values::gcn::scalar
