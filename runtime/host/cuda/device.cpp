// Devices, their properties and limits.
#include <array>
#include <cstdio>

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
/// What a program sets for a device.
struct Configuration {
  unsigned flags = 0;
  int cache = 0, shared = 0;
  size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
};
std::array<Configuration, kMostDevices> configurations;
Configuration& configuration() {
  return configurations[static_cast<size_t>(current_device())];
}

constexpr int kStackSize = 0, kHeapSize = 2;
size_t& limit_of(int limit) {
  auto& values = configuration().limits;
  require(limit >= 0 && static_cast<size_t>(limit) < std::size(values));
  return values[limit];
}

/// Throws for what is no peer of the current device.
unsigned peer_bit(int peer) {
  check_device(peer);
  require(peer != current_device(), Code::invalid_device);
  return 1U << static_cast<unsigned>(peer);
}

template <typename Properties>
int properties(Properties* out, int device) {
  return answer([&] {
    required(out);
    check_device(device);
    const OnDevice its(device);
    fill_properties(*out);
  });
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaGetDeviceCount, (int* count)) {
  return answer([&] {
    *required(count) = 0;
    *count = device_count();
  });
}
ENTRY(cudaGetDevice, (int* device)) {
  return answer([&] { *required(device) = current_device(); });
}
/// What failed on the thread's last device is not the next one's.
ENTRY(cudaSetDevice, (int device)) {
  return answer(
      [&] {
        check_device(device);
        set_current_device(device);
        const Code failure = Context::current().failure();
        require(failure == Code::success, failure);
      },
      After::works);
}
ENTRY(cudaInitDevice, (int device, unsigned /*device_flags*/, unsigned /*flags*/)) {
  return answer([&] { check_device(device); });
}
ENTRY(cudaDeviceSynchronize, ()) {
  return answer([] {
    forbid_in_capture();
    Context::current().synchronise_device();
  });
}
ENTRY(cudaThreadSynchronize, ()) {
  return answer([] {
    forbid_in_capture();
    Context::current().synchronise_device();
  });
}
ENTRY(cudaDeviceReset, ()) {
  return answer(
      [] {
        if (Context::opened() == nullptr) return;
        Context::current().reset();
        Program::get().unload();
        configuration() = {};
        Context::current().peers() = 0;
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
    const OnDevice its(device);
    *value = attribute_value(attribute);
  });
}
ENTRY(cudaSetDeviceFlags, (unsigned flags)) {
  return answer([&] {
    constexpr unsigned kMask = 0x1f;
    require((flags & ~kMask) == 0);
    configuration().flags = flags;
  });
}
ENTRY(cudaGetDeviceFlags, (unsigned* flags)) {
  return answer([&] { *required(flags) = configuration().flags; });
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
    std::snprintf(text, static_cast<size_t>(bytes), "%s", bus_name(device).c_str());
  });
}
ENTRY(cudaDeviceGetByPCIBusId, (int* device, const char* text)) {
  return answer([&] {
    require(device != nullptr && text != nullptr);
    *device = device_at_bus(text);
  });
}
ENTRY(cudaDeviceCanAccessPeer, (int* can, int device, int peer)) {
  return answer([&] {
    check_device(device);
    check_device(peer);
    *required(can) = device != peer ? 1 : 0;
  });
}
ENTRY(cudaDeviceEnablePeerAccess, (int peer, unsigned flags)) {
  return answer([&] {
    const unsigned bit = peer_bit(peer);
    require(flags == 0);
    require((Context::current().peers() & bit) == 0, Code::peer_enabled);
    Context::current().peers() |= bit;
  });
}
ENTRY(cudaDeviceDisablePeerAccess, (int peer)) {
  return answer([&] {
    const unsigned bit = peer_bit(peer);
    require((Context::current().peers() & bit) != 0, Code::peer_not_enabled);
    Context::current().peers() &= ~bit;
  });
}
/// Rank of its speed, access, atomics, arrays.
ENTRY(cudaDeviceGetP2PAttribute, (int* value, int attribute, int from, int to)) {
  return answer([&] {
    *required(value) = 0;
    check_device(from);
    check_device(to);
    require(from != to, Code::invalid_device);
    constexpr int kRank = 1, kLast = 4;
    require(attribute >= kRank && attribute <= kLast);
    *value = attribute == kRank ? 0 : 1;
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
  return answer([&] { *required(config) = configuration().cache; });
}
ENTRY(cudaDeviceSetCacheConfig, (int config)) {
  return answer([&] {
    require(config >= 0 && config <= 3);
    configuration().cache = config;
  });
}
ALSO(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig);
ALSO(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig);
ENTRY(cudaDeviceGetSharedMemConfig, (int* config)) {
  return answer([&] { *required(config) = configuration().shared; });
}
ENTRY(cudaDeviceSetSharedMemConfig, (int config)) {
  return answer([&] {
    require(config >= 0 && config <= 2);
    configuration().shared = config;
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
