// From a wave that goes wrong to the least that still goes wrong.
#pragma once

#include <optional>
#include <string>

#include "tests/fuzz/streams/batch.hpp"

namespace lanewise::fuzz {

struct Shrunk {
  std::string script;
  bool fails = false;  ///< run alone it goes wrong, too
};
/// Tries the suspects in order; `note` is the comment of the script.
Shrunk shrink(const std::vector<Repro>& suspects, Engine& engine, const std::string& note);

}  // namespace lanewise::fuzz
