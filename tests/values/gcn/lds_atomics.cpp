// Atomic operations on LDS beyond 32-bit integers: 64 bits, floats, two exchanges at once, masks,
// conditions, a second place, counters.
#include <fmt/format.h>

#include <bit>

#include "tests/values/gcn/memory.hpp"

namespace values::gcn::lds_atomics {

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

template <typename T>
struct IntegerOp {
  const char *op, *type;
  T (*f)(T memory, T data);
};
template <typename T>
constexpr IntegerOp<T> kIntegers[] = {{"add", "u", [](T p, T d) { return static_cast<T>(p + d); }},
                                      {"sub", "u", [](T p, T d) { return static_cast<T>(p - d); }},
                                      {"rsub", "u", [](T p, T d) { return static_cast<T>(d - p); }},
                                      {"inc", "u", increment<T>},
                                      {"dec", "u", decrement<T>},
                                      {"min", "i", signed_less<T>},
                                      {"max", "i", signed_greater<T>},
                                      {"min", "u", [](T p, T d) { return p < d ? p : d; }},
                                      {"max", "u", [](T p, T d) { return p > d ? p : d; }},
                                      {"and", "b", [](T p, T d) { return p & d; }},
                                      {"or", "b", [](T p, T d) { return p | d; }},
                                      {"xor", "b", [](T p, T d) { return p ^ d; }}};

/// Values among which equal ones meet.
template <typename T>
Pool close_integers() {
  constexpr uint64_t sign = uint64_t{1} << (8 * sizeof(T) - 1);
  if constexpr (sizeof(T) == 8)
    return u64().with({0, 1, 2, sign - 1, sign, ~uint64_t{0}, 0x100000000});
  else
    return u32().with({0, 1, 2, sign - 1, sign, 0xffffffff});
}

void integers(std::vector<Case>& out) {
  using U = uint64_t;
  const Pool close = close_integers<U>();
  const Tuples inputs = with_flags({close, close, u64()}, 768);
  for (const auto& a : kIntegers<U>)
    both(
        a.op, std::string(a.type) + "64", 2, false, inputs,
        [f = a.f](U p, U d, U) { return f(p, d); }, out);
  atomic(
      "ds_wrxchg_rtn_b64", 2, true, false, inputs, [](U, U d, U) { return d; }, out);
  const Pool few{2, {0, 1, 0x8000000000000000, 0x100000000}};
  both(
      "cmpst", "b64", 2, true, with_flags({few, few, u64()}, 512),
      [](U p, U d, U second) { return p == d ? second : p; }, out);
}

/// Without NaN: of two, none is known to win.
template <typename T>
Pool numbers_of(Pool p) {
  std::erase_if(p.values,
                [](uint64_t v) { return std::isnan(number_of<T>(static_cast<BitsOf<T>>(v))); });
  return p;
}
template <typename T>
Change extreme(bool greatest) {
  return [greatest](uint64_t p, uint64_t d, uint64_t) -> uint64_t {
    return least<T>(static_cast<BitsOf<T>>(p), static_cast<BitsOf<T>>(d), greatest);
  };
}

template <typename T>
void floats(const std::string& type, const Pool& any, std::vector<Case>& out) {
  constexpr unsigned words = sizeof(T) / 4;
  const Pool numbers = numbers_of<T>(any);
  const Tuples inputs = with_flags({any, numbers, numbers}, 768);
  both("min", type, words, false, inputs, extreme<T>(false), out);
  both("max", type, words, false, inputs, extreme<T>(true), out);
  const auto bits = [](uint64_t v) { return static_cast<BitsOf<T>>(v); };
  both(
      "cmpst", type, words, true, with_flags({any, any, numbers}, 768),
      [=](auto p, auto d, auto second) {
        return number_of<T>(bits(p)) == number_of<T>(bits(d)) ? second : p;
      },
      out);
}

/// What the sum of subnormals becomes no document says: there are none here.
Pool summands() {
  Pool p{1, {}};
  for (const float x : {0.0F, 1.0F, -1.5F, 3e38F, -3e38F, 0.1F, 1e-20F, 16777216.0F, INFINITY})
    p.values.push_back(raw(x));
  return p;
}
uint64_t sum(uint64_t m, uint64_t d, uint64_t /*second*/) {
  const Rounding nearest(FE_TONEAREST);
  const volatile float r = f32_of(static_cast<uint32_t>(m)) + f32_of(static_cast<uint32_t>(d));
  return bits(float{r});
}
void sums(std::vector<Case>& out) {
  const Pool p = summands();
  both("add", "f32", 1, false, with_flags({p, p, p}, 512), sum, out);
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

/// Under a mask: input 1 has the bits that go, input 2 those that come.
void masked(std::vector<Case>& out) {
  for (const unsigned words : {1U, 2U}) {
    const Pool any = words == 1 ? u32() : u64();
    both(
        "mskor", fmt::format("b{}", 32 * words), words, true, with_flags({any, any, any}, 512),
        [](auto p, auto mask, auto d) { return d | (p & (p ^ mask)); }, out);
  }
}

/// Input 1 comes off where it is not more than there is; else input 2 is added.
void wrapped(std::vector<Case>& out) {
  const Pool close = close_integers<uint32_t>();
  atomic(
      "ds_wrap_rtn_b32", 1, true, true, with_flags({close, close, u32()}, 768),
      [](uint64_t p, uint64_t off, uint64_t more) -> uint64_t {
        const int64_t rest = static_cast<int64_t>(p) - static_cast<int64_t>(off);
        return static_cast<uint32_t>(rest < 0 ? p + more : static_cast<uint64_t>(rest));
      },
      out);
}

/// Two dwords, each on the condition of its own highest bit.
void conditional(std::vector<Case>& out) {
  atomic(
      "ds_condxchg32_rtn_b64", 2, true, false, with_flags({u64(), u64(), u64()}, 512),
      [](uint64_t p, uint64_t d, uint64_t) {
        uint64_t result = p;
        for (const unsigned shift : {0U, 32U})
          if ((d >> (shift + 31) & 1) != 0)
            result =
                (result & ~(uint64_t{0xffffffff} << shift)) | (d & uint64_t{0x7fffffff} << shift);
        return result;
      },
      out);
}

/// The second operand, input 1, lies 1024 bytes above or below input 0: so many dwords as the
/// instruction's offset says, or, with its bit 15, the address from bit 17 on.
void second_place(const std::string& name, unsigned words, const Tuples& inputs, const Change& f,
                  std::vector<Case>& out) {
  const std::string size = fmt::format("b{}", 32 * words);
  std::vector<Step> steps;
  for (const bool above : {true, false})
    for (const bool by_address : {false, true}) {
      const int distance = above ? 256 : -256, at = above ? 1024 : 2048;
      const auto access = [&](const char* op, const std::string& reg, int offset) {
        return std::string(op) == "write"
                   ? fmt::format("ds_write_{} v8, {} offset:{}\n", size, reg, offset)
                   : fmt::format("ds_read_{} {}, v8 offset:{}\n", size, reg, offset);
      };
      // What lies below the address's element does not count.
      const uint32_t upper = by_address ? static_cast<uint32_t>(distance) << 17 : 0;
      const uint32_t address = upper | static_cast<uint32_t>(at) | (4 * words - 1);
      const unsigned offset = by_address ? 0x8000 : static_cast<unsigned>(distance) & 0x7fff;
      const std::string text = kPlace + access("write", range(10, words), at) +
                               access("write", range(10 + words, words), at + 4 * distance) +
                               kWait + fmt::format("v_or_b32 v8, {:#x}, v8\n", address) + kSome +
                               fmt::format("{} v8 offset:{}", name, offset) + kWait + kPlace +
                               access("read", result(words), at) + kWait + kSome;
      steps.push_back(whole(text, words, [=](const Lane& l, Out o) {
        const uint64_t was = value(l, 0, words);
        put(l.active() ? f(was, value(l, 1, words), 0) : was, words, o);
      }));
    }
  out.push_back(vector_case(name, inputs, steps));
}

template <typename T>
void second_integers(std::vector<Case>& out) {
  constexpr unsigned words = sizeof(T) / 4;
  const Pool close = close_integers<T>();
  const Tuples inputs = with_flags({close, close}, 512);
  const auto name = [](const char* op, const char* type) {
    return fmt::format("ds_{}_src2_{}{}", op, type, 32 * words);
  };
  for (const auto& a : kIntegers<T>)
    second_place(
        name(a.op, a.type), words, inputs,
        [f = a.f](uint64_t p, uint64_t d, uint64_t) -> uint64_t {
          return f(static_cast<T>(p), static_cast<T>(d));
        },
        out);
  second_place(
      name("write", "b"), words, inputs, [](uint64_t, uint64_t d, uint64_t) { return d; }, out);
}
template <typename T>
void second_floats(const std::string& type, const Pool& any, std::vector<Case>& out) {
  const Tuples inputs = with_flags({any, numbers_of<T>(any)}, 512);
  for (const bool greatest : {false, true})
    second_place((greatest ? "ds_max_src2_" : "ds_min_src2_") + type, sizeof(T) / 4, inputs,
                 extreme<T>(greatest), out);
}

/// The wave's sum by halves: each step reads what other lanes made in the one before.
void reduction(std::vector<Case>& out) {
  std::string text = kAll + "v_lshlrev_b32 v8, 2, v0\nds_write_b32 v8, v10" + kWait;
  for (unsigned lanes = 32; lanes != 0; lanes /= 2)
    text += fmt::format("s_bfm_b64 exec, {0}, 0\nds_add_src2_u32 v8 offset:{0}\n", lanes);
  text += kAll + "v_mov_b32 v8, 0\nds_read_b32 {d}, v8" + kWait + kSome;
  const Step total = whole(text, 1, [](const Lane& l, Out o) {
    uint32_t sum = 0;
    for (const In& lane : l.wave) sum += lane[0];
    o[0] = sum;
  });
  out.push_back(vector_case("ds_add_src2_u32", with_flags({u32()}, 256), {total}));
}

/// Lanes meet in one place with one atomic after the other: each is done by all of them before the
/// next begins.
void in_turn(std::vector<Case>& out) {
  const std::string text = kAll + "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\nds_write_b32 v8, v9" + kWait +
                           kSome + "ds_add_u32 v8, v10\nds_xor_b32 v8, v11\nds_add_u32 v8, v10" +
                           kWait + kAll + "ds_read_b32 {d}, v8" + kWait + kSome;
  const Step last = whole(text, 1, [](const Lane& l, Out o) {
    uint32_t sum = 0, flips = 0;
    for (size_t i = 0; i < l.wave.size(); ++i) {
      if ((l.mask(0) >> i & 1) == 0) continue;
      sum += l.wave[i][0];
      flips ^= l.wave[i][1];
    }
    o[0] = (sum ^ flips) + sum;
  });
  out.push_back(vector_case("ds_add_u32", with_flags({u32(), u32()}, 256), {last}));
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

void cases(Generation g, std::vector<Case>& out) {
  integers(out);
  floats<float>("f32", f32(0), out);
  floats<double>("f64", f64(0), out);
  if (g == kGfx8) sums(out);
  exchanges(out);
  masked(out);
  if (g != kGfx6) wrapped(out), conditional(out);
  second_integers<uint32_t>(out);
  second_integers<uint64_t>(out);
  reduction(out);
  second_floats<float>("f32", f32(0), out);
  second_floats<double>("f64", f64(0), out);
  if (g == kGfx8)
    second_place("ds_add_src2_f32", 1, with_flags({summands(), summands()}, 512), sum, out);
  in_turn(out);
  counters(out);
}

}  // namespace values::gcn::lds_atomics
