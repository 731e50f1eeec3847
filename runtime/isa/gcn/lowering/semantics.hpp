// What the table's lowering functions work with, and their names.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/gcn/lowering/analysis/constants.hpp"

namespace lanewise::gcn {

/// An instruction that assembles but has no meaning here; becomes a diagnostic at its place.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// At the instruction's place: its line in text, its kernel, address and text in an object.
Diagnostic diagnostic(const Kernel& kernel, const Instruction& instruction,
                      const std::string& message, bool warning);

/// Guest state of one kernel as IR registers, and what is known at the current instruction.
class LowerContext {
 public:
  LowerContext(ir::Program& program, const Kernel& kernel, const Analysis& analysis, Gen gen)
      : b(program), kernel_(kernel), analysis_(analysis), gen_(gen) {}

  ir::Builder b;
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
  ir::Reg scratch_base();
  const Kernel& kernel() const { return kernel_; }

  ir::Reg sgpr(unsigned code);
  ir::Reg vgpr(unsigned code);
  ir::Reg mask(unsigned low_code);
  ir::Reg scc();
  ir::Reg exec() { return mask(kExecLo); }

  ir::Operand read32(const Operand& o, unsigned dword = 0);
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
  ir::Inst& emit_vector(ir::Op op, ir::Type type, std::vector<ir::Reg> dst,
                        std::vector<ir::Operand> src);
  /// Until widen(), vector results go to those lanes only.
  void narrow(ir::Operand lanes);
  void widen() { narrowed_ = {}; }
  ir::Operand active(ir::Operand predicate);  ///< and EXEC
  void set_scc_nonzero(ir::Type type, ir::Operand value);
  ir::Reg any_lane(ir::Operand predicate);  ///< true in all lanes when it is in one

  ir::Reg make(ir::Op op, ir::Type type, std::vector<ir::Operand> src) {
    return b.make(op, type, std::move(src));
  }
  ir::Reg make_pred(ir::Op op, ir::Type type, std::vector<ir::Operand> src) {
    const ir::Reg r = b.reg(ir::Width::pred);
    b.emit(op, type, {r}, std::move(src));
    return r;
  }
  ir::Reg compare(ir::Cond cond, ir::Type type, ir::Operand x, ir::Operand y) {
    const ir::Reg r = b.reg(ir::Width::pred);
    b.emit(ir::Op::icmp, type, {r}, {x, y}).cond = cond;
    return r;
  }

 private:
  const Kernel& kernel_;
  const Analysis& analysis_;
  Gen gen_;
  std::map<unsigned, ir::Reg> sgprs_, vgprs_, masks_;
  ir::Reg scc_, scratch_base_, narrowed_;
};

/// Fills the registers that the launch block supplies, where `is_read` says that they are wanted;
/// Program::needs then asks for the block.
void lower_launch_state(LowerContext& c, const std::function<bool(int)>& is_read);

int64_t scalar_offset(const Operand& offset, Gen gen);

void lower_smov(LowerContext&, const Instruction&);
void lower_smovk(LowerContext&, const Instruction&);
void lower_snot(LowerContext&, const Instruction&);
void lower_slogic32(LowerContext&, const Instruction&);
void lower_slogic64(LowerContext&, const Instruction&);
void lower_saveexec(LowerContext&, const Instruction&);
void lower_sadd(LowerContext&, const Instruction&);
void lower_saddc(LowerContext&, const Instruction&);
void lower_sshift(LowerContext&, const Instruction&);
void lower_smul(LowerContext&, const Instruction&);
void lower_scmp(LowerContext&, const Instruction&);
void lower_sload(LowerContext&, const Instruction&);
void lower_vop(LowerContext&, const Instruction&);
void lower_vextreme(LowerContext&, const Instruction&);
void lower_vshift(LowerContext&, const Instruction&);
void lower_vshift64(LowerContext&, const Instruction&);
void lower_vadd(LowerContext&, const Instruction&);
void lower_vmad(LowerContext&, const Instruction&);
void lower_mul24(LowerContext&, const Instruction&);
void lower_cndmask(LowerContext&, const Instruction&);
void lower_bload(LowerContext&, const Instruction&);
void lower_bstore(LowerContext&, const Instruction&);
void lower_format_load(LowerContext&, const Instruction&);
void lower_format_store(LowerContext&, const Instruction&);
void lower_batomic(LowerContext&, const Instruction&);
void lower_image_load(LowerContext&, const Instruction&);
void lower_image_store(LowerContext&, const Instruction&);
void lower_image_atomic(LowerContext&, const Instruction&);
void lower_image_size(LowerContext&, const Instruction&);
void lower_image_sample(LowerContext&, const Instruction&);
void lower_image_lod(LowerContext&, const Instruction&);
void lower_lds_store(LowerContext&, const Instruction&);
void lower_invalidate(LowerContext&, const Instruction&);
void lower_sminmax(LowerContext&, const Instruction&);
void lower_scselect(LowerContext&, const Instruction&);
void lower_sshift64(LowerContext&, const Instruction&);
void lower_sbfm(LowerContext&, const Instruction&);
void lower_sbfe(LowerContext&, const Instruction&);
void lower_sunary(LowerContext&, const Instruction&);
void lower_sff1(LowerContext&, const Instruction&);
void lower_saddk(LowerContext&, const Instruction&);
void lower_scmpk(LowerContext&, const Instruction&);
void lower_sbuffer_load(LowerContext&, const Instruction&);
void lower_sstore(LowerContext&, const Instruction&);
void lower_vcvt(LowerContext&, const Instruction&);
void lower_vround(LowerContext&, const Instruction&);
void lower_vbfe(LowerContext&, const Instruction&);
void lower_vbfi(LowerContext&, const Instruction&);
void lower_valign(LowerContext&, const Instruction&);
void lower_readfirstlane(LowerContext&, const Instruction&);
void lower_readlane(LowerContext&, const Instruction&);
void lower_writelane(LowerContext&, const Instruction&);
void lower_mbcnt(LowerContext&, const Instruction&);
void lower_swizzle(LowerContext&, const Instruction&);
void lower_permute(LowerContext&, const Instruction&);
void lower_bpermute(LowerContext&, const Instruction&);
void lower_lds_read(LowerContext&, const Instruction&);
void lower_lds_write(LowerContext&, const Instruction&);
void lower_lds_atomic(LowerContext&, const Instruction&);
void lower_lds_exchanges(LowerContext&, const Instruction&);
void lower_lds_count(LowerContext&, const Instruction&);
void lower_lds_second_place(LowerContext&, const Instruction&);
void lower_lds_conditional(LowerContext&, const Instruction&);
void lower_flat_load(LowerContext&, const Instruction&);
void lower_flat_store(LowerContext&, const Instruction&);
void lower_flat_atomic(LowerContext&, const Instruction&);
/// Instructions with a DPP or SDWA dword: the sources first, then what the row says.
void lower_lane_form(LowerContext&, const Instruction&);
/// Instructions with mul:2, mul:4 or div:2: what the row says, and the result scaled.
void lower_scaled_output(LowerContext&, const Instruction&);
void lower_mad64(LowerContext&, const Instruction&);
void lower_v16(LowerContext&, const Instruction&);
/// Arithmetic of floats of any width in the mode of the instruction.
void lower_real(LowerContext&, const Instruction&);
void lower_real_extreme(LowerContext&, const Instruction&);
void lower_real_round(LowerContext&, const Instruction&);
void lower_approximate(LowerContext&, const Instruction&);
void lower_turns(LowerContext&, const Instruction&);
/// Functions of halves by way of floats.
void lower_half_function(LowerContext&, const Instruction&);
void lower_half_turns(LowerContext&, const Instruction&);
void lower_half_mad(LowerContext&, const Instruction&);
void lower_trig_preop(LowerContext&, const Instruction&);
void lower_cube(LowerContext&, const Instruction&);
void lower_rcp_wide(LowerContext&, const Instruction&);
void lower_mul_legacy(LowerContext&, const Instruction&);
void lower_extreme_legacy(LowerContext&, const Instruction&);
void lower_mad_legacy(LowerContext&, const Instruction&);
void lower_mad_constant(LowerContext&, const Instruction&);
void lower_fract(LowerContext&, const Instruction&);
void lower_frexp_exp(LowerContext&, const Instruction&);
void lower_frexp_mant(LowerContext&, const Instruction&);
void lower_ldexp(LowerContext&, const Instruction&);
void lower_three_extremes(LowerContext&, const Instruction&);
void lower_median(LowerContext&, const Instruction&);
void lower_convert(LowerContext&, const Instruction&);
void lower_convert_byte(LowerContext&, const Instruction&);
void lower_convert_nibble(LowerContext&, const Instruction&);
void lower_convert_rounded(LowerContext&, const Instruction&);
void lower_pack_halves(LowerContext&, const Instruction&);
void lower_pack_normal(LowerContext&, const Instruction&);
void lower_pack_byte(LowerContext&, const Instruction&);
void lower_pack_clamped(LowerContext&, const Instruction&);
void lower_div_scale(LowerContext&, const Instruction&);
void lower_div_fmas(LowerContext&, const Instruction&);
void lower_div_fixup(LowerContext&, const Instruction&);
void lower_vcmp_any(LowerContext&, const Instruction&);
void lower_vcmp_class(LowerContext&, const Instruction&);
void lower_v_integer(LowerContext&, const Instruction&);
void lower_v_extremes(LowerContext&, const Instruction&);
void lower_v_median(LowerContext&, const Instruction&);
void lower_v_first_bit(LowerContext&, const Instruction&);
void lower_v_count(LowerContext&, const Instruction&);
void lower_v_mask(LowerContext&, const Instruction&);
void lower_mulhi24(LowerContext&, const Instruction&);
void lower_alignbyte(LowerContext&, const Instruction&);
void lower_perm(LowerContext&, const Instruction&);
void lower_sad(LowerContext&, const Instruction&);
void lower_sad_wide(LowerContext&, const Instruction&);
void lower_lerp(LowerContext&, const Instruction&);
void lower_movrel(LowerContext&, const Instruction&);
void lower_index_mode(LowerContext&, const Instruction&);
void lower_mad16(LowerContext&, const Instruction&);
void lower_scmov(LowerContext&, const Instruction&);
void lower_sbits(LowerContext&, const Instruction&);
void lower_sfirst_bit(LowerContext&, const Instruction&);
void lower_sabs(LowerContext&, const Instruction&);
void lower_sbfm64(LowerContext&, const Instruction&);
void lower_sbfe64(LowerContext&, const Instruction&);
void lower_sbitcmp(LowerContext&, const Instruction&);
void lower_sbitset(LowerContext&, const Instruction&);
void lower_scmp64(LowerContext&, const Instruction&);
void lower_squads(LowerContext&, const Instruction&);
void lower_smovrel(LowerContext&, const Instruction&);
void lower_getreg(LowerContext&, const Instruction&);
void lower_setreg(LowerContext&, const Instruction&);
void lower_clock(LowerContext&, const Instruction&);
void lower_trap(LowerContext&, const Instruction&);
void lower_barrier(LowerContext&, const Instruction&);
void lower_nothing(LowerContext&, const Instruction&);
ir::CacheFacts cache_facts(const Instruction&);
/// Control flow is built by the driver, which knows these two by their address.
void lower_branch(LowerContext&, const Instruction&);
void lower_end(LowerContext&, const Instruction&);

}  // namespace lanewise::gcn
