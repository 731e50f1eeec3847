// Value cases of GCN: instructions in steps that share inputs, EXEC and carries from the inputs,
// rules written lane by lane.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/values/harness.hpp"
#include "tests/values/numbers.hpp"

namespace values::gcn {

enum Generation : unsigned { kGfx6 = 0, kGfx7 = 1, kGfx8 = 2 };
inline std::string target_of(Generation g) {
  static constexpr const char* kTargets[] = {"gfx600", "gfx700", "gfx803"};
  return kTargets[g];
}

/// What the kernel's descriptor says of f32 arithmetic.
struct Mode {
  bool flush = true;             ///< subnormals become zeros
  unsigned rounding = 0;         ///< to nearest, up, down, towards zero; of f32, f64 and f16
  unsigned wide_subnormals = 3;  ///< of f64 and f16: bit 0 keeps operands, bit 1 results
  bool ieee = true;              ///< which turns output modifiers off
  bool apart = false;            ///< f32 rounds in the next direction: for cases without f32
  unsigned narrow_rounding() const { return apart ? (rounding + 1) % 4 : rounding; }
  int direction() const {
    static constexpr int kDirections[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return kDirections[rounding];
  }
};

/// s[24:27] of every kernel, the same in all lanes.
inline constexpr std::array<uint32_t, 4> kConstants = {0xc0490fdb, 37, 0x7fb12345, 0x80000003};

using Wave = std::span<const In>;

/// One lane's inputs, with the rest of the wave in reach. The last input word holds flags: bit 0
/// EXEC, bit 1 the carry that comes in (s[22:23]), bit 2 another mask (s[18:19]).
struct Lane {
  Wave wave;
  size_t index;

  uint32_t operator[](size_t word) const { return wave[index][word]; }
  uint64_t pair(size_t word) const { return wide((*this)[word], (*this)[word + 1]); }
  uint32_t flag(unsigned bit) const { return wave[index].back() >> bit & 1; }
  bool active() const { return flag(0) != 0; }
  uint64_t mask(unsigned bit) const {
    uint64_t m = 0;
    for (size_t n = 0; n < wave.size(); ++n) m |= uint64_t{wave[n].back() >> bit & 1} << n;
    return m;
  }
};
using Rule = std::function<void(const Lane&, Out)>;

/// One instruction of a case. Its inputs are in v10, v11, ... In `text`, {d} is the register of its
/// first result word, {p} the pair of the first two, {q} all of them, {m} a pair of SGPRs whose
/// lane's bit is one more output word. {n} is the case's number in its kernel; {in} and {out} are
/// byte offsets of the case's words from v[2:3] and v[4:5], {imm} that of the inputs as scalar
/// loads count it.
struct Step {
  std::string text;
  Rule rule;           ///< of active lanes: `words` words, then the mask's bit
  unsigned words = 1;  ///< result registers
  bool mask = false;
  int old = -1;             ///< input word that the results hold before; -1: word 0 inverted
  bool whole_wave = false;  ///< the rule covers inactive lanes, too
};

/// Scalar instructions: inputs, the same in all lanes of a wave, in s32, s33, ...; the last one's
/// bit 0 is SCC. {d} and {p} are SGPRs here.
struct ScalarStep {
  std::string text;
  std::function<void(In, Out)> rule;  ///< `words` words, then SCC
  unsigned words = 1;
  bool scc = true;  ///< SCC is an output, too
};

Case vector_case(const std::string& row, const Tuples& inputs, const std::vector<Step>& steps);
/// Results are floats that may be off by this part of the true value; zeros, infinities and NaN
/// may not. The rules see one lane only.
/// Or by `absolute`, where that is more.
Case approximate_case(const std::string& row, const Tuples& inputs, const std::vector<Step>& steps,
                      double bound, double absolute = 0);
/// Each of the tuples is given to a wave of its own.
Case scalar_case(const std::string& row, const Tuples& inputs,
                 const std::vector<ScalarStep>& steps);

/// Operand pools with the flags behind them.
Tuples with_flags(std::vector<Pool> pools, size_t limit = 2048);

InstructionSet instruction_set(Generation g, Mode mode = {});

/// The cases of one generation, by file, as each has names of its own; keys as row_key() of
/// rows.cpp makes them.
namespace scalar {
void cases(Generation g, std::vector<Case>& out);
}
namespace vector_integer {
void cases(Generation g, std::vector<Case>& out);
}
namespace vector_float {
void cases(Generation g, Mode mode, std::vector<Case>& out);
}
namespace compares {
void cases(Generation g, std::vector<Case>& out);
void float_cases(Generation g, Mode mode, std::vector<Case>& out);
void double_cases(Generation g, Mode mode, std::vector<Case>& out);
void half_cases(Mode mode, std::vector<Case>& out);
void class_cases(Generation g, std::vector<Case>& out);  ///< the same in every mode
}  // namespace compares
namespace functions {
void cases(Generation g, Mode mode, std::vector<Case>& out);
}
namespace packing {
void cases(Generation g, Mode mode, std::vector<Case>& out);  ///< part of functions
}
namespace doubles {
void cases(Generation g, Mode mode, std::vector<Case>& out);
void conversion_cases(Mode mode, std::vector<Case>& out);  ///< part of doubles
}  // namespace doubles
namespace quotients {
void cases(Mode mode, std::vector<Case>& out);
}
namespace halves {
void cases(Mode mode, std::vector<Case>& out);
}
namespace bit_ops {
void cases(Generation g, std::vector<Case>& out);
void moving_cases(std::vector<Case>& out);
}  // namespace bit_ops
namespace scalar_bits {
void cases(Generation g, std::vector<Case>& out);
}
namespace index_mode {
void cases(std::vector<Case>& out);
}
namespace lanes {
void cases(Generation g, std::vector<Case>& out);
}
namespace lds {
void cases(Generation g, std::vector<Case>& out);
}
namespace lds_atomics {
void cases(Generation g, std::vector<Case>& out);
}
namespace special {
void cases(Generation g, Mode mode, std::vector<Case>& out);
void half_cases(Mode mode, std::vector<Case>& out);
}  // namespace special
namespace memory {
void cases(Generation g, std::vector<Case>& out);
}
namespace modifiers {
/// mul:2, mul:4 and div:2. Not part of all_cases(): they belong to modes.
void output_scale_cases(Generation g, Mode mode, std::vector<Case>& out);
/// src_vccz, src_execz and src_scc.
void condition_cases(Generation g, std::vector<Case>& out);
}  // namespace modifiers
namespace scalar_stores {
void cases(std::vector<Case>& out);
}
std::vector<Case> all_cases(Generation g);

}  // namespace values::gcn
