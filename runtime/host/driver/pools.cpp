// Memory in stream order.
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
struct Location;
}  // namespace lanewise::driver

using namespace lanewise::driver;

SAME(cuMemAllocAsync, cudaMallocAsync, (void** out, size_t bytes, StreamHandle stream),
     (out, bytes, stream))
SAME(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
     (void** out, size_t bytes, void* pool, StreamHandle stream), (out, bytes, pool, stream))
SAME(cuMemFreeAsync, cudaFreeAsync, (void* pointer, StreamHandle stream), (pointer, stream))
ALSO(cuMemAllocAsync_ptsz, cuMemAllocAsync);
ALSO(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync);
ALSO(cuMemFreeAsync_ptsz, cuMemFreeAsync);
SAME(cuMemPoolCreate, cudaMemPoolCreate, (void** pool, const void* properties), (pool, properties))
SAME(cuMemPoolDestroy, cudaMemPoolDestroy, (void* pool), (pool))
SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (void* pool, size_t bytes), (pool, bytes))
SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (void* pool, int attribute, const void* value),
     (pool, attribute, value))
SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (void* pool, int attribute, void* value),
     (pool, attribute, value))
SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess, (void* pool, const void* descriptions, size_t count),
     (pool, descriptions, count))
SAME(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, void* pool, const void* location),
     (flags, pool, location))

extern "C" int cudaDeviceGetDefaultMemPool(void** pool, int device);
extern "C" int cudaDeviceSetMemPool(int device, void* pool);
ENTRY(cuDeviceGetDefaultMemPool, (void** pool, int device)) {
  return forward([&] { return cudaDeviceGetDefaultMemPool(pool, device); }, Needs::device);
}
extern "C" int cudaDeviceGetMemPool(void** pool, int device);
ENTRY(cuDeviceGetMemPool, (void** pool, int device)) {
  return forward([&] { return cudaDeviceGetMemPool(pool, device); }, Needs::device);
}
ENTRY(cuDeviceSetMemPool, (int device, void* pool)) {
  return forward([&] { return cudaDeviceSetMemPool(device, pool); }, Needs::device);
}
