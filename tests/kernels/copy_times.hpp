// When the asynchronous copies of a program are made.
#pragma once

#include "tests/kernels/support.hpp"
#include "tests/support/shares.hpp"

namespace kernels {

/// Values of the policy async.copy. Devices, whose compilers take long for late copies, run those
/// in whole tests alone.
inline std::vector<std::string> copy_times() {
  if (device().info().type == "reference" || lanewise::test::whole_tests())
    return {"immediate", "late"};
  return {"immediate"};
}

}  // namespace kernels
