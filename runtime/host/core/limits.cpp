#include <algorithm>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/operation.hpp"

namespace lanewise::core {

const Limits& limits() {
  static const Limits the_limits = [] {
    const Gpu& gpu = current_gpu();
    Limits out;
    out.shared = gpu.shared_per_block;
    out.shared_optin = gpu.shared_optin;
    return out;
  }();
  return the_limits;
}

}  // namespace lanewise::core
