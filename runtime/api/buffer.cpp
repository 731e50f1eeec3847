// Buffers: the host's access to the guest's memory.
#include <fmt/format.h>

#include "lanewise/error_detail.hpp"
#include "runtime/api/state.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::host {
namespace {

void check_range(uint64_t offset, uint64_t bytes, uint64_t size) {
  if (offset <= size && bytes <= size - offset) return;
  throw DetailedError(ErrorKind::usage, ErrorDetail::out_of_range,
                      fmt::format("{} bytes at offset {} do not lie inside a buffer of {} bytes",
                                  bytes, offset, size));
}

}  // namespace

detail::BufferState& Buffer::state() const {
  if (state_ == nullptr) detail::refuse_empty("Buffer");
  return *state_;
}

uint64_t Buffer::address() const {
  return state().memory.address;
}
uint64_t Buffer::size() const {
  return state().memory.size;
}

void Buffer::set_resident(uint64_t first_page, uint64_t pages, bool resident) {
  const uint64_t all = size() / guest::kSparsePage;
  if (!state_->paged)
    throw Error(ErrorKind::usage, "only buffers of Device::allocate_paged have pages");
  if (first_page > all || pages > all - first_page) {
    throw DetailedError(ErrorKind::usage, ErrorDetail::out_of_range,
                        fmt::format("{} pages from page {} on do not lie in a buffer of {} pages",
                                    pages, first_page, all));
  }
  detail::DeviceState& device = *state_->memory.device;
  const auto lock = device.enter();
  if (!device.residency.set(address() + first_page * guest::kSparsePage, pages, resident))
    throw Error(ErrorKind::usage, "absent pages must lie in the first 4 GiB of the arena");
}

void Buffer::write(std::span<const std::byte> bytes, uint64_t offset) {
  check_range(offset, bytes.size(), size());
  if (bytes.empty()) return;
  detail::DeviceState& device = *state_->memory.device;
  const auto lock = device.enter();
  device.engine->write(address() + offset, bytes);
  device.unwritten.note(address() + offset, bytes.size());
  if (device.events != nullptr) device.events->host_write(address() + offset, bytes.size());
}

void Buffer::read(std::span<std::byte> bytes, uint64_t offset) const {
  check_range(offset, bytes.size(), size());
  if (bytes.empty()) return;
  detail::DeviceState& device = *state_->memory.device;
  const auto lock = device.enter();
  device.engine->read(address() + offset, bytes);
  if (device.events != nullptr) device.events->host_read(address() + offset, bytes.size());
}

}  // namespace lanewise::host
