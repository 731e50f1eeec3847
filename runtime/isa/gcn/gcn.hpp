// The GCN front end (gfx600, gfx700; buffer instructions also gfx803): text and bytes to
// instructions and back, and on to IR.
//
// Bare streams (no .amdhsa_kernel) start with: s[0:1] = kernel argument address, s2 s3 s4 =
// work-group id x y z, v0 v1 v2 = work-item id x y z, EXEC = the running lanes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/coverage.hpp"
#include "runtime/isa/gcn/float_mode.hpp"
#include "runtime/isa/gcn/tables/row.hpp"
#include "runtime/isa/rejected.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::gcn {

struct Operand {
  unsigned code = 0;   ///< 9-bit source code; meaningless for immediates of their own fields
  uint8_t count = 1;   ///< dwords
  uint32_t value = 0;  ///< literal, simm16, SMRD offset
  bool immediate = false;
  bool neg = false, abs = false;
  bool cut = false;  ///< the text's number has more bits than the literal, or than its field
  /// Of a literal: it is a half of the address that is `value` bytes into the image.
  enum class Half : uint8_t { none, low, high } half = Half::none;
  std::string label;
};

/// GCN3: a second dword of VOP1, VOP2 and VOPC that picks lanes (DPP) or parts of registers (SDWA).
enum class Form : uint8_t { plain, dpp, sdwa };
/// Where source 0 comes from: another lane of the wave.
struct Dpp {
  uint16_t ctrl = 0xe4;  ///< as encoded: quad_perm, row_shl, ...
  uint8_t row_mask = 15, bank_mask = 15;
  bool bound_ctrl = false;  ///< lanes without a source read 0; else they write nothing
};
/// Codes 0 to 3 are bytes, 4 and 5 words, 6 the whole register.
struct Sdwa {
  uint8_t dst_sel = 6, dst_unused = 2, src0_sel = 6, src1_sel = 6;
  bool sext0 = false, sext1 = false;
};
inline constexpr uint8_t kUnusedPad = 0, kUnusedSext = 1, kUnusedPreserve = 2, kSelDword = 6;

/// Flags of MIMG and EXP.
struct Graphics {
  uint8_t dmask = 0;  ///< components of the image
  bool unorm = false, da = false, r128 = false, lwe = false, d16 = false;
  bool done = false, compr = false, vm = false;
};

struct Instruction {
  const Row* row = nullptr;
  std::vector<Operand> operands;  ///< one per row->operands
  uint16_t offset = 0;            ///< MUBUF, MTBUF; LDS: 16 bits, or two of 8
  uint8_t dfmt = 1, nfmt = 0;     ///< MTBUF
  bool offen = false, idxen = false, addr64 = false, glc = false, slc = false, tfe = false,
       lds = false, clamp = false, gds = false;
  uint8_t omod = 0;
  bool cut_flag = false;  ///< the text's number of a modifier has more bits than its field
  Form form = Form::plain;
  Dpp dpp;
  Sdwa sdwa;
  Graphics graphics;
  uint64_t pc = 0;
  uint32_t line = 0, column = 0;
  std::string text;

  const Operand* operand(Slot slot) const;
};

/// The parts of a Slot::hwreg operand.
inline constexpr unsigned kHwMode = 1, kHwTrapStatus = 3;
inline unsigned hwreg_id(const Operand& o) {
  return o.value & 63;
}
inline unsigned hwreg_offset(const Operand& o) {
  return o.value >> 6 & 31;
}
inline unsigned hwreg_size(const Operand& o) {
  return (o.value >> 11 & 31) + 1;
}
inline uint32_t hwreg_mask(const Operand& o) {
  const unsigned size = hwreg_size(o);
  return (size == 32 ? ~0U : (1U << size) - 1) << hwreg_offset(o);
}

struct Label {
  std::string name;
  size_t index;
};

/// Which registers the hardware fills before the first instruction; -1 = not at all.
struct InitialState {
  int private_segment_buffer = -1, dispatch_ptr = -1, queue_ptr = -1, kernarg_ptr = -1,
      dispatch_id = -1, flat_scratch = -1, private_segment_size = -1;
  int workgroup_id[3] = {-1, -1, -1};
  int workgroup_info = -1, private_segment_offset = -1;  ///< system SGPRs
  bool bare = false;                                     ///< no kernel descriptor stated this
  unsigned workitem_ids = 1;                             ///< v0.. hold x, xy or xyz
};
InitialState bare_state();

struct Listing;
struct Kernel {
  std::string name;
  const Listing* file = nullptr;  ///< while it is lowered: what the image holds
  uint64_t base = 0;  ///< where it begins in the image; its instructions count from there
  uint64_t text = 0;  ///< where its section does
  std::vector<Label> functions;      ///< whose code stands behind the kernel's own
  std::vector<Diagnostic> problems;  ///< why this kernel cannot run, others of its file can
  bool data_only = false;            ///< no code: a label of a text in front of data
  Gen gen = Gen::gfx6;
  std::vector<Instruction> code;
  std::vector<Label> labels;
  InitialState state = bare_state();
  std::vector<ir::Param> params;  ///< from the metadata
  std::vector<ir::Param> hidden;  ///< those that the launch fills in
  uint32_t kernarg_bytes = 0, group_bytes = 0, private_bytes = 0;
  uint32_t max_block = 0;  ///< lanes of a group that it is compiled for; 0 = free
  uint8_t denorm_f32 = 0;  ///< float_denorm_mode_32: 0 flushes subnormals, 3 keeps them
  uint8_t round_f32 = 0;
  uint8_t denorm_wide = 3, round_wide = 0;  ///< the same of f64 and f16
  bool ieee = true;                         ///< signalling NaN become quiet in min and max
  bool dx10_clamp = true;                   ///< a clamp makes 0 of NaN
  /// Global memory is reached at any address, as drivers of the HSA set it from gfx700 on; else the
  /// low bits are dropped.
  bool unaligned = false;
  unsigned allocated_vgprs = 0;  ///< by the kernel descriptor
  /// How many registers there are: those that the descriptor asks for, and that the code names.
  unsigned vgprs() const;
  unsigned sgprs() const;
  FloatMode mode() const {
    return {static_cast<uint8_t>(round_f32 | round_wide << 2 | denorm_f32 << 4 | denorm_wide << 6),
            dx10_clamp, ieee};
  }
};

struct Listing {
  Gen gen = Gen::gfx6;
  std::vector<Kernel> kernels;
  std::optional<ir::Global> image;  ///< the file's bytes, as the guest's addresses see them
  /// Parts of the image, begin and end, that nobody writes.
  std::vector<std::pair<uint64_t, uint64_t>> constants;
  /// Places in the image that wait for something the file does not have, and what: eight bytes of
  /// data, or a word of code.
  std::map<uint64_t, std::string> unresolved;
  /// Words of code that get a half of an address in the image: its place, and whether the high one.
  std::map<uint64_t, std::pair<uint64_t, bool>> address_words;
  std::vector<Kernel> functions;           ///< code that no kernel descriptor names
  std::vector<std::string> print_formats;  ///< of the metadata: guest/printed.hpp takes them apart
  std::vector<Diagnostic> diagnostics;
  bool ok() const;
};

/// LLVM assembly text. Never throws on bad input. Code without a function label is one kernel named
/// "stream".
Listing parse(std::string_view text, std::optional<Gen> gen = std::nullopt,
              size_t max_errors = 100);
struct ParseOptions {
  std::optional<Gen> gen;  ///< in place of the text's own target
  size_t max_errors = 100;
  std::optional<std::string> folder;  ///< where .include looks; without one nothing is included
};
Listing parse(std::string_view text, const ParseOptions& options);

struct Parsed {
  std::optional<Instruction> instruction;
  Diagnostic error;
};
Parsed parse_instruction(std::string_view text, Gen gen = Gen::gfx6);
/// LLVM syntax; VOP3 forms of VOP1/VOP2/VOPC print with _e64, the others with _e32.
std::string print(const Instruction& instruction, Gen gen = Gen::gfx6);

/// One to three dwords. Branch labels must be resolved (Operand::value = dword distance).
std::vector<uint32_t> encode(const Instruction& instruction, Gen gen = Gen::gfx6);
/// Reads the instruction at the front of `words`; nullopt when no row fits or bytes are missing.
std::optional<Instruction> decode(const std::vector<uint32_t>& words, Gen gen = Gen::gfx6);
/// The words at the front, as many as their encoding has, as data.
Instruction undecoded(const std::vector<uint32_t>& words, Gen gen = Gen::gfx6);
/// What is known of words that are no instruction: "12345678 is no instruction of gfx600 (...)".
std::string nameless(const Instruction& data, Gen gen);
/// Why the machine cannot read these operands together: two literals, or more scalar registers than
/// one in a vector instruction; empty when it can.
std::string operand_problem(const Instruction& instruction, Gen gen);
size_t size_of(const Instruction& instruction, Gen gen = Gen::gfx6);

struct LowerResult {
  ir::Module module;                          ///< the kernels that can run
  std::vector<Diagnostic> diagnostics;        ///< of the whole file, rejected kernels included
  std::vector<isa::RejectedKernel> rejected;  ///< the others, and why
};
/// What a caller that looks at the registers afterwards needs kept.
struct LowerOptions {
  bool partial_exec = false;      ///< EXEC may have bits off from the start
  bool keep_scc = false;          ///< the final SCC is wanted
  std::vector<unsigned> numbers;  ///< pairs (low code) wanted as 64-bit numbers at the end
  unsigned vgprs = 0;             ///< so many there are, whatever the code names
  bool by_lane = false;  ///< lanes may part where that cannot be seen, in small kernels too
};
LowerResult lower(const Listing& listing, const LowerOptions& options = {});

using isa::Coverage;
using isa::FormState;
/// "v_add_f32.sdwa" and "v_add_f32.dpp" of a row that has these forms.
struct LaneFormClaim {
  std::string form;
  isa::Claim claim;
};
std::vector<LaneFormClaim> lane_form_claims(const Row& row);
/// A form is a name, with flags in brackets or not, or an instruction with its operands: then
/// operands that cannot run make it unsupported.
std::vector<Coverage> coverage(Gen gen = Gen::gfx6);
Coverage coverage_of(std::string_view form, Gen gen = Gen::gfx6);

std::string_view name(Gen gen);
std::optional<Gen> gen_named(std::string_view target);

}  // namespace lanewise::gcn
