// Stream scripts for the fuzzer: a batch's program, and a wave that goes wrong with what it should
// do.
#pragma once

#include <string>

#include "tests/fuzz/streams/batch.hpp"

namespace lanewise::fuzz {

/// The program alone, without values.
std::string batch_script(const Setting& setting, const std::vector<InstructionPtr>& code,
                         unsigned block, bool partial);
/// A script that passes where the oracle is right. Comments in front say `note`.
std::string repro_script(const Repro& repro, const std::string& note);

}  // namespace lanewise::fuzz
