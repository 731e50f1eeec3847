// PTX for GPUs before sm_20: they had no subnormal f32, and `mad.f32` had no rounding.
#include <array>
#include <cmath>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr float kLeast = 0x1p-126f;  ///< normal

float flushed(float x) {
  return std::fabs(x) < kLeast ? std::copysign(0.f, x) : x;
}

struct FloatCase {
  const char* text;  ///< from %a and %b to %c
  float (*value)(float, float);
};
/// `value` gets flushed operands; its result is flushed.
const FloatCase kCases[] = {
    {"add.f32 %c, %a, %b;", [](float a, float b) { return a + b; }},
    {"sub.f32 %c, %a, %b;", [](float a, float b) { return a - b; }},
    {"mul.f32 %c, %a, %b;", [](float a, float b) { return a * b; }},
    {"mad.f32 %c, %a, %b, %a;", [](float a, float b) { return std::fma(a, b, a); }},
    {"mad.sat.f32 %c, %a, %b, %a;",
     [](float a, float b) { return std::fmin(std::fmax(std::fma(a, b, a), 0.f), 1.f) + 0.f; }},
    {"min.f32 %c, %a, %b;",
     [](float a, float b) { return a < b || (a == b && std::signbit(a)) ? a : b; }},
    {"max.f32 %c, %a, %b;",
     [](float a, float b) { return a < b || (a == b && std::signbit(a)) ? b : a; }},
    {"abs.f32 %c, %a;", [](float a, float) { return std::fabs(a); }},
    {"neg.f32 %c, %a;", [](float a, float) { return -a; }},
    {"setp.gt.f32 %p, %a, %b; selp.f32 %c, 0f3f800000, 0f00000000, %p;",
     [](float a, float b) { return a > b ? 1.f : 0.f; }},
    {"set.eq.f32.f32 %c, %a, %b;", [](float a, float b) { return a == b ? 1.f : 0.f; }},
    {"slct.f32.f32 %c, 0f3f800000, 0f40000000, %a;",
     [](float a, float) { return a >= 0 ? 1.f : 2.f; }},
    {"cvt.rpi.f32.f32 %c, %a;", [](float a, float) { return std::ceil(a); }},
    {"cvt.f64.f32 %d, %a; mul.f64 %d, %d, 0d4090000000000000; cvt.rn.f32.f64 %c, %d;",
     [](float a, float) { return static_cast<float>(a * 0x1p10); }},
    {"cvt.f64.f32 %d, %a; mul.f64 %d, %d, 0d3f50000000000000; cvt.rn.f32.f64 %c, %d;",
     [](float a, float) { return static_cast<float>(a * 0x1p-10); }},
};

/// Each lane has two operands and the results of all `texts` behind them.
std::string kernel(const std::string& head, const std::vector<std::string>& texts) {
  const bool in_body = head < ".version 1.4";
  std::string text = head +
                     (in_body ? ".entry k\n{\n.param .u32 p;\n" : ".entry k(.param .u32 p)\n{\n") +
                     ".reg .u32 %r, %t;\n.reg .f32 %a, %b, %c;\n"
                     ".reg .f64 %d;\n.reg .pred %p;\nld.param.u32 %r, [p];\n"
                     "cvt.u32.u16 %t, %tid.x;\nmul24.lo.u32 %t, %t, " +
                     std::to_string(4 * (2 + texts.size())) +
                     ";\nadd.u32 %r, %r, %t;\nld.global.f32 %a, [%r];\nld.global.f32 %b, [%r+4];\n";
  for (size_t i = 0; i < texts.size(); ++i)
    text += texts[i] + "\nst.global.f32 [%r+" + std::to_string(8 + 4 * i) + "], %c;\n";
  return text + "exit;\n}\n";
}

std::vector<float> results(const std::string& head, const std::vector<std::string>& texts,
                           const std::vector<std::array<float, 2>>& operands) {
  std::vector<float> memory;
  for (const auto& [a, b] : operands) {
    memory.insert(memory.end(), {a, b});
    memory.resize(memory.size() + texts.size());
  }
  auto buffer = device().buffer(memory);
  device()
      .load_text(kernel(head, texts), lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {1}, .block = {static_cast<unsigned>(operands.size())}}, buffer)
      .check();
  return buffer.read<float>();
}

std::vector<std::array<float, 2>> operands() {
  const float edges[] = {0.f,        -0.f,        0x1p-149f, -0x1p-149f,  0x1.8p-127f,
                         -0x1p-127f, kLeast,      -kLeast,   0x1.8p-126f, -0x1.8p-126f,
                         1.5f,       -0x1.234p3f, 0x1p-60f,  0x1.fp-64f,  0x1.fffffep-127f};
  std::vector<std::array<float, 2>> pairs;
  for (const float a : edges)
    for (const float b : edges) pairs.push_back({a, b});
  return pairs;
}

}  // namespace

TEST_CASE("PTX before sm_20: f32 has no subnormal numbers, a product and sum is fused") {
  std::vector<std::string> texts;
  for (const FloatCase& c : kCases) texts.emplace_back(c.text);
  std::vector<float> want;
  for (const auto& [a, b] : operands()) {
    want.insert(want.end(), {a, b});
    for (const FloatCase& c : kCases) want.push_back(flushed(c.value(flushed(a), flushed(b))));
  }
  check_equal(results(".version 1.3\n.target sm_10, map_f64_to_f32\n", texts, operands()), want);
  check_equal(results(".version 1.1\n.target sm_11\n", texts, operands()), want);
}

TEST_CASE("PTX before .version 1.4: what has no qualifier is approximate, of f64 rounded") {
  const char* pairs[][2] = {
      {"div.f32 %c, %a, %b;", "div.approx.f32 %c, %a, %b;"},
      {"rcp.f32 %c, %a;", "rcp.approx.f32 %c, %a;"},
      {"sqrt.f32 %c, %a;", "sqrt.approx.f32 %c, %a;"},
      {"rsqrt.f32 %c, %a;", "rsqrt.approx.f32 %c, %a;"},
      {"sin.f32 %c, %a;", "sin.approx.f32 %c, %a;"},
      {"cos.f32 %c, %a;", "cos.approx.f32 %c, %a;"},
      {"lg2.f32 %c, %a;", "lg2.approx.f32 %c, %a;"},
      {"ex2.f32 %c, %a;", "ex2.approx.f32 %c, %a;"},
      {"cvt.f64.f32 %d, %a; div.f64 %d, 0d4008000000000000, %d; cvt.rn.f32.f64 %c, %d;",
       "cvt.f64.f32 %d, %a; div.rn.f64 %d, 0d4008000000000000, %d; cvt.rn.f32.f64 %c, %d;"},
      {"cvt.f64.f32 %d, %a; mad.f64 %d, %d, %d, %d; cvt.rn.f32.f64 %c, %d;",
       "cvt.f64.f32 %d, %a; mad.rn.f64 %d, %d, %d, %d; cvt.rn.f32.f64 %c, %d;"},
  };
  std::vector<std::string> old, now;
  for (const auto& [without, with] : pairs) old.emplace_back(without), now.emplace_back(with);
  check_equal(results(".version 1.3\n.target sm_13\n", old, operands()),
              results(".version 1.4\n.target sm_13\n", now, operands()));
  CHECK_THROWS(results(".version 1.4\n.target sm_13\n", old, operands()));
}
