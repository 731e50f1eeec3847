// Operand widths as ops.def states them.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

struct Signature {
  std::string_view dst, src;  ///< one letter per operand, see ops.def
};
inline Signature signature(Op op) {
  const std::string_view s = info(op).signature;
  const size_t colon = s.find(':');
  return {s.substr(0, colon), s.substr(colon + 1)};
}

/// Width that a signature letter means for this instruction; none for '*'.
inline std::optional<Width> letter_width(const Inst& inst, char letter) {
  switch (letter) {
    case 'T':
      return width_of(inst.type);
    case 'F':
      return width_of(inst.from);
    case 'p':
      return Width::pred;
    case 'w':
      return Width::b32;
    case 'd':
      return Width::b64;
    default:
      return std::nullopt;
  }
}

/// Width of the registers that hold one memory element.
inline Width element_width(const Mem& mem) {
  return width_of(mem.elem);
}

/// Width of source `i`; none where a register of either width is allowed (addresses).
inline std::optional<Width> source_width(const Inst& inst, size_t i) {
  switch (inst.op) {
    case Op::load:
    case Op::store:
    case Op::atom:
    case Op::cachectl:
      if (i == 0 || !inst.mem) return std::nullopt;
      if (inst.mem->checked && i + 1 == inst.src.size()) return Width::pred;
      return element_width(*inst.mem);
    case Op::check:
      return i == 1 ? std::optional(Width::pred) : std::nullopt;
    case Op::barrier:
      return i == 2 ? Width::pred : Width::b32;
    case Op::texel_address:
    case Op::texel_load:
    case Op::texel_store:
    case Op::sample:
    case Op::gather:
      return i == 0 ? Width::b64 : Width::b32;
    default: {
      const std::string_view letters = signature(inst.op).src;
      return i < letters.size() ? letter_width(inst, letters[i]) : std::nullopt;
    }
  }
}

/// Width of destination `d`.
inline std::optional<Width> result_width(const Inst& inst, size_t d) {
  if (inst.op == Op::load || inst.op == Op::atom)
    return inst.mem ? std::optional(element_width(*inst.mem)) : std::nullopt;
  if (inst.op == Op::barrier)
    return inst.mode == static_cast<uint8_t>(BarrierKind::red_popc) ? Width::b32 : Width::pred;
  const std::string_view letters = signature(inst.op).dst;
  return d < letters.size() ? letter_width(inst, letters[d]) : std::nullopt;
}

}  // namespace lanewise::ir
