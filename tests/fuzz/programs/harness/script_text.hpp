// Programs as stream scripts that say what must come out.
#pragma once

#include <string>

#include "runtime/guest/engine.hpp"
#include "tests/fuzz/programs/evaluate.hpp"
#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs {

/// How a program is run.
struct Setup {
  Memcheck memcheck = Memcheck::arena;
  WaveMode wave = WaveMode::automatic;
  WaveSchedule schedule = WaveSchedule::automatic;  ///< of the reference engine
  bool passes = true;         ///< the program that ir/passes/pipeline.hpp leaves is run
  bool shared_table = false;  ///< the script has the table in front of all cases
};

/// The table as a statement.
std::string table_text(const std::vector<uint32_t>& words);
/// Settings and code of a script without data: what the harness compiles.
std::string code_script(const Program& program, const InstructionSet& set, const Text& text);
/// A script that passes where the outcome is right. `note` is its comment.
std::string case_script(const Program& program, const InstructionSet& set, const Text& text,
                        const Outcome& outcome, const Setup& setup, const std::string& name);

}  // namespace lanewise::programs
