// What decoding finds out about a program as a whole.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::reference {

/// Which instructions of the first block give each lane the same values in every group: of the
/// parameters, of the lane's place, of constants. A launch carries them out once.
std::vector<bool> done_once(const ir::Program& program);

bool reads_clocks(const ir::Program& program);

/// The blocks in an order in which lanes that were parted meet again where paths do: what a loop
/// holds comes before what it leads to.
std::vector<uint32_t> meeting_order(const ir::Program& program);

/// Who could see in which order lanes and groups run, beside racing accesses.
struct OrderSeen {
  bool lanes = false;   ///< of one group
  bool groups = false;  ///< of the launch
};
OrderSeen order_seen(const ir::Program& program);

}  // namespace lanewise::reference
