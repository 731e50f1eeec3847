// Buffers: the host's access to the guest's memory, and imported memory that guests reach.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/guest/allocation_at.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/vulkan/device/interop.hpp"

namespace lanewise::host {
namespace {

void check_range(uint64_t offset, uint64_t bytes, uint64_t size) {
  if (offset <= size && bytes <= size - offset) return;
  fail(ErrorDetail::out_of_range,
       fmt::format("{} bytes at offset {} do not lie inside a buffer of {} bytes", bytes, offset,
                   size));
}

/// A buffer at an address that the device's allocator has for imported memory; `map` gets the
/// address and says whether the engine reaches the memory there.
template <typename Map>
std::shared_ptr<Buffer> mapped_at(const std::shared_ptr<Device>& device, uint64_t address,
                                  uint64_t size, const Map& map) {
  try {
    if (map(address)) return std::make_shared<Buffer>(device, Allocated::Place{address, size});
  } catch (...) {
    device->allocator.free(address);
    throw;
  }
  device->allocator.free(address);
  return nullptr;
}

/// The same at an address of the allocator's choice.
template <typename Map>
std::shared_ptr<Buffer> elsewhere(const std::shared_ptr<Device>& device, uint64_t size,
                                  const std::string& name, bool read_only, uint64_t low_bits,
                                  const Map& map) {
  return mapped_at(device, device->allocator.allocate_imported(size, name, read_only, low_bits),
                   size, map);
}

/// Copies inside one device pass through the host in parts of this size.
constexpr uint64_t kPart = uint64_t{1} << 20;

/// The device, entered, for an access to `bytes` bytes that lie in one allocation.
class Access {
 public:
  Access(lw_device* device, uint64_t bytes) : device_(find<Device>(device)), bytes_(bytes) {
    lock_ = device_->enter();
  }
  Device& device() const { return *device_; }
  void check(uint64_t address) const {
    const std::vector<Allocation>& all = device_->allocator.allocations();
    const auto after = std::ranges::upper_bound(all, address, {}, &Allocation::address);
    if (after != all.begin()) {
      const Allocation& a = *std::prev(after);
      if (address - a.address <= a.size && bytes_ <= a.size - (address - a.address)) return;
    }
    fail(ErrorDetail::out_of_range,
         fmt::format("{} bytes at guest address {:#x} do not lie inside one allocation", bytes_,
                     address));
  }
  void write(uint64_t address, std::span<const std::byte> data) const {
    device_->engine->write(address, data);
    device_->forget_textures(address, data.size());
    device_->unwritten.note(address, data.size());
    if (device_->events != nullptr) device_->events->host_write(address, data.size());
  }
  /// Of so many bytes those that nobody wrote.
  std::vector<uint64_t> unwritten(uint64_t address, uint64_t bytes) const {
    std::vector<uint64_t> out;
    const guest::Unwritten& known = device_->unwritten;
    if (known.written(address, bytes)) return out;
    for (uint64_t n = 0; n < bytes; ++n)
      if (!known.written(address + n, 1)) out.push_back(n);
    return out;
  }
  std::pair<uint64_t, uint64_t> first_unwritten(uint64_t address, uint64_t bytes,
                                                uint64_t least) const {
    const auto [first, count] = device_->unwritten.first_run(address, bytes, least);
    return {count != 0 ? first - address : 0, count};
  }
  /// What was copied there is unwritten still.
  void lose(uint64_t address, const std::vector<uint64_t>& bytes) const {
    if (bytes.empty()) return;
    const Allocation* of = guest::allocation_at(device_->allocator.allocations(), address, 1);
    for (const uint64_t n : bytes)
      if (of != nullptr) device_->unwritten.lose(address + n, 1, of->address, of->size);
  }
  void read(uint64_t address, std::span<std::byte> data) const {
    device_->engine->read(address, data);
    if (device_->events != nullptr) device_->events->host_read(address, data.size());
  }
  /// Calls part(offset, bytes) for the whole, from its end where `backwards`.
  template <typename Part>
  void in_parts(bool backwards, const Part& part) const {
    const uint64_t count = (bytes_ + kPart - 1) / kPart;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = (backwards ? count - 1 - i : i) * kPart;
      part(at, std::min(kPart, bytes_ - at));
    }
  }

 private:
  const std::shared_ptr<Device> device_;
  const uint64_t bytes_;
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace

std::shared_ptr<Buffer> allocate(const std::shared_ptr<Device>& device, uint64_t bytes,
                                 const std::string& name, bool paged) {
  // Sizes beyond the guest address space would overflow when they are rounded.
  if (paged && bytes > guest::kMaxAllocation)
    fail(ErrorDetail::invalid_value,
         fmt::format("buffer '{}' of {} bytes is larger than the guest address space ({} bytes)",
                     name, bytes, guest::kMaxAllocation));
  const uint64_t page = guest::kSparsePage;
  if (paged) bytes = ((std::max<uint64_t>(bytes, 1) - 1) / page + 1) * page;
  const auto lock = device->enter();
  auto made =
      std::make_shared<Buffer>(device, bytes, name, false, paged ? page : guest::kAllocAlign);
  made->paged = paged;
  device->unwritten.add(made->memory.address, bytes);
  return made;
}

/// Whoever gets the memory next finds it resident.
Buffer::~Buffer() {
  if (!paged && !exported) return;
  Device& device = *memory.device;
  const std::lock_guard lock(device.mutex);
  if (exported && device.engine != nullptr) vulkan::let_go(*device.engine);
  if (paged) device.residency.set(memory.address, memory.size >> guest::kSparsePageBits, true);
}

namespace {

void refuse_reserved(const Buffer& buffer) {
  if (buffer.reserved)
    fail(ErrorDetail::invalid_value,
         "reserved addresses are accessed as addresses (lw_memory_...)");
}

}  // namespace

void Buffer::write(std::span<const std::byte> bytes, uint64_t offset) {
  refuse_reserved(*this);
  check_range(offset, bytes.size(), memory.size);
  if (bytes.empty()) return;
  Device& device = *memory.device;
  const auto lock = device.enter();
  device.engine->write(memory.address + offset, bytes);
  device.unwritten.note(memory.address + offset, bytes.size());
  if (device.events != nullptr) device.events->host_write(memory.address + offset, bytes.size());
}

void Buffer::read(std::span<std::byte> bytes, uint64_t offset) const {
  refuse_reserved(*this);
  check_range(offset, bytes.size(), memory.size);
  if (bytes.empty()) return;
  Device& device = *memory.device;
  const auto lock = device.enter();
  device.engine->read(memory.address + offset, bytes);
  if (device.events != nullptr) device.events->host_read(memory.address + offset, bytes.size());
}

std::shared_ptr<Buffer> map_host(const std::shared_ptr<Device>& device, std::span<std::byte> memory,
                                 const std::string& name, bool read_only, bool own_address) {
  const auto lock = device->enter();
  // Launches that are followed may be run again: they work on copies.
  if (memory.empty() || device->events != nullptr) return nullptr;
  const auto map = [&](uint64_t at) { return device->engine->map_host(at, memory); };
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  if (own_address && device->allocator.place_imported(address, memory.size(), name, read_only))
    return mapped_at(device, address, memory.size(), map);
  return elsewhere(device, memory.size(), name, read_only, address, map);
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_buffer_create(lw_device* device, uint64_t bytes, const char* name, lw_buffer** out) {
  return gives(out, [&] { return allocate(find<Device>(device), bytes, text_or(name, "buffer")); });
}

lw_status lw_buffer_create_paged(lw_device* device, uint64_t bytes, const char* name,
                                 lw_buffer** out) {
  return gives(
      out, [&] { return allocate(find<Device>(device), bytes, text_or(name, "buffer"), true); });
}

lw_status lw_buffer_reserve(lw_device* device, uint64_t bytes, uint64_t alignment, const char* name,
                            lw_buffer** out) {
  return gives(out, [&] {
    const auto on = find<Device>(device);
    const uint64_t align = std::max<uint64_t>(alignment, guest::kAllocAlign);
    if (bytes == 0 || (alignment & (alignment - 1)) != 0)
      fail(ErrorDetail::invalid_value, "addresses are reserved in powers of two, and some of them");
    auto made = std::make_shared<Buffer>(
        on, Allocated::Place{on->reserve(bytes, text_or(name, "buffer"), align), bytes});
    made->reserved = true;
    return made;
  });
}

lw_status lw_buffer_set_mapped(lw_buffer* buffer, uint64_t offset, uint64_t bytes, int mapped) {
  return guarded([&] {
    const auto object = find<Buffer>(buffer);
    if (!object->reserved)
      fail(ErrorDetail::invalid_value, "only reserved addresses get and lose memory");
    check_range(offset, bytes, object->memory.size);
    object->memory.device->set_mapped(object->memory.address + offset, bytes, mapped != 0);
  });
}

lw_status lw_buffer_set_reachable(lw_buffer* buffer, int reachable) {
  return guarded([&] {
    const auto object = find<Buffer>(buffer);
    if (object->reserved)
      fail(ErrorDetail::invalid_value, "parts of reserved addresses are mapped, or not");
    Device& device = *object->memory.device;
    const auto lock = device.enter();
    device.allocator.set_reachable(object->memory.address, reachable != 0);
  });
}

lw_status lw_buffer_set_resident(lw_buffer* buffer, uint64_t first_page, uint64_t pages,
                                 int resident) {
  return guarded([&] {
    const auto object = find<Buffer>(buffer);
    const uint64_t all = object->memory.size / guest::kSparsePage;
    if (!object->paged)
      fail(ErrorDetail::invalid_value, "only buffers that were made paged have pages");
    if (first_page > all || pages > all - first_page)
      fail(ErrorDetail::out_of_range,
           fmt::format("{} pages from page {} on do not lie in a buffer of {} pages", pages,
                       first_page, all));
    Device& device = *object->memory.device;
    const auto lock = device.enter();
    const uint64_t first = object->memory.address + first_page * guest::kSparsePage;
    if (!device.residency.set(first, pages, resident != 0))
      fail(ErrorDetail::invalid_value, "absent pages must lie in the first 4 GiB of the arena");
  });
}

lw_status lw_buffer_address(lw_buffer* buffer, uint64_t* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    *out = find<Buffer>(buffer)->memory.address;
  });
}

lw_status lw_buffer_size(lw_buffer* buffer, uint64_t* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    *out = find<Buffer>(buffer)->memory.size;
  });
}

lw_status lw_buffer_write(lw_buffer* buffer, uint64_t offset, const void* data, uint64_t bytes) {
  return guarded(
      [&] { find<Buffer>(buffer)->write(span_of<const std::byte>(data, bytes), offset); });
}

lw_status lw_buffer_read(lw_buffer* buffer, uint64_t offset, void* data, uint64_t bytes) {
  return guarded([&] { find<Buffer>(buffer)->read(span_of<std::byte>(data, bytes), offset); });
}

lw_status lw_memory_write(lw_device* device, uint64_t address, const void* data, uint64_t bytes) {
  return guarded([&] {
    const auto from = span_of<const std::byte>(data, bytes);
    const Access access(device, bytes);
    access.check(address);
    if (bytes != 0) access.write(address, from);
  });
}

lw_status lw_memory_read(lw_device* device, uint64_t address, void* data, uint64_t bytes) {
  return guarded([&] {
    const auto to = span_of<std::byte>(data, bytes);
    const Access access(device, bytes);
    access.check(address);
    if (bytes != 0) access.read(address, to);
  });
}

lw_status lw_memory_unwritten(lw_device* device, uint64_t address, uint64_t bytes, uint64_t least,
                              uint64_t* offset, uint64_t* run) {
  return guarded([&] {
    const Access access(device, bytes);
    access.check(address);
    const auto [first, count] =
        access.first_unwritten(address, bytes, std::max<uint64_t>(least, 1));
    *offset = first;
    *run = count;
  });
}

lw_status lw_memory_copy(lw_device* device, uint64_t to, uint64_t from, uint64_t bytes) {
  return guarded([&] {
    const Access access(device, bytes);
    access.check(from);
    access.check(to);
    std::vector<std::byte> part(std::min(bytes, kPart));
    access.in_parts(from < to, [&](uint64_t at, uint64_t size) {
      const std::span<std::byte> some = std::span(part).first(size);
      access.read(from + at, some);
      const std::vector<uint64_t> unwritten = access.unwritten(from + at, size);
      access.write(to + at, some);
      access.lose(to + at, unwritten);
    });
  });
}

lw_status lw_memory_fill(lw_device* device, uint64_t address, uint32_t value, uint32_t size,
                         uint64_t count) {
  return guarded([&] {
    if (size != 1 && size != 2 && size != 4)
      fail(ErrorDetail::invalid_value, "the size of a value is 1, 2 or 4 bytes");
    if (count > UINT64_MAX / size) fail(ErrorDetail::out_of_range, "more bytes than there are");
    const Access access(device, count * size);
    access.check(address);
    std::vector<std::byte> part(std::min(count * size, kPart));
    for (uint64_t at = 0; at < part.size(); at += size) std::memcpy(&part[at], &value, size);
    access.in_parts(false, [&](uint64_t at, uint64_t bytes) {
      access.write(address + at, std::span(part).first(bytes));
    });
  });
}

lw_status lw_buffer_map_host(lw_device* device, void* data, uint64_t bytes, const char* name,
                             uint32_t flags, lw_buffer** out) {
  return gives(out, [&] {
    if (flags > LW_HOST_READ_ONLY)
      fail(ErrorDetail::invalid_value, "flags are 0 or LW_HOST_READ_ONLY");
    const auto memory = span_of<std::byte>(data, bytes);
    auto made = map_host(find<Device>(device), memory, text_or(name, "host memory"),
                         flags == LW_HOST_READ_ONLY, true);
    if (made == nullptr)
      fail(ErrorDetail::unsupported,
           fmt::format("the device cannot reach {} bytes of host memory at {:#x} in place", bytes,
                       reinterpret_cast<uint64_t>(data)));
    return made;
  });
}

const void* lw_blob_data(lw_blob* blob) {
  return quiet<const void*>(nullptr, [&] { return find<Blob>(blob)->bytes.data(); });
}

size_t lw_blob_size(lw_blob* blob) {
  return quiet<size_t>(0, [&] { return find<Blob>(blob)->bytes.size(); });
}

const char* lw_blob_note(lw_blob* blob, const char* name) {
  return quiet<const char*>(nullptr, [&] {
    const auto object = find<Blob>(blob);
    const auto note = object->notes.find(required(name, "name"));
    return note != object->notes.end() ? note->second.c_str() : "";
  });
}

lw_status lw_vulkan_buffer_import(lw_device* device, const lw_vulkan_buffer_info* info,
                                  const char* name, lw_buffer** out) {
  return gives(out, [&] {
    const lw_vulkan_buffer_info what = read_struct(info, "lw_vulkan_buffer_info");
    if (what.flags > LW_VULKAN_READ_ONLY || what.reserved != 0)
      fail(ErrorDetail::invalid_value, "flags are 0 or LW_VULKAN_READ_ONLY, and reserved is 0");
    const auto on = find<Device>(device);
    const auto lock = on->enter();
    const uint64_t low_bits = vulkan::address_of(*on->engine, what);
    return elsewhere(on, what.size, text_or(name, "imported buffer"),
                     what.flags == LW_VULKAN_READ_ONLY, low_bits, [&](uint64_t at) {
                       vulkan::map_buffer(*on->engine, at, what);
                       return true;
                     });
  });
}

lw_status lw_vulkan_buffer_export(lw_buffer* buffer, lw_vulkan_region* out) {
  return guarded([&] {
    checked_size(out, "lw_vulkan_region");
    const auto object = find<Buffer>(buffer);
    Device& device = *object->memory.device;
    const auto lock = device.enter();
    const lw_vulkan_region region =
        vulkan::locate(*device.engine, object->memory.address, object->memory.size);
    if (!object->exported) vulkan::hold(*device.engine);
    object->exported = true;
    device.unwritten.remove(object->memory.address);  // others write there unseen
    write_struct(out, region, "lw_vulkan_region");
  });
}
