#include "runtime/api/launch/device_heap.hpp"

#include <cstring>

#include "runtime/layout/addresses.hpp"
#include "runtime/layout/device_heap.hpp"

namespace lanewise::host {
namespace {

using guest::heap_block_bytes;
using guest::kHeapBlockHeader;

void make_heap(Device& device, uint64_t asked) {
  // Blocks are rounded up by a quarter at most.
  const uint64_t bytes = guest::kHeapHeader + (asked + asked / 4) / 16 * 16;
  device.heap_address = device.allocate(bytes, "the device's heap", false, guest::kAllocAlign);
  const uint64_t header[] = {bytes, guest::kHeapHeader};
  device.engine->write(device.heap_address, std::as_bytes(std::span(header)));
}

/// A copy of the heap up to what was never given out.
class Blocks {
 public:
  Blocks(Device& device, uint64_t end) : device_(device), bytes_(end) {
    device.engine->read(device.heap_address, bytes_);
  }

  /// Neighbours that are free become one, in blocks that are as large as can be.
  void join() {
    std::memset(&bytes_[guest::kHeapLists], 0, guest::kHeapHeader - guest::kHeapLists);
    const uint64_t end = bytes_.size();
    uint64_t at = guest::kHeapHeader, joined = 0;
    while (at < end) {
      uint64_t free = 0;
      while (at + free < end && is_free(at + free)) free += size_at(at + free);
      joined += free;
      if (at + free >= end) break;  // back to what was never given out
      if (free != 0) carve(at, free);
      at += free != 0 ? free : size_at(at);
    }
    if (joined != 0) put<uint64_t>(guest::kHeapFailed, 0);
    put<uint64_t>(guest::kHeapEnd, std::min(at, end));
    device_.engine->write(device_.heap_address, bytes_);
  }

 private:
  template <typename T>
  T get(uint64_t at) const {
    T value;
    std::memcpy(&value, &bytes_[at], sizeof value);
    return value;
  }
  template <typename T>
  void put(uint64_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  bool is_free(uint64_t at) const { return get<uint32_t>(at) != guest::kHeapInUse; }
  uint64_t size_at(uint64_t at) const {
    if (get<uint32_t>(at) == guest::kHeapFiller) return kHeapBlockHeader;
    const uint32_t heap_class = std::min(get<uint32_t>(at + 4), guest::kHeapClasses - 1);
    return kHeapBlockHeader + heap_block_bytes(heap_class);
  }
  void carve(uint64_t at, uint64_t bytes) {
    while (bytes > kHeapBlockHeader) {
      uint32_t heap_class = guest::kHeapClasses - 1;
      while (kHeapBlockHeader + heap_block_bytes(heap_class) > bytes) --heap_class;
      const uint64_t list = guest::kHeapLists + 8 * uint64_t{heap_class};
      put<uint32_t>(at, guest::kHeapFree);
      put<uint32_t>(at + 4, heap_class);
      put<uint64_t>(at + 8, get<uint64_t>(list));
      put<uint64_t>(list, at / 16);
      at += kHeapBlockHeader + heap_block_bytes(heap_class);
      bytes -= kHeapBlockHeader + heap_block_bytes(heap_class);
    }
    if (bytes != 0) put<uint32_t>(at, guest::kHeapFiller);
  }

  Device& device_;
  std::vector<std::byte> bytes_;
};

}  // namespace

void give_heap(Module& m, uint64_t bytes) {
  if (m.heap == nullptr) return;
  Device& device = *m.device;
  if (device.heap_address == 0) make_heap(device, bytes);
  uint64_t header[5] = {};
  device.engine->read(device.heap_address, std::as_writable_bytes(std::span(header)));
  if (header[guest::kHeapFailed / 8] != 0) Blocks(device, header[guest::kHeapEnd / 8]).join();
  if (m.heap_seen == device.heap_address) return;
  device.engine->write(m.heap->address, std::as_bytes(std::span(&device.heap_address, 1)));
  m.heap_seen = device.heap_address;
}

}  // namespace lanewise::host
