// Op::dot as the operations it is made of.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

struct DotExpansion {
  bool chains = true;  ///< sums by fma (DotRule::fraction 0)
  bool cuts = true;    ///< sums that are cut
  bool integers = true;
};

/// Sums by fma become conversions and one ffma for each product, sums that are cut conversions to
/// integers and back (dot_cut.cpp, dot_wide.cpp), sums of integers products. True when something
/// changed.
bool expand_dots(Program& program, DotExpansion which = {});

}  // namespace lanewise::ir
