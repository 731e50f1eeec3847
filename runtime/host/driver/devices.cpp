// Devices and what they have.
#include <algorithm>
#include <cstdio>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/cuda/properties.hpp"
#include "runtime/host/driver/entry.hpp"

namespace lanewise::driver {
namespace {

/// CUdevprop
struct OldProperties {
  int threads, block[3], grid[3], shared, constant, warp, pitch, registers, clock, texture;
};

template <typename Body>
int of_device(int device, const Body& body) {
  return answer(
      [&] {
        check_device(device);
        const OnDevice its(device);
        body();
      },
      Needs::device);
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuDriverGetVersion, (int* version)) {
  return answer(
      [&] {
        constexpr int kVersion = 13000;
        *required(version) = kVersion;
      },
      Needs::nothing);
}
ENTRY(cuDeviceGet, (int* device, int ordinal)) {
  return of_device(ordinal, [&] { *required(device) = ordinal; });
}
ENTRY(cuDeviceGetCount, (int* count)) {
  return answer([&] { *required(count) = device_count(); }, Needs::device);
}
ENTRY(cuDeviceGetName, (char* name, int bytes, int device)) {
  return of_device(device, [&] {
    require(name != nullptr && bytes > 0);
    std::snprintf(name, static_cast<size_t>(bytes), "%s", current_gpu().market_name);
  });
}
ENTRY(cuDeviceGetUuid, (char* uuid, int device)) {
  return of_device(device, [&] {
    const auto head = cuda::property_head();
    std::copy_n(head.uuid, sizeof head.uuid, required(uuid));
  });
}
ALSO(cuDeviceGetUuid_v2, cuDeviceGetUuid);
ENTRY(cuDeviceGetLuid, (char* luid, unsigned* mask, int device)) {
  return of_device(device, [&] {
    const auto head = cuda::property_head();
    std::copy_n(head.luid, sizeof head.luid, required(luid));
    *required(mask) = head.luid_mask;
  });
}
ENTRY(cuDeviceTotalMem_v2, (size_t * bytes, int device)) {
  return of_device(device, [&] { *required(bytes) = current_gpu().memory; });
}
ENTRY(cuDeviceGetAttribute, (int* value, int attribute, int device)) {
  return of_device(device, [&] { *required(value) = cuda::attribute_value(attribute); });
}
ENTRY(cuDeviceComputeCapability, (int* major, int* minor, int device)) {
  return of_device(device, [&] {
    *required(major) = current_gpu().major;
    *required(minor) = current_gpu().minor;
  });
}
ENTRY(cuDeviceGetProperties, (OldProperties * out, int device)) {
  return of_device(device, [&] {
    const auto figure = [](int attribute) { return cuda::attribute_value(attribute); };
    *required(out) = OldProperties{figure(1),
                                   {figure(2), figure(3), figure(4)},
                                   {figure(5), figure(6), figure(7)},
                                   figure(8),
                                   figure(9),
                                   figure(10),
                                   figure(11),
                                   figure(12),
                                   figure(13),
                                   figure(14)};
  });
}
ENTRY(cuDeviceGetExecAffinitySupport, (int* value, int /*type*/, int device)) {
  return of_device(device, [&] { *required(value) = 0; });
}
ENTRY(cuDeviceGetPCIBusId, (char* text, int bytes, int device)) {
  return of_device(device, [&] {
    require(text != nullptr && bytes > 0);
    std::snprintf(text, static_cast<size_t>(bytes), "%s", bus_name(device).c_str());
  });
}
ENTRY(cuDeviceGetByPCIBusId, (int* device, const char* text)) {
  return answer(
      [&] {
        require(device != nullptr && text != nullptr);
        *device = device_at_bus(text);
      },
      Needs::device);
}
extern "C" int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
extern "C" int cudaDeviceDisablePeerAccess(int peer);
SAME_WITHOUT_CONTEXT(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer,
                     (int* can, int device, int peer), (can, device, peer))
SAME_WITHOUT_CONTEXT(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute,
                     (int* value, int attribute, int from, int to), (value, attribute, from, to))
/// A context of the same device is no peer.
ENTRY(cuCtxEnablePeerAccess, (DriverContext * peer, unsigned flags)) {
  const int number = answer(
      [&] { require(required(peer)->device != current_context()->device, Code::invalid_context); });
  return number != 0 ? number
                     : forward([&] { return cudaDeviceEnablePeerAccess(peer->device, flags); });
}
ENTRY(cuCtxDisablePeerAccess, (DriverContext * peer)) {
  const int number = answer(
      [&] { require(required(peer)->device != current_context()->device, Code::invalid_context); });
  return number != 0 ? number : forward([&] { return cudaDeviceDisablePeerAccess(peer->device); });
}
ENTRY(cuProfilerStart, ()) {
  return answer([] {});
}
ENTRY(cuProfilerStop, ()) {
  return answer([] {});
}
