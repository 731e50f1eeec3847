// Programs and their kernels.
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "lanewise/detail/launch.hpp"
#include "lanewise/texture.hpp"

namespace lanewise {

/// One of several files that make up a program.
struct ModuleInput {
  std::string data;
  std::string name;  ///< in messages; its ending may name the language
};

/// What a kernel asks of its launches; sizes in bytes.
struct KernelInfo {
  uint32_t static_shared = 0;       ///< of a work-group
  uint32_t local_bytes = 0;         ///< of each lane
  uint32_t param_bytes = 0;         ///< of the parameter block
  uint32_t max_threads = 0;         ///< of a work-group, as the program declares; 0 = any
  std::array<uint32_t, 3> block{};  ///< that launches must have; 0 = any
  uint64_t constant_bytes = 0;      ///< of the module's constant variables
  std::string isa, target;          ///< "ptx", "sm_75"
};

class Kernel {
 public:
  const std::string& name() const { return state().name; }
  std::vector<ParamInfo> params() const {
    std::vector<ParamInfo> out(lw_kernel_param_count(state().handle));
    for (size_t i = 0; i < out.size(); ++i) {
      lw_param_info p{};
      p.struct_size = sizeof p;
      detail::call(lw_kernel_param(state().handle, i, &p));
      out[i] = {p.name, p.offset, p.size, p.is_pointer != 0, p.type};
    }
    return out;
  }
  KernelInfo info() const {
    lw_kernel_info i{};
    i.struct_size = sizeof i;
    detail::call(lw_kernel_get_info(state().handle, &i));
    return {i.static_shared,
            i.local_bytes,
            i.param_bytes,
            i.max_threads,
            {i.block[0], i.block[1], i.block[2]},
            i.constant_bytes,
            i.isa,
            i.target};
  }
  /// Runs to the end. Arguments in parameter order; a wrong count or size throws Error(usage).
  Result launch(const LaunchOptions& options, const std::vector<Arg>& args) const {
    return launch_with(options, detail::to_c(args));
  }
  template <typename... Args>
  Result launch(const LaunchOptions& options, const Args&... args) const {
    const std::array<Arg, sizeof...(Args)> given{Arg(args)...};
    std::array<lw_arg, sizeof...(Args)> values;
    std::transform(given.begin(), given.end(), values.begin(), std::mem_fn(&Arg::c_arg));
    return launch_with(options, values);
  }
  /// The IR after the front end, as text.
  std::string ir() const { return detail::take(emitted(LW_EMIT_IR, nullptr)); }
  /// The IR that a device's translator makes of it for a launch: the same after all passes.
  std::string optimised_ir(const LaunchOptions& options) const {
    return detail::take(emitted(LW_EMIT_IR_OPTIMISED, &options));
  }
  /// The SPIR-V words this device would run for a launch. Error(usage) on the reference engine.
  std::vector<uint32_t> spirv(const LaunchOptions& options) const {
    return translated(options).spirv;
  }
  /// The same as text.
  std::string spirv_text(const LaunchOptions& options) const {
    return detail::take(emitted(LW_EMIT_SPIRV_TEXT, &options));
  }
  /// The same, and how it lays lanes over invocations.
  TranslatedKernel translated(const LaunchOptions& options) const {
    lw_blob* blob = emitted(LW_EMIT_SPIRV, &options);
    TranslatedKernel out;
    out.wave_mode = lw_blob_note(blob, "wave_mode");
    out.wave_reason = lw_blob_note(blob, "wave_reason");
    const std::string bytes = detail::take(blob);
    out.spirv.resize(bytes.size() / sizeof(uint32_t));
    std::memcpy(out.spirv.data(), bytes.data(), out.spirv.size() * sizeof(uint32_t));
    return out;
  }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_kernel* c_handle() const { return state().handle; }

 private:
  friend class Module;
  detail::KernelState& state() const { return detail::used(state_, "Kernel"); }
  Result launch_with(const LaunchOptions& options, std::span<const lw_arg> args) const {
    const detail::COptions how(options);
    lw_result* result = nullptr;
    const lw_status status =
        lw_kernel_launch(state().handle, how.get(), args.data(), args.size(), &result);
    return detail::take(status, result);
  }
  lw_blob* emitted(uint32_t what, const LaunchOptions* options) const {
    lw_kernel* const kernel = state().handle;
    lw_blob* blob = nullptr;
    if (options == nullptr) {
      detail::call(lw_kernel_translate(kernel, nullptr, what, &blob));
    } else {
      const detail::COptions how(*options);
      detail::call(lw_kernel_translate(kernel, how.get(), what, &blob));
    }
    return blob;
  }
  std::shared_ptr<detail::KernelState> state_;
};

class Module {
 public:
  /// Of the whole file, those that cannot run included.
  std::vector<std::string> kernels() const {
    std::vector<std::string> out(lw_module_kernel_count(state().handle));
    for (size_t i = 0; i < out.size(); ++i) out[i] = lw_module_kernel_name(state().handle, i);
    return out;
  }
  /// By name; an empty name means the only kernel. Error(usage) lists what there is; CompileError
  /// says why this kernel was rejected.
  Kernel kernel(const std::string& name = {}) const {
    lw_kernel* handle = nullptr;
    detail::call(lw_kernel_get(state().handle, name.c_str(), &handle));
    Kernel k;
    k.state_ = detail::own<detail::KernelState>(handle);
    k.state_->name = lw_kernel_name(handle);
    return k;
  }
  /// A module variable (.global, .const). Error(usage) when there is none of that name.
  SymbolInfo symbol(const std::string& name) const {
    SymbolInfo out;
    detail::call(lw_module_symbol(state().handle, name.c_str(), &out.address, &out.size));
    return out;
  }
  /// Copies to / from a module variable, from its start. Error(usage) when it is smaller.
  void write_symbol(const std::string& name, std::span<const std::byte> bytes) {
    detail::call(lw_module_write_symbol(state().handle, name.c_str(), bytes.data(), bytes.size()));
  }
  void read_symbol(const std::string& name, std::span<std::byte> bytes) const {
    detail::call(lw_module_read_symbol(state().handle, name.c_str(), bytes.data(), bytes.size()));
  }
  template <typename T>
  void write_symbol(const std::string& name, const std::vector<T>& values) {
    write_symbol(name, std::as_bytes(std::span(values)));
  }
  /// A texture, surface or sampler that the module declares is this one from now on.
  void bind_texture(const std::string& name, const Texture& texture) {
    detail::call(lw_module_bind_texture(state().handle, name.c_str(), texture.c_handle()));
  }
  /// What the front end warned about.
  const std::vector<Diagnostic>& warnings() const { return state().warnings; }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_module* c_handle() const { return state().handle; }

 private:
  friend class Device;
  detail::ModuleState& state() const { return detail::used(state_, "Module"); }
  std::shared_ptr<detail::ModuleState> state_;
};

}  // namespace lanewise
