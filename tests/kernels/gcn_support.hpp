// What the tests of GCN code objects share: the four kinds of one source, and halves on the host.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "tests/kernels/support.hpp"
#include "tests/support/exclusions.hpp"

namespace kernels::gcn {

inline constexpr const char* kKinds[] = {"gfx600", "gfx700", "gfx700.mesa3d", "gfx803"};

/// Bit for bit, except that any NaN equals any NaN.
template <typename T>
bool same_value(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// One message for the first of the elements that are not what they should be.
template <typename T, typename Near>
void check_all(const std::vector<T>& got, const std::vector<T>& want, Near near) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (near(got[i], want[i])) continue;
    CAPTURE(i);
    CHECK(got[i] == want[i]);
    return;
  }
  CHECK(got.size() == want.size());
}
template <typename T>
void check_all(const std::vector<T>& got, const std::vector<T>& want) {
  check_all(got, want, [](T a, T b) { return same_value(a, b); });
}

/// On the reference engine and with LANEWISE_TEST_EVERY_DEVICE all kinds, else one of them: drivers
/// take long to compile, and behind the front end the kinds are much alike. Kernels take turns.
inline bool runs_here(const std::string& kernel, size_t kind) {
  if (device().info().tier == "cpu" || std::getenv("LANEWISE_TEST_EVERY_DEVICE") != nullptr)
    return true;
  size_t turn = kernel.size();
  for (const char c : kernel) turn += static_cast<unsigned char>(c);
  return turn % std::size(kKinds) == kind;
}

/// Objects that take drivers' compilers minutes (exclusions.tsv).
inline bool too_slow_here(const std::string& object) {
  static const auto kExcluded = lanewise::test::excluded_patterns("kernels", "object");
  return lanewise::test::is_excluded(kExcluded, object);
}

/// An object of compilers. All kernels of a file are lowered when it is loaded, and several cases
/// want one each.
inline lanewise::Module& loaded_object(const std::string& path) {
  lanewise::Device& owner = device();
  static std::map<std::string, lanewise::Module> modules;
  const auto known = modules.find(path);
  if (known != modules.end()) return known->second;
  return modules.emplace(path, owner.load_file(corpus(path))).first->second;
}

/// Runs `body` with the kernel of each kind that the source was compiled for.
inline void each_kind(const std::string& folder, const std::string& source,
                      const std::string& kernel,
                      const std::function<void(lanewise::Kernel&, const std::string&)>& body,
                      bool mesa = true) {
  for (size_t n = 0; n < std::size(kKinds); ++n) {
    const std::string kind = kKinds[n];
    CAPTURE(kind);
    if (!runs_here(kernel, n)) continue;
    if (!mesa && kind.ends_with("mesa3d")) continue;
    lanewise::Kernel k =
        loaded_object("gcn/" + folder + source + "." + kind + ".hsaco").kernel(kernel);
    body(k, kind);
  }
}

template <typename T>
lanewise::Buffer buffer(const std::vector<T>& v, const char* name = "") {
  return device().buffer(v, name);
}

/// Halves on the host: their bits to a double and, in a direction of rounding, back.
inline double from_half(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
             : exponent == 0 ? std::ldexp(fraction, -24)
                             : std::ldexp(fraction + 1024, exponent - 25);
  return (h & 0x8000) != 0 ? -v : v;
}
enum class Direction { nearest, zero, up, down };
inline uint16_t to_half(double x, Direction d = Direction::nearest) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  const double size = std::fabs(x);
  int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  const double steps = std::ldexp(size, 10 - exponent);
  double whole = std::floor(steps);
  const double rest = steps - whole;
  const bool away = d == Direction::nearest
                        ? rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)
                    : d == Direction::up   ? rest > 0 && sign == 0
                    : d == Direction::down ? rest > 0 && sign != 0
                                           : false;
  if (away) whole += 1;
  const double value = std::ldexp(whole, exponent - 10);
  if (value > 65504) {
    const bool endless = d == Direction::nearest || (d == Direction::up && sign == 0) ||
                         (d == Direction::down && sign != 0);
    return sign | (endless ? 0x7c00 : 0x7bff);
  }
  if (value == 0) return sign;
  exponent = std::max(std::ilogb(value), -15 + 1);
  const int fraction = static_cast<int>(std::ldexp(value, 10 - exponent));
  return static_cast<uint16_t>(
      sign | (fraction < 1024 ? fraction : (exponent + 15) << 10 | (fraction - 1024)));
}
/// Any NaN is as good as any other.
inline bool same_half(uint16_t a, uint16_t b) {
  return a == b || (std::isnan(from_half(a)) && std::isnan(from_half(b)));
}

}  // namespace kernels::gcn
