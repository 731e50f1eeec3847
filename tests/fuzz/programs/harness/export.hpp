// Random programs as scripts of the conformance suite.
#pragma once

#include <string>

#include "tests/fuzz/programs/generate.hpp"

namespace lanewise::programs {

/// FOLDER/ISA_programs.lw with `programs` programs from `seed` on, chosen so that each construct
/// is in one of the first.
void export_scripts(const InstructionSet& set, uint64_t seed, uint64_t programs,
                    const Choices& choices, const std::string& folder);

}  // namespace lanewise::programs
