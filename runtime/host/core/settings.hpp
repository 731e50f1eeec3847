// What the environment says of every launch of a program; `lanewise exec` sets the same variables.
#pragma once

#include <string>
#include <vector>

#include "lanewise/lanewise.h"
#include "runtime/support/findings/output.hpp"

namespace lanewise::core {

struct Settings {
  uint32_t memcheck = LW_MEMCHECK_ALLOC;  ///< LANEWISE_MEMCHECK: alloc, arena, off
  double timeout_seconds = 0;             ///< LANEWISE_TIMEOUT
  /// LANEWISE_POLICIES, separated by commas, and check=... of LANEWISE_CHECK.
  std::vector<std::string> policies;
  std::string gpu;                   ///< LANEWISE_GPU: whose figures the program sees, or how many
  std::string cache, trace;          ///< LANEWISE_CACHE: presets; LANEWISE_TRACE: a file
  std::string report;                ///< LANEWISE_REPORT: a file for the tracker's report
  std::string isa;                   ///< LANEWISE_ISA: ptx or sass, which images are taken
  bool verbose = false;              ///< LANEWISE_VERBOSE: says which those are
  std::vector<std::string> visible;  ///< CUDA_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES
  bool leaks = false, api = false;   ///< LANEWISE_CHECK has it
  bool races = false;                ///< the same: also between operations of streams
  bool init = false;                 ///< the same: also what the host reads
  bool perf = false;                 ///< the same: costs are summed
  std::string counters;              ///< LANEWISE_COUNTERS: a file for counters of launches
  findings::Options findings;        ///< LANEWISE_FINDINGS (files), _SUPPRESS, _BASELINE ...
  bool summary = false;              ///< LANEWISE_SUMMARY
  bool copies_host_memory = false;   ///< LANEWISE_HOST_MEMORY=copy: nothing is used in place

  /// Fails with a line on standard error where a variable has a value that it cannot have.
  static Settings from_environment();
};

}  // namespace lanewise::core
