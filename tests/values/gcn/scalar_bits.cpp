// Scalar instructions on bits and fields, conditional moves, saved masks, registers by number.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::scalar_bits {

namespace {

struct Result {
  uint64_t value;
  bool scc;
};
Result tested(uint64_t v) {
  return {v, v != 0};
}
bool scc_of(In in) {
  return (in.back() & 1) != 0;
}
Tuples inputs_of(std::vector<Pool> pools) {
  pools.push_back(flags());
  return tuples(pools, 64);
}

ScalarStep step(const std::string& text, unsigned words, const std::function<Result(In)>& f) {
  ScalarStep s{text, nullptr, words};
  s.rule = [f, words](In in, Out out) {
    const Result r = f(in);
    if (words > 0) out[0] = static_cast<uint32_t>(r.value);
    if (words > 1) out[1] = static_cast<uint32_t>(r.value >> 32);
    out[words] = r.scc ? 1 : 0;
  };
  return s;
}

/// One source of `from` dwords, a result of `to`; `old` is what the result held before.
using One = std::function<Result(uint64_t a, bool scc)>;
void one(const std::string& name, unsigned from, unsigned to, const One& f,
         std::vector<Case>& out) {
  const std::string d = to == 2 ? " {p}, " : " {d}, ";
  const auto value = [=](In in) { return from == 2 ? wide(in[0], in[1]) : uint64_t{in[0]}; };
  const uint64_t minus = from == 2 ? ~uint64_t{15} : 0xfffffff0;
  out.push_back(scalar_case(
      name, inputs_of({from == 2 ? u64(30) : u32(30)}),
      {step(name + d + (from == 2 ? "s[32:33]" : "s32"), to,
            [=](In in) { return f(value(in), scc_of(in)); }),
       step(name + d + "-16", to, [=](In in) { return f(minus, scc_of(in)); }),
       step(name + d + "0x00010000", to, [=](In in) { return f(0x10000, scc_of(in)); })}));
}

using Two = std::function<Result(uint64_t a, uint64_t b, bool scc)>;
void two(const std::string& name, unsigned from, unsigned second, unsigned to, const Two& f,
         const Pool& pool, std::vector<Case>& out) {
  const std::string a = from == 2 ? "s[32:33]" : "s32";
  const std::string b =
      second == 2 ? fmt::format("s[{}:{}]", 32 + from, 33 + from) : fmt::format("s{}", 32 + from);
  const std::string d = to == 2 ? " {p}, " : to == 1 ? " {d}, " : " ";
  const auto x = [=](In in) { return from == 2 ? wide(in[0], in[1]) : uint64_t{in[0]}; };
  const auto y = [=](In in) {
    return second == 2 ? wide(in[from], in[from + 1]) : uint64_t{in[from]};
  };
  out.push_back(scalar_case(
      name, inputs_of({from == 2 ? u64() : u32(), pool}),
      {step(name + d + a + ", " + b, to, [=](In in) { return f(x(in), y(in), scc_of(in)); }),
       step(name + d + a + ", 7", to, [=](In in) { return f(x(in), 7, scc_of(in)); }),
       step(name + d + "64, " + b, to, [=](In in) { return f(64, y(in), scc_of(in)); })}));
}

template <typename T>
uint32_t first_of(T x) {
  return x == 0 ? 0xffffffff : static_cast<uint32_t>(std::countr_zero(x));
}
template <typename T>
uint32_t last_of(T x) {
  return x == 0 ? 0xffffffff : static_cast<uint32_t>(std::countl_zero(x));
}
uint32_t low(uint64_t x) {
  return static_cast<uint32_t>(x);
}

void counts(std::vector<Case>& out) {
  const auto kept = [](auto f) { return [f](uint64_t a, bool c) { return Result{f(a), c}; }; };
  one(
      "s_bcnt0_i32_b32", 1, 1,
      [](uint64_t a, bool) { return tested(32U - static_cast<unsigned>(std::popcount(low(a)))); },
      out);
  one(
      "s_bcnt0_i32_b64", 2, 1,
      [](uint64_t a, bool) { return tested(64U - static_cast<unsigned>(std::popcount(a))); }, out);
  one("s_ff0_i32_b32", 1, 1, kept([](uint64_t a) { return first_of(~low(a)); }), out);
  one("s_ff0_i32_b64", 2, 1, kept([](uint64_t a) { return first_of(~a); }), out);
  one("s_ff1_i32_b32", 1, 1, kept([](uint64_t a) { return first_of(low(a)); }), out);
  one("s_flbit_i32_b32", 1, 1, kept([](uint64_t a) { return last_of(low(a)); }), out);
  one("s_flbit_i32_b64", 2, 1, kept([](uint64_t a) { return last_of(a); }), out);
  one("s_flbit_i32", 1, 1,
      kept([](uint64_t a) { return last_of((a >> 31 & 1) != 0 ? ~low(a) : low(a)); }), out);
  one("s_flbit_i32_i64", 2, 1, kept([](uint64_t a) { return last_of(a >> 63 != 0 ? ~a : a); }),
      out);
  one("s_sext_i32_i8", 1, 1,
      kept([](uint64_t a) { return static_cast<uint32_t>(static_cast<int8_t>(a)); }), out);
  one("s_sext_i32_i16", 1, 1,
      kept([](uint64_t a) { return static_cast<uint32_t>(static_cast<int16_t>(a)); }), out);
  one("s_brev_b64", 2, 2, kept([](uint64_t a) {
        uint64_t r = 0;
        for (unsigned n = 0; n < 64; ++n) r |= (a >> n & 1) << (63 - n);
        return r;
      }),
      out);
}

void quads(std::vector<Case>& out) {
  const auto spread = [](uint64_t a) {
    uint64_t r = 0;
    for (unsigned q = 0; q < 16; ++q)
      if ((a >> (4 * q) & 15) != 0) r |= uint64_t{15} << (4 * q);
    return r;
  };
  const auto joined = [](uint64_t a) {
    uint64_t r = 0;
    for (unsigned q = 0; q < 16; ++q)
      if ((a >> (4 * q) & 15) != 0) r |= uint64_t{1} << q;
    return r;
  };
  one(
      "s_wqm_b32", 1, 1, [=](uint64_t a, bool) { return tested(spread(a)); }, out);
  one(
      "s_wqm_b64", 2, 2, [=](uint64_t a, bool) { return tested(spread(a)); }, out);
  one(
      "s_quadmask_b32", 1, 1, [=](uint64_t a, bool) { return tested(joined(a)); }, out);
  one(
      "s_quadmask_b64", 2, 2, [=](uint64_t a, bool) { return tested(joined(a)); }, out);
}

void sums(std::vector<Case>& out) {
  const auto size = [](uint32_t x) { return (x >> 31) != 0 ? 0 - x : x; };
  one(
      "s_abs_i32", 1, 1, [=](uint64_t a, bool) { return tested(size(low(a))); }, out);
  two(
      "s_absdiff_i32", 1, 1, 1,
      [=](uint64_t a, uint64_t b, bool) { return tested(size(low(a) - low(b))); }, u32(), out);
  const struct {
    const char* name;
    uint32_t (*f)(uint32_t, uint32_t);
  } logic[] = {{"s_nand_b32", [](uint32_t a, uint32_t b) { return ~(a & b); }},
               {"s_nor_b32", [](uint32_t a, uint32_t b) { return ~(a | b); }},
               {"s_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); }}};
  for (const auto& l : logic)
    two(
        l.name, 1, 1, 1,
        [f = l.f](uint64_t a, uint64_t b, bool) { return tested(f(low(a), low(b))); }, u32(), out);
}

void fields(Generation g, std::vector<Case>& out) {
  two(
      "s_bfm_b64", 1, 1, 2,
      [](uint64_t a, uint64_t b, bool c) {
        return Result{((uint64_t{1} << (a & 63)) - 1) << (b & 63), c};
      },
      shifts(), out);
  Pool places{1, {}};
  for (const uint32_t width : {0U, 1U, 5U, 33U, 63U, 64U, 100U})
    for (const uint32_t at : {0U, 1U, 31U, 40U, 63U, 64U})
      places.values.push_back(width << 16 | at);
  const auto cut = [](uint64_t x, uint64_t b) {
    const uint64_t width = b >> 16 & 127;
    return width >= 64 ? x : x & ((uint64_t{1} << width) - 1);
  };
  two(
      "s_bfe_u64", 2, 1, 2,
      [cut](uint64_t a, uint64_t b, bool) { return tested(cut(a >> (b & 63), b)); }, places, out);
  two(
      "s_bfe_i64", 2, 1, 2,
      [](uint64_t a, uint64_t b, bool) {
        const auto moved = static_cast<int64_t>(a) >> (b & 63);
        const uint64_t width = b >> 16 & 127;
        if (width == 0) return tested(0);
        if (width >= 64) return tested(static_cast<uint64_t>(moved));
        const auto up = static_cast<int64_t>(static_cast<uint64_t>(moved) << (64 - width));
        return tested(static_cast<uint64_t>(up >> (64 - width)));
      },
      places, out);
  for (const unsigned bit : {0U, 1U}) {
    two(
        fmt::format("s_bitcmp{}_b32", bit), 1, 1, 0,
        [bit](uint64_t a, uint64_t b, bool) {
          return Result{0, (a >> (b & 31) & 1) == bit};
        },
        shifts(), out);
    two(
        fmt::format("s_bitcmp{}_b64", bit), 2, 1, 0,
        [bit](uint64_t a, uint64_t b, bool) {
          return Result{0, (a >> (b & 63) & 1) == bit};
        },
        shifts(), out);
  }
  if (g != kGfx8) return;
  const Pool same = u64().with({64, 7});
  two(
      "s_cmp_eq_u64", 2, 2, 0,
      [](uint64_t a, uint64_t b, bool) {
        return Result{0, a == b};
      },
      same, out);
  two(
      "s_cmp_lg_u64", 2, 2, 0,
      [](uint64_t a, uint64_t b, bool) {
        return Result{0, a != b};
      },
      same, out);
}

/// What the result held before is part of the outcome: s[34:35] or s34 is moved there first.
void with_old(std::vector<Case>& out) {
  const auto kept = [&](const std::string& name, unsigned words, bool wide_source,
                        const std::function<uint64_t(uint64_t old, uint64_t a, bool c)>& f) {
    const std::string d = words == 2 ? "{p}" : "{d}";
    const std::string before = words == 2 ? "s_mov_b64 {p}, s[34:35]\n" : "s_mov_b32 {d}, s34\n";
    const std::string a = wide_source ? "s[32:33]" : "s32";
    const auto x = [=](In in) { return wide_source ? wide(in[0], in[1]) : uint64_t{in[0]}; };
    const auto old = [=](In in) { return words == 2 ? wide(in[2], in[3]) : uint64_t{in[2]}; };
    out.push_back(scalar_case(name, inputs_of({u64(16).with({5, 31, 40}), u64()}),
                              {step(before + name + " " + d + ", " + a, words,
                                    [=](In in) {
                                      return Result{f(old(in), x(in), scc_of(in)), scc_of(in)};
                                    }),
                               step(before + name + " " + d + ", 33", words, [=](In in) {
                                 return Result{f(old(in), 33, scc_of(in)), scc_of(in)};
                               })}));
  };
  const auto chosen = [](uint64_t old, uint64_t a, bool c) { return c ? a : old; };
  kept("s_cmov_b32", 1, false, chosen);
  kept("s_cmov_b64", 2, true, chosen);
  kept("s_bitset0_b32", 1, false,
       [](uint64_t old, uint64_t a, bool) { return old & ~(uint64_t{1} << (a & 31)); });
  kept("s_bitset0_b64", 2, false,
       [](uint64_t old, uint64_t a, bool) { return old & ~(uint64_t{1} << (a & 63)); });
  kept("s_bitset1_b32", 1, false,
       [](uint64_t old, uint64_t a, bool) { return old | uint64_t{1} << (a & 31); });
  kept("s_bitset1_b64", 2, false,
       [](uint64_t old, uint64_t a, bool) { return old | uint64_t{1} << (a & 63); });
  out.push_back(scalar_case("s_cmovk_i32", inputs_of({u32()}),
                            {step("s_mov_b32 {d}, s32\ns_cmovk_i32 {d}, -5", 1, [](In in) {
                              return Result{scc_of(in) ? 0xfffffffb : in[0], scc_of(in)};
                            })}));
}

/// The register is chosen by M0, from a constant or at run time.
void moving(std::vector<Case>& out) {
  const auto numbered = [&](const std::string& name, const std::string& text, unsigned words,
                            const std::function<uint64_t(In)>& f) {
    std::vector<ScalarStep> steps;
    for (const char* number : {"s_mov_b32 m0, 2\n", "s_and_b32 m0, s25, 2\ns_or_b32 m0, m0, 2\n"})
      steps.push_back(
          step(number + text + "\ns_mov_b32 m0, -1\ns_cmp_lg_u32 s15, 0", words, [=](In in) {
            return Result{f(in), scc_of(in)};
          }));
    out.push_back(scalar_case(name, inputs_of({u64(), u64()}), steps));
  };
  numbered("s_movrels_b32", "s_movrels_b32 {d}, s32", 1, [](In in) { return uint64_t{in[2]}; });
  numbered("s_movrels_b64", "s_movrels_b64 {p}, s[32:33]", 2,
           [](In in) { return wide(in[2], in[3]); });
  numbered("s_movreld_b32", "s_mov_b32 s46, s33\ns_movreld_b32 s44, s32\ns_mov_b32 {d}, s46", 1,
           [](In in) { return uint64_t{in[0]}; });
  numbered("s_movreld_b64",
           "s_mov_b64 s[46:47], s[34:35]\ns_movreld_b64 s[44:45], s[32:33]\n"
           "s_mov_b64 {p}, s[46:47]",
           2, [](In in) { return wide(in[0], in[1]); });
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  counts(out);
  quads(out);
  sums(out);
  fields(g, out);
  with_old(out);
  moving(out);
}

}  // namespace values::gcn::scalar_bits
