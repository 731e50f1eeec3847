// A logical device with its queue, buffers on it, and running recorded commands to their end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "runtime/vulkan/device/devices.hpp"

namespace lanewise::vulkan {

using Clock = std::chrono::steady_clock;

/// Another number each time. What is made anew may get a handle that was used before.
uint64_t new_number();

struct Buffer {
  vk::raii::DeviceMemory memory = nullptr;
  vk::raii::Buffer handle = nullptr;  // after memory: destroyed before it
  uint64_t size = 0;
  std::byte* map = nullptr;  ///< null when the host cannot see it; always coherent
  bool cached = false;       ///< host reads are fast
  uint64_t address = 0;      ///< device address, when asked for
  uint64_t number = 0;       ///< no other buffer's

  uint32_t* words() const { return reinterpret_cast<uint32_t*>(map); }
};

/// Where a buffer should lie.
enum class Place {
  host,         ///< host-visible, cached when there is such memory
  upload,       ///< mapped, written by the host and read by shaders: device-local when possible
  device,       ///< device-local; mapped too when the device offers that
  device_only,  ///< device-local, never mapped
};

/// How long recorded commands are good for.
enum class Good {
  once,
  again,  ///< until others are recorded
};

/// What a wait ended with.
enum class Wait { done, expired };

class Device {
 public:
  /// A device that runs nothing has no fence: it can make pipelines, and that is all.
  explicit Device(ChosenDevice chosen);

  const DeviceFacts& facts() const { return facts_; }
  const vk::raii::Device& vk() const { return device_; }
  const Instance& instance() const { return *instance_; }
  vk::PhysicalDevice physical() const { return *physical_; }
  vk::Queue queue() const { return *queue_; }
  /// Null for a device of the engine's own.
  const Borrowed* borrowed() const { return borrowed_.get(); }
  vk::PhysicalDeviceProperties properties() const { return physical_.getProperties(); }

  /// Throws vk::SystemError when out of memory. Contents are undefined. `use`: beside what every
  /// buffer is made for.
  Buffer make_buffer(uint64_t size, Place place, bool with_address = false,
                     vk::BufferUsageFlags use = {}) const;
  /// A buffer on memory of the host, which must outlive it; `memory` is aligned as the device asks.
  /// Nothing when the driver does not take it.
  std::optional<Buffer> make_host_buffer(std::span<std::byte> memory) const;

  /// Records commands and submits them; one submission at a time.
  void submit(const std::function<void(const vk::raii::CommandBuffer&)>& record,
              Good good = Good::once);
  /// Submits what was recorded last, which must be good for it, and whose submission has ended.
  void submit_again();
  /// Waits for the submission, at most until then.
  Wait wait(Clock::time_point until);
  void run(const std::function<void(const vk::raii::CommandBuffer&)>& record);
  /// How many there were.
  uint64_t submissions() const { return submissions_; }
  /// How often recording began: submit_again() has what it had as long as this is the same.
  uint64_t recordings() const { return recordings_; }

 private:
  void submit_recorded();
  std::optional<uint32_t> memory_type(uint32_t allowed, vk::MemoryPropertyFlags wanted) const;
  bool try_memory(Buffer& buffer, const vk::MemoryRequirements& needs,
                  vk::MemoryPropertyFlags wanted, bool with_address) const;

  std::shared_ptr<Instance> instance_;
  DeviceFacts facts_;
  vk::raii::PhysicalDevice physical_;
  vk::PhysicalDeviceMemoryProperties memory_;
  std::shared_ptr<const Borrowed> borrowed_;
  vk::raii::Device device_;
  vk::raii::Queue queue_;
  vk::raii::CommandPool pool_;
  vk::raii::CommandBuffer commands_ = nullptr;
  vk::raii::Fence fence_ = nullptr;
  uint64_t submissions_ = 0, recordings_ = 0;
};

/// Makes everything that earlier commands wrote visible to later commands and to the host.
void full_barrier(const vk::raii::CommandBuffer& commands);

}  // namespace lanewise::vulkan
