// Devices and buffers of a Vulkan program, and memory of the host, as guests see them.
#include "runtime/vulkan/device/interop.hpp"

#include "runtime/api/interop.hpp"
#include "runtime/api/state.hpp"

namespace lanewise::host {
namespace {

using detail::Allocated;
using detail::BufferState;

/// A buffer at an address that the device's allocator gives out for imported memory; `map`
/// gets the address and says whether the engine reaches the memory there.
template <typename Map>
std::shared_ptr<BufferState> elsewhere(const std::shared_ptr<detail::DeviceState>& device,
                                       uint64_t size, const std::string& name, bool read_only,
                                       uint64_t low_bits, const Map& map) {
  const uint64_t address = device->allocator.allocate_imported(size, name, read_only, low_bits);
  try {
    if (map(address))
      return std::shared_ptr<BufferState>(new BufferState{Allocated(device, {address, size})});
  } catch (...) {
    device->allocator.free(address);
    throw;
  }
  device->allocator.free(address);
  return nullptr;
}

}  // namespace

namespace detail {

std::optional<Buffer> DeviceAccess::map_host(const Device& device, std::span<std::byte> memory,
                                             const std::string& name, bool read_only) {
  const std::shared_ptr<DeviceState>& state = device.state();
  const auto lock = state->enter();
  // Launches that are followed may be run again: they work on copies.
  if (memory.empty() || state->events != nullptr) return std::nullopt;
  Buffer made;
  made.state_ =
      elsewhere(state, memory.size(), name, read_only, reinterpret_cast<uint64_t>(memory.data()),
                [&](uint64_t at) { return state->engine->map_host(at, memory); });
  if (made.state_ == nullptr) return std::nullopt;
  return made;
}

Buffer DeviceAccess::import_buffer(const Device& device, const lw_vulkan_buffer_info& info,
                                   const std::string& name) {
  const std::shared_ptr<DeviceState>& state = device.state();
  const auto lock = state->enter();
  const uint64_t low_bits = vulkan::address_of(*state->engine, info);
  Buffer made;
  made.state_ = elsewhere(state, info.size, name, (info.flags & LW_VULKAN_READ_ONLY) != 0, low_bits,
                          [&](uint64_t at) {
                            vulkan::map_buffer(*state->engine, at, info);
                            return true;
                          });
  return made;
}

lw_vulkan_region DeviceAccess::export_buffer(const Buffer& buffer) {
  BufferState& state = buffer.state();
  DeviceState& device = *state.memory.device;
  const auto lock = device.enter();
  const lw_vulkan_region region =
      vulkan::locate(*device.engine, state.memory.address, state.memory.size);
  if (!state.exported) vulkan::hold(*device.engine);
  state.exported = true;
  device.unwritten.remove(state.memory.address);  // others write there unseen
  return region;
}

}  // namespace detail

namespace interop {

Device import_device(const lw_vulkan_device_info& info) {
  return detail::DeviceAccess::on(vulkan::import_engine(info));
}

Buffer import_buffer(const Device& device, const lw_vulkan_buffer_info& info,
                     const std::string& name) {
  return detail::DeviceAccess::import_buffer(device, info, name);
}

lw_vulkan_region export_buffer(const Buffer& buffer) {
  return detail::DeviceAccess::export_buffer(buffer);
}

lw_vulkan_handles export_device(const Device& device) {
  detail::DeviceState& state = detail::DeviceAccess::state(device);
  const auto lock = state.enter();
  return vulkan::handles_of(*state.engine);
}

}  // namespace interop
}  // namespace lanewise::host
