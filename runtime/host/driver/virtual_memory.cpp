// Addresses and memory apart: ranges of addresses, handles of memory, and which is mapped where.
// What a handle holds while it is mapped nowhere is kept by the host.
#include <algorithm>

#include "runtime/host/core/status.hpp"
#include "runtime/host/cuda/allocation.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

constexpr uint64_t kGranularity = 2 << 20;

/// CUmemLocation
struct Place {
  int type, id;
};
/// CUmemAllocationProp
struct Properties {
  int type, handle_types;
  Place place;
  void* meta;
  unsigned char flags[8];
};
/// CUmemAccessDesc
struct Access {
  Place place;
  int flags;
};
constexpr int kPinned = 1, kOnDevice = 1, kReadWrite = 3;

/// CUmemGenericAllocationHandle
struct Physical {
  uint64_t bytes = 0;
  Properties properties{};
  int references = 1;
  Address mapped_at = 0;
  std::vector<std::byte> contents;  ///< while it is not mapped; empty = zeros
};
struct Part {
  uint64_t bytes;
  Physical* physical;
};
struct Reservation {
  Address address = 0;
  uint64_t bytes = 0;
  lw_buffer* buffer = nullptr;
  std::map<Address, Part> parts;
  std::map<Address, MemoryPtr> known;  ///< of the core's address space: parts that can be accessed

  ~Reservation() { lw_buffer_release(buffer); }
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<Address, std::unique_ptr<Reservation>> reservations;
  std::map<const Physical*, std::unique_ptr<Physical>> physical;

  Reservation& reservation(Address address, uint64_t bytes) {
    auto after = reservations.upper_bound(address);
    require(after != reservations.begin());
    Reservation& found = *std::prev(after)->second;
    require(bytes != 0 && address - found.address < found.bytes &&
            bytes <= found.bytes - (address - found.address));
    return found;
  }
  Physical& of(uint64_t handle) {
    const auto found = physical.find(pointer_at<Physical>(handle));
    require(found != physical.end());
    return *found->second;
  }
  /// When nobody has it and it is mapped nowhere.
  void drop(Physical& p) {
    if (p.references == 0 && p.mapped_at == 0) physical.erase(&p);
  }
};
VirtualMemory& all() {
  static auto* const the_memory = new VirtualMemory;
  return *the_memory;
}

/// Runs of parts that touch are what copies are checked against.
void make_known(Reservation& r) {
  AddressSpace& space = Context::current().memory();
  for (const auto& [address, memory] : r.known) space.remove(memory);
  r.known.clear();
  for (auto part = r.parts.begin(); part != r.parts.end();) {
    const Address begin = part->first;
    Address end = begin;
    for (; part != r.parts.end() && part->first == end; ++part) end += part->second.bytes;
    r.known[begin] = space.adopt(begin, end - begin, "mapped memory");
  }
}

void map(Address address, uint64_t bytes, uint64_t offset, uint64_t handle) {
  VirtualMemory& memory = all();
  const std::lock_guard lock(memory.mutex);
  Physical& p = memory.of(handle);
  Reservation& r = memory.reservation(address, bytes);
  require(offset == 0 && bytes == p.bytes && address % kGranularity == 0);
  if (p.mapped_at != 0)
    fail(Code::not_supported, "cuMemMap: one memory at two addresses at the same time");
  Context& context = Context::current();
  context.wait();
  const auto next = r.parts.lower_bound(address);
  require(next == r.parts.end() || next->first >= address + bytes);
  require(next == r.parts.begin() ||
          std::prev(next)->first + std::prev(next)->second.bytes <= address);
  check(lw_buffer_set_mapped(r.buffer, address - r.address, bytes, 1));
  if (!p.contents.empty())
    check(lw_memory_write(context.device(), address, p.contents.data(), bytes));
  p.contents = {};
  p.mapped_at = address;
  r.parts[address] = {bytes, &p};
  make_known(r);
}

void unmap(Address address, uint64_t bytes) {
  VirtualMemory& memory = all();
  const std::lock_guard lock(memory.mutex);
  Reservation& r = memory.reservation(address, bytes);
  Context& context = Context::current();
  context.wait();
  auto first = r.parts.find(address);
  require(first != r.parts.end());
  Address end = address;
  auto last = first;
  for (; last != r.parts.end() && last->first == end && end < address + bytes; ++last)
    end += last->second.bytes;
  require(end == address + bytes);
  for (auto part = first; part != last; ++part) {
    Physical& p = *part->second.physical;
    if (p.references != 0) {
      p.contents.resize(p.bytes);
      check(lw_memory_read(context.device(), part->first, p.contents.data(), p.bytes));
    }
    check(lw_buffer_set_mapped(r.buffer, part->first - r.address, p.bytes, 0));
    p.mapped_at = 0;
    memory.drop(p);
  }
  r.parts.erase(first, last);
  make_known(r);
}

void require_device(const Place& place) {
  require(place.type == kOnDevice);
  check_device(place.id);
}

const Part& part_at(Address address) {
  const Reservation& r = all().reservation(address, 1);
  auto after = r.parts.upper_bound(address);
  require(after != r.parts.begin());
  const auto& [begin, part] = *std::prev(after);
  require(address - begin < part.bytes);
  return part;
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuMemGetAllocationGranularity,
      (size_t * bytes, const Properties* properties, int /*option*/)) {
  return answer(
      [&] {
        require(required(properties)->type == kPinned);
        require_device(properties->place);
        *required(bytes) = kGranularity;
      },
      Needs::device);
}
ENTRY(cuMemAddressReserve, (Address * out, size_t bytes, size_t alignment, Address /*wanted*/,
                            unsigned long long flags)) {
  return answer([&] {
    require(flags == 0 && bytes != 0 && bytes % kGranularity == 0 &&
            (alignment & (alignment - 1)) == 0);
    auto made = std::make_unique<Reservation>();
    made->bytes = bytes;
    check(lw_buffer_reserve(Context::current().device(), bytes,
                            std::max<uint64_t>(alignment, kGranularity), "mapped memory",
                            &made->buffer));
    check(lw_buffer_address(made->buffer, &made->address));
    VirtualMemory& memory = all();
    const std::lock_guard lock(memory.mutex);
    *required(out) = made->address;
    memory.reservations[made->address] = std::move(made);
  });
}
ENTRY(cuMemAddressFree, (Address address, size_t bytes)) {
  return answer([&] {
    VirtualMemory& memory = all();
    const std::lock_guard lock(memory.mutex);
    const auto found = memory.reservations.find(address);
    require(found != memory.reservations.end() && found->second->bytes == bytes &&
            found->second->parts.empty());
    memory.reservations.erase(found);
  });
}
ENTRY(cuMemCreate,
      (uint64_t * handle, size_t bytes, const Properties* properties, unsigned long long flags)) {
  return answer([&] {
    require(flags == 0 && bytes != 0 && bytes % kGranularity == 0);
    require(required(properties)->type == kPinned);
    require_device(properties->place);
    require(properties->handle_types == 0, Code::not_supported);
    const OnDevice its(properties->place.id);
    size_t free = 0, total = 0;
    cuda::memory_left(free, total);
    require(bytes <= free, Code::out_of_memory);
    auto made = std::make_unique<Physical>();
    made->bytes = bytes;
    made->properties = *properties;
    VirtualMemory& memory = all();
    const std::lock_guard lock(memory.mutex);
    Physical* const p = made.get();
    *required(handle) = reinterpret_cast<uint64_t>(p);
    memory.physical[p] = std::move(made);
  });
}
ENTRY(cuMemRelease, (uint64_t handle)) {
  return answer([&] {
    VirtualMemory& memory = all();
    const std::lock_guard lock(memory.mutex);
    Physical& p = memory.of(handle);
    require(p.references > 0);
    --p.references;
    memory.drop(p);
  });
}
ENTRY(cuMemRetainAllocationHandle, (uint64_t * handle, void* pointer)) {
  return answer([&] {
    const std::lock_guard lock(all().mutex);
    Physical& p = *part_at(reinterpret_cast<Address>(pointer)).physical;
    ++p.references;
    *required(handle) = reinterpret_cast<uint64_t>(&p);
  });
}
ENTRY(cuMemMap,
      (Address address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags)) {
  return answer([&] {
    require(flags == 0);
    map(address, bytes, offset, handle);
  });
}
ENTRY(cuMemUnmap, (Address address, size_t bytes)) {
  return answer([&] { unmap(address, bytes); });
}
/// What is mapped can be read and written.
ENTRY(cuMemSetAccess, (Address address, size_t bytes, const Access* access, size_t count)) {
  return answer([&] {
    const std::lock_guard lock(all().mutex);
    for (Address at = address; at < address + bytes; at += part_at(at).bytes) part_at(at);
    for (size_t i = 0; i < count; ++i) {
      require_device(required(access)[i].place);
      require(access[i].flags == kReadWrite, Code::not_supported);
    }
  });
}
ENTRY(cuMemGetAccess, (unsigned long long* flags, const Place* place, Address address)) {
  return answer([&] {
    require_device(*required(place));
    const std::lock_guard lock(all().mutex);
    part_at(address);
    *required(flags) = kReadWrite;
  });
}
ENTRY(cuMemGetAllocationPropertiesFromHandle, (Properties * properties, uint64_t handle)) {
  return answer([&] {
    const std::lock_guard lock(all().mutex);
    *required(properties) = all().of(handle).properties;
  });
}
