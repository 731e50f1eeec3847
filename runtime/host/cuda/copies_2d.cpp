// Pitched memory, copies and fills of two and three dimensions.
#include "runtime/host/cuda/allocation.hpp"
#include "runtime/host/cuda/graphs.hpp"

namespace lanewise::cuda {
namespace {

Copy copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
             size_t height, int kind) {
  require(width <= to_pitch && width <= from_pitch, Code::invalid_pitch);
  return checked({region(to, to_pitch), region(from, from_pitch), width, height}, kind);
}

Region side(Array* array, const Position& at, const PitchedPointer& pitched, size_t element) {
  require((array != nullptr) != (pitched.pointer != nullptr));
  if (array != nullptr) return Handles<Array>::find(array)->at(at.x * element, at.y, at.z);
  Region r = region(pitched.pointer, pitched.pitch, pitched.pitch * pitched.height);
  r.address += at.x + at.y * r.pitch + at.z * r.layer;
  return r;
}

}  // namespace

/// Widths are elements where an array takes part, else bytes.
Copy copy_3d(const Copy3D* p) {
  required(p);
  size_t element = 1;
  for (Array* a : {p->from_array, p->to_array})
    if (a != nullptr) element = Handles<Array>::find(a)->element;
  Copy copy{side(p->to_array, p->to_at, p->to, element),
            side(p->from_array, p->from_at, p->from, element), p->extent.width * element,
            p->extent.height, p->extent.depth};
  for (const Region* r : {&copy.to, &copy.from})
    require(r->pitch >= copy.width || copy.height <= 1, Code::invalid_pitch);
  return checked(copy, p->kind);
}

namespace {

Fill fill_3d(const PitchedPointer& to, int value, const Extent& e) {
  const Region r = region(to.pointer, to.pitch, to.pitch * to.height);
  require(e.width <= to.pitch || e.height <= 1, Code::invalid_pitch);
  return checked({.address = r.address,
                  .pitch = r.pitch,
                  .on_device = r.on_device,
                  .value = static_cast<uint8_t>(value),
                  .width = e.width,
                  .height = e.height,
                  .depth = e.depth,
                  .layer = r.layer});
}

void malloc_pitch(void** pointer, size_t* pitch, size_t width, size_t rows) {
  *required(pitch) = pitch_of(width);
  allocate(pointer, width == 0 ? 0 : *pitch * rows, "cudaMallocPitch");
}

/// cudaMemcpy3DPeerParms
struct Copy3DPeer {
  Array* from_array;
  Position from_at;
  PitchedPointer from;
  int from_device;
  Array* to_array;
  Position to_at;
  PitchedPointer to;
  int to_device;
  Extent extent;
};
Copy copy_3d(const Copy3DPeer* p) {
  check_device(required(p)->from_device);
  check_device(p->to_device);
  const Copy3D copy{p->from_array, p->from_at, p->from,   p->to_array,
                    p->to_at,      p->to,      p->extent, kDefault};
  return copy_3d(&copy);
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaMallocPitch, (void** pointer, size_t* pitch, size_t width, size_t height)) {
  return answer([&] { malloc_pitch(pointer, pitch, width, height); });
}
ENTRY(cudaMalloc3D, (PitchedPointer * out, Extent extent)) {
  return answer([&] {
    required(out);
    malloc_pitch(&out->pointer, &out->pitch, extent.width, extent.height * extent.depth);
    out->width = extent.width;
    out->height = extent.height;
  });
}
ENTRY_PTDS(cudaMemcpy2D, (void* to, size_t to_pitch, const void* from, size_t from_pitch,
                          size_t width, size_t height, int kind)) {
  return answer([&] {
    copy_now(stream_of(nullptr), copy_2d(to, to_pitch, from, from_pitch, width, height, kind));
  });
}
ENTRY_PTSZ(cudaMemcpy2DAsync, (void* to, size_t to_pitch, const void* from, size_t from_pitch,
                               size_t width, size_t height, int kind, StreamHandle stream)) {
  return answer([&] {
    copy_later(stream_of(stream), copy_2d(to, to_pitch, from, from_pitch, width, height, kind));
  });
}
ENTRY_PTDS(cudaMemset2D, (void* to, size_t pitch, int value, size_t width, size_t height)) {
  return answer([&] {
    fill_now(stream_of(nullptr), fill_3d({to, pitch, width, height}, value, {width, height, 1}));
  });
}
ENTRY_PTSZ(cudaMemset2DAsync,
           (void* to, size_t pitch, int value, size_t width, size_t height, StreamHandle stream)) {
  return answer([&] {
    enqueue(stream_of(stream), fill_3d({to, pitch, width, height}, value, {width, height, 1}));
  });
}
ENTRY_PTDS(cudaMemset3D, (PitchedPointer to, int value, Extent extent)) {
  return answer([&] { fill_now(stream_of(nullptr), fill_3d(to, value, extent)); });
}
ENTRY_PTSZ(cudaMemset3DAsync, (PitchedPointer to, int value, Extent extent, StreamHandle stream)) {
  return answer([&] { enqueue(stream_of(stream), fill_3d(to, value, extent)); });
}
ENTRY_PTDS(cudaMemcpy3D, (const Copy3D* parameters)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_3d(parameters)); });
}
ENTRY_PTSZ(cudaMemcpy3DAsync, (const Copy3D* parameters, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_3d(parameters)); });
}
ENTRY_PTDS(cudaMemcpy3DPeer, (const Copy3DPeer* parameters)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_3d(parameters)); });
}
ENTRY_PTSZ(cudaMemcpy3DPeerAsync, (const Copy3DPeer* parameters, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_3d(parameters)); });
}
