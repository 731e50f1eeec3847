#include "runtime/vulkan/pipeline/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/spirv/translate.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/pipeline/compute_stage.hpp"
#include "runtime/vulkan/pipeline/native_layout.hpp"
#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {
namespace {

ChosenDevice choose_with_statistics(std::string_view selector) {
  ChosenDevice chosen = find_device(selector, validation_from_environment());
  DeviceFacts& facts = chosen.device.facts;
  if (!facts.has_statistics) {
    throw Error(ErrorKind::device,
                fmt::format("the driver of {} ({}) reports nothing about the code that it makes "
                            "(VK_KHR_pipeline_executable_properties is missing)",
                            facts.info.name, facts.info.driver));
  }
  facts.features.statistics = true;
  return chosen;
}

double value_of(const vk::PipelineExecutableStatisticKHR& s) {
  switch (s.format) {
    case vk::PipelineExecutableStatisticFormatKHR::eBool32:
      return s.value.b32;
    case vk::PipelineExecutableStatisticFormatKHR::eInt64:
      return static_cast<double>(s.value.i64);
    case vk::PipelineExecutableStatisticFormatKHR::eUint64:
      return static_cast<double>(s.value.u64);
    default:
      return s.value.f64;
  }
}

}  // namespace

struct StatisticsCompiler::Parts {
  Device device;
  vk::raii::DescriptorSetLayout set;
  vk::raii::PipelineLayout translated, native;

  explicit Parts(std::string_view selector)
      : device(choose_with_statistics(selector)),
        set(kernel_set_layout(device.vk())),
        translated(kernel_layout(device.vk(), set)),
        native(native_layout(device.vk())) {}

  std::vector<Statistic> compile(std::span<const uint32_t> spirv,
                                 const vk::raii::PipelineLayout& layout, uint32_t subgroup_size) {
    try {
      return compiled(spirv, layout, subgroup_size);
    } catch (const vk::SystemError& error) {
      throw Error(ErrorKind::device,
                  fmt::format("the driver refused the module: {}", error.what()));
    }
  }

  std::vector<Statistic> compiled(std::span<const uint32_t> spirv,
                                  const vk::raii::PipelineLayout& layout, uint32_t subgroup_size) {
    const vk::raii::ShaderModule module(
        device.vk(), vk::ShaderModuleCreateInfo({}, spirv.size_bytes(), spirv.data()));
    const ComputeStage stage(*module, device.facts(), subgroup_size);
    const vk::raii::Pipeline pipeline(
        device.vk(), nullptr,
        vk::ComputePipelineCreateInfo(vk::PipelineCreateFlagBits::eCaptureStatisticsKHR, stage.info,
                                      *layout));
    std::vector<Statistic> all;
    const auto found =
        device.vk().getPipelineExecutableStatisticsKHR(vk::PipelineExecutableInfoKHR(*pipeline, 0));
    for (const auto& s : found) all.push_back({s.name.data(), value_of(s)});
    return all;
  }
};

StatisticsCompiler::StatisticsCompiler(std::string_view selector) {
  try {
    parts_ = std::make_unique<Parts>(selector);
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::device,
                fmt::format("the Vulkan device cannot be opened: {}", error.what()));
  }
}
StatisticsCompiler::~StatisticsCompiler() = default;

const EngineInfo& StatisticsCompiler::info() const {
  return parts_->device.facts().info;
}
std::vector<Statistic> StatisticsCompiler::translated(std::span<const uint32_t> spirv,
                                                      uint32_t wave_lanes) {
  const spirv::Target& target = parts_->device.facts().target;
  const uint32_t size = wave_lanes == 0 ? 0 : spirv::narrowed(target, wave_lanes).subgroup_size;
  return parts_->compile(spirv, parts_->translated, size);
}
std::vector<Statistic> StatisticsCompiler::native(std::span<const uint32_t> spirv) {
  return parts_->compile(spirv, parts_->native, 0);
}

}  // namespace lanewise::vulkan
