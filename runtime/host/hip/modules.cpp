// Modules that a program loads itself.
#include "runtime/host/driver/modules.hpp"

#include "runtime/host/driver/launch.hpp"
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {

using driver::Module;

namespace {

void load(Module** out, const void* data) {
  const CodeObject code = code_object_in(required(data));
  *required(out) = driver::load_module(code.data, {0, nullptr, nullptr}, true);
  (*out)->image->asks_host = asks_host(code);
}
std::shared_ptr<Module> module_of(Module* handle) {
  return Handles<Module>::find(handle);
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

ENTRY(hipModuleLoad, (Module * *out, const char* path)) {
  return answer([&] { load(out, lanewise::driver::read_file(path).data()); });
}
ENTRY(hipModuleLoadData, (Module * *out, const void* image)) {
  return answer([&] { load(out, image); });
}
ENTRY(hipModuleLoadDataEx, (Module * *out, const void* image, unsigned /*count*/,
                            const int* /*options*/, void** /*values*/)) {
  return answer([&] { load(out, image); });
}
ENTRY(hipModuleUnload, (Module * module)) {
  return answer([&] { lanewise::driver::unload(*module_of(module)); });
}
ENTRY(hipModuleGetFunction, (Function * *out, Module* module, const char* name)) {
  return answer([&] {
    *required(out) = lanewise::driver::function_named(*module_of(module), name);
    set_limits(**out);
  });
}
ENTRY(hipModuleGetGlobal, (uint64_t * address, size_t* bytes, Module* module, const char* name)) {
  return answer([&] { lanewise::driver::variable(*module_of(module), name, address, bytes); });
}
ENTRY(hipModuleLaunchKernel,
      (Function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
       unsigned block_y, unsigned block_z, unsigned shared, StreamHandle stream, void** arguments,
       void** extra)) {
  return answer([&] {
    constexpr uintptr_t kEnd = 3;
    lanewise::driver::launch(function,
                             {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared},
                             stream, arguments, extra, kEnd);
  });
}
extern "C" int cudaEventRecord(EventHandle event, StreamHandle stream);
/// The grid counts threads, and events stand in front of the kernel and behind it, or are null.
ENTRY(hipExtModuleLaunchKernel,
      (Function * function, unsigned threads_x, unsigned threads_y, unsigned threads_z,
       unsigned block_x, unsigned block_y, unsigned block_z, size_t shared, StreamHandle stream,
       void** arguments, void** extra, EventHandle start, EventHandle stop, unsigned /*flags*/)) {
  int error = answer([&] {
    require(shared <= UINT32_MAX && block_x != 0 && threads_x % block_x == 0 && block_y != 0 &&
            threads_y % block_y == 0 && block_z != 0 && threads_z % block_z == 0);
  });
  if (error == 0 && start != nullptr) error = cudaEventRecord(start, stream);
  if (error == 0)
    error = hipModuleLaunchKernel(function, threads_x / block_x, threads_y / block_y,
                                  threads_z / block_z, block_x, block_y, block_z,
                                  static_cast<unsigned>(shared), stream, arguments, extra);
  return error == 0 && stop != nullptr ? cudaEventRecord(stop, stream) : error;
}
ENTRY(hipHccModuleLaunchKernel,
      (Function * function, unsigned threads_x, unsigned threads_y, unsigned threads_z,
       unsigned block_x, unsigned block_y, unsigned block_z, size_t shared, StreamHandle stream,
       void** arguments, void** extra, EventHandle start, EventHandle stop)) {
  return hipExtModuleLaunchKernel(function, threads_x, threads_y, threads_z, block_x, block_y,
                                  block_z, shared, stream, arguments, extra, start, stop, 0);
}
// The header declares these two as functions of C++.
// NOLINTBEGIN(bugprone-reserved-identifier)
ALSO(
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j,
    hipExtModuleLaunchKernel);
ALSO(_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_,
     hipHccModuleLaunchKernel);
// NOLINTEND(bugprone-reserved-identifier)
