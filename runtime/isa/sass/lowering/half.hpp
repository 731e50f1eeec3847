// Arithmetic of half precision, from sm_53 on.
#pragma once

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

/// Of two numbers that an instruction holds, the one for the lower half; the upper one is role b.
inline constexpr Role kLowNumber = Role::test;

void lower_hadd2(LowerContext&, const Instruction&);
void lower_hmul2(LowerContext&, const Instruction&);
void lower_hfma2(LowerContext&, const Instruction&);
void lower_hset2(LowerContext&, const Instruction&);
void lower_hsetp2(LowerContext&, const Instruction&);

}  // namespace lanewise::sass
