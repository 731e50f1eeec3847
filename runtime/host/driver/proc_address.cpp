// Entry points by name, as a program of some version of CUDA means it.
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/host/core/failure.hpp"
#include "runtime/host/cuda/entry.hpp"

// Without their parameters: only addresses are taken.
#define NAME(name) extern "C" int name();
#define cuGetProcAddress lanewise_other_declaration
#define cuGetProcAddress_v2 lanewise_other_declaration2
#include "cuda_names.def"
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef NAME
LANEWISE_ENTRY int cuGetProcAddress(const char* name, void** out, int version, uint64_t flags);
LANEWISE_ENTRY int cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags,
                                       int* status);

namespace lanewise::driver {
namespace {

struct Named {
  std::string_view name;
  void* function;
};
const Named kNames[] = {
#define NAME(name) {#name, reinterpret_cast<void*>(&name)},
#include "cuda_names.def"
#undef NAME
};

struct Version {
  std::string_view name;
  int since;
  std::string_view function;
};
constexpr Version kVersions[] = {
#define VERSION(name, since, function) {#name, since, #function},
#include "runtime/host/driver/versions.def"
#undef VERSION
};

void* function_named(std::string_view name) {
  for (const Named& row : kNames)
    if (row.name == name) return row.function;
  return nullptr;
}

/// Rows of one name stand in the order of versions.
std::string meant(std::string_view name, int version) {
  std::string_view found = name;
  for (const Version& row : kVersions)
    if (row.name == name && version >= row.since) found = row.function;
  return std::string(found);
}

}  // namespace
}  // namespace lanewise::driver

using namespace lanewise::driver;

int cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, int* status) {
  constexpr int kInvalidValue = 1;
  constexpr int kFound = 0, kUnknown = 1;
  constexpr uint64_t kPerThread = 2, kLast = 3;
  if (name == nullptr || out == nullptr || flags > kLast) return kInvalidValue;
  const std::string function = meant(name, version);
  *out = nullptr;
  if ((flags & kPerThread) != 0)
    for (const char* suffix : {"_ptsz", "_ptds"})
      if (*out == nullptr) *out = function_named(function + suffix);
  if (*out == nullptr) *out = function_named(function);
  if (status != nullptr) *status = *out != nullptr ? kFound : kUnknown;
  return 0;
}
int cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
