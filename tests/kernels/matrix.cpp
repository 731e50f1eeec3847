// mma: every shape and type on random and edge inputs, against the literal oracle.
#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "tests/kernels/support.hpp"
#include "tests/oracle/ptx_matrix.hpp"

using namespace kernels;
namespace model = oracle::matrix;

namespace {

struct Form {
  unsigned m, n, k;
  std::string a, b, sum;  ///< types
  unsigned sm = 80;
  std::string c = {};        ///< of the addend, where it is another type
  std::string between = {};  ///< qualifiers before the types
  std::string behind = {};
  std::string text() const {
    std::ostringstream s;
    s << "mma.sync.aligned.m" << m << 'n' << n << 'k' << k << ".row.col" << between << '.' << sum
      << '.' << a << '.' << b << '.' << (c.empty() ? sum : c) << behind;
    return s.str();
  }
};

bool is_integer(const std::string& type) {
  return type[0] == 's' || type[0] == 'u' || type == "b1";
}
unsigned element_bits(const std::string& type) {
  return type == "f64" ? 64 : 32 / model::per_register(type);
}

/// Words of a lane's registers of a part with `elements` elements in all.
unsigned words_of(unsigned elements, const std::string& type) {
  return elements * element_bits(type) / 32 / 32;
}

std::string reg_list(const std::string& prefix, unsigned n) {
  std::string list = "{";
  for (unsigned i = 0; i < n; ++i) list += (i ? ", %" : "%") + prefix + std::to_string(i);
  return list + "}";
}

std::string kernel_text(const Form& f) {
  const bool wide = f.a == "f64";
  const unsigned unit = wide ? 8 : 4;
  const auto registers = [&](unsigned elements, const std::string& type) {
    return words_of(elements, type) / (wide ? 2 : 1);
  };
  const unsigned a = registers(f.m * f.k, f.a), b = registers(f.n * f.k, f.b),
                 c = registers(f.m * f.n, f.sum);
  const std::string factor = wide ? "f64" : "b32";
  const std::string sum = f.sum == "f16" ? "b32" : f.sum;
  std::ostringstream s;
  s << ".version 8.4\n.target sm_" << f.sm
    << "\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    << ".reg ." << factor << " %a<" << a << ">, %b<" << b << ">;\n.reg ." << sum << " %c<" << c
    << ">, %d<" << c << ">;\n.reg .b64 %p, %q, %r;\n.reg .b32 %t;\nld.param.u64 %p, [p];\n"
    << "mov.u32 %t, %tid.x;\nmul.wide.u32 %q, %t, " << (a + b + c) * unit
    << ";\nadd.u64 %q, %p, %q;\n"
    << "mul.wide.u32 %r, %t, " << c * unit << ";\nadd.u64 %r, %p, %r;\n";
  unsigned at = 0;
  const auto load = [&](const std::string& prefix, unsigned n, const std::string& type) {
    for (unsigned i = 0; i < n; ++i, at += unit)
      s << "ld.global." << type << " %" << prefix << i << ", [%q+" << at << "];\n";
  };
  load("a", a, factor);
  load("b", b, factor);
  load("c", c, sum);
  s << f.text() << ' ' << reg_list("d", c) << ", " << reg_list("a", a) << ", " << reg_list("b", b)
    << ", " << reg_list("c", c) << ";\n";
  for (unsigned i = 0; i < c; ++i)
    s << "st.global." << sum << " [%r+" << 32 * (a + b + c) * unit + i * unit << "], %d" << i
      << ";\n";
  s << "ret;\n}\n";
  return s.str();
}

/// Interesting encodings of an element: zeros, subnormals, ones, limits, infinities, NaN.
uint64_t edge(const std::string& type, std::mt19937_64& rng) {
  if (is_integer(type)) return rng();
  if (type == "f64") {
    constexpr uint64_t kEdges[] = {0,
                                   uint64_t{1} << 63,
                                   1,
                                   0x3ff0000000000000,
                                   0xbff0000000000001,
                                   0x7fefffffffffffff,
                                   0x0010000000000000,
                                   0x7ff0000000000000,
                                   0x7ff8000000000000};
    return kEdges[rng() % std::size(kEdges)];
  }
  const model::Format f = model::format(type);
  const uint64_t one = uint64_t(((1 << f.exponent) - 1) / 2) << f.fraction;
  const uint64_t top = uint64_t((1 << f.exponent) - 1) << f.fraction;
  const uint64_t sign = (rng() & 1) << (f.fraction + f.exponent);
  const uint64_t edges[] = {0,
                            1,
                            (uint64_t{1} << f.fraction) - 1,
                            uint64_t{1} << f.fraction,
                            one,
                            one + 1,
                            one - 1,
                            top - 1,
                            top,
                            top | 1,
                            top | ((1U << f.fraction) - 1)};
  // Infinities and NaN are few, or every sum had one.
  const size_t n = std::size(edges) - (rng() % 16 == 0 ? 0 : 3);
  return (edges[rng() % n] | sign) << (type == "tf32" ? 13 : 0);
}

/// A random element whose size is not far from 1, so that sums cancel and round.
uint64_t near_one(const std::string& type, std::mt19937_64& rng) {
  if (is_integer(type)) return rng();
  if (type == "f64") {
    const double x = (static_cast<double>(rng() >> 11) * 0x1p-53 - 0.5) * 8;
    return std::bit_cast<uint64_t>(x);
  }
  const model::Format f = model::format(type);
  const int bias = ((1 << f.exponent) - 1) / 2, spread = std::min(bias - 1, 12);
  const int e = bias + static_cast<int>(rng() % static_cast<uint64_t>(2 * spread)) - spread;
  const uint64_t bits = (rng() & 1) << (f.fraction + f.exponent) | uint64_t(e) << f.fraction |
                        (rng() & ((1U << f.fraction) - 1));
  return type == "tf32" ? bits << 13 | (rng() & 0x1fff) : bits;
}

using Part = std::vector<uint64_t>;  ///< [row * columns + column] or by k

/// One lane's registers of a part, as words.
void put(std::vector<uint32_t>& words, size_t base, const std::string& type, unsigned i,
         uint64_t bits) {
  const unsigned n = element_bits(type);
  if (n == 64) {
    words[base + 2 * i] = static_cast<uint32_t>(bits);
    words[base + 2 * i + 1] = static_cast<uint32_t>(bits >> 32);
    return;
  }
  const uint64_t mask = n == 32 ? 0xffffffff : (uint64_t{1} << n) - 1;
  words[base + i * n / 32] |= static_cast<uint32_t>((bits & mask) << (i * n % 32));
}

/// One f32 fma after the other, along k.
uint32_t chain(const Form& f, const std::vector<uint32_t>& x, const std::vector<uint32_t>& y,
               uint32_t c) {
  auto sum = static_cast<float>(model::value_of(f.sum, c));
  for (size_t i = 0; i < x.size(); ++i)
    sum = std::fma(static_cast<float>(model::value_of(f.a, x[i])),
                   static_cast<float>(model::value_of(f.b, y[i])), sum);
  if (f.sum == "f16") {
    const uint32_t half = model::f16_nearest(sum);
    return sum == 0 && std::signbit(sum) ? 0x8000 : half;
  }
  return std::isnan(sum) ? 0x7fffffff : bits(sum);
}

uint64_t wanted(const Form& f, const Part& a, const Part& b, uint64_t c, unsigned row,
                unsigned column, const std::string& policy) {
  std::vector<uint32_t> x, y;
  const uint64_t mask =
      element_bits(f.a) >= 32 ? ~uint64_t{0} : (uint64_t{1} << element_bits(f.a)) - 1;
  if (f.a == "f64") {
    double sum = std::bit_cast<double>(c);
    for (unsigned k = 0; k < f.k; ++k)
      sum = std::fma(std::bit_cast<double>(a[row * f.k + k]),
                     std::bit_cast<double>(b[k * f.n + column]), sum);
    return std::isnan(sum) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(sum);
  }
  for (unsigned k = 0; k < f.k; ++k) {
    x.push_back(static_cast<uint32_t>(a[row * f.k + k] & mask));
    y.push_back(static_cast<uint32_t>(b[k * f.n + column] & mask));
  }
  if (policy == "fma") return chain(f, x, y, static_cast<uint32_t>(c));
  if (!is_integer(f.a))
    return model::dot(model::rule(f.sm, f.a), f.sum, static_cast<uint32_t>(c), f.a, f.b, x, y);
  int64_t sum = static_cast<int32_t>(c);
  for (unsigned k = 0; k < f.k; ++k) {
    if (f.a == "b1")
      sum += f.behind.find("and") != std::string::npos ? x[k] & y[k] : x[k] ^ y[k];
    else
      sum += model::integer(f.a, x[k]) * model::integer(f.b, y[k]);
  }
  if (!f.between.empty()) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(sum);
}

void run(const Form& f, uint64_t seed, bool edges, const std::string& policy = "target") {
  CAPTURE(f.text());
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  const auto fill = [&](size_t n, const std::string& type) {
    Part part(n);
    for (uint64_t& x : part) x = edges ? edge(type, rng) : near_one(type, rng);
    return part;
  };
  const Part a = fill(f.m * f.k, f.a), b = fill(f.k * f.n, f.b);
  Part c = fill(f.m * f.n, f.sum);
  if (f.sum == "s32")
    for (size_t i = 0; i < c.size(); ++i)
      c[i] = i % 3 == 0 ? 0x7fffff00 + rng() % 256 : i % 3 == 1 ? 0x80000000 + rng() % 256 : rng();
  const unsigned wa = words_of(f.m * f.k, f.a), wb = words_of(f.n * f.k, f.b),
                 wc = words_of(f.m * f.n, f.sum), stride = wa + wb + wc;
  std::vector<uint32_t> in(32 * (stride + wc));
  std::vector<uint32_t> want(32 * wc);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < f.m * f.k / 32; ++i) {
      const model::Place p = model::a_place(f.m, f.a, lane, i);
      put(in, lane * stride, f.a, i, a[p.row * f.k + p.column]);
    }
    for (unsigned i = 0; i < f.n * f.k / 32; ++i) {
      const model::Place p = model::b_place(f.b, lane, i);
      put(in, lane * stride + wa, f.b, i, b[p.row * f.n + p.column]);
    }
    for (unsigned i = 0; i < f.m * f.n / 32; ++i) {
      const model::Place p = model::c_place(lane, i);
      const uint64_t mine = c[p.row * f.n + p.column];
      put(in, lane * stride + wa + wb, f.sum, i, mine);
      put(want, lane * wc, f.sum, i, wanted(f, a, b, mine, p.row, p.column, policy));
    }
  }
  auto memory = device().buffer(in);
  device()
      .load_text(kernel_text(f), lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {1}, .block = {32}, .policies = {{"mma.accumulate", policy}}}, memory)
      .check();
  std::vector<uint32_t> got = memory.read<uint32_t>();
  got.erase(got.begin(), got.begin() + 32 * stride);
  if (f.a == "f64")  // NaNs of f64 are alike
    for (size_t i = 0; i + 1 < got.size(); i += 2)
      if (std::isnan(std::bit_cast<double>(uint64_t{got[i + 1]} << 32 | got[i])))
        got[i] = 0, got[i + 1] = 0x7ff80000;
  check_equal(got, want);
}

/// Each launch is a kernel of its own, which devices compile for a second: they run some, and the
/// shader library's sums are held against the model on every driver (unit/spirv/library_dot.cpp).
bool runs_here(uint64_t seed) {
  return device().info().type == "reference" || seed % 61 == 0;
}

std::vector<Form> float_forms() {
  std::vector<Form> all;
  for (const unsigned sm : {75U, 80U, 90U})
    for (const std::string sum : {"f32", "f16"}) {
      all.push_back({16, 8, 8, "f16", "f16", sum, sm});
      if (sm >= 80) all.push_back({16, 8, 16, "f16", "f16", sum, sm});
    }
  for (const unsigned sm : {80U, 89U, 90U}) {
    for (const unsigned k : {8U, 16U}) all.push_back({16, 8, k, "bf16", "bf16", "f32", sm});
    for (const unsigned k : {4U, 8U}) all.push_back({16, 8, k, "tf32", "tf32", "f32", sm});
  }
  for (const unsigned sm : {89U, 90U})
    for (const unsigned k : {16U, 32U})
      for (const std::string a : {"e4m3", "e5m2"})
        for (const std::string b : {"e4m3", "e5m2"})
          for (const std::string sum : {"f32", "f16"}) all.push_back({16, 8, k, a, b, sum, sm});
  all.push_back({8, 8, 4, "f64", "f64", "f64", 80});
  for (const unsigned k : {4U, 8U, 16U}) all.push_back({16, 8, k, "f64", "f64", "f64", 90});
  return all;
}

std::vector<Form> integer_forms() {
  std::vector<Form> all;
  for (const unsigned bits : {8U, 4U})
    for (const std::string a : {"s", "u"})
      for (const std::string b : {"s", "u"})
        for (const std::string between : {"", ".satfinite"}) {
          const std::string x = a + std::to_string(bits), y = b + std::to_string(bits);
          const unsigned k = 128 / bits;
          all.push_back({8, 8, k, x, y, "s32", 80, "", between});
          all.push_back({16, 8, k, x, y, "s32", 80, "", between});
          all.push_back({16, 8, 2 * k, x, y, "s32", 80, "", between});
        }
  for (const std::string behind : {".xor.popc", ".and.popc"}) {
    all.push_back({8, 8, 128, "b1", "b1", "s32", 80, "", "", behind});
    all.push_back({16, 8, 128, "b1", "b1", "s32", 80, "", "", behind});
    all.push_back({16, 8, 256, "b1", "b1", "s32", 80, "", "", behind});
  }
  return all;
}

}  // namespace

TEST_CASE("mma: sums of floats follow the rule of their generation") {
  uint64_t seed = 1;
  for (const Form& f : float_forms())
    for (const bool edges : {false, true})
      if (runs_here(seed))
        run(f, seed++, edges);
      else
        ++seed;
}

TEST_CASE("mma: sums by fma, policy mma.accumulate") {
  uint64_t seed = 500;
  for (const Form& f :
       {Form{16, 8, 16, "f16", "f16", "f32", 80}, Form{16, 8, 16, "f16", "f16", "f16", 80},
        Form{16, 8, 8, "bf16", "bf16", "f32", 80}, Form{16, 8, 8, "tf32", "tf32", "f32", 80},
        Form{16, 8, 32, "e4m3", "e5m2", "f32", 89}})
    for (const bool edges : {false, true})
      if (runs_here(seed))
        run(f, seed++, edges, "fma");
      else
        ++seed;
}

TEST_CASE("mma: sums of integers and bits") {
  uint64_t seed = 1000;
  for (const Form& f : integer_forms())
    if (runs_here(seed))
      run(f, seed++, false);
    else
      ++seed;
}
