// The waist of the hourglass: one small register IR between three instruction sets and two engines.
//
// A Program is one kernel: registers, basic blocks, memory sizes and source sites. Registers are
// mutable (not SSA): front ends map guest registers one to one, engines find SSA form or private
// arrays as they need. Every instruction may carry a guard; when the guard is false the instruction
// has no effect and its destinations keep their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ir/types.hpp"

namespace lanewise::ir {

enum class Op : uint8_t {
#define LW_OP(name, signature, traits) name,
#include "runtime/ir/ops.def"
#undef LW_OP
};
enum class OpTrait : uint8_t { pure, mem, sync, wave, effect };

struct OpInfo {
  const char* name;
  const char* signature;
  OpTrait trait;
};
const OpInfo& info(Op op);
/// Finds an operation by its printed name (`and_` prints as `and`).
std::optional<Op> op_named(std::string_view name);

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

struct Reg {
  uint32_t id = kNone;
  bool valid() const { return id != kNone; }
  bool operator==(const Reg&) const = default;
};

struct RegInfo {
  Width width = Width::b32;
  bool scalar = false;  ///< one value per wave (GCN SGPRs), equal in all lanes
  std::string name;     ///< guest name, for printing; may be empty
};

struct Operand {
  enum class Kind : uint8_t { none, reg, imm, symbol };
  Kind kind = Kind::none;
  uint32_t index = kNone;  ///< register id or index into Program::symbols
  uint64_t imm = 0;        ///< immediate bits (zero-extended), or the symbol's addend

  Operand() = default;
  Operand(Reg r) : kind(Kind::reg), index(r.id) {}  // NOLINT: registers are operands
  static Operand immediate(uint64_t bits) { return {Kind::imm, kNone, bits}; }
  static Operand address_of(uint32_t symbol, int64_t addend = 0) {
    return {Kind::symbol, symbol, static_cast<uint64_t>(addend)};
  }
  bool is_reg() const { return kind == Kind::reg; }
  bool is_imm() const { return kind == Kind::imm; }
  Reg reg() const { return Reg{index}; }
  bool operator==(const Operand&) const = default;

 private:
  Operand(Kind k, uint32_t i, uint64_t bits) : kind(k), index(i), imm(bits) {}
};

struct Guard {
  Reg reg;  ///< pred register; invalid = always
  bool negate = false;
  bool always() const { return !reg.valid(); }
  bool operator==(const Guard&) const = default;
};

/// What the guest asked of the caches. Carried to the tracker; never changes a value.
struct CachePolicy {
  CacheOp op = CacheOp::none;
  EvictPriority l1 = EvictPriority::none;
  EvictPriority l2 = EvictPriority::none;
  uint16_t prefetch_bytes = 0;  ///< .L2::64B/128B/256B
  bool glc = false, slc = false;
  Operand hint;  ///< b64 policy word of .L2::cache_hint, kind none when absent
  bool operator==(const CachePolicy&) const = default;
};

/// Everything a memory instruction says beside its operands.
struct Mem {
  Space space = Space::global;
  Type elem = Type::u32;    ///< u8 s8 u16 s16 u32 u64 in memory; loads extend to b32 by signedness
  uint8_t count = 1;        ///< elements; consecutive in memory
  uint8_t align_bytes = 0;  ///< 0 = natural: the whole access (elem size x count)
  AlignRule align = AlignRule::trap;
  Order order = Order::weak;
  Scope scope = Scope::none;
  AtomOp atom = AtomOp::add;
  Type atom_type = Type::u32;  ///< u32 s32 u64 s64 f16 bf16 f32 f64 (elem gives the size)
  int64_t offset = 0;          ///< added to the address at the address operand's width, wrapping
  /// Of a load: bit n says that its byte n is used. The others may never have been written.
  uint32_t used_bytes = 0xffffffff;
  /// Checked before: the last source is a predicate that says whether the access may happen. Where
  /// it does not hold a load or atomic gives 0 and nothing is written.
  bool checked = false;
  /// What the host has found out about the bytes for as long as the launch lasts.
  Certain certain = Certain::no;
  /// Goes through this parameter (find_pointers()), kNone = not known. Engines set it in their own
  /// copies.
  uint32_t pointer = kNone;
  CachePolicy cache;
  unsigned bytes() const { return size_of(elem) * count; }
  unsigned alignment() const { return align_bytes != 0 ? align_bytes : bytes(); }
  bool operator==(const Mem&) const = default;
};

/// Flags of a GCN buffer instruction (Op::buffer_address). Formulas: docs/gcn-addressing.md.
struct BufferAccess {
  enum class Gen : uint8_t { gfx6, gfx7, gfx8 };
  Gen gen = Gen::gfx6;
  bool idxen = false, offen = false, addr64 = false;
  bool format_op = false;      ///< typed access: range check is all or nothing
  uint16_t inst_offset = 0;    ///< 0..4095
  uint8_t element_offset = 0;  ///< byte offset of this dword inside a multi-dword access
  /// Bytes that must be in range from the element offset on; 0 = those of the descriptor's format.
  uint8_t payload_bytes = 4;
  bool offset32 = false;          ///< the offset inside the buffer is cut to 32 bits
  bool soffset_swizzled = false;  ///< SOFFSET joins before the swizzle; else behind it
  bool operator==(const BufferAccess&) const = default;
};

/// What a texture instruction says beside its operands; runtime/ir/texture.hpp has the model.
struct TextureAccess {
  /// `described`: the image's word says how many dimensions there are, and whether it has layers.
  enum class Dim : uint8_t { d1, d2, d3, cube, described };
  enum class Lod : uint8_t { zero, level, gradient };
  /// What an access to a texel beside the image does: load 0 and drop the store, take the nearest
  /// texel, or fault as out_of_range.
  enum class Outside : uint8_t { zero, clamp, trap };
  Dim dim = Dim::d2;
  bool array = false;     ///< there is a layer
  bool integers = false;  ///< sample: coordinates are numbers of texels, s32; nothing is filtered
  Lod lod = Lod::zero;
  bool bias = false;                ///< sample: an operand is added to the level of detail
  bool clamp = false;               ///< sample: an operand is the least level of detail
  bool offset = false;              ///< sample: three operands are added to the texels' places
  bool compare = false;             ///< sample: the texels are compared with an operand
  uint8_t component = 0;            ///< gather: 0 ... 3
  Outside outside = Outside::zero;  ///< texel_*
  bool operator==(const TextureAccess&) const = default;
};

struct Inst {
  Op op = Op::mov;
  Type type = Type::none;
  Type from = Type::none;  ///< source type of conversions
  Cond cond = Cond::eq;
  Round round = Round::rn;
  bool ftz = false;      ///< subnormal inputs and results become zero of their sign (f32)
  bool sat = false;      ///< result clamped to [0, 1], NaN -> 0
  bool any_nan = false;  ///< nobody sees which NaN a float operation gives (relax_nans)
  uint8_t mode = 0;      ///< per operation, see ops.def
  Guard guard;
  std::vector<Reg> dst;
  std::vector<Operand> src;
  std::optional<Mem> mem;
  std::optional<BufferAccess> buffer;
  std::optional<TextureAccess> texture;
  uint32_t site = kNone;  ///< index into Program::sites
  uint32_t event = 0;     ///< number of the trace point (runtime/events), 0 = not traced
};

/// Is a load or store performed as an atomic access? It is where the guest orders it, and where the
/// guest goes past caches that others may have overtaken: a plain access may be served from a cache
/// of the host's.
inline bool is_strong(const Inst& inst) {
  const Mem& m = *inst.mem;
  if (m.order != Order::weak) return true;
  if (m.space != Space::global && m.space != Space::generic && m.space != Space::constant)
    return false;
  if (inst.op == Op::store) return m.cache.op == CacheOp::wt;
  if (inst.op != Op::load) return false;
  return m.cache.op == CacheOp::cg || m.cache.op == CacheOp::cv || m.cache.glc || m.cache.slc;
}

inline bool has(const Inst& check, CheckMode bit) {
  return (check.mode & static_cast<uint8_t>(bit)) != 0;
}

struct Terminator {
  enum class Kind : uint8_t { jump, branch, switch_, exit };
  Kind kind = Kind::exit;
  Guard cond;                     ///< branch: targets[0] when it holds, else targets[1]
  Operand selector;               ///< switch_: b32, unsigned compare
  std::vector<uint64_t> cases;    ///< switch_: cases[i] -> targets[i]; targets.back() = default
  std::vector<uint32_t> targets;  ///< block indices
  bool uniform =
      false;  ///< the guest promises that the wave does not diverge here (bra.uni, s_cbranch)
  bool counts = true;  ///< back edges are steps of the budget; mark_free_loops() says which are not
  uint32_t site = kNone;
};

struct Block {
  std::string label;
  std::vector<Inst> insts;
  Terminator term;
};

/// What a guest instruction says to the caches beside what its memory operations have. A front end
/// takes it from its row; no value depends on it.
struct CacheFacts {
  /// What the instruction is as a whole. A fence that belongs to a control, or the other way round,
  /// is no event of its own.
  enum class Kind : uint8_t { none, load, store, atomic, control, fence };
  /// The cache that a control names.
  enum class Cache : uint8_t { data, deprecated_u, constant, instruction, crs, scalar, texture };
  Kind kind = Kind::none;
  Cache cache = Cache::data;
  std::optional<CacheCtl> control;  ///< where it is another than the operation's
  bool glc = false, slc = false;
  bool scalar = false;          ///< GCN scalar memory
  bool volatile_lines = false;  ///< GCN _VOL
  bool system_lines = false;    ///< GCN _SC
  bool invalidates = false;     ///< of a fence: lines of the first level, too
  bool generic = false;         ///< of a fence: orders every space
  // How a SASS control is encoded, which rules about it look at.
  bool register_address = false, nonzero_immediate = false, extended = false;
  bool read_scoreboard = false;
  uint8_t wait = 15;  ///< ?WAITn; 15 = not known
  bool operator==(const CacheFacts&) const = default;
};

/// Where an instruction came from, for faults, traces and reports.
struct Site {
  uint32_t line = 0;        ///< 1-based line of the input text, 0 = none
  uint64_t pc = 0;          ///< byte offset in the code, or the instruction's ordinal for text
  std::string text;         ///< the instruction as the guest wrote (or we disassembled) it
  std::string source_file;  ///< from .file/.loc, may be empty
  uint32_t source_line = 0;
  /// Of a trap that is a failed assertion: what was asserted, and in which function.
  std::string assertion = {}, function = {};
  CacheFacts cache = {};
};

struct Param {
  std::string name;
  uint32_t offset = 0, size = 0, align = 1;
  bool pointer = false;
  Type type = Type::none;  ///< none for byte arrays (structs)
};

/// What a launch must give a kernel beside its arguments (GCN code objects): hidden arguments, and
/// a block behind the parameters. Layout and meaning: runtime/layout/launch_block.hpp.
struct LaunchNeeds {
  std::vector<Param> hidden;   ///< named by kind ("hidden_block_count_x"); not among the arguments
  uint32_t block_offset = 0;   ///< of the block from the parameters' begin, 0 = none is wanted
  uint32_t scratch_bytes = 0;  ///< per lane
  bool prints = false;         ///< to the module's print buffer (runtime/layout/print_records.hpp)
  std::vector<std::string> print_formats;  ///< of OpenCL; CUDA's records name theirs
};

/// A module variable whose address the code uses. Engines see immediates only: bind_symbols()
/// replaces symbol operands once the module is loaded and addresses are known.
struct Symbol {
  std::string name;
};

/// Where a module's variable lies once the module is loaded.
struct Variable {
  uint64_t address = 0, size = 0;
  bool read_only = false;
  bool operator==(const Variable&) const = default;
};

enum class Isa : uint8_t { ptx, sass, gcn };

struct Program {
  std::string name;
  Isa isa = Isa::ptx;
  uint32_t wave_lanes = 32;
  /// An operation with a member mask waits for each lane of it that has not ended, in whatever
  /// iteration (PTX for sm_70 and later). Otherwise the structured tree says who takes part.
  bool rendezvous = false;
  std::vector<RegInfo> regs;
  std::vector<Block> blocks;  ///< blocks[0] is the entry
  std::vector<Symbol> symbols;
  std::vector<Variable> variables;  ///< those whose symbols are bound: there as long as the program
  std::vector<Param> params;
  uint32_t param_bytes = 0;
  uint32_t shared_bytes = 0;  ///< static shared memory; dynamic shared memory follows, 16-aligned
  uint32_t local_bytes = 0;   ///< per lane
  uint32_t required_block[3] = {0, 0, 0};  ///< .reqntid, 0 = free
  uint32_t max_block = 0;                  ///< .maxntid product, 0 = free
  uint32_t reserved_shared = 0;  ///< behind all shared memory: PTX's reserved part, late copies
  std::vector<Site> sites;
  LaunchNeeds needs;

  Reg add_reg(Width w, std::string reg_name = {}, bool scalar = false) {
    regs.push_back({w, scalar, std::move(reg_name)});
    return Reg{static_cast<uint32_t>(regs.size() - 1)};
  }
};

/// A module-level variable with its initial bytes (address constants inside are relocations).
struct Global {
  std::string name;
  Space space = Space::global;  ///< global or constant
  uint32_t align = 1;
  uint64_t size = 0;
  std::vector<std::byte> init;  ///< may be shorter than size: the rest is zero
  struct Reloc {
    uint64_t offset;
    std::string symbol;  ///< a global or a function
    int64_t addend;
    uint8_t size;  ///< 4 or 8
  };
  std::vector<Reloc> relocs;
};

/// What a front end makes of one input file.
struct Module {
  Isa isa = Isa::ptx;
  std::string target;  ///< "sm_75", "gfx600"
  std::vector<Global> globals;
  std::vector<std::string>
      functions;  ///< functions whose address is taken; see layout/addresses.hpp
  std::vector<Program> kernels;
};

std::string_view name(TextureAccess::Dim);
std::string_view name(TextureAccess::Lod);
std::string_view name(TextureAccess::Outside);

/// Is there such an instruction?
template <typename Wanted>
bool any_inst(const Program& program, Wanted wanted) {
  for (const Block& block : program.blocks)
    for (const Inst& inst : block.insts)
      if (wanted(inst)) return true;
  return false;
}

// --- text, checks and small passes (each in its own file) --------------------------------------
std::string print(const Program&);
std::string print(const Program&, const Inst&);
/// Reads what print() writes; throws lanewise::Error with line and column.
Program parse_program(std::string_view text);
/// Empty when the program is well formed, else one message per defect.
std::vector<std::string> verify(const Program&);

}  // namespace lanewise::ir
