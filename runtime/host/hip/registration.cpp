// What clang's code calls before main, and launches.
#include "runtime/host/hip/entry.hpp"

namespace lanewise::hip {
namespace {

constexpr uint32_t kWrapperMagic = 0x48495046;  // "HIPF"

/// What a handle of __hipRegisterFatBinary points to.
struct Registered {
  std::shared_ptr<Image> image;
};
std::shared_ptr<Image> image_of(void** handle) {
  return reinterpret_cast<Registered*>(handle)->image;
}

}  // namespace
}  // namespace lanewise::hip

using namespace lanewise::hip;

// Names of the ABI.
// NOLINTBEGIN(bugprone-reserved-identifier)
LANEWISE_ENTRY void** __hipRegisterFatBinary(const lanewise::cuda::FatBinaryWrapper* wrapper) {
  auto* made = new Registered;
  CodeObject code;
  if (wrapper->magic == kWrapperMagic)
    answer([&] { code = code_object_in(wrapper->data); }, After::works);
  made->image = Program::get().add_image(code.data, code.bytes);
  made->image->asks_host = asks_host(code);
  return reinterpret_cast<void**>(made);
}
/// Called when the program ends, when other destructors may still use its code.
LANEWISE_ENTRY void __hipUnregisterFatBinary(void** /*handle*/) {}
LANEWISE_ENTRY void __hipRegisterFunction(void** handle, const void* host, char* /*device*/,
                                          const char* name, unsigned /*threads*/, void* /*tid*/,
                                          void* /*bid*/, Dim* /*block*/, Dim* /*grid*/,
                                          int* /*wave*/) {
  set_limits(*Program::get().add_function(image_of(handle), host, name));
}
LANEWISE_ENTRY void __hipRegisterVar(void** handle, void* host, char* /*device*/, const char* name,
                                     int /*external*/, size_t bytes, int constant, int /*global*/) {
  Program::get().add_variable(host, {image_of(handle), name, bytes, constant != 0});
}
LANEWISE_ENTRY void __hipRegisterManagedVar(void* handle, void** pointer, void* /*initial*/,
                                            const char* name, size_t bytes, unsigned /*align*/) {
  Variable variable{image_of(static_cast<void**>(handle)), name, bytes, false};
  variable.managed = pointer;
  Program::get().add_variable(pointer, std::move(variable));
}
LANEWISE_ENTRY void __hipRegisterTexture(void** handle, void* host, char* /*device*/,
                                         const char* name, int /*type*/, int /*norm*/,
                                         int /*external*/) {
  Program::get().add_variable(host, {image_of(handle), name, kReferenceBytes, false});
}
/// No function binds a surface reference.
LANEWISE_ENTRY void __hipRegisterSurface(void** /*handle*/, void* /*host*/, char* /*device*/,
                                         const char* /*name*/, int /*type*/, int /*external*/) {}

extern "C" unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t shared,
                                                StreamHandle stream);
ENTRY(__hipPushCallConfiguration, (Dim grid, Dim block, size_t shared, StreamHandle stream)) {
  return static_cast<int>(__cudaPushCallConfiguration(grid, block, shared, stream));
}
SAME(__hipPopCallConfiguration, __cudaPopCallConfiguration,
     (Dim * grid, Dim* block, size_t* shared, StreamHandle* stream), (grid, block, shared, stream))
SAME(hipLaunchKernel, cudaLaunchKernel,
     (const void* host, Dim grid, Dim block, void** args, size_t shared, StreamHandle stream),
     (host, grid, block, args, shared, stream))
SAME(hipLaunchCooperativeKernel, cudaLaunchCooperativeKernel,
     (const void* host, Dim grid, Dim block, void** args, size_t shared, StreamHandle stream),
     (host, grid, block, args, shared, stream))
extern "C" int cudaEventRecord(EventHandle event, StreamHandle stream);
/// The events are null, or stand in front of the kernel and behind it.
ENTRY(hipExtLaunchKernel,
      (const void* host, Dim grid, Dim block, void** args, size_t shared, StreamHandle stream,
       EventHandle start, EventHandle stop, int /*flags*/)) {
  int error = start != nullptr ? cudaEventRecord(start, stream) : 0;
  if (error == 0) error = cudaLaunchKernel(host, grid, block, args, shared, stream);
  return error == 0 && stop != nullptr ? cudaEventRecord(stop, stream) : error;
}
// NOLINTEND(bugprone-reserved-identifier)
