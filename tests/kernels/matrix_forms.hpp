// Forms of mma as data: a kernel's text for one, inputs at random and on edges, and what one
// element of the result must be.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "tests/kernels/support.hpp"
#include "tests/oracle/ptx_matrix.hpp"
#include "tests/support/shares.hpp"

namespace kernels::mma {

namespace model = oracle::matrix;

struct Form {
  unsigned m, n, k;
  std::string a, b, sum;  ///< types
  unsigned sm = 80;
  std::string c = {};        ///< of the addend, where it is another type
  std::string between = {};  ///< qualifiers before the types
  std::string behind = {};
  std::string sparse = {};  ///< "sp", "sp::ordered_metadata": A has half of its elements
  unsigned selector = 0;
  unsigned stored() const { return sparse.empty() ? k : k / 2; }  ///< of a row of A
  std::string text() const {
    std::ostringstream s;
    s << "mma." << sparse << (sparse.empty() ? "" : ".") << "sync.aligned.m" << m << 'n' << n << 'k'
      << k << ".row.col" << between << '.' << sum << '.' << a << '.' << b << '.'
      << (c.empty() ? sum : c) << behind;
    return s.str();
  }
};

inline bool is_integer(const std::string& type) {
  return type[0] == 's' || type[0] == 'u' || type == "b1";
}
inline unsigned element_bits(const std::string& type) {
  return type == "f64" ? 64 : 32 / model::per_register(type);
}

/// Words of a lane's registers of a part with `elements` elements in all.
inline unsigned words_of(unsigned elements, const std::string& type) {
  return elements * element_bits(type) / 32 / 32;
}

inline std::string reg_list(const std::string& prefix, unsigned n) {
  std::string list = "{";
  for (unsigned i = 0; i < n; ++i) list += (i ? ", %" : "%") + prefix + std::to_string(i);
  return list + "}";
}

/// Of a launch: the first has random inputs, the second edges.
inline constexpr unsigned kGroups = 2;

inline std::string kernel_text(const Form& f) {
  const bool wide = f.a == "f64";
  const unsigned unit = wide ? 8 : 4;
  const auto registers = [&](unsigned elements, const std::string& type) {
    return words_of(elements, type) / (wide ? 2 : 1);
  };
  const unsigned a = registers(f.m * f.stored(), f.a), b = registers(f.n * f.k, f.b),
                 c = registers(f.m * f.n, f.sum), e = f.sparse.empty() ? 0 : 1;
  const std::string factor = wide ? "f64" : "b32";
  const std::string sum = f.sum == "f16" ? "b32" : f.sum;
  std::ostringstream s;
  s << (f.sm < 100 ? ".version 8.5" : ".version 8.7") << "\n.target sm_" << f.sm
    << (f.sm < 100 ? "" : "a") << "\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    << ".reg ." << factor << " %a<" << a << ">, %b<" << b << ">;\n.reg ." << sum << " %c<" << c
    << ">, %d<" << c << ">;\n.reg .b64 %p, %q, %r;\n.reg .b32 %t, %e0;\nld.param.u64 %p, [p];\n"
    << "mov.u32 %t, %tid.x;\nmov.u32 %e0, %ctaid.x;\nmad.lo.u32 %t, %e0, 32, %t;\n"
    << "mul.wide.u32 %q, %t, " << (a + b + c + e) * unit << ";\nadd.u64 %q, %p, %q;\n"
    << "mul.wide.u32 %r, %t, " << c * unit << ";\nadd.u64 %r, %p, %r;\n";
  unsigned at = 0;
  const auto load = [&](const std::string& prefix, unsigned n, const std::string& type) {
    for (unsigned i = 0; i < n; ++i, at += unit)
      s << "ld.global." << type << " %" << prefix << i << ", [%q+" << at << "];\n";
  };
  load("a", a, factor);
  load("b", b, factor);
  load("c", c, sum);
  load("e", e, "b32");
  s << f.text() << ' ' << reg_list("d", c) << ", " << reg_list("a", a) << ", " << reg_list("b", b)
    << ", " << reg_list("c", c);
  if (e != 0) s << ", %e0, " << f.selector;
  s << ";\n";
  for (unsigned i = 0; i < c; ++i)
    s << "st.global." << sum << " [%r+" << kGroups * 32 * (a + b + c + e) * unit + i * unit
      << "], %d" << i << ";\n";
  s << "ret;\n}\n";
  return s.str();
}

/// Interesting encodings of an element: zeros, subnormals, ones, limits, infinities, NaN.
inline uint64_t edge(const std::string& type, std::mt19937_64& rng) {
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
inline uint64_t near_one(const std::string& type, std::mt19937_64& rng) {
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
inline void put(std::vector<uint32_t>& words, size_t base, const std::string& type, unsigned i,
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
inline uint32_t chain(const Form& f, const std::vector<uint32_t>& x, const std::vector<uint32_t>& y,
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

/// c and the sum of the products of x and y, element by element.
inline uint64_t wanted(const Form& f, const Part& x, const Part& y, uint64_t c,
                       const std::string& policy) {
  if (f.a == "f64") {
    double sum = std::bit_cast<double>(c);
    for (size_t k = 0; k < x.size(); ++k)
      sum = std::fma(std::bit_cast<double>(x[k]), std::bit_cast<double>(y[k]), sum);
    return std::isnan(sum) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(sum);
  }
  const uint64_t mask =
      element_bits(f.a) >= 32 ? ~uint64_t{0} : (uint64_t{1} << element_bits(f.a)) - 1;
  std::vector<uint32_t> left, right;
  for (const uint64_t e : x) left.push_back(static_cast<uint32_t>(e & mask));
  for (const uint64_t e : y) right.push_back(static_cast<uint32_t>(e & mask));
  if (policy == "fma") return chain(f, left, right, static_cast<uint32_t>(c));
  if (!is_integer(f.a))
    return model::dot(model::rule(f.sm, f.a), f.sum, static_cast<uint32_t>(c), f.a, f.b, left,
                      right);
  int64_t sum = static_cast<int32_t>(c);
  for (size_t k = 0; k < left.size(); ++k) {
    if (f.a == "b1")
      sum += f.behind.find("and") != std::string::npos ? left[k] & right[k] : left[k] ^ right[k];
    else
      sum += model::integer(f.a, left[k]) * model::integer(f.b, right[k]);
  }
  if (!f.between.empty()) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(sum);
}

/// Which columns the stored elements of A's rows have, and the words of metadata that say so.
struct Sparsity {
  std::vector<std::vector<unsigned>> columns;  ///< [row], of each stored element
  std::array<uint32_t, 32> metadata{};         ///< of each lane
};
inline Sparsity sparsity(const Form& f, std::mt19937_64& rng) {
  Sparsity s;
  s.columns.resize(f.m);
  for (uint32_t& word : s.metadata) word = static_cast<uint32_t>(rng());  // lanes not selected
  const unsigned width = model::chunk_columns(f.a);
  for (unsigned row = 0; row < f.m; ++row)
    for (unsigned chunk = 0; chunk < f.k / width; ++chunk) {
      unsigned first = static_cast<unsigned>(rng() % 4), second = (first + 1 + rng() % 3) % 4;
      if (f.sparse != "sp" && first > second) std::swap(first, second);
      const unsigned code = f.a != "tf32" ? first | second << 2 : first < 2 ? 0b0100 : 0b1110;
      for (const unsigned offset : model::stored_offsets(f.a, code))
        s.columns[row].push_back(chunk * width + offset);
      const model::MetadataPlace at = model::metadata_place(f.a, f.k, f.selector, row, chunk);
      s.metadata[at.lane] &= ~(15U << at.bit);
      s.metadata[at.lane] |= code << at.bit;
    }
  return s;
}

/// What the lanes of one warp read and what they must write, as words.
struct Warp {
  std::vector<uint32_t> in, want;
};
inline Warp warp(const Form& f, std::mt19937_64& rng, bool edges, const std::string& policy) {
  const auto fill = [&](size_t n, const std::string& type) {
    Part part(n);
    for (uint64_t& x : part) x = edges ? edge(type, rng) : near_one(type, rng);
    return part;
  };
  const Part a = fill(f.m * f.stored(), f.a), b = fill(f.k * f.n, f.b);
  Part c = fill(f.m * f.n, f.sum);
  if (f.sum == "s32")
    for (size_t i = 0; i < c.size(); ++i)
      c[i] = i % 3 == 0 ? 0x7fffff00 + rng() % 256 : i % 3 == 1 ? 0x80000000 + rng() % 256 : rng();
  const unsigned wa = words_of(f.m * f.stored(), f.a), wb = words_of(f.n * f.k, f.b),
                 wc = words_of(f.m * f.n, f.sum), we = f.sparse.empty() ? 0 : 1,
                 stride = wa + wb + wc + we;
  const Sparsity rows = we != 0 ? sparsity(f, rng) : Sparsity{};
  Warp w{std::vector<uint32_t>(32 * stride), std::vector<uint32_t>(32 * wc)};
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < f.m * f.stored() / 32; ++i) {
      const model::Place p = model::a_place(f.m, f.a, lane, i);
      put(w.in, lane * stride, f.a, i, a[p.row * f.stored() + p.column]);
    }
    for (unsigned i = 0; i < f.n * f.k / 32; ++i) {
      const model::Place p = model::b_place(f.b, lane, i);
      put(w.in, lane * stride + wa, f.b, i, b[p.row * f.n + p.column]);
    }
    for (unsigned i = 0; i < f.m * f.n / 32; ++i) {
      const model::Place p = model::c_place(lane, i);
      const uint64_t mine = c[p.row * f.n + p.column];
      put(w.in, lane * stride + wa + wb, f.sum, i, mine);
      Part x, y;
      for (unsigned k = 0; k < f.stored(); ++k) {
        x.push_back(a[p.row * f.stored() + k]);
        y.push_back(b[(we != 0 ? rows.columns[p.row][k] : k) * f.n + p.column]);
      }
      put(w.want, lane * wc, f.sum, i, wanted(f, x, y, mine, policy));
    }
    if (we != 0) w.in[lane * stride + wa + wb + wc] = rows.metadata[lane];
  }
  return w;
}

inline void run(const Form& f, uint64_t seed, const std::string& policy = "target") {
  CAPTURE(f.text());
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  std::vector<uint32_t> words, want;
  for (unsigned group = 0; group < kGroups; ++group) {
    const Warp w = warp(f, rng, group != 0, policy);
    words.insert(words.end(), w.in.begin(), w.in.end());
    want.insert(want.end(), w.want.begin(), w.want.end());
  }
  const auto read = static_cast<ptrdiff_t>(words.size());
  words.resize(words.size() + want.size());
  auto memory = device().buffer(words);
  device()
      .load_text(kernel_text(f), lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {kGroups}, .block = {32}, .policies = {{"mma.accumulate", policy}}}, memory)
      .check();
  std::vector<uint32_t> got = memory.read<uint32_t>();
  got.erase(got.begin(), got.begin() + read);
  if (f.a == "f64")  // NaNs of f64 are alike
    for (size_t i = 0; i + 1 < got.size(); i += 2)
      if (std::isnan(std::bit_cast<double>(uint64_t{got[i + 1]} << 32 | got[i])))
        got[i] = 0, got[i + 1] = 0x7ff80000;
  check_equal(got, want);
}

/// Each launch is a kernel of its own, which devices compile for a second: they run some, and the
/// shader library's sums are held against the model on every driver (unit/spirv/library_dot.cpp).
/// Whole tests (LANEWISE_TEST_WHOLE in the environment, too) run all; a number there every n-th.
inline bool runs_here(uint64_t seed) {
  if (device().info().type == "reference" || seed % 61 == 0) return true;
  const char* whole = std::getenv("LANEWISE_TEST_WHOLE");
  const uint64_t n = whole == nullptr ? 0 : std::strtoull(whole, nullptr, 10);
  return n == 0 ? lanewise::test::whole_tests() : seed % n == 0;
}

}  // namespace kernels::mma
