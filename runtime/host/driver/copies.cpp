// Copies and fills.
#include "runtime/host/driver/copies.hpp"

#include <algorithm>

#include "runtime/host/cuda/arrays.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

using cuda::checked;
using cuda::copy_later;
using cuda::copy_now;

Copy copy_of(Address to, Address from, size_t bytes, int kind) {
  return cuda::copy_of(pointer_at(to), pointer_at(from), bytes, kind);
}
Address address_of(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// One side of CUDA_MEMCPY2D
struct Side2D {
  size_t x, y;
  int type;
  void* host;
  Address device;
  void* array;
  size_t pitch;
};
struct Copy2D {
  Side2D from, to;
  size_t width, height;
};
static_assert(sizeof(Copy2D) == 128);

Region region_of(const Side3D& s, const Copy3D& copy) {
  require(s.type >= kHost && s.type <= kUnified && s.level == 0);
  if (s.type == kArray) {
    const auto array = Handles<cuda::Array>::find(static_cast<cuda::Array*>(s.array));
    require(s.x + copy.width <= array->extent.width * array->element &&
            s.y + copy.height <= array->rows() && s.z + copy.depth <= array->layers());
    return array->at(s.x, s.y, s.z);
  }
  const size_t pitch = s.pitch != 0 ? s.pitch : s.x + copy.width;
  const size_t height = s.height != 0 ? s.height : s.y + copy.height;
  const void* const begin = s.type == kHost ? s.host : pointer_at(s.device);
  require(begin != nullptr || copy.width == 0 || copy.height == 0 || copy.depth == 0);
  Region r = region(begin, pitch, pitch * height);
  r.address += s.x + s.y * r.pitch + s.z * r.layer;
  return r;
}

int kind_of(int from, int to) {
  if (from == kUnified || to == kUnified) return cuda::kDefault;
  if (from == kHost) return to == kHost ? cuda::kHostToHost : cuda::kHostToDevice;
  return to == kHost ? cuda::kDeviceToHost : cuda::kDeviceToDevice;
}

}  // namespace

Copy copy_of(const Copy3D* c) {
  required(c);
  for (const Side3D* s : {&c->from, &c->to})
    require(s->pitch < cuda::kMostPitch &&
            (s->pitch == 0 || c->height <= 1 || c->width + s->x <= s->pitch));
  return checked({region_of(c->to, *c), region_of(c->from, *c), c->width, c->height, c->depth},
                 kind_of(c->from.type, c->to.type));
}

namespace {

Side3D side_of(const Side2D& s) {
  return {s.x, s.y, 0, 0, s.type, s.host, s.device, s.array, nullptr, s.pitch, 0};
}
Copy copy_of(const Copy2D* c) {
  required(c);
  const Copy3D same{side_of(c->from), side_of(c->to), c->width, c->height, 1};
  return copy_of(&same);
}

template <typename Value>
Fill fill_of(Address to, size_t pitch, Value value, size_t width, size_t height) {
  require(to % sizeof value == 0 && (height <= 1 || pitch % sizeof value == 0));
  require(height <= 1 || width * sizeof value <= pitch);
  const Region r = region(pointer_at(to));
  return checked(Fill{.address = r.address,
                      .pitch = height <= 1 ? width * sizeof value : pitch,
                      .on_device = r.on_device,
                      .value = value,
                      .size = sizeof value,
                      .width = width,
                      .height = height});
}
template <typename Value>
int fill(StreamHandle stream, Address to, size_t pitch, Value value, size_t width, size_t height) {
  return answer([&] { enqueue(stream_of(stream), fill_of(to, pitch, value, width, height)); });
}
template <typename Value>
int fill_now(Address to, size_t pitch, Value value, size_t width, size_t height) {
  return answer(
      [&] { cuda::fill_now(stream_of(nullptr), fill_of(to, pitch, value, width, height)); });
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY_PTDS(cuMemcpy, (Address to, Address from, size_t bytes)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_of(to, from, bytes, cuda::kDefault)); });
}
ENTRY_PTSZ(cuMemcpyAsync, (Address to, Address from, size_t bytes, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_of(to, from, bytes, cuda::kDefault)); });
}
ENTRY_PTDS(cuMemcpyHtoD_v2, (Address to, const void* from, size_t bytes)) {
  return answer([&] {
    copy_now(stream_of(nullptr), copy_of(to, address_of(from), bytes, cuda::kHostToDevice));
  });
}
ENTRY_PTDS(cuMemcpyDtoH_v2, (void* to, Address from, size_t bytes)) {
  return answer([&] {
    copy_now(stream_of(nullptr), copy_of(address_of(to), from, bytes, cuda::kDeviceToHost));
  });
}
ENTRY_PTDS(cuMemcpyDtoD_v2, (Address to, Address from, size_t bytes)) {
  return answer(
      [&] { copy_now(stream_of(nullptr), copy_of(to, from, bytes, cuda::kDeviceToDevice)); });
}
ENTRY_PTSZ(cuMemcpyHtoDAsync_v2,
           (Address to, const void* from, size_t bytes, StreamHandle stream)) {
  return answer([&] {
    copy_later(stream_of(stream), copy_of(to, address_of(from), bytes, cuda::kHostToDevice));
  });
}
ENTRY_PTSZ(cuMemcpyDtoHAsync_v2, (void* to, Address from, size_t bytes, StreamHandle stream)) {
  return answer([&] {
    copy_later(stream_of(stream), copy_of(address_of(to), from, bytes, cuda::kDeviceToHost));
  });
}
ENTRY_PTSZ(cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, StreamHandle stream)) {
  return answer(
      [&] { copy_later(stream_of(stream), copy_of(to, from, bytes, cuda::kDeviceToDevice)); });
}
/// An address says whose memory it is.
ENTRY_PTDS(cuMemcpyPeer, (Address to, DriverContext* /*to_context*/, Address from,
                          DriverContext* /*from_context*/, size_t bytes)) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
ENTRY_PTSZ(cuMemcpyPeerAsync,
           (Address to, DriverContext* /*to_context*/, Address from,
            DriverContext* /*from_context*/, size_t bytes, StreamHandle stream)) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
ENTRY_PTDS(cuMemcpy2D_v2, (const Copy2D* copy)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_of(copy)); });
}
ALSO(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2);
ENTRY_PTSZ(cuMemcpy2DAsync_v2, (const Copy2D* copy, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_of(copy)); });
}
ENTRY_PTDS(cuMemcpy3D_v2, (const Copy3D* copy)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_of(copy)); });
}
ENTRY_PTSZ(cuMemcpy3DAsync_v2, (const Copy3D* copy, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_of(copy)); });
}
ALSO(cuMemcpy3DPeer, cuMemcpy3D_v2);
ALSO(cuMemcpy3DPeerAsync, cuMemcpy3DAsync_v2);

ENTRY_PTDS(cuMemsetD8_v2, (Address to, unsigned char value, size_t count)) {
  return fill_now(to, count, value, count, 1);
}
ENTRY_PTDS(cuMemsetD16_v2, (Address to, unsigned short value, size_t count)) {
  return fill_now(to, count * 2, value, count, 1);
}
ENTRY_PTDS(cuMemsetD32_v2, (Address to, unsigned value, size_t count)) {
  return fill_now(to, count * 4, value, count, 1);
}
ENTRY_PTDS(cuMemsetD2D8_v2,
           (Address to, size_t pitch, unsigned char value, size_t width, size_t height)) {
  return fill_now(to, pitch, value, width, height);
}
ENTRY_PTDS(cuMemsetD2D16_v2,
           (Address to, size_t pitch, unsigned short value, size_t width, size_t height)) {
  return fill_now(to, pitch, value, width, height);
}
ENTRY_PTDS(cuMemsetD2D32_v2,
           (Address to, size_t pitch, unsigned value, size_t width, size_t height)) {
  return fill_now(to, pitch, value, width, height);
}
ENTRY_PTSZ(cuMemsetD8Async, (Address to, unsigned char value, size_t count, StreamHandle stream)) {
  return fill(stream, to, count, value, count, 1);
}
ENTRY_PTSZ(cuMemsetD16Async,
           (Address to, unsigned short value, size_t count, StreamHandle stream)) {
  return fill(stream, to, count * 2, value, count, 1);
}
ENTRY_PTSZ(cuMemsetD32Async, (Address to, unsigned value, size_t count, StreamHandle stream)) {
  return fill(stream, to, count * 4, value, count, 1);
}
ENTRY_PTSZ(cuMemsetD2D8Async, (Address to, size_t pitch, unsigned char value, size_t width,
                               size_t height, StreamHandle stream)) {
  return fill(stream, to, pitch, value, width, height);
}
ENTRY_PTSZ(cuMemsetD2D16Async, (Address to, size_t pitch, unsigned short value, size_t width,
                                size_t height, StreamHandle stream)) {
  return fill(stream, to, pitch, value, width, height);
}
ENTRY_PTSZ(cuMemsetD2D32Async, (Address to, size_t pitch, unsigned value, size_t width,
                                size_t height, StreamHandle stream)) {
  return fill(stream, to, pitch, value, width, height);
}
/// What a stream writes, like a fill of one value.
ENTRY_PTSZ(cuStreamWriteValue32,
           (StreamHandle stream, Address to, unsigned value, unsigned flags)) {
  return answer([&] {
    require(flags <= 1);
    enqueue(stream_of(stream), fill_of(to, 4, value, 1, 1));
  });
}
ENTRY_PTSZ(cuStreamWriteValue64,
           (StreamHandle stream, Address to, uint64_t value, unsigned flags)) {
  return answer([&] {
    require(flags <= 1 && to % 8 == 0);
    enqueue(stream_of(stream), fill_of(to, 4, static_cast<unsigned>(value), 1, 1));
    enqueue(stream_of(stream), fill_of(to + 4, 4, static_cast<unsigned>(value >> 32), 1, 1));
  });
}
ALSO(cuStreamWriteValue32_v2, cuStreamWriteValue32);
ALSO(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32);
ALSO(cuStreamWriteValue64_v2, cuStreamWriteValue64);
ALSO(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64);

ALSO(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);
ALSO(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync);
ALSO(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer);
