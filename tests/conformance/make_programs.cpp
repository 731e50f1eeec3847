// Writes the suite's random programs: make_programs FOLDER SEED PROGRAMS, of each instruction set.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/fuzz/programs/harness/export.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FOLDER SEED PROGRAMS\n", argv[0]);
    return 2;
  }
  try {
    using namespace lanewise::programs;
    for (const InstructionSet& set : instruction_sets())
      export_scripts(set, std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10),
                     {.across = Choices::Across::none}, argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
  return 0;
}
