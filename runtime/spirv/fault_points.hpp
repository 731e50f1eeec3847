// The places in a kernel that can fault. A lane remembers the number of its first one and the
// address; everything else is known on the host.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::spirv {

/// What a fault's number stands for. A memory access does not say what is wrong with its address:
/// that follows from the address (runtime/vulkan/launch/fault_decode.hpp).
struct FaultPoint {
  FaultKind kind = FaultKind::none;  ///< none: a memory access
  uint32_t site = ir::kNone;
  ir::Space space = ir::Space::global;
  uint32_t bytes = 0;
  uint32_t alignment = 1;  ///< that the address must have
  bool write = false, atomic = false;
  uint32_t pointer = ir::kNone;  ///< ir::Mem::pointer
  auto operator<=>(const FaultPoint&) const = default;
};

/// Bit of a number: the fault ends the launch, not only the lane.
inline constexpr uint32_t kEndsLaunch = 0x80000000;

/// "Addresses" of faults of the kind step_budget that are the driver's doing: it has cut the loop
/// at the site, or some loop of which nobody knows which (the host reports both as the first).
inline constexpr uint32_t kCutHere = 1, kCutAnywhere = 2;

class FaultPoints {
 public:
  /// Numbers start at 1; equal points share one.
  uint32_t number(const FaultPoint& point);
  uint32_t number(FaultKind kind, uint32_t site) { return number(FaultPoint{kind, site}); }
  const std::vector<FaultPoint>& all() const { return points_; }

 private:
  std::vector<FaultPoint> points_;
  std::map<FaultPoint, uint32_t> numbers_;
};

}  // namespace lanewise::spirv
