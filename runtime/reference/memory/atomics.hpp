// The new value that an atomic operation puts in memory.
#pragma once

#include <cstdint>

#include "runtime/ir/ir.hpp"
#include "runtime/reference/numbers/float_ops.hpp"

namespace lanewise::reference {

/// old, a and b are the element's bits (zero-extended); cas compares with a and stores b.
uint64_t atomic_result(const ir::Mem& mem, const FloatFlags& flags, uint64_t old, uint64_t a,
                       uint64_t b);

}  // namespace lanewise::reference
