// What the table's lowering functions work with, and their names.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "lanewise/types.hpp"
#include "runtime/ir/builder.hpp"
#include "runtime/isa/gcn/lowering/analysis/constants.hpp"

namespace lanewise::gcn {

// What every lowering function writes.
using ir::AtomOp, ir::Cond, ir::imm, ir::Op, ir::Reg, ir::Round, ir::SReg, ir::Type, ir::Width;

/// An instruction that assembles but has no meaning here; becomes a diagnostic at its place.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// At the instruction's place: its line in text, its kernel, address and text in an object.
Diagnostic diagnostic(const Kernel& kernel, const Instruction& instruction,
                      const std::string& message, bool warning);

/// Guest state of one kernel as IR registers, and what is known at the current instruction.
class LowerContext : public ir::Builder {
 public:
  LowerContext(ir::Program& program, const Kernel& kernel, const Analysis& analysis, Gen gen)
      : Builder(program), kernel_(kernel), analysis_(analysis), gen_(gen) {}

  // Set by the driver for each instruction.
  size_t index = 0;        ///< of the instruction
  bool exec_full = true;   ///< EXEC is still what it was at the start
  bool scc_live = false;   ///< somebody reads the SCC this instruction writes
  bool mask_live = false;  ///< ... or the mask that it writes, to VCC or a pair of its own choice
  ScalarSet numbers;       ///< registers whose 64-bit values somebody wants behind it
  ScalarSet unread_bits;   ///< pairs whose bits of lanes nobody reads behind it
  ScalarSet stale;
  ScalarConstants constants;
  std::vector<std::string> warnings;  ///< about the current instruction; the driver takes them

  Gen gen() const { return gen_; }
  /// Flat addresses may mean LDS or scratch: the kernel can know where their apertures lie.
  bool apertures() const;
  /// Where the scratch of all waves begins; the launch block says it.
  Reg scratch_base();
  const Kernel& kernel() const { return kernel_; }

  Reg sgpr(unsigned code);
  Reg vgpr(unsigned code);
  Reg mask(unsigned low_code);
  Reg scc();
  Reg exec() { return mask(kExecLo); }

  ir::Operand read32(const Operand& o, unsigned dword = 0);
  /// The number of a variable of the module among the program's symbols.
  uint32_t symbol(const std::string& name);
  /// The guest's address of a place in the file's image.
  ir::Operand image_at(uint64_t offset);
  /// Is vcc or exec zero, is scc set? Operands read 1 or 0 of it.
  ir::Operand condition(unsigned code);
  /// The value itself when it is known at translation.
  ir::Operand read_known(const Operand& o, unsigned dword = 0);
  /// A literal has 32 bits: signed operands extend its sign, others are filled with zeros.
  ir::Operand read64(const Operand& o, bool is_signed = false);
  /// The low 16 bits mean something; floating-point constants are halves.
  ir::Operand read16(const Operand& o);
  /// A literal is the upper half of a double.
  ir::Operand read_double(const Operand& o);
  ir::Operand read_mask(const Operand& o);
  /// Rounding and subnormals at this instruction; refused where they depend on the path taken.
  FloatMode mode() const;
  ir::Operand read_float(const Operand& o);

  void write32(unsigned code, ir::Operand value);
  void write64(unsigned code, ir::Operand value);
  /// Scalar registers were written: the masks over them follow.
  void refresh_masks(unsigned code, unsigned count);
  void write_mask(unsigned low_code, ir::Operand value);
  bool mask_wanted(unsigned low_code) const;
  bool number_wanted(unsigned low_code) const;
  /// The same with its 64 bits known, those of lanes that do not exist included.
  void write_mask(unsigned low_code, ir::Operand value, ir::Operand number);
  /// Logic on masks that writes this pair must work on their numbers as well.
  bool makes_number(unsigned low_code) const;
  /// Emits an operation whose result goes to VGPRs of the active lanes.
  ir::Inst& emit_vector(Op op, Type type, std::vector<Reg> dst, std::vector<ir::Operand> src);
  /// Until widen(), vector results go to those lanes only.
  void narrow(ir::Operand lanes);
  void widen() { narrowed_ = {}; }
  ir::Operand active(ir::Operand predicate);  ///< and EXEC
  /// A lane that comes here ends with a fault.
  void trap(FaultKind kind);
  void set_scc_nonzero(Type type, ir::Operand value);
  Reg any_lane(ir::Operand predicate);  ///< true in all lanes when it is in one

 private:
  const Kernel& kernel_;
  const Analysis& analysis_;
  Gen gen_;
  std::map<unsigned, Reg> sgprs_, vgprs_, masks_;
  Reg scc_, scratch_base_, narrowed_;
};

/// Fills the registers that the launch block supplies, where `is_read` says that they are wanted;
/// Program::needs then asks for the block.
void lower_launch_state(LowerContext& c, const std::function<bool(int)>& is_read);

int64_t scalar_offset(const Operand& offset, Gen gen);

// What the rows name, a file at a time.
Lowering lower_smov, lower_smovk, lower_snot, lower_slogic32, lower_slogic64, lower_saveexec,
    lower_sadd, lower_saddc, lower_sshift, lower_smul, lower_scmp, lower_sload, lower_barrier,
    lower_nothing;
Lowering lower_vop, lower_vextreme, lower_vshift, lower_vshift64, lower_vadd, lower_vmad,
    lower_mul24, lower_cndmask, lower_vcvt, lower_vround, lower_vbfe, lower_vbfi, lower_valign,
    lower_readfirstlane;
Lowering lower_bload, lower_bstore, lower_batomic, lower_lds_store, lower_invalidate;
Lowering lower_format_load, lower_format_store;
Lowering lower_image_load, lower_image_store, lower_image_atomic, lower_image_size;
Lowering lower_image_sample, lower_image_lod;
Lowering lower_sminmax, lower_scselect, lower_sshift64, lower_sbfm, lower_sbfe, lower_sunary,
    lower_sff1, lower_saddk, lower_scmpk;
Lowering lower_sbuffer_load, lower_sstore;
Lowering lower_readlane, lower_writelane, lower_mbcnt, lower_swizzle, lower_permute, lower_bpermute;
Lowering lower_lds_read, lower_lds_write, lower_lds_atomic, lower_lds_exchanges, lower_lds_count,
    lower_lds_second_place, lower_lds_conditional, lower_grid_barrier;
Lowering lower_flat_load, lower_flat_store, lower_flat_atomic;
/// Instructions with a DPP or SDWA dword: the sources first, then what the row says.
Lowering lower_lane_form;
/// Instructions with mul:2, mul:4 or div:2: what the row says, and the result scaled.
Lowering lower_scaled_output;
Lowering lower_mad64, lower_v16;
/// Arithmetic of floats of any width in the mode of the instruction, halves by way of floats.
Lowering lower_real, lower_real_extreme, lower_real_round, lower_approximate, lower_turns,
    lower_half_function, lower_half_turns, lower_half_mad, lower_rcp_wide, lower_mul_legacy,
    lower_extreme_legacy, lower_mad_legacy, lower_mad_constant, lower_fract, lower_frexp_exp,
    lower_frexp_mant, lower_ldexp, lower_three_extremes, lower_median;
Lowering lower_trig_preop, lower_cube;
Lowering lower_convert, lower_convert_byte, lower_convert_nibble, lower_convert_rounded,
    lower_pack_halves, lower_pack_normal, lower_pack_byte, lower_pack_clamped;
Lowering lower_div_scale, lower_div_fmas, lower_div_fixup;
Lowering lower_vcmp_any, lower_vcmp_class;
Lowering lower_v_integer, lower_v_extremes, lower_v_median, lower_v_first_bit, lower_v_count,
    lower_v_mask, lower_mulhi24, lower_alignbyte, lower_perm, lower_sad, lower_sad_wide, lower_lerp,
    lower_mad16;
Lowering lower_movrel, lower_index_mode;
Lowering lower_scmov, lower_sbits, lower_sfirst_bit, lower_sabs, lower_sbfm64, lower_sbfe64,
    lower_sbitcmp, lower_sbitset, lower_scmp64, lower_squads, lower_smovrel, lower_getreg,
    lower_setreg, lower_clock, lower_trap;
/// Control flow is built by the driver, which knows these two by their address.
Lowering lower_branch, lower_end;
ir::CacheFacts cache_facts(const Instruction&);

}  // namespace lanewise::gcn
