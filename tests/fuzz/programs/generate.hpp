// Random trees that end: loops count down, regions burn fuel, functions do not recurse.
#pragma once

#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs {

struct Choices {
  /// Where operations across lanes stand: nowhere, where all lanes are together, anywhere.
  enum class Across : uint8_t { none, uniform, all } across = Across::all;
  uint32_t most_statements = 48;
};

/// A program and how it is written, both from the seed alone.
struct Made {
  Program program;
  Style style;
};
Made make_program(uint64_t seed, const InstructionSet& set, const Choices& choices);

}  // namespace lanewise::programs
