// CUDA arrays: allocation and copies. Kernels reach them through textures and surfaces.
#include "runtime/host/cuda/arrays.hpp"

#include "runtime/host/cuda/allocation.hpp"

namespace lanewise::cuda {

Region Array::at(size_t x, size_t y, size_t z) const {
  const size_t layer = pitch * rows();
  return {memory->address + offset + x + y * pitch + z * layer, true, pitch, layer};
}

namespace {

void make_array(Array** out, const ChannelFormat* format, const Extent& extent, unsigned flags) {
  *required(out) = nullptr;
  required(format);
  const int bits = format->x + format->y + format->z + format->w;
  require(bits > 0 && bits % 8 == 0 && extent.width != 0);
  constexpr size_t kMostWidth = 1 << 17, kMostDepth = 1 << 14;  // of any array of any GPU
  require(extent.width <= kMostWidth && extent.height <= kMostWidth && extent.depth <= kMostDepth);
  auto made = std::make_shared<Array>();
  made->format = *format;
  made->extent = extent;
  made->flags = flags;
  made->element = static_cast<size_t>(bits) / 8;
  made->pitch = pitch_of(extent.width * made->element);
  made->memory = device_memory(made->pitch * made->rows() * made->layers(), "cudaMallocArray");
  *out = Handles<Array>::add(std::move(made));
}

/// Rows of an array, as its 2D copies name them: x in bytes.
Region rows_of(const Array& array, size_t x, size_t y, size_t width, size_t height) {
  require(x + width <= array.extent.width * array.element && y + height <= array.rows());
  return array.at(x, y, 0);
}
Copy into_array(Array* array, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                size_t height, int kind) {
  const auto to = Handles<Array>::find(array);
  require(width <= pitch, Code::invalid_pitch);
  return checked({rows_of(*to, x, y, width, height), region(from, pitch), width, height}, kind);
}
Copy out_of_array(void* to, size_t pitch, Array* array, size_t x, size_t y, size_t width,
                  size_t height, int kind) {
  const auto from = Handles<Array>::find(array);
  require(width <= pitch, Code::invalid_pitch);
  return checked({region(to, pitch), rows_of(*from, x, y, width, height), width, height}, kind);
}
/// Bytes that begin in a row and end in a later one, as the old copies of one dimension count.
template <typename Part>
void in_rows(const Array& array, size_t x, size_t y, size_t bytes, const Part& part) {
  const size_t row = array.extent.width * array.element;
  for (size_t done = 0; done < bytes; x = 0, ++y) {
    const size_t n = std::min(bytes - done, row - std::min(x, row));
    require(n != 0 && y < array.rows());
    part(x, y, done, n);
    done += n;
  }
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

LANEWISE_ENTRY ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
ENTRY(cudaMallocArray,
      (Array * *array, const ChannelFormat* format, size_t width, size_t height, unsigned flags)) {
  return answer([&] { make_array(array, format, {width, height, 0}, flags); });
}
ENTRY(cudaMalloc3DArray,
      (Array * *array, const ChannelFormat* format, Extent extent, unsigned flags)) {
  return answer([&] { make_array(array, format, extent, flags); });
}
ENTRY(cudaFreeArray, (Array * array)) {
  return answer([&] {
    Context::current().synchronise();
    if (array == nullptr) return;
    Context::current().memory().remove(Handles<Array>::take(array)->memory);
  });
}
ENTRY(cudaArrayGetInfo, (ChannelFormat * format, Extent* extent, unsigned* flags, Array* array)) {
  return answer([&] {
    const auto of = Handles<Array>::find(array);
    if (format != nullptr) *format = of->format;
    if (extent != nullptr) *extent = of->extent;
    if (flags != nullptr) *flags = of->flags;
  });
}
ENTRY(cudaGetChannelDesc, (ChannelFormat * format, Array* array)) {
  return answer([&] { *required(format) = Handles<Array>::find(array)->format; });
}
ENTRY_PTDS(cudaMemcpy2DToArray, (Array * to, size_t x, size_t y, const void* from, size_t pitch,
                                 size_t width, size_t height, int kind)) {
  return answer([&] {
    copy_now(stream_of(nullptr), into_array(to, x, y, from, pitch, width, height, kind));
  });
}
ENTRY_PTSZ(cudaMemcpy2DToArrayAsync,
           (Array * to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
            size_t height, int kind, StreamHandle stream)) {
  return answer([&] {
    copy_later(stream_of(stream), into_array(to, x, y, from, pitch, width, height, kind));
  });
}
ENTRY_PTDS(cudaMemcpy2DFromArray, (void* to, size_t pitch, Array* from, size_t x, size_t y,
                                   size_t width, size_t height, int kind)) {
  return answer([&] {
    copy_now(stream_of(nullptr), out_of_array(to, pitch, from, x, y, width, height, kind));
  });
}
ENTRY_PTSZ(cudaMemcpy2DFromArrayAsync,
           (void* to, size_t pitch, Array* from, size_t x, size_t y, size_t width, size_t height,
            int kind, StreamHandle stream)) {
  return answer([&] {
    copy_later(stream_of(stream), out_of_array(to, pitch, from, x, y, width, height, kind));
  });
}
ENTRY_PTDS(cudaMemcpy2DArrayToArray,
           (Array * to, size_t to_x, size_t to_y, Array* from, size_t from_x, size_t from_y,
            size_t width, size_t height, int /*kind*/)) {
  return answer([&] {
    const auto target = Handles<Array>::find(to), source = Handles<Array>::find(from);
    copy_now(stream_of(nullptr), {rows_of(*target, to_x, to_y, width, height),
                                  rows_of(*source, from_x, from_y, width, height), width, height});
  });
}
ENTRY_PTDS(cudaMemcpyToArray,
           (Array * to, size_t x, size_t y, const void* from, size_t bytes, int kind)) {
  return answer([&] {
    const auto target = Handles<Array>::find(to);
    in_rows(*target, x, y, bytes, [&](size_t at, size_t row, size_t done, size_t n) {
      const auto* part = static_cast<const std::byte*>(from) + done;
      copy_now(stream_of(nullptr), into_array(to, at, row, part, n, n, 1, kind));
    });
  });
}
ENTRY_PTDS(cudaMemcpyFromArray,
           (void* to, Array* from, size_t x, size_t y, size_t bytes, int kind)) {
  return answer([&] {
    const auto source = Handles<Array>::find(from);
    in_rows(*source, x, y, bytes, [&](size_t at, size_t row, size_t done, size_t n) {
      copy_now(stream_of(nullptr),
               out_of_array(static_cast<std::byte*>(to) + done, n, from, at, row, n, 1, kind));
    });
  });
}
