#include "runtime/spirv/fault_points.hpp"

namespace lanewise::spirv {

uint32_t FaultPoints::number(const FaultPoint& point) {
  const auto next = static_cast<uint32_t>(points_.size()) + 1;
  const auto [at, fresh] = numbers_.try_emplace(point, next);
  if (fresh) points_.push_back(point);
  const uint32_t n = at->second;
  const bool ends =
      point.kind == FaultKind::step_budget || point.kind == FaultKind::wave_divergence;
  return ends ? n | kEndsLaunch : n;
}

}  // namespace lanewise::spirv
