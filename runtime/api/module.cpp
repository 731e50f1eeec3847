// Modules: what a file holds.
#include <fmt/format.h>

#include <algorithm>

#include "lanewise/error_detail.hpp"
#include "runtime/api/state.hpp"

namespace lanewise::host {
namespace {

void check_symbol_range(const std::string& name, uint64_t bytes, uint64_t size) {
  if (bytes > size) {
    throw DetailedError(
        ErrorKind::usage, ErrorDetail::out_of_range,
        fmt::format("{} bytes do not fit the variable '{}' of {} bytes", bytes, name, size));
  }
}

}  // namespace

detail::ModuleState& Module::state() const {
  if (state_ == nullptr) detail::refuse_empty("Module");
  return *state_;
}

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const ir::Program& p : state().module.kernels) names.push_back(p.name);
  for (const isa::RejectedKernel& r : state_->rejected) names.push_back(r.name);
  return names;
}

Kernel Module::kernel(const std::string& wanted) const {
  const auto& kernels = state().module.kernels;
  Kernel k;
  k.module_ = state_;
  if (wanted.empty() && kernels.size() == 1 && state_->rejected.empty()) return k;
  const auto bad = std::ranges::find(state_->rejected, wanted, &isa::RejectedKernel::name);
  if (bad != state_->rejected.end()) throw CompileError(state_->name, bad->diagnostics);
  const auto it = std::ranges::find(kernels, wanted, &ir::Program::name);
  if (it == kernels.end()) {
    std::string all;
    for (const std::string& n : Module::kernels()) all += (all.empty() ? "" : ", ") + n;
    throw DetailedError(ErrorKind::usage, ErrorDetail::not_found,
                        all.empty()      ? "the module holds no kernel"
                        : wanted.empty() ? "the module holds several kernels, name one of: " + all
                                         : "no kernel '" + wanted + "'; there are: " + all);
  }
  k.index_ = static_cast<size_t>(it - kernels.begin());
  return k;
}

SymbolInfo Module::symbol(const std::string& wanted) const {
  for (const auto& [name, memory] : state().globals) {
    if (name == wanted) return {memory->address, memory->size};
  }
  throw DetailedError(ErrorKind::usage, ErrorDetail::not_found,
                      "the module has no variable '" + wanted + "'");
}

void Module::write_symbol(const std::string& name, std::span<const std::byte> bytes) {
  const SymbolInfo s = symbol(name);
  check_symbol_range(name, bytes.size(), s.size);
  const auto lock = state_->device->enter();
  if (!bytes.empty()) state_->device->engine->write(s.address, bytes);
}
void Module::read_symbol(const std::string& name, std::span<std::byte> bytes) const {
  const SymbolInfo s = symbol(name);
  check_symbol_range(name, bytes.size(), s.size);
  const auto lock = state_->device->enter();
  if (!bytes.empty()) state_->device->engine->read(s.address, bytes);
}

const std::vector<Diagnostic>& Module::warnings() const {
  return state().warnings;
}

}  // namespace lanewise::host
