// Allocations, and what a pointer points to.
#include <algorithm>
#include <cstring>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/allocation.hpp"
#include "runtime/host/cuda/arrays.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

MemoryPtr memory_at(Address address) {
  AddressSpace& space = Context::current().memory();
  MemoryPtr memory = space.find(address);
  return memory != nullptr ? memory : space.find_host(pointer_at(address));
}

void own(Address address) {
  if (const MemoryPtr memory = memory_at(address)) memory->owner = current_context()->owner();
}

void allocate(Address* out, size_t bytes, const char* call) {
  forbid_in_capture();
  require(bytes != 0);
  void* pointer = nullptr;
  cuda::allocate(&pointer, bytes, call);
  *required(out) = reinterpret_cast<Address>(pointer);
  own(*out);
}

/// A call of the runtime's that gives out memory.
template <typename Call>
int allocate_as(void** out, const Call& call) {
  const int number = forward(call);
  return number != 0 ? number : answer([&] { own(reinterpret_cast<Address>(*out)); });
}

extern "C" int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
extern "C" int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags);

/// CUpointer_attribute
enum Attribute : int {
  kContext = 1,
  kMemoryType,
  kDevicePointer,
  kHostPointer,
  kTokens,
  kSynchronous,
  kBuffer,
  kManaged,
  kOrdinal,
  kLegacyIpc,
  kRangeStart,
  kRangeSize,
  kMapped,
  kHandleTypes,
  kGpuDirect,
  kAccess,
  kPool,
  kLastAttribute = 21
};
constexpr unsigned kTypeHost = 1, kTypeDevice = 2;

template <typename T>
void put(void* out, const T& value) {
  std::memcpy(out, &value, sizeof value);
}

/// The current one where that is of the device, else the primary one.
DriverContext* context_of(int device) {
  DriverContext* const current = current_context();
  return current->device == device ? current : &primary_context(device);
}

/// False where the address is of no allocation.
bool pointer_attribute(void* out, int attribute, Address address) {
  const cuda::PointerAttributes a = cuda::pointer_attributes_of(pointer_at(address));
  if (a.type == cuda::kUnregistered) return false;
  const MemoryPtr memory = memory_at(address);
  const bool by_host = a.type == cuda::kHost;
  switch (attribute) {
    case kContext:
      put(out, reinterpret_cast<uintptr_t>(context_of(a.device)));
      break;
    case kMemoryType:
      put(out, by_host ? kTypeHost : kTypeDevice);
      break;
    case kDevicePointer:
      put(out, a.device_pointer);
      break;
    case kHostPointer:
      require(a.host_pointer != nullptr);
      put(out, a.host_pointer);
      break;
    case kSynchronous:
    case kLegacyIpc:
    case kGpuDirect:
    case kHandleTypes:
      put(out, 0);
      break;
    case kBuffer:
      put(out, memory != nullptr ? memory->id : uint64_t{0});
      break;
    case kManaged:
      put(out, a.type == cuda::kManaged ? 1 : 0);
      break;
    case kOrdinal:
      put(out, a.device);
      break;
    case kRangeStart:
      put(out, memory == nullptr ? address : memory->address);
      break;
    case kRangeSize:
      put(out, memory == nullptr ? uint64_t{0} : memory->bytes);
      break;
    case kMapped:
      put(out, 1);
      break;
    case kAccess:
      put(out, 3);
      break;
    case kPool:
      put(out, uint64_t{0});
      break;
    default:
      fail(attribute > 0 && attribute <= kLastAttribute ? Code::not_supported
                                                        : Code::invalid_value);
  }
  return true;
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

SAME(cuMemGetInfo_v2, cudaMemGetInfo, (size_t * free, size_t* total), (free, total))
ENTRY(cuMemAlloc_v2, (Address * out, size_t bytes)) {
  return answer([&] { allocate(out, bytes, "cuMemAlloc"); });
}
ENTRY(cuMemAllocPitch_v2,
      (Address * out, size_t* pitch, size_t width, size_t height, unsigned element)) {
  return answer([&] {
    require(width != 0 && height != 0 && (element == 4 || element == 8 || element == 16));
    *required(pitch) = cuda::pitch_of(width);
    allocate(out, *pitch * height, "cuMemAllocPitch");
  });
}
/// What is destroyed needs no current context: it belongs to one.
ENTRY(cuMemFree_v2, (Address address)) {
  return answer(
      [&] {
        cuda::release(pointer_at(address), [](MemoryKind k) {
          return k == MemoryKind::device || k == MemoryKind::managed;
        });
      },
      Needs::device);
}
ENTRY(cuMemGetAddressRange_v2, (Address * base, size_t* bytes, Address address)) {
  return answer([&] {
    const MemoryPtr memory = memory_at(address);
    require(memory != nullptr, Code::not_found);
    if (base != nullptr) *base = memory->address;
    if (bytes != nullptr) *bytes = memory->bytes;
  });
}
ENTRY(cuMemAllocManaged, (Address * out, size_t bytes, unsigned flags)) {
  void* pointer = nullptr;
  const int number =
      allocate_as(&pointer, [&] { return cudaMallocManaged(&pointer, bytes, flags); });
  if (number == 0 && out != nullptr) *out = reinterpret_cast<Address>(pointer);
  return number;
}
ENTRY(cuMemHostAlloc, (void** out, size_t bytes, unsigned flags)) {
  return allocate_as(out, [&] { return cudaHostAlloc(out, bytes, flags); });
}
ENTRY(cuMemAllocHost_v2, (void** out, size_t bytes)) {
  return allocate_as(out, [&] { return cudaHostAlloc(out, bytes, 0); });
}
SAME_WITHOUT_CONTEXT(cuMemFreeHost, cudaFreeHost, (void* pointer), (pointer))
SAME(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer,
     (void** out, void* pointer, unsigned flags), (out, pointer, flags))
SAME(cuMemHostGetFlags, cudaHostGetFlags, (unsigned* flags, void* pointer), (flags, pointer))
SAME(cuMemHostRegister_v2, cudaHostRegister, (void* pointer, size_t bytes, unsigned flags),
     (pointer, bytes, flags))
ALSO(cuMemHostRegister, cuMemHostRegister_v2);
SAME(cuMemHostUnregister, cudaHostUnregister, (void* pointer), (pointer))
ENTRY(cuPointerGetAttribute, (void* out, int attribute, Address address)) {
  return answer([&] { require(pointer_attribute(required(out), attribute, address)); });
}
/// What is not known of a pointer is 0.
ENTRY(cuPointerGetAttributes,
      (unsigned count, const int* attributes, void** out, Address address)) {
  return answer([&] {
    for (unsigned i = 0; i < count; ++i) {
      const int attribute = required(attributes)[i];
      const bool narrow = attribute == kMemoryType || attribute == kSynchronous ||
                          attribute == kManaged || attribute == kOrdinal ||
                          attribute == kLegacyIpc || attribute == kMapped;
      std::memset(required(out)[i], 0, narrow ? sizeof(int) : sizeof(Address));
      if (memory_at(address) != nullptr) pointer_attribute(out[i], attribute, address);
    }
  });
}
ENTRY(cuPointerSetAttribute, (const void* value, int attribute, Address address)) {
  return answer([&] {
    require(value != nullptr && attribute == kSynchronous && memory_at(address) != nullptr);
  });
}

struct Location {
  int type, id;
};
SAME_PTSZ(cuMemPrefetchAsync_v2, cudaMemPrefetchAsync,
          (const void* pointer, size_t bytes, Location to, unsigned flags, StreamHandle stream),
          (pointer, bytes, to, flags, stream))
SAME(cuMemAdvise_v2, cudaMemAdvise, (const void* pointer, size_t bytes, int advice, Location where),
     (pointer, bytes, advice, where))
SAME_PTSZ(cuMemPrefetchAsync, lanewise_cuda12_cudaMemPrefetchAsync,
          (const void* pointer, size_t bytes, int device, StreamHandle stream),
          (pointer, bytes, device, stream))
SAME(cuMemAdvise, lanewise_cuda12_cudaMemAdvise,
     (const void* pointer, size_t bytes, int advice, int device), (pointer, bytes, advice, device))
