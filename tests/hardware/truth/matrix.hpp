// Instructions of matrix units, as the truth tables ask about them: forms of the instruction table
// taken apart, kernels of one warp a group, and contents for their registers.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/hardware/truth/both.hpp"

namespace lanewise::truth {

/// Registers of a lane that one operand takes.
struct Fragment {
  std::string type;       ///< of its elements
  unsigned elements = 0;  ///< of a lane
  unsigned bits() const;
  unsigned words() const { return elements * bits() / 32; }
  /// "f64", "f32" or "b32".
  std::string reg() const;
  unsigned registers() const { return words() / (type == "f64" ? 2 : 1); }
};

/// A multiplication of fragments in registers.
struct MatrixForm {
  std::string form;  ///< the opcode with all qualifiers
  unsigned m = 0, n = 0, k = 0;
  bool sparse = false;
  Fragment d, a, b, c;
};

/// mma and mma.sp; nothing for other forms.
std::optional<MatrixForm> matrix_form(const std::string& form);

/// "{%prefix0, %prefix1, ...}".
std::string register_list(const char* prefix, unsigned count);

/// A kernel whose lanes load A, B, C (and metadata) from the first buffer, a record each, and store
/// D to the second.
std::string matrix_kernel(const std::string& header, const MatrixForm& f);
unsigned matrix_record(const MatrixForm& f);  ///< words that a lane loads

/// Bits of an element of a type: near 1, or an edge of the type.
uint64_t matrix_element(const std::string& type, bool edge, std::mt19937_64& random);
/// Puts an element into a record.
void put_element(Words& words, size_t base, const std::string& type, unsigned index, uint64_t bits);

/// The instructions around them that move matrices: their kernels have the same two buffers.
struct MatrixMove {
  std::string form, text;
  unsigned in = 0, out = 0;  ///< words of a lane
};
std::optional<MatrixMove> matrix_move(const std::string& header, const std::string& form);

}  // namespace lanewise::truth
