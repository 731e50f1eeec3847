// What the table's lowering functions work with, and their names.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

// What every lowering function writes.
using ir::AtomOp, ir::CacheOp, ir::Cond, ir::imm, ir::Op, ir::Operand, ir::Reg, ir::Round;
using ir::Space, ir::SReg, ir::Type, ir::Width;

/// An instruction that decodes but has no meaning here; becomes a diagnostic at its place.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Does the kernel ask for more of the condition code than its carry? Only then is more of it kept.
bool reads_flags(const Kernel& kernel);

/// The condition code beside the carry. An addition of three numbers can carry twice.
enum class Flag : uint8_t { zero, sign, overflow, second_carry };

/// Guest state of one kernel as IR registers, and the operands of the current instruction.
class LowerContext : public ir::Builder {
 public:
  /// [Ra + imm] of the current instruction as an address for one space.
  struct Address {
    Operand base;        ///< b64, or b32 in the shared and local spaces
    int64_t offset = 0;  ///< for Mem::offset
  };

  LowerContext(ir::Program& program, const Kernel& kernel);

  void begin(const Instruction& i);
  const ir::Guard& guard() const { return guard_; }
  /// From here on lanes may lose the right to store; see kStoresEnabled.
  Reg track_stores();
  /// What the current instruction emits from here on leaves out lanes that may not store.
  void leave_out_lanes_without_stores();
  /// The current guard and `a` as one guard.
  ir::Guard narrowed(Operand a);

  /// The operand's 32 bits as they are: no negation, no half selection.
  Operand raw(const Instruction& i, Role role);
  bool negated(const Instruction& i, Role role) const;
  bool absolute(const Instruction& i, Role role) const;
  bool inverted(const Instruction& i, Role role) const;
  bool high_half(const Instruction& i, Role role) const;
  bool has_cc(const Instruction& i) const;
  /// A float operand with |x| and -x applied.
  Operand fsource(const Instruction& i, Role role);
  /// A predicate operand with ! applied.
  Operand pred_source(const Instruction& i, Role role);

  /// Destination register; RZ gives a register nobody reads.
  Reg destination(const Instruction& i) { return writable(reg_number(i, Role::d)); }
  void write_predicate(const Instruction& i, Role role, Operand value);
  Reg writable(unsigned number);
  Operand readable(unsigned number);
  Reg predicate(unsigned number);
  Reg carry() { return lazily(carry_, Width::pred, "CC.C"); }
  Reg flag(Flag f);
  bool tracks_flags() const { return tracks_flags_; }
  /// What the last LEA.CC wrote: the lower half of the address whose upper half LEA.HI.X makes.
  /// Only kept where a LEA asks whether an address is outside the windows.
  Reg lea_low() { return lazily(lea_low_, Width::b32, "LEA.LOW"); }
  bool tests_windows() const { return tests_windows_; }
  /// What the last barrier reduction found, as a number and as a predicate.
  Reg barrier_count() { return lazily(barrier_count_, Width::b32, "BAR.RESULT"); }
  Reg barrier_vote() { return lazily(barrier_vote_, Width::pred, "BAR.RESULT.P"); }

  unsigned reg_number(const Instruction& i, Role role) const;
  /// Registers number..number+count-1; throws when they leave the file or are not aligned.
  void check_vector(unsigned number, unsigned count) const;
  Operand constant(unsigned bank, unsigned offset);
  /// Numbers of the constant banks that hold something.
  std::vector<unsigned> banks() const;
  /// Bank 2 or 3; throws when the input does not say what it holds.
  const ConstantBank& constant_bank(unsigned bank) const;
  /// The reference whose handle the loader puts into this word of bank 0, or null.
  const Reference* reference_at(unsigned offset) const;
  /// The guest address of a module variable.
  Operand symbol(const std::string& name, int64_t addend = 0);
  const Relocation* relocation(const Instruction& i) const;
  /// 64 bits wide; without .E the 32-bit sum, zero-extended.
  Address wide_address(const Instruction& i);
  /// 32 bits wide: an offset in the shared or the local window.
  Address window_address(const Instruction& i);
  /// A pair of registers as one b64 value; RZ gives 0.
  Operand pair(unsigned number);
  /// The operand's 64 bits: a pair, two words of a constant, a double, or a number with its sign.
  Operand wide_raw(const Instruction& i, Role role);
  /// The destination pair takes a b64 value; RZ takes nothing.
  void write_wide(const Instruction& i, Reg value);
  /// The lower word of a window's address.
  Reg window(SReg which) { return make(Op::trunc32, Type::u32, {special(which, Type::u64)}); }
  /// True in every lane of a launch that runs with the policy sass.sparse=absent.
  Reg sparse_absent();

 private:
  Reg lazily(Reg& r, Width width, const char* name) {
    if (!r.valid()) r = program().add_reg(width, name);
    return r;
  }

  const Kernel& kernel_;
  std::map<unsigned, Reg> regs_, preds_;
  ir::Guard guard_;
  Reg carry_, flags_[4], lea_low_;
  Reg stores_enabled_, sparse_absent_, barrier_count_, barrier_vote_;
  bool tracks_flags_, tests_windows_;
  uint64_t pc_ = 0;  ///< of the instruction that is being lowered
};

/// What a form cannot do here ends its translation with the reason.
inline void refuse(bool condition, const char* what) {
  if (condition) throw Unsupported(what);
}

struct AccessSize {
  Type elem;
  uint8_t count;
};
/// What a size code says; throws for a code that is no size.
AccessSize access_size(const Instruction& i);

/// Byte address a branch goes to; the address of a control word means the instruction behind it.
uint64_t branch_target(const Instruction& i);

// --- predicates and flags (lower_flags.cpp) ----------------------------------------------------
Operand inverse(LowerContext& c, Operand p);
/// AND, OR or XOR by the code of a .bop modifier.
Operand combine(LowerContext& c, uint64_t bop, Operand x, Operand y);
/// x ? y by the instruction's condition and sign; with .X the flags of the lower words join in.
Operand integer_compare(LowerContext& c, const Instruction& i, Operand x, Operand y);
/// CC.EQ and the like; true where the instruction has no test.
Operand flag_test(LowerContext& c, const Instruction& i);
Operand flag_test(LowerContext& c, uint64_t code);
/// For an instruction with .CC. The zero flag of .X instructions is that of all words so far.
void set_flags(LowerContext& c, const Instruction& i, Operand result, Operand carry,
               Operand overflow);
/// The flags of a compare: as after a subtraction that cannot overflow.
void set_order(LowerContext& c, Operand less, Operand equal);
Operand is_zero(LowerContext& c, const Instruction& i, Operand result);
Operand overflows(LowerContext& c, Operand a, Operand b, Operand sum);

/// The result of a logic instruction: its register, its flags and what .Z and .NZ ask.
void write_logic(LowerContext& c, const Instruction& i, Operand result);
/// d = x + y + carry in, and the flags when asked for.
void add_into(LowerContext& c, const Instruction& i, Operand x, Operand y, Operand carry_in);
/// x ? y by the instruction's condition, in a float type.
Operand float_compare(LowerContext& c, const Instruction& i, Type type, Operand x, Operand y);
/// All ones, or 1.0 with .BF, where it is true; else zero. The flags are those of a logic
/// instruction with that result.
void write_truth(LowerContext& c, const Instruction& i, Operand truth);
/// Both predicates of a compare: P = test op R, Q = !test op R.
void write_test(LowerContext& c, const Instruction& i, Operand test);

/// Of two halves that an instruction holds as numbers, the one for the lower half; the upper one is
/// role b.
inline constexpr Role kLowNumber = Role::test;

// What the rows name, a file at a time.
Lowering lower_mov, lower_iadd, lower_iadd3, lower_iscadd, lower_shift, lower_logic, lower_sel,
    lower_isetp, lower_xmad, lower_lea;
Lowering lower_fadd, lower_fmul, lower_ffma;
Lowering lower_ldg, lower_stg, lower_ld, lower_st, lower_ldl, lower_stl, lower_lds, lower_sts,
    lower_ldc;
Lowering lower_atom, lower_atom_cas, lower_red, lower_atoms, lower_atoms_cas;
Lowering lower_cctl, lower_shfl, lower_membar, lower_s2r, lower_bar, lower_nop, lower_kil;
Lowering lower_csetp, lower_psetp, lower_pset, lower_cset, lower_r2p, lower_p2r;
Lowering lower_shf, lower_lop3, lower_bfe, lower_popc, lower_flo, lower_imnmx, lower_prmt,
    lower_icmp, lower_iset, lower_vote, lower_bfi, lower_b2r, lower_trap;
Lowering lower_fsetp, lower_fset, lower_fcmp, lower_fmnmx, lower_i2f, lower_f2i, lower_i2i,
    lower_f2f, lower_rro, lower_mufu;
Lowering lower_dadd, lower_dmul, lower_dfma, lower_dmnmx, lower_dsetp, lower_dset, lower_fchk;
Lowering lower_imul, lower_imad;
Lowering lower_vadd, lower_vabsdiff, lower_vabsdiff4, lower_vminmax, lower_vset, lower_vsetp,
    lower_vshift, lower_vmad;
Lowering lower_tex, lower_texs, lower_tld, lower_tlds, lower_tld4, lower_tld4s, lower_txd,
    lower_txq;
Lowering lower_suld, lower_sust, lower_sured, lower_suatom, lower_suatom_cas;
Lowering lower_hadd2, lower_hmul2, lower_hfma2, lower_hset2, lower_hsetp2;
Lowering lower_idp;
/// Control flow is built by the driver, which knows these by their address. Pushes are SSY, PBK,
/// PCNT, PRET and CAL, pops SYNC, BRK, CONT and RET.
Lowering lower_push, lower_pop, lower_bra, lower_brx, lower_exit;
ir::CacheFacts cache_facts(const Instruction&);

}  // namespace lanewise::sass
