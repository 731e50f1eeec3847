#include "runtime/vulkan/device.hpp"

#include <algorithm>

#include "runtime/support/error.hpp"

namespace lanewise::vulkan {
namespace {

/// The feature structures that switch on exactly what FeatureSet says, linked for creation.
struct EnabledFeatures {
  vk::PhysicalDeviceFeatures2 base;
  vk::PhysicalDevice16BitStorageFeatures storage16;
  vk::PhysicalDevice8BitStorageFeatures storage8;
  vk::PhysicalDeviceShaderFloat16Int8Features small;
  vk::PhysicalDeviceBufferDeviceAddressFeatures address;
  vk::PhysicalDeviceShaderAtomicInt64Features atomics;
  vk::PhysicalDeviceVulkanMemoryModelFeatures model;
  vk::PhysicalDeviceSubgroupSizeControlFeatures sizes;
  vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics;

  explicit EnabledFeatures(const FeatureSet& f) {
    base.features.shaderInt64 = f.int64;
    base.features.shaderInt16 = f.int16;
    base.features.shaderFloat64 = f.float64;
    void** tail = &base.pNext;
    const auto link = [&tail](auto& node, bool used) {
      if (!used) return;
      *tail = &node;
      tail = &node.pNext;
    };
    storage16.storageBuffer16BitAccess = f.storage16;
    link(storage16, f.storage16);
    storage8.storageBuffer8BitAccess = f.storage8;
    link(storage8, f.storage8);
    small.shaderInt8 = f.int8;
    small.shaderFloat16 = f.float16;
    link(small, f.int8 || f.float16);
    address.bufferDeviceAddress = f.bda;
    link(address, f.bda);
    atomics.shaderBufferInt64Atomics = f.buffer_int64_atomics;
    atomics.shaderSharedInt64Atomics = f.shared_int64_atomics;
    link(atomics, f.buffer_int64_atomics || f.shared_int64_atomics);
    model.vulkanMemoryModel = f.memory_model;
    model.vulkanMemoryModelDeviceScope = f.memory_model_device_scope;
    link(model, f.memory_model);
    sizes.subgroupSizeControl = f.subgroup_sizes;
    sizes.computeFullSubgroups = f.full_subgroups;
    link(sizes, f.subgroup_sizes);
    statistics.pipelineExecutableInfo = f.statistics;
    link(statistics, f.statistics);
  }
  EnabledFeatures(const EnabledFeatures&) = delete;
  EnabledFeatures& operator=(const EnabledFeatures&) = delete;
};

vk::raii::Device create(const vk::raii::PhysicalDevice& physical, const DeviceFacts& facts) {
  const float priority = 1.0F;
  vk::DeviceQueueCreateInfo queue({}, facts.queue_family, 1, &priority);
  EnabledFeatures features(facts.features);
  std::vector<const char*> extensions = facts.extensions;
  if (facts.features.statistics) {
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  }
  std::ranges::sort(extensions);
  extensions.erase(std::ranges::unique(extensions).begin(), extensions.end());
  vk::DeviceCreateInfo info({}, queue, {}, extensions, nullptr, &features.base);
  return vk::raii::Device(physical, info);
}

vk::raii::CommandPool make_pool(const vk::raii::Device& device, uint32_t family) {
  return vk::raii::CommandPool(
      device,
      vk::CommandPoolCreateInfo(vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family));
}

}  // namespace

Device::Device(ChosenDevice chosen)
    : instance_(std::move(chosen.instance)),
      facts_(std::move(chosen.device.facts)),
      physical_(std::move(chosen.device.handle)),
      memory_(physical_.getMemoryProperties()),
      device_(create(physical_, facts_)),
      queue_(device_, facts_.queue_family, 0),
      pool_(make_pool(device_, facts_.queue_family)) {
  if (facts_.compile_only) return;
  fence_ = vk::raii::Fence(device_, vk::FenceCreateInfo());
  vk::raii::CommandBuffers made(
      device_, vk::CommandBufferAllocateInfo(*pool_, vk::CommandBufferLevel::ePrimary, 1));
  commands_ = std::move(made.front());
}

std::optional<uint32_t> Device::memory_type(uint32_t allowed,
                                            vk::MemoryPropertyFlags wanted) const {
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    if ((allowed >> i & 1) != 0 && (memory_.memoryTypes[i].propertyFlags & wanted) == wanted) {
      return i;
    }
  }
  return {};
}

bool Device::try_memory(Buffer& buffer, const vk::MemoryRequirements& needs,
                        vk::MemoryPropertyFlags wanted, bool with_address) const {
  const auto type = memory_type(needs.memoryTypeBits, wanted);
  if (!type) return false;
  vk::MemoryAllocateFlagsInfo flags(vk::MemoryAllocateFlagBits::eDeviceAddress);
  vk::MemoryAllocateInfo info(needs.size, *type, with_address ? &flags : nullptr);
  try {
    buffer.memory = vk::raii::DeviceMemory(device_, info);
    if (wanted & vk::MemoryPropertyFlagBits::eHostVisible) {
      buffer.map = static_cast<std::byte*>(buffer.memory.mapMemory(0, VK_WHOLE_SIZE));
    }
  } catch (const vk::SystemError&) {
    buffer.memory = nullptr;
    return false;  // this heap is full (or cannot be mapped); another may do
  }
  const auto have = memory_.memoryTypes[*type].propertyFlags;
  buffer.cached = static_cast<bool>(have & vk::MemoryPropertyFlagBits::eHostCached);
  return true;
}

Buffer Device::make_buffer(uint64_t size, Place place, bool with_address) const {
  using Use = vk::BufferUsageFlagBits;
  using Mem = vk::MemoryPropertyFlagBits;
  vk::BufferUsageFlags use = Use::eStorageBuffer | Use::eTransferSrc | Use::eTransferDst;
  if (with_address) use |= Use::eShaderDeviceAddress;
  Buffer made;
  made.size = size;
  made.handle = vk::raii::Buffer(device_, vk::BufferCreateInfo({}, size, use));
  const vk::MemoryRequirements needs = made.handle.getMemoryRequirements();
  const vk::MemoryPropertyFlags mapped = Mem::eHostVisible | Mem::eHostCoherent;
  std::vector<vk::MemoryPropertyFlags> wishes;
  if (place == Place::host) {
    wishes = {mapped | Mem::eHostCached, mapped};
  } else if (place == Place::device) {
    wishes = {mapped | Mem::eDeviceLocal | Mem::eHostCached,
              mapped | Mem::eDeviceLocal,
              Mem::eDeviceLocal,
              {}};
  } else {
    wishes = {Mem::eDeviceLocal, {}};
  }
  const bool placed = std::ranges::any_of(
      wishes, [&](auto wish) { return try_memory(made, needs, wish, with_address); });
  if (!placed) throw vk::OutOfDeviceMemoryError("no memory type could hold the buffer");
  made.handle.bindMemory(*made.memory, 0);
  if (with_address)
    made.address = device_.getBufferAddress(vk::BufferDeviceAddressInfo(*made.handle));
  return made;
}

void Device::submit(const std::function<void(const vk::raii::CommandBuffer&)>& record) {
  commands_.reset();
  commands_.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
  record(commands_);
  full_barrier(commands_);
  commands_.end();
  device_.resetFences(*fence_);
  queue_.submit(vk::SubmitInfo({}, {}, *commands_), *fence_);
}

Wait Device::wait(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
  const uint64_t patience = left.count() > 0 ? static_cast<uint64_t>(left.count()) : 0;
  const vk::Result result = device_.waitForFences(*fence_, VK_TRUE, patience);
  return result == vk::Result::eSuccess ? Wait::done : Wait::expired;
}

void Device::run(const std::function<void(const vk::raii::CommandBuffer&)>& record) {
  submit(record);
  while (wait(Clock::now() + std::chrono::seconds(10)) != Wait::done) {
  }
}

void full_barrier(const vk::raii::CommandBuffer& commands) {
  using Access = vk::AccessFlagBits;
  using Stage = vk::PipelineStageFlagBits;
  const vk::MemoryBarrier barrier(Access::eMemoryWrite, Access::eMemoryRead | Access::eMemoryWrite);
  commands.pipelineBarrier(Stage::eAllCommands, Stage::eAllCommands | Stage::eHost, {}, barrier, {},
                           {});
}

}  // namespace lanewise::vulkan
