// Time limits on drivers' compilers. The cases of a program run in the order of its files' names,
// so these are the last: what is given up goes on, and would take the time of other cases.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <spirv-tools/libspirv.hpp>

#include "runtime/vulkan/pipeline/compile_timeout.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using vulkan::Clock;

namespace {

constexpr double kLimit = 0.5;

constexpr uint32_t kFactor = 747796405;

/// One long line of dependent arithmetic in one block: what compilers of CPU drivers are slow at.
spirv::Module long_kernel(unsigned operations, uint32_t factor = kFactor) {
  std::string text = R"(OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %words ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %arena DescriptorSet 0
OpDecorate %arena Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%block_pointer = OpTypePointer Uniform %block
%word_pointer = OpTypePointer Uniform %uint
%arena = OpVariable %block_pointer Uniform
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%odd = OpConstant %uint )" +
                     std::to_string(factor) +
                     R"(
%main = OpFunction %void None %function
%entry = OpLabel
%place = OpAccessChain %word_pointer %arena %zero %zero
%next = OpAccessChain %word_pointer %arena %zero %one
%v0 = OpLoad %uint %place
)";
  for (unsigned i = 0; i < operations; ++i) {
    const std::string from = "%v" + std::to_string(i), to = "%v" + std::to_string(i + 1);
    const std::string s = "%s" + std::to_string(i), m = "%m" + std::to_string(i);
    text += s + " = OpShiftRightLogical %uint " + from + " %one\n" + m + " = OpIMul %uint " + s +
            " %odd\n" + to + " = OpBitwiseXor %uint " + m + " " + from + "\n";
  }
  text += "OpStore %next %v" + std::to_string(operations) + "\nOpReturn\nOpFunctionEnd\n";
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_0);
  spirv::Module module;
  REQUIRE(tools.Assemble(text, &module.words));
  module.local_size = 1;
  module.wave_mode = "lane";
  return module;
}

}  // namespace

TEST_CASE("a limit that is not reached changes nothing") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = engine_running(driver, long_kernel(100));
    engine->reserve(64);
    const std::vector<uint32_t> input = {12345, 0};
    engine->write(guest::kArenaBase, std::as_bytes(std::span(input)));
    const LaunchResult result = engine->launch(limited(program, 600));
    CHECK(result.fault_count == 0);
    CHECK(result.times.pipeline_ms > 0);
    uint32_t want = 12345;
    for (unsigned i = 0; i < 100; ++i) want ^= (want >> 1) * kFactor;
    CHECK(read_words(*engine, 0, 2) == std::vector<uint32_t>{12345, want});
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("a driver that compiles longer than the limit is given up") {
  const ir::Program program = empty_program();
  // Compilers are at work when the process ends: nothing that they use is destroyed before.
  on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        std::_Exit(status);
      },
      nullptr);
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    // SwiftShader's time grows with the square. Drivers keep what they compiled on disk: each time
    // it is another kernel.
    const unsigned operations = driver.label == "swiftshader" ? 4000 : 30000;
    auto engine = engine_running(driver, long_kernel(operations, std::random_device{}() | 1U));
    engine->reserve(64);
    const auto start = Clock::now();
    const Error error = error_of([&] { engine->launch(limited(program, kLimit)); });
    MESSAGE(driver.label << " after " << seconds_since(start)
                         << " s: " << std::string(error.what()));
    CHECK(error.kind() == ErrorKind::budget);
    CHECK(mentions(error, "driver was still compiling kernel 'by_hand' when its 0.5 s were over"));
    CHECK(seconds_since(start) < 3);
    CHECK(read_words(*engine, 0, 2) == std::vector<uint32_t>(2, 0));  // the host's view is there
    CHECK(error_of([&] { engine->launch(limited(program, 0)); }).kind() == ErrorKind::device);
    engine.reset();
  }
}
