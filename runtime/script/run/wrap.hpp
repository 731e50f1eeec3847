// Makes a stream a kernel: registers come from the launch's record before it and go there after it.
#pragma once

#include <string>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/script/run/registers.hpp"

namespace lanewise::script {

/// Two lists in LaunchRequest::record with an entry per thread: a 64-bit flag (in: is the thread
/// active; out: it came to its end), then 64 bits per register.
struct HiddenRegisters {
  std::vector<RegisterPart> in, out;
  uint64_t out_at = 0;   ///< where the second begins
  bool partial = false;  ///< some threads are inactive
  uint64_t in_stride() const { return 8 * (in.size() + 1); }
  uint64_t out_stride() const { return 8 * (out.size() + 1); }
  /// Adds what is not there yet; its position.
  static size_t add(std::vector<RegisterPart>& list, const RegisterPart& part);
};

/// Inactive threads of PTX and SASS skip the stream; on GCN they run it with their EXEC bit off.
/// Every register that nothing sets starts as zero.
void wrap(ir::Program& program, const HiddenRegisters& hidden, const Dim3& grid, const Dim3& block);

}  // namespace lanewise::script
