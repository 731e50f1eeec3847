#include "tests/hardware/truth/matrix_probe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tests/oracle/ptx_matrix.hpp"

namespace lanewise::truth {
namespace {

namespace model = oracle::matrix;

constexpr int kBig = 15;      ///< exponent of the products that cancel each other
constexpr int kDeepest = 34;  ///< below it, of the smallest product
constexpr int kHigh = 14;     ///< exponent of the addend whose rounding is asked for

/// Bits of a number that the type has exactly.
uint32_t encode(const std::string& type, double x) {
  const model::Format f = model::format(type);
  const unsigned below = type == "tf32" ? 13 : 0;
  const uint32_t sign = std::signbit(x) ? 1U << (f.fraction + f.exponent) : 0;
  x = std::fabs(x);
  if (x == 0) return sign << below;
  const int bias = (1 << f.exponent) / 2 - 1;
  const int e = std::max(std::ilogb(x), 1 - bias);
  const auto fraction = static_cast<uint32_t>(std::ldexp(x, f.fraction - e));
  const uint32_t hidden = 1U << f.fraction;
  const uint32_t exponent = fraction >= hidden ? static_cast<uint32_t>(e + bias) : 0;
  return (sign | exponent << f.fraction | (fraction & (hidden - 1))) << below;
}

/// Exponents of the least normal products that a type has.
int least_product(const std::string& type) {
  return 2 * (2 - (1 << (model::format(type).exponent - 1)));
}

class Maker {
 public:
  explicit Maker(const MatrixForm& f) : f_(f), sum_(f.d.type) {}

  std::vector<std::pair<std::string, Dot>> all() {
    const int deepest = std::min(kDeepest, kBig - least_product(f_.a.type));
    for (int n = 1; n <= deepest; ++n) {
      add(fmt::format("align {}", n), 0, {{0, big()}, {1, -big()}, {2, big(-n)}});
      add(fmt::format("cut + {}", n), 0, {{0, big()}, {1, -big()}, {2, 1.5 * big(-n)}});
      add(fmt::format("cut - {}", n), 0, {{0, big()}, {1, -big()}, {2, -1.5 * big(-n)}});
      if (sum_ == "f32" || n <= 29)
        add(fmt::format("addend {}", n), big(-n), {{0, big()}, {1, -big()}});
    }
    const double small = big(-std::min(deepest, 27));
    for (unsigned k = 2; k < f_.k; ++k)
      add(fmt::format("place {}", k), 0, {{0, big()}, {1, -big()}, {k, small}});
    add("late", 0, {{0, small}, {f_.k - 2, big()}, {f_.k - 1, -big()}});
    rounding();
    specials();
    return std::move(all_);
  }

 private:
  static double big(int below = 0) { return std::ldexp(1.0, kBig + below); }

  Dot::Product product(unsigned k, double value) const {
    const int e = std::ilogb(value), half = e >= 0 ? e / 2 : (e - 1) / 2;
    return {k, encode(f_.a.type, std::ldexp(value, -half)),
            encode(f_.b.type, std::ldexp(1.0, half))};
  }
  void add(const std::string& name, double c, const std::vector<std::pair<unsigned, double>>& p) {
    Dot dot;
    dot.c = encode(sum_, c);
    for (const auto& [k, value] : p) dot.products.push_back(product(k, value));
    all_.emplace_back(name, dot);
  }
  /// Quarters of a unit of the last place of the addend.
  void rounding() {
    const int quarter = kHigh - model::format(sum_).fraction - 2;
    for (const double sign : {1.0, -1.0})
      for (int q = 1; q < 8; ++q)
        add(fmt::format("round {} {}", sign > 0 ? '+' : '-', q), sign * std::ldexp(1.0, kHigh),
            {{0, sign * std::ldexp(q, quarter)}});
  }
  void raw(const std::string& name, uint32_t c, std::vector<Dot::Product> products) {
    all_.emplace_back("bits " + name, Dot{c, std::move(products)});
  }
  void specials() {
    const model::Format f = model::format(f_.a.type);
    const unsigned below = f_.a.type == "tf32" ? 13 : 0;
    const uint32_t one = encode(f_.b.type, 1), least = 1U << below,
                   top = ((1U << f.exponent) - 1) << f.fraction << below,
                   most = f.infinities ? top - least : top | 6,
                   nan = top | ((1U << f.fraction) - 1) << below,
                   minus = 1U << (f.fraction + f.exponent) << below;
    const uint32_t sum_minus = sum_ == "f32" ? 0x80000000 : 0x8000;
    raw("subnormal factor", 0, {{0, least, one}});
    raw("subnormal factors", 0, {{0, least, encode(f_.b.type, 0.5)}, {1, least, one}});
    raw("subnormal addend", 1, {});
    raw("subnormal addend and 1", 1,
        {{0, encode(f_.a.type, 1), one}, {1, minus | encode(f_.a.type, 1), one}});
    raw("subnormal sum", 0,
        {product(0, std::ldexp(1.0, std::max(least_product(f_.a.type), -140)))});
    raw("minus zeros", sum_minus, {{0, minus, one}});
    raw("minus zero and zero", sum_minus, {{0, 0, one}});
    raw("largest squared", 0, {{0, most, encode(f_.b.type, 1)}, {1, most, encode(f_.b.type, 8)}});
    raw("sum too large", sum_ == "f32" ? 0x7f7fffff : 0x7bff,
        {{0, encode(f_.a.type, 128), encode(f_.b.type, 128)}});
    raw("NaN", 0, {{0, nan, one}});
    raw("NaN addend", sum_ == "f32" ? 0xffc12345 : 0xfe01, {});
    if (!f.infinities) return;
    raw("infinity", 0, {{0, top, one}});
    raw("infinity times zero", 0, {{0, top, 0}});
    raw("infinities", 0, {{0, top, one}, {1, minus | top, one}});
  }

  const MatrixForm& f_;
  std::string sum_;
  std::vector<std::pair<std::string, Dot>> all_;
};

double result(const MatrixForm& f, const std::map<std::string, uint32_t>& results,
              const std::string& name) {
  const auto it = results.find(name);
  return it == results.end() ? std::nan("") : model::value_of(f.d.type, it->second);
}

/// How deep a term may lie until nothing of it is left.
int deepest_seen(const MatrixForm& f, const std::map<std::string, uint32_t>& results,
                 const char* what) {
  int n = 0;
  while (true) {
    const double r = result(f, results, fmt::format("{} {}", what, n + 1));
    if (std::isnan(r) || r == 0) return n;
    ++n;
  }
}

std::string direction_of(const std::string& shares) {
  if (shares == "0001111") return "cut";
  if (shares == "0011122") return "nearest even";
  if (shares == "0111122") return "nearest, halves up";
  if (shares == "0011112") return "nearest, halves down";
  if (shares == "1111222") return "away";
  return shares;
}

}  // namespace

Job dot_job(const std::string& header, const MatrixForm& f, const std::vector<Dot>& dots) {
  const unsigned record = matrix_record(f);
  Job job;
  job.text = matrix_kernel(header, f);
  job.shape.grid[0] = static_cast<uint32_t>(dots.size());
  job.shape.block[0] = kWarp;
  Words in(dots.size() * kWarp * record);
  for (size_t n = 0; n < dots.size(); ++n)
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      const size_t base = (n * kWarp + lane) * record;
      for (const Dot::Product& p : dots[n].products) {
        for (unsigned i = 0; i < f.a.elements; ++i) {
          const model::Place at = model::a_place(f.m, f.a.type, lane, i);
          if (at.row == 0 && at.column == p.k) put_element(in, base, f.a.type, i, p.a);
        }
        for (unsigned i = 0; i < f.b.elements; ++i) {
          const model::Place at = model::b_place(f.b.type, lane, i);
          if (at.column == 0 && at.row == p.k)
            put_element(in, base + f.a.words(), f.b.type, i, p.b);
        }
      }
      if (lane == 0) put_element(in, base + f.a.words() + f.b.words(), f.c.type, 0, dots[n].c);
    }
  job.buffers = {std::move(in), Words(dots.size() * kWarp * f.d.words())};
  return job;
}

std::vector<uint32_t> dot_results(const MatrixForm& f, const Words& out, size_t count) {
  std::vector<uint32_t> results;
  for (size_t n = 0; n < count; ++n) {
    const uint32_t word = out[n * kWarp * f.d.words()];
    results.push_back(f.d.type == "f16" ? word & 0xffff : word);
  }
  return results;
}

Words dot_words(const Dot& dot) {
  Words words = {dot.c};
  for (const Dot::Product& p : dot.products) words.insert(words.end(), {p.k, p.a, p.b});
  return words;
}

Dot dot_of_words(const Words& words) {
  Dot dot{words.empty() ? 0 : words[0], {}};
  for (size_t i = 1; i + 2 < words.size(); i += 3)
    dot.products.push_back({words[i], words[i + 1], words[i + 2]});
  return dot;
}

std::vector<std::pair<std::string, Dot>> probes_of(const MatrixForm& f) {
  return Maker(f).all();
}

std::map<std::string, std::string> findings_of(const MatrixForm& f,
                                               const std::map<std::string, uint32_t>& results) {
  std::map<std::string, std::string> out;
  const int bits = deepest_seen(f, results, "align");
  out["fraction bits"] = std::to_string(bits);
  out["fraction bits of the addend"] = std::to_string(deepest_seen(f, results, "addend"));
  // At the last bit that is left, half of it more: what becomes of the half?
  for (const char sign : {'+', '-'}) {
    const double unit = std::ldexp(1.0, kBig - bits);
    const double got = std::fabs(result(f, results, fmt::format("cut {} {}", sign, bits)));
    out[fmt::format("terms {}", sign)] = got == unit ? "cut"
                                         : got == 2 * unit
                                             ? "away"
                                             : fmt::format("{} of the bit", got / unit);
  }
  // Products that share a sum with the first two lose a small one.
  std::string places = "11";
  for (unsigned k = 2; k < f.k; ++k)
    places += result(f, results, fmt::format("place {}", k)) == 0 ? '1' : '0';
  out["in the sum of the first"] = places;
  out["the last are added last"] = result(f, results, "late") == 0 ? "yes" : "no";
  for (const char sign : {'+', '-'}) {
    std::string shares;
    const double c = std::ldexp(1.0, kHigh),
                 unit = std::ldexp(c, -model::format(f.d.type).fraction);
    for (int q = 1; q < 8; ++q)
      shares += fmt::format(
          "{}", (std::fabs(result(f, results, fmt::format("round {} {}", sign, q))) - c) / unit);
    out[fmt::format("result {}", sign)] = direction_of(shares);
  }
  for (const auto& [name, bits_of] : results)
    if (name.starts_with("bits ")) out[name.substr(5)] = fmt::format("{:08x}", bits_of);
  return out;
}

}  // namespace lanewise::truth
