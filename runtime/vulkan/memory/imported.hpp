// Memory outside the arena that guests reach in place: buffers of another Vulkan program, and
// memory of the host.
#pragma once

#include <map>
#include <span>

#include "runtime/vulkan/device/device.hpp"

namespace lanewise::vulkan {

class ImportedMemory {
 public:
  struct Range {
    uint64_t size = 0;
    uint64_t device_address = 0;
    std::byte* map = nullptr;  ///< where the host sees it; null = by copies
    vk::Buffer handle;
    uint64_t offset = 0;  ///< of its first byte in the buffer
    Buffer own;           ///< the buffer, when it was made for the range
  };

  explicit ImportedMemory(Device& device) : device_(device) {}

  void add(uint64_t address, Range range) { imported_[address] = std::move(range); }
  void remove(uint64_t address) { imported_.erase(address); }
  /// False when the driver does not take the memory, or would lay it at another address modulo the
  /// allocator's alignment.
  bool add_host(uint64_t address, std::span<std::byte> memory);

  const std::map<uint64_t, Range>& all() const { return imported_; }  ///< by guest address
  /// The range that holds all of the bytes, else the end of all().
  std::map<uint64_t, Range>::const_iterator find(uint64_t address, uint64_t bytes) const;
  void write(uint64_t address, std::span<const std::byte> data);
  void read(uint64_t address, std::span<std::byte> data);

 private:
  struct Place;
  Place place_of(uint64_t address, uint64_t bytes) const;
  Buffer& staging();

  Device& device_;
  Buffer staging_;
  std::map<uint64_t, Range> imported_;
};

}  // namespace lanewise::vulkan
