// The device, its properties and limits.
#include <cstring>

#include "runtime/host/core/gpu.hpp"
#include "runtime/host/cuda/entry.hpp"
#include "runtime/host/cuda/properties.hpp"

namespace lanewise::cuda {
namespace {

constexpr int kVersion11 = 11080, kVersion12 = 12080, kVersion13 = 13000;

int set_version(int* out, int version) {
  return answer([&] { *required(out) = version; }, After::works);
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
  return answer([] { Context::current().synchronise(); });
}
ENTRY(cudaThreadSynchronize, ()) {
  return answer([] { Context::current().synchronise(); });
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
