// Nothing is linked: the library is opened by name, and each function asked for of
// cuGetProcAddress, by base name and version; it is closed before the program ends.
#include <dlfcn.h>

#include "check.hpp"

using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult*);
static GetProcAddress get;

template <typename F>
static F find(const char* name, int version = 12000, cuuint64_t flags = 0) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  CHECK(get(name, &found, version, flags, &status));
  EXPECT(found != nullptr && status == CU_GET_PROC_ADDRESS_SUCCESS);
  return reinterpret_cast<F>(found);
}

int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT(library != nullptr);
  get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  EXPECT(get != nullptr && dlsym(library, "cuNoSuchCall") == nullptr);
  void* nothing = &library;
  CUdriverProcAddressQueryResult status;
  CHECK(get("cuNoSuchCall", &nothing, 12000, 0, &status));
  EXPECT(nothing == nullptr && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  const void* table = nullptr;
  CUuuid id{};
  EXPECT(find<CUresult (*)(const void**, const CUuuid*)>("cuGetExportTable")(&table, &id) ==
         CUDA_ERROR_NOT_SUPPORTED);

  CHECK(find<CUresult (*)(unsigned)>("cuInit")(0));
  CUcontext context;
  CHECK(find<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate", 3020)(&context, 0, 0));
  CUmodule module;
  CUfunction scale;
  CHECK(find<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData")(&module, kernels_ptx));
  CHECK(find<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction")(
      &scale, module, "scale"));
  const int n = 100;
  std::vector<int> data(n, 7);
  CUdeviceptr memory = 0;
  CHECK(find<CUresult (*)(CUdeviceptr*, size_t)>("cuMemAlloc")(&memory, n * sizeof(int)));
  const auto to = find<CUresult (*)(CUdeviceptr, const void*, size_t)>(
      "cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  EXPECT(reinterpret_cast<void*>(to) == dlsym(library, "cuMemcpyHtoD_v2_ptds") ||
         dlsym(library, "cuMemcpyHtoD_v2_ptds") != nullptr);
  CHECK(to(memory, data.data(), n * sizeof(int)));
  int size = n, by = 3;
  void* arguments[] = {&memory, &size, &by};
  CHECK(find<decltype(&cuLaunchKernel)>("cuLaunchKernel")(scale, 2, 1, 1, 64, 1, 1, 0, nullptr,
                                                          arguments, nullptr));
  CHECK(find<CUresult (*)(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH")(data.data(), memory,
                                                                       n * sizeof(int)));
  for (const int value : data) EXPECT(value == 26);
  CHECK(find<CUresult (*)(CUcontext)>("cuCtxDestroy")(context));
  EXPECT(dlclose(library) == 0);
  std::puts("drv_proc_address: ok");
}
