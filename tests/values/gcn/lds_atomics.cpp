// Atomic operations on LDS beyond 32-bit integers: 64 bits, floats, two exchanges at once,
// counters.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/memory.hpp"

namespace values::gcn {

namespace {

/// v8: a place of sixteen bytes for each lane.
const std::string kPlace = kAll + "v_lshlrev_b32 v8, 4, v0\n";

void put(uint64_t v, unsigned words, Out o) {
  for (unsigned n = 0; n < words; ++n) o[n] = static_cast<uint32_t>(v >> (32 * n));
}
uint64_t value(const Lane& l, unsigned n, unsigned words) {
  return words == 2 ? l.pair(2 * n) : l[n];
}
std::string range(unsigned first, unsigned words) {
  return words == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + 1);
}
const char* result(unsigned words) {
  return words == 1 ? "{d}" : "{p}";
}

using Change = std::function<uint64_t(uint64_t memory, uint64_t data, uint64_t second)>;

/// Memory, data and second data are inputs 0, 1 and 2, of `words` words each.
void atomic(const std::string& name, unsigned words, bool returns, bool two_data,
            const Tuples& inputs, const Change& f, std::vector<Case>& out) {
  const std::string size = fmt::format("b{}", 32 * words);
  Step access{kPlace + fmt::format("ds_write_{} v8, {} offset:512", size, range(10, words)) +
                  kWait + kSome + name + (returns ? fmt::format(" {},", result(words)) : "") +
                  " v8, " + range(10 + words, words) +
                  (two_data ? ", " + range(10 + 2 * words, words) : "") + " offset:512" + kWait,
              nullptr, returns ? words : 0U};
  access.rule = [=](const Lane& l, Out o) {
    if (returns) put(value(l, 0, words), words, o);
  };
  const Step memory =
      whole(kAll + fmt::format("ds_read_{} {}, v8 offset:512", size, result(words)) + kWait + kSome,
            words, [=](const Lane& l, Out o) {
              const uint64_t was = value(l, 0, words);
              put(l.active() ? f(was, value(l, 1, words), value(l, 2, words)) : was, words, o);
            });
  out.push_back(vector_case(name, inputs, {access, memory}));
}

void both(const std::string& op, const std::string& type, unsigned words, bool two_data,
          const Tuples& inputs, const Change& f, std::vector<Case>& out) {
  for (const bool returns : {false, true})
    atomic("ds_" + op + (returns ? "_rtn_" : "_") + type, words, returns, two_data, inputs, f, out);
}

void integers(std::vector<Case>& out) {
  using U = uint64_t;
  const Pool close{2, {0, 1, 2, 0x7fffffffffffffff, 0x8000000000000000, ~U{0}, 0x100000000}};
  const Tuples inputs =
      with_flags({u64().with(close.values), u64().with(close.values), u64()}, 768);
  const struct {
    const char *op, *type;
    U (*f)(U memory, U data);
  } all[] = {{"add", "u64", [](U p, U d) { return p + d; }},
             {"sub", "u64", [](U p, U d) { return p - d; }},
             {"rsub", "u64", [](U p, U d) { return d - p; }},
             {"inc", "u64", increment<U>},
             {"dec", "u64", decrement<U>},
             {"min", "i64", signed_less<U>},
             {"max", "i64", signed_greater<U>},
             {"min", "u64", [](U p, U d) { return p < d ? p : d; }},
             {"max", "u64", [](U p, U d) { return p > d ? p : d; }},
             {"and", "b64", [](U p, U d) { return p & d; }},
             {"or", "b64", [](U p, U d) { return p | d; }},
             {"xor", "b64", [](U p, U d) { return p ^ d; }}};
  for (const auto& a : all)
    both(
        a.op, a.type, 2, false, inputs, [f = a.f](U p, U d, U) { return f(p, d); }, out);
  atomic(
      "ds_wrxchg_rtn_b64", 2, true, false, inputs, [](U, U d, U) { return d; }, out);
  const Pool few{2, {0, 1, 0x8000000000000000, 0x100000000}};
  both(
      "cmpst", "b64", 2, true, with_flags({few, few, u64()}, 512),
      [](U p, U d, U second) { return p == d ? second : p; }, out);
}

template <typename T>
void floats(const std::string& type, Pool any, std::vector<Case>& out) {
  constexpr unsigned words = sizeof(T) / 4;
  Pool numbers = any;
  std::erase_if(numbers.values,
                [](uint64_t v) { return std::isnan(number_of<T>(static_cast<BitsOf<T>>(v))); });
  const Tuples inputs = with_flags({any, numbers, numbers}, 768);
  const auto bits = [](uint64_t v) { return static_cast<BitsOf<T>>(v); };
  both(
      "min", type, words, false, inputs,
      [=](auto p, auto d, auto) { return least<T>(bits(p), bits(d), false); }, out);
  both(
      "max", type, words, false, inputs,
      [=](auto p, auto d, auto) { return least<T>(bits(p), bits(d), true); }, out);
  both(
      "cmpst", type, words, true, with_flags({any, any, numbers}, 768),
      [=](auto p, auto d, auto second) {
        return number_of<T>(bits(p)) == number_of<T>(bits(d)) ? second : p;
      },
      out);
}

/// What the sum of subnormals becomes no document says: there are none here.
void sums(std::vector<Case>& out) {
  Pool p{1, {}};
  for (const float x : {0.0F, 1.0F, -1.5F, 3e38F, -3e38F, 0.1F, 1e-20F, 16777216.0F, INFINITY})
    p.values.push_back(raw(x));
  both(
      "add", "f32", 1, false, with_flags({p, p, p}, 512),
      [](auto m, auto d, auto) -> uint64_t {
        const Rounding nearest(FE_TONEAREST);
        const volatile float sum =
            f32_of(static_cast<uint32_t>(m)) + f32_of(static_cast<uint32_t>(d));
        return bits(float{sum});
      },
      out);
}

/// Two exchanges: input 0 is in both places, the data are inputs 1 and 2.
void exchanges(std::vector<Case>& out) {
  for (const unsigned words : {1U, 2U})
    for (const bool far : {false, true}) {
      const std::string size = fmt::format("b{}", 32 * words);
      const std::string name = (far ? "ds_wrxchg2st64_rtn_" : "ds_wrxchg2_rtn_") + size;
      const unsigned first = far ? 1 : 128 / words, second = far ? 3 : first + 1;
      const unsigned unit = 4 * words * (far ? 64 : 1);
      const auto access = [&](const char* op, unsigned index, const std::string& reg) {
        const std::string offset = fmt::format(" offset:{}\n", index * unit);
        return std::string(op) == "write" ? fmt::format("ds_write_{} v8, {}", size, reg) + offset
                                          : fmt::format("ds_read_{} {}, v8", size, reg) + offset;
      };
      // Far places lie a wave of elements apart.
      const std::string place =
          far ? kAll + fmt::format("v_lshlrev_b32 v8, {}, v0\n", words + 1) : kPlace;
      Step swap{place + access("write", first, range(10, words)) +
                    access("write", second, range(10, words)) + kWait + kSome + name +
                    (words == 1 ? " {p}" : " {q}") + ", v8, " + range(10 + words, words) + ", " +
                    range(10 + 2 * words, words) +
                    fmt::format(" offset0:{} offset1:{}", first, second) + kWait,
                nullptr, 2 * words};
      swap.rule = [words](const Lane& l, Out o) {
        for (unsigned n = 0; n < 2 * words; ++n) o[n] = l[n % words];
      };
      std::vector<Step> steps = {swap};
      for (const unsigned n : {0U, 1U})
        steps.push_back(whole(
            kAll + access("read", n == 0 ? first : second, result(words)) + kWait + kSome, words,
            [=](const Lane& l, Out o) { put(value(l, l.active() ? n + 1 : 0, words), words, o); }));
      const Pool any = words == 1 ? u32() : u64();
      out.push_back(vector_case(name, with_flags({any, any, any}, 256), steps));
    }
}

/// One counter for the wave, at M0[31:16] and the offset.
void counters(std::vector<Case>& out) {
  for (const bool append : {false, true}) {
    const std::string name = append ? "ds_append" : "ds_consume";
    Step access{kAll + "v_mov_b32 v8, 0x200\nv_mov_b32 v9, 0x1234\nds_write_b32 v8, v9 offset:4" +
                    kWait + "s_mov_b32 m0, 0x2000000\n" + kSome + name + " {d} offset:4" + kWait +
                    "s_mov_b32 m0, -1\n",
                nullptr};
    access.rule = [](const Lane&, Out o) { o[0] = 0x1234; };
    const Step memory =
        whole(kAll + "ds_read_b32 {d}, v8 offset:4" + kWait + kSome, 1, [=](const Lane& l, Out o) {
          const auto lanes = static_cast<uint32_t>(std::popcount(l.mask(0)));
          o[0] = append ? 0x1234 + lanes : 0x1234 - lanes;
        });
    out.push_back(vector_case(name, with_flags({u32(), u32()}, 256), {access, memory}));
  }
}

}  // namespace

void lds_atomic_cases(Generation g, std::vector<Case>& out) {
  integers(out);
  floats<float>("f32", f32(0), out);
  floats<double>("f64", f64(0), out);
  if (g == kGfx8) sums(out);
  exchanges(out);
  counters(out);
}

}  // namespace values::gcn
