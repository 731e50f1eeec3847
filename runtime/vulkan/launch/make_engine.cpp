#include "runtime/vulkan/device/profiles.hpp"
#include "runtime/vulkan/launch/engine.hpp"
#include "runtime/vulkan/pipeline/compile_only.hpp"

namespace lanewise::vulkan {

std::unique_ptr<Engine> make_engine(std::string_view selector, const Options& options) {
  constexpr std::string_view kProfile = "profile:";
  if (selector.starts_with(kProfile)) {
    return make_profile_engine(selector.substr(kProfile.size()), spirv::translate);
  }
  ChosenDevice chosen = find_device(selector, options.validation || validation_from_environment());
  if (chosen.device.facts.compile_only) {
    const DeviceFacts& facts = chosen.device.facts;
    spirv::Target target = facts.target;
    assume_gpu(target);
    return std::make_unique<CompileOnlyEngine>(facts.info, facts.index, target, spirv::translate);
  }
  return std::make_unique<VulkanEngine>(std::move(chosen), options, spirv::translate);
}

const spirv::Target* target_of(const Engine& engine) {
  if (const auto* own = dynamic_cast<const VulkanEngine*>(&engine)) return &own->target();
  if (const auto* own = dynamic_cast<const CompileOnlyEngine*>(&engine)) return &own->target();
  return nullptr;
}

std::string arena_limit_of(const Engine& engine) {
  const auto* own = dynamic_cast<const VulkanEngine*>(&engine);
  return own == nullptr ? std::string() : own->arena_limit();
}

int index_of(const Engine& engine) {
  if (const auto* own = dynamic_cast<const VulkanEngine*>(&engine)) return own->index();
  if (const auto* own = dynamic_cast<const CompileOnlyEngine*>(&engine)) return own->index();
  return -1;
}

}  // namespace lanewise::vulkan
