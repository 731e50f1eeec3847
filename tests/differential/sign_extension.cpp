// Compares of numbers of 64 bits that were extended from 32 bits, with constants on either side.
// The host says what holds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/differential/ptx_kernel.hpp"

namespace sign_extension {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr std::array<int32_t, 16> kNumbers = {
    0, 1, 2, 126, 127, 128, -1, -2, -127, -128, -129, 200, -200, 65536, 2147483647, -2147483648};
constexpr std::array<int64_t, 11> kConstants = {
    127,      -128, 0, 5, -1, 2147483647, -2147483648, 4294967295, -2147483649, int64_t{1} << 40,
    INT64_MIN};

template <typename T>
bool holds(std::string_view condition, T a, T b) {
  if (condition == "lt") return a < b;
  if (condition == "le") return a <= b;
  return condition == "gt" ? a > b : a >= b;
}

/// One word of the output for each compare and each number.
struct Compares {
  std::string body;
  std::vector<std::array<uint32_t, kNumbers.size()>> expected;
  template <typename F>
  void add(const std::string& instruction, const F& value) {
    body += instruction + fmt::format("st.global.u32 [%rd4+{}], %r3;\n", 64 * expected.size());
    auto& row = expected.emplace_back();
    for (size_t i = 0; i < kNumbers.size(); ++i) row[i] = static_cast<uint32_t>(value(kNumbers[i]));
  }
};

Compares compares() {
  Compares k;
  for (const int64_t c : kConstants) {
    for (const std::string condition : {"lt", "le", "gt", "ge"}) {
      const std::string taken = " selp.u32 %r3, 1, 0, %p1; ";
      k.add(fmt::format("setp.{}.s64 %p1, %rd5, {};", condition, c) + taken,
            [&](int64_t x) { return holds(condition, x, c); });
      k.add(fmt::format("mov.b64 %rd6, {}; setp.{}.s64 %p1, %rd6, %rd5;", c, condition) + taken,
            [&](int64_t x) { return holds(condition, c, x); });
      k.add(fmt::format("setp.{}.u64 %p1, %rd5, {};", condition, c) + taken, [&](int64_t x) {
        return holds(condition, static_cast<uint64_t>(x), static_cast<uint64_t>(c));
      });
    }
    const std::string high =
        " xor.b64 %rd6, %rd6, %rd5; shr.u64 %rd7, %rd6, 32; cvt.u32.u64 %r3, %rd6; "
        "cvt.u32.u64 %r4, %rd7; xor.b32 %r3, %r3, %r4; ";
    const auto both = [](int64_t value, int64_t x) { return (value ^ x) ^ (value ^ x) >> 32; };
    k.add(fmt::format("min.s64 %rd6, %rd5, {};", c) + high,
          [&](int64_t x) { return both(std::min(x, c), x); });
    k.add(fmt::format("max.s64 %rd6, %rd5, {};", c) + high,
          [&](int64_t x) { return both(std::max(x, c), x); });
  }
  k.add("abs.s64 %rd6, %rd5; cvt.u32.u64 %r3, %rd6; ", [](int64_t x) { return std::abs(x); });
  return k;
}

}  // namespace

TEST_CASE("sign-extended numbers beside constants of 64 bits") {
  const Compares k = compares();
  const ir::Program program = ptx_kernel(
      ".reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .pred %p<2>;",
      "mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 4, %rd1; mad.wide.u32 %rd4, %r1, 4, %rd2; "
      "ld.global.u32 %r2, [%rd3]; cvt.s64.s32 %rd5, %r2;\n" +
          k.body);
  std::vector<uint32_t> in(kNumbers.size()), expected;
  std::ranges::copy(kNumbers, in.begin());
  for (const auto& row : k.expected) expected.insert(expected.end(), row.begin(), row.end());
  for (const TestEngine& engine : test_engines()) {
    CAPTURE(engine.label);
    const Outcome got = run_on(*engine.engine, program, {1, 1, 1}, {kNumbers.size(), 1, 1}, in,
                               expected.size(), [](auto&) {});
    CHECK_MESSAGE(got.fault_count == 0, describe(got));
    CHECK(got.words == expected);
  }
}

}  // namespace sign_extension
