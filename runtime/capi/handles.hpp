// Handles are numbers that were never used before, not addresses: one that was released, or is of
// another kind, is found out, whatever any thread does meanwhile.
#pragma once

#include <memory>

#include "runtime/capi/status.hpp"

namespace lanewise::capi {

enum class HandleKind : uint8_t {
  device,
  buffer,
  module,
  kernel,
  result,
  cancel,
  cache,
  blob,
  queue,
  event,
  needs
};

/// What a handle stands for.
struct Object {
  explicit Object(HandleKind k) : kind(k) {}
  virtual ~Object() = default;
  const HandleKind kind;
};

uint64_t add_object(std::shared_ptr<Object> object);
/// Throws LW_DETAIL_BAD_HANDLE with what is wrong with it. The object lives as long as the answer.
std::shared_ptr<Object> find_object(uint64_t handle, HandleKind kind);
/// Forgets a handle; the object, which may end now. Does nothing when there is none.
std::shared_ptr<Object> take_object(uint64_t handle, HandleKind kind) noexcept;

/// T is an Object with `using Handle` and `static constexpr HandleKind kKind`.
template <typename T>
typename T::Handle* new_handle(std::shared_ptr<T> object) {
  return reinterpret_cast<typename T::Handle*>(add_object(std::move(object)));
}
template <typename T>
std::shared_ptr<T> find(typename T::Handle* handle) {
  return std::static_pointer_cast<T>(find_object(reinterpret_cast<uint64_t>(handle), T::kKind));
}
template <typename T>
void release(typename T::Handle* handle) noexcept {
  take_object(reinterpret_cast<uint64_t>(handle), T::kKind);
}

}  // namespace lanewise::capi
