// Objects that a program names by pointers of ours: one that was destroyed is recognised.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "runtime/host/core/failure.hpp"

namespace lanewise::core {

template <typename T>
class Handles {
 public:
  static T* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex());
    T* handle = object.get();
    all()[handle] = std::move(object);
    return handle;
  }
  static std::shared_ptr<T> find(const void* handle, Code otherwise = Code::invalid_handle) {
    const std::lock_guard lock(mutex());
    const auto found = all().find(handle);
    if (found == all().end()) fail(otherwise);
    return found->second;
  }
  static std::shared_ptr<T> take(const void* handle, Code otherwise = Code::invalid_handle) {
    const std::lock_guard lock(mutex());
    const auto found = all().find(handle);
    if (found == all().end()) fail(otherwise);
    std::shared_ptr<T> object = std::move(found->second);
    all().erase(found);
    return object;
  }
  /// Null for none of this kind.
  template <typename Is>
  static T* find_if(const Is& is) {
    const std::lock_guard lock(mutex());
    for (const auto& [handle, object] : all())
      if (is(*object)) return object.get();
    return nullptr;
  }
  static size_t count() {
    const std::lock_guard lock(mutex());
    return all().size();
  }
  static void clear() {
    const std::lock_guard lock(mutex());
    all().clear();
  }

 private:
  static std::mutex& mutex() {
    static auto* const the_mutex = new std::mutex;
    return *the_mutex;
  }
  static std::unordered_map<const void*, std::shared_ptr<T>>& all() {
    static auto* const objects = new std::unordered_map<const void*, std::shared_ptr<T>>;
    return *objects;
  }
};

}  // namespace lanewise::core
