// Lanewise: run foreign GPU kernels on any Vulkan device. The C++ API, all of it inline over the C
// API: programs need C++20 and the library, of whatever compiler.
//
//   auto device = lanewise::Device::open();
//   auto module = device.load_file("saxpy.ptx");
//   auto x = device.buffer(host_x), y = device.buffer(host_y);
//   module.kernel("saxpy").launch({.grid = {4}, .block = {256}}, 1000, 2.0f, x, y).check();
//   host_y = y.read<float>();
//
// Objects are cheap handles that share what they refer to; a Buffer or Module keeps its Device
// alive. A default-constructed handle is empty: every use of it throws Error(usage).
// Threads: a Device and everything made from it may be used from any thread. The device does one
// thing at a time: a call waits until a launch on another thread has ended. One handle object that
// a thread assigns to is no exception to the rules of C++: give each thread its copy.
// Errors throw lanewise::Error (see error.hpp). Guest faults do not throw; they are in the Result.
#pragma once

#include "lanewise/detail/needs_cxx20.hpp"

#include "lanewise/module.hpp"

namespace lanewise {

class Device {
 public:
  /// selector: "auto" (the environment variable LANEWISE_DEVICE, else discrete, integrated,
  /// virtual, CPU), "reference", an index of list(), part of a name or of a driver's name and
  /// version, or "profile:NAME" (no device: a named set of abilities to translate for).
  static Device open(const std::string& selector = "auto") {
    lw_device* handle = nullptr;
    detail::call(lw_device_open(selector.c_str(), &handle));
    return from_c(handle);
  }
  /// Every Vulkan device, then the reference engine.
  static std::vector<DeviceInfo> list() {
    size_t count = 0;
    detail::call(lw_list_devices(nullptr, &count));
    lw_device_info empty{};
    empty.struct_size = sizeof empty;
    std::vector<lw_device_info> infos(count, empty);
    detail::call(lw_list_devices(infos.data(), &count));
    std::vector<DeviceInfo> out;
    for (size_t i = 0; i < infos.size() && i < count; ++i) out.push_back(detail::to_cpp(infos[i]));
    return out;
  }
  const DeviceInfo& info() const { return state().info; }

  /// A zero-filled buffer of `bytes`, named in fault reports. The policy check=init takes it as
  /// unwritten until the host or a kernel writes to it.
  Buffer allocate(uint64_t bytes, const std::string& name = "buffer") {
    lw_buffer* handle = nullptr;
    detail::call(lw_buffer_create(state().handle, bytes, name.c_str(), &handle));
    return Buffer::from_c(handle);
  }
  /// The same, filled up to and lying on whole pages of 64 KiB; see Buffer::set_resident.
  Buffer allocate_paged(uint64_t bytes, const std::string& name = "buffer") {
    lw_buffer* handle = nullptr;
    detail::call(lw_buffer_create_paged(state().handle, bytes, name.c_str(), &handle));
    return Buffer::from_c(handle);
  }
  /// The texels are the buffer's, from the options' offset on.
  Texture texture(TextureOptions options, const Buffer& texels) {
    options.buffer = texels.c_handle();
    return texture(options);
  }
  Texture texture(const TextureOptions& options) {
    lw_texture* handle = nullptr;
    detail::call(lw_texture_create(state().handle, &options, &handle));
    return Texture::from_c(handle);
  }
  template <typename T>
  Buffer buffer(const std::vector<T>& values, const std::string& name = "buffer") {
    Buffer b = allocate(values.size() * sizeof(T), name);
    b.write(values);
    return b;
  }
  /// Throws CompileError with every defect when the text is malformed or none of its kernels can
  /// run. A kernel that uses something unsupported leaves the others usable.
  /// A target ("sm_80", "sm_52", "gfx803") takes the place of the one the text names.
  Module load_file(const std::string& path, Isa isa = Isa::automatic,
                   const std::string& target = {}) {
    const lw_module_options options = options_of(isa, path, target);
    lw_module* handle = nullptr;
    detail::call(lw_module_load_file(state().handle, path.c_str(), &options, &handle));
    return loaded(handle);
  }
  /// GCN text includes files of `include_folder`; without one, none.
  Module load_text(const std::string& text, Isa isa, const std::string& name = "<text>",
                   const std::string& target = {}, const std::string& include_folder = {}) {
    lw_module_options options = options_of(isa, name, target);
    options.include_folder = detail::c_text(include_folder);
    lw_module* handle = nullptr;
    detail::call(
        lw_module_load_memory(state().handle, text.data(), text.size(), &options, &handle));
    return loaded(handle);
  }
  /// Several files of one language as one module: see lw_module_link.
  Module link(std::span<const ModuleInput> inputs, Isa isa = Isa::automatic,
              const std::string& target = {}) {
    std::vector<const void*> data;
    std::vector<size_t> bytes;
    std::vector<const char*> names;
    for (const ModuleInput& input : inputs) {
      data.push_back(input.data.data());
      bytes.push_back(input.data.size());
      names.push_back(input.name.c_str());
    }
    const std::string name = inputs.empty() ? "" : inputs[0].name;
    const lw_module_options options = options_of(isa, name, target);
    lw_module* handle = nullptr;
    detail::call(lw_module_link(state().handle, inputs.size(), data.data(), bytes.data(),
                                names.data(), &options, &handle));
    return loaded(handle);
  }

  /// Gives the device back now, whoever still holds handles: what was made from it answers with
  /// Error(usage) from here on. Waits for a launch that runs.
  void close() { detail::call(lw_device_close(state().handle)); }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_device* c_handle() const { return state().handle; }
  /// Takes over a handle of the C API, which it releases.
  static Device from_c(lw_device* handle) {
    Device d;
    d.state_ = detail::own<detail::DeviceState>(handle);
    lw_device_info info{};
    info.struct_size = sizeof info;
    detail::call(lw_device_get_info(handle, &info));
    d.state_->info = detail::to_cpp(info);
    return d;
  }

 private:
  detail::DeviceState& state() const { return detail::used(state_, "Device"); }
  static lw_module_options options_of(Isa isa, const std::string& name, const std::string& target) {
    lw_module_options o = LW_MODULE_OPTIONS_INIT;
    o.isa = detail::c_name(isa);
    o.name = name.c_str();
    o.target = detail::c_text(target);
    return o;
  }
  static Module loaded(lw_module* handle) {
    Module m;
    auto warnings = detail::last_diagnostics().second;
    m.state_ = detail::own<detail::ModuleState>(handle);
    m.state_->warnings = std::move(warnings);
    return m;
  }
  std::shared_ptr<detail::DeviceState> state_;
};

/// The version of the library, "0.1.0".
inline std::string version() {
  return lw_version();
}

}  // namespace lanewise
