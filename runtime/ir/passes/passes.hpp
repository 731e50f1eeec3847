// Passes over the IR: free functions, each leaves a program that verify() accepts.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Replaces symbol operands by immediates. `address_of` is asked once per symbol.
void bind_symbols(Program& program, const std::function<uint64_t(const Symbol&)>& address_of);

/// GCN buffer addresses whose descriptor has known fields become the few operations that are left
/// of them. True when there were any.
bool expand_descriptors(Program& program);

/// What a launch promises, as far as checks can be settled beforehand.
struct CheckFacts {
  uint64_t params = 0, shared = 0, local = 0;  ///< bytes
  Dim3 block;                                  ///< threads of a group
  bool off = false;                            ///< --memcheck off: nothing is checked
  bool allocations = false;                    ///< --memcheck alloc: some may be read only
  bool read_only_end = false;                  ///< the last bytes of the arena may only be read
  bool keeps_spaces = false;  ///< generic accesses stay generic: faults name the guest's address
};
/// Puts a check in front of every load, store and atomic, which then only happens where it returned
/// yes. Accesses that are legal whatever the launch's data are need none, and accesses of one block
/// to the same bytes share one.
void insert_checks(Program& program, const CheckFacts& facts);

/// Marks float operations (Inst::any_nan) whose result may be any NaN, since all that reads it
/// takes NaNs alike; what a loop adds up is made canonical behind the loop (`f2f` of one type).
/// Meant for engines that must make NaNs canonical themselves. The last pass: none after it may
/// join marked operations with others.
void relax_nans(Program& program);

/// Takes loops out of the step budget (Terminator::counts) that make at most 4096 iterations by a
/// counter with a constant start, step and end; loops of a nest at most 2^20 together. Every engine
/// asks this about the program it is given, before any other pass, so all of them count the same.
void mark_free_loops(Program& program);

/// Turns switch terminators into chains of compares and branches.
void lower_switches(Program& program);

/// Makes every cycle single-entry: an irreducible region gets one dispatch block in front that
/// branches on a selector register to the region's former entries.
void make_reducible(Program& program);

/// Registers live on entry to and on exit from each block.
struct Liveness {
  std::vector<std::vector<uint32_t>> in, out;  ///< [block], ascending
};
Liveness liveness(const Program& program);

/// Which lanes a proof covers. Registers that the program calls scalar are the same in a wave.
enum class Together : uint8_t { wave, group };

/// Every barrier and cross-lane operation is proven to be reached by all lanes of the group
/// together (no lane exits before).
bool convergence_uniform(const Program& program);
/// The same of barriers alone, for the lanes of each group or of each wave.
bool barriers_uniform(const Program& program, Together together = Together::group);

/// Where the only cross-lane operations ask whether some lane of the wave has a condition that all
/// lanes of the group have or none, the condition itself takes their place; else nothing is
/// changed.
bool drop_uniform_ballots(Program& program);

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
  bool counts = true;     ///< loops: some back edge is a step of the budget
  uint32_t site = kNone;  ///< loops: the back edge's instruction, for the step budget's report
  std::vector<Node> body, otherwise;
};
struct Structured {
  Program
      program;  ///< the input after lower_switches and make_reducible, with flag registers added
  std::vector<Node> body;
  bool flattened = false;  ///< into one loop around a dispatch, as it nests too deep
};
/// How deep a tree may nest before the program is flattened: what was measured against drivers
/// (lavapipe's mask stacks hold 80 entries and lose count beyond).
struct TreeLimits {
  uint32_t constructs = 40, ifs = 60, depth = 120;
  bool rows = true;  ///< splits rows of exits, which drivers nest
};
/// Some jump is a step of the budget: one backwards, where there are loops at all, as a block may
/// stand before the one that leads to it.
bool takes_steps(const Program& program);
/// Any program; throws only on internal errors.
Structured structurise(const Program& program, const TreeLimits& limits = {});
std::string print(const Structured& structured);

/// The order in which a wave that runs the tree in step comes to the program's instructions. A
/// place is an instruction in one iteration of each loop around it; docs/execution.md compares two.
struct WaveOrder {
  struct Loop {
    Reg iteration;  ///< b32: how often the lane has come to the loop's begin since it entered
    uint32_t position = 0;  ///< of the loop's begin
  };
  struct Place {
    uint32_t position = 0;    ///< of the block in the tree, 1 ...; 0 = it has no instructions
    std::vector<Loop> loops;  ///< around it, those that are counted; the outermost first
  };
  /// Where a block's instructions stood in the input.
  struct Origin {
    uint32_t block = kNone;
    uint32_t added = 0;  ///< instructions in front of them
    uint32_t count = 0;
  };
  Structured tree;              ///< of the program, with instructions that count `iteration`
  std::vector<Place> places;    ///< [block]
  std::vector<Origin> origins;  ///< [block]
};
enum class CountLoops : uint8_t { none, with_wave_ops };
WaveOrder order_waves(const Program& program, CountLoops count);

/// Splits the kernel at its stops, barriers and cross-lane operations, so that each lane can be run
/// from stop to stop: a stop becomes `resume = k; exit`, and the entry dispatches on `resume` (0 at
/// first). A lane that has ended leaves resume = kPhaseEnded. Stops are numbered as the program
/// lists them, or as the tree has them when an order is given.
inline constexpr uint32_t kPhaseEnded = 0xffffffff;
/// Bit of WaveRegs::kind: the operation waits for the lanes of its mask (Program::rendezvous).
inline constexpr uint32_t kRendezvousKind = 0x80000000;
/// How a lane hands a cross-lane operation over, b32 registers. `kind` is set at every stop: 0 at a
/// barrier, else 1 + index into Phases::kinds, with that bit. The rest is what the operation needs
/// of its operands; the lane is resumed with the results in result0 and result1 (64 bits: low and
/// high word).
struct WaveRegs {
  Reg kind, low, high, b, c, members, result0, result1;
};
struct Phases {
  Program program;          ///< contains no barrier and no cross-lane operation
  Reg resume;               ///< b32; in and out of one phase
  std::vector<Inst> stops;  ///< stops[k - 1] is the one that `resume = k` waits at
  /// Of the stops, when an order was given: what docs/execution.md compares.
  std::vector<WaveOrder::Place> places;
  Reg barrier_id,
      barrier_count;  ///< b32; set before the phase ends when an operand is not constant
  std::vector<Reg>
      carried;    ///< registers whose values must survive from phase to phase (with resume)
  WaveRegs wave;  ///< invalid when the program has no cross-lane operation
  std::vector<Inst> kinds;  ///< the cross-lane operations that differ in more than their operands
};
Phases split_phases(const Program& program);
Phases split_phases(const WaveOrder& order);
/// Some instruction needs the other lanes of its wave.
bool has_wave_ops(const Program& program);

}  // namespace lanewise::ir
