#include "runtime/vulkan/probe/own_functions.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

// The compiled shader, which needs the standard types above.
#include "kFunctionProbe.inc"
#include "runtime/vulkan/probe/probe_shader.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kLocalSize = 64, kSign = 0x80000000, kExponent = 0x7f800000;
constexpr uint32_t kTwoTurns = 0x40c90fdb;      ///< the angle 2 pi
constexpr uint32_t kSmallAngle = 0x39000000;    ///< smaller ones are their sines
constexpr double kAngleBound = 0x1p-20 * 0.53;  ///< below 2^-20.9, absolute
constexpr double kLogBound = 0x1p-22;

double value(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

bool exponent_is(uint32_t bits, uint32_t first, uint32_t last) {
  const uint32_t exponent = bits >> 23 & 0xff;
  return exponent >= first && exponent <= last;
}
/// Results are normal.
bool is_near(double exact, uint32_t result, int most_ulps) {
  const int64_t nearest = std::bit_cast<uint32_t>(static_cast<float>(exact));
  return std::abs(result - nearest) <= most_ulps;
}

}  // namespace

bool is_usual(OwnFunction function, uint32_t operand, uint32_t divisor) {
  const uint32_t size = operand & ~kSign;
  switch (function) {
    case OwnFunction::exp2:
      return std::abs(value(operand)) <= 125;
    case OwnFunction::log2:
      return operand >= 0x00800000 && operand < kExponent;
    case OwnFunction::sin:
      return size >= kSmallAngle && size <= kTwoTurns;
    case OwnFunction::cos:
      return size <= kTwoTurns;
    case OwnFunction::div:
      return exponent_is(operand, 64, 187) && exponent_is(divisor, 64, 187);
    case OwnFunction::rcp:
      return exponent_is(operand, 2, 249);
    case OwnFunction::sqrt:
    case OwnFunction::rsqrt:
      return size == operand && exponent_is(operand, 32, 219);
  }
  return false;
}

bool is_inside(OwnFunction function, uint32_t operand, uint32_t result, uint32_t divisor) {
  const double x = value(operand), y = value(result);
  switch (function) {
    case OwnFunction::exp2:
      return is_near(std::exp2(x), result, 2);
    case OwnFunction::log2: {
      const double exact = std::log2(x);
      const double bound = x > 0.5 && x < 2 ? kLogBound : kLogBound * std::abs(exact);
      return std::abs(y - exact) <= bound;
    }
    case OwnFunction::sin:
      return std::abs(y - std::sin(x)) <= kAngleBound;
    case OwnFunction::cos:
      return std::abs(y - std::cos(x)) <= kAngleBound;
    case OwnFunction::div:
      return is_near(x / value(divisor), result, 2);
    case OwnFunction::rcp:
      return is_near(1 / x, result, 1);
    case OwnFunction::sqrt:
      return std::abs(y - std::sqrt(x)) <= 0x1p-23 * std::sqrt(x);
    case OwnFunction::rsqrt:
      return std::abs(y * std::sqrt(x) - 1) <= 0x1p-23 * 1.07;  // 2^-22.9
  }
  return false;
}

std::vector<uint32_t> own_function_inputs() {
  constexpr uint32_t kFirstBend = 100, kLastBend = 135, kFew = 8, kMany = 512;
  std::vector<uint32_t> inputs;
  uint32_t state = 1;
  for (uint32_t exponent = 0; exponent < 255; ++exponent) {
    const uint32_t count = exponent < kFirstBend || exponent > kLastBend ? kFew : kMany;
    for (uint32_t n = 0; n < count; ++n) {
      state = state * 1664525 + 1013904223;
      // The ends of each octave, and one fraction out of each of its equal parts.
      const uint32_t width = 0x800000 / count, low = state >> 8 & (width - 1);
      const uint32_t fraction = n + 1 == count ? 0x7fffff : n == 0 ? 0 : n * width + low;
      for (const uint32_t sign : {0U, kSign}) inputs.push_back(sign | exponent << 23 | fraction);
    }
  }
  return inputs;
}

std::array<uint32_t, kOwnFunctions> count_outside(Device& device, Pipelines& pipelines) {
  const std::vector<uint32_t> inputs = own_function_inputs();
  const Buffer in = device.make_buffer(inputs.size() * sizeof(uint32_t), Place::host);
  const Buffer out =
      device.make_buffer(kOwnFunctions * inputs.size() * sizeof(uint32_t), Place::host);
  std::memcpy(in.map, inputs.data(), inputs.size() * sizeof(uint32_t));
  const auto groups = static_cast<uint32_t>((inputs.size() + kLocalSize - 1) / kLocalSize);
  run_probe_shader(device, pipelines, kFunctionProbe, in, out, groups, device.facts().target);
  std::array<uint32_t, kOwnFunctions> outside{};
  const uint32_t* result = out.words();
  for (size_t i = 0; i < inputs.size(); ++i)
    for (uint32_t n = 0; n < kOwnFunctions; ++n, ++result) {
      const auto function = static_cast<OwnFunction>(n);
      const uint32_t divisor = inputs[(i * 7919 + 13) % inputs.size()];
      if (is_usual(function, inputs[i], divisor) &&
          !is_inside(function, inputs[i], *result, divisor))
        ++outside[n];
    }
  return outside;
}

}  // namespace lanewise::vulkan
