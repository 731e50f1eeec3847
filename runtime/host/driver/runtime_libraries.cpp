// Of the runtime: code that a program loads itself, and functions of the driver by name.
#include "runtime/host/cuda/functions.hpp"
#include "runtime/host/driver/modules.hpp"

namespace lanewise::cuda {
namespace {

using driver::Module;

std::shared_ptr<Module> library_of(Module* handle) {
  return Handles<Module>::find(handle);
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

ENTRY(cudaLibraryLoadData,
      (Module * *out, const void* code, const int* options, void** values, unsigned count,
       const int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/)) {
  return answer([&] {
    *required(out) = lanewise::driver::load_module(required(code), {count, options, values}, true);
  });
}
ENTRY(cudaLibraryLoadFromFile,
      (Module * *out, const char* path, const int* options, void** values, unsigned count,
       const int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/)) {
  return answer([&] {
    std::vector<std::byte> bytes = lanewise::driver::read_file(path);
    bytes.push_back(std::byte{0});  // behind a text
    *required(out) = lanewise::driver::load_module(bytes.data(), {count, options, values}, true);
  });
}
ENTRY(cudaLibraryUnload, (Module * library)) {
  return answer([&] { lanewise::driver::unload(*library_of(library)); });
}
ENTRY(cudaLibraryGetKernel, (Function * *out, Module* library, const char* name)) {
  return answer(
      [&] { *required(out) = lanewise::driver::function_named(*library_of(library), name); });
}
ENTRY(cudaLibraryGetKernelCount, (unsigned* count, Module* library)) {
  return answer(
      [&] { *required(count) = static_cast<unsigned>(library_of(library)->names.size()); });
}
ENTRY(cudaLibraryEnumerateKernels, (Function * *out, unsigned count, Module* library)) {
  return answer([&] {
    const auto of = library_of(library);
    for (unsigned i = 0; i < count && i < of->names.size(); ++i)
      required(out)[i] = lanewise::driver::function_named(*of, of->names[i].c_str());
  });
}
ENTRY(cudaLibraryGetGlobal,
      (uint64_t * address, size_t* bytes, Module* library, const char* name)) {
  return answer([&] { lanewise::driver::variable(*library_of(library), name, address, bytes); });
}
ENTRY(cudaLibraryGetManaged,
      (uint64_t * address, size_t* bytes, Module* library, const char* name)) {
  return answer([&] { lanewise::driver::managed(*library_of(library), name, address, bytes); });
}
ENTRY(cudaKernelSetAttributeForDevice, (const void* kernel, int attribute, int value, int device)) {
  return answer([&] {
    check_device(device);
    const OnDevice its(device);
    set_attribute(kernel, attribute, value);
  });
}
ENTRY(cudaGetFuncBySymbol, (Function * *out, const void* host)) {
  return answer([&] { *required(out) = &Program::get().function(host); });
}

extern "C" int cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags,
                                   int* status);
ENTRY_PTSZ(cudaGetDriverEntryPointByVersion, (const char* name, void** out, unsigned version,
                                              unsigned long long flags, int* status)) {
  return answer([&] {
    require(cuGetProcAddress_v2(name, out, static_cast<int>(version), flags, status) == 0);
  });
}
ENTRY_PTSZ(cudaGetDriverEntryPoint,
           (const char* name, void** out, unsigned long long flags, int* status)) {
  constexpr unsigned kVersion = 13000;
  return cudaGetDriverEntryPointByVersion(name, out, kVersion, flags, status);
}
ENTRY_OF(12, cudaGetDriverEntryPoint,
         (const char* name, void** out, unsigned long long flags, int* status)) {
  constexpr unsigned kVersion = 12080;
  return cudaGetDriverEntryPointByVersion(name, out, kVersion, flags, status);
}
ENTRY_OF(11, cudaGetDriverEntryPoint, (const char* name, void** out, unsigned long long flags)) {
  constexpr unsigned kVersion = 11080;
  return cudaGetDriverEntryPointByVersion(name, out, kVersion, flags, nullptr);
}
