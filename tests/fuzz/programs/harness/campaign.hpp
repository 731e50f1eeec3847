// Many programs of one instruction set on several devices, some at a time.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/programs/generate.hpp"
#include "tests/fuzz/programs/harness/run.hpp"

namespace lanewise::programs {

struct CampaignOptions {
  std::string device = "all", out = ".";
  uint64_t programs = 300, seed = 1;
  double seconds = 0;          ///< 0: as many programs as asked
  double shrink_seconds = 60;  ///< for each program that goes wrong
  unsigned jobs = 2;
  WaveMode wave = WaveMode::automatic;
  std::vector<WaveSchedule> schedules = {WaveSchedule::automatic, WaveSchedule::until_stop,
                                         WaveSchedule::lockstep};
  /// Programs as they are, after the passes of ir/passes/pipeline.hpp, or both: then devices, which
  /// take long to compile, run every fourth as it is.
  enum class Passes : uint8_t { off, on, mix } passes = Passes::mix;
  std::vector<Memcheck> memchecks = {Memcheck::arena};  ///< in turn
  Choices choices;
};

/// True when every program did the same everywhere. Prints what went wrong and how fast it was.
bool run_campaign(const InstructionSet& set, const CampaignOptions& options);
/// Prints one program; `what`: text, script.
void show(const InstructionSet& set, const CampaignOptions& options, const std::string& what);

}  // namespace lanewise::programs
