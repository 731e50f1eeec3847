// Modules: loading, checking, variables.
#include "runtime/api/loader.hpp"
#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/support/input_file.hpp"

namespace lanewise::capi {

ModuleObject::ModuleObject(Module m)
    : Object(kKind), module(std::move(m)), kernels(module.kernels()) {}

namespace {

struct LoadOptions {
  Isa isa = Isa::automatic;
  std::string target, name, include_folder;
  std::string strict;  ///< as Legality has it
  size_t max_errors = 100;
};

Isa isa_named(const char* name) {
  if (name == nullptr) return Isa::automatic;
  const std::string text = name;
  if (text == "ptx") return Isa::ptx;
  if (text == "sass") return Isa::sass;
  if (text == "gcn") return Isa::gcn;
  fail(ErrorDetail::invalid_value, "isa is '" + text + "'; ptx, sass or gcn was expected");
}

const char* strictness(uint32_t strict) {
  switch (strict) {
    case LW_STRICT_RUN:
      return "";
    case LW_STRICT_MANUAL:
      return "manual";
    case LW_STRICT_ASSEMBLER:
      return "ptxas";
    default:
      fail(ErrorDetail::invalid_value, "strict is one of LW_STRICT_...");
  }
}

LoadOptions to_cpp(const lw_module_options* options, const char* name) {
  LoadOptions out;
  out.name = name;
  if (options == nullptr) return out;
  const lw_module_options o = read_struct(options, "lw_module_options");
  out.isa = isa_named(o.isa);
  if (o.target != nullptr) out.target = o.target;
  if (o.name != nullptr) out.name = o.name;
  if (o.include_folder != nullptr) out.include_folder = o.include_folder;
  out.strict = strictness(o.strict);
  if (o.max_errors != 0) out.max_errors = o.max_errors;
  return out;
}

void keep_diagnostics(const std::string& file, const std::vector<Diagnostic>& found) {
  last().file = file;
  last().diagnostics = found;
  for (const Diagnostic& d : found)
    if (d.warning) log(LW_LOG_WARNING, format(file, d));
}

void load(lw_device* device, const std::string& text, const LoadOptions& o, lw_module** out) {
  const auto object = find<DeviceObject>(device);
  Module module = object->device.load_text(text, o.isa, o.name, o.target, o.include_folder);
  keep_diagnostics(o.name, module.warnings());
  give<ModuleObject>(out, std::move(module));
}

std::string copy_of(const void* data, size_t bytes) {
  if (bytes != 0) required(data, "data");
  return {static_cast<const char*>(data), bytes};
}

/// How many kernels can run.
size_t check_program(const void* data, size_t bytes, const lw_module_options* options) {
  const LoadOptions o = to_cpp(options, "<memory>");
  const std::string text = copy_of(data, bytes);
  host::detail::Compiled compiled = host::detail::check(
      text, o.isa == Isa::automatic ? host::detail::detect_isa(o.name, text) : o.isa,
      {o.target, o.strict}, o.max_errors, o.include_folder);
  if (!compiled.ok()) throw CompileError(o.name, std::move(compiled.diagnostics));
  keep_diagnostics(o.name, compiled.diagnostics);
  return compiled.module.kernels.size();
}

}  // namespace
}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_module_load_file(lw_device* device, const char* path, const lw_module_options* options,
                              lw_module** out) {
  return guarded([&] {
    clear_out(out);
    LoadOptions o = to_cpp(options, required(path, "path"));
    const std::string text = read_file(path);
    if (o.include_folder.empty()) o.include_folder = folder_of(path);
    // The path decides the language, whatever the module is to be called.
    if (o.isa == Isa::automatic) o.isa = host::detail::detect_isa(path, text);
    load(device, text, o, out);
  });
}

lw_status lw_module_load_memory(lw_device* device, const void* data, size_t bytes,
                                const lw_module_options* options, lw_module** out) {
  return guarded([&] {
    clear_out(out);
    load(device, copy_of(data, bytes), to_cpp(options, "<memory>"), out);
  });
}

lw_status lw_check(const void* data, size_t bytes, const lw_module_options* options) {
  return guarded([&] { check_program(data, bytes, options); });
}

lw_status lw_check_kernels(const void* data, size_t bytes, const lw_module_options* options,
                           size_t* kernels) {
  return guarded([&] {
    *required(kernels, "kernels") = 0;
    *kernels = check_program(data, bytes, options);
  });
}

void lw_module_release(lw_module* module) {
  release<ModuleObject>(module);
}

size_t lw_module_kernel_count(lw_module* module) {
  return quiet<size_t>(0, [&] { return find<ModuleObject>(module)->kernels.size(); });
}

const char* lw_module_kernel_name(lw_module* module, size_t index) {
  return quiet<const char*>(nullptr,
                            [&] { return find<ModuleObject>(module)->kernels.at(index).c_str(); });
}

lw_status lw_module_symbol(lw_module* module, const char* name, uint64_t* address,
                           uint64_t* bytes) {
  return guarded([&] {
    const SymbolInfo s = find<ModuleObject>(module)->module.symbol(required(name, "name"));
    if (address != nullptr) *address = s.address;
    if (bytes != nullptr) *bytes = s.size;
  });
}

lw_status lw_module_write_symbol(lw_module* module, const char* name, const void* data,
                                 uint64_t bytes) {
  return guarded([&] {
    const auto object = find<ModuleObject>(module);
    if (bytes != 0) required(data, "data");
    object->module.write_symbol(required(name, "name"),
                                std::span(static_cast<const std::byte*>(data), bytes));
  });
}

lw_status lw_module_read_symbol(lw_module* module, const char* name, void* data, uint64_t bytes) {
  return guarded([&] {
    const auto object = find<ModuleObject>(module);
    if (bytes != 0) required(data, "data");
    object->module.read_symbol(required(name, "name"),
                               std::span(static_cast<std::byte*>(data), bytes));
  });
}
