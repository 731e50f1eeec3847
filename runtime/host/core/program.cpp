#include "runtime/host/core/program.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/host/core/code_object.hpp"
#include "runtime/host/core/context.hpp"
#include "runtime/host/core/status.hpp"
#include "runtime/isa/elf/fat_entries.hpp"
#include "runtime/layout/device_heap.hpp"

namespace lanewise::core {

std::string last_diagnostics() {
  const std::string message = lw_last_error();
  constexpr size_t kMost = 5;
  std::string out = message;
  const size_t count = lw_last_diagnostic_count();
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    lw_diagnostic d{};
    d.struct_size = sizeof d;
    if (lw_last_diagnostic(i, &d) != LW_OK || d.is_warning != 0) continue;
    const std::string line = std::string("\n    line ") + std::to_string(d.line) + ": " + d.message;
    if (out.find(d.message) == std::string::npos) out += line;
  }
  return out;
}

size_t fat_binary_bytes(const void* data) {
  uint32_t magic = 0;
  uint16_t header = 0;
  uint64_t size = 0;
  const auto* at = static_cast<const char*>(data);
  std::memcpy(&magic, at, sizeof magic);
  std::memcpy(&header, at + 6, sizeof header);
  std::memcpy(&size, at + 8, sizeof size);
  return magic == kFatBinary ? header + size : 0;
}

lw_module* Image::loaded() {
  const std::lock_guard lock(mutex);
  if (module != nullptr) return module;
  if (code != Code::success) fail(code);
  Context& context = Context::current();
  lw_module_options options = LW_MODULE_OPTIONS_INIT;
  if (!context.settings().isa.empty()) options.isa = context.settings().isa.c_str();
  options.name = "the program's device code";
  std::vector<const char*> shared;
  for (const std::string& name : managed) shared.push_back(name.c_str());
  if (!shared.empty()) {
    options.variables_of = first->loaded();
    options.variable_names = shared.data();
    options.variable_count = shared.size();
  }
  const lw_status status = lw_module_load_memory(context.device(), data, bytes, &options, &module);
  if (status != LW_OK) {
    code = code_of(status);
    message = last_diagnostics();
    if (!quiet) report_line(message);
    fail(code);
  }
  lw_diagnostic taken{};
  taken.struct_size = sizeof taken;
  if (lw_last_diagnostic_count() != 0 && lw_last_diagnostic(0, &taken) == LW_OK)
    message = taken.message;
  if (context.settings().verbose && !message.empty()) report_line(message);
  return module;
}

void Image::symbol(const std::string& name, uint64_t* address, uint64_t* size, Code otherwise) {
  lw_module* of = loaded();
  uint64_t at = 0, count = 0;
  if (lw_module_symbol(of, name.c_str(), &at, &count) != LW_OK) {
    const auto part = symbol_in(data, bytes, name);
    require(part && lw_module_symbol(of, kCodeObjectImage, &at, nullptr) == LW_OK, otherwise);
    at += part->offset;
    count = part->bytes;
  }
  if (address != nullptr) *address = at;
  if (size != nullptr) *size = count;
}

void Image::unload() {
  const std::lock_guard lock(mutex);
  lw_module_release(module);
  module = nullptr;
}

void Function::load() {
  lw_module* module = image->loaded();
  lw_kernel* made = nullptr;
  if (lw_kernel_get(module, name.c_str(), &made) != LW_OK) {
    code =
        lw_last_detail() == LW_DETAIL_NOT_FOUND ? Code::invalid_device_function : Code::no_binary;
    report_line("kernel " + name + " cannot run here: " + last_diagnostics());
    return;
  }
  info.struct_size = sizeof info;
  check(lw_kernel_get_info(made, &info));
  const size_t count = lw_kernel_param_count(made);
  param_sizes.resize(count), param_offsets.resize(count);
  for (size_t i = 0; i < count; ++i) {
    lw_param_info p{};
    p.struct_size = sizeof p;
    check(lw_kernel_param(made, i, &p));
    param_sizes[i] = p.size;
    param_offsets[i] = p.offset;
  }
  if (lw_module_symbol(module, std::string(guest::kHeapVariable).c_str(), &heap_variable,
                       nullptr) != LW_OK)
    heap_variable = 0;
  kernel = made;
}

Function& Function::ready() {
  if (kernel != nullptr) return *this;
  const std::lock_guard lock(mutex);
  if (kernel == nullptr && code == Code::success) load();
  if (code != Code::success) fail(code);
  return *this;
}

void Function::unload() {
  const std::lock_guard lock(mutex);
  lw_kernel_release(kernel.exchange(nullptr));
}

uint64_t Variable::address() {
  uint64_t out = 0;
  image->symbol(name, &out, nullptr, Code::invalid_symbol);
  return out;
}

Program& Program::get() {
  static auto* const the_program = new Program;  // outlives the program's destructors
  return *the_program;
}

std::shared_ptr<Image> Program::add_image(const void* data, size_t bytes) {
  auto image = std::make_shared<Image>();
  image->data = data;
  image->bytes = bytes;
  image->device = current_device();
  const std::lock_guard lock(mutex_);
  images_.push_back(image);
  return image;
}

/// Of the current device, which did not load the image first.
std::shared_ptr<Image> Program::copy(const std::shared_ptr<Image>& image) {
  require(image->on_all, Code::invalid_handle);
  std::shared_ptr<Image>& made = copies_[current_device()].images[image.get()];
  if (made != nullptr) return made;
  made = std::make_shared<Image>();
  made->first = image;
  for (const auto& [host, variable] : variables_)
    if (variable.image == image && variable.managed != nullptr)
      made->managed.push_back(variable.name);
  made->data = image->data;
  made->bytes = image->bytes;
  made->quiet = image->quiet;
  made->asks_host = image->asks_host;
  made->device = current_device();
  return made;
}

void Program::remove_image(const std::shared_ptr<Image>& image) {
  const std::lock_guard lock(mutex_);
  const auto remove = [&](const std::shared_ptr<Image>& of) {
    for (const auto& [host, function] : functions_)
      if (function->image == of) function->unload();
    std::erase_if(functions_, [&](const auto& f) { return f.second->image == of; });
    std::erase_if(variables_, [&](const auto& v) { return v.second.image == of; });
  };
  for (auto& [device, copies] : copies_) {
    const auto found = copies.images.find(image.get());
    if (found == copies.images.end()) continue;
    remove(found->second);
    std::erase_if(copies.functions,
                  [&](const auto& f) { return f.second->image == found->second; });
    std::erase_if(copies.variables, [&](const auto& v) { return v.second.image == found->second; });
    found->second->unload();
    copies.images.erase(found);
  }
  remove(image);
  std::erase(images_, image);
}

Function* Program::add_function(std::shared_ptr<Image> image, const void* host, const char* name) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<Function>(std::move(image), name);
  made->host = host;
  Function* const function = made.get();
  functions_[function] = made;
  if (host != nullptr) functions_[host] = std::move(made);
  return function;
}

void Program::add_variable(const void* host, Variable variable) {
  const std::lock_guard lock(mutex_);
  has_managed_ = has_managed_ || variable.managed != nullptr;
  variables_[host] = std::move(variable);
}

Function* Program::find_function(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(host);
  if (found == functions_.end()) return nullptr;
  Function* const function = found->second.get();
  if (function->image->device == current_device()) return function;
  Function* const first = function->first != nullptr ? function->first : function;
  if (first->image->device == current_device()) return first;
  const std::shared_ptr<Image> image = copy(first->image);
  std::shared_ptr<Function>& made = copies_[current_device()].functions[first];
  if (made == nullptr) {
    made = std::make_shared<Function>(image, first->name);
    made->host = first->host;
    made->first = first;
    made->out_of_bounds = first->out_of_bounds;
    made->any_side = first->any_side;
    functions_[made.get()] = made;
  }
  return made.get();
}

Function& Program::function(const void* host) {
  if (Function* found = find_function(host)) return found->ready();
  fail(Code::invalid_device_function);
}

Variable& Program::variable(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host);
  if (found == variables_.end()) fail(Code::invalid_symbol);
  Variable& first = found->second;
  // All devices share a managed one.
  if (first.image->device == current_device() || first.managed != nullptr) return first;
  const std::shared_ptr<Image> image = copy(first.image);
  return copies_[current_device()]
      .variables.try_emplace(host, Variable{image, first.name, first.bytes, first.constant})
      .first->second;
}

std::shared_ptr<Image> Program::image(const std::shared_ptr<Image>& first) {
  const std::lock_guard lock(mutex_);
  return first->device == current_device() ? first : copy(first);
}

unsigned Program::least_target() {
  const std::lock_guard lock(mutex_);
  unsigned of_all = 0;
  for (const auto& image : images_) {
    const std::string_view bytes(static_cast<const char*>(image->data), image->bytes);
    if (!elf::FatEntries::starts(bytes)) continue;
    unsigned of_this = 0;
    elf::FatEntry entry;
    for (elf::FatEntries entries(bytes); entries.next(entry);)
      if (of_this == 0 || entry.sm < of_this) of_this = entry.sm;
    of_all = std::max(of_all, of_this);
  }
  return of_all;
}

void Program::unload() {
  const std::lock_guard lock(mutex_);
  const int device = current_device();
  for (const auto& [host, function] : functions_)
    if (function->image->device == device) function->unload();
  for (const auto& image : images_)
    if (image->device == device) image->unload();
  for (const auto& [first, image] : copies_[device].images) image->unload();
}

void Program::prepare_managed() {
  const std::lock_guard lock(mutex_);
  if (!has_managed_) return;
  const OnDevice first(0);
  for (auto& [host, v] : variables_) {
    if (v.managed == nullptr || v.prepared) continue;
    v.prepared = true;
    *v.managed = Context::current().memory().mirror_at(v.address(), v.bytes, v.name)->host;
  }
}

}  // namespace lanewise::core
