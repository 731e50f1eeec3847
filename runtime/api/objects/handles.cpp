#include "runtime/api/objects/handles.hpp"

#include <fmt/format.h>

#include <array>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "lanewise/vulkan.h"

namespace lanewise::host {
namespace {

#define LANEWISE_NAME(name) "lw_" #name,
constexpr std::array kNames = {LANEWISE_HANDLES(LANEWISE_NAME)};
#undef LANEWISE_NAME

constexpr unsigned kKindBits = 4;

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects;
  uint64_t next = 1;
};

/// Never destroyed: threads and other destructors may use handles while the process ends.
Registry& registry() {
  static auto* const the_registry = new Registry;
  return *the_registry;
}

const char* name_of(HandleKind kind) {
  return kNames.at(static_cast<size_t>(kind));
}

/// Bit 0 is set, which no address of an object has.
uint64_t handle_of(uint64_t number, HandleKind kind) {
  return (number << kKindBits | static_cast<uint64_t>(kind)) << 1 | 1;
}

[[noreturn]] void refuse(uint64_t handle, HandleKind wanted, uint64_t next) {
  const char* name = name_of(wanted);
  if (handle == 0) fail(ErrorDetail::bad_handle, fmt::format("the {} is NULL", name));
  const uint64_t number = handle >> (kKindBits + 1);
  const uint64_t kind = handle >> 1 & ((1U << kKindBits) - 1);
  if ((handle & 1) == 0 || kind >= kNames.size() || number == 0 || number >= next)
    fail(ErrorDetail::bad_handle, fmt::format("{:#x} is no {}", handle, name));
  if (static_cast<HandleKind>(kind) != wanted)
    fail(ErrorDetail::bad_handle,
         fmt::format("a {} was given where a {} is expected", kNames.at(kind), name));
  fail(ErrorDetail::bad_handle, fmt::format("the {} was released before", name));
}

}  // namespace

uint64_t add_object(std::shared_ptr<Object> object) {
  Registry& r = registry();
  const std::unique_lock lock(r.mutex);
  const uint64_t handle = handle_of(r.next, object->kind);
  r.objects.emplace(handle, std::move(object));
  ++r.next;
  return handle;
}

std::shared_ptr<Object> find_object(uint64_t handle, HandleKind kind) {
  Registry& r = registry();
  const std::shared_lock lock(r.mutex);
  const auto it = r.objects.find(handle);
  if (it == r.objects.end() || it->second->kind != kind) refuse(handle, kind, r.next);
  return it->second;
}

void release_object(uint64_t handle, HandleKind kind) noexcept {
  Registry& r = registry();
  std::unique_lock lock(r.mutex);
  const auto it = r.objects.find(handle);
  if (it == r.objects.end() || it->second->kind != kind) return;
  const std::shared_ptr<Object> taken = std::move(it->second);
  r.objects.erase(it);
  lock.unlock();  // its end may release others
  taken->released();
}

}  // namespace lanewise::host

#define LANEWISE_RELEASE(name)                                         \
  void lw_##name##_release(lw_##name* handle) {                        \
    lanewise::host::release_object(reinterpret_cast<uint64_t>(handle), \
                                   lanewise::host::HandleKind::name);  \
  }
LANEWISE_HANDLES(LANEWISE_RELEASE)
