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

/// One, two or four channels of one size.
bool is_format(const ChannelFormat& f) {
  constexpr int kFloat = 2;
  const bool sized = f.x == 8 || f.x == 16 || f.x == 32;
  const bool pair = (f.y == 0 && f.z == 0) || (f.y == f.x && (f.z == 0 || f.z == f.x));
  return sized && pair && f.w == f.z && f.kind >= 0 && f.kind <= kFloat &&
         (f.kind != kFloat || f.x != 8);
}
/// What no descriptor can say, and flags that do not fit the shape, are refused when the array is
/// made.
template <typename Make>
int make_array(const ChannelFormat* format, const Extent& e, unsigned flags, const Make& make) {
  constexpr unsigned kLayered = 1, kCube = 4, kAllFlags = 15;
  const int error = answer([&] {
    require(is_format(*required(format)));
    require(e.width <= kImageSide && e.height <= kImageSide && e.depth <= kImageSlices);
    require((flags & ~kAllFlags) == 0);
    require(e.height != 0 || e.depth == 0 || (flags & kLayered) != 0);
    require((flags & kLayered) == 0 || e.height != 0 || e.depth != 0);
    require((flags & kCube) == 0 || (e.width == e.height && e.depth != 0 && e.depth % 6 == 0));
  });
  return error != 0 ? error : make();
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
extern "C" int cudaMallocArray(Array** array, const ChannelFormat* format, size_t width,
                               size_t height, unsigned flags);
ENTRY(hipMallocArray,
      (Array * *array, const ChannelFormat* format, size_t width, size_t height, unsigned flags)) {
  return make_array(format, {width, height, 0}, flags,
                    [&] { return cudaMallocArray(array, format, width, height, flags); });
}
extern "C" int cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                 unsigned flags);
ENTRY(hipMalloc3DArray,
      (Array * *array, const ChannelFormat* format, Extent extent, unsigned flags)) {
  return make_array(format, extent, flags,
                    [&] { return cudaMalloc3DArray(array, format, extent, flags); });
}
extern "C" int cudaFreeArray(Array* array);
ENTRY(hipFreeArray, (Array * array)) {
  if (array == nullptr) return answer([] { fail(Code::invalid_value); });
  return cudaFreeArray(array);
}
SAME(hipGetChannelDesc, cudaGetChannelDesc, (ChannelFormat * format, Array* array), (format, array))
extern "C" int cudaMallocMipmappedArray(MipmappedArray** array, const ChannelFormat* format,
                                        Extent extent, unsigned levels, unsigned flags);
ENTRY(hipMallocMipmappedArray, (MipmappedArray * *array, const ChannelFormat* format, Extent extent,
                                unsigned levels, unsigned flags)) {
  return make_array(format, extent, flags,
                    [&] { return cudaMallocMipmappedArray(array, format, extent, levels, flags); });
}
SAME(hipGetMipmappedArrayLevel, cudaGetMipmappedArrayLevel,
     (Array * *level, MipmappedArray* array, unsigned number), (level, array, number))
extern "C" int cudaFreeMipmappedArray(MipmappedArray* array);
ENTRY(hipFreeMipmappedArray, (MipmappedArray * array)) {
  if (array == nullptr) return answer([] { fail(Code::invalid_value); });
  return cudaFreeMipmappedArray(array);
}

ENTRY(hipArrayCreate, (Array * *array, const Descriptor2D* of)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return hipMallocArray(array, &format, of->width, of->height, 0);
  });
}
ENTRY(hipArray3DCreate, (Array * *array, const Descriptor3D* of)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return hipMalloc3DArray(array, &format, {of->width, of->height, of->depth}, of->flags);
  });
}
ENTRY(hipArrayDestroy, (Array * array)) {
  return hipFreeArray(array);
}
ENTRY(hipMipmappedArrayCreate, (MipmappedArray * *array, const Descriptor3D* of, unsigned levels)) {
  return with_format(of, [&](const ChannelFormat& format) {
    return hipMallocMipmappedArray(array, &format, {of->width, of->height, of->depth}, levels,
                                   of->flags);
  });
}
ENTRY(hipMipmappedArrayGetLevel, (Array * *level, MipmappedArray* array, unsigned number)) {
  return cudaGetMipmappedArrayLevel(level, array, number);
}
ENTRY(hipMipmappedArrayDestroy, (MipmappedArray * array)) {
  return hipFreeMipmappedArray(array);
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
