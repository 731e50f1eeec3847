// A stand-in for NVIDIA's driver library, for tests of cuda_truth: the documented entry points that
// it uses, over the reference engine. MOCK_CUDA_REPLACE="add.s32=sub.s32" plants a wrong answer:
// the text of programs is changed so before it runs; MOCK_CUDA_POLICY="mma.accumulate=ampere"
// another rule. MOCK_CUDA_LOST=N: after N launches every call fails, as after a fault on a real
// card; MOCK_CUDA_FAULT="sub.s32": from the first launch of a program whose text has that.
// MOCK_CUDA_NO_DEVICE=1: it starts and has no device. MOCK_CUDA_CACHE: see state.hpp.
// MOCK_CUDA_PTXAS=PROGRAM: NVIDIA's assembler, where it is installed, judges each text as a
// driver's would.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/hardware/mock/state.hpp"

namespace mock {

State& state() {
  static State s;
  return s;
}

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::pair<Buffer, uint64_t>> buffer_at(uint64_t address, uint64_t size) {
  auto it = state().buffers.upper_bound(address);
  if (it == state().buffers.begin()) return {};
  --it;
  const uint64_t offset = address - it->first;
  if (offset + size > it->second.size()) return {};
  return std::pair{it->second, offset};
}

namespace {

std::string planted(std::string text) {
  const std::string how = setting("MOCK_CUDA_REPLACE");
  const size_t split = how.find('=');
  if (split == std::string::npos) return text;
  const std::string from = how.substr(0, split), to = how.substr(split + 1);
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// What the assembler says against a text; empty for nothing.
std::string assembler_refuses(const std::string& text) {
  const std::string program = setting("MOCK_CUDA_PTXAS");
  if (program.empty()) return {};
  const std::string file = std::string("/tmp/mock-cuda-") + std::to_string(::getpid()) + ".ptx";
  std::ofstream(file) << text;
  const std::string command = program + " -arch=sm_90 -o /dev/null " + file + " 2>&1";
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  char bytes[4096];
  while (pipe != nullptr && std::fgets(bytes, sizeof bytes, pipe) != nullptr) output += bytes;
  const bool refused = pipe == nullptr || ::pclose(pipe) != 0;
  std::remove(file.c_str());
  return refused ? output : "";
}

/// NAME=VALUE of MOCK_CUDA_POLICY, as launches take it.
std::map<std::string, std::string> policies() {
  const std::string how = setting("MOCK_CUDA_POLICY");
  const size_t split = how.find('=');
  if (split == std::string::npos) return {};
  return {{how.substr(0, split), how.substr(split + 1)}};
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace
}  // namespace mock

using namespace mock;

extern "C" {

int cuInit(unsigned) {
  return kSuccess;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return kSuccess;
}
int cuGetErrorName(int error, const char** text) {
  *text = error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == kInvalidPtx ? "CUDA_ERROR_INVALID_PTX"
                                 : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = *setting("MOCK_CUDA_NO_DEVICE") != 0 ? 0 : 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return kSuccess;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Mock card (reference engine)", static_cast<size_t>(size));
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 1 : 1 << 16;
  if (attribute == 38 && modelled_l2() != 0) *value = static_cast<int>(modelled_l2());
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{1} << 30;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state();
  return kSuccess;
}
int cuCtxSetCurrent(void*) {
  return kSuccess;
}
int cuCtxSynchronize() {
  return call([] { return kSuccess; });
}

int cuCtxResetPersistingL2Cache() {
  return call([] {
    reset_caches();
    return kSuccess;
  });
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  return call([&] {
    auto loaded = std::make_unique<Loaded>();
    const std::string text = planted(static_cast<const char*>(image));
    const std::string fault = setting("MOCK_CUDA_FAULT");
    loaded->faults = !fault.empty() && text.find(fault) != std::string::npos;
    loaded->text = text;
    try {
      if (const std::string why = assembler_refuses(text); !why.empty())
        throw Error(ErrorKind::guest, why);
      loaded->module = state().device.load_text(text, Isa::ptx, "mock.ptx");
      // The real assembler takes a whole file or nothing of it.
      for (const std::string& name : loaded->module.kernels())
        loaded->kernels[name] = loaded->module.kernel(name);
    } catch (const Error& e) {
      for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5) std::strncpy(static_cast<char*>(values[i]), e.what(), 1000);
      return kInvalidPtx;
    }
    *module = loaded.release();
    return kSuccess;
  });
}
int cuModuleUnload(void* module) {
  std::erase_if(state().symbols, [&](const auto& s) { return s.second.module == module; });
  delete static_cast<Loaded*>(module);
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return call([&] {
    const auto it = static_cast<Loaded*>(module)->kernels.find(name);
    if (it == static_cast<Loaded*>(module)->kernels.end()) return kNotFound;
    Function& f = state().functions[name];
    f = {name, static_cast<Loaded*>(module), it->second, it->second.params()};
    *function = &f;
    return kSuccess;
  });
}
int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* module, const char* name) {
  return call([&] {
    auto* const loaded = static_cast<Loaded*>(module);
    const SymbolInfo info = loaded->module.symbol(name);
    *address = info.address;
    *size = info.size;
    state().symbols[info.address] = {loaded, name, info.size};
    return kSuccess;
  });
}

int cuMemAlloc_v2(uint64_t* address, size_t size) {
  return call([&] {
    Buffer b = state().device.allocate(size);
    *address = b.address();
    state().buffers[b.address()] = b;
    return kSuccess;
  });
}
int cuMemFree_v2(uint64_t address) {
  state().buffers.erase(address);
  return kSuccess;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t size) {
  return call([&] {
    const std::span bytes(static_cast<const std::byte*>(from), size);
    if (auto at = buffer_at(to, size)) {
      at->first.write(bytes, at->second);
      return kSuccess;
    }
    const auto symbol = state().symbols.find(to);
    if (symbol == state().symbols.end()) return kInvalidValue;
    symbol->second.module->module.write_symbol(symbol->second.name, bytes);
    symbol->second.bytes.assign(bytes.begin(), bytes.end());
    return kSuccess;
  });
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t size) {
  return call([&] {
    const auto at = buffer_at(from, size);
    if (!at) return kInvalidValue;
    at->first.read(std::span(static_cast<std::byte*>(to), size), at->second);
    return kSuccess;
  });
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t size) {
  return call([&] {
    auto target = buffer_at(to, size);
    const auto source = buffer_at(from, size);
    if (!target || !source) return kInvalidValue;
    std::vector<std::byte> bytes(size);
    source->first.read(bytes, source->second);
    target->first.write(bytes, target->second);
    return kSuccess;
  });
}

int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void*, void** arguments, void**) {
  return call([&] {
    const std::string lost = setting("MOCK_CUDA_LOST");
    const Function& f = *static_cast<Function*>(function);
    if (f.module->faults || (!lost.empty() && state().launches >= std::atol(lost.c_str()))) {
      state().lost = true;
      return kLaunchFailed;
    }
    ++state().launches;
    if (run_timed(f, gx * gy * gz, arguments)) return kSuccess;
    std::vector<Arg> args;
    for (size_t i = 0; i < f.params.size(); ++i)
      args.push_back(
          Arg::raw(std::span(static_cast<const std::byte*>(arguments[i]), f.params[i].size)));
    LaunchOptions options{.grid = {gx, gy, gz}, .block = {bx, by, bz}};
    options.dynamic_shared = shared;
    options.memcheck = Memcheck::arena;
    options.policies = policies();
    f.kernel.launch(options, args).check();
    return kSuccess;
  });
}

int cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return kSuccess;
}
int cuEventRecord(void* event, void*) {
  *static_cast<double*>(event) = now_ms();
  return kSuccess;
}
int cuEventSynchronize(void*) {
  return kSuccess;
}
int cuEventElapsedTime(float* ms, void* from, void* to) {
  *ms = static_cast<float>(*static_cast<double*>(to) - *static_cast<double*>(from));
  return kSuccess;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<double*>(event);
  return kSuccess;
}

}  // extern "C"
