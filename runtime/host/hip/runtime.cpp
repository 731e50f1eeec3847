// Memory, copies, streams, events, symbols and errors.
#include <cstring>

#include "runtime/host/cuda/allocation.hpp"
#include "runtime/host/cuda/graphs.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {

using cuda::Copy3D;
using cuda::Extent;
using cuda::PitchedPointer;

namespace {

/// hipPointerAttribute_t
struct PointerAttributes {
  int type, device;
  const void *on_device, *on_host;
  int managed;
  unsigned flags;
};
/// What AMD added to the flags of memory and events are hints.
constexpr unsigned kHostFlags = 7, kEventFlags = 7;

std::string renamed(const char* name) {
  constexpr size_t kPrefix = 4;  // "cuda"
  return "hip" + std::string(name + kPrefix);
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

SAME(hipMalloc, cudaMalloc, (void** pointer, size_t bytes), (pointer, bytes))
SAME(hipFree, cudaFree, (void* pointer), (pointer))
SAME(hipMallocManaged, cudaMallocManaged, (void** pointer, size_t bytes, unsigned flags),
     (pointer, bytes, flags))
extern "C" int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
extern "C" int cudaEventCreateWithFlags(EventHandle* out, unsigned flags);
ENTRY(hipHostMalloc, (void** pointer, size_t bytes, unsigned flags)) {
  return cudaHostAlloc(pointer, bytes, flags & kHostFlags);
}
ALSO(hipHostAlloc, hipHostMalloc);
ENTRY(hipMallocHost, (void** pointer, size_t bytes)) {
  return cudaHostAlloc(pointer, bytes, 0);
}
ALSO(hipMemAllocHost, hipMallocHost);
SAME(hipHostFree, cudaFreeHost, (void* pointer), (pointer))
ALSO(hipFreeHost, hipHostFree);
SAME(hipHostRegister, cudaHostRegister, (void* pointer, size_t bytes, unsigned flags),
     (pointer, bytes, flags))
SAME(hipHostUnregister, cudaHostUnregister, (void* pointer), (pointer))
SAME(hipHostGetDevicePointer, cudaHostGetDevicePointer, (void** out, void* pointer, unsigned flags),
     (out, pointer, flags))
SAME(hipHostGetFlags, cudaHostGetFlags, (unsigned* flags, void* pointer), (flags, pointer))
SAME(hipMallocPitch, cudaMallocPitch, (void** pointer, size_t* pitch, size_t width, size_t rows),
     (pointer, pitch, width, rows))
ENTRY(hipMemAllocPitch,
      (void** pointer, size_t* pitch, size_t width, size_t rows, unsigned /*element*/)) {
  return cudaMallocPitch(pointer, pitch, width, rows);
}
/// What kind of memory of the device: all is the same here.
ENTRY(hipExtMallocWithFlags, (void** pointer, size_t bytes, unsigned /*flags*/)) {
  return cudaMalloc(pointer, bytes);
}
ENTRY(hipMemGetAddressRange, (void** base, size_t* bytes, void* pointer)) {
  return answer([&] {
    const auto memory =
        Context::current().memory().find(reinterpret_cast<uint64_t>(required(pointer)));
    require(memory != nullptr);
    if (base != nullptr) *base = pointer_at(memory->address);
    if (bytes != nullptr) *bytes = memory->bytes;
  });
}
ENTRY(hipMemPtrGetInfo, (void* pointer, size_t* bytes)) {
  return answer([&] {
    const auto memory =
        Context::current().memory().find(reinterpret_cast<uint64_t>(required(pointer)));
    require(memory != nullptr);
    *required(bytes) = memory->bytes;
  });
}
SAME(hipMemPrefetchAsync, lanewise_cuda12_cudaMemPrefetchAsync,
     (const void* pointer, size_t bytes, int device, StreamHandle stream),
     (pointer, bytes, device, stream))
extern "C" int lanewise_cuda12_cudaMemAdvise(const void* pointer, size_t bytes, int advice,
                                             int device);
ENTRY(hipMemAdvise, (const void* pointer, size_t bytes, int advice, int device)) {
  constexpr int kCoarse = 100, kFine = 101;  // of what AMD added: all memory is coherent
  if (advice == kCoarse || advice == kFine) return answer([&] { required(pointer); });
  return lanewise_cuda12_cudaMemAdvise(pointer, bytes, advice, device);
}
SAME(hipStreamAttachMemAsync, cudaStreamAttachMemAsync,
     (StreamHandle stream, void* pointer, size_t bytes, unsigned flags),
     (stream, pointer, bytes, flags))
SAME(hipMemGetInfo, cudaMemGetInfo, (size_t * free, size_t* total), (free, total))
SAME(hipMallocAsync, cudaMallocAsync, (void** pointer, size_t bytes, StreamHandle stream),
     (pointer, bytes, stream))
SAME(hipFreeAsync, cudaFreeAsync, (void* pointer, StreamHandle stream), (pointer, stream))
ENTRY(hipPointerGetAttributes, (PointerAttributes * out, const void* pointer)) {
  return answer([&] {
    const auto a = lanewise::cuda::pointer_attributes_of(required(pointer));
    require(a.type != lanewise::cuda::kUnregistered);
    const bool on_host = a.type == lanewise::cuda::kHost;
    *required(out) = {on_host ? 0 : 1,
                      a.device,
                      a.device_pointer,
                      a.host_pointer,
                      a.type == lanewise::cuda::kManaged ? 1 : 0,
                      0};
  });
}

SAME(hipMemcpy, cudaMemcpy, (void* to, const void* from, size_t bytes, int kind),
     (to, from, bytes, kind))
SAME(hipMemcpyAsync, cudaMemcpyAsync,
     (void* to, const void* from, size_t bytes, int kind, StreamHandle stream),
     (to, from, bytes, kind, stream))
extern "C" int cudaStreamSynchronize(StreamHandle stream);
ENTRY(hipMemcpyWithStream,
      (void* to, const void* from, size_t bytes, int kind, StreamHandle stream)) {
  const int error = cudaMemcpyAsync(to, from, bytes, kind, stream);
  return error != 0 ? error : cudaStreamSynchronize(stream);
}
ENTRY(hipMemcpyHtoD, (void* to, void* from, size_t bytes)) {
  return cudaMemcpy(to, from, bytes, lanewise::cuda::kHostToDevice);
}
ENTRY(hipMemcpyDtoH, (void* to, void* from, size_t bytes)) {
  return cudaMemcpy(to, from, bytes, lanewise::cuda::kDeviceToHost);
}
ENTRY(hipMemcpyDtoD, (void* to, void* from, size_t bytes)) {
  return cudaMemcpy(to, from, bytes, lanewise::cuda::kDeviceToDevice);
}
ENTRY(hipMemcpyHtoDAsync, (void* to, void* from, size_t bytes, StreamHandle stream)) {
  return cudaMemcpyAsync(to, from, bytes, lanewise::cuda::kHostToDevice, stream);
}
ENTRY(hipMemcpyDtoHAsync, (void* to, void* from, size_t bytes, StreamHandle stream)) {
  return cudaMemcpyAsync(to, from, bytes, lanewise::cuda::kDeviceToHost, stream);
}
ENTRY(hipMemcpyDtoDAsync, (void* to, void* from, size_t bytes, StreamHandle stream)) {
  return cudaMemcpyAsync(to, from, bytes, lanewise::cuda::kDeviceToDevice, stream);
}
SAME(hipMemcpy2D, cudaMemcpy2D,
     (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
      int kind),
     (to, to_pitch, from, from_pitch, width, height, kind))
SAME(hipMemcpy2DAsync, cudaMemcpy2DAsync,
     (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
      int kind, StreamHandle stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))
SAME(hipMemset, cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))
SAME(hipMemsetAsync, cudaMemsetAsync, (void* to, int value, size_t bytes, StreamHandle stream),
     (to, value, bytes, stream))
SAME(hipMemset2D, cudaMemset2D, (void* to, size_t pitch, int value, size_t width, size_t height),
     (to, pitch, value, width, height))
SAME(hipMemset2DAsync, cudaMemset2DAsync,
     (void* to, size_t pitch, int value, size_t width, size_t height, StreamHandle stream),
     (to, pitch, value, width, height, stream))
SAME(hipMemset3D, cudaMemset3D, (PitchedPointer to, int value, Extent extent), (to, value, extent))
SAME(hipMemset3DAsync, cudaMemset3DAsync,
     (PitchedPointer to, int value, Extent extent, StreamHandle stream),
     (to, value, extent, stream))
SAME(hipMalloc3D, cudaMalloc3D, (PitchedPointer * out, Extent extent), (out, extent))
SAME(hipMemcpy3D, cudaMemcpy3D, (const Copy3D* parameters), (parameters))
SAME(hipMemcpy3DAsync, cudaMemcpy3DAsync, (const Copy3D* parameters, StreamHandle stream),
     (parameters, stream))
namespace {
template <typename Value>
int fill(void* to, Value value, size_t count, StreamHandle stream) {
  return answer([&] {
    const Region r = region(to);
    require(reinterpret_cast<uintptr_t>(to) % sizeof value == 0);
    enqueue(stream_of(stream), lanewise::cuda::checked(Fill{.address = r.address,
                                                            .pitch = count * sizeof value,
                                                            .on_device = r.on_device,
                                                            .value = value,
                                                            .size = sizeof value,
                                                            .width = count}));
  });
}
}  // namespace
ENTRY(hipMemsetD8, (void* to, unsigned char value, size_t count)) {
  return fill(to, value, count, nullptr);
}
ENTRY(hipMemsetD16, (void* to, unsigned short value, size_t count)) {
  return fill(to, value, count, nullptr);
}
ENTRY(hipMemsetD32, (void* to, int value, size_t count)) {
  return fill(to, static_cast<unsigned>(value), count, nullptr);
}
ENTRY(hipMemsetD8Async, (void* to, unsigned char value, size_t count, StreamHandle stream)) {
  return fill(to, value, count, stream);
}
ENTRY(hipMemsetD16Async, (void* to, unsigned short value, size_t count, StreamHandle stream)) {
  return fill(to, value, count, stream);
}
ENTRY(hipMemsetD32Async, (void* to, int value, size_t count, StreamHandle stream)) {
  return fill(to, static_cast<unsigned>(value), count, stream);
}
SAME(hipMemcpyToSymbol, cudaMemcpyToSymbol,
     (const void* symbol, const void* from, size_t bytes, size_t offset, int kind),
     (symbol, from, bytes, offset, kind))
SAME(hipMemcpyFromSymbol, cudaMemcpyFromSymbol,
     (void* to, const void* symbol, size_t bytes, size_t offset, int kind),
     (to, symbol, bytes, offset, kind))
SAME(hipMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync,
     (const void* symbol, const void* from, size_t bytes, size_t offset, int kind,
      StreamHandle stream),
     (symbol, from, bytes, offset, kind, stream))
SAME(hipMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync,
     (void* to, const void* symbol, size_t bytes, size_t offset, int kind, StreamHandle stream),
     (to, symbol, bytes, offset, kind, stream))
SAME(hipGetSymbolAddress, cudaGetSymbolAddress, (void** address, const void* symbol),
     (address, symbol))
SAME(hipGetSymbolSize, cudaGetSymbolSize, (size_t * bytes, const void* symbol), (bytes, symbol))

SAME(hipStreamCreate, cudaStreamCreate, (StreamHandle * out), (out))
SAME(hipStreamCreateWithFlags, cudaStreamCreateWithFlags, (StreamHandle * out, unsigned flags),
     (out, flags))
SAME(hipStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (StreamHandle * out, unsigned flags, int priority), (out, flags, priority))
SAME(hipStreamDestroy, cudaStreamDestroy, (StreamHandle stream), (stream))
SAME(hipStreamSynchronize, cudaStreamSynchronize, (StreamHandle stream), (stream))
SAME(hipStreamQuery, cudaStreamQuery, (StreamHandle stream), (stream))
SAME(hipStreamWaitEvent, cudaStreamWaitEvent,
     (StreamHandle stream, EventHandle event, unsigned flags), (stream, event, flags))
SAME(hipStreamGetFlags, cudaStreamGetFlags, (StreamHandle stream, unsigned* flags), (stream, flags))
SAME(hipStreamGetPriority, cudaStreamGetPriority, (StreamHandle stream, int* priority),
     (stream, priority))
SAME(hipStreamAddCallback, cudaStreamAddCallback,
     (StreamHandle stream, void (*function)(StreamHandle, int, void*), void* user, unsigned flags),
     (stream, function, user, flags))
SAME(hipLaunchHostFunc, cudaLaunchHostFunc,
     (StreamHandle stream, void (*function)(void*), void* user), (stream, function, user))
SAME(hipDeviceGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, (int* least, int* greatest),
     (least, greatest))
SAME(hipEventCreate, cudaEventCreate, (EventHandle * out), (out))
ENTRY(hipEventCreateWithFlags, (EventHandle * out, unsigned flags)) {
  return cudaEventCreateWithFlags(out, flags & kEventFlags);
}
SAME(hipEventDestroy, cudaEventDestroy, (EventHandle event), (event))
SAME(hipEventRecord, cudaEventRecord, (EventHandle event, StreamHandle stream), (event, stream))
SAME(hipEventSynchronize, cudaEventSynchronize, (EventHandle event), (event))
SAME(hipEventQuery, cudaEventQuery, (EventHandle event), (event))
SAME(hipEventElapsedTime, cudaEventElapsedTime,
     (float* milliseconds, EventHandle begin, EventHandle end), (milliseconds, begin, end))

SAME(hipStreamBeginCapture, cudaStreamBeginCapture, (StreamHandle stream, int mode), (stream, mode))
SAME(hipStreamEndCapture, cudaStreamEndCapture, (StreamHandle stream, Graph** graph),
     (stream, graph))
SAME(hipStreamIsCapturing, cudaStreamIsCapturing, (StreamHandle stream, int* status),
     (stream, status))
SAME(hipGetLastError, cudaGetLastError, (), ())
SAME(hipPeekAtLastError, cudaPeekAtLastError, (), ())
extern "C" const char* cudaGetErrorString(int error);
extern "C" const char* cudaGetErrorName(int error);
LANEWISE_ENTRY const char* hipGetErrorString(int error) {
  return cudaGetErrorString(error);
}
/// Names are those of CUDA, but for two.
LANEWISE_ENTRY const char* hipGetErrorName(int error) {
  static auto* const names = new std::map<int, std::string>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string& name = (*names)[error];
  constexpr int kOutOfMemory = 2, kNoBinary = 209;
  if (name.empty())
    name = error == kOutOfMemory ? "hipErrorOutOfMemory"
           : error == kNoBinary  ? "hipErrorNoBinaryForGpu"
                                 : renamed(cudaGetErrorName(error));
  return name.c_str();
}
