// What the driver's compiler says about kernels (VK_KHR_pipeline_executable_properties). Works on
// devices that run nothing, too. No Vulkan type is visible here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::vulkan {

/// "Instructions", "Spilled VGPRs", ...: the driver's own names.
struct Statistic {
  std::string name;
  double value = 0;
};

class StatisticsCompiler {
 public:
  /// Throws Error(device) when the driver reports nothing about its code.
  explicit StatisticsCompiler(std::string_view selector);
  ~StatisticsCompiler();

  const EngineInfo& info() const;
  /// Of a translated kernel: its module has the bindings of shaders/INTERFACE.md. `wave_lanes`: of
  /// its waves, if these are kept together (packed mode), else 0.
  std::vector<Statistic> translated(std::span<const uint32_t> spirv, uint32_t wave_lanes);
  /// Of a hand-written kernel, which has push constants alone (native.hpp).
  std::vector<Statistic> native(std::span<const uint32_t> spirv);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lanewise::vulkan
