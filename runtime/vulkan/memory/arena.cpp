#include "runtime/vulkan/memory/arena.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lanewise/error_detail.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint64_t kGranule = uint64_t{64} << 10;
constexpr uint64_t kStagingBytes = uint64_t{16} << 20;

uint64_t round_up(uint64_t n) {
  return (n + kGranule - 1) / kGranule * kGranule;
}

[[noreturn]] void too_large(uint64_t wanted, uint64_t limit, const std::string& device,
                            const std::string& why) {
  throw DetailedError(
      ErrorKind::device, ErrorDetail::device_memory,
      fmt::format("the kernel's buffers need {} bytes of device memory, but {} can give "
                  "at most {} bytes ({})",
                  wanted, device, limit, why));
}

[[noreturn]] void cannot_move(uint64_t wanted, uint64_t size) {
  throw DetailedError(
      ErrorKind::device, ErrorDetail::device_memory,
      fmt::format(
          "{} bytes of buffers are wanted, and the Vulkan buffer that holds them has capacity "
          "for {}; it cannot grow while a part of it is exported: say reserve_bytes when "
          "the device is imported",
          wanted, size));
}

}  // namespace

Arena::Arena(Device& device, bool staged) : device_(device), staged_(staged) {
  grow(kGranule);
  clear(0, kGranule);
}

Buffer Arena::make(uint64_t capacity) const {
  const Borrowed* owner = device_.borrowed();
  return device_.make_buffer(capacity, staged_ ? Place::device_only : Place::device,
                             device_.facts().features.bda,
                             owner != nullptr ? owner->arena_usage : vk::BufferUsageFlags());
}

void Arena::reserve(uint64_t bytes) {
  if (bytes <= size_) return;
  const EngineInfo& info = device_.facts().info;
  if (bytes > info.max_arena)
    too_large(bytes, info.max_arena, info.name, device_.facts().arena_limit);
  if (bytes > buffer_.size) {
    if (holders_ != 0) cannot_move(bytes, buffer_.size);
    // Doubling keeps many small reservations cheap; the exact size is the second try.
    const uint64_t exact = std::min(round_up(bytes), info.max_arena);
    const uint64_t generous =
        std::clamp(buffer_.size * 2, exact, std::max(exact, info.max_arena / 2));
    try {
      grow(generous);
    } catch (const vk::SystemError&) {
      try {
        replace_by_copy(exact);
      } catch (const vk::SystemError&) {
        too_large(bytes, buffer_.size, info.name, "what its driver allocates");
      }
    }
  }
  clear(size_, bytes);
  size_ = bytes;
}

void Arena::grow_to(uint64_t bytes) {
  const EngineInfo& info = device_.facts().info;
  if (bytes > info.max_arena)
    too_large(bytes, info.max_arena, info.name, device_.facts().arena_limit);
  if (bytes <= buffer_.size) return;
  if (holders_ != 0) cannot_move(bytes, buffer_.size);
  grow(round_up(bytes));
}

void Arena::write_map(std::span<const std::byte> map) {
  const uint64_t offset = guest::written_map_offset(size_);
  grow_to(offset + map.size());
  copy_in(offset, map);
}

void Arena::read_map(uint64_t offset, std::span<std::byte> part) {
  copy_out(guest::written_map_offset(size_) + offset, part);
}

void Arena::grow(uint64_t capacity) {
  Buffer bigger = make(capacity);
  if (size_ > 0) {
    const vk::BufferCopy all(0, 0, (size_ + 3) / 4 * 4);
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*buffer_.handle, *bigger.handle, all);
    });
  }
  buffer_ = std::move(bigger);
}

/// When old and new do not fit side by side: by way of host memory.
void Arena::replace_by_copy(uint64_t capacity) {
  std::vector<std::byte> kept(size_);
  copy_out(0, kept);
  const uint64_t old_capacity = buffer_.size;
  buffer_ = Buffer();
  try {
    buffer_ = make(capacity);
  } catch (const vk::SystemError&) {
    buffer_ = make(old_capacity);
    copy_in(0, kept);
    throw;
  }
  copy_in(0, kept);
}

void Arena::clear(uint64_t begin, uint64_t end) {
  // Whole words: the guest reaches its last bytes through the word that holds them.
  end = std::min((end + 3) / 4 * 4, buffer_.size);
  if (buffer_.map != nullptr) {
    std::memset(buffer_.map + begin, 0, end - begin);
    return;
  }
  const uint64_t words = std::min((begin + 3) / 4 * 4, end);
  const std::byte zeros[4] = {};
  copy_in(begin, std::span(zeros).first(words - begin));
  if (words == end) return;
  device_.run([&](const vk::raii::CommandBuffer& commands) {
    commands.fillBuffer(*buffer_.handle, words, end - words, 0);
  });
}

uint64_t Arena::offset_of(uint64_t address, uint64_t size, const char* what) const {
  const uint64_t offset = address - guest::kArenaBase;
  if (address < guest::kArenaBase || offset > size_ || size > size_ - offset) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} of {} bytes at guest address {:#x} is outside the arena of {} bytes", what,
                    size, address, size_));
  }
  return offset;
}

void Arena::write(uint64_t address, std::span<const std::byte> data) {
  copy_in(offset_of(address, data.size(), "a write"), data);
}

void Arena::read(uint64_t address, std::span<std::byte> data) {
  copy_out(offset_of(address, data.size(), "a read"), data);
}

Buffer& Arena::staging() {
  if (staging_.size == 0) staging_ = device_.make_buffer(kStagingBytes, Place::host);
  return staging_;
}

void Arena::copy_in(uint64_t offset, std::span<const std::byte> data) {
  if (data.empty()) return;
  if (buffer_.map != nullptr) {
    std::memcpy(buffer_.map + offset, data.data(), data.size());
    return;
  }
  for (size_t done = 0; done < data.size();) {
    const size_t chunk = std::min<size_t>(data.size() - done, kStagingBytes);
    std::memcpy(staging().map, data.data() + done, chunk);
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*staging_.handle, *buffer_.handle,
                          vk::BufferCopy(0, offset + done, chunk));
    });
    done += chunk;
  }
}

void Arena::copy_out(uint64_t offset, std::span<std::byte> data) {
  if (data.empty()) return;
  // Memory that the host maps but does not cache is written well and read badly.
  if (buffer_.map != nullptr && (buffer_.cached || data.size() <= 64)) {
    std::memcpy(data.data(), buffer_.map + offset, data.size());
    return;
  }
  for (size_t done = 0; done < data.size();) {
    const size_t chunk = std::min<size_t>(data.size() - done, kStagingBytes);
    staging();
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      commands.copyBuffer(*buffer_.handle, *staging_.handle,
                          vk::BufferCopy(offset + done, 0, chunk));
    });
    std::memcpy(data.data() + done, staging_.map, chunk);
    done += chunk;
  }
}

}  // namespace lanewise::vulkan
