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

/// Does the kernel ask for more of the condition code than its carry? Only then is more of it kept.
bool reads_flags(const Kernel& kernel);

/// The condition code beside the carry. An addition of three numbers can carry twice.
enum class Flag : uint8_t { zero, sign, overflow, second_carry };

/// Guest state of one kernel as IR registers, and the operands of the current instruction.
class LowerContext {
 public:
  /// [Ra + imm] of the current instruction as an address for one space.
  struct Address {
    ir::Operand base;    ///< b64, or b32 in the shared and local spaces
    int64_t offset = 0;  ///< for Mem::offset
  };

  LowerContext(ir::Program& program, const Kernel& kernel);

  ir::Builder b;

  void begin(const Instruction& i);
  const ir::Guard& guard() const { return guard_; }
  /// From here on lanes may lose the right to store; see kStoresEnabled.
  ir::Reg track_stores();
  /// What the current instruction emits from here on leaves out lanes that may not store.
  void leave_out_lanes_without_stores();
  /// The current guard and `a` as one guard.
  ir::Guard narrowed(ir::Operand a);

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
  ir::Reg carry() { return lazily(carry_, ir::Width::pred, "CC.C"); }
  ir::Reg flag(Flag f);
  bool tracks_flags() const { return tracks_flags_; }
  /// What the last LEA.CC wrote: the lower half of the address whose upper half LEA.HI.X makes.
  /// Only kept where a LEA asks whether an address is outside the windows.
  ir::Reg lea_low() { return lazily(lea_low_, ir::Width::b32, "LEA.LOW"); }
  bool tests_windows() const { return tests_windows_; }
  /// What the last barrier reduction found, as a number and as a predicate.
  ir::Reg barrier_count() { return lazily(barrier_count_, ir::Width::b32, "BAR.RESULT"); }
  ir::Reg barrier_vote() { return lazily(barrier_vote_, ir::Width::pred, "BAR.RESULT.P"); }

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
  /// Numbers of the constant banks that hold something.
  std::vector<unsigned> banks() const;
  /// Bank 2 or 3; throws when the input does not say what it holds.
  const ConstantBank& constant_bank(unsigned bank) const;
  /// The reference whose handle the loader puts into this word of bank 0, or null.
  const Reference* reference_at(unsigned offset) const;
  /// The guest address of a module variable.
  ir::Operand symbol(const std::string& name, int64_t addend = 0);
  const Relocation* relocation(const Instruction& i) const;
  /// 64 bits wide; without .E the 32-bit sum, zero-extended.
  Address wide_address(const Instruction& i);
  /// 32 bits wide: an offset in the shared or the local window.
  Address window_address(const Instruction& i);
  /// A pair of registers as one b64 value; RZ gives 0.
  ir::Operand pair(unsigned number);
  /// The operand's 64 bits: a pair, two words of a constant, a double, or a number with its sign.
  ir::Operand wide_raw(const Instruction& i, Role role);
  /// The destination pair takes a b64 value; RZ takes nothing.
  void write_wide(const Instruction& i, ir::Reg value);
  /// True in every lane of a launch that runs with the policy sass.sparse=absent.
  ir::Reg sparse_absent();

 private:
  ir::Operand special(ir::SReg s);
  ir::Reg lazily(ir::Reg& r, ir::Width width, const char* name) {
    if (!r.valid()) r = b.program().add_reg(width, name);
    return r;
  }

  const Kernel& kernel_;
  std::map<unsigned, ir::Reg> regs_, preds_;
  ir::Guard guard_;
  ir::Reg carry_, flags_[4], lea_low_;
  ir::Reg stores_enabled_, sparse_absent_, barrier_count_, barrier_vote_;
  bool tracks_flags_, tests_windows_;
  uint64_t pc_ = 0;  ///< of the instruction that is being lowered
};

/// What a form cannot do here ends its translation with the reason.
inline void refuse(bool condition, const char* what) {
  if (condition) throw Unsupported(what);
}

struct AccessSize {
  ir::Type elem;
  uint8_t count;
};
/// What a size code says; throws for a code that is no size.
AccessSize access_size(const Instruction& i);

/// Byte address a branch goes to; the address of a control word means the instruction behind it.
uint64_t branch_target(const Instruction& i);

// --- predicates and flags (lower_flags.cpp) ----------------------------------------------------
ir::Operand inverse(LowerContext& c, ir::Operand p);
/// AND, OR or XOR by the code of a .bop modifier.
ir::Operand combine(LowerContext& c, uint64_t bop, ir::Operand x, ir::Operand y);
/// x ? y by the instruction's condition and sign; with .X the flags of the lower words join in.
ir::Operand integer_compare(LowerContext& c, const Instruction& i, ir::Operand x, ir::Operand y);
/// CC.EQ and the like; true where the instruction has no test.
ir::Operand flag_test(LowerContext& c, const Instruction& i);
ir::Operand flag_test(LowerContext& c, uint64_t code);
/// For an instruction with .CC. The zero flag of .X instructions is that of all words so far.
void set_flags(LowerContext& c, const Instruction& i, ir::Operand result, ir::Operand carry,
               ir::Operand overflow);
/// The flags of a compare: as after a subtraction that cannot overflow.
void set_order(LowerContext& c, ir::Operand less, ir::Operand equal);
ir::Operand is_zero(LowerContext& c, const Instruction& i, ir::Operand result);
ir::Operand overflows(LowerContext& c, ir::Operand a, ir::Operand b, ir::Operand sum);

/// The result of a logic instruction: its register, its flags and what .Z and .NZ ask.
void write_logic(LowerContext& c, const Instruction& i, ir::Operand result);
/// d = x + y + carry in, and the flags when asked for.
void add_into(LowerContext& c, const Instruction& i, ir::Operand x, ir::Operand y,
              ir::Operand carry_in);
/// x ? y by the instruction's condition, in a float type.
ir::Operand float_compare(LowerContext& c, const Instruction& i, ir::Type type, ir::Operand x,
                          ir::Operand y);
/// All ones, or 1.0 with .BF, where it is true; else zero. The flags are those of a logic
/// instruction with that result.
void write_truth(LowerContext& c, const Instruction& i, ir::Operand truth);
/// Both predicates of a compare: P = test op R, Q = !test op R.
void write_test(LowerContext& c, const Instruction& i, ir::Operand test);

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
void lower_ld(LowerContext&, const Instruction&);
void lower_st(LowerContext&, const Instruction&);
void lower_ldl(LowerContext&, const Instruction&);
void lower_stl(LowerContext&, const Instruction&);
void lower_lds(LowerContext&, const Instruction&);
void lower_sts(LowerContext&, const Instruction&);
void lower_ldc(LowerContext&, const Instruction&);
void lower_atom(LowerContext&, const Instruction&);
void lower_atom_cas(LowerContext&, const Instruction&);
void lower_red(LowerContext&, const Instruction&);
void lower_atoms(LowerContext&, const Instruction&);
void lower_atoms_cas(LowerContext&, const Instruction&);
void lower_cctl(LowerContext&, const Instruction&);
void lower_shfl(LowerContext&, const Instruction&);
void lower_membar(LowerContext&, const Instruction&);
ir::CacheFacts cache_facts(const Instruction&);
void lower_s2r(LowerContext&, const Instruction&);
void lower_bar(LowerContext&, const Instruction&);
void lower_nop(LowerContext&, const Instruction&);
void lower_lea(LowerContext&, const Instruction&);
void lower_csetp(LowerContext&, const Instruction&);
void lower_shf(LowerContext&, const Instruction&);
void lower_lop3(LowerContext&, const Instruction&);
void lower_psetp(LowerContext&, const Instruction&);
void lower_bfe(LowerContext&, const Instruction&);
void lower_popc(LowerContext&, const Instruction&);
void lower_flo(LowerContext&, const Instruction&);
void lower_imnmx(LowerContext&, const Instruction&);
void lower_prmt(LowerContext&, const Instruction&);
void lower_icmp(LowerContext&, const Instruction&);
void lower_iset(LowerContext&, const Instruction&);
void lower_vote(LowerContext&, const Instruction&);
void lower_fsetp(LowerContext&, const Instruction&);
void lower_fset(LowerContext&, const Instruction&);
void lower_fcmp(LowerContext&, const Instruction&);
void lower_fmnmx(LowerContext&, const Instruction&);
void lower_i2f(LowerContext&, const Instruction&);
void lower_f2i(LowerContext&, const Instruction&);
void lower_i2i(LowerContext&, const Instruction&);
void lower_f2f(LowerContext&, const Instruction&);
void lower_rro(LowerContext&, const Instruction&);
void lower_mufu(LowerContext&, const Instruction&);
void lower_dadd(LowerContext&, const Instruction&);
void lower_dmul(LowerContext&, const Instruction&);
void lower_dfma(LowerContext&, const Instruction&);
void lower_dmnmx(LowerContext&, const Instruction&);
void lower_dsetp(LowerContext&, const Instruction&);
void lower_dset(LowerContext&, const Instruction&);
void lower_fchk(LowerContext&, const Instruction&);
void lower_bfi(LowerContext&, const Instruction&);
void lower_imul(LowerContext&, const Instruction&);
void lower_imad(LowerContext&, const Instruction&);
void lower_pset(LowerContext&, const Instruction&);
void lower_cset(LowerContext&, const Instruction&);
void lower_r2p(LowerContext&, const Instruction&);
void lower_p2r(LowerContext&, const Instruction&);
void lower_vadd(LowerContext&, const Instruction&);
void lower_vabsdiff(LowerContext&, const Instruction&);
void lower_vabsdiff4(LowerContext&, const Instruction&);
void lower_vmnmx(LowerContext&, const Instruction&);
void lower_vset(LowerContext&, const Instruction&);
void lower_vsetp(LowerContext&, const Instruction&);
void lower_vshift(LowerContext&, const Instruction&);
void lower_vmad(LowerContext&, const Instruction&);
void lower_tex(LowerContext&, const Instruction&);
void lower_texs(LowerContext&, const Instruction&);
void lower_tld(LowerContext&, const Instruction&);
void lower_tlds(LowerContext&, const Instruction&);
void lower_tld4(LowerContext&, const Instruction&);
void lower_tld4s(LowerContext&, const Instruction&);
void lower_txd(LowerContext&, const Instruction&);
void lower_txq(LowerContext&, const Instruction&);
void lower_suld(LowerContext&, const Instruction&);
void lower_sust(LowerContext&, const Instruction&);
void lower_sured(LowerContext&, const Instruction&);
void lower_suatom(LowerContext&, const Instruction&);
void lower_suatom_cas(LowerContext&, const Instruction&);
void lower_b2r(LowerContext&, const Instruction&);
void lower_trap(LowerContext&, const Instruction&);
void lower_kil(LowerContext&, const Instruction&);
/// Control flow is built by the driver, which knows these by their address.
void lower_push(LowerContext&, const Instruction&);  ///< SSY, PBK, PCNT, PRET, CAL
void lower_pop(LowerContext&, const Instruction&);   ///< SYNC, BRK, CONT, RET
void lower_bra(LowerContext&, const Instruction&);
void lower_brx(LowerContext&, const Instruction&);
void lower_exit(LowerContext&, const Instruction&);

}  // namespace lanewise::sass
