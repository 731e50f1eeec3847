// Time limits on what cannot be interrupted: the translator and the drivers' compilers.
#include "runtime/vulkan/pipeline/compile_timeout.hpp"

#include <doctest/doctest.h>

#include <future>
#include <random>
#include <spirv-tools/libspirv.hpp>
#include <thread>

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

LaunchRequest limited(const ir::Program& program, double seconds) {
  LaunchRequest request;
  request.program = &program;
  request.grid = request.block = {1, 1, 1};
  request.timeout_seconds = seconds;
  return request;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

TEST_CASE("work with a time limit ends, throws, or is left to itself") {
  CHECK(vulkan::deadline_after(0) == Clock::time_point::max());
  std::thread::id worker;
  const auto note = [&] { worker = std::this_thread::get_id(); };
  CHECK(vulkan::ends_by(Clock::time_point::max(), note));
  CHECK(worker == std::this_thread::get_id());
  CHECK(vulkan::ends_by(vulkan::deadline_after(60), note));
  CHECK(worker != std::this_thread::get_id());
  CHECK_THROWS_AS(
      vulkan::ends_by(vulkan::deadline_after(60), [] { throw std::out_of_range("thrown"); }),
      std::out_of_range);

  const auto gate = std::make_shared<std::promise<void>>(), passed = gate;
  const auto done = std::make_shared<std::promise<void>>();
  const auto start = Clock::now();
  CHECK(!vulkan::ends_by(vulkan::deadline_after(0.05), [gate, done] {
    gate->get_future().wait();
    done->set_value();
  }));
  CHECK(seconds_since(start) >= 0.05);
  passed->set_value();
  done->get_future().wait();  // it went on by itself
}

TEST_CASE("a translation that takes longer than the limit is given up") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    struct Shared {
      std::promise<void> gate, translated;
    };
    const auto shared = std::make_shared<Shared>();
    auto engine = vulkan::make_engine_with(
        driver.part, checked_options(),
        [shared](const ir::Program&, const spirv::Options&, const spirv::Target&) {
          shared->gate.get_future().wait();
          shared->translated.set_value();
          return spirv::Module();
        });
    engine->reserve(64);
    const Error error = error_of([&] { engine->launch(limited(program, 0.1)); });
    CHECK(error.kind() == ErrorKind::budget);
    CHECK(mentions(error, "'by_hand' was still being translated when its 0.1 s were over"));
    CHECK(mentions(error, engine->info().name));
    CHECK(vulkan::still_running());
    CHECK(error_of([&] { engine->launch(limited(program, 0)); }).kind() == ErrorKind::device);
    CHECK(error_of([&] { engine->reserve(1 << 20); }).kind() == ErrorKind::device);
    engine.reset();
    shared->gate.set_value();  // the translator ends after its engine
    shared->translated.get_future().wait();
  }
}

TEST_CASE("a driver that compiles longer than the limit is given up") {
  const ir::Program program = empty_program();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    // SwiftShader's time grows with the square, and what is given up goes on in the background.
    // Drivers keep what they compiled on disk: each time it is another kernel.
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
