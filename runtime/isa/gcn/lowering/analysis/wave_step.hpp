// Where the lanes of a wave have to be brought together because nothing else orders their accesses
// to LDS.
#pragma once

#include <vector>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// One flag an instruction: all lanes must have come this far before it. A wave's lanes run in
/// step, and compilers drop the barriers of groups that are one wave; then an access to LDS may
/// meet those of other lanes before it. Kernels with a barrier order themselves, and
/// bare streams are taken lane by lane.
std::vector<bool> wave_steps(const Kernel& kernel, const Analysis& analysis);

/// Whether registers of lanes that a group's last wave does not have matter: compilers keep scalar
/// registers in lanes of vector registers (v_writelane), and reductions fill all lanes.
bool wants_whole_waves(const Kernel& kernel);

}  // namespace lanewise::gcn
