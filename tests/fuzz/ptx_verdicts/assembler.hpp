// The vendor's assembler on many lines at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/support/ptx_lines.hpp"

namespace ptx_verdicts {

class Assembler {
 public:
  /// Files are written to the folder and removed.
  Assembler(std::string program, std::string folder);
  /// Does it know the version of the frame's module?
  bool takes(const lanewise::test::Frame& frame, const std::string& target);
  /// For each target a letter for each line: `A`, `R`, or `?` where it died or named none.
  std::vector<std::string> judge(std::span<const std::string> lines,
                                 const lanewise::test::Frame& frame,
                                 std::span<const std::string> targets);

 private:
  struct Answer {
    bool accepted = false;
    std::vector<size_t> refused;  ///< positions in the list that it was given
  };
  bool runs(const std::string& target, const std::string& files) const;
  std::vector<size_t> misspelt(std::span<const std::string> lines,
                               const lanewise::test::Frame& frame, const std::string& target);
  Answer ask(const std::vector<std::string>& lines, const lanewise::test::Frame& frame,
             const std::string& target);
  void narrow(std::span<const std::string> lines, std::span<const size_t> which,
              const lanewise::test::Frame& frame, const std::string& target, std::string& out);

  std::string program_, base_;
};

}  // namespace ptx_verdicts
