// The Maxwell SASS front end: text and words to instructions and back, and on to IR.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/coverage.hpp"
#include "runtime/isa/elf/line_table.hpp"
#include "runtime/isa/linked_name.hpp"
#include "runtime/isa/rejected.hpp"
#include "runtime/isa/sass/tables/form.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::sass {

/// Control fields of one instruction, 21 bits, as they stand in the control word.
struct Control {
  static constexpr uint32_t kBlank = 0x7e0;  ///< no scoreboards, no wait, schedule 0
  uint32_t bits = kBlank;

  unsigned sched() const { return bits & 0x1f; }       ///< stall | not-yield << 4
  unsigned write_sb() const { return bits >> 5 & 7; }  ///< 7 = none
  unsigned read_sb() const { return bits >> 8 & 7; }   ///< 7 = none
  unsigned wait_mask() const { return bits >> 11 & 0x3f; }
  bool dual() const { return sched() == 0x10; }
  bool reuse(unsigned slot) const { return (bits >> (17 + slot) & 1) != 0; }
  void set(unsigned pos, unsigned len, uint32_t value) {
    const uint32_t mask = ((1U << len) - 1) << pos;
    bits = (bits & ~mask) | ((value << pos) & mask);
  }
  bool operator==(const Control&) const = default;
};

struct Instruction {
  const Form* form = nullptr;
  uint64_t word = 0;
  Control control;
  bool has_control = false;  ///< given by annotations or a control word
  uint64_t pc = 0;           ///< byte offset in the code, control words counted
  uint32_t line = 0, column = 0;
  std::string text;   ///< as written; empty for decoded words
  std::string label;  ///< target label of a branch given by name

  uint64_t mod(ModId id) const;
  const OperandSpec* operand(Role role) const { return form->operand(role); }
  unsigned guard() const { return static_cast<unsigned>(kGuard.get(word)); }
  bool guard_negated() const { return kGuardNegate.get(word) != 0; }
};

/// A target given as an address, not by name: 0x68, or -0x8 in code that starts in the middle.
inline bool is_address(std::string_view label) {
  return label.starts_with('0') || label.starts_with("-0");
}

struct Label {
  std::string name;
  size_t index;  ///< of the instruction that follows
};

/// A constant bank that comes with the code: 2 belongs to one kernel or function, 3 to the module.
struct ConstantBank {
  unsigned number = 0;
  std::vector<std::byte> bytes;  ///< of bank 2; those of bank 3 stand in Listing::globals alone
  std::string symbol;            ///< its name among Listing::globals
  uint64_t size = 0;             ///< in bytes, of either bank
  /// The code that has this bank: a function's, once it was put behind a kernel's.
  uint64_t first_pc = 0, end_pc = ~uint64_t{0};
  bool serves(uint64_t pc) const { return pc >= first_pc && pc < end_pc; }
};

/// One half of a variable's or a function's address, put into a MOV32I by the loader.
struct Relocation {
  uint64_t pc = 0;  ///< of the instruction
  std::string symbol;
  int64_t addend = 0;
  bool high = false;
};

/// A call of, or a jump to, an absolute address, which the loader puts in.
struct Call {
  uint64_t pc = 0;                      ///< of the instruction
  std::string symbol;                   ///< a function of the file, or of the device runtime
  std::optional<uint64_t> target = {};  ///< in the same code, once the function was put there
};

/// What a module declares as a texture or a surface, and the sampler, where that is apart.
struct Reference {
  std::string image, sampler;
};

/// A function that a pointer can lead to.
struct Entry {
  uint64_t address = 0;  ///< guest::function_address
  uint64_t pc = 0;       ///< where it begins in the code behind the kernel
};

struct Kernel {
  std::string name;
  unsigned registers = 0;  ///< of the shader; 0 = not stated
  std::vector<Instruction> code;
  std::vector<Label> labels;
  // What only a cubin says.
  bool has_params = false;  ///< params and param_bytes are known
  std::vector<ir::Param> params;
  uint32_t param_bytes = 0;
  uint32_t shared_bytes = 0;
  std::optional<uint32_t> local_bytes;  ///< stack of one lane
  uint32_t max_block[3] = {0, 0, 0};    ///< 0 = free
  std::vector<ConstantBank> banks;
  std::vector<Relocation> relocations;
  std::vector<Call> calls;
  /// Words of bank 0 that take the handles of textures and surfaces, by their offset.
  std::map<unsigned, Reference> references;
  /// Targets that a cubin lists of instructions in whose words they do not stand: BRX, SYNC, BRK.
  std::map<uint64_t, std::vector<uint64_t>> jumps;
  std::vector<elf::LineRow> lines;  ///< of the source, in the order of addresses
  std::vector<Entry> entries;       ///< once functions were put behind it; see linked()
  /// What keeps this kernel, and no other one, from running: unknown words and relocations.
  std::vector<Diagnostic> diagnostics;
};

/// Maxwell, and Pascal, which has its words. 0 where the digits of sm_... say something else.
unsigned known_arch(std::string_view digits);
inline constexpr std::string_view kKnownArchs = "sm_50, sm_52, sm_53, sm_60, sm_61 or sm_62";

/// How far a name of a file reaches.
enum class Binding : uint8_t { own, weak, global };

struct Listing {
  unsigned arch = 50;
  std::vector<Kernel> kernels;
  std::vector<Kernel> functions;    ///< with sections of their own: relocatable device code
  std::vector<ir::Global> globals;  ///< module variables, and constant banks under their names
  std::map<std::string, Binding> bindings;        ///< of a cubin's names; others are its own
  std::map<std::string, isa::LinkedName> stated;  ///< of a cubin's names that others see, or have
  std::vector<Diagnostic> diagnostics;
  bool ok() const;  ///< its kernels may have errors of their own
};

/// nvdisasm listings and bare instruction lines. Never throws on bad input. A file without a
/// function label is one kernel named "stream".
Listing parse(std::string_view text, unsigned arch = 0 /* what the file says, else 50 */,
              size_t max_errors = 100);

struct Decoded {
  std::vector<Instruction> code;
  std::vector<Diagnostic> diagnostics;
};
/// Bundles of 32 bytes: a control word and three instructions. Bad words are reported; in the code
/// stands an instruction of unknown_form() for each.
Decoded decode_bundles(std::span<const std::byte> code, unsigned arch, size_t max_errors = 100);
/// Instructions without control words, at the places they would have in bundles.
Decoded decode_words(std::span<const std::byte> code, unsigned arch, size_t max_errors = 100);
/// The reverse of decode_bundles; the last bundle is filled up with NOP.
std::vector<std::byte> encode_bundles(const Kernel& kernel);
/// A cubin of a known architecture. Never throws on bad input. Without a kernel it is broken,
/// unless it is part of a program.
Listing read_cubin(std::span<const std::byte> bytes, size_t max_errors = 100, bool is_part = false);
/// Several files as one program, as a linker makes it; `names` are theirs, for messages and for the
/// names that a file keeps to itself and that others have, too.
Listing link(std::vector<Listing> files, const std::vector<std::string>& names);
/// A kernel as text that parse() reads back to the same words and control fields.
std::string print(const Listing& listing);

struct Parsed {
  std::optional<Instruction> instruction;
  Diagnostic error;  ///< set when there is no instruction
};
/// One instruction without the semicolon.
Parsed parse_instruction(std::string_view text, unsigned arch = 50);

/// Why the hardware's decoder refuses this control field on this instruction; empty = it does not.
std::string control_complaint(const Form& form, uint64_t word, Control control);
/// A word without a row, or with an illegal control field, as it stands in code.
Instruction undecoded(uint64_t word, Control control);
/// nullopt: no row of the table has this word, or the control field is illegal on it.
std::optional<Instruction> decode(uint64_t word, Control control = {}, unsigned arch = 50);

enum class Style : uint8_t { nvdisasm, annotated /* with &req, &rd, &wr and ?sched */ };
std::string print(const Instruction& instruction, Style style = Style::nvdisasm);

/// Offset of instruction `index` when code is laid out in bundles of a control word and three.
constexpr uint64_t pc_of(size_t index) {
  return 32 * (index / 3) + 8 + 8 * (index % 3);
}

/// Name of the module variable that holds guest::ResidencyMap's words; programs with sparse loads
/// have it. It starts as zero: all pages are resident.
inline constexpr std::string_view kSparseMap = "sparse.map";

/// Name of the predicate that says whether a lane's global and generic stores and atomics reach
/// memory. Programs that can lose lanes (KIL, pixel mode) carry it: it starts true, except in pixel
/// mode, where whoever starts the program sets it per lane.
inline constexpr std::string_view kStoresEnabled = "pixel.stores";

/// What the checker says about one instruction: errors refuse it, warnings are about rules of the
/// document that the vendor's disassembler does not enforce. docs/sass.md lists them.
std::vector<Diagnostic> check(const Instruction& instruction);
/// The same for every instruction of a listing.
std::vector<Diagnostic> check(const Listing& listing);
struct LowerResult {
  ir::Module module;                          ///< the kernels that can run
  std::vector<Diagnostic> diagnostics;        ///< of the whole file, rejected kernels included
  std::vector<isa::RejectedKernel> rejected;  ///< the others, and why
};
/// check() with every warning as an error, and the control fields of the kernels: uses of registers
/// that do not wait for their scoreboard. Reports nothing that a lane cannot come across.
std::vector<Diagnostic> lint(const Listing& listing);
/// The same of one kernel, about its instructions.
struct Remark {
  size_t index;  ///< in Kernel::code
  std::string message;
  bool warning = false;
};
std::vector<Remark> lint(const Kernel& kernel);
struct LowerOptions {
  /// Helper and uncovered lanes run along: kStoresEnabled comes from outside.
  bool pixel = false;
};
/// Checks and lowers every kernel. Kernel parameters are not named in SASS text: such a program has
/// param_bytes = the highest parameter byte read, and no Param entries.
LowerResult lower(const Listing& listing, const LowerOptions& options = {});

/// Why a word of the form with these bits of modifiers and operand flags cannot run; empty = it
/// can.
std::string refusal(const Form& form, uint64_t bits = 0);

using isa::Coverage;
using isa::FormState;
/// Every form of the table and, by mnemonic, everything of the ISA it has no row for.
const std::vector<Coverage>& coverage();
/// State of a form as nvdisasm spells it: mnemonic with all its modifiers.
Coverage coverage_of(std::string_view form);

}  // namespace lanewise::sass
