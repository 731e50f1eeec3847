// wmma: whole matrices in memory, because how fragments lie in registers is not documented.
#pragma once

#include <optional>
#include <string>

#include "tests/hardware/truth/matrix.hpp"

namespace lanewise::truth {

struct WmmaForm {
  std::string form, text;  ///< a kernel that loads, multiplies and stores
  unsigned m = 0, n = 0, k = 0;
  Fragment d, a, b, c;
  /// Words of a group's matrices: A, B and C behind each other, and D.
  unsigned in() const;
  unsigned out() const;
};

/// wmma.mma; its loads and stores stand in the kernel.
std::optional<WmmaForm> wmma_form(const std::string& header, const std::string& form);
Job wmma_job(const WmmaForm& f, uint32_t groups);

}  // namespace lanewise::truth
