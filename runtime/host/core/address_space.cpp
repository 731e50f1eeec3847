#include "runtime/host/core/address_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/host/core/status.hpp"

namespace lanewise::core {
namespace {

/// Where the guest's own memory begins; imported memory begins far above (docs/embedding.md).
constexpr uint64_t kArenaBase = 0x1000'0000;
constexpr uint64_t kReservedChunk = uint64_t{1} << 28;
constexpr uint64_t kMostReserved = uint64_t{1} << 36;
constexpr uint64_t kPage = 4096;

uint64_t up_to_page(uint64_t n) {
  return (n + kPage - 1) / kPage * kPage;
}

/// The host's memory never lies where the device's does: an address says whose it is, and what
/// dereferences a device pointer ends as it does with CUDA.
uint64_t reserve_addresses(uint64_t most_bytes) {
  const uint64_t end = kArenaBase + std::min(most_bytes, kMostReserved);
  for (uint64_t at = kArenaBase; at < end; at += kReservedChunk)  // where it is free
    (void)mmap(pointer_at(at), kReservedChunk, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  return end;
}
std::atomic<uint64_t> reserved_end = 0;

std::byte* map_pages(uint64_t bytes) {
  void* at =
      mmap(nullptr, up_to_page(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) fail(Code::out_of_memory);
  return static_cast<std::byte*>(at);
}

template <typename Key>
MemoryPtr holder(const std::map<Key, MemoryPtr>& all, Key at) {
  auto after = all.upper_bound(at);
  if (after == all.begin()) return nullptr;
  const auto& [begin, memory] = *std::prev(after);
  return static_cast<uint64_t>(at - begin) < std::max<uint64_t>(memory->bytes, 1) ? memory
                                                                                  : nullptr;
}

}  // namespace

void report_line(const std::string& text) {
  std::fprintf(stderr, "lanewise: %s\n", text.c_str());
}

Mirror::Mirror(lw_device* device, std::byte* host, uint64_t address, uint64_t bytes)
    : device_(device), host_(host), address_(address), seen_(host, host + bytes) {
  check(lw_memory_write(device_, address_, host_, seen_.size()));
}

void Mirror::to_device() {
  for (uint64_t at = 0; at < seen_.size(); at += kPage) {
    const uint64_t n = std::min(kPage, seen_.size() - at);
    if (std::memcmp(&seen_[at], host_ + at, n) == 0) continue;
    std::memcpy(&seen_[at], host_ + at, n);
    check(lw_memory_write(device_, address_ + at, &seen_[at], n));
  }
}

/// Bytes that the device did not change may be the host's to write just now.
void Mirror::to_host() {
  std::vector<std::byte> now(seen_.size());
  check(lw_memory_read(device_, address_, now.data(), now.size()));
  for (uint64_t page = 0; page < now.size(); page += kPage) {
    const uint64_t n = std::min(kPage, now.size() - page);
    if (std::memcmp(&seen_[page], &now[page], n) == 0) continue;
    for (uint64_t at = page; at < page + n; ++at)
      if (now[at] != seen_[at]) host_[at] = seen_[at] = now[at];
  }
}

Memory::Memory() : device(current_device()) {
  static std::atomic<uint64_t> last = 0;
  id = ++last;
}

Memory::~Memory() {
  if (buffer != nullptr) lw_buffer_release(buffer);
  if (mapped_by_us) munmap(host, up_to_page(bytes));
}

AddressSpace::AddressSpace(lw_device* device, uint64_t most_bytes, bool copies_host_memory)
    : device_(device) {
  reserved_end = reserve_addresses(most_bytes);
  if (copies_host_memory) return;
  std::byte* page = map_pages(kPage);
  lw_buffer* buffer = nullptr;
  in_place_ = lw_buffer_map_host(device, page, kPage, "probe", 0, &buffer) == LW_OK;
  lw_buffer_release(buffer);
  munmap(page, kPage);
}

bool AddressSpace::is_device_address(uint64_t address) {
  return address >= kArenaBase && address < reserved_end;
}

void AddressSpace::add(const MemoryPtr& memory) {
  const std::lock_guard lock(mutex_);
  if (memory->address != 0) by_address_[memory->address] = memory;
  if (memory->host != nullptr) by_host_[memory->host] = memory;
  if (memory->kind == MemoryKind::device)
    used_[static_cast<size_t>(memory->device)] += memory->bytes;
}

MemoryPtr AddressSpace::allocate(uint64_t bytes, const std::string& name) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  memory->name = name;
  check(lw_buffer_create(device_, bytes, name.c_str(), &memory->buffer));
  check(lw_buffer_address(memory->buffer, &memory->address));
  add(memory);
  return memory;
}

MemoryPtr AddressSpace::adopt(uint64_t address, uint64_t bytes, const std::string& name) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  memory->address = address;
  memory->name = name;
  add(memory);
  return memory;
}

/// The host's copy lies at the device's address, whose pages are reserved for that.
MemoryPtr AddressSpace::mirror_at(uint64_t address, uint64_t bytes, const std::string& name) {
  auto memory = std::make_shared<Memory>();
  memory->kind = MemoryKind::managed;
  memory->address = address;
  memory->bytes = bytes;
  memory->name = name;
  const uint64_t first = address / kPage * kPage;
  if (mprotect(pointer_at(first), up_to_page(address + bytes) - first, PROT_READ | PROT_WRITE) != 0)
    fail(Code::out_of_memory);
  memory->host = pointer_at<std::byte>(address);
  check(lw_memory_read(device_, address, memory->host, bytes));
  memory->mirror = std::make_unique<Mirror>(device_, memory->host, address, bytes);
  ++mirrors_;
  add(memory);
  return memory;
}

MemoryPtr AddressSpace::allocate_mirrored(uint64_t bytes, MemoryKind kind,
                                          const std::string& name) {
  lw_buffer* buffer = nullptr;
  uint64_t address = 0;
  check(lw_buffer_create(device_, bytes, name.c_str(), &buffer));
  check(lw_buffer_address(buffer, &address));
  MemoryPtr memory = mirror_at(address, bytes, name);
  memory->kind = kind;
  memory->buffer = buffer;
  return memory;
}

MemoryPtr AddressSpace::allocate_host(uint64_t bytes, MemoryKind kind, const std::string& name) {
  if (!in_place_) return allocate_mirrored(bytes, kind, name);
  std::byte* data = map_pages(std::max<uint64_t>(bytes, 1));
  auto memory = host_memory(data, bytes, kind, name);
  memory->mapped_by_us = true;
  return memory;
}

MemoryPtr AddressSpace::register_host(void* data, uint64_t bytes, const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto* const at = static_cast<std::byte*>(data);
  const auto next = by_host_.lower_bound(at);
  if (find_host(data) != nullptr || (next != by_host_.end() && next->first < at + bytes))
    fail(Code::already_registered);
  return host_memory(at, bytes, MemoryKind::registered, name);
}

MemoryPtr AddressSpace::host_memory(std::byte* data, uint64_t bytes, MemoryKind kind,
                                    const std::string& name) {
  auto memory = std::make_shared<Memory>();
  memory->kind = kind;
  memory->bytes = bytes;
  memory->host = data;
  memory->name = name;
  add(memory);
  // Kernels of a device that has imported memory look addresses up: only what they use is imported.
  if (kind == MemoryKind::managed) {
    expose(*memory);
  } else {
    const std::lock_guard lock(mutex_);
    ++hidden_;
    hidden_low_ = std::min<uint64_t>(hidden_low_, reinterpret_cast<uint64_t>(data));
    hidden_high_ = std::max<uint64_t>(hidden_high_, reinterpret_cast<uint64_t>(data) + bytes);
  }
  return memory;
}

void AddressSpace::expose(Memory& memory) {
  const std::lock_guard lock(mutex_);
  if (memory.address != 0 || memory.bytes == 0) return;
  const bool mapped =
      in_place_ && lw_buffer_map_host(device_, memory.host, memory.bytes, memory.name.c_str(), 0,
                                      &memory.buffer) == LW_OK;
  if (!mapped) {
    check(lw_buffer_create(device_, memory.bytes, memory.name.c_str(), &memory.buffer));
    ++mirrors_;
  }
  check(lw_buffer_address(memory.buffer, &memory.address));
  if (!mapped)
    memory.mirror = std::make_unique<Mirror>(device_, memory.host, memory.address, memory.bytes);
  by_address_[memory.address] = by_host_.at(memory.host);
  if (memory.kind != MemoryKind::managed) --hidden_;
}

void AddressSpace::expose(const void* words, size_t bytes) {
  if (hidden_ == 0) return;
  const uint64_t low = hidden_low_, high = hidden_high_;
  const auto* at = static_cast<const std::byte*>(words);
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    if (word - low >= high - low) continue;
    if (const MemoryPtr memory = find_host(pointer_at(word))) expose(*memory);
  }
}

void AddressSpace::remove(const MemoryPtr& memory) {
  const std::lock_guard lock(mutex_);
  if (memory->address != 0) {
    by_address_.erase(memory->address);
    freed_[memory->address] = memory->name;
  }
  if (memory->host != nullptr) by_host_.erase(memory->host);
  if (memory->host != nullptr && memory->address == 0 && memory->bytes != 0) --hidden_;
  if (memory->mirror != nullptr) --mirrors_;
  if (memory->kind == MemoryKind::device)
    used_[static_cast<size_t>(memory->device)] -= memory->bytes;
}

void AddressSpace::clear(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::vector<MemoryPtr> all;
  const int device = current_device();
  const auto is_its = [&](const Memory& m) { return m.owner == owner && m.device == device; };
  for (const auto& [address, memory] : by_address_)
    if (is_its(*memory)) all.push_back(memory);
  for (const auto& [host, memory] : by_host_)
    if (is_its(*memory) && memory->address == 0) all.push_back(memory);
  for (const MemoryPtr& memory : all) remove(memory);
  if (hidden_ == 0) hidden_low_ = ~uint64_t{0}, hidden_high_ = 0;
}

MemoryPtr AddressSpace::find(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return holder(by_address_, address);
}

MemoryPtr AddressSpace::find_host(const void* data) const {
  const std::lock_guard lock(mutex_);
  return holder(by_host_, static_cast<const std::byte*>(data));
}

void AddressSpace::set_reach(int device, unsigned peers) {
  const unsigned reached = peers | 1U << static_cast<unsigned>(device);
  const std::lock_guard lock(mutex_);
  for (const auto& [address, memory] : by_address_) {
    Memory& m = *memory;
    if (m.kind != MemoryKind::device || m.buffer == nullptr || m.of_pool || m.of_graph) continue;
    const bool reachable = (reached >> static_cast<unsigned>(m.device) & 1) != 0;
    if (m.reachable == reachable) continue;
    check(lw_buffer_set_reachable(m.buffer, reachable ? 1 : 0));
    m.reachable = reachable;
  }
}

template <typename Do>
void AddressSpace::each_mirror(const Do& action) {
  if (mirrors_ == 0) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, memory] : by_address_)
    if (memory->mirror != nullptr) action(*memory->mirror);
}
void AddressSpace::mirrors_to_device() {
  each_mirror([](Mirror& m) { m.to_device(); });
}
void AddressSpace::mirrors_to_host() {
  each_mirror([](Mirror& m) { m.to_host(); });
}

std::vector<std::string> AddressSpace::in_use(const int* device) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [address, memory] : by_address_)
    if (memory->kind == MemoryKind::device && !memory->freed && !memory->of_graph &&
        (device == nullptr || memory->device == *device))
      all.push_back(memory->name + " of " + std::to_string(memory->bytes) + " bytes was not freed");
  return all;
}

std::string AddressSpace::name_of_freed(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto found = freed_.find(address);
  return found == freed_.end() ? "" : found->second;
}

uint64_t AddressSpace::used() const {
  const std::lock_guard lock(mutex_);
  return used_[static_cast<size_t>(current_device())];
}

}  // namespace lanewise::core
