// A linked module as blocks of instructions, for passes over the binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lanewise::spirv {

/// Of every module, before the first instruction.
inline constexpr size_t kHeaderWords = 5;

/// One instruction of a module.
struct CodeInst {
  std::vector<uint32_t> words;
  uint32_t type = 0, result = 0;
  std::vector<uint16_t> ids;  ///< words that name other instructions
  spv::Op op() const { return static_cast<spv::Op>(words[0] & 0xffff); }
};

/// The first `ids` of the operands name instructions.
CodeInst make_inst(spv::Op op, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                   uint16_t ids);

struct CodeBlock {
  uint32_t label = 0;
  std::vector<CodeInst> insts;  ///< the label first, the terminator last
};

struct CodeFunction {
  uint32_t id = 0;
  size_t first = 0, end = 0;  ///< its blocks
};

/// Blocks by index; every function of the module in one list, as control flow stays inside each.
struct Code {
  std::vector<uint32_t> before;  ///< header and everything in front of the first block
  std::vector<CodeBlock> blocks;
  std::vector<std::vector<uint32_t>> between;  ///< words after block i that belong to no block
  std::vector<CodeFunction> functions;         ///< those with a body
  std::unordered_map<uint32_t, size_t> block_of;
  std::unordered_set<uint32_t> pointers;          ///< pointer types
  std::unordered_map<uint32_t, uint32_t> target;  ///< pointer type -> type it points to
  std::map<uint32_t, uint32_t> pointer_to;        ///< type -> type of a Function pointer to it
  std::unordered_map<uint32_t, uint32_t> private_variables;  ///< variable -> its pointer type
  std::unordered_map<uint32_t, uint32_t> array_length;       ///< array type -> its elements
  std::unordered_set<uint32_t> entry_points;                 ///< functions
  size_t types_end = 0;          ///< in `before`: the first function starts here
  std::vector<size_t> entry_of;  ///< [block] first block of its function
  uint32_t uint_type = 0, bool_type = 0, uvec3_type = 0, local_id = 0;

  uint32_t new_id() { return before[kBoundWord]++; }
  /// Adds an instruction behind all types and constants, in front of the first function.
  void declare(const std::vector<uint32_t>& words);
  uint32_t uint_constant(uint32_t value);
  /// Instructions that give `result` the invocation's number in its group (x), of which compilers
  /// know nothing.
  std::vector<CodeInst> load_invocation(uint32_t result);

  void declare_local_id();
  static constexpr size_t kBoundWord = 3;  ///< word of the header: one above every id
};

/// The module must be valid.
Code read_code(const std::vector<uint32_t>& words);
std::vector<uint32_t> write_code(Code code);

/// Instructions of this kind in a module.
size_t count_of(spv::Op op, const std::vector<uint32_t>& words);

/// [block] blocks that control may go to next.
std::vector<std::vector<size_t>> successors(const Code& code);

/// Where the function's code may start: behind its variables.
std::vector<CodeInst>::iterator after_variables(CodeBlock& entry);

struct CodeLoop {
  size_t header = 0, merge = 0, size = 0;
  std::vector<bool> inside;  ///< [block]
};
/// Every loop, inner ones before those around them.
std::vector<CodeLoop> loops_of(const Code& code, const std::vector<std::vector<size_t>>& next);

/// An OpPhi takes the value of word `at` over at the end of a predecessor; does it lie in the loop?
bool taken_in_loop(const Code& code, const CodeLoop& loop, const CodeInst& inst, uint16_t at);

}  // namespace lanewise::spirv
