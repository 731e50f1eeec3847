// From a tree to the text of one instruction set.
//
// A printer writes the code of a stream script (docs/stream-scripts.md), which is also what the
// harness runs. It finds two parameters of 64 bits: `src`, the address of the table (kTableWords
// words), and `dst`, the address of the output buffer. PTX has them as parameters of these names,
// SASS in c[0x0][0x140] and c[0x0][0x148], GCN at s[0:1] + 0 and + 8. The launch has
// Program::block threads in x and Program::groups groups in x; both may stand in the text as
// numbers.
//
// The text must do just what tree.hpp says: fill the registers (Initial), run the body, store every
// register (word kSlots + number of the lane's stride() words) and the mark (the word behind them)
// where a lane ends. Lanes that the tree holds together must be together in the text: after an if
// they meet again, and so on. How it does that is the printer's affair and should vary with Style.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/programs/random.hpp"
#include "tests/fuzz/programs/tree.hpp"

namespace lanewise::programs {

/// Ways to write the same thing.
struct Style {
  bool predicate_ifs = false;  ///< ifs around a few plain statements become guards
  bool rotate_loops = false;   ///< loops that are tested first have their test at the bottom
  bool join_tests = false;     ///< a loop's two tests make one branch
  bool cold_sides = false;     ///< the sides of ifs that are `no` stand behind the end
  bool one_end = false;        ///< lanes that return jump to one place that stores the registers
  enum class Switches : uint8_t { chain, halves, table } switches = Switches::chain;
  /// The kernel's exits stay exits. A stream script leads them all to one place, where it stores
  /// registers; this is for the harness, no affair of a printer's.
  bool own_exits = false;
  uint64_t seed = 0;  ///< for all else; a printer may make a Random of it
};
Style random_style(Random& random);

struct Text {
  std::string target, version;  ///< of the script; empty = its default
  std::string declarations;     ///< PTX: functions
  std::string code;
  uint32_t shared = 0;  ///< bytes that the launch must give
  std::vector<std::pair<std::string, std::string>> policies;
};

/// What a printer can write; the generator makes nothing else.
struct Features {
  std::vector<CrossOp> cross;
  bool calls = false, exchange = false, regions = false, switches = false, private_slots = false;
  bool tiles = false;  ///< member masks
};

struct InstructionSet {
  std::string name;  ///< "ptx", "sass", "gcn", as scripts and options have it
  uint32_t wave = 32;
  Features features;
  Text (*print)(const Program&, const Style&) = nullptr;
};
/// Those that have a printer: one function each, in the folder of its name.
const std::vector<InstructionSet>& instruction_sets();
InstructionSet ptx_set();
InstructionSet sass_set();
InstructionSet gcn_set();

}  // namespace lanewise::programs
