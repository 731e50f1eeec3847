#include "runtime/vulkan/memory/imported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint64_t kImportedStagingBytes = uint64_t{1} << 20;

}  // namespace

struct ImportedMemory::Place {
  const Range& range;
  uint64_t offset;
};

std::map<uint64_t, ImportedMemory::Range>::const_iterator ImportedMemory::find(
    uint64_t address, uint64_t bytes) const {
  auto it = imported_.upper_bound(address);
  if (it == imported_.begin()) return imported_.end();
  --it;
  const uint64_t offset = address - it->first, size = it->second.size;
  return bytes <= size && offset <= size - bytes ? it : imported_.end();
}

ImportedMemory::Place ImportedMemory::place_of(uint64_t address, uint64_t bytes) const {
  const auto it = find(address, bytes);
  if (it == imported_.end()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} bytes at guest address {:#x} lie in no imported buffer", bytes, address));
  }
  return {it->second, address - it->first};
}

Buffer& ImportedMemory::staging() {
  if (staging_.size == 0)
    staging_ = device_.make_buffer(kImportedStagingBytes, lanewise::vulkan::Place::host);
  return staging_;
}

void ImportedMemory::write(uint64_t address, std::span<const std::byte> data) {
  const Place place = place_of(address, data.size());
  if (place.range.map != nullptr) {
    std::memcpy(place.range.map + place.offset, data.data(), data.size());
    return;
  }
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t chunk = std::min<uint64_t>(data.size() - done, kImportedStagingBytes);
    std::memcpy(staging().map, data.data() + done, chunk);
    const vk::BufferCopy copy(0, place.range.offset + place.offset + done, chunk);
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*staging_.handle, place.range.handle, copy);
    });
    done += chunk;
  }
}

void ImportedMemory::read(uint64_t address, std::span<std::byte> data) {
  const Place place = place_of(address, data.size());
  if (place.range.map != nullptr) {
    std::memcpy(data.data(), place.range.map + place.offset, data.size());
    return;
  }
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t chunk = std::min<uint64_t>(data.size() - done, kImportedStagingBytes);
    const vk::BufferCopy copy(place.range.offset + place.offset + done, 0, chunk);
    staging();
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(place.range.handle, *staging_.handle, copy);
    });
    std::memcpy(data.data() + done, staging_.map, chunk);
    done += chunk;
  }
}

bool ImportedMemory::add_host(uint64_t address, std::span<std::byte> memory) {
  const uint64_t unit = device_.facts().host_import_alignment;
  const auto begin = reinterpret_cast<uint64_t>(memory.data());
  if (unit == 0 || memory.empty() || memory.size() > UINT64_MAX - begin - unit) return false;
  // Whole units: their other bytes are mapped as well, and the checks keep kernels off them.
  const uint64_t first = begin / unit * unit;
  const uint64_t end = (begin + memory.size() + unit - 1) / unit * unit;
  auto made = device_.make_host_buffer({reinterpret_cast<std::byte*>(first), end - first});
  if (!made) return false;
  Range range;
  range.size = memory.size();
  range.offset = begin - first;
  range.device_address = made->address + range.offset;
  if (range.device_address % guest::kAllocAlign != address % guest::kAllocAlign) return false;
  range.map = memory.data();
  range.handle = *made->handle;
  range.own = std::move(*made);
  add(address, std::move(range));
  return true;
}

}  // namespace lanewise::vulkan
