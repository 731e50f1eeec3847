// Does every row of an instruction table have what it claims: a value case, or a named test of
// another kind?
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/isa/coverage.hpp"
#include "tests/values/harness.hpp"

namespace values {

struct TableRow {
  std::string key;
  lanewise::isa::Claim claim;
  bool runs;  ///< it has a lowering
};

/// Rows whose proof is no value case (Claim::effect): where it stands instead.
struct Elsewhere {
  std::string row;     ///< key, or with a * at its end all keys that start so
  std::string file;    ///< under tests/
  std::string needle;  ///< what in that file names the instruction
  std::string reason;  ///< why no value case
};

/// One line for each claim without its proof, each proof without a row, each row that runs and
/// claims nothing. `folder` is tests/.
std::vector<std::string> complaints(std::span<const TableRow> rows, std::span<const Case> cases,
                                    std::span<const Elsewhere> elsewhere,
                                    const std::string& folder);

}  // namespace values
