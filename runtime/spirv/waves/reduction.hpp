// What a reduction over the lanes of a wave is made of.
#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include "runtime/spirv/binary/module_builder.hpp"

namespace lanewise::spirv {

/// One step of a reduction.
inline Id combined(ModuleBuilder& m, const ir::Inst& inst, Id a, Id b) {
  const bool is_signed = ir::is_signed(inst.type);
  switch (inst.mem->atom) {
    case ir::AtomOp::min:
      return m.glsl(is_signed ? GLSLstd450SMin : GLSLstd450UMin, m.uint_type, {a, b});
    case ir::AtomOp::max:
      return m.glsl(is_signed ? GLSLstd450SMax : GLSLstd450UMax, m.uint_type, {a, b});
    case ir::AtomOp::and_:
      return m.word(spv::OpBitwiseAnd, {a, b});
    case ir::AtomOp::or_:
      return m.word(spv::OpBitwiseOr, {a, b});
    case ir::AtomOp::xor_:
      return m.word(spv::OpBitwiseXor, {a, b});
    default:
      return m.word(spv::OpIAdd, {a, b});
  }
}

/// What changes no reduction of its kind.
inline uint32_t neutral(const ir::Inst& inst) {
  const bool is_signed = ir::is_signed(inst.type);
  switch (inst.mem->atom) {
    case ir::AtomOp::min:
      return is_signed ? 0x7fffffff : ~0U;
    case ir::AtomOp::max:
      return is_signed ? 0x80000000 : 0;
    case ir::AtomOp::and_:
      return ~0U;
    default:
      return 0;
  }
}

}  // namespace lanewise::spirv
