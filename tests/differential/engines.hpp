// Runs one program on every engine and compares what each leaves in memory.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"
#include "tests/support/devices.hpp"
#include "tests/unit/spirv/support.hpp"

namespace lanewise::test {

constexpr uint32_t kInputOffset = 0, kOutputOffset = 1U << 20, kParamOffset = 1U << 21;
constexpr uint64_t kArenaBytes = 1U << 22;

struct Outcome {
  std::vector<uint32_t> words;
  std::vector<Fault> faults;
  uint64_t fault_count = 0;
};

/// Parameters: u64 address of the input, u64 address of the output. `adjust` may change the launch.
inline Outcome run_on(Engine& engine, const ir::Program& program, Dim3 grid, Dim3 block,
                      const std::vector<uint32_t>& input, size_t output_words,
                      const std::function<void(LaunchRequest&)>& adjust = {}) {
  engine.reserve(kArenaBytes);
  engine.write(guest::kArenaBase + kInputOffset, std::as_bytes(std::span(input)));
  const std::vector<uint32_t> zeros(output_words, 0);
  engine.write(guest::kArenaBase + kOutputOffset, std::as_bytes(std::span(zeros)));
  const uint64_t pointers[] = {guest::kArenaBase + kInputOffset, guest::kArenaBase + kOutputOffset};
  engine.write(guest::kArenaBase + kParamOffset, std::as_bytes(std::span(pointers)));

  LaunchRequest request;
  request.program = &program;
  request.grid = grid;
  request.block = block;
  request.params.resize(sizeof pointers);
  std::memcpy(request.params.data(), pointers, sizeof pointers);
  request.param_address = guest::kArenaBase + kParamOffset;
  if (adjust) adjust(request);
  const LaunchResult result = engine.launch(request);
  Outcome outcome;
  outcome.faults = result.faults;
  outcome.fault_count = result.fault_count;
  outcome.words.resize(output_words);
  engine.read(guest::kArenaBase + kOutputOffset, std::as_writable_bytes(std::span(outcome.words)));
  return outcome;
}

inline std::string describe(const Outcome& o) {
  std::string text = std::to_string(o.fault_count) + " faults";
  for (size_t i = 0; i < o.faults.size() && i < 3; ++i) {
    text += "; " + std::string(name(o.faults[i].kind)) + " site " +
            std::to_string(o.faults[i].site) + " lane " + std::to_string(o.faults[i].lane);
  }
  return text;
}

/// Checks that a device (engines_in_turn) does what the reference engine does.
inline void compare(const ir::Program& program, Dim3 grid, Dim3 block,
                    const std::vector<uint32_t>& input, size_t output_words,
                    const std::vector<std::string>& what = {},
                    const std::function<void(LaunchRequest&)>& adjust = {}) {
  const auto problems = ir::verify(program);
  REQUIRE_MESSAGE(problems.empty(), problems.front());
  Outcome expected;
  for (const TestEngine& engine : engines_in_turn()) {
    CAPTURE(engine.label);
    const Outcome got = run_on(*engine.engine, program, grid, block, input, output_words, adjust);
    if (engine.label == "reference") {
      expected = got;
      continue;
    }
    CHECK_MESSAGE(got.fault_count == expected.fault_count, describe(got), " but reference ",
                  describe(expected));
    size_t wrong = 0;
    for (size_t i = 0; i < output_words; ++i) {
      if (got.words[i] == expected.words[i] || ++wrong > 3) continue;
      const std::string which = what.empty() ? std::string() : what[i % what.size()];
      const uint32_t have = got.words[i], want = expected.words[i];
      FAIL_CHECK("word " << i << " " << which << ": " << std::hex << have << ", reference "
                         << want);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace lanewise::test
