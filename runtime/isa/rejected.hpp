// A kernel that a front end could not lower. The other kernels of its file stay usable.
#pragma once

#include <string>
#include <vector>

#include "lanewise/error.hpp"

namespace lanewise::isa {

struct RejectedKernel {
  std::string name;
  std::vector<Diagnostic> diagnostics;  ///< at least one error, in line order
};

/// Files a lowered kernel under `result`: with the kernels that run when nothing but warnings was
/// found, else with the rejected ones.
template <typename Result, typename Program>
void keep_or_reject(Result& result, Program program, std::vector<Diagnostic> found) {
  result.diagnostics.insert(result.diagnostics.end(), found.begin(), found.end());
  std::erase_if(found, [](const Diagnostic& d) { return d.warning; });
  if (found.empty())
    result.module.kernels.push_back(std::move(program));
  else
    result.rejected.push_back({program.name, std::move(found)});
}

}  // namespace lanewise::isa
