#include "runtime/vulkan/device/device.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/support/error.hpp"
#include "runtime/vulkan/device/features.hpp"

namespace lanewise::vulkan {
namespace {

/// The wrapper destroys what it holds; what is not ours stays.
vk::raii::Device borrow(const vk::raii::PhysicalDevice& physical, VkDevice handle) {
  vk::raii::Device device(physical, handle);
  auto* calls = const_cast<vk::raii::DeviceDispatcher*>(device.getDispatcher());
  calls->vkDestroyDevice = [](VkDevice, const VkAllocationCallbacks*) {};
  return device;
}

vk::raii::Device create(const vk::raii::PhysicalDevice& physical, const DeviceFacts& facts) {
  const float priority = 1.0F;
  vk::DeviceQueueCreateInfo queue({}, facts.queue_family, 1, &priority);
  EnabledFeatures features(facts.features);
  std::vector<const char*> extensions = facts.extensions;
  if (facts.features.statistics) {
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  }
  std::ranges::sort(extensions);
  extensions.erase(std::unique(extensions.begin(), extensions.end()), extensions.end());
  vk::DeviceCreateInfo info({}, queue, {}, extensions, nullptr, &features.base);
  return vk::raii::Device(physical, info);
}

/// Nobody else uses the queue while it lives.
class QueueLock {
 public:
  explicit QueueLock(const Borrowed* borrowed) : borrowed_(borrowed) {
    if (borrowed_ != nullptr && borrowed_->lock) borrowed_->lock();
  }
  ~QueueLock() {
    if (borrowed_ != nullptr && borrowed_->unlock) borrowed_->unlock();
  }
  QueueLock(const QueueLock&) = delete;
  QueueLock& operator=(const QueueLock&) = delete;

 private:
  const Borrowed* borrowed_;
};

vk::raii::CommandPool make_pool(const vk::raii::Device& device, uint32_t family) {
  return vk::raii::CommandPool(
      device,
      vk::CommandPoolCreateInfo(vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family));
}

}  // namespace

uint64_t new_number() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Device::Device(ChosenDevice chosen)
    : instance_(std::move(chosen.instance)),
      facts_(std::move(chosen.device.facts)),
      physical_(std::move(chosen.device.handle)),
      memory_(physical_.getMemoryProperties()),
      borrowed_(std::move(chosen.borrowed)),
      device_(borrowed_ ? borrow(physical_, borrowed_->device) : create(physical_, facts_)),
      queue_(borrowed_ ? vk::raii::Queue(device_, borrowed_->queue)
                       : vk::raii::Queue(device_, facts_.queue_family, 0)),
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

Buffer Device::make_buffer(uint64_t size, Place place, bool with_address,
                           vk::BufferUsageFlags use) const {
  using Use = vk::BufferUsageFlagBits;
  using Mem = vk::MemoryPropertyFlagBits;
  use |= Use::eStorageBuffer | Use::eTransferSrc | Use::eTransferDst;
  if (with_address) use |= Use::eShaderDeviceAddress;
  Buffer made;
  made.number = new_number();
  made.size = size;
  made.handle = vk::raii::Buffer(device_, vk::BufferCreateInfo({}, size, use));
  const vk::MemoryRequirements needs = made.handle.getMemoryRequirements();
  const vk::MemoryPropertyFlags mapped = Mem::eHostVisible | Mem::eHostCoherent;
  std::vector<vk::MemoryPropertyFlags> wishes;
  if (place == Place::host) {
    wishes = {mapped | Mem::eHostCached, mapped};
  } else if (place == Place::upload) {
    wishes = {mapped | Mem::eDeviceLocal, mapped};
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

std::optional<Buffer> Device::make_host_buffer(std::span<std::byte> memory) const {
  using Use = vk::BufferUsageFlagBits;
  constexpr auto kHost = vk::ExternalMemoryHandleTypeFlagBits::eHostAllocationEXT;
  Buffer made;
  made.number = new_number();
  made.size = memory.size();
  made.map = memory.data();
  made.cached = true;
  try {
    const vk::ExternalMemoryBufferCreateInfo external(kHost);
    made.handle = vk::raii::Buffer(
        device_, vk::BufferCreateInfo({}, memory.size(),
                                      Use::eStorageBuffer | Use::eTransferSrc | Use::eTransferDst |
                                          Use::eShaderDeviceAddress,
                                      {}, {}, &external));
    const vk::MemoryRequirements needs = made.handle.getMemoryRequirements();
    if (needs.size > memory.size()) return {};
    const uint32_t types =
        device_.getMemoryHostPointerPropertiesEXT(kHost, memory.data()).memoryTypeBits;
    const auto type =
        memory_type(needs.memoryTypeBits & types, vk::MemoryPropertyFlagBits::eHostVisible |
                                                      vk::MemoryPropertyFlagBits::eHostCoherent);
    if (!type) return {};
    vk::ImportMemoryHostPointerInfoEXT import(kHost, memory.data());
    const vk::MemoryAllocateFlagsInfo flags(vk::MemoryAllocateFlagBits::eDeviceAddress, {},
                                            &import);
    made.memory = vk::raii::DeviceMemory(device_, {memory.size(), *type, &flags});
    made.handle.bindMemory(*made.memory, 0);
  } catch (const vk::DeviceLostError&) {
    throw;
  } catch (const vk::SystemError&) {
    return {};  // pages that cannot be written, or too many of them
  }
  made.address = device_.getBufferAddress(vk::BufferDeviceAddressInfo(*made.handle));
  return made;
}

void Device::submit(const std::function<void(const vk::raii::CommandBuffer&)>& record, Good good) {
  ++recordings_;
  commands_.reset();
  commands_.begin(vk::CommandBufferBeginInfo(good == Good::once
                                                 ? vk::CommandBufferUsageFlagBits::eOneTimeSubmit
                                                 : vk::CommandBufferUsageFlags()));
  // What the owner of the queue has submitted before is seen.
  if (borrowed_) full_barrier(commands_);
  record(commands_);
  full_barrier(commands_);
  commands_.end();
  submit_recorded();
}

void Device::submit_again() {
  submit_recorded();
}

void Device::submit_recorded() {
  device_.resetFences(*fence_);
  ++submissions_;
  const QueueLock lock(borrowed_.get());
  queue_.submit(vk::SubmitInfo({}, {}, *commands_), *fence_);
}

Wait Device::wait(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
  const uint64_t timeout = left.count() > 0 ? static_cast<uint64_t>(left.count()) : 0;
  const vk::Result result = device_.waitForFences(*fence_, VK_TRUE, timeout);
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
