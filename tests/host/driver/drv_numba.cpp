// The calls of a JIT launcher such as numba's, in its order, with its kind of arguments: arrays as
// pointers, shapes and strides one by one.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"

static const char* const kKernel = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry _ZN4main4axpyE5ArrayIdLi1EEd(.param .u64 meminfo, .param .u64 parent, .param .u64 nitems,
    .param .u64 itemsize, .param .u64 data, .param .u64 shape, .param .u64 strides, .param .f64 a)
{
  .reg .b64 %p, %n, %s, %i, %at;
  .reg .b32 %t, %b, %d;
  .reg .f64 %x, %a;
  .reg .pred %q;
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %d, %ntid.x;
  mad.lo.u32 %t, %b, %d, %t;
  cvt.u64.u32 %i, %t;
  ld.param.u64 %n, [shape];
  setp.ge.u64 %q, %i, %n;
  @%q bra done;
  ld.param.u64 %p, [data];
  ld.param.u64 %s, [strides];
  ld.param.f64 %a, [a];
  mad.lo.u64 %at, %i, %s, %p;
  ld.global.f64 %x, [%at];
  fma.rn.f64 %x, %x, %a, 1.0;
  st.global.f64 [%at], %x;
done:
  ret;
}
)";

// It looks for names ending in _v2 first, and calls what it finds with the arguments of the first
// version: the context is what the register happens to hold.
static void call_later_versions() {
  int device = -1, unrelated = 0;
  CUcontext former = nullptr, other = reinterpret_cast<CUcontext>(&unrelated);
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  const auto get_device =
      reinterpret_cast<CUresult (*)(CUdevice*, CUcontext)>(find("cuCtxGetDevice_v2"));
  const auto synchronise = reinterpret_cast<CUresult (*)(CUcontext)>(find("cuCtxSynchronize_v2"));
  EXPECT(get_device != nullptr && synchronise != nullptr);
  CHECK(get_device(&device, other));
  EXPECT(device == 0);
  CHECK(synchronise(other));
  former = make_context();
  CHECK(synchronise(former));
  CHECK(cuCtxDestroy(former));
  EXPECT(get_device(&device, former) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(synchronise(former) == CUDA_ERROR_INVALID_CONTEXT);
}

// A child of fork() has none of the driver's threads: each call of it says so, and it ends.
static void fork_a_child() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    std::exit(cuMemAlloc(&memory, 64) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
  int version = 0, count = 0, value = 0;
  CHECK(cuInit(0));
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGetCount(&count));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext context, popped;
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxPushCurrent(context));
  call_later_versions();
  CUuuid id;
  CHECK(cuDeviceGetUuid(&id, device));
  for (int a = 1; a < 120; ++a)
    CHECK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(a), device));

  char info[1024] = {}, error[1024] = {};
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_LOG_VERBOSE};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info), error,
                    reinterpret_cast<void*>(sizeof error), reinterpret_cast<void*>(1)};
  CUlinkState link;
  CHECK(cuLinkCreate(5, options, values, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kKernel), std::strlen(kKernel),
                      "<cudapy-ptx>", 0, nullptr, nullptr));
  void* cubin = nullptr;
  size_t bytes = 0;
  CHECK(cuLinkComplete(link, &cubin, &bytes));
  EXPECT(bytes > 0);
  CUmodule module;
  CUfunction axpy;
  CHECK(cuModuleLoadDataEx(&module, cubin, 5, options, values));
  CHECK(cuLinkDestroy(link));
  CHECK(cuModuleGetFunction(&axpy, module, "_ZN4main4axpyE5ArrayIdLi1EEd"));
  for (int a = 0; a <= CU_FUNC_ATTRIBUTE_BINARY_VERSION; ++a)
    CHECK(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(a), axpy));
  int grid = 0, block = 0;
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, axpy, nullptr, 0, 1024));
  EXPECT(grid >= 1 && block >= 32 && block % 32 == 0);

  const int n = 1000;
  std::vector<double> data(n, 2.0);
  CUdeviceptr memory;
  CUstream stream;
  CUevent before, after;
  CHECK(cuMemAlloc(&memory, n * sizeof(double)));
  CHECK(cuStreamCreate(&stream, 0));
  CHECK(cuEventCreate(&before, 0));
  CHECK(cuEventCreate(&after, 0));
  void* pinned = nullptr;
  CHECK(cuMemHostAlloc(&pinned, n * sizeof(double), 0));
  std::memcpy(pinned, data.data(), n * sizeof(double));
  CHECK(cuMemcpyHtoDAsync(memory, pinned, n * sizeof(double), stream));
  CHECK(cuEventRecord(before, stream));
  unsigned long long none = 0, items = n, itemsize = sizeof(double), shape = n,
                     stride = sizeof(double);
  double a = 3.0;
  void* arguments[] = {&none, &none, &items, &itemsize, &memory, &shape, &stride, &a};
  CHECK(cuLaunchKernel(axpy, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  CHECK(cuEventRecord(after, stream));
  fork_a_child();
  CHECK(cuMemcpyDtoHAsync(pinned, memory, n * sizeof(double), stream));
  CHECK(cuStreamSynchronize(stream));
  float time = -1;
  CHECK(cuEventElapsedTime(&time, before, after));
  EXPECT(time >= 0);
  for (int i = 0; i < n; ++i) EXPECT(static_cast<double*>(pinned)[i] == 7.0);
  // The host may read what it fills as soon as the call has returned.
  CHECK(cuMemsetD8(reinterpret_cast<CUdeviceptr>(pinned), 0x5a, 64));
  for (int i = 0; i < 64; ++i) EXPECT(static_cast<char*>(pinned)[i] == 0x5a);
  CHECK(cuCtxPopCurrent(&popped));
  EXPECT(popped == context);
  // It frees what is left when contexts are reset: none is current then.
  CHECK(cuMemFreeHost(pinned));
  CHECK(cuMemFree(memory));
  CHECK(cuModuleUnload(module));
  CHECK(cuEventDestroy(before));
  CHECK(cuStreamDestroy(stream));
  EXPECT(cuMemAlloc(&memory, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuDevicePrimaryCtxReset(device));
  CHECK(cuCtxGetCurrent(&popped));
  EXPECT(popped == nullptr);
  CHECK(cuDevicePrimaryCtxRelease(device));
  std::puts("drv_numba: ok");
}
