// Compiles CUDA C++ when it runs, by whatever NVRTC is installed, to PTX and to machine code.
#include <dlfcn.h>

#include <string>

#include "check.h"

namespace {
const char* const source = R"(
template <int N> __global__ void power(int* values) {
  int of = values[threadIdx.x], product = 1;
  for (int i = 0; i < N; ++i) product *= of;
  values[threadIdx.x] = product;
})";
void* library;
template <typename F>
F* function(const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}
typedef void* Program;
std::string compiled(const std::string& target, const char* size_of, const char* bytes_of, std::string& name) {
  Program program = nullptr;
  function<int(Program*, const char*, const char*, int, const char**, const char**)>("nvrtcCreateProgram")(
      &program, source, "power.cu", 0, nullptr, nullptr);
  function<int(Program, const char*)>("nvrtcAddNameExpression")(program, "power<5>");
  const std::string option = "--gpu-architecture=" + target;
  const char* const options[] = {option.c_str(), "--std=c++14"};
  expect("compiled", function<int(Program, int, const char* const*)>("nvrtcCompileProgram")(program, 2, options), 0);
  const char* lowered = "";
  function<int(Program, const char*, const char**)>("nvrtcGetLoweredName")(program, "power<5>", &lowered);
  name = lowered;
  size_t size = 0;
  function<int(Program, size_t*)>(size_of)(program, &size);
  std::string out(size, '\0');
  function<int(Program, char*)>(bytes_of)(program, &out[0]);
  function<int(Program*)>("nvrtcDestroyProgram")(&program);
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc && library == nullptr; ++i) library = dlopen(argv[i], RTLD_NOW);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    std::puts("no NVRTC is installed");
    return done("jit");
  }
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto load = reinterpret_cast<int (*)(void**, const void*)>(dlsym(driver, "cuModuleLoadData"));
  const auto find = reinterpret_cast<int (*)(void**, void*, const char*)>(dlsym(driver, "cuModuleGetFunction"));
  const auto launch = reinterpret_cast<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                               unsigned, void*, void**, void**)>(dlsym(driver, "cuLaunchKernel"));
  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  const std::string number = std::to_string(10 * p.major + p.minor);
  int* values;
  MUST(cudaMallocManaged(&values, 64 * sizeof(int)));
  for (const bool machine_code : {false, true}) {
    std::string name;
    const std::string image = machine_code ? compiled("sm_" + number, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", name)
                                           : compiled("compute_" + number, "nvrtcGetPTXSize", "nvrtcGetPTX", name);
    void *module = nullptr, *kernel = nullptr;
    expect("loaded", load(&module, image.data()), 0);
    expect("found", find(&kernel, module, name.c_str()), 0);
    for (int i = 0; i < 64; ++i) values[i] = i - 30;
    void* arguments[] = {&values};
    expect("launched", launch(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), 0);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) expect("power", values[i], (i - 30) * (i - 30) * (i - 30) * (i - 30) * (i - 30));
  }
  return done("jit");
}
