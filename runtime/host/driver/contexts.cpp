// cuInit, and contexts: a stack of them in each thread, and the primary one, which is the
// runtime's.
#include "runtime/host/driver/contexts.hpp"

#include <atomic>

#include "runtime/host/core/graph.hpp"
#include "runtime/host/driver/entry.hpp"
#include "runtime/host/driver/modules.hpp"

namespace lanewise::driver {
namespace {

std::atomic<bool> initialised = false;

/// Without a destructor: destructors of the program may call.
std::vector<DriverContext*>& stack() {
  thread_local auto* const contexts = new std::vector<DriverContext*>;
  return *contexts;
}

uint64_t next_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

DriverContext& context_of(DriverContext* handle) {
  if (handle == &primary_context()) return *handle;
  return *Handles<DriverContext>::find(handle, Code::invalid_context);
}

constexpr unsigned kFlags = 0xff;

void create(DriverContext** out, unsigned flags, int device) {
  required(out);
  check_device(device);
  require((flags & ~kFlags) == 0);
  auto made = std::make_shared<DriverContext>();
  made->flags = flags;
  made->id = next_id();
  *out = Handles<DriverContext>::add(std::move(made));
  stack().push_back(*out);
}

/// Its memory and modules are given back, and what its kernels did is forgotten.
void give_back(DriverContext& context) {
  while (!context.modules.empty()) unload(*context.modules.back());
  if (Context* device = Context::opened()) device->reset(context.owner());
}

void destroy(DriverContext* handle) {
  const auto context = Handles<DriverContext>::find(handle, Code::invalid_context);
  give_back(*context);
  std::vector<DriverContext*>& all = stack();
  if (!all.empty() && all.back() == handle) all.pop_back();
  Handles<DriverContext>::take(handle);
}

void pop(DriverContext** out) {
  require(!stack().empty(), Code::invalid_context);
  if (out != nullptr) *out = stack().back();
  stack().pop_back();
}

void release_primary(int device) {
  check_device(device);
  DriverContext& primary = primary_context();
  require(primary.retained > 0, Code::invalid_context);
  if (--primary.retained == 0 && !cuda::used_runtime().load()) give_back(primary);
}

extern "C" int cudaDeviceReset();
void reset_primary(int device) {
  check_device(device);
  DriverContext& primary = primary_context();
  while (!primary.modules.empty()) unload(*primary.modules.back());
  cudaDeviceReset();
}

}  // namespace

bool is_initialised() {
  return initialised || cuda::used_runtime();
}

DriverContext& primary_context() {
  static auto* const primary = [] {
    auto* made = new DriverContext;
    made->primary = true;
    made->id = next_id();
    return made;
  }();
  return *primary;
}

DriverContext* current_context() {
  if (!stack().empty()) return stack().back();
  return cuda::thread_used_runtime() ? &primary_context() : nullptr;
}

void check_device(int device) {
  require(device == kDevice, Code::invalid_device);
  Context::current();
}

}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuInit, (unsigned flags)) {
  return answer(
      [&] {
        require(flags == 0);
        Context::current();
        initialised = true;
      },
      Needs::nothing);
}
ENTRY(cuCtxCreate_v2, (DriverContext * *out, unsigned flags, int device)) {
  return answer([&] { create(out, flags, device); }, Needs::device);
}
ALSO(cuCtxCreate, cuCtxCreate_v2);
ENTRY(cuCtxCreate_v3,
      (DriverContext * *out, const void* /*affinity*/, int count, unsigned flags, int device)) {
  return answer(
      [&] {
        require(count == 0, Code::not_supported);
        create(out, flags, device);
      },
      Needs::device);
}
/// Parameters choose a part of the device, or another API to share it with.
ENTRY(cuCtxCreate_v4,
      (DriverContext * *out, const void* const* parameters, unsigned flags, int device)) {
  return answer(
      [&] {
        require(parameters == nullptr || (parameters[0] == nullptr && parameters[2] == nullptr),
                Code::not_supported);
        create(out, flags, device);
      },
      Needs::device);
}
ENTRY(cuCtxDestroy_v2, (DriverContext * context)) {
  return answer([&] { destroy(context); }, Needs::device);
}
ALSO(cuCtxDestroy, cuCtxDestroy_v2);
ENTRY(cuCtxAttach, (DriverContext * *out, unsigned flags)) {
  return answer([&] {
    require(flags == 0);
    *required(out) = current_context();
    ++(*out)->attached;
  });
}
ENTRY(cuCtxDetach, (DriverContext * context)) {
  return answer(
      [&] {
        if (--context_of(context).attached == 0) destroy(context);
      },
      Needs::device);
}
ENTRY(cuCtxPushCurrent_v2, (DriverContext * context)) {
  return answer([&] { stack().push_back(&context_of(context)); }, Needs::device);
}
ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2);
ENTRY(cuCtxPopCurrent_v2, (DriverContext * *out)) {
  return answer([&] { pop(out); }, Needs::device);
}
ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2);
ENTRY(cuCtxSetCurrent, (DriverContext * context)) {
  return answer(
      [&] {
        DriverContext* const next = context == nullptr ? nullptr : &context_of(context);
        if (!stack().empty()) stack().pop_back();
        if (next != nullptr) stack().push_back(next);
      },
      Needs::device);
}
ENTRY(cuCtxGetCurrent, (DriverContext * *out)) {
  return answer([&] { *required(out) = current_context(); }, Needs::device);
}
ENTRY(cuCtxGetDevice, (int* device)) {
  return answer([&] { *required(device) = kDevice; });
}
ENTRY(cuCtxGetDevice_v2, (int* device, DriverContext* context)) {
  return answer(
      [&] {
        if (context == nullptr)
          require(current_context() != nullptr, Code::invalid_context);
        else
          context_of(context);
        *required(device) = kDevice;
      },
      Needs::device);
}
ENTRY(cuCtxGetFlags, (unsigned* flags)) {
  return answer([&] { *required(flags) = current_context()->flags; });
}
ENTRY(cuCtxSetFlags, (unsigned flags)) {
  return answer([&] {
    require((flags & ~kFlags) == 0);
    current_context()->flags = flags;
  });
}
ENTRY(cuCtxGetId, (DriverContext * context, unsigned long long* id)) {
  return answer(
      [&] {
        const DriverContext* of = context == nullptr ? current_context() : &context_of(context);
        require(of != nullptr, Code::invalid_context);
        *required(id) = of->id;
      },
      Needs::device);
}
ENTRY(cuCtxGetApiVersion, (DriverContext * context, unsigned* version)) {
  return answer(
      [&] {
        constexpr unsigned kVersion = 3020;
        if (context != nullptr)
          context_of(context);
        else
          require(current_context() != nullptr, Code::invalid_context);
        *required(version) = kVersion;
      },
      Needs::device);
}
ENTRY(cuCtxSynchronize, ()) {
  return answer([] {
    forbid_in_capture();
    Context::current().synchronise();
  });
}
ENTRY(cuCtxSynchronize_v2, (DriverContext * context)) {
  return answer([&] {
    if (context != nullptr) context_of(context);
    forbid_in_capture();
    Context::current().synchronise();
  });
}
SAME(cuCtxSetLimit, cudaDeviceSetLimit, (int limit, size_t value), (limit, value))
SAME(cuCtxGetLimit, cudaDeviceGetLimit, (size_t * value, int limit), (value, limit))
SAME(cuCtxGetCacheConfig, cudaDeviceGetCacheConfig, (int* config), (config))
SAME(cuCtxSetCacheConfig, cudaDeviceSetCacheConfig, (int config), (config))
SAME(cuCtxGetSharedMemConfig, cudaDeviceGetSharedMemConfig, (int* config), (config))
SAME(cuCtxSetSharedMemConfig, cudaDeviceSetSharedMemConfig, (int config), (config))
SAME(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, (int* least, int* greatest),
     (least, greatest))
SAME(cuCtxResetPersistingL2Cache, cudaCtxResetPersistingL2Cache, (), ())
SAME(cuFlushGPUDirectRDMAWrites, cudaDeviceFlushGPUDirectRDMAWrites, (int target, int scope),
     (target, scope))
/// What is recorded after all work is after that of a context.
ENTRY(cuCtxRecordEvent, (DriverContext * context, EventHandle event)) {
  return answer([&] {
    if (context != nullptr) context_of(context);
    record(stream_of(nullptr), *Handles<Event>::find(event));
  });
}
ENTRY(cuCtxWaitEvent, (DriverContext * context, EventHandle event)) {
  return answer([&] {
    if (context != nullptr) context_of(context);
    wait(stream_of(nullptr), *Handles<Event>::find(event));
  });
}

ENTRY(cuDevicePrimaryCtxRetain, (DriverContext * *out, int device)) {
  return answer(
      [&] {
        check_device(device);
        *required(out) = &primary_context();
        ++primary_context().retained;
      },
      Needs::device);
}
ENTRY(cuDevicePrimaryCtxRelease_v2, (int device)) {
  return answer([&] { release_primary(device); }, Needs::device);
}
ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
ENTRY(cuDevicePrimaryCtxReset_v2, (int device)) {
  return answer([&] { reset_primary(device); }, Needs::device);
}
ALSO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
ENTRY(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned flags)) {
  return answer(
      [&] {
        check_device(device);
        require((flags & ~kFlags) == 0);
        primary_context().flags = flags;
      },
      Needs::device);
}
ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
ENTRY(cuDevicePrimaryCtxGetState, (int device, unsigned* flags, int* active)) {
  return answer(
      [&] {
        check_device(device);
        *required(flags) = primary_context().flags;
        *required(active) = primary_context().retained > 0 || cuda::used_runtime().load() ? 1 : 0;
      },
      Needs::device);
}
