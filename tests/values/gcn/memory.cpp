// Flat and scalar memory instructions, and atomics of floats. The other buffer instructions are
// shown by the random streams.
#include "tests/values/gcn/memory.hpp"

#include <fmt/format.h>

namespace values::gcn::memory {

namespace {

// ---- flat instructions, in the lane's own records of inputs and outputs

const std::string kInput =
    kAll + "v_add_x v6, vcc, {in}, v2\nv_addc_u32 v7, vcc, 0, v3, vcc\n" + kSome;
const std::string kOutput =
    kAll + "v_add_x v6, vcc, {out}, v4\nv_addc_u32 v7, vcc, 0, v5, vcc\n" + kSome;

/// The same at a multiple of eight, for which the case has one output word more than it needs.
const std::string kAlignedOutput =
    kOutput + kAll +
    "v_add_x v6, vcc, 7, v6\nv_addc_u32 v7, vcc, 0, v7, vcc\nv_and_b32 v6, -8, v6\n" + kSome;

void flat_loads(std::vector<Case>& out) {
  const Tuples inputs = memory_inputs();
  const auto narrow = [&](const std::string& name, uint32_t (*f)(uint32_t)) {
    std::vector<Step> steps = {
        {kInput + name + " {d}, v[6:7]" + kWaitAll, [f](const Lane& l, Out o) { o[0] = f(l[0]); }}};
    steps.push_back({"v_add_x v6, vcc, 2, v6\nv_addc_u32 v7, vcc, 0, v7, vcc\n" + name +
                         " {d}, v[6:7] glc" + kWaitAll,
                     [f](const Lane& l, Out o) { o[0] = f(l[0] >> 16); }});
    out.push_back(vector_case(name, inputs, steps));
  };
  narrow("flat_load_ubyte", [](uint32_t x) { return x & 0xff; });
  narrow("flat_load_sbyte",
         [](uint32_t x) { return static_cast<uint32_t>(static_cast<int8_t>(x)); });
  narrow("flat_load_ushort", [](uint32_t x) { return x & 0xffff; });
  narrow("flat_load_sshort",
         [](uint32_t x) { return static_cast<uint32_t>(static_cast<int16_t>(x)); });
  for (unsigned words = 1; words <= 4; ++words) {
    const std::string name =
        words == 1 ? "flat_load_dword" : fmt::format("flat_load_dwordx{}", words);
    Step s{kInput + name + " {q}, v[6:7]" + kWaitAll, nullptr, words};
    s.rule = [words](const Lane& l, Out o) {
      for (unsigned n = 0; n < words; ++n) o[n] = l[n];
    };
    out.push_back(vector_case(name, inputs, {s}));
  }
}

/// Old memory is words 0 to 3; afterwards all four are loaded.
std::vector<Step> flat_write(const std::string& text, unsigned result_words, const Rule& results,
                             const Rule& memory, unsigned words, bool flat = true,
                             bool aligned = false) {
  const std::string size = words == 1 ? "dword" : fmt::format("dwordx{}", words);
  const std::string old = words == 1 ? "v10" : fmt::format("v[10:{}]", 9 + words);
  const std::string buffer = ", v[6:7], s[8:11], 0 addr64";
  const std::string store =
      flat ? "flat_store_" + size + " v[6:7], " + old : "buffer_store_" + size + " " + old + buffer;
  const std::string load =
      flat ? "flat_load_" + size + " {q}, v[6:7]" : "buffer_load_" + size + " {q}" + buffer;
  Step access{
      (aligned ? kAlignedOutput : kOutput) + kAll + store + kWaitAll + kSome + text + kWaitAll,
      results, result_words};
  access.old = 1;
  const Step after = whole(kAll + load + kWaitAll + kSome, words, [=](const Lane& l, Out o) {
    for (unsigned n = 0; n < words; ++n) o[n] = l[n];
    if (l.active()) memory(l, o);
  });
  std::vector<Step> steps = {access, after};
  if (aligned) steps.push_back({"v_mov_b32 {d}, v10", [](const Lane& l, Out o) { o[0] = l[0]; }});
  return steps;
}

void flat_stores(std::vector<Case>& out) {
  const Tuples inputs = with_flags({u32(), u32(), u32(), u32(), u32(), u32(), u32(), u32()}, 512);
  const auto none = [](const Lane&, Out) {};
  const auto add = [&](const std::string& name, const std::string& data,
                       std::function<void(const Lane&, Out)> f) {
    out.push_back(vector_case(name, inputs, flat_write(name + " v[6:7], " + data, 0, none, f, 4)));
  };
  add("flat_store_byte", "v14",
      [](const Lane& l, Out o) { o[0] = (l[0] & ~0xffU) | (l[4] & 0xff); });
  add("flat_store_short", "v14",
      [](const Lane& l, Out o) { o[0] = (l[0] & ~0xffffU) | (l[4] & 0xffff); });
  for (unsigned words = 1; words <= 4; ++words)
    add(words == 1 ? "flat_store_dword" : fmt::format("flat_store_dwordx{}", words),
        words == 1 ? "v14" : fmt::format("v[14:{}]", 13 + words), [words](const Lane& l, Out o) {
          for (unsigned n = 0; n < words; ++n) o[n] = l[4 + n];
        });
}

template <typename T>
constexpr Atomic<T> kFlatAtomics[] = {{"swap", [](T, T d) { return d; }},
                                      {"add", [](T p, T d) { return static_cast<T>(p + d); }},
                                      {"sub", [](T p, T d) { return static_cast<T>(p - d); }},
                                      {"smin", signed_less<T>},
                                      {"umin", [](T p, T d) { return p < d ? p : d; }},
                                      {"smax", signed_greater<T>},
                                      {"umax", [](T p, T d) { return p > d ? p : d; }},
                                      {"and", [](T p, T d) { return static_cast<T>(p & d); }},
                                      {"or", [](T p, T d) { return static_cast<T>(p | d); }},
                                      {"xor", [](T p, T d) { return static_cast<T>(p ^ d); }},
                                      {"inc", increment<T>},
                                      {"dec", decrement<T>},
                                      {"cmpswap", nullptr}};

/// Memory in word 0 (and 1), then the data, then what is compared.
template <typename T>
void flat_atomics(std::vector<Case>& out) {
  constexpr unsigned kWords = sizeof(T) / 4;
  const Pool pool = kWords == 2 ? u64() : u32().with({0, 1, 2});
  const Pool few{kWords, {0, 1, T{1} << (8 * sizeof(T) - 1)}};
  const Tuples usual = with_flags({pool, pool}, 512), compared = with_flags({few, pool, few}, 512);
  const auto value = [](const Lane& l, unsigned n) {
    return static_cast<T>(kWords == 2 ? l.pair(2 * n) : l[n]);
  };
  const auto put = [](T v, Out o) {
    for (unsigned n = 0; n < kWords; ++n) o[n] = static_cast<uint32_t>(uint64_t{v} >> (32 * n));
  };
  for (const auto& a : kFlatAtomics<T>)
    for (const bool returns : {false, true}) {
      const auto f = a.f;
      const bool compares = f == nullptr;
      const unsigned data = 10 + kWords, count = compares ? 2 * kWords : kWords;
      const std::string name = std::string("flat_atomic_") + a.name + (kWords == 2 ? "_x2" : "");
      const std::string text = name + (returns ? kWords == 2 ? " {p}," : " {d}," : "") +
                               " v[6:7], " +
                               (count == 1 ? fmt::format("v{}", data)
                                           : fmt::format("v[{}:{}]", data, data + count - 1)) +
                               (returns ? " glc" : "");
      out.push_back(vector_case(name + (returns ? " glc" : ""), compares ? compared : usual,
                                flat_write(
                                    text, returns ? kWords : 0,
                                    [=](const Lane& l, Out o) {
                                      if (returns) put(value(l, 0), o);
                                    },
                                    [=](const Lane& l, Out o) {
                                      const T p = value(l, 0), d = value(l, 1);
                                      put(compares ? (p == value(l, 2) ? d : p) : f(p, d), o);
                                    },
                                    kWords, true, kWords == 2)));
    }
}

// ---- atomics of floats, which GCN3 has dropped

Pool without_nan(Pool p) {
  std::erase_if(p.values, [&](uint64_t v) {
    return p.words == 2 ? std::isnan(f64_of(v)) : std::isnan(f32_of(static_cast<uint32_t>(v)));
  });
  return p;
}

template <typename T>
struct FloatAtomic {
  const char* name;
  BitsOf<T> (*f)(BitsOf<T> memory, BitsOf<T> data, BitsOf<T> compared);
};
template <typename T>
constexpr FloatAtomic<T> kFloatAtomics[] = {
    {"fmin", [](BitsOf<T> p, BitsOf<T> d, BitsOf<T>) { return least<T>(p, d, false); }},
    {"fmax", [](BitsOf<T> p, BitsOf<T> d, BitsOf<T>) { return least<T>(p, d, true); }},
    {"fcmpswap", [](BitsOf<T> p, BitsOf<T> d, BitsOf<T> c) {
       return number_of<T>(p) == number_of<T>(c) ? d : p;
     }}};

/// Memory in word 0 (and 1), then the data, then what is compared. Buffer instructions return over
/// their data, which is in v26 and behind it.
template <typename T>
void float_atomics(bool flat, std::vector<Case>& out) {
  constexpr unsigned kWords = sizeof(T) / 4;
  const Pool any = kWords == 2 ? f64(0) : f32(0), numbers = without_nan(any);
  const auto value = [](const Lane& l, unsigned n) {
    return static_cast<BitsOf<T>>(kWords == 2 ? l.pair(2 * n) : l[n]);
  };
  const auto put = [](BitsOf<T> v, Out o) {
    for (unsigned n = 0; n < kWords; ++n) o[n] = static_cast<uint32_t>(uint64_t{v} >> (32 * n));
  };
  const auto range = [](unsigned first, unsigned count) {
    return count == 1 ? fmt::format("v{}", first)
                      : fmt::format("v[{}:{}]", first, first + count - 1);
  };
  for (const auto& a : kFloatAtomics<T>)
    for (const bool returns : {false, true}) {
      const auto f = a.f;
      const bool compares = std::string(a.name) == "fcmpswap";
      const unsigned count = compares ? 2 * kWords : kWords, data = 10 + kWords;
      const std::string name =
          std::string(flat ? "flat" : "buffer") + "_atomic_" + a.name + (kWords == 2 ? "_x2" : "");
      const std::string glc = returns ? " glc" : "";
      std::string text;
      if (flat)
        text = name + (returns ? kWords == 2 ? " {p}," : " {d}," : "") + " v[6:7], " +
               range(data, count) + glc;
      else {
        for (unsigned n = 0; n < count; ++n)
          text += fmt::format("v_mov_b32 v{}, v{}\n", 26 + n, data + n);
        text += name + " " + range(26, count) + ", v[6:7], s[8:11], 0 addr64" + glc;
      }
      const auto memory = [=](const Lane& l, Out o) {
        put(f(value(l, 0), value(l, 1), compares ? value(l, 2) : 0), o);
      };
      const bool direct = flat && returns;
      std::vector<Step> steps = flat_write(
          text, direct ? kWords : 0,
          [=](const Lane& l, Out o) {
            if (direct) put(value(l, 0), o);
          },
          memory, kWords, flat, kWords == 2);
      for (unsigned n = 0; !flat && n < kWords; ++n)
        steps.push_back({fmt::format("v_mov_b32 {{d}}, v{}", 26 + n),
                         [=](const Lane& l, Out o) { o[0] = l[(returns ? 0 : kWords) + n]; }});
      const std::string row = name + (flat ? glc : "");
      if (compares)
        out.push_back(vector_case(row, with_flags({any, numbers, any}, 768), steps));
      else
        for (const auto& [p, d] : {std::pair{any, numbers}, {numbers, any}})
          out.push_back(vector_case(row, with_flags({p, d}, 768), steps));
    }
}

// ---- scalar loads; the wave's inputs lie at s[12:13] + {in}

void scalar_loads(std::vector<Case>& out) {
  Random next(5);
  Tuples inputs;
  for (unsigned n = 0; n < 24; ++n) {
    Words w(16);
    for (uint32_t& x : w) x = static_cast<uint32_t>(next());
    inputs.push_back(w);
  }
  const std::string offset = "s_movk_i32 s14, {in}\n";
  const std::string descriptor =
      "s_mov_b32 s84, s12\ns_mov_b32 s85, s13\ns_movk_i32 s86, {in}\ns_mov_b32 s87, 0xf000\n";
  for (unsigned words = 1; words <= 16; words *= 2) {
    const std::string size = words == 1 ? "dword" : fmt::format("dwordx{}", words);
    const auto all = [words](In in, Out o) { std::copy_n(in.begin(), words, o.begin()); };
    ScalarStep load{offset + "s_load_" + size + " {q}, s[12:13], s14" + "\ns_waitcnt lgkmcnt(0)",
                    all, words, false};
    ScalarStep fixed{"s_load_" + size + " {q}, s[12:13], {imm}\ns_waitcnt lgkmcnt(0)", all, words,
                     false};
    if (words < 16)
      out.push_back(scalar_case("s_load_" + size, inputs, {load, fixed}));
    else
      out.push_back(scalar_case("s_load_" + size, inputs, {load}));
    // The buffer ends in the middle: dwords behind its end are 0.
    const unsigned there = words == 1 ? 1 : words / 2;
    ScalarStep some{descriptor + fmt::format("s_add_u32 s86, s86, {}\n", 4 * there) + offset +
                        "s_buffer_load_" + size + " {q}, s[84:87], s14\ns_waitcnt lgkmcnt(0)",
                    [=](In in, Out o) {
                      for (unsigned n = 0; n < words; ++n) o[n] = n < there ? in[n] : 0;
                    },
                    words, false};
    out.push_back(scalar_case("s_buffer_load_" + size, inputs, {some}));
  }
}

}  // namespace

void cases(Generation g, std::vector<Case>& out) {
  scalar_loads(out);
  if (g != kGfx8) {
    float_atomics<float>(false, out);
    float_atomics<double>(false, out);
  }
  if (g == kGfx7) {
    float_atomics<float>(true, out);
    float_atomics<double>(true, out);
  }
  if (g == kGfx6) return;
  flat_loads(out);
  flat_stores(out);
  flat_atomics<uint32_t>(out);
  flat_atomics<uint64_t>(out);
}

}  // namespace values::gcn::memory

namespace values::gcn {

std::vector<Case> all_cases(Generation g) {
  std::vector<Case> out;
  scalar::cases(g, out);
  vector_integer::cases(g, out);
  vector_float::cases(g, {}, out);
  compares::cases(g, out);
  compares::class_cases(g, out);
  compares::float_cases(g, {}, out);
  compares::double_cases(g, {}, out);
  if (g == kGfx8) compares::half_cases({}, out);
  functions::cases(g, {}, out);
  doubles::cases(g, {}, out);
  Mode subnormals;
  subnormals.flush = false;
  quotients::cases(subnormals, out);
  if (g == kGfx8) halves::cases({}, out);
  if (g == kGfx8) special::half_cases({}, out);
  special::cases(g, {}, out);
  bit_ops::cases(g, out);
  bit_ops::moving_cases(out);
  scalar_bits::cases(g, out);
  lanes::cases(g, out);
  lds::cases(g, out);
  lds_atomics::cases(g, out);
  memory::cases(g, out);
  if (g == kGfx8) index_mode::cases(out);
  if (g == kGfx8) scalar_stores::cases(out);
  return out;
}

}  // namespace values::gcn
