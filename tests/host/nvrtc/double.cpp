// In place of NVRTC for jit.cu: whatever it is asked to compile, it has the PTX of its kernel, and
// machine code that nothing can load.
#include <dlfcn.h>

#include <cstring>

namespace {
const char kPtx[] = R"(.version 6.4
.target sm_75
.address_size 64
.visible .entry power5(.param .u64 values) {
  .reg .u64 %d<4>;
  .reg .s32 %r<5>;
  ld.param.u64 %d1, [values];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  ld.s32 %r2, [%d3];
  mul.lo.s32 %r3, %r2, %r2;
  mul.lo.s32 %r4, %r3, %r3;
  mul.lo.s32 %r4, %r4, %r2;
  st.s32 [%d3], %r4;
  ret;
})";
const char kMachineCode[] = "\177ELF, and nothing of use";
}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default"), noinline)) int
ENTRY nvrtcCreateProgram(void** program, const char*, const char*, int, const char**,
                         const char**) {
  *program = program;
  return 0;
}
ENTRY nvrtcAddNameExpression(void*, const char*) {
  return 0;
}
/// Looks for a table of the driver, as NVRTC does, and goes on without it.
ENTRY nvrtcCompileProgram(void*, int, const char* const*) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto tables = reinterpret_cast<int (*)(const void**, const void*)>(
      driver != nullptr ? dlsym(driver, "cuGetExportTable") : nullptr);
  const void* table = nullptr;
  return tables != nullptr && tables(&table, kPtx) == 0 ? 1 : 0;
}
ENTRY nvrtcGetLoweredName(void*, const char*, const char** name) {
  *name = "power5";
  return 0;
}
ENTRY nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return 0;
}
ENTRY nvrtcGetPTXSize(void*, size_t* size) {
  *size = sizeof kPtx;
  return 0;
}
ENTRY nvrtcGetPTX(void*, char* out) {
  std::memcpy(out, kPtx, sizeof kPtx);
  return 0;
}
ENTRY nvrtcGetCUBINSize(void*, size_t* size) {
  *size = sizeof kMachineCode;
  return 0;
}
ENTRY nvrtcGetCUBIN(void*, char* out) {
  std::memcpy(out, kMachineCode, sizeof kMachineCode);
  return 0;
}
