// cuInit, and contexts: a stack of them in each thread, and each device's primary one, which is the
// runtime's.
#include "runtime/host/driver/contexts.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/host/core/graph.hpp"
#include "runtime/host/driver/entry.hpp"
#include "runtime/host/driver/modules.hpp"

namespace lanewise::driver {
namespace {

std::atomic<bool> initialised = false;

using Stack = std::vector<DriverContext*>;
/// The calling thread's. The runtime makes a primary context current where none is, and that of the
/// device that is chosen there.
Stack& stack() {
  thread_local auto* const contexts = new Stack;  // destructors of the program may call
  if (contexts->empty() && std::exchange(cuda::thread_used_runtime(), false))
    contexts->push_back(&primary_context(current_device()));
  if (!contexts->empty() && contexts->back()->device != current_device())
    contexts->back() = &primary_context(current_device());
  return *contexts;
}
/// The runtime's calls are of the current context's device.
void follow(const Stack& contexts) {
  if (!contexts.empty()) set_current_device(contexts.back()->device);
}
void push(DriverContext* context) {
  Stack& contexts = stack();
  contexts.push_back(context);
  follow(contexts);
}
DriverContext* pop() {
  Stack& contexts = stack();
  require(!contexts.empty(), Code::invalid_context);
  DriverContext* const last = contexts.back();
  contexts.pop_back();
  follow(contexts);
  return last;
}

uint64_t next_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

DriverContext& context_of(DriverContext* handle) {
  for (int device = 0; device < device_count(); ++device)
    if (handle == &primary_context(device)) return *handle;
  return *Handles<DriverContext>::find(handle, Code::invalid_context);
}

/// Of all contexts that were made, destroyed ones too.
struct Made {
  std::mutex lock;
  std::set<const void*> handles;
};
Made& made_contexts() {
  static auto* const all = new Made;
  return *all;
}

/// The current context stands for none, and for what never was one: bindings that look for names
/// ending in _v2 first, as numba's, find functions of CUDA 13 and call them with the arguments of
/// the older ones, so that the handle is whatever the register held.
const DriverContext& context_or_current(DriverContext* handle) {
  const auto was_made = [&] {
    Made& made = made_contexts();
    const std::scoped_lock lock(made.lock);
    return made.handles.contains(handle);
  };
  for (int device = 0; device < device_count(); ++device)
    if (handle == &primary_context(device)) return *handle;
  if (was_made()) return *Handles<DriverContext>::find(handle, Code::invalid_context);
  const DriverContext* current = current_context();
  require(current != nullptr, Code::invalid_context);
  return *current;
}

constexpr unsigned kFlags = 0xff;

void create(DriverContext** out, unsigned flags, int device) {
  required(out);
  check_device(device);
  require((flags & ~kFlags) == 0);
  auto made = std::make_shared<DriverContext>();
  made->device = device;
  made->flags = flags;
  made->id = next_id();
  {
    const std::scoped_lock lock(made_contexts().lock);
    made_contexts().handles.insert(made.get());
  }
  *out = Handles<DriverContext>::add(std::move(made));
  push(*out);
}

/// Its memory and modules are given back, and what its kernels did is forgotten.
void give_back(DriverContext& context) {
  const OnDevice its(context.device);
  while (!context.modules.empty()) unload(*context.modules.back());
  if (Context* device = Context::opened()) device->reset(context.owner());
}

void destroy(DriverContext* handle) {
  const auto context = Handles<DriverContext>::find(handle, Code::invalid_context);
  give_back(*context);
  if (const Stack& all = stack(); !all.empty() && all.back() == handle) pop();
  Handles<DriverContext>::take(handle);
}

/// By the runtime, which uses the first device where none is chosen.
bool is_used(int device) {
  return cuda::used_runtime() && (device == 0 || device == current_device());
}

void release_primary(int device) {
  check_device(device);
  DriverContext& primary = primary_context(device);
  require(primary.retained > 0, Code::invalid_context);
  if (--primary.retained == 0 && !is_used(device)) give_back(primary);
}

extern "C" int cudaDeviceReset();
void reset_primary(int device) {
  check_device(device);
  const OnDevice its(device);
  DriverContext& primary = primary_context(device);
  while (!primary.modules.empty()) unload(*primary.modules.back());
  const KeepsLastError keeps;
  cudaDeviceReset();
}

}  // namespace

bool is_initialised() {
  return initialised || cuda::used_runtime();
}

DriverContext& primary_context(int device) {
  static auto* const of_all = [] {
    auto* made = new std::array<DriverContext, kMostDevices>;
    for (int next = 0; DriverContext & primary : *made) {
      primary.device = next++;
      primary.primary = true;
      primary.id = next_id();
    }
    return made;
  }();
  return of_all->at(static_cast<size_t>(device));
}

DriverContext* current_context() {
  const Stack& contexts = stack();
  return contexts.empty() ? nullptr : contexts.back();
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
  return answer([&] { push(&context_of(context)); }, Needs::device);
}
ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2);
ENTRY(cuCtxPopCurrent_v2, (DriverContext * *out)) {
  return answer(
      [&] {
        DriverContext* const last = pop();
        if (out != nullptr) *out = last;
      },
      Needs::device);
}
ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2);
ENTRY(cuCtxSetCurrent, (DriverContext * context)) {
  return answer(
      [&] {
        DriverContext* const next = context == nullptr ? nullptr : &context_of(context);
        if (!stack().empty()) pop();
        if (next != nullptr) push(next);
      },
      Needs::device);
}
ENTRY(cuCtxGetCurrent, (DriverContext * *out)) {
  return answer([&] { *required(out) = current_context(); }, Needs::device);
}
ENTRY(cuCtxGetDevice, (int* device)) {
  return answer([&] { *required(device) = current_context()->device; });
}
ENTRY(cuCtxGetDevice_v2, (int* device, DriverContext* context)) {
  return answer([&] { *required(device) = context_or_current(context).device; }, Needs::device);
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
    Context::current().synchronise_device();
  });
}
ENTRY(cuCtxSynchronize_v2, (DriverContext * context)) {
  return answer([&] {
    const OnDevice its(context_or_current(context).device);
    forbid_in_capture();
    Context::current().synchronise_device();
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
    const OnDevice its((context != nullptr ? context_of(context) : *current_context()).device);
    record(stream_of(nullptr), *Handles<Event>::find(event));
  });
}
ENTRY(cuCtxWaitEvent, (DriverContext * context, EventHandle event)) {
  return answer([&] {
    const OnDevice its((context != nullptr ? context_of(context) : *current_context()).device);
    wait(stream_of(nullptr), *Handles<Event>::find(event));
  });
}

ENTRY(cuDevicePrimaryCtxRetain, (DriverContext * *out, int device)) {
  return answer(
      [&] {
        check_device(device);
        *required(out) = &primary_context(device);
        ++primary_context(device).retained;
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
        primary_context(device).flags = flags;
      },
      Needs::device);
}
ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
ENTRY(cuDevicePrimaryCtxGetState, (int device, unsigned* flags, int* active)) {
  return answer(
      [&] {
        check_device(device);
        *required(flags) = primary_context(device).flags;
        *required(active) = primary_context(device).retained > 0 || is_used(device) ? 1 : 0;
      },
      Needs::device);
}
