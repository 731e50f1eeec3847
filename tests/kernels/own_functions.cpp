// ex2, lg2, sin, cos, quotients and roots with the policy float.approx=device: inside PTX's bounds
// for all operands, and the bits of the default policy where a device's own function is not asked.
// LANEWISE_APPROX_STEP=1 takes all 2^32 operands.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr uint32_t kBlock = 256, kFunctions = 8, kResults = 16;
/// Of the results: each function without ftz, then with it.
const char* const kNames[kFunctions] = {"ex2", "lg2", "sin", "cos", "div", "rcp", "sqrt", "rsqrt"};

std::string kernel_text() {
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 step)\n{\n"
      ".reg .b32 %r<5>;\n.reg .b64 %d<3>;\n.reg .f32 %f<4>;\n"
      "ld.param.u64 %d1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [step];\n"
      "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r0, %tid.x;\n"
      "mad.lo.u32 %r3, %r3, %r4, %r0;\nmul.wide.u32 %d2, %r3, 64;\nadd.s64 %d1, %d1, %d2;\n"
      "mad.lo.u32 %r1, %r3, %r2, %r1;\nmov.b32 %f1, %r1;\nbrev.b32 %r1, %r1;\nmov.b32 %f3, %r1;\n";
  for (uint32_t n = 0; n < kResults; ++n)
    text += std::string(kNames[n % kFunctions]) +
            (n < kFunctions ? ".approx.f32 %f2, %f1" : ".approx.ftz.f32 %f2, %f1") +
            (n % kFunctions == 4 ? ", %f3" : "") + ";\nst.global.f32 [%d1+" +
            std::to_string(4 * n) + "], %f2;\n";
  return text + "ret;\n}\n";
}

/// PTX's bounds, where it has some; elsewhere nothing is too far.
bool is_near(double exact, float result, int64_t ulps) {
  const int64_t nearest = bits(static_cast<float>(exact));
  return std::abs(int64_t{bits(result)} - nearest) <= ulps;
}
bool is_inside(uint32_t function, float operand, float divisor, float result) {
  const double x = operand, y = result;
  switch (function) {
    case 0:
      return is_near(std::exp2(x), result, 2);
    case 1: {
      const double exact = std::log2(x);
      return std::fabs(y - exact) <= 0x1p-22 * (x > 0.5 && x < 2 ? 1 : std::fabs(exact));
    }
    case 2:
      return std::fabs(x) > 6.2831855 || std::fabs(y - std::sin(x)) <= std::exp2(-20.9);
    case 3:
      return std::fabs(x) > 6.2831855 || std::fabs(y - std::cos(x)) <= std::exp2(-20.9);
    case 4:
      return is_near(x / divisor, result, 2);
    case 5:
      return is_near(1 / x, result, 1);
    case 6:
      return std::fabs(y - std::sqrt(x)) <= 0x1p-23 * std::sqrt(x);
    default:
      return std::fabs(y * std::sqrt(x) - 1) <= std::exp2(-22.9);
  }
}

bool has_middle_exponent(float x) {
  return std::fabs(x) >= 0x1p-60f && std::fabs(x) < 0x1p60f;
}
/// Operands whose results are numbers, and no subnormal ones; quotients: of those far from the
/// ends.
bool is_usual(uint32_t function, float x, float divisor) {
  if (!std::isfinite(x) || (x != 0 && std::fabs(x) < 0x1p-126f)) return false;
  switch (function) {
    case 0:
      return std::fabs(x) <= 125;
    case 2:
    case 3:
      return true;
    case 4:
      return has_middle_exponent(x) && has_middle_exponent(divisor);
    case 5:
      return x != 0 && std::fabs(x) < 0x1p126f;
    default:
      return x > 0;
  }
}

uint32_t reversed(uint32_t x) {
  uint32_t out = 0;
  for (int n = 0; n < 32; ++n) out |= (x >> n & 1) << (31 - n);
  return out;
}

uint64_t step() {
  const char* text = std::getenv("LANEWISE_APPROX_STEP");
  return text == nullptr ? 130'867 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("float.approx=device: results are inside the bounds") {
  constexpr uint32_t kMost = 1 << 20;
  const uint64_t every = step();
  REQUIRE(every != 0);
  auto kernel = device().load_text(kernel_text(), lanewise::Isa::ptx).kernel("k");
  const uint64_t all = ((uint64_t{1} << 32) + every - 1) / every;
  const auto lanes =
      static_cast<uint32_t>(std::min<uint64_t>(kMost, all + kBlock) / kBlock * kBlock);
  auto own = device().buffer(std::vector<float>(size_t{kResults} * lanes));
  auto standard = device().buffer(std::vector<float>(size_t{kResults} * lanes));
  uint64_t outside = 0, differ = 0, other = 0;
  for (uint64_t first = 0; first < all; first += lanes) {
    const auto operand = static_cast<uint32_t>(first * every);
    lanewise::LaunchOptions options{.grid = {lanes / kBlock}, .block = {kBlock}};
    kernel.launch(options, standard, operand, static_cast<uint32_t>(every)).check();
    options.policies = {{"float.approx", "device"}};
    kernel.launch(options, own, operand, static_cast<uint32_t>(every)).check();
    const std::vector<float> got = own.read<float>(), bits_of_default = standard.read<float>();
    for (size_t i = 0; i < got.size(); ++i) {
      const auto function = static_cast<uint32_t>(i % kFunctions);
      const uint32_t word = operand + static_cast<uint32_t>(i / kResults * every);
      const auto x = std::bit_cast<float>(word);
      const auto divisor = function == 4 ? std::bit_cast<float>(reversed(word)) : 1;
      const bool equal = same(got[i], bits_of_default[i]);
      if (!is_usual(function, x, divisor))
        differ += equal ? 0 : 1;
      else if (!is_inside(function, x, divisor, got[i]))
        ++outside;
      other += equal ? 0 : 1;
    }
  }
  MESSAGE(all << " operands of each, " << other << " results other than the default's");
  CHECK(outside == 0);
  CHECK(differ == 0);
}
