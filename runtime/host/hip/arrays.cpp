// Arrays, which textures and surfaces are made of, and copies from and to them.
#include "runtime/host/driver/arrays.hpp"

#include "runtime/host/cuda/copy.hpp"
#include "runtime/host/cuda/textures.hpp"
#include "runtime/host/driver/copies.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {

using cuda::Array;
using cuda::ChannelFormat;
using cuda::Extent;
using cuda::MipmappedArray;
using driver::Descriptor2D;
using driver::Descriptor3D;

namespace {

/// One side of hip_Memcpy2D
struct ArraySide2D {
  size_t x, y;
  int type;
  void* host;
  uint64_t device;
  Array* array;
  size_t pitch;
};
struct ArrayCopy2D {
  ArraySide2D from, to;
  size_t width, height;
};
static_assert(sizeof(ArrayCopy2D) == 128);

/// One side of HIP_MEMCPY3D
struct ArraySide3D {
  unsigned x, y, z, level;
  int type;
  void* host;
  uint64_t device;
  Array* array;
  unsigned pitch, height;
};
struct ArrayCopy3D {
  ArraySide3D from, to;
  unsigned width, height, depth;
};
static_assert(sizeof(ArrayCopy3D) == 128);

/// hipMemoryType begins with 0.
int driver_type(int type) {
  return type + 1;
}
driver::Side3D side_of(const ArraySide2D& s) {
  return {s.x, s.y, 0, 0, driver_type(s.type), s.host, s.device, s.array, nullptr, s.pitch, 0};
}
driver::Side3D side_of(const ArraySide3D& s) {
  return {s.x,     s.y,     s.z,     s.level, driver_type(s.type), s.host, s.device,
          s.array, nullptr, s.pitch, s.height};
}
Copy copy_of(const ArrayCopy2D* c) {
  required(c);
  const driver::Copy3D same{side_of(c->from), side_of(c->to), c->width, c->height, 1};
  return driver::copy_of(&same);
}
Copy copy_of(const ArrayCopy3D* c) {
  required(c);
  const driver::Copy3D same{side_of(c->from), side_of(c->to), c->width, c->height, c->depth};
  return driver::copy_of(&same);
}

/// The runtime's answer, with the format that a descriptor names.
template <typename Of, typename Call>
int with_format(const Of* of, const Call& call) {
  ChannelFormat format{};
  const int error =
      answer([&] { format = driver::channels_of(required(of)->format, of->channels); });
  return error != 0 ? error : call(format);
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

LANEWISE_ENTRY ChannelFormat hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
SAME(hipMallocArray, cudaMallocArray,
     (Array * *array, const ChannelFormat* format, size_t width, size_t height, unsigned flags),
     (array, format, width, height, flags))
SAME(hipMalloc3DArray, cudaMalloc3DArray,
     (Array * *array, const ChannelFormat* format, Extent extent, unsigned flags),
     (array, format, extent, flags))
SAME(hipFreeArray, cudaFreeArray, (Array * array), (array))
SAME(hipGetChannelDesc, cudaGetChannelDesc, (ChannelFormat * format, Array* array), (format, array))
SAME(hipMallocMipmappedArray, cudaMallocMipmappedArray,
     (MipmappedArray * *array, const ChannelFormat* format, Extent extent, unsigned levels,
      unsigned flags),
     (array, format, extent, levels, flags))
SAME(hipGetMipmappedArrayLevel, cudaGetMipmappedArrayLevel,
     (Array * *level, MipmappedArray* array, unsigned number), (level, array, number))
SAME(hipFreeMipmappedArray, cudaFreeMipmappedArray, (MipmappedArray * array), (array))

ENTRY(hipArrayCreate, (Array * *array, const Descriptor2D* of)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return cudaMallocArray(array, &format, of->width, of->height, 0);
  });
}
ENTRY(hipArray3DCreate, (Array * *array, const Descriptor3D* of)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return cudaMalloc3DArray(array, &format, {of->width, of->height, of->depth}, of->flags);
  });
}
ENTRY(hipArrayDestroy, (Array * array)) {
  return cudaFreeArray(array);
}
ENTRY(hipMipmappedArrayCreate, (MipmappedArray * *array, const Descriptor3D* of, unsigned levels)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return cudaMallocMipmappedArray(array, &format, {of->width, of->height, of->depth}, levels,
                                    of->flags);
  });
}
ENTRY(hipMipmappedArrayGetLevel, (Array * *level, MipmappedArray* array, unsigned number)) {
  return cudaGetMipmappedArrayLevel(level, array, number);
}
ENTRY(hipMipmappedArrayDestroy, (MipmappedArray * array)) {
  return cudaFreeMipmappedArray(array);
}

SAME(hipMemcpy2DToArray, cudaMemcpy2DToArray,
     (Array * to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
      int kind),
     (to, x, y, from, pitch, width, height, kind))
SAME(hipMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync,
     (Array * to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
      int kind, StreamHandle stream),
     (to, x, y, from, pitch, width, height, kind, stream))
SAME(hipMemcpy2DFromArray, cudaMemcpy2DFromArray,
     (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width, size_t height,
      int kind),
     (to, pitch, from, x, y, width, height, kind))
SAME(hipMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync,
     (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width, size_t height,
      int kind, StreamHandle stream),
     (to, pitch, from, x, y, width, height, kind, stream))
SAME(hipMemcpyToArray, cudaMemcpyToArray,
     (Array * to, size_t x, size_t y, const void* from, size_t bytes, int kind),
     (to, x, y, from, bytes, kind))
SAME(hipMemcpyFromArray, cudaMemcpyFromArray,
     (void* to, Array* from, size_t x, size_t y, size_t bytes, int kind),
     (to, from, x, y, bytes, kind))
extern "C" int cuMemcpyHtoA_v2(Array* to, size_t offset, const void* from, size_t bytes);
ENTRY(hipMemcpyHtoA, (Array * to, size_t offset, const void* from, size_t bytes)) {
  return in_driver([&] { return cuMemcpyHtoA_v2(to, offset, from, bytes); });
}
extern "C" int cuMemcpyAtoH_v2(void* to, Array* from, size_t offset, size_t bytes);
ENTRY(hipMemcpyAtoH, (void* to, Array* from, size_t offset, size_t bytes)) {
  return in_driver([&] { return cuMemcpyAtoH_v2(to, from, offset, bytes); });
}
ENTRY(hipMemcpyParam2D, (const ArrayCopy2D* copy)) {
  return answer([&] { lanewise::cuda::copy_now(stream_of(nullptr), copy_of(copy)); });
}
ALSO(hipDrvMemcpy2DUnaligned, hipMemcpyParam2D);
ENTRY(hipMemcpyParam2DAsync, (const ArrayCopy2D* copy, StreamHandle stream)) {
  return answer([&] { lanewise::cuda::copy_later(stream_of(stream), copy_of(copy)); });
}
ENTRY(hipDrvMemcpy3D, (const ArrayCopy3D* copy)) {
  return answer([&] { lanewise::cuda::copy_now(stream_of(nullptr), copy_of(copy)); });
}
ENTRY(hipDrvMemcpy3DAsync, (const ArrayCopy3D* copy, StreamHandle stream)) {
  return answer([&] { lanewise::cuda::copy_later(stream_of(stream), copy_of(copy)); });
}
