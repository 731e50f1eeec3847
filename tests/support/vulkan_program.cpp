#include "tests/support/vulkan_program.hpp"

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace lanewise::test {
namespace {

void need(VkResult result, const char* what) {
  if (result != VK_SUCCESS)
    throw std::runtime_error(std::string(what) + ": error " + std::to_string(result));
}

template <typename T>
T typed(VkStructureType type) {
  T t{};
  t.sType = type;
  return t;
}

VKAPI_ATTR VkBool32 VKAPI_CALL count(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                     VkDebugUtilsMessageTypeFlagsEXT,
                                     const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  ++*static_cast<unsigned*>(user);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(unsigned* counter) {
  auto info = typed<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = count;
  info.pUserData = counter;
  return info;
}

bool has_validation() {
  uint32_t n = 0;
  vkEnumerateInstanceLayerProperties(&n, nullptr);
  std::vector<VkLayerProperties> layers(n);
  vkEnumerateInstanceLayerProperties(&n, layers.data());
  for (const VkLayerProperties& layer : layers)
    if (std::strcmp(layer.layerName, "VK_LAYER_KHRONOS_validation") == 0) return true;
  return false;
}

}  // namespace

VulkanProgram::VulkanProgram() {
  auto app = typed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  app.apiVersion = kVersion;
  auto info = typed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &app;
  const char* const layer = "VK_LAYER_KHRONOS_validation";
  const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const bool validates = has_validation();
  if (validates) {
    info.enabledLayerCount = info.enabledExtensionCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.ppEnabledExtensionNames = &extension;
  }
  need(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
  if (validates) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
    const auto asked = messenger_info(&complaints_);
    need(create(instance, &asked, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
  }
  uint32_t n = 1;
  vkEnumeratePhysicalDevices(instance, &n, &physical);
  if (n == 0) throw std::runtime_error("no Vulkan device");
}

void VulkanProgram::make_device(const ProgramDevice& what) {
  made_ = what;
  uint32_t n = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &n, families.data());
  while (family + 1 < n && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
  queue_info_ = typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue_info_.queueFamilyIndex = family;
  queue_info_.queueCount = 1;
  queue_info_.pQueuePriorities = &priority_;
  created = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  created.pNext = made_.features;
  created.queueCreateInfoCount = 1;
  created.pQueueCreateInfos = &queue_info_;
  created.enabledExtensionCount = static_cast<uint32_t>(made_.extensions.size());
  created.ppEnabledExtensionNames = made_.extensions.data();
  need(vkCreateDevice(physical, &created, nullptr, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family, 0, &queue);
  auto pool = typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = family;
  need(vkCreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
}

VulkanProgram::~VulkanProgram() {
  if (device != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device);
    for (const Buffer& b : buffers_) {
      vkDestroyBuffer(device, b.handle, nullptr);
      vkFreeMemory(device, b.memory, nullptr);
    }
    vkDestroyCommandPool(device, pool_, nullptr);
    vkDestroyDevice(device, nullptr);
  }
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance, messenger_, nullptr);
  }
  if (instance != VK_NULL_HANDLE) vkDestroyInstance(instance, nullptr);
}

VulkanProgram::Buffer VulkanProgram::make_buffer(uint64_t bytes, VkBufferUsageFlags usage) {
  Buffer made;
  made.usage = usage;
  auto info = typed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = usage;
  need(vkCreateBuffer(device, &info, nullptr, &made.handle), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, made.handle, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  constexpr VkMemoryPropertyFlags kSeen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  auto flags = typed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = typed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  if ((usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  for (uint32_t i = memory.memoryTypeCount; i-- > 0;)
    if ((needs.memoryTypeBits >> i & 1) != 0 &&
        (memory.memoryTypes[i].propertyFlags & kSeen) == kSeen)
      allocate.memoryTypeIndex = i;
  need(vkAllocateMemory(device, &allocate, nullptr, &made.memory), "vkAllocateMemory");
  need(vkBindBufferMemory(device, made.handle, made.memory, 0), "vkBindBufferMemory");
  void* map = nullptr;
  need(vkMapMemory(device, made.memory, 0, VK_WHOLE_SIZE, 0, &map), "vkMapMemory");
  std::memset(map, 0, bytes);
  made.words = static_cast<uint32_t*>(map);
  buffers_.push_back(made);
  return made;
}

void VulkanProgram::destroy(const Buffer& buffer) {
  std::erase_if(buffers_, [&](const Buffer& b) { return b.handle == buffer.handle; });
  vkDestroyBuffer(device, buffer.handle, nullptr);
  vkFreeMemory(device, buffer.memory, nullptr);
}

VkCommandBuffer VulkanProgram::begin() {
  auto info = typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  need(vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
  const auto once = typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  need(vkBeginCommandBuffer(commands, &once), "vkBeginCommandBuffer");
  return commands;
}

void VulkanProgram::submit(VkCommandBuffer commands) {
  need(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  need(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void VulkanProgram::fill(VkBuffer buffer, uint64_t bytes, uint32_t word) {
  VkCommandBuffer commands = begin();
  vkCmdFillBuffer(commands, buffer, 0, bytes, word);
  submit(commands);
}

void VulkanProgram::copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t bytes) {
  VkCommandBuffer commands = begin();
  const VkBufferCopy all{from_offset, 0, bytes};
  vkCmdCopyBuffer(commands, from, to, 1, &all);
  submit(commands);
}

void VulkanProgram::wait() {
  need(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
}

}  // namespace lanewise::test
