// Copies and fills of one dimension.
#include "runtime/host/core/graph.hpp"
#include "runtime/host/core/status.hpp"
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
    return r.on_device || memory.find_host(pointer_at(r.address)) != nullptr;
  };
  require(!to_device || is_both(to));
  require(!from_device || is_both(from));
}

namespace {

/// Throws where the rows do not lie inside one allocation of the device.
void check_range(const Region& r, uint64_t width, uint64_t height, uint64_t depth) {
  if (!r.on_device) return;
  const uint64_t bytes = (depth - 1) * r.layer + (height - 1) * r.pitch + width;
  Context& context = Context::current();
  if (const MemoryPtr memory = context.memory().find(r.address); memory != nullptr) {
    require(!memory->freed && bytes <= memory->bytes - (r.address - memory->address));
    return;
  }
  std::byte byte{};  // of a module's variable
  for (const uint64_t at : {r.address, r.address + bytes - 1})
    core::check(lw_memory_read(context.device(), at, &byte, 1));
}

bool is_pageable(const Region& r) {
  return !r.on_device && Context::current().memory().find_host(pointer_at(r.address)) == nullptr;
}

}  // namespace

Copy checked(const Copy& copy, int kind) {
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return {};
  require(copy.to.address != 0 && copy.from.address != 0);
  require(std::max({copy.height, copy.depth}) == 1 ||
              std::max(copy.to.pitch, copy.from.pitch) < kMostPitch,
          Code::invalid_pitch);
  check_kind(copy.to, copy.from, kind);
  check_range(copy.to, copy.width, copy.height, copy.depth);
  check_range(copy.from, copy.width, copy.height, copy.depth);
  return copy;
}

Fill checked(const Fill& f) {
  if (f.width == 0 || f.height == 0 || f.depth == 0) return {};
  const Region r{f.address, f.on_device, f.pitch, f.layer};
  require(!is_pageable(r));
  check_range(r, f.width * f.size, f.height, f.depth);
  return f;
}

Copy copy_of(void* to, const void* from, size_t bytes, int kind) {
  return checked({region(to, bytes), region(from, bytes), bytes}, kind);
}

Fill fill_of(void* to, int value, size_t bytes) {
  const Region r = region(to);
  return checked({.address = r.address,
                  .pitch = bytes,
                  .on_device = r.on_device,
                  .value = static_cast<uint8_t>(value),
                  .width = bytes});
}

namespace {

/// `waits`: the host relies on its end, not only on its place in the stream.
void copy_in_call(Stream& stream, const Copy& copy, bool waits) {
  forbid_in_capture(stream);
  forbid_in_capture();
  Context& context = Context::current();
  context.synchronise_some();
  perform(copy);
  core::StreamOrder* const order = context.order();
  if (order == nullptr) return;
  order->done(order->stamp(stream, "a copy"), footprint_of(copy));
  if (waits) order->host_waits(stream);
}

}  // namespace

/// The host may read pinned and managed memory once the call has returned.
void fill_now(Stream& stream, const Fill& fill) {
  enqueue(stream, fill);
  Context& context = Context::current();
  const MemoryPtr memory = context.memory().find(fill.address);
  if (fill.on_device && (memory == nullptr || memory->kind == core::MemoryKind::device)) return;
  context.synchronise_some();
  if (core::StreamOrder* const order = context.order()) order->host_waits(stream);
}

/// Of copies on the device the host does not wait for the end.
void copy_now(Stream& stream, const Copy& copy) {
  copy_in_call(stream, copy, !copy.to.on_device || !copy.from.on_device);
}

/// Pageable memory is the caller's again when the call returns.
void copy_later(Stream& stream, const Copy& copy) {
  if (stream.capture == nullptr && (is_pageable(copy.to) || is_pageable(copy.from)))
    return copy_in_call(stream, copy, !copy.to.on_device);
  enqueue(stream, copy);
}

}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY_PTDS(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind)) {
  return answer([&] { copy_now(stream_of(nullptr), copy_of(to, from, bytes, kind)); });
}
ENTRY_PTSZ(cudaMemcpyAsync,
           (void* to, const void* from, size_t bytes, int kind, StreamHandle stream)) {
  return answer([&] { copy_later(stream_of(stream), copy_of(to, from, bytes, kind)); });
}
ENTRY_PTDS(cudaMemset, (void* to, int value, size_t bytes)) {
  return answer([&] { fill_now(stream_of(nullptr), fill_of(to, value, bytes)); });
}
ENTRY_PTSZ(cudaMemsetAsync, (void* to, int value, size_t bytes, StreamHandle stream)) {
  return answer([&] { enqueue(stream_of(stream), fill_of(to, value, bytes)); });
}

ENTRY(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, size_t bytes)) {
  return answer([&] {
    check_device(to_device);
    check_device(from_device);
    copy_now(stream_of(nullptr), copy_of(to, from, bytes, kDeviceToDevice));
  });
}
ENTRY(cudaMemcpyPeerAsync, (void* to, int to_device, const void* from, int from_device,
                            size_t bytes, StreamHandle stream)) {
  return answer([&] {
    check_device(to_device);
    check_device(from_device);
    copy_later(stream_of(stream), copy_of(to, from, bytes, kDeviceToDevice));
  });
}
