#include "runtime/spirv/flushing.hpp"

namespace lanewise::spirv {
namespace {

/// Does the operation read or give a number of type f32? Sign changes are bit operations.
bool computes_f32(const ir::Inst& inst) {
  if (inst.op < ir::Op::fadd || inst.op > ir::Op::ftanh_approx) return false;
  if (inst.op == ir::Op::fneg || inst.op == ir::Op::fabs) return false;
  return inst.type == ir::Type::f32 || inst.from == ir::Type::f32;
}

}  // namespace

bool flushes_everything(const ir::Program& program) {
  bool any = false;
  for (const ir::Block& block : program.blocks) {
    for (const ir::Inst& inst : block.insts) {
      if (!computes_f32(inst)) continue;
      // Integers are no subnormal numbers, whatever the instruction says.
      if (!inst.ftz && inst.op != ir::Op::i2f) return false;
      any = true;
    }
  }
  return any;
}

Target flushing_target(const Target& target) {
  const Target::Flushing& f = target.flushing;
  if (!f.add || !f.compare) return target;
  Target t = target;
  t.flushes = true;
  t.denorm_preserve = false;
  t.native_add = f.add;
  t.native_fma = f.fma;
  t.native_div = f.div;
  t.native_sqrt = f.sqrt;
  t.native_compare = f.compare;
  t.native_minmax = f.minmax;
  t.native_round = f.round;
  t.native_convert = f.convert;
  // These were tried without the mode only.
  t.native_resize = t.normal_fma = false;
  t.fma_by_double = t.fma_by_double && !t.flush_mode;
  return t;
}

}  // namespace lanewise::spirv
