// What one row of the GCN instruction table says. Rows drive the assembler, the disassembler, the
// lowering and coverage.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/coverage.hpp"

namespace lanewise::gcn {

struct Instruction;
class LowerContext;
using Lowering = void(LowerContext&, const Instruction&);
using LowerFn = Lowering*;

enum class Gen : uint8_t { gfx6, gfx7, gfx8 };

enum class Encoding : uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smrd,
  vop1,
  vop2,
  vopc,
  vop3,
  mubuf,
  mtbuf,
  ds,
  flat,
  mimg,
  exp,
  vintrp,
  data,  ///< words that no row fits
};

constexpr bool is_buffer(Encoding e) {
  return e == Encoding::mubuf || e == Encoding::mtbuf;
}

/// Where an operand goes in the encoding, in the order of the text.
enum class Slot : uint8_t {
  sdst,
  ksrc,  ///< SOPK: a source in the place of sdst
  ssrc0,
  ssrc1,
  sbase,  ///< SMRD base pair
  soff,   ///< SMRD offset: immediate or SGPR
  vdst,
  src0,  ///< 9 bits: anything
  src1,  ///< VOP3: 9 bits
  src2,
  vsrc1,     ///< VOP2, VOPC: a VGPR
  vcc,       ///< always vcc; only text
  mask_dst,  ///< VOP3: SGPR pair written by compares and carries
  mask_src,  ///< VOP3 src2: SGPR pair read as a lane mask
  simm16,
  label,
  waitcnt,
  ds_addr,
  data0,
  data1,
  vdata,
  vaddr,
  srsrc,
  soffset,
  literal,  ///< always 32 bits behind the instruction
  hwreg,    ///< a field of a hardware register
  message,  ///< of s_sendmsg
  gpr_idx,  ///< which operands are indexed: names of four bits
  sdata,    ///< SMEM stores: a source in the place of sdst
  probe,    ///< a number in the place of sdst
  word,     ///< of data
  // Pictures: images are executed, the rest is not.
  idata,   ///< MIMG: as many VGPRs as the instruction's dmask says
  iaddr,   ///< MIMG: as many as the image has dimensions; the encoding does not say
  irsrc,   ///< MIMG: 8 SGPRs
  isamp,   ///< MIMG: 4 SGPRs
  target,  ///< EXP
  esrc,    ///< EXP: a VGPR or off
  attr,    ///< interpolation: number and channel of an attribute
  ipoint,  ///< interpolation: p10, p20, p0
  ivsrc,   ///< interpolation: a VGPR
  ivsrc2,
};
struct SlotSpec {
  Slot slot;
  uint8_t count = 1;  ///< dwords
  /// Of sources: f16, u16, f32, u32, f64 or u64. A number in the text becomes what this says.
  ir::Type type = ir::Type::u32;
};

/// What an instruction is to those that follow control, memory and lanes.
enum class Kind : uint8_t {
  alu,      ///< registers to registers
  move,     ///< a scalar register gets its source, or a constant
  branch,   ///< to a label; `meaning.count` is the code of what it tests, 0 = nothing
  call,     ///< to an address; the one behind goes to a pair
  jump,     ///< to an address
  address,  ///< the address of the next instruction
  end,
  barrier,
  wait,
  nothing,  ///< no effect that a program can see
  load,
  store,
  atomic,
  cache,   ///< writes back or invalidates
  across,  ///< looks at other lanes
  clock,
  mode,  ///< reads or writes the hardware's registers: rounding and the like
  trap,
  absent,  ///< has a name and an encoding, and is not executed
  data,    ///< words that no row fits
};

/// State an instruction touches beside its operands.
enum Effect : uint16_t {
  kReadsScc = 1,
  kWritesScc = 2,
  kWritesVcc = 4,
  kReadsVcc = 8,
  kWritesExec = 16,
  kMaskLogic = 32,  ///< 64-bit logic or move: on lane masks it works lane by lane
  kReadsExec = 64,
  kReadsDst = 128,  ///< the destination is a source, too
  kReadsM0 = 256,
  kReadsMode = 512,
  kWritesMode = 1024,
  kNumberResult = 2048,    ///< computes with floats, and the result is no single one
  kNeverSubnormal = 4096,  ///< the result, in every mode
  kWritesM0 = 8192,
  kClampsInteger = 16384,  ///< GCN3: the result of integers can be kept in the range of its type
  kSendsMessage = 32768,   ///< and goes on
};

/// What an instruction does to the mode in which registers are counted from those that are named.
enum class Indexing : uint8_t { keeps, enters, leaves };

/// What functions of floats that have no infinite results give in their place (Meaning::count).
enum class Limit : uint8_t {
  none = 1,
  largest,        ///< the largest number of that sign
  zero,           ///< of that sign
  largest_below,  ///< the largest number for -infinity alone
};

/// Parameters of the lowering function, so that one function serves a family.
struct Meaning {
  ir::Op op = ir::Op::mov;
  ir::Type type = ir::Type::u32;
  ir::Type from = ir::Type::none;  ///< conversions
  ir::Round round = ir::Round::rn;
  ir::Cond cond = ir::Cond::eq;
  bool reversed = false;  ///< operands in the other order (v_lshlrev, v_subrev)
  bool invert = false;    ///< second operand complemented (andn2), or result (nand, nor)
  uint8_t count = 1;
  ir::AtomOp atom = ir::AtomOp::add;
  bool invert_result = false;
  bool returns = false;  ///< LDS atomics: the old value
  uint16_t stride = 0;   ///< LDS pairs: bytes that one step of an offset stands for
  bool d16 = false;      ///< typed accesses: 16-bit registers
  bool swizzle = false;  ///< the offset is a permutation of lanes
  bool moves_source = false, moves_result = false;  ///< by M0 registers further
  Indexing indexing = Indexing::keeps;
};

/// What the address registers of an image instruction hold, in this order: offsets, bias, reference
/// value, gradients, coordinates (as many as the image has, and its slice), and one more value.
struct ImageForm {
  bool offset = false, bias = false, compare = false, gradients = false;
  enum class Last : uint8_t { none, clamp, level, mip } last = Last::none;
  bool level_zero = false;  ///< takes no level, and finds none
  bool samples = false;     ///< has a sampler and coordinates that are floats
  bool gathers = false;
  bool packed = false;  ///< moves the texel as it lies in memory
  bool extends = false;
  /// The level of detail comes from the differences between the lanes of a quad.
  bool looks_across() const { return samples && !gradients && !level_zero && last != Last::level; }
  /// Registers of all but the coordinates; those of gradients depend on the image.
  unsigned front() const { return (offset ? 1U : 0U) + (bias ? 1U : 0U) + (compare ? 1U : 0U); }
};

struct Row {
  std::string name;  ///< without _e32/_e64
  Kind kind = Kind::alu;
  Encoding encoding = Encoding::sopp;
  bool e64 = false;                  ///< VOP3 variant of a VOP1/VOP2/VOPC row
  int16_t opcode[3] = {-1, -1, -1};  ///< per generation, -1 = does not exist there
  std::vector<SlotSpec> operands;
  uint16_t effects = 0;
  LowerFn lower = nullptr;  ///< null: assembles, cannot run yet
  Meaning meaning;
  isa::Claim claim = isa::Claim::none;
  ImageForm image;                              ///< of MIMG
  uint8_t least_address = 0, most_address = 0;  ///< of iaddr, in dwords

  bool runs() const { return lower != nullptr; }
  bool does(Effect e) const { return (effects & e) != 0; }
  /// One float comes out, which an output modifier may scale.
  bool gives_float() const {
    return ir::is_float(meaning.type) && has(Slot::vdst) && !has(Slot::mask_dst) &&
           !does(kNumberResult);
  }
  /// Has the bits for them, whether or not it runs with them: `clamp`, and `mul:2`, `div:2`.
  bool takes_clamp(Gen gen) const;
  bool takes_output_scale() const;
  /// Atomic operations whose data lie at a second place of LDS.
  bool reads_second_place() const {
    return encoding == Encoding::ds && kind == Kind::atomic && has(Slot::ds_addr) &&
           !has(Slot::data0);
  }
  /// Works on vector registers alone: the index mode is for such instructions.
  bool is_vector_alu() const {
    return encoding == Encoding::vop1 || encoding == Encoding::vop2 || encoding == Encoding::vopc ||
           encoding == Encoding::vop3;
  }
  bool ends_block() const {
    return kind == Kind::branch || kind == Kind::jump || kind == Kind::call || kind == Kind::end;
  }
  /// Atomic operations that store where they find a value that is given, too.
  bool compares() const {
    return kind == Kind::atomic &&
           (meaning.atom == ir::AtomOp::cas || meaning.atom == ir::AtomOp::fcas);
  }
  /// A load or store of dwords as they are, in no format.
  bool moves_dwords() const {
    return (kind == Kind::load || kind == Kind::store) && name.find("_dword") != std::string::npos;
  }
  bool tests_class() const { return name.find("_class_") != std::string::npos; }
  bool has(Slot slot) const {
    for (const SlotSpec& s : operands)
      if (s.slot == slot) return true;
    return false;
  }
};

const std::vector<Row>& rows();
/// Those of a name, in the table's order.
std::span<const Row* const> rows_named(std::string_view name);
/// The first of an encoding's opcode, or null.
const Row* row_of(Encoding encoding, unsigned opcode, Gen gen);
/// The row of one to three words that are no instruction.
const Row& data_row(size_t words);
/// Operand codes as the 9-bit source field has them.
inline constexpr unsigned kVccLo = 106, kTtmp0 = 112, kM0 = 124, kExecLo = 126, kZero = 128,
                          kMinusOne = 193, kVccz = 251, kExecz = 252, kScc = 253, kLdsDirect = 254,
                          kLiteral = 255, kVgpr0 = 256, kSgprs = 104;
/// Scalar registers that no program can name: they keep what it keeps in lanes of vector registers.
inline constexpr unsigned kSlot0 = 544, kSlots = 480;
/// A register of one value for the wave, a mask among them; other codes are constants, conditions
/// and vector registers.
constexpr bool is_scalar(unsigned code) {
  return code < kZero || code >= kSlot0;
}

}  // namespace lanewise::gcn
