#include "runtime/vulkan/memory/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/guest/layout.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint64_t kWindowStagingBytes = uint64_t{1} << 20;

}  // namespace

struct Windows::Place {
  const Window& window;
  uint64_t offset;
};

std::map<uint64_t, Windows::Window>::const_iterator Windows::find(uint64_t address,
                                                                  uint64_t bytes) const {
  auto it = windows_.upper_bound(address);
  if (it == windows_.begin()) return windows_.end();
  --it;
  const uint64_t offset = address - it->first, size = it->second.size;
  return bytes <= size && offset <= size - bytes ? it : windows_.end();
}

Windows::Place Windows::place_of(uint64_t address, uint64_t bytes) const {
  const auto it = find(address, bytes);
  if (it == windows_.end()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} bytes at guest address {:#x} lie in no imported buffer", bytes, address));
  }
  return {it->second, address - it->first};
}

Buffer& Windows::staging() {
  if (staging_.size == 0)
    staging_ = device_.make_buffer(kWindowStagingBytes, lanewise::vulkan::Place::host);
  return staging_;
}

void Windows::write(uint64_t address, std::span<const std::byte> data) {
  const Place place = place_of(address, data.size());
  if (place.window.map != nullptr) {
    std::memcpy(place.window.map + place.offset, data.data(), data.size());
    return;
  }
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(data.size() - done, kWindowStagingBytes);
    std::memcpy(staging().map, data.data() + done, piece);
    const vk::BufferCopy copy(0, place.window.offset + place.offset + done, piece);
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*staging_.handle, place.window.handle, copy);
    });
    done += piece;
  }
}

void Windows::read(uint64_t address, std::span<std::byte> data) {
  const Place place = place_of(address, data.size());
  if (place.window.map != nullptr) {
    std::memcpy(data.data(), place.window.map + place.offset, data.size());
    return;
  }
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(data.size() - done, kWindowStagingBytes);
    const vk::BufferCopy copy(place.window.offset + place.offset + done, 0, piece);
    staging();
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(place.window.handle, *staging_.handle, copy);
    });
    std::memcpy(data.data() + done, staging_.map, piece);
    done += piece;
  }
}

bool Windows::add_host(uint64_t address, std::span<std::byte> memory) {
  const uint64_t unit = device_.facts().host_import_alignment;
  const auto begin = reinterpret_cast<uint64_t>(memory.data());
  if (unit == 0 || memory.empty() || memory.size() > UINT64_MAX - begin - unit) return false;
  // Whole units: their other bytes are mapped as well, and the checks keep kernels off them.
  const uint64_t first = begin / unit * unit;
  const uint64_t end = (begin + memory.size() + unit - 1) / unit * unit;
  auto made = device_.make_host_buffer({reinterpret_cast<std::byte*>(first), end - first});
  if (!made) return false;
  Window window;
  window.size = memory.size();
  window.offset = begin - first;
  window.device_address = made->address + window.offset;
  if (window.device_address % guest::kAllocAlign != address % guest::kAllocAlign) return false;
  window.map = memory.data();
  window.handle = *made->handle;
  window.own = std::move(*made);
  add(address, std::move(window));
  return true;
}

}  // namespace lanewise::vulkan
