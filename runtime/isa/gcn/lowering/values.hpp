// One vector instruction's sources and result as values of the IR, with modifiers and the MODE
// register taken care of: a lowering function says only what happens in between.
#pragma once

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

class Values {
 public:
  Values(LowerContext& context, const Instruction& instruction);

  size_t count() const { return sources_.size(); }
  /// Integers; neg and abs are refused.
  ir::Operand u32(size_t n);
  ir::Operand u64(size_t n, bool is_signed = false);
  ir::Operand u16(size_t n);  ///< upper half 0
  ir::Operand s16(size_t n);  ///< sign extended
  ir::Operand integer(size_t n, Type type);
  /// Floats of any type, modifiers applied. Subnormals are as they are; see `operand`.
  ir::Operand real(size_t n, Type type);
  /// The same, flushed where MODE flushes operands.
  ir::Operand operand(size_t n, Type type);
  /// For compute(), which often flushes by itself.
  ir::Operand input(size_t n, Type type);
  /// What the destination holds.
  ir::Operand old(Type type = Type::u32);

  /// A float operation in the instruction's mode, result not clamped.
  Reg compute(Op op, Type type, std::vector<ir::Operand> src);
  /// Subnormals to zeros of their sign.
  ir::Operand flushed(ir::Operand value, Type type);

  Reg make(Op op, std::vector<ir::Operand> src) { return c.make(op, Type::u32, std::move(src)); }
  Reg select(ir::Operand which, ir::Operand yes, ir::Operand no, Type type = Type::u32) {
    return c.make(Op::select, type, {which, yes, no});
  }
  Reg compare(Op op, Cond cond, Type type, ir::Operand x, ir::Operand y);

  /// Results go to the active lanes; floats are clamped where the instruction says so.
  void put(ir::Operand value);
  void put_real(ir::Operand value, Type type);
  /// Lane masks: vcc, or the pair that the long form names, and EXEC for v_cmpx.
  void put_mask(ir::Operand predicate);

  LowerContext& c;
  const Instruction& i;
  const FloatMode mode;

 private:
  std::vector<const Operand*> sources_;
};

/// A double times 2^n, rounded once.
Reg scaled(Values& v, ir::Operand x, ir::Operand n, Round round);

}  // namespace lanewise::gcn
