#include "runtime/vulkan/device/interop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/error_detail.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/device/features.hpp"
#include "runtime/vulkan/launch/engine.hpp"

namespace lanewise::vulkan {
namespace {

[[noreturn]] void refuse(ErrorDetail detail, const std::string& message) {
  throw DetailedError(ErrorKind::usage, detail, message);
}

VulkanEngine& own(Engine& engine) {
  if (auto* found = dynamic_cast<VulkanEngine*>(&engine)) return *found;
  refuse(ErrorDetail::unsupported,
         fmt::format("{} is no device that Vulkan runs kernels on", engine.info().name));
}

void refuse_null(bool there, const char* what) {
  if (!there) refuse(ErrorDetail::null_argument, fmt::format("{} is NULL", what));
}

vk::raii::PhysicalDevice physical_of(const Instance& instance, VkPhysicalDevice wanted) {
  for (auto& device : vk::raii::PhysicalDevices(instance.vk()))
    if (static_cast<VkPhysicalDevice>(*device) == wanted) return std::move(device);
  refuse(ErrorDetail::invalid_value, "physical_device is none of the instance's");
}

std::shared_ptr<Instance> instance_of(VkInstance handle, VkPhysicalDevice physical,
                                      uint32_t version) {
  refuse_null(handle != VK_NULL_HANDLE, "instance");
  refuse_null(physical != VK_NULL_HANDLE, "physical_device");
  if (version < VK_API_VERSION_1_1)
    refuse(ErrorDetail::invalid_value,
           "api_version is below 1.1: make the instance with "
           "VkApplicationInfo::apiVersion of at least VK_API_VERSION_1_1, and say so here");
  return std::make_shared<Instance>(handle, version);
}

void check_family(const vk::raii::PhysicalDevice& physical, uint32_t family) {
  const auto families = physical.getQueueFamilyProperties();
  if (family >= families.size())
    refuse(ErrorDetail::invalid_value,
           fmt::format("queue_family is {}; the device has {}", family, families.size()));
  if (!(families[family].queueFlags & vk::QueueFlagBits::eCompute))
    refuse(ErrorDetail::invalid_value, fmt::format("queue family {} cannot compute", family));
}

/// Among the queues that the device was created with.
void check_queue(const vk::raii::PhysicalDevice& physical, const lw_vulkan_device_info& info) {
  const auto get = reinterpret_cast<PFN_vkGetDeviceQueue2>(
      physical.getDispatcher()->vkGetDeviceProcAddr(info.device, "vkGetDeviceQueue2"));
  for (uint32_t i = 0; i < info.created->queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo& made = info.created->pQueueCreateInfos[i];
    if (made.queueFamilyIndex != info.queue_family) continue;
    for (uint32_t n = 0; n < made.queueCount; ++n) {
      VkDeviceQueueInfo2 which{VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2, nullptr, made.flags,
                               made.queueFamilyIndex, n};
      VkQueue queue = VK_NULL_HANDLE;
      get(info.device, &which, &queue);
      if (queue == info.queue) return;
    }
  }
  refuse(ErrorDetail::invalid_value,
         fmt::format("queue is none of those that the device was created with in family {}",
                     info.queue_family));
}

std::shared_ptr<const Borrowed> borrowed(const lw_vulkan_device_info& info) {
  if ((info.lock_queue == nullptr) != (info.unlock_queue == nullptr))
    refuse(ErrorDetail::invalid_value, "of lock_queue and unlock_queue one is NULL");
  Borrowed b;
  b.device = info.device;
  b.queue = info.queue;
  if (info.lock_queue != nullptr) {
    b.lock = [lock = info.lock_queue, user = info.user] { lock(user); };
    b.unlock = [unlock = info.unlock_queue, user = info.user] { unlock(user); };
  }
  b.arena_usage = static_cast<vk::BufferUsageFlags>(info.arena_usage);
  b.reserve_bytes = info.reserve_bytes;
  return std::make_shared<const Borrowed>(std::move(b));
}

/// Vulkan's own failures become errors of ours.
template <typename Work>
auto asking(const char* what, const Work& work) {
  try {
    return work();
  } catch (const vk::SystemError& error) {
    throw DetailedError(ErrorKind::device, ErrorDetail::driver,
                        fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

struct Needs::Chain {
  explicit Chain(const FeatureSet& f) : features(f) {}
  EnabledFeatures features;
};

Needs needs_of(VkInstance instance, VkPhysicalDevice physical, uint32_t api_version) {
  return asking("the device cannot be asked what it can do", [&] {
    const auto within = instance_of(instance, physical, api_version);
    const DeviceFacts facts = facts_of(physical_of(*within, physical), within->api_version());
    Needs needs;
    needs.chain = std::make_shared<const Needs::Chain>(facts.features);
    needs.features =
        reinterpret_cast<const VkPhysicalDeviceFeatures2*>(&needs.chain->features.base);
    needs.names = feature_names(facts.features);
    needs.extensions = facts.extensions;
    std::ranges::sort(needs.extensions, {}, [](const char* name) { return std::string(name); });
    // An older clang does not take libstdc++'s subranges.
    const auto same = [](const char* x, const char* y) { return std::string_view(x) == y; };
    needs.extensions.erase(std::unique(needs.extensions.begin(), needs.extensions.end(), same),
                           needs.extensions.end());
    return needs;
  });
}

std::unique_ptr<Engine> import_engine(const lw_vulkan_device_info& info) {
  refuse_null(info.device != VK_NULL_HANDLE, "device");
  refuse_null(info.queue != VK_NULL_HANDLE, "queue");
  refuse_null(info.created != nullptr, "created");
  return asking("the device cannot be imported", [&]() -> std::unique_ptr<Engine> {
    auto instance = instance_of(info.instance, info.physical_device, info.api_version);
    auto physical = physical_of(*instance, info.physical_device);
    check_family(physical, info.queue_family);
    check_queue(physical, info);
    DeviceFacts facts = facts_of(physical, instance->api_version(), info.created);
    facts.queue_family = info.queue_family;
    if (facts.compile_only)
      refuse(ErrorDetail::unsupported,
             fmt::format("{} compiles kernels and runs none", facts.info.name));
    ChosenDevice chosen{
        std::move(instance), {std::move(physical), std::move(facts)}, borrowed(info)};
    return std::make_unique<VulkanEngine>(std::move(chosen), Options{}, spirv::translate);
  });
}

uint64_t address_of(Engine& engine, const lw_vulkan_buffer_info& buffer) {
  using Use = vk::BufferUsageFlagBits;
  VulkanEngine& to = own(engine);
  refuse_null(buffer.buffer != VK_NULL_HANDLE, "buffer");
  if (to.target().tier() == 0)
    refuse(ErrorDetail::unsupported,
           fmt::format("{} works without buffer addresses here (tier T0), so its kernels reach one "
                       "buffer, Lanewise's own; lw_vulkan_buffer_export hands out a part of that",
                       engine.info().name));
  const struct {
    Use bit;
    const char* name;
  } wanted[] = {{Use::eStorageBuffer, "STORAGE_BUFFER"},
                {Use::eShaderDeviceAddress, "SHADER_DEVICE_ADDRESS"},
                {Use::eTransferSrc, "TRANSFER_SRC"},
                {Use::eTransferDst, "TRANSFER_DST"}};
  const auto usage = static_cast<vk::BufferUsageFlags>(buffer.usage);
  for (const auto& w : wanted)
    if (!(usage & w.bit))
      refuse(ErrorDetail::invalid_value,
             fmt::format("the buffer's usage lacks VK_BUFFER_USAGE_{}_BIT", w.name));
  if (buffer.size == 0) refuse(ErrorDetail::invalid_value, "a buffer of 0 bytes");
  const vk::Device device = *to.device().vk();
  const auto& calls = *to.device().vk().getDispatcher();
  const uint64_t whole = device.getBufferMemoryRequirements(buffer.buffer, calls).size;
  if (buffer.offset > whole || buffer.size > whole - buffer.offset)
    refuse(ErrorDetail::out_of_range,
           fmt::format("{} bytes at offset {} do not lie inside a buffer of at most {} bytes",
                       buffer.size, buffer.offset, whole));
  const vk::BufferDeviceAddressInfo info(buffer.buffer);
  const uint64_t address = device.getBufferAddress(info, calls);
  if (address == 0) refuse(ErrorDetail::invalid_value, "the buffer has no device address");
  return address + buffer.offset;
}

void map_buffer(Engine& engine, uint64_t address, const lw_vulkan_buffer_info& buffer) {
  ImportedMemory::Range range;
  range.size = buffer.size;
  range.device_address = address_of(engine, buffer);
  range.handle = buffer.buffer;
  range.offset = buffer.offset;
  own(engine).imported().add(address, std::move(range));
}

lw_vulkan_region locate(Engine& engine, uint64_t address, uint64_t size) {
  VulkanEngine& of = own(engine);
  lw_vulkan_region region{};
  region.struct_size = sizeof region;
  region.size = size;
  if (address >= guest::kImportedBase) {
    const auto range = of.imported().find(address, size);
    if (range == of.imported().all().end())
      refuse(ErrorDetail::bad_handle, "the buffer is mapped no more");
    const uint64_t inside = address - range->first;
    region.buffer = range->second.handle;
    region.offset = range->second.offset + inside;
    region.address = range->second.device_address + inside;
    return region;
  }
  region.buffer = *of.arena().buffer().handle;
  region.offset = address - guest::kArenaBase;
  if (of.arena().device_address() != 0)
    region.address = of.arena().device_address() + region.offset;
  return region;
}

void hold(Engine& engine) {
  own(engine).arena().hold();
}
void let_go(Engine& engine) {
  own(engine).arena().let_go();
}

lw_vulkan_handles handles_of(Engine& engine) {
  Device& device = own(engine).device();
  lw_vulkan_handles handles{};
  handles.struct_size = sizeof handles;
  handles.queue_family = device.facts().queue_family;
  handles.instance = *device.instance().vk();
  handles.physical_device = device.physical();
  handles.device = *device.vk();
  handles.queue = device.queue();
  return handles;
}

}  // namespace lanewise::vulkan
