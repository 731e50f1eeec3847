// Contexts, which HIP has for programs that came from CUDA's driver.
#include "runtime/host/hip/entry.hpp"

using namespace lanewise::hip;

extern "C" int cuCtxCreate(void** out, unsigned flags, int device);
ENTRY(hipCtxCreate, (void** out, unsigned flags, int device)) {
  return in_driver([&] { return cuCtxCreate(out, flags, device); });
}
extern "C" int cuCtxDestroy(void* context);
ENTRY(hipCtxDestroy, (void* context)) {
  return in_driver([&] { return cuCtxDestroy(context); });
}
extern "C" int cuCtxPushCurrent(void* context);
ENTRY(hipCtxPushCurrent, (void* context)) {
  return in_driver([&] { return cuCtxPushCurrent(context); });
}
extern "C" int cuCtxPopCurrent(void** out);
ENTRY(hipCtxPopCurrent, (void** out)) {
  return in_driver([&] { return cuCtxPopCurrent(out); });
}
extern "C" int cuCtxSetCurrent(void* context);
ENTRY(hipCtxSetCurrent, (void* context)) {
  return in_driver([&] { return cuCtxSetCurrent(context); });
}
extern "C" int cuCtxGetCurrent(void** out);
ENTRY(hipCtxGetCurrent, (void** out)) {
  return in_driver([&] { return cuCtxGetCurrent(out); });
}
extern "C" int cuCtxGetDevice(int* device);
ENTRY(hipCtxGetDevice, (int* device)) {
  return in_driver([&] { return cuCtxGetDevice(device); });
}
extern "C" int cuCtxGetFlags(unsigned* flags);
ENTRY(hipCtxGetFlags, (unsigned* flags)) {
  return in_driver([&] { return cuCtxGetFlags(flags); });
}
extern "C" int cuCtxGetApiVersion(void* context, unsigned* version);
ENTRY(hipCtxGetApiVersion, (void* context, unsigned* version)) {
  return in_driver([&] { return cuCtxGetApiVersion(context, version); });
}
extern "C" int cuCtxGetCacheConfig(int* config);
ENTRY(hipCtxGetCacheConfig, (int* config)) {
  return in_driver([&] { return cuCtxGetCacheConfig(config); });
}
extern "C" int cuCtxSetCacheConfig(int config);
ENTRY(hipCtxSetCacheConfig, (int config)) {
  return in_driver([&] { return cuCtxSetCacheConfig(config); });
}
extern "C" int cuCtxGetSharedMemConfig(int* config);
ENTRY(hipCtxGetSharedMemConfig, (int* config)) {
  return in_driver([&] { return cuCtxGetSharedMemConfig(config); });
}
extern "C" int cuCtxSetSharedMemConfig(int config);
ENTRY(hipCtxSetSharedMemConfig, (int config)) {
  return in_driver([&] { return cuCtxSetSharedMemConfig(config); });
}
extern "C" int cuCtxSynchronize();
ENTRY(hipCtxSynchronize, ()) {
  return in_driver([&] { return cuCtxSynchronize(); });
}
extern "C" int cuDevicePrimaryCtxRetain(void** out, int device);
ENTRY(hipDevicePrimaryCtxRetain, (void** out, int device)) {
  return in_driver([&] { return cuDevicePrimaryCtxRetain(out, device); });
}
extern "C" int cuDevicePrimaryCtxRelease(int device);
ENTRY(hipDevicePrimaryCtxRelease, (int device)) {
  return in_driver([&] { return cuDevicePrimaryCtxRelease(device); });
}
extern "C" int cuDevicePrimaryCtxReset(int device);
ENTRY(hipDevicePrimaryCtxReset, (int device)) {
  return in_driver([&] { return cuDevicePrimaryCtxReset(device); });
}
extern "C" int cuDevicePrimaryCtxSetFlags(int device, unsigned flags);
ENTRY(hipDevicePrimaryCtxSetFlags, (int device, unsigned flags)) {
  return in_driver([&] { return cuDevicePrimaryCtxSetFlags(device, flags); });
}
extern "C" int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active);
ENTRY(hipDevicePrimaryCtxGetState, (int device, unsigned* flags, int* active)) {
  return in_driver([&] { return cuDevicePrimaryCtxGetState(device, flags, active); });
}
