// A Vulkan program with its device as a Lanewise device.
#pragma once

#include "lanewise/vulkan.hpp"
#include "tests/support/vulkan_program.hpp"
#include "tests/unit/capi/support.hpp"

namespace capi_test {

using lanewise::test::VulkanProgram;
using Needs = std::unique_ptr<lw_vulkan_needs, Releases<lw_vulkan_needs_release>>;

constexpr VkBufferUsageFlags kShared =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

inline bool on_reference() {
  return api_test::selector() == "reference";
}

struct Embedding {
  VulkanProgram program;
  Needs needs;
  Device device;
  bool addresses = false;  ///< buffers can be imported
  unsigned locked = 0, unlocked = 0;

  /// everything: with what Lanewise makes use of, else with nothing.
  explicit Embedding(bool everything = true) {
    needs = made<Needs>([&](auto out) {
      return lw_vulkan_needs_create(program.instance, program.physical, VulkanProgram::kVersion,
                                    out);
    });
    lanewise::test::ProgramDevice what;
    if (everything) {
      uint32_t n = 0;
      const char* const* names = lw_vulkan_needs_extensions(needs.get(), &n);
      what.extensions.assign(names, names + n);
      what.features = lw_vulkan_needs_features(needs.get());
    }
    program.make_device(what);
  }
  lw_vulkan_device_info info() {
    lw_vulkan_device_info i = LW_VULKAN_DEVICE_INFO_INIT;
    i.api_version = VulkanProgram::kVersion;
    i.instance = program.instance;
    i.physical_device = program.physical;
    i.device = program.device;
    i.queue = program.queue;
    i.queue_family = program.family;
    i.created = &program.created;
    i.user = this;
    i.lock_queue = [](void* self) { ++static_cast<Embedding*>(self)->locked; };
    i.unlock_queue = [](void* self) { ++static_cast<Embedding*>(self)->unlocked; };
    return i;
  }
  void import(uint64_t reserve_bytes = 0) {
    lw_vulkan_device_info i = info();
    i.reserve_bytes = reserve_bytes;
    device = made<Device>([&](auto out) { return lw_vulkan_device_import(&i, out); });
    lw_device_info facts{};
    facts.struct_size = sizeof facts;
    REQUIRE(lw_device_get_info(device.get(), &facts) == LW_OK);
    addresses = std::string(facts.tier) != "T0";
  }
  lw_vulkan_buffer_info of(const VulkanProgram::Buffer& b, uint64_t size) const {
    lw_vulkan_buffer_info i = LW_VULKAN_BUFFER_INFO_INIT;
    i.buffer = b.handle;
    i.size = size;
    i.usage = b.usage;
    return i;
  }
  Buffer take(const lw_vulkan_buffer_info& i) const {
    return made<Buffer>(
        [&](auto out) { return lw_vulkan_buffer_import(device.get(), &i, "shared", out); });
  }
};

inline lw_status scale(const Kernel& k, const Buffer& b, uint32_t n, lw_launch_options o) {
  const lw_arg args[] = {lw_arg_buffer(b.get()), lw_arg_f32(2), lw_arg_u32(n)};
  return lw_kernel_launch(k.get(), &o, args, 3, nullptr);
}

}  // namespace capi_test
