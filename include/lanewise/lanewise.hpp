// Lanewise: run foreign GPU kernels on any Vulkan device. The whole C++ API.
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

#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lanewise/error.hpp"
#include "lanewise/types.hpp"

namespace lanewise {

namespace detail {
struct DeviceState;
struct ModuleState;
struct BufferState;
struct DeviceAccess;
}  // namespace detail

/// Facts about one device. Sizes in bytes.
struct DeviceInfo {
  int index = -1;      ///< position for `--device INDEX`, -1 = the reference engine
  std::string name;    ///< as the driver says it; "reference" is the CPU engine
  std::string driver;  ///< driver name and version
  std::string tier;  ///< "T0", "T1", "T2" (what the device can do), "cpu" for the reference engine
  std::string type;  ///< "discrete" "integrated" "virtual" "cpu" "reference"
  uint32_t subgroup_size = 0;
  uint32_t max_invocations = 0;  ///< per work-group
  uint32_t max_shared = 0;
  uint64_t max_arena = 0;
  /// Not empty: the device can translate and compile, but runs nothing; what is assumed of it.
  std::string profile;
  bool int64 = false, int16 = false, int8 = false, float16 = false, float64 = false;
};

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
/// floating-point parameter is refused, and so is the reverse; a buffer must be of the kernel's
/// device. A parameter of which only the size is known takes anything of that size.
class Arg {
 public:
  enum class Kind : uint8_t { integer, real, bytes, buffer };

  template <typename T>
  requires(std::is_arithmetic_v<T>) Arg(T value)  // NOLINT: meant to convert
      : kind_(std::is_integral_v<T> ? Kind::integer : Kind::real), signed_(std::is_signed_v<T>) {
    bytes_.resize(sizeof(T));
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
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
  std::span<const std::byte> bytes() const { return bytes_; }
  Kind kind() const { return kind_; }
  bool is_integer() const { return kind_ == Kind::integer || kind_ == Kind::buffer; }
  bool is_signed() const { return signed_; }
  /// Null unless it is a buffer, which lives as long as the argument.
  const std::shared_ptr<detail::BufferState>& buffer() const { return buffer_; }

 private:
  Arg(Kind kind, std::span<const std::byte> bytes)
      : bytes_(bytes.begin(), bytes.end()), kind_(kind) {}

  std::vector<std::byte> bytes_;
  std::shared_ptr<detail::BufferState> buffer_;
  Kind kind_;
  bool signed_ = false;
};

struct LaunchOptions {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  ///< bytes
  Memcheck memcheck = Memcheck::alloc;
  WaveMode wave = WaveMode::automatic;  ///< then the environment variable LANEWISE_WAVE decides
  /// 0 = none. Counts translation, the driver's compiler and the run; on expiry Error(budget). When
  /// the driver was compiling or the kernel could not be stopped, the device is lost: whatever else
  /// it is asked for is Error(device), and its memory stays until the process ends.
  double timeout_seconds = 0;
  /// Named choices where documents are silent or disagree; see docs/policies.md.
  std::map<std::string, std::string> policies = {};
  /// Set to true from any thread, it ends the launch: Error(budget), the device stays usable and
  /// the buffers hold what was written. Looked at before the start and while the kernel runs, not
  /// while it is translated and compiled.
  const std::atomic<bool>* cancel = nullptr;
};

/// A guest fault with everything known about it.
struct FaultReport {
  FaultKind kind = FaultKind::none;
  std::string kernel;
  uint64_t pc = 0;     ///< byte offset of the instruction, or its ordinal for text
  uint32_t line = 0;   ///< line of the input text, 0 = unknown
  std::string text;    ///< the instruction
  std::string source;  ///< "file.cu:12" when the input has line information
  Dim3 group{0, 0, 0};
  uint32_t wave = 0, lane = 0;  ///< wave of the group, lane of the wave
  uint64_t address = 0;
  uint32_t size = 0;               ///< bytes, 0 when it is no memory access
  std::string nearest_allocation;  ///< "x (4 bytes past its end)", empty when there is none
  std::string allocation;          ///< its name alone
  uint64_t allocation_address = 0, allocation_size = 0;  ///< its place; size 0 = there is none
  /// The pointer parameter that the access goes through, where that is known, and the name and
  /// place of the allocation that it points into (empty: into none).
  std::string parameter, parameter_allocation;
  uint64_t parameter_allocation_address = 0;
};
/// Several lines for people: what, where, who.
std::string format(const FaultReport& fault);

struct Times {
  double parse_ms = 0, translate_ms = 0, pipeline_ms = 0, dispatch_ms = 0;
};

struct Result {
  std::vector<FaultReport> faults;  ///< at most 64, lowest group and lane first
  uint64_t fault_count = 0;         ///< lanes that faulted
  Times times;
  std::string wave_mode;                        ///< "lane", "packed" or "serial"
  std::string wave_reason;                      ///< why this mode was chosen
  std::map<std::string, std::string> policies;  ///< every policy in force
  bool ok() const { return fault_count == 0; }
  /// Throws Error(guest), or Error(budget) for step_budget, with the first fault's report.
  const Result& check() const;
};

struct ParamInfo {
  std::string name;
  uint32_t offset = 0, size = 0;
  bool pointer = false;
  /// "u32", "s64", "f32", ...; empty where only the size is known: structs, untyped parameters.
  std::string type;
};

/// What a device would run for a launch.
struct TranslatedKernel {
  std::vector<uint32_t> spirv;
  std::string wave_mode, wave_reason;  ///< as in Result; wave_reason says why
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

/// A place of the guest address space that belongs to a module variable.
struct SymbolInfo {
  uint64_t address = 0, size = 0;
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

/// What language an input file is in; automatic = by its ending and first bytes.
enum class Isa : uint8_t { automatic, ptx, sass, gcn };

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
  /// run. A kernel that uses something unsupported does not stand in the way of the others.
  /// A target ("sm_80", "sm_52", "gfx803") takes the place of the one the text names.
  Module load_file(const std::string& path, Isa isa = Isa::automatic,
                   const std::string& target = {});
  Module load_text(const std::string& text, Isa isa, const std::string& name = "<text>",
                   const std::string& target = {});

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

}  // namespace lanewise
