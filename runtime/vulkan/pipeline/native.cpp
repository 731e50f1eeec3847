#include "runtime/vulkan/pipeline/native.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/support/error.hpp"
#include "runtime/vulkan/device/device.hpp"
#include "runtime/vulkan/pipeline/compile_only.hpp"
#include "runtime/vulkan/pipeline/native_layout.hpp"

namespace lanewise::vulkan {
namespace {

ChosenDevice choose_running(std::string_view selector) {
  ChosenDevice chosen = find_device(selector, validation_from_environment());
  if (chosen.device.facts.compile_only) refuse_to_run(chosen.device.facts.info);
  return chosen;
}

}  // namespace

vk::raii::PipelineLayout native_layout(const vk::raii::Device& device) {
  const vk::PushConstantRange range(vk::ShaderStageFlagBits::eCompute, 0, kNativePushBytes);
  return {device, vk::PipelineLayoutCreateInfo({}, {}, range)};
}

struct NativeDevice::Parts {
  Device device;
  vk::raii::PipelineLayout layout;
  std::vector<Buffer> buffers;
  std::vector<vk::raii::Pipeline> kernels;

  explicit Parts(std::string_view selector)
      : device(choose_running(selector)), layout(native_layout(device.vk())) {}

  /// Between the host and a buffer that it cannot see.
  void copy(const Buffer& from, const Buffer& to, uint64_t bytes) {
    device.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*from.handle, *to.handle, vk::BufferCopy(0, 0, bytes));
    });
  }
};

NativeDevice::NativeDevice(std::string_view selector) {
  try {
    parts_ = std::make_unique<Parts>(selector);
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::device,
                fmt::format("the Vulkan device cannot be opened: {}", error.what()));
  }
}
NativeDevice::~NativeDevice() = default;

NativeAbilities NativeDevice::abilities() const {
  const DeviceFacts& f = parts_->device.facts();
  const auto has = [&f](vk::SubgroupFeatureFlagBits bit) {
    return (f.subgroup_operations & static_cast<uint32_t>(bit)) != 0;
  };
  using enum vk::SubgroupFeatureFlagBits;
  return {f.features.bda,      f.features.int64, f.features.float64,
          f.features.storage8, has(eBallot),     has(eShuffle) && has(eShuffleRelative),
          f.info.subgroup_size};
}

size_t NativeDevice::add_buffer(uint64_t bytes) {
  parts_->buffers.push_back(parts_->device.make_buffer((bytes + 3) / 4 * 4, Place::device, true));
  return parts_->buffers.size() - 1;
}

size_t NativeDevice::add_kernel(std::span<const uint32_t> spirv) {
  const vk::raii::Device& device = parts_->device.vk();
  const vk::raii::ShaderModule module(
      device, vk::ShaderModuleCreateInfo({}, spirv.size_bytes(), spirv.data()));
  const vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module,
                                                "main");
  parts_->kernels.emplace_back(device, nullptr,
                               vk::ComputePipelineCreateInfo({}, stage, *parts_->layout));
  return parts_->kernels.size() - 1;
}

uint64_t NativeDevice::address(size_t buffer) const {
  return parts_->buffers[buffer].address;
}

void NativeDevice::write(size_t number, std::span<const std::byte> bytes) {
  const Buffer& buffer = parts_->buffers[number];
  if (buffer.map != nullptr) {
    std::memcpy(buffer.map, bytes.data(), bytes.size());
    return;
  }
  const Buffer staging = parts_->device.make_buffer(buffer.size, Place::host);
  std::memcpy(staging.map, bytes.data(), bytes.size());
  parts_->copy(staging, buffer, bytes.size());
}

void NativeDevice::read(size_t number, std::span<std::byte> bytes) {
  const Buffer& buffer = parts_->buffers[number];
  if (buffer.map != nullptr) {
    std::memcpy(bytes.data(), buffer.map, bytes.size());
    return;
  }
  const Buffer staging = parts_->device.make_buffer(buffer.size, Place::host);
  parts_->copy(buffer, staging, bytes.size());
  std::memcpy(bytes.data(), staging.map, bytes.size());
}

double NativeDevice::run(size_t kernel, std::span<const std::byte> push_constants, Dim3 groups) {
  const auto start = Clock::now();
  parts_->device.run([&](const vk::raii::CommandBuffer& commands) {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *parts_->kernels[kernel]);
    commands.pushConstants<std::byte>(
        *parts_->layout, vk::ShaderStageFlagBits::eCompute, 0,
        vk::ArrayProxy<const std::byte>(static_cast<uint32_t>(push_constants.size()),
                                        push_constants.data()));
    commands.dispatch(groups.x, groups.y, groups.z);
  });
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double NativeDevice::copy(size_t from, size_t to, uint64_t bytes) {
  const auto start = Clock::now();
  parts_->copy(parts_->buffers[from], parts_->buffers[to], bytes);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void NativeDevice::run_nothing() {
  parts_->device.run([](const vk::raii::CommandBuffer&) {});
}

}  // namespace lanewise::vulkan
