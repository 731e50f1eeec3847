#include "runtime/cache/tracker/exact.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/layout/addresses.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::cache {
namespace {

uint64_t page_of(uint64_t address) {
  return address & ~(kPageBytes - 1);
}

}  // namespace

void ExactMemory::event(const trace::Event& e) {
  if (e.kind != trace::EventKind::wave) tracker_.event(e);
}

template <class F>
void ExactMemory::each_block(F f) {
  for (auto& [page, image] : pages_) {
    std::byte* arena = arena_.data() + (page - guest::kArenaBase);
    for (size_t at = 0; at < image.size(); at += kBlockBytes)
      f(page + at, reinterpret_cast<uint8_t*>(arena + at), image.data() + at,
        static_cast<unsigned>(std::min<size_t>(kBlockBytes, image.size() - at)));
  }
}

/// The caches' memory gets the bytes of the page that holds the address, once.
void ExactMemory::take_in(uint64_t address) {
  const uint64_t page = page_of(address), offset = page - guest::kArenaBase;
  if (offset >= arena_.size() || pages_.contains(page)) return;
  const size_t size = std::min<size_t>(kPageBytes, arena_.size() - offset);
  Page& image = pages_[page];
  image.assign(size, 0);
  std::memcpy(image.data(), arena_.data() + offset, size);
  uint8_t block[kBlockBytes];
  for (size_t at = 0; at < size; at += kBlockBytes) {
    const auto bytes = static_cast<unsigned>(std::min<size_t>(kBlockBytes, size - at));
    std::memcpy(block, image.data() + at, bytes);
    tracker_.engine().set_coherent(page + at, byte_range(0, bytes), block);
  }
}

/// What the host has changed since is passed to memory and L2; L1 copies stay as old as they are.
void ExactMemory::begin(std::span<std::byte> arena) {
  arena_ = arena;
  tracker_.engine().clear_local_memory();
  each_block([&](uint64_t block, uint8_t* now, uint8_t* image, unsigned bytes) {
    if (std::memcmp(now, image, bytes) == 0) return;
    uint8_t copy[kBlockBytes] = {};
    std::memcpy(copy, now, bytes);
    Mask changed;
    for (unsigned i = 0; i < bytes; ++i)
      if (now[i] != image[i]) changed |= byte_range(i, 1);
    tracker_.engine().set_coherent(block, changed, copy);
    std::memcpy(image, now, bytes);
  });
}

std::vector<uint8_t> ExactMemory::access(const trace::WaveRecord& record) {
  trace::Lanes lanes;
  trace::unpack(record, lanes);
  const uint64_t bytes = std::max<uint64_t>(1, tracker_.sites().at(record.site).bytes);
  for (unsigned i = 0; i < lanes.count; ++i) {
    take_in(lanes.address[i]);
    take_in(lanes.address[i] + bytes - 1);
  }
  return tracker_.load_values(record);
}

void ExactMemory::peek(const trace::WaveRecord& record, uint64_t address, std::span<std::byte> to) {
  Engine& engine = tracker_.engine();
  Access a;
  a.sm = record.group % tracker_.preset().sms;
  for (size_t i = 0; i < to.size(); ++i) {
    take_in(address + i);
    a.block = block_of(address + i);
    uint8_t block[kBlockBytes];
    // Dirty bytes of its own L1 go down before the atomic is performed.
    if (engine.byte_state(Cache::l1, address + i, a.sm).dirty)
      engine.cached_bytes(Cache::l1, a, a.block, block);
    else
      engine.coherent_block(a.block, block);
    to[i] = static_cast<std::byte>(block[address + i - a.block]);
  }
}

void ExactMemory::end() {
  each_block([&](uint64_t block, uint8_t* arena, uint8_t* image, unsigned bytes) {
    uint8_t now[kBlockBytes];
    tracker_.engine().coherent_block(block, now);
    for (unsigned i = 0; i < bytes; ++i)
      if (now[i] != image[i]) arena[i] = image[i] = now[i];
  });
}

}  // namespace lanewise::cache
