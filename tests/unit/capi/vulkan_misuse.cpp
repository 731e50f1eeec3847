// Wrong uses of lanewise/vulkan.h: each is an error that says what is wrong.
#include "tests/unit/capi/vulkan.hpp"

using namespace capi_test;

namespace {

/// The import must be refused with this detail and a message that has the part in it.
void refused_device(const lw_vulkan_device_info& info, lw_detail detail, const char* part) {
  CAPTURE(part);
  lw_device* none = reinterpret_cast<lw_device*>(1);
  CHECK(lw_vulkan_device_import(&info, &none) == LW_ERROR_USAGE);
  CHECK(none == nullptr);
  CHECK(lw_last_detail() == detail);
  CHECK(std::string(lw_last_error()).find(part) != std::string::npos);
}

void refused_buffer(const Device& device, const lw_vulkan_buffer_info& info, lw_detail detail,
                    const char* part) {
  CAPTURE(part);
  lw_buffer* none = reinterpret_cast<lw_buffer*>(1);
  CHECK(lw_vulkan_buffer_import(device.get(), &info, nullptr, &none) == LW_ERROR_USAGE);
  CHECK(none == nullptr);
  CHECK(lw_last_detail() == detail);
  CHECK(std::string(lw_last_error()).find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("Vulkan: devices that do not belong together are refused") {
  if (on_reference()) return;
  Embedding e;
  const auto with = [&](auto change) {
    lw_vulkan_device_info i = e.info();
    change(i);
    return i;
  };
  using Info = lw_vulkan_device_info&;
  const lw_detail null = LW_DETAIL_NULL_ARGUMENT, value = LW_DETAIL_INVALID_VALUE;
  refused_device(with([](Info i) { i.instance = VK_NULL_HANDLE; }), null, "instance");
  refused_device(with([](Info i) { i.physical_device = VK_NULL_HANDLE; }), null, "physical_device");
  refused_device(with([](Info i) { i.device = VK_NULL_HANDLE; }), null, "device");
  refused_device(with([](Info i) { i.queue = VK_NULL_HANDLE; }), null, "queue");
  refused_device(with([](Info i) { i.created = nullptr; }), null, "created");
  refused_device(with([](Info i) { i.api_version = 0; }), value, "api_version");
  refused_device(with([](Info i) { i.queue_family = 77; }), value, "queue_family is 77");
  refused_device(with([](Info i) { i.queue = reinterpret_cast<VkQueue>(0x10); }), value,
                 "none of those");
  refused_device(with([](Info i) { i.physical_device = reinterpret_cast<VkPhysicalDevice>(0x10); }),
                 value, "none of the instance's");
  refused_device(with([](Info i) { i.unlock_queue = nullptr; }), value, "lock_queue");
  refused_device(with([](Info i) { i.struct_size = 8; }), LW_DETAIL_STRUCT_SIZE, "struct_size");
  CHECK(lw_vulkan_device_import(nullptr, nullptr) == LW_ERROR_USAGE);
  lw_vulkan_needs* none = nullptr;
  CHECK(lw_vulkan_needs_create(e.program.instance, e.program.physical, VK_API_VERSION_1_0, &none) ==
        LW_ERROR_USAGE);
  CHECK(lw_vulkan_needs_create(VK_NULL_HANDLE, e.program.physical, VK_API_VERSION_1_2, &none) ==
        LW_ERROR_USAGE);
  CHECK(lw_vulkan_needs_features(nullptr) == nullptr);
  CHECK(lw_vulkan_needs_feature_name(e.needs.get(), 1000) == nullptr);
  uint32_t count = 7;
  CHECK(lw_vulkan_needs_extensions(nullptr, &count) == nullptr);
  CHECK(count == 0);
}

TEST_CASE("Vulkan: buffers that kernels cannot reach are refused") {
  if (on_reference()) return;
  Embedding e;
  e.import();
  const bool addresses = e.addresses;
  const auto mine = e.program.make_buffer(
      256, addresses ? kShared : kShared & ~VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  const lw_vulkan_buffer_info right = e.of(mine, 256);
  if (!addresses) {
    refused_buffer(e.device, right, LW_DETAIL_UNSUPPORTED, "lw_vulkan_buffer_export");
    return;
  }
  const auto with = [&](auto change) {
    lw_vulkan_buffer_info i = right;
    change(i);
    return i;
  };
  using Info = lw_vulkan_buffer_info&;
  const lw_detail value = LW_DETAIL_INVALID_VALUE;
  refused_buffer(e.device, with([](Info i) { i.buffer = VK_NULL_HANDLE; }), LW_DETAIL_NULL_ARGUMENT,
                 "buffer");
  refused_buffer(e.device,
                 with([](Info i) { i.usage &= ~VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT; }), value,
                 "SHADER_DEVICE_ADDRESS");
  refused_buffer(e.device, with([](Info i) { i.usage &= ~VK_BUFFER_USAGE_STORAGE_BUFFER_BIT; }),
                 value, "STORAGE_BUFFER");
  refused_buffer(e.device, with([](Info i) { i.usage &= ~VK_BUFFER_USAGE_TRANSFER_SRC_BIT; }),
                 value, "TRANSFER_SRC");
  refused_buffer(e.device, with([](Info i) { i.size = 0; }), value, "0 bytes");
  refused_buffer(e.device, with([](Info i) { i.flags = 2; }), value, "flags");
  refused_buffer(e.device, with([](Info i) { i.size = 1 << 20; }), LW_DETAIL_OUT_OF_RANGE,
                 "do not lie inside");
  refused_buffer(e.device, with([](Info i) { i.offset = ~uint64_t{0}; }), LW_DETAIL_OUT_OF_RANGE,
                 "do not lie inside");
  // Of one device, given to another; and after the end.
  const Buffer b = e.take(right);
  const Device other = open();
  const Kernel k = kernel(load(other, api_test::kScale));
  CHECK(scale(k, b, 4, options(1, 4)) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_OTHER_DEVICE);
  REQUIRE(lw_device_close(e.device.get()) == LW_OK);
  CHECK(lw_buffer_write(b.get(), 0, "abcd", 4) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_DEVICE_CLOSED);
  lw_vulkan_region region{};
  region.struct_size = sizeof region;
  CHECK(lw_vulkan_buffer_export(b.get(), &region) == LW_ERROR_USAGE);
}

TEST_CASE("Vulkan: the reference engine has no Vulkan buffers") {
  const Device device = open("reference");
  const Buffer b = buffer(device, 16);
  lw_vulkan_region region{};
  region.struct_size = sizeof region;
  CHECK(lw_vulkan_buffer_export(b.get(), &region) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_UNSUPPORTED);
  region.struct_size = 4;
  CHECK(lw_vulkan_buffer_export(b.get(), &region) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_STRUCT_SIZE);
  lw_vulkan_buffer_info info = LW_VULKAN_BUFFER_INFO_INIT;
  info.buffer = reinterpret_cast<VkBuffer>(0x10);
  info.size = 16;
  refused_buffer(device, info, LW_DETAIL_UNSUPPORTED, "reference");
}
