// The fields of the MODE register that arithmetic asks for.
#pragma once

#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::gcn {

struct FloatMode {
  uint8_t bits = 0xc0;  ///< rounding of f32, of f64 and f16; subnormals of f32, of f64 and f16
  bool dx10_clamp = true, ieee = true;

  static bool narrow(ir::Type t) { return t == ir::Type::f32; }
  ir::Round round(ir::Type t) const {
    static constexpr ir::Round kRounds[] = {ir::Round::rn, ir::Round::rp, ir::Round::rm,
                                            ir::Round::rz};
    return kRounds[bits >> (narrow(t) ? 0 : 2) & 3];
  }
  bool keeps_operands(ir::Type t) const { return (bits >> (narrow(t) ? 4 : 6) & 1) != 0; }
  bool keeps_results(ir::Type t) const { return (bits >> (narrow(t) ? 5 : 7) & 1) != 0; }
  /// Operands and results alike, which is what an operation of the IR can say by itself.
  bool flushes(ir::Type t) const { return !keeps_operands(t) && !keeps_results(t); }

  uint32_t word() const { return bits | (dx10_clamp ? 1U << 8 : 0) | (ieee ? 1U << 9 : 0); }
  static FloatMode of(uint32_t word) {
    return {static_cast<uint8_t>(word), (word >> 8 & 1) != 0, (word >> 9 & 1) != 0};
  }
};

}  // namespace lanewise::gcn
