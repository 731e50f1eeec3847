#include "runtime/vulkan/engine.hpp"

namespace lanewise::vulkan {

std::unique_ptr<Engine> make_engine(std::string_view selector, const Options& options) {
  return make_engine_with(selector, options, spirv::translate);
}

const spirv::Target* target_of(const Engine& engine) {
  const auto* own = dynamic_cast<const VulkanEngine*>(&engine);
  return own == nullptr ? nullptr : &own->target();
}

}  // namespace lanewise::vulkan
