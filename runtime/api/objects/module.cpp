// Modules: what a file holds, loaded or only checked.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/api/program/globals.hpp"
#include "runtime/layout/device_heap.hpp"
#include "runtime/layout/grid_workspace.hpp"
#include "runtime/support/input_file.hpp"

namespace lanewise::host {

using detail::LoadOptions;

namespace {

/// The variable as the module has it that shares it; null for one that is this module's own.
std::shared_ptr<Allocated> shared_variable(const SharedVariables& shared, const ir::Global& g) {
  if (std::ranges::find(shared.names, g.name) == shared.names.end()) return nullptr;
  const auto found = std::ranges::find(shared.of->globals, g.name, &Module::Variable::first);
  if (found == shared.of->globals.end() || found->second->size != g.size)
    fail(ErrorDetail::not_found,
         fmt::format("the module that shares its variables has none of {} bytes called '{}'",
                     g.size, g.name));
  return found->second;
}

/// Gives every variable its memory and every symbol its address.
void load_globals(Module& m, ir::Module& program, const SharedVariables& shared) {
  const auto lock = m.device->enter();
  const auto placed = detail::place_globals(program, [&](const ir::Global& g) {
    const bool read_only = g.space == ir::Space::constant;
    std::shared_ptr<Allocated> memory = shared_variable(shared, g);
    if (memory == nullptr)
      memory = std::make_shared<Allocated>(m.device, g.size, g.name, read_only);
    m.globals.emplace_back(g.name, std::move(memory));
    return m.globals.back().second->address;
  });
  for (const detail::PlacedGlobal& g : placed)
    if (!g.bytes.empty() && std::ranges::find(shared.names, g.name) == shared.names.end())
      m.device->engine->write(g.address, g.bytes);
  m.heap = m.find_variable(guest::kHeapVariable);
  m.workspace = m.find_variable(guest::kGridWorkspace);
}

const Allocated& variable(const Module& m, const char* name) {
  if (const Allocated* found = m.find_variable(required(name, "name"))) return *found;
  fail(ErrorDetail::not_found, fmt::format("the module has no variable '{}'", name));
}

/// Calls copy(engine, address) while the device is entered, if there is anything to copy.
template <typename Copy>
lw_status copy_symbol(lw_module* module, const char* name, const void* data, uint64_t bytes,
                      const Copy& copy) {
  return guarded([&] {
    const auto object = find<Module>(module);
    if (bytes != 0) required(data, "data");
    const Allocated& memory = variable(*object, name);
    if (bytes > memory.size)
      fail(ErrorDetail::out_of_range,
           fmt::format("{} bytes do not fit the variable '{}' of {} bytes", bytes, name,
                       memory.size));
    const auto lock = object->device->enter();
    if (bytes != 0) copy(*object->device->engine, memory.address);
  });
}

Isa isa_named(const char* name) {
  const std::string text = text_or(name);
  if (name == nullptr) return Isa::automatic;
  if (text == "ptx") return Isa::ptx;
  if (text == "sass") return Isa::sass;
  if (text == "gcn") return Isa::gcn;
  fail(ErrorDetail::invalid_value, "isa is '" + text + "'; ptx, sass or gcn was expected");
}

LoadOptions to_cpp(const lw_module_options* options, const char* name) {
  LoadOptions out;
  out.name = name;
  if (options == nullptr) return out;
  const lw_module_options o = read_struct(options, "lw_module_options");
  if (o.strict > LW_STRICT_CUDA_13_0)
    fail(ErrorDetail::invalid_value, "strict is one of LW_STRICT_...");
  out.isa = isa_named(o.isa);
  out.name = text_or(o.name, name);
  out.target = text_or(o.target);
  out.include_folder = text_or(o.include_folder);
  out.strict = o.strict;
  if (o.max_errors != 0) out.max_errors = o.max_errors;
  return out;
}

using Compile = std::function<detail::Compiled(const LoadOptions&)>;

SharedVariables shared_by(const lw_module_options* options, lw_device* device) {
  if (options == nullptr) return {};
  const lw_module_options o = read_struct(options, "lw_module_options");
  SharedVariables shared;
  if (o.variable_count == 0) return shared;
  shared.of = find<Module>(o.variables_of);
  if (shared.of->device != find<Device>(device))
    fail(ErrorDetail::invalid_value, "a module shares variables of the same device");
  for (const char* name : std::span(required(o.variable_names, "variable_names"), o.variable_count))
    shared.names.emplace_back(required(name, "variable_names"));
  return shared;
}

std::shared_ptr<Module> load(lw_device* device, const LoadOptions& o, const Compile& compile,
                             const SharedVariables& shared = {}) {
  auto made = std::make_shared<Module>(find<Device>(device), o, compile, shared);
  keep_diagnostics(o.name, made->warnings);
  return made;
}
std::shared_ptr<Module> load(lw_device* device, const std::string& text, const LoadOptions& o) {
  return load(device, o, [&](const LoadOptions& how) { return detail::compile(text, how); });
}

/// "ns::sort<int>(int*)" of "_ZN2ns4sortIiEEvPi"; empty for what is no such name.
std::string source_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? text.get() : "";
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

/// The only kernel that the source calls so, whole or without parameters and template arguments.
std::optional<size_t> kernel_written_as(const Module& m, const std::string& wanted) {
  if (wanted.empty()) return {};
  std::optional<size_t> found;
  for (size_t n = 0; n < m.module.kernels.size(); ++n) {
    const std::string name = source_name(m.module.kernels[n].name);
    const std::string call = name.substr(0, name.rfind('('));
    if (wanted != name && wanted != call && wanted != call.substr(0, call.find('<'))) continue;
    if (found) return {};
    found = n;
  }
  return found;
}

std::string copy_of(const void* data, size_t bytes) {
  const auto all = span_of<const char>(data, bytes);
  return {all.begin(), all.end()};
}

}  // namespace

Module::Module(std::shared_ptr<Device> on, LoadOptions o, const Compile& compile,
               const SharedVariables& shared)
    : device(std::move(on)), name(o.name) {
  const auto start = std::chrono::steady_clock::now();
  o.strict = LW_STRICT_RUN, o.max_errors = 100;  // which are for checks
  detail::Compiled compiled = compile(o);
  if (!compiled.ok() && !compiled.usable())
    throw CompileError(name, std::move(compiled.diagnostics));
  module = std::move(compiled.module);
  rejected = std::move(compiled.rejected);
  std::ranges::copy_if(compiled.diagnostics, std::back_inserter(warnings), &Diagnostic::warning);
  load_globals(*this, module, shared);
  for (ir::Module& other : compiled.others) {
    load_globals(*this, other, shared);
    std::ranges::move(other.kernels, std::back_inserter(module.kernels));
  }
  parse_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

const std::string& Module::kernel_name(size_t index) const {
  const size_t sound = module.kernels.size();
  return index < sound ? module.kernels[index].name : rejected.at(index - sound).name;
}

size_t Module::kernel_index(const std::string& wanted) const {
  const auto& kernels = module.kernels;
  if (wanted.empty() && kernels.size() == 1 && rejected.empty()) return 0;
  const auto bad = std::ranges::find(rejected, wanted, &isa::RejectedKernel::name);
  if (bad != rejected.end()) throw CompileError(name, bad->diagnostics);
  const auto it = std::ranges::find(kernels, wanted, &ir::Program::name);
  if (it != kernels.end()) return static_cast<size_t>(it - kernels.begin());
  if (const std::optional<size_t> one = kernel_written_as(*this, wanted)) return *one;
  std::string all;
  for (size_t i = 0; i < kernel_count(); ++i) all += (all.empty() ? "" : ", ") + kernel_name(i);
  fail(ErrorDetail::not_found, all.empty() ? "the module holds no kernel"
                               : wanted.empty()
                                   ? "the module holds several kernels, name one of: " + all
                                   : "no kernel '" + wanted + "'; there are: " + all);
}

const Allocated* Module::find_variable(std::string_view wanted) const {
  for (const auto& [of, memory] : globals)
    if (of == wanted) return memory.get();
  return nullptr;
}

}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_module_load_file(lw_device* device, const char* path, const lw_module_options* options,
                              lw_module** out) {
  return gives(out, [&] {
    LoadOptions o = to_cpp(options, required(path, "path"));
    const std::string text = read_file(path);
    if (o.include_folder.empty()) o.include_folder = folder_of(path);
    // The path decides the language, whatever the module is to be called.
    if (o.isa == Isa::automatic) o.isa = host::detail::detect_isa(path, text);
    return load(device, text, o);
  });
}

lw_status lw_module_load_memory(lw_device* device, const void* data, size_t bytes,
                                const lw_module_options* options, lw_module** out) {
  return gives(out, [&] {
    const std::string text = copy_of(data, bytes);
    return load(
        device, to_cpp(options, "<memory>"),
        [&](const LoadOptions& how) { return host::detail::compile(text, how); },
        shared_by(options, device));
  });
}

lw_status lw_module_link(lw_device* device, size_t count, const void* const* data,
                         const size_t* bytes, const char* const* names,
                         const lw_module_options* options, lw_module** out) {
  return gives(out, [&] {
    if (count != 0) required(data, "data"), required(bytes, "bytes");
    std::vector<host::detail::Input> files;
    for (size_t n = 0; n < count; ++n)
      files.push_back(
          {copy_of(data[n], bytes[n]), text_or(names != nullptr ? names[n] : nullptr, "<memory>")});
    const LoadOptions o = to_cpp(options, files.empty() ? "<memory>" : files[0].name.c_str());
    return load(device, o, [&](const LoadOptions& how) { return host::detail::link(files, how); });
  });
}

lw_status lw_check(const void* data, size_t bytes, const lw_module_options* options,
                   size_t* kernels) {
  return guarded([&] {
    if (kernels != nullptr) *kernels = 0;
    const LoadOptions o = to_cpp(options, "<memory>");
    host::detail::Compiled compiled = host::detail::check(copy_of(data, bytes), o);
    if (!compiled.ok()) throw CompileError(o.name, std::move(compiled.diagnostics));
    if (kernels != nullptr) *kernels = compiled.kernel_count();
    keep_diagnostics(o.name, std::move(compiled.diagnostics));
  });
}

size_t lw_module_kernel_count(lw_module* module) {
  return quiet<size_t>(0, [&] { return find<Module>(module)->kernel_count(); });
}

const char* lw_module_kernel_name(lw_module* module, size_t index) {
  return quiet<const char*>(nullptr,
                            [&] { return find<Module>(module)->kernel_name(index).c_str(); });
}

lw_status lw_module_symbol(lw_module* module, const char* name, uint64_t* address,
                           uint64_t* bytes) {
  return guarded([&] {
    const auto object = find<Module>(module);
    const Allocated& memory = variable(*object, name);
    if (address != nullptr) *address = memory.address;
    if (bytes != nullptr) *bytes = memory.size;
  });
}

lw_status lw_module_write_symbol(lw_module* module, const char* name, const void* data,
                                 uint64_t bytes) {
  return copy_symbol(module, name, data, bytes, [&](Engine& engine, uint64_t address) {
    engine.write(address, span_of<const std::byte>(data, bytes));
    find<Module>(module)->device->forget_textures(address, bytes);
  });
}

lw_status lw_module_read_symbol(lw_module* module, const char* name, void* data, uint64_t bytes) {
  return copy_symbol(module, name, data, bytes, [&](Engine& engine, uint64_t address) {
    engine.read(address, span_of<std::byte>(data, bytes));
  });
}
