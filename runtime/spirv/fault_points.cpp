#include "runtime/spirv/fault_points.hpp"

#include <algorithm>

namespace lanewise::spirv {

uint32_t FaultPoints::number(const FaultPoint& point) {
  const auto known = std::ranges::find(points_, point);
  const auto n = static_cast<uint32_t>(known - points_.begin()) + 1;
  if (known == points_.end()) points_.push_back(point);
  const bool ends =
      point.kind == FaultKind::step_budget || point.kind == FaultKind::wave_divergence;
  return ends ? n | kEndsLaunch : n;
}

}  // namespace lanewise::spirv
