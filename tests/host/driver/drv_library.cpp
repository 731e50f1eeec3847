// Libraries and their kernels, which need no context to be loaded; fat binaries; a file.
#include "check.hpp"

int main() {
  CHECK(cuInit(0));
  CUlibrary library;
  CHECK(cuLibraryLoadData(&library, kernels_fatbin, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel scale;
  unsigned count = 0;
  CHECK(cuLibraryGetKernelCount(&count, library));
  EXPECT(count == 5);
  std::vector<CUkernel> all(count);
  CHECK(cuLibraryEnumerateKernels(all.data(), count, library));
  CHECK(cuLibraryGetKernel(&scale, library, "scale"));
  EXPECT(cuLibraryGetKernel(&scale, library, "no_such") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuLibraryGetKernel(&scale, library, "scale"));
  const char* name = nullptr;
  CHECK(cuKernelGetName(&name, scale));
  EXPECT(std::strcmp(name, "scale") == 0);
  CUlibrary of = nullptr;
  CHECK(cuKernelGetLibrary(&of, scale));
  EXPECT(of == library);
  make_context();
  int threads = 0;
  CHECK(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale, 0));
  EXPECT(threads == 1024);
  CUdeviceptr variable, data;
  size_t bytes = 0;
  CHECK(cuLibraryGetGlobal(&variable, &bytes, library, "offset"));
  EXPECT(bytes == 4);
  int offset = 100, n = 64, by = 1;
  CHECK(cuMemcpyHtoD(variable, &offset, 4));
  CHECK(cuMemAlloc(&data, 256));
  CHECK(cuMemsetD32(data, 1, 64));
  void* arguments[] = {&data, &n, &by};
  launch(reinterpret_cast<CUfunction>(scale), n,
         arguments);  // a kernel is launched as a function is
  CUfunction function;
  CHECK(cuKernelGetFunction(&function, scale));
  launch(function, n, arguments);
  std::vector<int> out(64);
  CHECK(cuMemcpyDtoH(out.data(), data, 256));
  for (const int value : out) EXPECT(value == 201);

  const char* path = std::getenv("TMPDIR");
  char file[512];
  std::snprintf(file, sizeof file, "%s/drv_library.%d.ptx", path != nullptr ? path : "/tmp",
                std::rand());
  std::FILE* to = std::fopen(file, "w");
  EXPECT(to != nullptr && std::fputs(kernels_ptx, to) >= 0 && std::fclose(to) == 0);
  CUmodule module;
  CHECK(cuModuleLoad(&module, file));
  std::remove(file);
  CHECK(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 5);
  EXPECT(cuModuleLoad(&module, file) == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(cuLibraryUnload(library));
  EXPECT(cuLibraryGetKernel(&scale, library, "scale") == CUDA_ERROR_INVALID_HANDLE);
  std::puts("drv_library: ok");
}
