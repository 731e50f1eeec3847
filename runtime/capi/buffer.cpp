// Buffers and blobs.
#include "runtime/capi/objects.hpp"

using namespace lanewise;
using namespace lanewise::capi;

namespace {

std::string name_or(const char* name) {
  return name != nullptr ? name : "buffer";
}

/// Zero bytes may come from nowhere.
template <typename T>
std::span<T> span_of(T* data, uint64_t bytes) {
  if (bytes != 0) required(data, "data");
  return {data, static_cast<size_t>(bytes)};
}

}  // namespace

lw_status lw_buffer_create(lw_device* device, uint64_t bytes, const char* name, lw_buffer** out) {
  return guarded([&] {
    clear_out(out);
    give<BufferObject>(out, find<DeviceObject>(device)->device.allocate(bytes, name_or(name)));
  });
}

lw_status lw_buffer_create_paged(lw_device* device, uint64_t bytes, const char* name,
                                 lw_buffer** out) {
  return guarded([&] {
    clear_out(out);
    give<BufferObject>(out,
                       find<DeviceObject>(device)->device.allocate_paged(bytes, name_or(name)));
  });
}

lw_status lw_buffer_set_resident(lw_buffer* buffer, uint64_t first_page, uint64_t pages,
                                 int resident) {
  return guarded(
      [&] { find<BufferObject>(buffer)->buffer.set_resident(first_page, pages, resident != 0); });
}

void lw_buffer_release(lw_buffer* buffer) {
  release<BufferObject>(buffer);
}

lw_status lw_buffer_address(lw_buffer* buffer, uint64_t* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    *out = find<BufferObject>(buffer)->buffer.address();
  });
}

lw_status lw_buffer_size(lw_buffer* buffer, uint64_t* out) {
  return guarded([&] {
    *required(out, "out") = 0;
    *out = find<BufferObject>(buffer)->buffer.size();
  });
}

lw_status lw_buffer_write(lw_buffer* buffer, uint64_t offset, const void* data, uint64_t bytes) {
  return guarded([&] {
    find<BufferObject>(buffer)->buffer.write(span_of(static_cast<const std::byte*>(data), bytes),
                                             offset);
  });
}

lw_status lw_buffer_read(lw_buffer* buffer, uint64_t offset, void* data, uint64_t bytes) {
  return guarded([&] {
    find<BufferObject>(buffer)->buffer.read(span_of(static_cast<std::byte*>(data), bytes), offset);
  });
}

const void* lw_blob_data(lw_blob* blob) {
  return quiet<const void*>(nullptr, [&] { return find<BlobObject>(blob)->bytes.data(); });
}

size_t lw_blob_size(lw_blob* blob) {
  return quiet<size_t>(0, [&] { return find<BlobObject>(blob)->bytes.size(); });
}

const char* lw_blob_note(lw_blob* blob, const char* name) {
  return quiet<const char*>(nullptr, [&] {
    const auto object = find<BlobObject>(blob);
    const auto note = object->notes.find(required(name, "name"));
    return note != object->notes.end() ? note->second.c_str() : "";
  });
}

void lw_blob_release(lw_blob* blob) {
  release<BlobObject>(blob);
}
