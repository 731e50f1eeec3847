// What a lowering function works with: the operands of one instruction, checked and typed.
#pragma once

#include "runtime/isa/ptx/semantics/context.hpp"

namespace lanewise::ptx {

/// Where a memory operand points.
struct Address {
  ir::Space space = ir::Space::generic;
  ir::Operand base;
  int64_t offset = 0;
  std::shared_ptr<ParamObject> object;  ///< set for .param variables of calls
  bool kernel_param = false;
  bool input = false;  ///< a parameter of the function itself: read only
};

/// Flags of an emitted operation.
struct Mods {
  ir::Round round = ir::Round::rn;
  bool ftz = false, sat = false;
  ir::Cond cond = ir::Cond::eq;
  uint8_t mode = 0;
  ir::Type from = ir::Type::none;
};

/// What the table has under a name.
template <typename E, size_t N>
E pick(std::string_view name, const std::pair<std::string_view, E> (&table)[N], E otherwise) {
  for (const auto& [text, value] : table)
    if (text == name) return value;
  return otherwise;
}

class Emit {
 public:
  Emit(Body& body, const Instruction& inst, const Form& form);

  Body& body;
  KernelContext& kernel;
  const Instruction& inst;
  const Form& form;

  size_t count() const { return inst.operands.size(); }
  const Operand& operand(size_t i) const { return inst.operands[i]; }
  PType type(std::string_view slot = "type") const { return form.type(slot); }
  bool has(std::string_view slot) const { return form.has(slot); }
  std::string_view get(std::string_view slot) const { return form.get(slot); }
  /// The instruction's rounding, `.rn` where it names none; to integral values alike.
  ir::Round rounding() const;
  /// The comparison in the slot `cmp`.
  ir::Cond condition() const;
  /// Rounding and flags that its qualifiers name.
  Mods mods() const;
  ir::Builder& builder() { return kernel.builder; }

  // --- reading ---------------------------------------------------------------------------------
  /// The operand's bits; 8- and 16-bit values have unknown upper bits only with Fit::wider.
  ir::Operand raw(const Operand& o, PType type, Fit fit = Fit::exact);
  ir::Operand raw(size_t i, PType type, Fit fit = Fit::exact) { return raw(operand(i), type, fit); }
  /// Same, with 8- and 16-bit values extended to 32 bits by their signedness.
  ir::Operand ext(const Operand& o, PType type, Fit fit = Fit::exact);
  ir::Operand ext(size_t i, PType type, Fit fit = Fit::exact) { return ext(operand(i), type, fit); }
  /// Operands 1 to n, as raw() reads them.
  std::vector<ir::Operand> sources(size_t n, PType type);
  /// A predicate operand, `!p` resolved.
  ir::Operand pred(size_t i);
  /// The elements of a vector operand, or the operand itself as the only element.
  std::vector<Operand> elements(size_t i, unsigned expected);
  /// The two 64-bit halves of a .b128 operand: a register's, or a constant's (the upper one 0).
  std::vector<Operand> halves(const Operand& o);
  ir::Guard guard();
  Address address(const Operand& o, std::string_view space);
  bool is_sink(size_t i) const { return operand(i).kind == Operand::Kind::sink; }
  bool is_constant(size_t i) const { return operand(i).kind == Operand::Kind::integer; }

  // --- emitting --------------------------------------------------------------------------------
  ir::Reg op(ir::Op op, ir::Type type, std::vector<ir::Operand> src, const Mods& mods = {});
  /// For operations with given destinations.
  ir::Inst& emit(ir::Op op, ir::Type type, std::vector<ir::Reg> dst, std::vector<ir::Operand> src);
  ir::Reg temp(ir::Width w) { return kernel.program.add_reg(w); }
  ir::Reg temp_like(PType t) { return temp(t.width()); }

  // --- writing ---------------------------------------------------------------------------------
  /// Writes operand `o`; `clean` = a narrow value is already extended to
  /// 32 bits by its signedness.
  void set(const Operand& o, PType type, ir::Operand value, Fit fit = Fit::exact,
           bool clean = false);
  void set(size_t i, PType type, ir::Operand value, Fit fit = Fit::exact, bool clean = false) {
    set(operand(i), type, value, fit, clean);
  }
  /// Writes q of `p|q`; nothing when it is absent.
  void set_pair(size_t i, PType type, ir::Operand value);

  ir::Operand extend(ir::Operand value, unsigned bits, bool is_signed);
  ir::Operand widen(ir::Operand value, bool is_signed);  ///< b32 to b64
  ir::Operand narrow(ir::Operand value);                 ///< b64 to b32

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] static void fail(Loc loc, const std::string& message);

 private:
  const Entity* reg_entity(const Operand& o);
  ir::Operand constant(const Operand& o, PType type);
  ir::Operand value_of_name(const Operand& o, PType type, Fit fit);
  ir::Operand address_value(const Operand& o, const Entity& entity, PType type);
  ir::Operand special(const Operand& o, PType type, Fit fit);
  void assign(ir::Reg reg, ir::Operand value);
  Address register_address(const Operand& o, const Entity& entity, std::string_view space);
  Address variable_address(const Operand& o, const Entity& entity, std::string_view space);

  size_t first_reg_;  ///< registers from here on are temporaries of this instruction
};

/// What many rows become: one operation of their type on as many sources.
template <ir::Op kOp, size_t kSources>
void plain(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(kOp, t.ir(), e.sources(kSources, t), e.mods()));
}

/// Reads and writes parts of a ParamObject that lives in registers.
ir::Operand read_words(Emit& e, const ParamObject& object, uint32_t offset, PType type);
void write_words(Emit& e, ParamObject& object, uint32_t offset, PType type, ir::Operand value);
/// The condition in lanes whose guard holds.
ir::Reg guarded(Emit& e, ir::Operand condition);
/// Function addresses and everything else the table's families share.
ir::Operand function_value(Emit& e, const Operand& o, const Function& function);
void lower_call(Emit& e);
/// The address behind the kernel's shared memory, static and dynamic.
ir::Reg behind_shared(Emit& e);

using ir::imm;

/// The assembler takes `name[%r1]`; what it means is not known, so it is an error here.
void refuse_register_index(const Operand& o);

}  // namespace lanewise::ptx
