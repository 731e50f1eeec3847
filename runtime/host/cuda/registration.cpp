// What nvcc's code calls before main.
#include <cstring>

#include "runtime/host/cuda/entry.hpp"
#include "runtime/host/cuda/textures.hpp"

namespace lanewise::cuda {
namespace {

/// What a handle of __cudaRegisterFatBinary points to.
struct Registered {
  std::shared_ptr<Image> image;
};
std::shared_ptr<Image> image_of(void** handle) {
  return reinterpret_cast<Registered*>(handle)->image;
}

/// What nvlink made of separately compiled files is machine code for one target. Their own fat
/// binaries, which have the PTX, follow it here: together they are one program.
void add_parts(Image& image, const void* const* parts) {
  const auto add = [&](const void* fat) {
    const auto* bytes = static_cast<const std::byte*>(fat);
    image.own.insert(image.own.end(), bytes, bytes + fat_binary_bytes(fat));
    image.own.resize((image.own.size() + 7) / 8 * 8);
  };
  add(image.data);
  for (; *parts != nullptr; ++parts) add(*parts);
  image.data = image.own.data();
  image.bytes = image.own.size();
}

}  // namespace
}  // namespace lanewise::cuda

using namespace lanewise::cuda;

// Names of the ABI.
// NOLINTBEGIN(bugprone-reserved-identifier)
LANEWISE_ENTRY void** __cudaRegisterFatBinary(const FatBinaryWrapper* wrapper) {
  auto* made = new Registered;
  if (wrapper->magic == kWrapperMagic)
    made->image = Program::get().add_image(wrapper->data, fat_binary_bytes(wrapper->data));
  else
    made->image = Program::get().add_image(nullptr, 0);
  if (wrapper->magic == kWrapperMagic && wrapper->version == 2 && wrapper->more != nullptr)
    add_parts(*made->image, static_cast<const void* const*>(wrapper->more));
  return reinterpret_cast<void**>(made);
}
LANEWISE_ENTRY void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
/// Called when the program or a library of it ends, when other destructors may still use its code.
LANEWISE_ENTRY void __cudaUnregisterFatBinary(void** /*handle*/) {}

LANEWISE_ENTRY void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/,
                                           const char* name, int /*threads*/, void* /*tid*/,
                                           void* /*bid*/, void* /*block*/, void* /*grid*/,
                                           int* /*warp*/) {
  Program::get().add_function(image_of(handle), host, name);
}
LANEWISE_ENTRY void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name,
                                      int /*external*/, size_t bytes, int constant,
                                      int /*global*/) {
  Program::get().add_variable(host, {image_of(handle), name, bytes, constant != 0});
}
LANEWISE_ENTRY void __cudaRegisterHostVar(void** /*handle*/, const char* /*name*/, char* /*host*/,
                                          size_t /*bytes*/) {}
LANEWISE_ENTRY void __cudaRegisterManagedVar(void** handle, void** pointer, char* /*device*/,
                                             const char* name, int /*external*/, size_t bytes,
                                             int constant, int /*global*/) {
  Variable variable{image_of(handle), name, bytes, constant != 0};
  variable.managed = pointer;
  Program::get().add_variable(pointer, std::move(variable));
}
LANEWISE_ENTRY char __cudaInitModule(void** /*handle*/) {
  answer([] { Program::get().prepare_managed(); });
  return 1;
}
LANEWISE_ENTRY void __cudaRegisterTexture(void** handle, const void* host, const void** /*device*/,
                                          const char* name, int /*dim*/, int fractions,
                                          int /*external*/) {
  add_texture(host, image_of(handle), name, fractions != 0);
}
LANEWISE_ENTRY void __cudaRegisterSurface(void** handle, const void* host, const void** /*device*/,
                                          const char* name, int /*dim*/, int /*external*/) {
  add_surface(host, image_of(handle), name);
}
REFUSED(__cudaRegisterUnifiedTable, "unified function tables are not supported")
// NOLINTEND(bugprone-reserved-identifier)
