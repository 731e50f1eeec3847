// Counters of launches with Nsight Compute's names, in the form of `ncu --csv`: sums over what
// --check perf counts (docs/counters.md has each definition).
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace lanewise::findings {

/// What a launch is called in the file.
struct CountedLaunch {
  std::string program, kernel;
  std::array<uint32_t, 3> grid{}, block{};
};

class Counters {
 public:
  Counters();
  /// The numbers of one launch. "", or why they are not those of the hardware: an instruction that
  /// is several accesses here; then the launch is left out.
  std::string add(const std::string& profile, const CountedLaunch& launch);
  const std::string& csv() const { return text_; }

 private:
  std::string text_;
  uint64_t launches_ = 0;
};

}  // namespace lanewise::findings
