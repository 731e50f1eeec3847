// What two launches left behind, side by side.
#pragma once

#include <optional>

#include "runtime/diff/side.hpp"

namespace lanewise::diff {

/// One element that differs by more than the bound.
struct Element {
  size_t input = 0;      ///< index of the buffer; behind the last one: a variable
  std::string variable;  ///< its name then
  uint64_t index = 0;    ///< of the element; of the byte in a variable
};

struct Comparison {
  uint64_t different = 0;         ///< elements beyond the bound
  uint64_t within = 0;            ///< floats that differ, but not by more than the bound
  uint64_t nan_payloads = 0;      ///< both are NaN, with different bits
  uint64_t pointers = 0;          ///< to the same place of a buffer that lies elsewhere
  double largest = 0;             ///< difference among those within the bound
  std::vector<Element> elements;  ///< the first of those that differ
  bool same() const { return different == 0; }
};

/// bound: absolute, for floats; 0 = bit for bit but for NaNs.
Comparison compare(const std::vector<Input>& inputs, const Outcome& a, const Outcome& b,
                   double bound);

/// Did the launch change anything that the inputs or the module held before?
bool stored(const std::vector<Input>& inputs, const Outcome& outcome);

}  // namespace lanewise::diff
