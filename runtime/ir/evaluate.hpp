// What an instruction computes when all it reads is known.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// The bits of the results, as many as the instruction has destinations. Moves, integers, logic and
/// compares; nothing for the rest (floats, what depends on the lane or the launch), which are not
/// computed before a launch. `sources` are the operands' bits, one for each source.
std::optional<std::array<uint64_t, 2>> evaluate(const Inst& inst,
                                                std::span<const uint64_t> sources);

}  // namespace lanewise::ir
