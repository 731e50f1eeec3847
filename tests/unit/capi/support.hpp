// The C API from C++: handles that release themselves.
#pragma once

#include <memory>

#include "lanewise/lanewise.h"
#include "tests/unit/api/support.hpp"

namespace capi_test {

template <auto Release>
struct Releases {
  template <typename T>
  void operator()(T* handle) const {
    Release(handle);
  }
};
using Device = std::unique_ptr<lw_device, Releases<lw_device_release>>;
using Buffer = std::unique_ptr<lw_buffer, Releases<lw_buffer_release>>;
using Module = std::unique_ptr<lw_module, Releases<lw_module_release>>;
using Kernel = std::unique_ptr<lw_kernel, Releases<lw_kernel_release>>;
using Result = std::unique_ptr<lw_result, Releases<lw_result_release>>;
using Cancel = std::unique_ptr<lw_cancel, Releases<lw_cancel_release>>;
using Cache = std::unique_ptr<lw_cache, Releases<lw_cache_release>>;
using Blob = std::unique_ptr<lw_blob, Releases<lw_blob_release>>;

/// The call must succeed; what it made.
template <typename Owner, typename Call>
Owner made(const Call& call) {
  typename Owner::pointer handle = nullptr;
  const lw_status status = call(&handle);
  INFO(lw_last_error());
  REQUIRE(status == LW_OK);
  REQUIRE(handle != nullptr);
  return Owner(handle);
}

inline Device open(const std::string& selector = api_test::selector()) {
  return made<Device>([&](auto out) { return lw_device_open(selector.c_str(), out); });
}
inline Module load(const Device& device, const std::string& text,
                   const lw_module_options* options = nullptr) {
  return made<Module>([&](auto out) {
    return lw_module_load_memory(device.get(), text.data(), text.size(), options, out);
  });
}
inline Kernel kernel(const Module& module, const char* name = nullptr) {
  return made<Kernel>([&](auto out) { return lw_kernel_get(module.get(), name, out); });
}
inline Buffer buffer(const Device& device, uint64_t bytes, const char* name = "buffer") {
  return made<Buffer>([&](auto out) { return lw_buffer_create(device.get(), bytes, name, out); });
}
template <typename T>
Buffer buffer_of(const Device& device, const std::vector<T>& values) {
  Buffer b = buffer(device, values.size() * sizeof(T));
  REQUIRE(lw_buffer_write(b.get(), 0, values.data(), values.size() * sizeof(T)) == LW_OK);
  return b;
}
template <typename T>
std::vector<T> contents(const Buffer& buffer) {
  uint64_t bytes = 0;
  REQUIRE(lw_buffer_size(buffer.get(), &bytes) == LW_OK);
  std::vector<T> values(bytes / sizeof(T));
  REQUIRE(lw_buffer_read(buffer.get(), 0, values.data(), bytes) == LW_OK);
  return values;
}

inline lw_launch_options options(uint32_t groups, uint32_t threads) {
  lw_launch_options o = LW_LAUNCH_OPTIONS_INIT;
  o.grid[0] = groups;
  o.block[0] = threads;
  return o;
}

/// Options of an assembler or disassembler.
inline lw_code_options code(const char* isa, const char* target = nullptr, uint32_t flags = 0) {
  lw_code_options o = LW_CODE_OPTIONS_INIT;
  o.isa = isa;
  o.target = target;
  o.flags = flags;
  return o;
}
inline lw_cache_options presets(const char* names, uint32_t flags = 0) {
  lw_cache_options o = LW_CACHE_OPTIONS_INIT;
  o.presets = names;
  o.flags = flags;
  return o;
}

inline std::string text(const Blob& blob) {
  return {static_cast<const char*>(lw_blob_data(blob.get())), lw_blob_size(blob.get())};
}

}  // namespace capi_test
