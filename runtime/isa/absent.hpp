// Functions of CUDA's device runtime that no launch here has. A program that names one runs as long
// as it does not come to the call; there it traps, and the trap's site names the function.
#pragma once

#include <string>
#include <string_view>

#include "runtime/ir/ir.hpp"

namespace lanewise::isa {

/// What the program would want of it; empty for every other name.
inline std::string_view absent_service(std::string_view function) {
  if (function == "malloc" || function == "free" || function == "__nv_aligned_device_malloc")
    return "memory of the device heap (malloc, new)";
  if (function.starts_with("cudaCG")) return "a cooperative launch (grid.sync() and the like)";
  if (function.starts_with("cuda") || function.starts_with("__cudaCDP") ||
      function.starts_with("cnp") || function.starts_with("__cuda_syscall_cnp"))
    return "CUDA's runtime on the device (dynamic parallelism)";
  return {};
}

/// It launches kernels from a kernel: no thread could go on behind the call, so that the kernel is
/// refused when it is loaded. Programs of nvcc -rdc bring bodies of these.
inline bool is_device_launch(std::string_view function) {
  for (const std::string_view name :
       {"cudaLaunchDevice", "cudaGetParameterBuffer", "__cudaCDP2LaunchDevice",
        "__cudaCDP2GetParameterBuffer", "cnpLaunchDevice", "cnpGetParameterBuffer"})
    if (function.starts_with(name)) return true;
  return false;
}

/// `what` of a kernel shows that it does so.
inline std::string device_launch_refusal(const std::string& what) {
  return what +
         " launches a kernel from a kernel (dynamic parallelism), which is not supported: launch "
         "it "
         "from the host";
}

/// The warning at the call.
inline std::string absent_warning(const std::string& function) {
  return "'" + function + "' is not supported: a thread that calls it traps; it is " +
         std::string(absent_service(function));
}

/// A site with a function and no assertion is a call of one of these.
inline void describe_absent(ir::Site& site, const std::string& function) {
  site.assertion.clear();
  site.function = function;
}

}  // namespace lanewise::isa
