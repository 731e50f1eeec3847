// The instructions that the generator writes, as patterns: {R} {L} {F} {D} {P} {H} are registers of
// 32, 64 bits, f32, f64, predicates and 16 bits, {n} a number below 32, {i} any number; the first
// is written.
#pragma once

#include <string>
#include <vector>

namespace ptxas {

const std::vector<std::string>& integer_forms();
const std::vector<std::string>& exact_float_forms();
const std::vector<std::string>& approximate_forms();

}  // namespace ptxas
