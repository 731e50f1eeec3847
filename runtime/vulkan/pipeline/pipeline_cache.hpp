// Compute pipelines. All share one layout: the storage buffers and the push constants of
// shaders/INTERFACE.md.
#pragma once

#include <array>
#include <span>

#include "runtime/layout/push_words.hpp"
#include "runtime/vulkan/device/device.hpp"
#include "runtime/vulkan/pipeline/disk_cache.hpp"

namespace lanewise::vulkan {

inline constexpr uint32_t kBindings = 6;  ///< shaders/INTERFACE.md, descriptor set 0

using PushWords = std::array<uint32_t, guest::kPushWords>;

struct Pipeline {
  vk::raii::Pipeline handle = nullptr;
  uint64_t number = 0;  ///< no other pipeline's
  bool valid() const { return *handle != vk::Pipeline(); }
};

/// The layout of every translated kernel.
vk::raii::DescriptorSetLayout kernel_set_layout(const vk::raii::Device& device);
vk::raii::PipelineLayout kernel_layout(const vk::raii::Device& device,
                                       const vk::raii::DescriptorSetLayout& set);

/// The layout, descriptor sets, and the driver's pipeline cache (kept on disk).
class Pipelines {
 public:
  Pipelines(Device& device, DiskCache& disk);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// `subgroup_size`: what the module counts on; 0 = nothing.
  Pipeline create(std::span<const uint32_t> spirv, uint32_t subgroup_size = 0);
  /// The number of a new descriptor set.
  size_t add_set();
  /// The buffers that the next dispatches with the set use; a range of each from its start.
  struct Binding {
    const Buffer* buffer;
    uint64_t range;
  };
  void bind(size_t set, const std::array<Binding, kBindings>& bindings);
  /// Changes when bind() changes something: what was recorded with the set is good no longer then.
  uint64_t bound(size_t set) const { return sets_[set].bound; }
  /// Records one dispatch of `groups` work-groups whose first is `base`.
  void record(const vk::raii::CommandBuffer& commands, const Pipeline& pipeline, size_t set,
              const PushWords& push, const std::array<uint32_t, 3>& base,
              const std::array<uint32_t, 3>& groups) const;

 private:
  void save();

  Device& device_;
  DiskCache& disk_;
  CacheKey key_;
  vk::raii::DescriptorSetLayout set_layout_;
  vk::raii::PipelineLayout layout_;
  struct Set {
    vk::raii::DescriptorPool pool;
    vk::raii::DescriptorSet handle = nullptr;
    /// Number of the buffer, and the range.
    std::array<std::pair<uint64_t, uint64_t>, kBindings> buffers{};
    uint64_t bound = 0;
  };
  std::vector<Set> sets_;
  vk::raii::PipelineCache cache_ = nullptr;
  bool unsaved_ = false;
};

}  // namespace lanewise::vulkan
