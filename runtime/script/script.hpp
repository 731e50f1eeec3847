// Stream scripts (.lw): parse, check and run. The language: docs/stream-scripts.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/script/case.hpp"
#include "runtime/trace/event.hpp"

namespace lanewise::script {

struct Script {
  std::vector<Case> cases;
  std::vector<Diagnostic> diagnostics;  ///< in line order
  bool ok() const { return diagnostics.empty(); }
};
/// Never throws on bad input. max_errors 0 = all.
Script parse(std::string_view text, size_t max_errors = 100);

struct RunOptions {
  std::string directory;  ///< where files named by the script are, empty = the current one
  bool read_files = true;
  uint64_t memory_limit = uint64_t{1} << 32;  ///< bytes of all buffers of a case
  uint64_t step_limit = uint64_t{1} << 26;    ///< values that a case's expressions may compute
  bool judge_faults = true;                   ///< faults that nothing expects are failures
  trace::Sink* events = nullptr;              ///< gets the memory events of the case
};

struct CaseResult {
  std::string name;  ///< with its sweep values
  uint32_t line = 0;
  std::vector<Diagnostic> diagnostics;  ///< the case is wrong: nothing was run
  std::vector<Diagnostic> failures;     ///< expectations that do not hold
  std::string printed;                  ///< by its kernels
  std::string unsupported;              ///< why this engine cannot run the case, empty = it can
  bool ok() const { return diagnostics.empty() && failures.empty() && unsupported.empty(); }
};

/// Everything short of running: expressions, files, the instructions.
CaseResult check(const Case& c, const RunOptions& options = {});
/// Engine trouble throws Error; everything else is in the result.
CaseResult run(const Case& c, Engine& engine, const RunOptions& options = {});

}  // namespace lanewise::script
