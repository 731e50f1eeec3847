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
    (*out)->max_dynamic_shared = kSharedBytes;
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
