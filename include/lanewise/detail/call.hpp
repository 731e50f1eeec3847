// Calls of the C API whose failures are exceptions, and what the C++ handles share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/detail/fields.hpp"
#include "lanewise/error_detail.hpp"
#include "lanewise/lanewise.h"
#include "lanewise/launch.hpp"

namespace lanewise::detail {

/// What this thread's last call of the library found.
inline std::pair<std::string, std::vector<Diagnostic>> last_diagnostics() {
  std::pair<std::string, std::vector<Diagnostic>> out;
  const size_t count = lw_last_diagnostic_count();
  for (size_t i = 0; i < count; ++i) {
    lw_diagnostic d{};
    d.struct_size = sizeof d;
    if (lw_last_diagnostic(i, &d) != LW_OK) break;
    out.first = d.file;
    out.second.push_back({d.line, d.column, d.message, d.is_warning != 0, d.file});
  }
  return out;
}

/// Throws what this thread's last call failed with.
[[noreturn]] inline void raise(lw_status status) {
  const auto detail = static_cast<ErrorDetail>(lw_last_detail());
  const std::string message = lw_last_error();
  auto [file, diagnostics] = last_diagnostics();
  if (detail == ErrorDetail::rejected && !diagnostics.empty())
    throw CompileError(std::move(file), std::move(diagnostics));
  throw DetailedError(static_cast<ErrorKind>(status), detail, message);
}

inline void call(lw_status status) {
  if (status != LW_OK) raise(status);
}

/// As options name it; null for automatic.
inline const char* c_name(Isa isa) {
  constexpr const char* kNames[] = {nullptr, "ptx", "sass", "gcn"};  // as in Isa
  return kNames[static_cast<size_t>(isa)];
}
/// Null for empty text, which means the default.
inline const char* c_text(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

/// The text or bytes of a blob, which is released.
inline std::string take(lw_blob* blob) {
  const std::unique_ptr<lw_blob, void (*)(lw_blob*)> owner(blob, lw_blob_release);
  return {static_cast<const char*>(lw_blob_data(blob)), lw_blob_size(blob)};
}

/// What a handle refers to; throws when that is nothing.
template <typename State>
State& used(const std::shared_ptr<State>& state, const char* what) {
  if (state != nullptr) return *state;
  std::string message = "an empty ";
  message.append(what).append(" handle was used: it was made by ").append(what);
  message.append("() and nothing was assigned to it");
  throw DetailedError(ErrorKind::usage, ErrorDetail::bad_handle, message);
}

/// A handle of the C API with what is asked of it often; released with its last owner.
template <typename Handle, void (*Release)(Handle*), typename Facts>
struct Owned : Facts {
  explicit Owned(Handle* h) : handle(h) {}
  ~Owned() { Release(handle); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle* const handle;
};

/// The first owner of a handle; the handle is released where there is no memory for one.
template <typename State, typename Handle>
std::shared_ptr<State> own(Handle* handle) {
  try {
    return std::make_shared<State>(handle);
  } catch (...) {
    State released(handle);
    throw;
  }
}

struct DeviceFacts {
  DeviceInfo info;
};
struct BufferFacts {
  uint64_t address = 0, size = 0;
};
struct ModuleFacts {
  std::vector<Diagnostic> warnings;
};
struct KernelFacts {
  std::string name;
};
using DeviceState = Owned<lw_device, lw_device_release, DeviceFacts>;
using BufferState = Owned<lw_buffer, lw_buffer_release, BufferFacts>;
using ModuleState = Owned<lw_module, lw_module_release, ModuleFacts>;
using KernelState = Owned<lw_kernel, lw_kernel_release, KernelFacts>;
struct NoFacts {};
using CacheState = Owned<lw_cache, lw_cache_release, NoFacts>;

inline DeviceInfo to_cpp(const lw_device_info& d) {
  DeviceInfo out;
  out.index = d.index;
  each_device_field(out, d, FromC{});
  return out;
}

}  // namespace lanewise::detail
