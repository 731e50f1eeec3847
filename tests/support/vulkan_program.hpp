// A Vulkan program as the ones that embed Lanewise: its own instance, device, queue and buffers.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lanewise::test {

/// What a program switches on when it makes its device.
struct ProgramDevice {
  const VkPhysicalDeviceFeatures2* features = nullptr;
  std::vector<const char*> extensions;
};

/// Vulkan's own failures throw std::runtime_error.
class VulkanProgram {
 public:
  static constexpr uint32_t kVersion = VK_API_VERSION_1_2;

  /// An instance with the validation layer, and its first device.
  VulkanProgram();
  ~VulkanProgram();
  VulkanProgram(const VulkanProgram&) = delete;
  VulkanProgram& operator=(const VulkanProgram&) = delete;

  void make_device(const ProgramDevice& what);
  /// What the validation layer has reported about everything that went through the instance.
  unsigned complaints() const { return complaints_; }

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  /// What the device was made with; lives as long as the program.
  VkDeviceCreateInfo created{};

  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBufferUsageFlags usage = 0;
    uint32_t* words = nullptr;  ///< the host's view
  };
  /// Lives as long as the device. Zero-filled, in memory that the host sees.
  Buffer make_buffer(uint64_t bytes, VkBufferUsageFlags usage);
  void destroy(const Buffer& buffer);

  /// Submit without waiting.
  void fill(VkBuffer buffer, uint64_t bytes, uint32_t word);
  void copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t bytes);
  void wait();

 private:
  VkCommandBuffer begin();
  void submit(VkCommandBuffer commands);

  unsigned complaints_ = 0;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  float priority_ = 1;
  VkDeviceQueueCreateInfo queue_info_{};
  ProgramDevice made_;
  std::vector<Buffer> buffers_;
};

}  // namespace lanewise::test
