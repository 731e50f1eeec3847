// What one row of the instruction table says: pattern, modifiers, operands, meaning. The same row
// drives encoding, decoding, parsing, printing, lowering and coverage; an instruction in memory is
// just its form and its 64-bit word.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/isa/coverage.hpp"

namespace lanewise::sass {

struct Instruction;
class LowerContext;
using Lowering = void(LowerContext&, const Instruction&);
using LowerFn = Lowering*;

/// `len` bits of the word from bit `pos` on; len 0 = the form does not have this field.
struct Field {
  uint8_t pos = 0, len = 0;
  bool present() const { return len != 0; }
  constexpr uint64_t mask() const { return ((uint64_t{1} << len) - 1) << pos; }
  uint64_t get(uint64_t word) const { return (word & mask()) >> pos; }
  void set(uint64_t& word, uint64_t value) const {
    word = (word & ~mask()) | ((value << pos) & mask());
  }
};

enum class ModId : uint8_t {
  sat,
  x,
  ext,      ///< .E: 64-bit address
  cop,      ///< cache operator
  size,     ///< memory size
  cond,     ///< compare
  signed_,  ///< 1 = signed
  bop,      ///< .AND .OR .XOR
  round,    ///< ir::Round order rn rm rp rz
  ftz,      ///< 1 = .FTZ, 2 = .FMZ
  scale,    ///< FMUL .D2 .. .M2
  wrap,     ///< .W
  psl,
  mrg,
  acc,    ///< XMAD .CLO .CHI .CSFU .CBCC
  signs,  ///< XMAD bit 0 = A signed, bit 1 = B signed
  parts,  ///< IADD3 .RS .LS
  op,     ///< LOP operation
  scope,  ///< MEMBAR
  invalidate,
  uniform,  ///< BRA.U, LDS.U
  limit,    ///< BRA.LMT
  type,     ///< of atomic operations
  cache,    ///< CCTL, CCTLL: which cache
  mode,     ///< LDC addressing, SHFL
  wide,     ///< .64 of compare and swap
  spin,     ///< ATOMS.CAST.SPIN
  trigger,  ///< NOP.TRIG
  greater,  ///< VMNMX.MX
  plus,     ///< .PO
  other,    ///< of textures, surfaces and graphics: text alone
};

/// One spelling of a modifier's value, without the leading dot. Empty text: the value prints
/// nothing. `alias`: accepted in text, never printed.
struct Code {
  uint8_t value;
  std::string_view text;
  bool alias = false;
};
struct Mod {
  ModId id;
  Field field;
  std::vector<Code> codes;
  Field high = {};  ///< upper bits of the value, where they stand apart

  uint64_t mask() const { return field.mask() | high.mask(); }
  uint64_t get(uint64_t word) const { return high.get(word) << field.len | field.get(word); }
  void set(uint64_t& word, uint64_t value) const {
    field.set(word, value);
    if (high.present()) high.set(word, value >> field.len);
  }
};

/// How many registers a field asks for: the digit at its value's place.
struct Count {
  Field field;
  std::string_view digits;
  unsigned get(uint64_t word) const { return static_cast<unsigned>(digits[field.get(word)] - '0'); }
};

/// What a lowering function asks for; d is the destination, q the second predicate destination.
enum class Role : uint8_t { d, a, b, c, p, q, r, addr, target, test };

struct OperandSpec {
  enum class Kind : uint8_t {
    reg,
    pred,
    imm,           ///< integer; `sign` field extends it, or the field's own top bit when is_signed
    fimm,          ///< top bits of a float, `sign` field is its sign bit
    cbank,         ///< c[bank][offset]
    address,       ///< [Ra + imm]
    target,        ///< relative branch target
    sreg,          ///< SR_TID.X ...
    sb,            ///< SB0..SB5
    sbmask,        ///< {0,2}
    cindex,        ///< c[bank][Ra + imm]
    next,          ///< the register(s) behind the one in `field`: .64 skips two
    zero,          ///< always RZ, no field
    cctest,        ///< CC.EQ: a condition of the flags
    flags,         ///< CC, no field
    bits,          ///< PR or CC: what R2P and P2R move
    indirect,      ///< Ra and a signed offset: target of BRX and JMX
    signs,         ///< PPPPNPZP: two letters for each code of two bits
    named,         ///< ARRAY_2D, RGBA: one of `names`
    attribute,     ///< a[imm], without a register
    attribute_at,  ///< a[Ra + imm]
  };
  Kind kind = Kind::reg;
  Role role = Role::d;
  Field field = {};
  Field sign = {};                     ///< imm, fimm: the sign bit kept apart
  Field neg = {}, abs = {}, inv = {};  ///< source modifiers: -x, |x|, ~x (pred: !p is `neg`)
  Field high = {};         ///< .H1; with two bits .H0 as well, and the whole register otherwise
  Field cc = {};           ///< .CC on a destination
  bool is_signed = false;  ///< imm: two's complement in its own field
  bool inverted = false;   ///< pred stored bit-inverted (sparse LDG)
  bool pattern = false;    ///< imm: printed as the field's bits, whatever its sign
  bool prefixed = false;   ///< imm: its minus sign stands in front, not .NEG behind
  bool spaced = false;     ///< prints c[0x0] [0x8] with a blank, as nvdisasm does for XMAD
  bool optional = false;  ///< not printed when it has the value left_out(); may be left out in text
  bool never_zero = false;  ///< reg: RZ cannot stand here; 255 has no name
  bool wide = false;        ///< 64 bits: a pair of registers, two words of a constant, a double
  Field format = {};        ///< fimm: 1 = half precision, 3 = double, else single
  /// A suffix .B1 or .H1 that depends on a type: names[part_key : part], empty for the whole.
  Field part = {}, part_key = {};
  const std::string_view* part_names = nullptr;
  const std::string_view* names = nullptr;  ///< named: by value, empty where there is no such code
  std::vector<Count> counts =
      {};              ///< registers it takes, added up; none = one, unless a size says more
  int8_t reuse = -1;   ///< its flag of the operand cache; -1 = none, text shows none
  uint8_t shift = 0;   ///< address: the field holds offset >> shift
  uint8_t absent = 0;  ///< optional and no predicate: the value that stands for nothing written

  /// Field of an optional operand that is not written.
  uint64_t left_out() const { return kind == Kind::pred ? 7 : absent; }

  template <typename T>
  OperandSpec with(T OperandSpec::*member, std::type_identity_t<T> value) const {
    OperandSpec o = *this;
    o.*member = std::move(value);
    return o;
  }
  OperandSpec with_neg(uint8_t pos) const { return with(&OperandSpec::neg, {pos, 1}); }
  OperandSpec with_abs(uint8_t pos) const { return with(&OperandSpec::abs, {pos, 1}); }
  OperandSpec with_inv(uint8_t pos) const { return with(&OperandSpec::inv, {pos, 1}); }
  OperandSpec with_high(uint8_t pos) const { return with(&OperandSpec::high, {pos, 1}); }
  OperandSpec with_halves(uint8_t pos) const { return with(&OperandSpec::high, {pos, 2}); }
  OperandSpec with_cc(uint8_t pos) const { return with(&OperandSpec::cc, {pos, 1}); }
  OperandSpec with_format(Field f) const { return with(&OperandSpec::format, f); }
  OperandSpec as_wide() const { return with(&OperandSpec::wide, true); }
  OperandSpec with_part(Field select, Field key, const std::string_view* part) const {
    return with(&OperandSpec::part, select)
        .with(&OperandSpec::part_key, key)
        .with(&OperandSpec::part_names, part);
  }
  OperandSpec taking(std::vector<Count> registers) const {
    return with(&OperandSpec::counts, std::move(registers));
  }
};

/// Where control goes behind an instruction.
enum class Flow : uint8_t {
  next,
  branch,    ///< to the target, or on
  indirect,  ///< to what a register says
  exit,
  push,  ///< on, with a target on the branch stack
  call,  ///< to the target, with what comes next on the branch stack
  pop,   ///< to the highest target of the row's kind, or on
};
/// Kinds of targets on the branch stack.
enum class Token : uint8_t { sync, brk, cont, ret };

/// What else is true of a row. Analyses and lowering ask these, never mnemonics.
enum Trait : uint32_t {
  kPlusOne = 1U << 0,        ///< adds one more (.PO)
  kUpperWord = 1U << 1,      ///< works on the upper of two words (LEA.HI)
  kLeft = 1U << 2,           ///< shifts to the left
  kArrives = 1U << 3,        ///< does not wait at the barrier
  kLocalMemory = 1U << 4,    ///< its addresses lie, or can lie, in the lane's own memory
  kStores = 1U << 5,         ///< what stands in the place of a destination is read
  kAtomic = 1U << 6,         ///< its type says how wide the data is
  kReadsFlags = 1U << 7,     ///< the condition code, whatever the modifiers say
  kReadsAllFlags = 1U << 8,  ///< with .X more of the condition code than the carry
  kWritesPredicates = 1U << 9,
  kReadsPredicates = 1U << 10,
  kSourcesRead = 1U << 11,  ///< behind it, all sources of earlier instructions are read
  kWaits = 1U << 12,        ///< for scoreboards that it names
  kKills = 1U << 13,        ///< lanes lose the right to store
  kAsksWindows = 1U << 14,  ///< whether an address is outside the windows
  kControlsCache = 1U << 15,
  kLocalLines = 1U << 17,    ///< cache lines of the lane's own memory
  kTextureLines = 1U << 18,  ///< lines of texture headers
  kNoResult = 1U << 19,      ///< the document gives it no scoreboard for a result
  kAbsolute = 1U << 20,      ///< goes to the address of a function, which the loader puts in
  kTexture = 1U << 21,       ///< of a texture or a surface; operands say what registers they take
  kGraphics = 1U << 22,      ///< works on attributes and pixels; operands as above
  kFilters = 1U << 23,       ///< makes one value of several texels
  kFormatted = 1U << 24,     ///< through the surface's format, not by bytes
  kConverts = 1U << 16,      ///< its formats say how wide its operands are
};

struct Form {
  std::string mnemonic;  ///< may contain a dot where the second part is fixed: DEPBAR.LE
  Flow flow = Flow::next;
  Token token = Token::sync;  ///< of push, call and pop
  uint32_t traits = 0;
  bool is(Trait t) const { return (traits & t) != 0; }
  uint64_t mask = 0, match = 0;
  uint64_t opcode = 0;  ///< of the mask: what makes it this instruction, without choices of the row
  uint64_t ignored = 0;  ///< bits the hardware does not look at
  std::vector<Mod> mods;
  std::vector<OperandSpec> operands;
  LowerFn lower = nullptr;  ///< null: known and encodable, not executable yet
  isa::Claim claim = isa::Claim::none;
  uint16_t min_arch = 50, max_arch = 999;
  bool has_guard = true;
  bool variable_latency = false;  ///< its control field may name scoreboards
  bool shows_reuse = false;       ///< it has operands in the operand cache, and text shows it
  bool tight = false;             ///< no blank before the first operand: CCTL.QRY1[R2]
  bool ordered = false;           ///< its modifiers are only distinguished by their order
  bool decode_only = false;       ///< another row writes what this one prints
  bool phased = false;            ///< control bits 17 and 18 are a phase, which text shows: .T .P
  bool unknown = false;           ///< stands for a word that no row has

  bool fits(unsigned arch) const { return arch >= min_arch && arch <= max_arch; }

  const Mod* mod(ModId id) const;
  const OperandSpec* operand(Role role) const;
};

inline constexpr Field kGuard{16, 3}, kGuardNegate{19, 1};
inline constexpr unsigned kRZ = 255, kPT = 7, kAlways = 15;  ///< CC.T

/// "R", "c[]", "[R]": what stands at an operand's place.
std::string_view kind_name(OperandSpec::Kind kind);

/// The whole table, built once.
const std::vector<Form>& forms();
/// Those whose mnemonic begins with this word ("LDG" of "LDG.E"), in the table's order.
std::span<const Form* const> forms_named(std::string_view word);
/// Every bit that the row gives a meaning, or says to be meaningless.
uint64_t covered_bits(const Form& f);
/// The row of a word, or null. Bits outside every field must be as the row says.
const Form* decode_form(uint64_t word, unsigned arch);
/// What stands at the place of a word without a row.
const Form& unknown_form();
/// Why a row without a lowering function is not executed.
std::string not_executed(const Form& f);
/// The mnemonic that a word without a row would have, as far as its opcode says; else empty.
std::string_view opcode_name(uint64_t word);

/// SR_TID.X and the like by their codes, empty where there is none.
const std::array<std::string_view, 256>& special_registers();
/// Names of the 32 tests of the flags, by code.
const std::vector<std::string_view>& flag_tests();

}  // namespace lanewise::sass
