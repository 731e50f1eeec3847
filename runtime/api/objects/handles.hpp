// Handles are numbers that were never used before, not addresses: one that was released, or is of
// another kind, is found out, whatever any thread does meanwhile.
#pragma once

#include <memory>

#include "runtime/api/objects/status.hpp"

namespace lanewise::host {

/// Of every kind of handle, as lw_... spells it.
#define LANEWISE_HANDLES(each)                                                              \
  each(device) each(buffer) each(module) each(kernel) each(result) each(cancel) each(cache) \
      each(blob) each(queue) each(event) each(vulkan_needs) each(texture)

enum class HandleKind : uint8_t {
#define LANEWISE_KIND(name) name,
  LANEWISE_HANDLES(LANEWISE_KIND)
#undef LANEWISE_KIND
};

/// What a handle stands for.
struct Object {
  explicit Object(HandleKind k) : kind(k) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  /// Its handle was given back; others may use the object still.
  virtual void released() noexcept {}
  const HandleKind kind;
};
/// The base of an object whose handles are of the type `Of*`.
template <typename Of, HandleKind Kind>
struct Handled : Object {
  using Handle = Of;
  static constexpr HandleKind kKind = Kind;
  Handled() : Object(Kind) {}
};

uint64_t add_object(std::shared_ptr<Object> object);
/// Throws LW_DETAIL_BAD_HANDLE with what is wrong with it. The object lives as long as the answer.
std::shared_ptr<Object> find_object(uint64_t handle, HandleKind kind);
/// Forgets a handle; its object may end now. Does nothing when there is none.
void release_object(uint64_t handle, HandleKind kind) noexcept;

/// T is Handled<...>.
template <typename T>
typename T::Handle* new_handle(std::shared_ptr<T> object) {
  return reinterpret_cast<typename T::Handle*>(add_object(std::move(object)));
}
/// The body of functions that make something: `make` gives an object, whose handle goes to *out.
/// *out is cleared before anything can go wrong.
template <typename Handle, typename Make>
lw_status gives(Handle** out, const Make& make) noexcept {
  return guarded([&] {
    *required(out, "out") = nullptr;
    *out = new_handle(make());
  });
}
template <typename T>
std::shared_ptr<T> find(typename T::Handle* handle) {
  return std::static_pointer_cast<T>(find_object(reinterpret_cast<uint64_t>(handle), T::kKind));
}

}  // namespace lanewise::host
