// What the table's lowering functions work with, and their names.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// An instruction that decodes but has no meaning here; becomes a diagnostic at its place.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Guest state of one kernel as IR registers, and the operands of the current instruction.
class LowerContext {
 public:
  LowerContext(ir::Program& program, const Kernel& kernel, const LowerOptions& options)
      : b(program), kernel_(kernel), options_(options) {}

  ir::Builder b;

  void begin(const Instruction& i);
  const LowerOptions& options() const { return options_; }
  const Kernel& kernel() const { return kernel_; }

  /// The operand's 32 bits as they are: no negation, no half selection.
  ir::Operand raw(const Instruction& i, Role role);
  bool negated(const Instruction& i, Role role) const;
  bool absolute(const Instruction& i, Role role) const;
  bool inverted(const Instruction& i, Role role) const;
  bool high_half(const Instruction& i, Role role) const;
  bool has_cc(const Instruction& i) const;
  /// A float operand with |x| and -x applied.
  ir::Operand fsource(const Instruction& i, Role role);
  /// A predicate operand with ! applied.
  ir::Operand pred_source(const Instruction& i, Role role);

  /// Destination register; RZ gives a register nobody reads.
  ir::Reg destination(const Instruction& i) { return writable(reg_number(i, Role::d)); }
  void write_predicate(const Instruction& i, Role role, ir::Operand value);
  ir::Reg writable(unsigned number);
  ir::Operand readable(unsigned number);
  ir::Reg predicate(unsigned number);
  ir::Reg carry();

  unsigned reg_number(const Instruction& i, Role role) const;
  /// Registers number..number+count-1; throws when they leave the file or are not aligned.
  void check_vector(unsigned number, unsigned count) const;
  ir::Reg make(ir::Op op, ir::Type type, std::vector<ir::Operand> src) {
    return b.make(op, type, std::move(src));
  }
  ir::Reg make_pred(ir::Op op, ir::Type type, std::vector<ir::Operand> src) {
    const ir::Reg r = b.reg(ir::Width::pred);
    b.emit(op, type, {r}, std::move(src));
    return r;
  }
  ir::Operand constant(unsigned bank, unsigned offset);

 private:
  ir::Operand special(ir::SReg s);

  const Kernel& kernel_;
  const LowerOptions& options_;
  std::map<unsigned, ir::Reg> regs_, preds_;
  ir::Reg carry_;
};

void lower_mov(LowerContext&, const Instruction&);
void lower_iadd(LowerContext&, const Instruction&);
void lower_iadd3(LowerContext&, const Instruction&);
void lower_iscadd(LowerContext&, const Instruction&);
void lower_shift(LowerContext&, const Instruction&);
void lower_logic(LowerContext&, const Instruction&);
void lower_sel(LowerContext&, const Instruction&);
void lower_isetp(LowerContext&, const Instruction&);
void lower_xmad(LowerContext&, const Instruction&);
void lower_fadd(LowerContext&, const Instruction&);
void lower_fmul(LowerContext&, const Instruction&);
void lower_ffma(LowerContext&, const Instruction&);
void lower_ldg(LowerContext&, const Instruction&);
void lower_stg(LowerContext&, const Instruction&);
void lower_membar(LowerContext&, const Instruction&);
void lower_s2r(LowerContext&, const Instruction&);
void lower_bar(LowerContext&, const Instruction&);
void lower_nop(LowerContext&, const Instruction&);
/// Control flow is built by the driver, which knows these two by their address.
void lower_bra(LowerContext&, const Instruction&);
void lower_exit(LowerContext&, const Instruction&);

}  // namespace lanewise::sass
