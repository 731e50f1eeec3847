// Modules and libraries: loading them, their functions and variables.
#include "runtime/host/driver/modules.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/host/core/status.hpp"
#include "runtime/host/driver/entry.hpp"
#include "runtime/host/driver/link.hpp"

namespace lanewise::driver {
namespace {

bool is_elf(const void* data) {
  return std::memcmp(data, ELFMAG, SELFMAG) == 0;
}

/// Up to the last byte that a section, a segment or one of the tables has.
size_t elf_bytes(const std::byte* data) {
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  require(header.e_ident[EI_CLASS] == ELFCLASS64, Code::invalid_image);
  uint64_t end = std::max<uint64_t>(
      sizeof header, std::max(header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize,
                              header.e_phoff + uint64_t{header.e_phnum} * header.e_phentsize));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, data + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

/// What a wrapper points to, else the same.
const void* unwrapped(const void* data) {
  cuda::FatBinaryWrapper wrapper{};
  std::memcpy(&wrapper, data, sizeof wrapper.magic);
  if (wrapper.magic != cuda::kWrapperMagic) return data;
  std::memcpy(&wrapper, data, sizeof wrapper);
  return wrapper.data;
}

void load(Module** out, const void* data, const Options& options, bool library) {
  *required(out) = nullptr;
  *out = load_module(required(data), options, library);
}

void load_file(Module** out, const char* path, const Options& options, bool library) {
  std::vector<std::byte> bytes = read_file(path);
  bytes.push_back(std::byte{0});  // behind a text
  load(out, bytes.data(), options, library);
}

std::shared_ptr<Module> module_of(Module* handle) {
  return Handles<Module>::find(handle);
}

void enumerate(Module& module, Function** out, unsigned count) {
  required(out);
  for (unsigned i = 0; i < count && i < module.names.size(); ++i)
    out[i] = function_named(module, module.names[i].c_str());
}

Module* library_of(const Function& function) {
  return Handles<Module>::find_if(
      [&](const Module& m) { return m.context == nullptr && m.image == function.image; });
}

}  // namespace

Module* load_module(const void* data, const Options& options, bool library) {
  auto made = std::make_shared<Module>();
  made->image = load_image(data, options, library);
  lw_module* module = made->image->loaded();
  for (size_t i = 0; i < lw_module_kernel_count(module); ++i)
    made->names.emplace_back(lw_module_kernel_name(module, i));
  if (!library) {
    made->context = current_context();
    made->context->modules.push_back(made.get());
  }
  return Handles<Module>::add(std::move(made));
}

Function* function_named(Module& module, const char* name) {
  require(std::ranges::find(module.names, required(name)) != module.names.end(), Code::not_found);
  Function*& known = module.functions[name];
  if (known == nullptr) known = Program::get().add_function(module.image, nullptr, name);
  return &known->ready();
}

void variable(Module& module, const char* name, Address* address, size_t* bytes) {
  Address at = 0;
  uint64_t size = 0;
  // A library's is that of the current device.
  const auto image = module.image->on_all ? Program::get().image(module.image) : module.image;
  image->symbol(required(name), &at, &size, Code::not_found);
  if (address != nullptr) *address = at;
  if (bytes != nullptr) *bytes = size;
}

void managed(Module& module, const char* name, Address* address, size_t* bytes) {
  Address at = 0;
  size_t size = 0;
  variable(module, name, &at, &size);
  AddressSpace& memory = Context::current().memory();
  if (memory.find(at) == nullptr) memory.mirror_at(at, size, name);
  if (address != nullptr) *address = at;
  if (bytes != nullptr) *bytes = size;
}

void** Options::find(int option) const {
  for (unsigned i = 0; i < count_; ++i)
    if (options_[i] == option) return &values_[i];
  return nullptr;
}

void Options::write(int log, int size, const std::string& text) const {
  void** const buffer = find(log);
  void** const bytes = find(size);
  if (buffer == nullptr || *buffer == nullptr || bytes == nullptr) return;
  const auto capacity = reinterpret_cast<uintptr_t>(*bytes) & 0xffffffff;  // an unsigned
  const size_t count = capacity == 0 ? 0 : std::min<size_t>(text.size(), capacity - 1);
  if (capacity != 0) {
    std::memcpy(*buffer, text.data(), count);
    static_cast<char*>(*buffer)[count] = '\0';
  }
  *bytes = pointer_at(text.empty() ? 0 : count + 1);
}

void Options::finish(const std::string& information, const std::string& errors) const {
  write(kInfoLog, kInfoBytes, information);
  write(kErrorLog, kErrorBytes, errors);
  if (void** const time = find(kWallTime)) *time = nullptr;
}

size_t bytes_of_image(const void* data) {
  if (is_elf(data)) return elf_bytes(static_cast<const std::byte*>(data));
  if (const size_t bytes = linked_bytes(data); bytes != 0) return bytes;
  uint32_t magic = 0;
  std::memcpy(&magic, data, sizeof magic);
  if (magic == kFatBinary) return fat_binary_bytes(data);
  const std::string_view text(static_cast<const char*>(data));
  require(text.find(".version") != std::string_view::npos, Code::invalid_image);
  return text.size();
}

std::shared_ptr<Image> load_image(const void* data, const Options& options, bool library) {
  data = unwrapped(data);
  const size_t bytes = bytes_of_image(data);
  auto image = Program::get().add_image(nullptr, 0);
  image->on_all = library;
  const auto* first = static_cast<const std::byte*>(data);
  image->own.assign(first, first + bytes);
  image->data = image->own.data();
  image->bytes = bytes;
  image->quiet = options.has_error_log();
  try {
    image->loaded();
  } catch (const Failure&) {
    options.finish({}, image->message);
    Program::get().remove_image(image);
    throw;
  }
  options.finish(image->message, {});
  return image;
}

void unload(Module& module) {
  Context& context = Context::current();
  context.wait();
  if (module.context != nullptr) std::erase(module.context->modules, &module);
  Program::get().remove_image(module.image);
  module.image->unload();
  Handles<Module>::take(&module);
}

std::vector<std::byte> read_file(const char* path) {
  std::ifstream file(required(path), std::ios::binary);
  require(file.good(), Code::file_not_found);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

}  // namespace lanewise::driver

using namespace lanewise::driver;

ENTRY(cuModuleLoad, (Module * *out, const char* path)) {
  return answer([&] { load_file(out, path, {0, nullptr, nullptr}, false); });
}
ENTRY(cuModuleLoadData, (Module * *out, const void* image)) {
  return answer([&] { load(out, image, {0, nullptr, nullptr}, false); });
}
ALSO(cuModuleLoadFatBinary, cuModuleLoadData);
ENTRY(cuModuleLoadDataEx,
      (Module * *out, const void* image, unsigned count, const int* options, void** values)) {
  return answer([&] { load(out, image, {count, options, values}, false); });
}
ENTRY(cuModuleUnload, (Module * module)) {
  return answer([&] { unload(*module_of(module)); }, Needs::device);
}
ENTRY(cuModuleGetLoadingMode, (int* mode)) {
  return answer(
      [&] {
        constexpr int kLazy = 2;
        *required(mode) = kLazy;
      },
      Needs::device);
}
ENTRY(cuModuleGetFunction, (Function * *out, Module* module, const char* name)) {
  return answer([&] { *required(out) = function_named(*module_of(module), name); });
}
ENTRY(cuModuleGetFunctionCount, (unsigned* count, Module* module)) {
  return answer([&] { *required(count) = static_cast<unsigned>(module_of(module)->names.size()); });
}
ENTRY(cuModuleEnumerateFunctions, (Function * *out, unsigned count, Module* module)) {
  return answer([&] { enumerate(*module_of(module), out, count); });
}
ENTRY(cuModuleGetGlobal_v2, (Address * address, size_t* bytes, Module* module, const char* name)) {
  return answer([&] { variable(*module_of(module), name, address, bytes); });
}

ENTRY(cuLibraryLoadData,
      (Module * *out, const void* code, const int* options, void** values, unsigned count,
       const int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/)) {
  return answer([&] { load(out, code, {count, options, values}, true); }, Needs::device);
}
ENTRY(cuLibraryLoadFromFile,
      (Module * *out, const char* path, const int* options, void** values, unsigned count,
       const int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/)) {
  return answer([&] { load_file(out, path, {count, options, values}, true); }, Needs::device);
}
ENTRY(cuLibraryUnload, (Module * library)) {
  return answer([&] { unload(*module_of(library)); }, Needs::device);
}
ENTRY(cuLibraryGetKernel, (Function * *out, Module* library, const char* name)) {
  return answer([&] { *required(out) = function_named(*module_of(library), name); }, Needs::device);
}
ENTRY(cuLibraryGetKernelCount, (unsigned* count, Module* library)) {
  return answer([&] { *required(count) = static_cast<unsigned>(module_of(library)->names.size()); },
                Needs::device);
}
ENTRY(cuLibraryEnumerateKernels, (Function * *out, unsigned count, Module* library)) {
  return answer([&] { enumerate(*module_of(library), out, count); }, Needs::device);
}
ENTRY(cuLibraryGetModule, (Module * *out, Module* library)) {
  return answer([&] { *required(out) = module_of(library).get(); });
}
ENTRY(cuLibraryGetGlobal, (Address * address, size_t* bytes, Module* library, const char* name)) {
  return answer([&] { variable(*module_of(library), name, address, bytes); });
}
ENTRY(cuLibraryGetManaged, (Address * address, size_t* bytes, Module* library, const char* name)) {
  return answer([&] { managed(*module_of(library), name, address, bytes); });
}
ENTRY(cuKernelGetFunction, (Function * *out, Function* kernel)) {
  return answer([&] { *required(out) = &Program::get().function(kernel); });
}
ENTRY(cuKernelGetLibrary, (Module * *out, Function* kernel)) {
  return answer([&] { *required(out) = library_of(Program::get().function(kernel)); },
                Needs::device);
}
ENTRY(cuFuncGetModule, (Module * *out, Function* function)) {
  return answer([&] {
    const Function& of = Program::get().function(function);
    *required(out) = Handles<Module>::find_if([&](const Module& m) { return m.image == of.image; });
  });
}
