// Passes over the IR: free functions, each leaves a program that verify() accepts.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Replaces symbol operands by immediates. `address_of` is asked once per symbol.
void bind_symbols(Program& program, const std::function<uint64_t(const Symbol&)>& address_of);

/// Constant folding of moves, dead pure instructions, unreachable blocks, jump threading.
void simplify(Program& program);

/// GCN buffer addresses with a constant descriptor become the few operations that are left of them.
void expand_descriptors(Program& program);

/// Turns switch terminators into chains of compares and branches.
void lower_switches(Program& program);

/// Makes every cycle single-entry: an irreducible region gets one dispatch block in front that
/// branches on a selector register to the region's former entries.
void make_reducible(Program& program);

/// Registers live on entry to and on exit from each block (bit per register).
struct Liveness {
  std::vector<std::vector<bool>> in, out;  ///< [block][register]
};
Liveness liveness(const Program& program);

/// Which registers hold the same value in all lanes of the group, and which blocks are reached by
/// all lanes of the group together or not at all. Conservative: `true` is a proof.
struct Uniformity {
  std::vector<bool> reg;    ///< [register]
  std::vector<bool> block;  ///< [block]
};
Uniformity uniformity(const Program& program);
/// Every barrier and cross-lane operation is proven to be reached by all lanes of the group
/// together (no lane exits before).
bool meetings_uniform(const Program& program);

/// Splits the kernel at its stops, barriers and cross-lane operations, so that each lane can be run
/// from stop to stop: a stop becomes `resume = k; exit`, and the entry dispatches on `resume` (0 at
/// first). A lane that has ended leaves resume = kPhaseEnded. Stops are numbered as the program
/// lists them, so the lowest k is the one that stands first.
inline constexpr uint32_t kPhaseEnded = 0xffffffff;
/// How a lane hands a cross-lane operation over, b32 registers. `kind` is set at every stop: 0 at a
/// barrier, else 1 + index into Phases::kinds. The rest is what the operation needs of its
/// operands; the lane is resumed with the results in result0 and result1 (64 bits: low and high
/// word).
struct WaveRegs {
  Reg kind, low, high, b, c, members, result0, result1;
};
struct Phases {
  Program program;          ///< contains no barrier and no cross-lane operation
  Reg resume;               ///< b32; in and out of one phase
  std::vector<Inst> stops;  ///< stops[k - 1] is the one that `resume = k` waits at
  Reg barrier_id,
      barrier_count;  ///< b32; set before the phase ends when an operand is not constant
  std::vector<Reg>
      carried;    ///< registers whose values must survive from phase to phase (with resume)
  WaveRegs wave;  ///< invalid when the program has no cross-lane operation
  std::vector<Inst> kinds;  ///< the cross-lane operations that differ in more than their operands
};
Phases split_phases(const Program& program);
/// Some instruction needs the other lanes of its wave.
bool has_wave_ops(const Program& program);

/// Structured control flow, ready for SPIR-V: every break and continue leaves exactly the innermost
/// loop or scope around it.
struct Node {
  enum class Kind : uint8_t {
    block,  ///< run the instructions of Program::blocks[block]
    if_,    ///< cond ? body : otherwise
    loop,   ///< run body again and again until break_ ; the end of body continues
    scope,  ///< run body once; break_ leaves it
    break_,
    continue_,
    exit,    ///< the lane ends (phase mode: the phase ends)
    assign,  ///< pred register reg = value
  };
  Kind kind = Kind::block;
  uint32_t block = kNone;
  Guard cond;
  Reg reg;
  bool value = false;
  uint32_t site = kNone;  ///< loops: the back edge's instruction, for the step budget's report
  std::vector<Node> body, otherwise;
};
struct Structured {
  Program
      program;  ///< the input after lower_switches and make_reducible, with flag registers added
  std::vector<Node> body;
};
/// Any program; throws only on internal errors.
Structured structurise(const Program& program);
std::string print(const Structured& structured);

}  // namespace lanewise::ir
