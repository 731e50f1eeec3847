// What a program does, from its tree alone: nothing is shared with runtime/.
#pragma once

#include <optional>
#include <vector>

#include "tests/fuzz/programs/tree.hpp"

namespace lanewise::programs {

struct Outcome {
  std::vector<uint32_t> words;  ///< the output buffer, stride() words a lane
  uint64_t steps = 0;           ///< statements that were carried out, by all lanes together
};
/// Nothing when it takes more than `limit` steps.
std::optional<Outcome> evaluate(const Program& program, uint64_t limit = uint64_t{1} << 22);

}  // namespace lanewise::programs
