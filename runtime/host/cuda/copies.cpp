// Copies and fills of one dimension.
#include <vector>

#include "runtime/host/cuda/copy.hpp"

namespace lanewise::cuda {

void check_kind(const Region& to, const Region& from, int kind) {
  require(kind >= kHostToHost && kind <= kDefault, Code::invalid_copy_kind);
  if (kind == kDefault) return;
  // Host memory that kernels reach is both.
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  require(to_device || !to.on_device);
  require(from_device || !from.on_device);
  AddressSpace& memory = Context::current().memory();
  const auto is_both = [&](const Region& r) {
    return r.on_device || memory.find_host(reinterpret_cast<void*>(r.address)) != nullptr;
  };
  require(!to_device || is_both(to));
  require(!from_device || is_both(from));
}

namespace {

Copy copy_of(void* to, const void* from, size_t bytes, int kind) {
  Copy copy{region(to, bytes), region(from, bytes), bytes};
  if (bytes != 0) check_kind(copy.to, copy.from, kind);
  return copy;
}

Fill fill_of(void* to, int value, size_t bytes) {
  const Region r = region(to);
  if (!r.on_device && bytes != 0) require(Context::current().memory().find_host(to) != nullptr);
  return {.address = r.address,
          .pitch = bytes,
          .on_device = r.on_device,
          .value = static_cast<uint8_t>(value),
          .width = bytes};
}

}  // namespace

void copy_now(Stream& stream, const Copy& copy) {
  (void)stream;
  Context& context = Context::current();
  context.synchronise();
  perform(copy);
}

bool is_pageable(const Region& r) {
  return !r.on_device &&
         Context::current().memory().find_host(reinterpret_cast<void*>(r.address)) == nullptr;
}

/// Pageable memory is the caller's again when the call returns.
void copy_later(Stream& stream, const Copy& copy) {
  if (is_pageable(copy.to) || is_pageable(copy.from)) return copy_now(stream, copy);
  enqueue(stream, copy);
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_of(to, from, bytes, kind)); });
}
ENTRY(cudaMemcpyAsync, (void* to, const void* from, size_t bytes, int kind, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_of(to, from, bytes, kind)); });
}
ENTRY(cudaMemset, (void* to, int value, size_t bytes)) {
  return answer([&] { enqueue(stream_of(nullptr), fill_of(to, value, bytes)); });
}
ENTRY(cudaMemsetAsync, (void* to, int value, size_t bytes, StreamHandle stream)) {
  return answer([&] { enqueue(stream_of(stream), fill_of(to, value, bytes)); });
}
ALSO(cudaMemcpy_ptds, cudaMemcpy);
ALSO(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
ALSO(cudaMemset_ptds, cudaMemset);
ALSO(cudaMemsetAsync_ptsz, cudaMemsetAsync);
