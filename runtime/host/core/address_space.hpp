// Every allocation that a program made, by the addresses it has for the device and for the host.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"
#include "runtime/host/core/devices.hpp"
#include "runtime/host/core/failure.hpp"

namespace lanewise::core {

/// Programs have addresses as pointers.
template <typename T = void>
T* pointer_at(uint64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

enum class MemoryKind : uint8_t { device, pinned, registered, managed };

/// Host memory that the device cannot reach in place: both sides have a copy, and what one of them
/// changed is brought to the other at launches and at synchronisation.
class Mirror {
 public:
  Mirror(lw_device* device, std::byte* host, uint64_t address, uint64_t bytes);
  void to_device();
  void to_host();

 private:
  lw_device* device_;
  std::byte* host_;
  uint64_t address_;
  std::vector<std::byte> seen_;  ///< what both sides had last
};

struct Memory {
  MemoryKind kind = MemoryKind::device;
  uint64_t address = 0;       ///< on the device; 0 = it has none yet (pinned memory no kernel uses)
  std::byte* host = nullptr;  ///< null for memory of the device alone
  uint64_t bytes = 0;
  unsigned flags = 0;  ///< as the surface gave them
  std::string name;    ///< for fault reports
  uint64_t id = 0;
  int device;                   ///< the thread's that made it
  const void* owner = nullptr;  ///< a context of the surface's; null for the device's first one
  lw_buffer* buffer = nullptr;
  std::unique_ptr<Mirror> mirror;
  bool of_graph = false;  ///< it keeps its address for the graph's next launch, whoever frees it
  bool mapped_by_us = false;        ///< `host` are pages of ours
  bool of_pool = false;             ///< every device reaches it
  bool reachable = true;            ///< for the launch that comes next
  std::atomic<bool> freed = false;  ///< in stream order: no call may name it any more

  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};
using MemoryPtr = std::shared_ptr<Memory>;

class AddressSpace {
 public:
  AddressSpace(lw_device* device, uint64_t most_bytes, bool copies_host_memory);

  MemoryPtr allocate(uint64_t bytes, const std::string& name);
  /// Host memory that kernels reach, at one address; pinned memory gets to the device when a kernel
  /// may need it.
  MemoryPtr allocate_host(uint64_t bytes, MemoryKind kind, const std::string& name);
  MemoryPtr register_host(void* data, uint64_t bytes, const std::string& name);
  /// A module's managed variable: its host copy lies at the same address.
  MemoryPtr mirror_at(uint64_t address, uint64_t bytes, const std::string& name);
  /// The device's memory that somebody else made, and keeps.
  MemoryPtr adopt(uint64_t address, uint64_t bytes, const std::string& name);
  void remove(const MemoryPtr& memory);
  /// All that this owner has on the current device.
  void clear(const void* owner);

  /// The allocation that holds the byte; null for none.
  MemoryPtr find(uint64_t address) const;
  MemoryPtr find_host(const void* data) const;
  /// It is an address of the device's own memory, which the host never has.
  static bool is_device_address(uint64_t address);

  /// Pinned memory that the words (addresses, maybe) point into becomes reachable for kernels.
  void expose(const void* words, size_t bytes);
  void expose(Memory& memory);
  bool has_hidden() const { return hidden_ != 0; }

  /// The next launch is a device's that reaches its own memory and that of these peers (bits).
  void set_reach(int device, unsigned peers);

  bool has_mirrors() const { return mirrors_ != 0; }
  void mirrors_to_device();
  void mirrors_to_host();

  /// Of the current device.
  uint64_t used() const;
  /// Each allocation of the device's own, or of all devices', by its name, with its size.
  std::vector<std::string> in_use(const int* device) const;
  /// What was freed last at the address, or "".
  std::string name_of_freed(uint64_t address) const;

 private:
  MemoryPtr host_memory(std::byte* data, uint64_t bytes, MemoryKind kind, const std::string& name);
  MemoryPtr allocate_mirrored(uint64_t bytes, MemoryKind kind, const std::string& name);
  void add(const MemoryPtr& memory);
  template <typename Do>
  void each_mirror(const Do& action);

  mutable std::recursive_mutex mutex_;
  lw_device* device_;
  bool in_place_ = false;
  std::map<uint64_t, MemoryPtr> by_address_;
  std::map<uint64_t, std::string> freed_;  ///< names of what began there last
  std::map<const std::byte*, MemoryPtr> by_host_;
  std::atomic<size_t> hidden_ = 0, mirrors_ = 0;
  std::atomic<uint64_t> hidden_low_ = ~uint64_t{0}, hidden_high_ = 0;
  std::array<uint64_t, kMostDevices> used_{};
};

}  // namespace lanewise::core
