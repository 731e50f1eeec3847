// What the printer has to know of a tree before it writes it.
#pragma once

#include "tests/fuzz/programs/tree.hpp"

namespace lanewise::programs::sass {

/// Where lanes go that leave a loop's body early.
struct LoopUse {
  bool breaks = false;     ///< behind this loop
  bool continues = false;  ///< on with this loop
  bool crosses = false;    ///< behind or on with a loop around it
};
LoopUse use_of(const Loop& loop);

/// True when something in it looks at other lanes, also in functions that it calls.
bool looks_across(const Program& p, const Statement& s);
bool looks_across(const Program& p);

/// No lane comes to the end of the block.
bool always_leaves(const Block& b);

}  // namespace lanewise::programs::sass
