// Two forms of one kernel on the same inputs: do they compute the same, and where do they not?
#pragma once

#include <functional>
#include <optional>

#include "runtime/diff/compare.hpp"

namespace lanewise::diff {

struct Request {
  Form a, b;
  std::string device = "reference";
  LaunchOptions options;
  std::vector<Input> inputs;  ///< contents of filled ones do not matter
  uint64_t seed = 1;
  uint32_t tries = 8;
  double shrink_seconds = 30;  ///< for making the inputs small
};

enum class Verdict : uint8_t { equal, different, undecided };

/// The same bytes as both sides leave them.
struct Site {
  std::string where;  ///< "c[5]", "variable counter, byte 3"
  std::string a, b;   ///< the values
  std::optional<Store> store_a, store_b;
};

struct Report {
  Verdict verdict = Verdict::undecided;
  std::string kernel_a, kernel_b;
  std::vector<std::string> notes;  ///< what was left out, and what is open
  uint32_t tries = 0;              ///< that were decided
  uint64_t within = 0;             ///< floats that differ within the bound
  uint64_t nan_payloads = 0;
  uint64_t pointers = 0;  ///< to the same place of a buffer that lies elsewhere
  double bound = 0, largest = 0;
  std::vector<FreeOp> free_ops;  ///< of both, where floats were compared within a bound
  // Where the verdict is not equal.
  std::string why;                  ///< of undecided
  std::vector<FaultReport> faults;  ///< of undecided
  LaunchOptions options;            ///< after shrinking
  std::vector<Input> inputs;        ///< after shrinking
  uint32_t runs = 0;                ///< that shrinking took
  uint64_t different = 0;           ///< elements
  std::optional<Site> first;
};

Report compare_kernels(const Request& request);

/// Of the whole file, those that cannot run included.
std::vector<std::string> kernel_names(const Form& form);

/// Inputs for a kernel that nobody gave any for: buffers for pointers, the number of threads for
/// integers. `reported` shows the user what was chosen.
std::vector<Input> guess_inputs(const Form& form, const LaunchOptions& options,
                                std::string& reported);

}  // namespace lanewise::diff
