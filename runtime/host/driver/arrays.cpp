// CUDA arrays, of one level and mipmapped, and copies of one dimension from and to them.
#include "runtime/host/driver/arrays.hpp"

#include <algorithm>
#include <array>

#include "runtime/host/cuda/textures.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

using cuda::Array;
using cuda::ChannelFormat;
using cuda::Extent;
using cuda::MipmappedArray;

constexpr int kSigned = 0, kUnsigned = 1, kFloat = 2;
struct FormatRow {
  int format, bits, kind;
};
/// CUarray_format
constexpr std::array kFormats = {FormatRow{0x01, 8, kUnsigned},  FormatRow{0x02, 16, kUnsigned},
                                 FormatRow{0x03, 32, kUnsigned}, FormatRow{0x08, 8, kSigned},
                                 FormatRow{0x09, 16, kSigned},   FormatRow{0x0a, 32, kSigned},
                                 FormatRow{0x10, 16, kFloat},    FormatRow{0x20, 32, kFloat}};

extern "C" int cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                 unsigned flags);
extern "C" int cudaFreeArray(Array* array);
extern "C" int cudaMallocMipmappedArray(MipmappedArray** array, const ChannelFormat* format,
                                        Extent extent, unsigned levels, unsigned flags);
extern "C" int cudaGetMipmappedArrayLevel(Array** level, MipmappedArray* array, unsigned number);
extern "C" int cudaFreeMipmappedArray(MipmappedArray* array);

int create(Array** out, const Descriptor3D& d) {
  return forward([&] {
    const ChannelFormat format = channels_of(d.format, d.channels);
    const int number = cudaMalloc3DArray(out, &format, {d.width, d.height, d.depth}, d.flags);
    if (number == 0) (*out)->memory->owner = current_context()->owner();
    return number;
  });
}

int describe(Descriptor3D* out, Array* handle) {
  return answer([&] {
    const auto array = Handles<Array>::find(handle);
    *required(out) = {array->extent.width, array->extent.height, array->extent.depth, 0, 0,
                      array->flags};
    name_channels(array->format, out->format, out->channels);
  });
}

/// A part of the first row.
Region row_of(const Array& array, size_t offset, size_t bytes) {
  require(offset <= array.extent.width * array.element &&
          bytes <= array.extent.width * array.element - offset);
  return array.at(offset, 0, 0);
}
Region row_of(Array* handle, size_t offset, size_t bytes) {
  return row_of(*Handles<Array>::find(handle), offset, bytes);
}
int copy(StreamHandle stream, bool now, const auto& to, const auto& from, size_t bytes, int kind) {
  return answer([&] {
    const Copy of = cuda::checked({to(), from(), bytes, 1}, kind);
    (now ? cuda::copy_now : cuda::copy_later)(stream_of(stream), of);
  });
}

}  // namespace

ChannelFormat channels_of(int format, unsigned channels) {
  const auto* const row = std::ranges::find(kFormats, format, &FormatRow::format);
  require(row != kFormats.end() && (channels == 1 || channels == 2 || channels == 4));
  const auto bits = [&](unsigned channel) { return channel < channels ? row->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), row->kind};
}

void name_channels(const ChannelFormat& channels, int& format, unsigned& count) {
  for (const FormatRow& row : kFormats)
    if (row.bits == channels.x && row.kind == channels.kind) format = row.format;
  count = channels.w != 0 ? 4 : channels.y != 0 ? 2 : 1;
}

}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuArrayCreate_v2, (Array * *out, const Descriptor2D* of)) {
  if (of == nullptr || out == nullptr) return answer([] { fail(Code::invalid_value); });
  return create(out, {of->width, of->height, 0, of->format, of->channels, 0});
}
ENTRY(cuArray3DCreate_v2, (Array * *out, const Descriptor3D* of)) {
  if (of == nullptr || out == nullptr) return answer([] { fail(Code::invalid_value); });
  return create(out, *of);
}
ENTRY(cuArrayGetDescriptor_v2, (Descriptor2D * out, Array* array)) {
  Descriptor3D whole{};
  const int number = out == nullptr ? describe(nullptr, array) : describe(&whole, array);
  if (number == 0) *out = {whole.width, whole.height, whole.format, whole.channels};
  return number;
}
ENTRY(cuArray3DGetDescriptor_v2, (Descriptor3D * out, Array* array)) {
  return describe(out, array);
}
ENTRY(cuArrayDestroy, (Array * array)) {
  if (array == nullptr) return answer([] { fail(Code::invalid_handle); });
  return forward([&] { return cudaFreeArray(array); });
}
ENTRY(cuMipmappedArrayCreate, (MipmappedArray * *out, const Descriptor3D* of, unsigned levels)) {
  return forward([&] {
    required(of);
    const ChannelFormat format = channels_of(of->format, of->channels);
    return cudaMallocMipmappedArray(out, &format, {of->width, of->height, of->depth}, levels,
                                    of->flags);
  });
}
SAME(cuMipmappedArrayGetLevel, cudaGetMipmappedArrayLevel,
     (Array * *level, MipmappedArray* array, unsigned number), (level, array, number))
SAME(cuMipmappedArrayDestroy, cudaFreeMipmappedArray, (MipmappedArray * array), (array))

ENTRY_PTDS(cuMemcpyHtoA_v2, (Array * to, size_t offset, const void* from, size_t bytes)) {
  return copy(
      nullptr, true, [&] { return row_of(to, offset, bytes); }, [&] { return region(from); }, bytes,
      cuda::kHostToDevice);
}
ENTRY_PTDS(cuMemcpyAtoH_v2, (void* to, Array* from, size_t offset, size_t bytes)) {
  return copy(
      nullptr, true, [&] { return region(to); }, [&] { return row_of(from, offset, bytes); }, bytes,
      cuda::kDeviceToHost);
}
ENTRY_PTSZ(cuMemcpyHtoAAsync_v2,
           (Array * to, size_t offset, const void* from, size_t bytes, StreamHandle stream)) {
  return copy(
      stream, false, [&] { return row_of(to, offset, bytes); }, [&] { return region(from); }, bytes,
      cuda::kHostToDevice);
}
ENTRY_PTSZ(cuMemcpyAtoHAsync_v2,
           (void* to, Array* from, size_t offset, size_t bytes, StreamHandle stream)) {
  return copy(
      stream, false, [&] { return region(to); }, [&] { return row_of(from, offset, bytes); }, bytes,
      cuda::kDeviceToHost);
}
ENTRY_PTDS(cuMemcpyDtoA_v2, (Array * to, size_t offset, Address from, size_t bytes)) {
  return copy(
      nullptr, true, [&] { return row_of(to, offset, bytes); },
      [&] { return region(pointer_at(from)); }, bytes, cuda::kDeviceToDevice);
}
ENTRY_PTDS(cuMemcpyAtoD_v2, (Address to, Array* from, size_t offset, size_t bytes)) {
  return copy(
      nullptr, true, [&] { return region(pointer_at(to)); },
      [&] { return row_of(from, offset, bytes); }, bytes, cuda::kDeviceToDevice);
}
ENTRY_PTDS(cuMemcpyAtoA_v2,
           (Array * to, size_t to_offset, Array* from, size_t from_offset, size_t bytes)) {
  return copy(
      nullptr, true, [&] { return row_of(to, to_offset, bytes); },
      [&] { return row_of(from, from_offset, bytes); }, bytes, cuda::kDeviceToDevice);
}
