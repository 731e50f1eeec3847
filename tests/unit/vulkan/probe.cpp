#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

#include "runtime/spirv/binary/float_modes.hpp"
#include "runtime/vulkan/probe/probe_shader.hpp"
#include "tests/support/shares.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using vulkan::ProbeOp;

namespace {

constexpr const char* kOpNames[vulkan::kProbeOps] = {
    "fma",      "div",       "sqrt",   "add",   "mul",          "compare", "min",
    "max",      "trunc",     "floor",  "ceil",  "round_even",   "to_int",  "to_uint",
    "from_int", "from_uint", "narrow", "widen", "narrow_widen", "fma_fma"};

/// Inputs on which another way to compute an operation differs from IEEE.
template <typename Bits, typename Other>
size_t caught(ProbeOp op, Other other) {
  using F = std::conditional_t<sizeof(Bits) == 4, float, double>;
  size_t count = 0;
  for (const auto& in : vulkan::probe_inputs<Bits>()) {
    const Bits expected = vulkan::probe_expected(in)[static_cast<size_t>(op)];
    const F result = other(std::bit_cast<F>(in.a), std::bit_cast<F>(in.b), std::bit_cast<F>(in.c));
    count += vulkan::same_float(std::bit_cast<Bits>(result), expected) ? 0 : 1;
  }
  return count;
}

template <typename F>
F flush(F f) {
  return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(F(0), f) : f;
}

template <typename Bits>
void check_inputs() {
  const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  CHECK(caught<Bits>(ProbeOp::fma, fused) == 0);
  const auto unfused = [](auto a, auto b, auto c) { return a * b + c; };
  CHECK(caught<Bits>(ProbeOp::fma, unfused) > 1000);
  const auto reciprocal = [](auto a, auto b, auto) { return a * (1 / b); };
  CHECK(caught<Bits>(ProbeOp::div, reciprocal) > 1000);
  const auto flushed = [](auto a, auto b, auto) { return flush(a / b); };
  CHECK(caught<Bits>(ProbeOp::div, flushed) > 100);
  const auto by_rsqrt = [](auto a, auto, auto) { return a * (1 / std::sqrt(a)); };
  CHECK(caught<Bits>(ProbeOp::sqrt, by_rsqrt) > 1000);
  const auto flush_add = [](auto a, auto b, auto) { return flush(a) + flush(b); };
  CHECK(caught<Bits>(ProbeOp::add, flush_add) > 100);
  const auto flush_mul = [](auto a, auto b, auto) { return flush(a * b); };
  CHECK(caught<Bits>(ProbeOp::mul, flush_mul) > 100);
}

size_t probes_in(const std::string& cache) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache))
    count += entry.path().filename().string().starts_with("probe-") ? 1 : 0;
  return count;
}

void check_quirks(bool anew, bool all_drivers) {
  const std::map<std::string, std::string> known = {
      {"lavapipe", "cut_loops loop_values fences zeros large_arrays both_sides narrow signs "},
      {"lavapipe25", "loop_values fences zeros large_arrays narrow "},
      {"swiftshader", "constants both_sides narrow "}};
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    auto engine = vulkan::make_engine_with(driver.part, checked_options(), {});
    if (anew) {
      vulkan::forget_probe(engine->device());
      engine = vulkan::make_engine_with(driver.part, checked_options(), {});
      CHECK(engine->device().submissions() > 0);
    }
    std::string found;
    for (const auto& [name, member] : spirv::kQuirks)
      if (engine->target().quirks.*member) found += std::string(name) + ' ';
    CHECK(found == known.at(driver.label));
    if (!all_drivers) break;
  }
  CHECK(vulkan::validation_messages() == 0);
}

}  // namespace

TEST_CASE("the inputs catch the usual shortcuts") {
  check_inputs<uint32_t>();
  check_inputs<uint64_t>();
  // Fused in double and rounded again is not fused in float.
  CHECK(caught<uint32_t>(ProbeOp::fma, [](float a, float b, float c) {
          return static_cast<float>(double{a} * double{b} + double{c});
        }) > 100);
}

TEST_CASE("the bounds of approximate functions hold what is near and nothing else") {
  using vulkan::OwnFunction;
  const auto far = [](OwnFunction function, float (*value)(float), float part) {
    size_t usual = 0, outside = 0;
    for (const uint32_t operand : vulkan::own_function_inputs()) {
      if (!vulkan::is_usual(function, operand)) continue;
      ++usual;
      const float result = value(std::bit_cast<float>(operand)) * (1 + part);
      outside += vulkan::is_inside(function, operand, std::bit_cast<uint32_t>(result)) ? 0 : 1;
    }
    CHECK(usual > 10'000);
    return outside;
  };
  const auto exp2 = [](float x) { return std::exp2(x); };
  const auto log2 = [](float x) { return std::log2(x); };
  const auto sin = [](float x) { return std::sin(x); };
  const auto cos = [](float x) { return std::cos(x); };
  CHECK(far(OwnFunction::exp2, exp2, 0) == 0);
  CHECK(far(OwnFunction::log2, log2, 0) == 0);
  CHECK(far(OwnFunction::sin, sin, 0) == 0);
  CHECK(far(OwnFunction::cos, cos, 0) == 0);
  CHECK(far(
            OwnFunction::rcp, [](float x) { return 1 / x; }, 0) == 0);
  CHECK(far(
            OwnFunction::sqrt, [](float x) { return std::sqrt(x); }, 0) == 0);
  CHECK(far(
            OwnFunction::rcp, [](float x) { return 1 / x; }, 0x1p-21F) > 1000);
  CHECK(far(
            OwnFunction::rsqrt, [](float x) { return 1 / std::sqrt(x); }, 0x1p-22F) > 1000);
  CHECK(far(OwnFunction::exp2, exp2, 0x1p-21F) > 10'000);
  CHECK(far(OwnFunction::log2, log2, 0x1p-21F) > 1000);
  CHECK(far(OwnFunction::sin, sin, 0x1p-19F) > 1000);
  CHECK(far(OwnFunction::cos, cos, 0x1p-19F) > 1000);
}

TEST_CASE("the probe runs once per device and is remembered") {
  const std::string cache = scratch_directory("probe");
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto first = vulkan::make_engine_with(driver.part, checked_options(cache), {});
    vulkan::forget_probe(first->device());  // what is on disk is enough
    const auto again = vulkan::make_engine_with(driver.part, checked_options(cache), {});
    CHECK(again->device().submissions() == 0);
    const auto& found = first->probed();
    for (const auto* counts : {&found.f32, &found.flushed, &found.f64}) {
      std::string text;
      for (uint32_t op = 0; op < vulkan::kProbeOps; ++op)
        if (counts->wrong[op] != 0) text += fmt::format(" {} {}", kOpNames[op], counts->wrong[op]);
      MESSAGE(driver.label << ": of " << counts->inputs << " inputs wrong:" << text << "; zeros "
                           << counts->wrong_zeros);
    }
    MESSAGE(driver.label << ": fma by doubles " << found.fma_by_double << ", of parts "
                         << found.fma_wide << "; cuts loops: " << found.cuts_loops);
    MESSAGE(driver.label << ": outside the bounds of exp2, log2, sin, cos, div, rcp, sqrt, rsqrt: "
                         << fmt::format("{}", fmt::join(found.outside, " ")));
    CHECK(first->target().own.log2 == (found.outside[1] == 0));
    CHECK(found.f32.inputs == vulkan::probe_inputs<uint32_t>().size());
    CHECK((found.f64.inputs > 0) == first->info().float64);
    CHECK(again->probed().f32.wrong == found.f32.wrong);
    CHECK(again->probed().f64.wrong == found.f64.wrong);
    CHECK(again->target() == first->target());
    CHECK(first->target().native_div == (found.f32.wrong[1] == 0));
    CHECK(first->target().normal_sums == (found.f32.wrong_normal_sums == 0));
    CHECK(found.f32.wrong_normal_sums <= found.f32.wrong[3]);
    CHECK(found.f32.wrong_normal_sums == 0);  // of these drivers
    CHECK(first->target().native_add == (found.f32.wrong[3] + found.f32.wrong[4] == 0));
  }
  CHECK(probes_in(cache) == installed_drivers().size());
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("a process probes a device once, whether or not anything is kept") {
  const std::string cache = scratch_directory("probe_of_process");
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto first = vulkan::make_engine_with(driver.part, checked_options(), {});
    const auto again = vulkan::make_engine_with(driver.part, checked_options(), {});
    CHECK(again->device().submissions() == 0);
    CHECK(again->target() == first->target());
    vulkan::make_engine_with(driver.part, checked_options(cache), {});
  }
  CHECK(probes_in(cache) == installed_drivers().size());  // for other processes
}

TEST_CASE("quirks are found by what drivers do") {
  check_quirks(lanewise::test::whole_tests(), true);  // or what this process has found before
}

TEST_CASE("quirks are found while other threads of the process compute") {
  std::vector<std::jthread> others;  // asked to end however the test ends
  // More of them than processors: what the probe has done waits for its turn, too.
  for (unsigned i = 0; i < 1 + std::max(1U, std::thread::hardware_concurrency()); ++i) {
    others.emplace_back([](const std::stop_token& end) {
      while (!end.stop_requested()) {
      }
    });
  }
  check_quirks(true, lanewise::test::whole_tests());
}

TEST_CASE("float modes are declared for the entry point that the module has") {
  // Header, OpCapability Shader, OpMemoryModel, OpEntryPoint GLCompute %4 "main".
  const std::vector<uint32_t> words = {
      0x07230203,   0x10300, 0, 5,          0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 1,
      5 << 16 | 15, 5,       4, 0x6e69616d, 0};
  CHECK(spirv::with_float_modes(words, {}) == words);
  spirv::Target target;
  target.rte = true;
  const auto with = spirv::with_float_modes(words, target);
  const std::vector<uint32_t> capability = {2 << 16 | 17, 4467};
  const std::vector<uint32_t> mode = {4 << 16 | 16, 4, 4462, 32};
  CHECK(std::equal(capability.begin(), capability.end(), with.begin() + 7));
  CHECK(std::equal(mode.begin(), mode.end(), with.end() - 4));
  CHECK(with.size() == words.size() + 2 + 7 + 4);
}
