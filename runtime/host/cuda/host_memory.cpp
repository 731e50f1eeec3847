// Memory of the host that kernels reach: pinned, registered, managed; what a pointer points to.
#include "runtime/host/cuda/allocation.hpp"

namespace lanewise::cuda {
namespace {

constexpr unsigned kHostAllocFlags = 7, kHostRegisterFlags = 15;
constexpr unsigned kAttachGlobal = 1, kAttachHost = 2, kAttachSingle = 4;

void allocate_pinned(void** pointer, size_t bytes, unsigned flags, const char* call) {
  *required(pointer) = nullptr;
  require(flags <= kHostAllocFlags);
  if (bytes == 0) return;
  const auto memory =
      Context::current().memory().allocate_host(bytes, MemoryKind::pinned, next_name(call));
  memory->flags = flags;
  *pointer = memory->host;
}

MemoryPtr host_memory_at(const void* pointer) {
  const auto memory = Context::current().memory().find_host(required(pointer));
  require(memory != nullptr);
  return memory;
}

bool is_managed(const void* pointer, size_t bytes) {
  const auto memory = Context::current().memory().find_host(pointer);
  if (memory == nullptr || memory->kind != MemoryKind::managed) return false;
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(pointer) - memory->host);
  return bytes <= memory->bytes - offset;
}

/// cudaMemLocation
struct Location {
  int type, id;
};
constexpr int kCpu = -1;

/// Both sides reach the memory, so there is nothing to move.
int prefetch(const void* pointer, size_t bytes, int device, StreamHandle stream) {
  return answer([&] {
    stream_of(stream);
    require(bytes != 0 && is_managed(pointer, bytes));
    if (device != kCpu) check_device(device);
  });
}
int advise(const void* pointer, size_t bytes, int advice, int device) {
  return answer([&] {
    constexpr int kFirst = 1, kLast = 6;
    require(advice >= kFirst && advice <= kLast);
    require(bytes != 0 && is_managed(pointer, bytes));
    if (device != kCpu) check_device(device);
  });
}
int id_of(Location location) {
  constexpr int kDevice = 1;
  return location.type == kDevice ? location.id : kCpu;
}

}  // namespace

PointerAttributes pointer_attributes_of(const void* pointer) {
  AddressSpace& space = Context::current().memory();
  const auto address = reinterpret_cast<uint64_t>(pointer);
  MemoryPtr memory = space.find(address);
  if (memory == nullptr) memory = space.find_host(pointer);
  if (memory == nullptr) {
    std::byte first{};
    const bool symbol = AddressSpace::is_device_address(address) &&
                        lw_memory_read(Context::current().device(), address, &first, 1) == LW_OK;
    if (symbol) return {kDevice, current_device(), pointer, nullptr};
    return {kUnregistered, kNoDevice, nullptr, nullptr};
  }
  const bool by_host =
      memory->host != nullptr && address - reinterpret_cast<uint64_t>(memory->host) < memory->bytes;
  if (memory->kind != MemoryKind::device) space.expose(*memory);
  const uint64_t offset =
      address - (by_host ? reinterpret_cast<uint64_t>(memory->host) : memory->address);
  const void* on_device = pointer_at(memory->address + offset);
  const void* on_host = memory->host != nullptr ? memory->host + offset : nullptr;
  const int type = memory->kind == MemoryKind::device    ? kDevice
                   : memory->kind == MemoryKind::managed ? kManaged
                                                         : kHost;
  return {type, memory->device, on_device, on_host};
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaMallocHost, (void** pointer, size_t bytes)) {
  return answer([&] { allocate_pinned(pointer, bytes, 0, "cudaMallocHost"); });
}
ENTRY(cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags)) {
  return answer([&] { allocate_pinned(pointer, bytes, flags, "cudaHostAlloc"); });
}
ENTRY(cudaFreeHost, (void* pointer)) {
  return answer([&] { release(pointer, [](MemoryKind k) { return k == MemoryKind::pinned; }); });
}
ENTRY(cudaMallocManaged, (void** pointer, size_t bytes, unsigned flags)) {
  return answer([&] {
    *required(pointer) = nullptr;
    require((flags == kAttachGlobal || flags == kAttachHost) && bytes != 0);
    const auto memory = Context::current().memory().allocate_host(bytes, MemoryKind::managed,
                                                                  next_name("cudaMallocManaged"));
    memory->flags = flags;
    *pointer = memory->host;
  });
}
ENTRY(cudaHostRegister, (void* pointer, size_t bytes, unsigned flags)) {
  return answer([&] {
    require(pointer != nullptr && bytes != 0 && flags <= kHostRegisterFlags);
    Context::current()
        .memory()
        .register_host(pointer, bytes, next_name("cudaHostRegister"))
        ->flags = flags;
  });
}
ENTRY(cudaHostUnregister, (void* pointer)) {
  return answer([&] {
    Context::current().synchronise();
    const auto memory = Context::current().memory().find_host(required(pointer));
    require(memory != nullptr && memory->kind == MemoryKind::registered, Code::not_registered);
    Context::current().memory().remove(memory);
  });
}
ENTRY(cudaHostGetDevicePointer, (void** out, void* pointer, unsigned flags)) {
  return answer([&] {
    require(flags == 0);
    const auto memory = host_memory_at(pointer);
    Context::current().memory().expose(*memory);
    const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(pointer) - memory->host);
    *required(out) = pointer_at(memory->address + offset);
  });
}
ENTRY(cudaHostGetFlags, (unsigned* flags, void* pointer)) {
  return answer([&] { *required(flags) = host_memory_at(pointer)->flags; });
}
ENTRY(cudaPointerGetAttributes, (PointerAttributes * out, const void* pointer)) {
  return answer([&] { *required(out) = pointer_attributes_of(required(pointer)); });
}

ENTRY_PTSZ(cudaMemPrefetchAsync, (const void* pointer, size_t bytes, Location to,
                                  unsigned /*flags*/, StreamHandle stream)) {
  return prefetch(pointer, bytes, id_of(to), stream);
}
ALSO(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
ALSO(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync);
ENTRY_OF(12, cudaMemPrefetchAsync,
         (const void* pointer, size_t bytes, int device, StreamHandle stream)) {
  return prefetch(pointer, bytes, device, stream);
}
ALSO(lanewise_cuda12_cudaMemPrefetchAsync_ptsz, lanewise_cuda12_cudaMemPrefetchAsync);
ALSO(lanewise_cuda11_cudaMemPrefetchAsync, lanewise_cuda12_cudaMemPrefetchAsync);
ALSO(lanewise_cuda11_cudaMemPrefetchAsync_ptsz, lanewise_cuda12_cudaMemPrefetchAsync);
ENTRY(cudaMemAdvise, (const void* pointer, size_t bytes, int advice, Location where)) {
  return advise(pointer, bytes, advice, id_of(where));
}
ALSO(cudaMemAdvise_v2, cudaMemAdvise);
ENTRY_OF(12, cudaMemAdvise, (const void* pointer, size_t bytes, int advice, int device)) {
  return advise(pointer, bytes, advice, device);
}
ALSO(lanewise_cuda11_cudaMemAdvise, lanewise_cuda12_cudaMemAdvise);
ENTRY_PTSZ(cudaStreamAttachMemAsync,
           (StreamHandle stream, void* pointer, size_t bytes, unsigned flags)) {
  return answer([&] {
    stream_of(stream);
    require(flags == kAttachGlobal || flags == kAttachHost || flags == kAttachSingle);
    require(is_managed(pointer, bytes));
  });
}
