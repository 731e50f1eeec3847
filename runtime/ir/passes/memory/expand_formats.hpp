#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Elements of typed loads whose format is known become the few operations that it takes: words,
/// and integers and fractions of 8 and 16 bits. True when there were any.
bool expand_formats(Program& program);

}  // namespace lanewise::ir
