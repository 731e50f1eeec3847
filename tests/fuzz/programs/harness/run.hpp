// One program on one engine, against its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/ir/ir.hpp"
#include "tests/fuzz/programs/harness/script_text.hpp"

namespace lanewise::programs {

/// A program in the runtime's own form, made of its text as a stream script's is (but see
/// Style::own_exits).
struct Compiled {
  ir::Program program;
  ir::Program optimised;  ///< after ir/passes/pipeline.hpp
  std::map<std::string, std::string> policies;
  uint32_t shared = 0;
};
/// Throws std::runtime_error with the messages when the text is rejected.
Compiled compile(const Program& program, const InstructionSet& set, const Style& style);

/// Of a launch: a program that takes more does not end.
inline constexpr uint64_t kStepBudget = 100000;

/// Programs in serial mode that a driver ended with a message: nothing is known of their values.
inline std::atomic<uint64_t> ended_by_drivers = 0;

/// What is wrong, in words; nothing when all is as the outcome says.
std::optional<std::string> run(Engine& engine, const Compiled& compiled, const Program& program,
                               const Outcome& outcome, const Setup& setup);

}  // namespace lanewise::programs
