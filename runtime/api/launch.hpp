// From a launch as the host asks for it to the request that an engine takes.
#pragma once

#include "runtime/api/state.hpp"

namespace lanewise::host::detail {

inline const ir::Program& program_of(const ModuleState& m, size_t index) {
  return m.module.kernels[index];
}

/// A request with everything it needs that must outlive it.
struct Prepared {
  std::optional<ir::Program> traced;  ///< with numbered events, when the device is traced
  std::optional<Allocated> scratch;
  std::optional<AllocatedParameters> params_copy;
  std::vector<Allocation> allocations;  ///< the request's, where others are prepared beside it
  LaunchRequest request;
  Dim3 block;  ///< as it was asked for; the request may have whole waves
};

/// While the device is entered. block_bytes: of the arguments, without what the kernel learns about
/// its launch.
void prepare(Prepared& out, ModuleState& module, size_t index, const LaunchOptions& options,
             uint64_t block_bytes);

}  // namespace lanewise::host::detail
