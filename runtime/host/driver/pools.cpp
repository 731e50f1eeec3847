// Memory in stream order.
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
struct Location;
}  // namespace lanewise::driver

using namespace lanewise::driver;

SAME_PTSZ(cuMemAllocAsync, cudaMallocAsync, (void** out, size_t bytes, StreamHandle stream),
          (out, bytes, stream))
SAME_PTSZ(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
          (void** out, size_t bytes, void* pool, StreamHandle stream), (out, bytes, pool, stream))
SAME_PTSZ(cuMemFreeAsync, cudaFreeAsync, (void* pointer, StreamHandle stream), (pointer, stream))
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

SAME_WITHOUT_CONTEXT(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool,
                     (void** pool, int device), (pool, device))
SAME_WITHOUT_CONTEXT(cuDeviceGetMemPool, cudaDeviceGetMemPool, (void** pool, int device),
                     (pool, device))
SAME_WITHOUT_CONTEXT(cuDeviceSetMemPool, cudaDeviceSetMemPool, (int device, void* pool),
                     (device, pool))
