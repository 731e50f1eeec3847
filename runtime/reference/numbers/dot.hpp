// The sum of products of Op::dot (runtime/ir/dot.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "runtime/ir/dot.hpp"

namespace lanewise::reference {

using DotWords = std::array<uint32_t, ir::kDotWords>;

/// `type`: f16, f32 or s32, of the addend and the result.
uint32_t dot(ir::Type type, uint8_t mode, ir::DotRule rule, bool saturate, uint32_t c,
             const DotWords& a, const DotWords& b);

}  // namespace lanewise::reference
