// PTX texts that name each other's functions and variables become one module.
#include "check.hpp"

static const char* const kMain = R"(.version 6.4
.target sm_50
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 calls;
.visible .entry run(.param .u64 out, .param .u32 x)
{
  .reg .b64 %p;
  .reg .b32 %v, %old;
  .param .b32 a;
  .param .b32 r;
  ld.param.u64 %p, [out];
  ld.param.u32 %v, [x];
  st.param.b32 [a], %v;
  call (r), twice, (a);
  ld.param.b32 %v, [r];
  st.global.u32 [%p], %v;
  ld.global.u32 %old, [calls];
  st.global.u32 [%p+4], %old;
  ret;
}
)";
static const char* const kPart = R"(.version 6.4
.target sm_50
.address_size 64
.visible .global .align 4 .u32 calls = 40;
.visible .func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %v, %old;
  atom.global.add.u32 %old, [calls], 2;
  ld.param.b32 %v, [x];
  add.u32 %v, %v, %v;
  st.param.b32 [r], %v;
  ret;
}
)";

int main() {
  make_context();
  char errors[512] = "unset", notes[512] = "unset";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors), notes,
                    reinterpret_cast<void*>(sizeof notes)};
  CUlinkState state;
  CHECK(cuLinkCreate(4, options, values, &state));
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kMain), std::strlen(kMain) + 1,
                      "main", 0, nullptr, nullptr));
  void* image = nullptr;
  size_t bytes = 0;
  EXPECT(cuLinkComplete(state, &image, &bytes) != CUDA_SUCCESS);  // nobody defines twice
  EXPECT(std::strstr(errors, "twice") != nullptr || std::strstr(errors, "calls") != nullptr);
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kPart), std::strlen(kPart) + 1,
                      "part", 0, nullptr, nullptr));
  CHECK(cuLinkComplete(state, &image, &bytes));
  std::vector<char> copy(static_cast<char*>(image), static_cast<char*>(image) + bytes);
  CHECK(cuLinkDestroy(state));
  CUmodule module;
  CUfunction run;
  CHECK(cuModuleLoadData(&module, copy.data()));  // what numba does: its own copy of the image
  CHECK(cuModuleGetFunction(&run, module, "run"));
  CUdeviceptr out;
  CHECK(cuMemAlloc(&out, 8));
  int x = 21, result[2] = {};
  void* arguments[] = {&out, &x};
  CHECK(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(result, out, sizeof result));
  EXPECT(result[0] == 42 && result[1] == 42);
  std::puts("drv_link: ok");
}
