// The device, its properties and limits.
#include <cstdio>
#include <cstring>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/core/graph.hpp"
#include "runtime/host/cuda/entry.hpp"
#include "runtime/host/cuda/properties.hpp"

namespace lanewise::cuda {
namespace {

constexpr int kVersion11 = 11080, kVersion12 = 12080, kVersion13 = 13000;

int set_version(int* out, int version) {
  return answer([&] { *required(out) = version; }, After::works);
}
unsigned device_flags = 0;
int cache_config = 0, shared_config = 0;

constexpr int kStackSize = 0, kHeapSize = 2;
size_t& limit_of(int limit) {
  constexpr int kCount = 7;
  static size_t values[kCount] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
  require(limit >= 0 && limit < kCount);
  return values[limit];
}

void check_device(int device) {
  Context::current();
  require(device == 0, Code::invalid_device);
}
template <typename Properties>
int properties(Properties* out, int device) {
  return answer([&] {
    required(out);
    check_device(device);
    fill_properties(*out);
  });
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaGetDeviceCount, (int* count)) {
  return answer([&] {
    *required(count) = 0;
    Context::current();
    *count = 1;
  });
}
ENTRY(cudaGetDevice, (int* device)) {
  return answer([&] { *required(device) = 0; });
}
ENTRY(cudaSetDevice, (int device)) {
  return answer([&] { check_device(device); });
}
ENTRY(cudaInitDevice, (int device, unsigned /*device_flags*/, unsigned /*flags*/)) {
  return answer([&] { check_device(device); });
}
ENTRY(cudaDeviceSynchronize, ()) {
  return answer([] {
    forbid_in_capture();
    Context::current().synchronise();
  });
}
ENTRY(cudaThreadSynchronize, ()) {
  return answer([] {
    forbid_in_capture();
    Context::current().synchronise();
  });
}
ENTRY(cudaDeviceReset, ()) {
  return answer(
      [] {
        if (Context::opened() == nullptr) return;
        Context::current().reset();
        Program::get().unload();
      },
      After::works);
}
ALSO(cudaThreadExit, cudaDeviceReset);

ENTRY(cudaRuntimeGetVersion, (int* version)) {
  return set_version(version, kVersion13);
}
ENTRY_OF(12, cudaRuntimeGetVersion, (int* version)) {
  return set_version(version, kVersion12);
}
ENTRY_OF(11, cudaRuntimeGetVersion, (int* version)) {
  return set_version(version, kVersion11);
}
ENTRY(cudaDriverGetVersion, (int* version)) {
  return set_version(version, kVersion13);
}
ENTRY_OF(12, cudaDriverGetVersion, (int* version)) {
  return set_version(version, kVersion12);
}
ENTRY_OF(11, cudaDriverGetVersion, (int* version)) {
  return set_version(version, kVersion11);
}

ENTRY(cudaGetDeviceProperties, (Properties13 * out, int device)) {
  return properties(out, device);
}
ENTRY(cudaGetDeviceProperties_v2, (Properties12 * out, int device)) {
  return properties(out, device);
}
ENTRY_OF(12, cudaGetDeviceProperties, (Properties11 * out, int device)) {
  return properties(out, device);
}
ENTRY_OF(11, cudaGetDeviceProperties, (Properties11 * out, int device)) {
  return properties(out, device);
}
ENTRY(cudaDeviceGetAttribute, (int* value, int attribute, int device)) {
  return answer([&] {
    required(value);
    check_device(device);
    *value = attribute_value(attribute);
  });
}
ENTRY(cudaSetDeviceFlags, (unsigned flags)) {
  return answer([&] {
    constexpr unsigned kMask = 0x1f;
    require((flags & ~kMask) == 0);
    device_flags = flags;
  });
}
ENTRY(cudaGetDeviceFlags, (unsigned* flags)) {
  return answer([&] { *required(flags) = device_flags; });
}
ENTRY(cudaSetValidDevices, (const int* devices, int count)) {
  return answer([&] {
    for (int i = 0; i < count; ++i) check_device(required(devices)[i]);
  });
}
ENTRY(cudaChooseDevice, (int* device, const void* properties)) {
  return answer([&] {
    required(properties);
    *required(device) = 0;
  });
}
ENTRY(cudaDeviceGetPCIBusId, (char* text, int bytes, int device)) {
  return answer([&] {
    check_device(device);
    require(text != nullptr && bytes > 0);
    std::snprintf(text, static_cast<size_t>(bytes), "%s", kBusId);
  });
}
ENTRY(cudaDeviceGetByPCIBusId, (int* device, const char* text)) {
  return answer([&] {
    require(device != nullptr && text != nullptr);
    require(std::strncmp(text, kBusId, std::strlen(kBusId) - 2) == 0, Code::invalid_device);
    *device = 0;
  });
}
ENTRY(cudaDeviceCanAccessPeer, (int* can, int device, int peer)) {
  return answer([&] {
    check_device(device);
    check_device(peer);
    *required(can) = 0;
  });
}
ENTRY(cudaDeviceEnablePeerAccess, (int /*peer*/, unsigned /*flags*/)) {
  return answer([] { fail(Code::invalid_device); });
}
ENTRY(cudaDeviceDisablePeerAccess, (int /*peer*/)) {
  return answer([] { fail(Code::invalid_device); });
}
ENTRY(cudaDeviceGetP2PAttribute, (int* value, int /*attribute*/, int from, int to)) {
  return answer([&] {
    *required(value) = 0;
    check_device(from);
    check_device(to);
    fail(Code::invalid_device);  // a device is no peer of itself
  });
}
ENTRY(cudaDeviceGetLimit, (size_t * value, int limit)) {
  return answer([&] { *required(value) = limit_of(limit); });
}
ENTRY(cudaDeviceSetLimit, (int limit, size_t value)) {
  return answer([&] {
    Context& context = Context::current();
    size_t& now = limit_of(limit);
    require(limit != kHeapSize || value == now || !context.has_heap());
    now = value;
    if (limit == kStackSize) context.set_policy("stack", value);
    if (limit == kHeapSize) context.set_policy("heap", value);
  });
}
ALSO(cudaThreadGetLimit, cudaDeviceGetLimit);
ALSO(cudaThreadSetLimit, cudaDeviceSetLimit);
ENTRY(cudaDeviceGetCacheConfig, (int* config)) {
  return answer([&] { *required(config) = cache_config; });
}
ENTRY(cudaDeviceSetCacheConfig, (int config)) {
  return answer([&] {
    require(config >= 0 && config <= 3);
    cache_config = config;
  });
}
ALSO(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig);
ALSO(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig);
ENTRY(cudaDeviceGetSharedMemConfig, (int* config)) {
  return answer([&] { *required(config) = shared_config; });
}
ENTRY(cudaDeviceSetSharedMemConfig, (int config)) {
  return answer([&] {
    require(config >= 0 && config <= 2);
    shared_config = config;
  });
}
ENTRY(cudaDeviceFlushGPUDirectRDMAWrites, (int /*target*/, int /*scope*/)) {
  return answer([] { Context::current(); });
}
ENTRY(cudaProfilerStart, ()) {
  return answer([] {});
}
ENTRY(cudaProfilerStop, ()) {
  return answer([] {});
}
