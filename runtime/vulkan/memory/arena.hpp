// The guest's memory on the device: one buffer that grows and keeps its contents.
#pragma once

#include <span>

#include "runtime/layout/push_words.hpp"
#include "runtime/vulkan/device/device.hpp"

namespace lanewise::vulkan {

class Arena {
 public:
  /// staged: never map the buffer, as on a device whose memory the host cannot see.
  explicit Arena(Device& device, bool staged = false);

  void reserve(uint64_t bytes);
  void write(uint64_t address, std::span<const std::byte> data);
  void read(uint64_t address, std::span<std::byte> data);

  /// Reserves so many bytes, none of which the guest may use yet.
  void grow_to(uint64_t bytes);
  /// The map of written bytes, right behind what the guest may use; it lasts until that grows.
  void write_map(std::span<const std::byte> map);
  void read_map(uint64_t offset, std::span<std::byte> part);

  /// While anybody holds it, the buffer stays what it is; beyond its end nothing can be reserved.
  void hold() { ++holders_; }
  void let_go() { --holders_; }

  uint64_t size() const { return size_; }  ///< bytes reserved so far
  bool small() const { return size_ <= guest::kSmallArena; }
  uint64_t device_address() const { return buffer_.address; }
  const Buffer& buffer() const { return buffer_; }
  bool readable_without_device() const { return buffer_.map != nullptr && buffer_.cached; }

 private:
  uint64_t offset_of(uint64_t address, uint64_t size, const char* what) const;
  void grow(uint64_t capacity);
  void replace_by_copy(uint64_t capacity);
  void clear(uint64_t begin, uint64_t end);
  void copy_out(uint64_t offset, std::span<std::byte> data);
  void copy_in(uint64_t offset, std::span<const std::byte> data);
  Buffer& staging();
  Buffer make(uint64_t capacity) const;

  Device& device_;
  bool staged_;
  Buffer buffer_, staging_;
  uint64_t size_ = 0;
  unsigned holders_ = 0;
};

}  // namespace lanewise::vulkan
