// The API's classes as the library has them inside. The C API is made over these; the public C++
// header has classes of the same names over the C API, so these have a namespace of their own.
//
// Objects are cheap handles that share what they refer to; a Buffer or Module keeps its Device
// alive. Use of an empty handle throws Error(usage). Threads: a Device and everything made from it
// may be used from any thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lanewise/detail/arg_bytes.hpp"
#include "lanewise/error.hpp"
#include "lanewise/launch.hpp"
#include "lanewise/result.hpp"

namespace lanewise::host {

namespace detail {
struct DeviceState;
struct ModuleState;
struct BufferState;
struct DeviceAccess;
}  // namespace detail

/// Device memory in the guest address space. Freed with its last handle.
class Buffer {
 public:
  uint64_t address() const;  ///< guest address; the same on every device for the same program
  uint64_t size() const;     ///< bytes
  /// Copies to / from the device. Ranges outside the buffer throw Error(usage).
  void write(std::span<const std::byte> bytes, uint64_t offset = 0);
  void read(std::span<std::byte> bytes, uint64_t offset = 0) const;
  /// Says of pages of 64 KiB whether they are there, for loads that ask (Maxwell's sparse LDG).
  /// Only for buffers of Device::allocate_paged, which start resident; ranges outside throw
  /// Error(usage).
  void set_resident(uint64_t first_page, uint64_t pages, bool resident);
  template <typename T>
  void write(const std::vector<T>& values) {
    write(std::as_bytes(std::span(values)));
  }
  template <typename T>
  std::vector<T> read() const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(size() / sizeof(T));
    read(std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  friend class Arg;
  friend class Device;
  friend struct detail::DeviceAccess;
  detail::BufferState& state() const;
  std::shared_ptr<detail::BufferState> state_;
};

/// One kernel argument: the bytes of a scalar or struct, or the address of a buffer.
/// Integers are widened or narrowed to the parameter's size when the value fits. An integer for a
/// floating-point parameter is refused, and so is the reverse, and a buffer of another device or
/// for what is no pointer. A parameter of which only the size is known takes anything of that size.
class Arg {
 public:
  enum class Kind : uint8_t { integer, real, bytes, buffer };

  template <typename T>
  requires(std::is_arithmetic_v<T>) Arg(T value)  // NOLINT: meant to convert
      : bytes_(std::as_bytes(std::span(&value, 1))),
        kind_(std::is_integral_v<T> ? Kind::integer : Kind::real),
        signed_(std::is_signed_v<T>) {}
  Arg(const Buffer& buffer) : Arg(buffer, 0) {}  // NOLINT
  /// The address of the buffer's byte `offset`.
  Arg(const Buffer& buffer, uint64_t offset) : Arg(buffer.address() + offset) {
    kind_ = Kind::buffer;
    buffer_ = buffer.state_;
  }
  /// A struct by value: its bytes, lowest address first. Also a scalar of unknown kind.
  static Arg raw(std::span<const std::byte> bytes) { return Arg(Kind::bytes, bytes); }
  /// A floating-point number of 2, 4 or 8 bytes given as its bytes.
  static Arg real(std::span<const std::byte> bytes) { return Arg(Kind::real, bytes); }
  /// An integer of 1, 2, 4 or 8 bytes given as its bytes.
  static Arg integer(std::span<const std::byte> bytes, bool is_signed) {
    Arg a(Kind::integer, bytes);
    a.signed_ = is_signed;
    return a;
  }
  std::span<const std::byte> bytes() const { return bytes_.all(); }
  Kind kind() const { return kind_; }
  bool is_integer() const { return kind_ == Kind::integer || kind_ == Kind::buffer; }
  bool is_signed() const { return signed_; }
  /// Null unless it is a buffer, which lives as long as the argument.
  const std::shared_ptr<detail::BufferState>& buffer() const { return buffer_; }

 private:
  Arg(Kind kind, std::span<const std::byte> bytes) : bytes_(bytes), kind_(kind) {}

  lanewise::detail::ArgBytes bytes_;
  std::shared_ptr<detail::BufferState> buffer_;
  Kind kind_;
  bool signed_ = false;
};

class Kernel {
 public:
  const std::string& name() const;
  std::vector<ParamInfo> params() const;
  /// Runs to the end. Arguments in parameter order; a wrong count or size throws Error(usage).
  Result launch(const LaunchOptions& options, const std::vector<Arg>& args) const;
  template <typename... Args>
  Result launch(const LaunchOptions& options, const Args&... args) const {
    return launch(options, std::vector<Arg>{Arg(args)...});
  }
  /// The IR after the front end, as text.
  std::string ir() const;
  /// The IR that a device's translator makes of it for a launch: the same after all passes.
  std::string optimised_ir(const LaunchOptions& options) const;
  /// The SPIR-V words this device would run for a launch. Error(usage) on the reference engine.
  std::vector<uint32_t> spirv(const LaunchOptions& options) const;
  /// The same, and how it lays lanes over invocations.
  TranslatedKernel translated(const LaunchOptions& options) const;

 private:
  friend struct detail::DeviceAccess;
  friend class Module;
  detail::ModuleState& state() const;
  std::shared_ptr<detail::ModuleState> module_;
  size_t index_ = 0;
};

class Module {
 public:
  /// Of the whole file, those that cannot run included.
  std::vector<std::string> kernels() const;
  /// By name; an empty name means the only kernel. Error(usage) lists what there is; CompileError
  /// says why this kernel was rejected.
  Kernel kernel(const std::string& name = {}) const;
  /// A module variable (.global, .const). Error(usage) when there is none of that name.
  SymbolInfo symbol(const std::string& name) const;
  /// Copies to / from a module variable, from its start. Error(usage) when it is smaller.
  void write_symbol(const std::string& name, std::span<const std::byte> bytes);
  void read_symbol(const std::string& name, std::span<std::byte> bytes) const;
  template <typename T>
  void write_symbol(const std::string& name, const std::vector<T>& values) {
    write_symbol(name, std::as_bytes(std::span(values)));
  }
  /// What the front end warned about.
  const std::vector<Diagnostic>& warnings() const;

 private:
  friend class Device;
  detail::ModuleState& state() const;
  std::shared_ptr<detail::ModuleState> state_;
};

class Device {
 public:
  /// selector: "auto" (the environment variable LANEWISE_DEVICE, else discrete, integrated,
  /// virtual, CPU), "reference", an index of list(), part of a name or of a driver's name and
  /// version, or "profile:NAME" (no device: a named set of abilities to translate for).
  static Device open(const std::string& selector = "auto");
  /// Every Vulkan device, then the reference engine.
  static std::vector<DeviceInfo> list();
  const DeviceInfo& info() const;

  /// A zero-filled buffer of `bytes`, named in fault reports.
  Buffer allocate(uint64_t bytes, const std::string& name = "buffer");
  /// The same, filled up to and lying on whole pages of 64 KiB; see Buffer::set_resident.
  Buffer allocate_paged(uint64_t bytes, const std::string& name = "buffer");
  template <typename T>
  Buffer buffer(const std::vector<T>& values, const std::string& name = "buffer") {
    Buffer b = allocate(values.size() * sizeof(T), name);
    b.write(values);
    return b;
  }
  /// Throws CompileError with every defect when the text is malformed or none of its kernels can
  /// run. A kernel that uses something unsupported does not prevent the others.
  /// A target ("sm_80", "sm_52", "gfx803") takes the place of the one the text names.
  Module load_file(const std::string& path, Isa isa = Isa::automatic,
                   const std::string& target = {});
  Module load_text(const std::string& text, Isa isa, const std::string& name = "<text>",
                   const std::string& target = {}, const std::string& include_folder = {});

  /// Gives the device back now, whoever still holds handles: what was made from it answers with
  /// Error(usage) from here on. Waits for a launch that runs.
  void close();

 private:
  friend struct detail::DeviceAccess;
  const std::shared_ptr<detail::DeviceState>& state() const;
  std::shared_ptr<detail::DeviceState> state_;
};

/// The version of the library, "0.1.0".
std::string version();

}  // namespace lanewise::host
