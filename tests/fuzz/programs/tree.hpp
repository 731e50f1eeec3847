// Random programs as trees: what a program means, before any instruction set. A printer
// (print.hpp) writes it in one, evaluate.hpp says what every lane stores.
//
// Every lane has the same registers of 32 bits. Lanes hold together as the tree says: both sides of
// an `if` meet after it, lanes that break wait behind the loop, lanes that continue wait for the
// others at the loop's next iteration, iterations never mix, lanes that have returned are gone.
// Operations across lanes act on the lanes of a wave that are together at that place.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace lanewise::programs {

/// A register by number, or a value.
struct Operand {
  bool immediate = false;
  uint32_t value = 0;
  static Operand reg(uint32_t number) { return {false, number}; }
  static Operand imm(uint32_t value) { return {true, value}; }
};

/// u: unsigned, s: signed.
enum class Relation : uint8_t { eq, ne, ult, ule, ugt, uge, slt, sle, sgt, sge };
Relation negated(Relation r);

/// register `left` against `right`.
struct Condition {
  Relation relation = Relation::eq;
  uint32_t left = 0;
  Operand right;
};
/// The lanes that do it; nothing = all that are there.
using Guard = std::optional<Condition>;

/// mov takes `a` alone. Shifts take an immediate below 32. mul gives the low 32 bits.
enum class AluOp : uint8_t {
  mov,
  add,
  sub,
  band,
  bor,
  bxor,
  shl,
  shr,
  sar,
  umin,
  umax,
  smin,
  smax,
  mul
};
struct Alu {
  AluOp op = AluOp::mov;
  uint32_t to = 0, a = 0;  ///< registers; mov may have `b` in place of `a`
  Operand b;
  Guard guard;
};
/// to = test ? a : b.
struct Select {
  uint32_t to = 0;
  Condition test;
  uint32_t a = 0;
  Operand b;
  Guard guard;
};
/// to = table[index & (kTableWords - 1)].
struct Load {
  uint32_t to = 0, index = 0;
  Guard guard;
};
/// own[slot] = from, or to = own[slot]. The slot is the immediate, or register & (kSlots - 1).
/// `is_private`: the lane's slots in local memory, which are 0 at first.
struct Store {
  Operand slot;
  uint32_t from = 0;
  Guard guard;
  bool is_private = false;
};
struct LoadOwn {
  uint32_t to = 0;
  Operand slot;
  Guard guard;
  bool is_private = false;
};

/// `to` gets, of the lanes of the wave that are here (and pass the guard):
enum class CrossOp : uint8_t {
  ballot,  ///< the mask of those for which `test` holds; `high`: its upper half (waves of 64)
  any,     ///< 1 when `test` holds for one of them, else 0
  all,     ///< 1 when `test` holds for all of them, else 0
  active,  ///< their mask; `high` as above
  shuffle_index,  ///< `from` of lane (lane & 31)
  shuffle_xor,    ///< `from` of this lane ^ lane, an immediate below 32
  shuffle_up,     ///< `from` of this lane - lane, an immediate below 32
  shuffle_down,   ///< `from` of this lane + lane, an immediate below 32
  read_first,     ///< `from` of the lowest of them
};
/// A shuffle from a lane that does not take part, or does not exist, gives the own `from`.
/// `tile`: only lanes of the own part of the wave take part, which the member mask names. 0 = the
/// wave, 1 = lanes with even or with odd numbers, else so many lanes in a row.
struct Cross {
  CrossOp op = CrossOp::ballot;
  uint32_t to = 0, from = 0;
  Operand lane;
  Condition test;
  bool high = false;
  Guard guard;
  uint32_t tile = 0;
};

/// What changes a cell in one step, and comes to the same in any order.
enum class CombineOp : uint8_t {
  add,
  band,
  bor,
  bxor,
  umin,
  umax,
  smin,
  smax,
  add_wide  ///< cells of 64 bits; `from` is in both halves of what is added
};
inline constexpr uint32_t kCombineOps = 9;
/// cell becomes op(cell, from). Each operation has its own cells, so that their order does not
/// matter.
struct Combine {
  CombineOp op = CombineOp::add;
  uint32_t from = 0;
  Operand cell;        ///< & (kCells - 1)
  bool swaps = false;  ///< by a loop around a compare-and-swap; has no guard then
  Guard guard;
};

/// shared[thread] = from; barrier; to = shared[(thread + by) % block]; barrier.
/// Only where all lanes of the group are together; 0 < by < block.
struct Exchange {
  uint32_t to = 0, from = 0, by = 1;
};
struct Barrier {};

/// The group's pool, kPooled words of shared memory: all become `start`; barrier; pool[cell]
/// becomes op(pool[cell], from) of each lane; barrier; to = pool[read]; barrier. Only where all
/// lanes of the group are together.
struct Pool {
  CombineOp op = CombineOp::add;  ///< none of 64 bits
  uint32_t to = 0, from = 0, start = 0;
  Operand cell, read;  ///< & (kPooled - 1)
  bool swaps = false;
};

struct Statement;
using Block = std::vector<Statement>;

struct If {
  Condition test;
  Block yes, no;
};

/// counter = trips (an immediate, or (register & mask) + least); then
///   tested first:  while (counter != 0 && again) { counter -= 1; body }
///   tested last:   do { body; counter -= 1 } while (counter != 0 && again)
/// `continue` goes to the test, in the second form to the decrement. Nothing else writes the
/// counter, and trips are never 0 where the test comes last.
struct Loop {
  uint32_t counter = 0;
  Operand trips;
  uint32_t mask = 0, least = 0;
  bool tested_first = true;
  Guard again;
  Block body;
};
/// Leaves `levels` loops (1: the innermost), or goes on with the outermost of them.
struct Leave {
  uint32_t levels = 1;
  bool goes_on = false;  ///< continue
};
/// In a function: to its end. In the program: stores the registers (Program::stored) and `mark`
/// and ends the lane.
struct Return {
  uint32_t mark = 1;
};

/// Enters case (register & mask), none when there is no such case. A case that falls goes on with
/// the next.
struct Case {
  Block body;
  bool falls = false;
};
struct Switch {
  uint32_t selector = 0, mask = 3;
  std::vector<Case> cases;
};

/// Blocks with gotos, entered at block 0 or, where `enter_second` holds, at block 1. fuel = steps;
/// after each block a lane leaves when fuel is 0; else fuel -= 1 and it goes to `yes` or `no`. The
/// number of the blocks stands for the end of the region. No operations across lanes inside.
struct Region {
  struct Node {
    Block straight;  ///< Alu, Select, Load, Store, LoadOwn, Combine that does not loop
    Condition test;
    uint32_t yes = 0, no = 0;
  };
  uint32_t fuel = 0, steps = 8;
  Condition enter_second;
  std::vector<Node> nodes;
};

/// Registers of the caller; results are the callee's registers 0, 1, ...
struct Call {
  uint32_t function = 0;
  std::vector<uint32_t> arguments, results;
};

using What = std::variant<Alu, Select, Load, Store, LoadOwn, Cross, Exchange, Barrier, If, Loop,
                          Leave, Return, Switch, Region, Call, Combine, Pool>;
struct Statement {
  What what;
};

/// Has registers of its own: the arguments, then zeros. Calls only functions before it. No stores,
/// no barriers.
struct Function {
  uint32_t arguments = 1, results = 1, registers = 4;
  Block body;
};

/// What a register holds at first.
struct Initial {
  enum class Kind : uint8_t {
    thread,  ///< number of the lane in the launch: group * block + lane of the group
    table,   ///< table[(thread * scale + value) & (kTableWords - 1)]
    linear,  ///< thread * scale + value
    value
  };
  Kind kind = Kind::value;
  uint32_t value = 0, scale = 1;
};

inline constexpr uint32_t kTableWords = 256;  ///< the table is read only
inline constexpr uint32_t kSlots = 8;         ///< words of a lane that Store writes
inline constexpr uint32_t kCells = 4;         ///< of each operation of Combine
inline constexpr uint32_t kPooled = 4;

struct Program {
  uint64_t seed = 0;
  uint32_t wave = 32;  ///< lanes of one
  uint32_t block = 64, groups = 1;
  uint32_t live = 6;  ///< registers that statements write; then the counters of loops and regions
  std::vector<Initial> registers;  ///< all of them
  std::vector<Function> functions;
  Block body;
  std::vector<uint32_t> table;

  uint32_t threads() const { return block * groups; }
  /// All registers are stored, behind the slots; then the mark of the place where the lane ended.
  uint32_t stored() const { return static_cast<uint32_t>(registers.size()); }
  /// Words of one lane in the output buffer, whole groups of four; lane n has those from
  /// n * stride().
  uint32_t stride() const { return (kSlots + stored() + 1 + 3) / 4 * 4; }
  /// Behind the lanes' words: the cells of each operation, in order; those of the last one have two
  /// words each.
  uint32_t cells(CombineOp op) const {
    return threads() * stride() + kCells * static_cast<uint32_t>(op);
  }
  uint32_t words() const { return cells(CombineOp::add_wide) + 2 * kCells; }
};
inline constexpr uint32_t kEndMark = 0xe0d;         ///< of a lane that comes to the end of the body
inline constexpr uint32_t kUntouched = 0xa5a5a5a5;  ///< what the output buffer holds at first

/// The blocks inside a statement, in order.
std::vector<Block*> blocks_in(Statement& s);
std::vector<const Block*> blocks_in(const Statement& s);
/// Calls `f(const Statement&)` for every statement, outer ones first.
template <typename F>
void each_statement(const Block& block, const F& f) {
  for (const Statement& s : block) {
    f(s);
    for (const Block* inner : blocks_in(s)) each_statement(*inner, f);
  }
}
template <typename F>
void each_statement(const Program& program, const F& f) {
  for (const Function& function : program.functions) each_statement(function.body, f);
  each_statement(program.body, f);
}
/// A rough number of instructions.
uint32_t size_of(const Program& program);

}  // namespace lanewise::programs
