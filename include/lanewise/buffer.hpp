// Device memory, and kernel arguments.
#pragma once

#include "lanewise/detail/needs_cxx20.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lanewise/detail/arg_bytes.hpp"
#include "lanewise/detail/call.hpp"

namespace lanewise {

/// Device memory in the guest address space. Freed with its last handle.
class Buffer {
 public:
  /// Guest address; the same on every device for the same program.
  uint64_t address() const { return state().address; }
  /// Bytes.
  uint64_t size() const { return state().size; }
  /// Copies to / from the device. Ranges outside the buffer throw Error(usage).
  void write(std::span<const std::byte> bytes, uint64_t offset = 0) {
    detail::call(lw_buffer_write(state().handle, offset, bytes.data(), bytes.size()));
  }
  void read(std::span<std::byte> bytes, uint64_t offset = 0) const {
    detail::call(lw_buffer_read(state().handle, offset, bytes.data(), bytes.size()));
  }
  /// Says of pages of 64 KiB whether they are there, for loads that ask (Maxwell's sparse LDG).
  /// Only for buffers of Device::allocate_paged, which start resident; ranges outside throw
  /// Error(usage).
  void set_resident(uint64_t first_page, uint64_t pages, bool resident) {
    detail::call(lw_buffer_set_resident(state().handle, first_page, pages, resident ? 1 : 0));
  }
  /// Whether later launches reach it: see lw_buffer_set_reachable.
  void set_reachable(bool reachable) {
    detail::call(lw_buffer_set_reachable(state().handle, reachable ? 1 : 0));
  }
  template <typename T>
  void write(const std::vector<T>& values) {
    write(std::as_bytes(std::span(values)));
  }
  template <typename T>
  std::vector<T> read() const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(size() / sizeof(T));
    read(std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_buffer* c_handle() const { return state().handle; }
  /// Takes over a handle of the C API, which it releases.
  static Buffer from_c(lw_buffer* handle) {
    Buffer b;
    b.state_ = detail::own<detail::BufferState>(handle);
    detail::call(lw_buffer_address(handle, &b.state_->address));
    detail::call(lw_buffer_size(handle, &b.state_->size));
    return b;
  }

 private:
  friend class Arg;
  detail::BufferState& state() const { return detail::used(state_, "Buffer"); }
  std::shared_ptr<detail::BufferState> state_;
};

/// One kernel argument: the bytes of a scalar or struct, or the address of a buffer.
/// Integers are widened or narrowed to the parameter's size when the value fits. An integer for a
/// floating-point parameter is refused, and so is the reverse, and a buffer of another device or
/// for what is no pointer. A parameter of which only the size is known takes anything of that size.
class Arg {
 public:
  enum class Kind : uint8_t { integer, real, bytes, buffer };

  template <typename T>
  requires(std::is_arithmetic_v<T>) Arg(T value)  // NOLINT: meant to convert
      : bytes_(std::as_bytes(std::span(&value, 1))),
        kind_(std::is_integral_v<T> ? Kind::integer : Kind::real),
        signed_(std::is_signed_v<T>) {}
  Arg(const Buffer& buffer) : Arg(buffer, 0) {}  // NOLINT
  /// The address of the buffer's byte `offset`, at most the one behind its end.
  Arg(const Buffer& buffer, uint64_t offset) : Arg(buffer.address() + offset) {
    kind_ = Kind::buffer;
    buffer_ = buffer.state_;
  }
  /// A struct by value: its bytes, lowest address first. Also a scalar of unknown kind.
  static Arg raw(std::span<const std::byte> bytes) { return Arg(Kind::bytes, bytes); }
  /// A floating-point number of 2, 4 or 8 bytes given as its bytes.
  static Arg real(std::span<const std::byte> bytes) { return Arg(Kind::real, bytes); }
  /// An integer of 1, 2, 4 or 8 bytes given as its bytes.
  static Arg integer(std::span<const std::byte> bytes, bool is_signed) {
    Arg a(Kind::integer, bytes);
    a.signed_ = is_signed;
    return a;
  }
  std::span<const std::byte> bytes() const { return bytes_.all(); }
  Kind kind() const { return kind_; }
  bool is_integer() const { return kind_ == Kind::integer || kind_ == Kind::buffer; }
  bool is_signed() const { return signed_; }
  /// Null unless it is a buffer, which lives as long as the argument.
  const std::shared_ptr<detail::BufferState>& buffer() const { return buffer_; }
  /// For calls of the C API; valid as long as this argument.
  lw_arg c_arg() const {
    const std::span<const std::byte> all = bytes();
    if (kind_ == Kind::bytes) return lw_arg_bytes(all.data(), all.size());
    uint64_t bits = 0;
    std::memcpy(&bits, all.data(), all.size() < sizeof bits ? all.size() : sizeof bits);
    const lw_arg_kind kind = kind_ == Kind::real ? LW_ARG_FLOAT
                             : signed_           ? LW_ARG_SIGNED
                                                 : LW_ARG_UNSIGNED;
    lw_arg out = lw_arg_scalar(kind, bits, all.size());
    if (kind_ != Kind::buffer) return out;
    out = lw_arg_buffer(buffer_->handle);
    out.bits = bits - buffer_->address;
    return out;
  }

 private:
  Arg(Kind kind, std::span<const std::byte> bytes) : bytes_(bytes), kind_(kind) {}

  detail::ArgBytes bytes_;
  std::shared_ptr<detail::BufferState> buffer_;
  Kind kind_;
  bool signed_ = false;
};

}  // namespace lanewise
