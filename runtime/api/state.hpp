// What the public handles point to.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/api/api.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/guest/allocator.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/isa/rejected.hpp"
#include "runtime/layout/residency.hpp"

struct lw_vulkan_buffer_info;
struct lw_vulkan_region;

namespace lanewise::host::detail {

/// Throws Error(usage) for a handle that refers to nothing.
[[noreturn]] void refuse_empty(const char* what);

/// By Device::open's rules.
std::unique_ptr<Engine> open_engine(const std::string& selector);

/// The variable's value; empty where it is not set.
std::string environment(const char* variable);

struct DeviceState {
  /// Held by whoever uses anything below but `info`. Recursive: a launch allocates.
  std::recursive_mutex mutex;
  std::unique_ptr<Engine> engine;  ///< null once the device was closed
  guest::Allocator allocator;
  DeviceInfo info;
  guest::ResidencyMap residency;
  std::unique_ptr<events::Collector> events;  ///< while the device is traced
  guest::Unwritten unwritten;  ///< of buffers: what neither the host nor a kernel wrote
  /// LANEWISE_WAVE when the device was opened: launches do not search the environment.
  const std::string wave_environment = environment("LANEWISE_WAVE");

  /// Nobody else uses the device while the lock lives. Throws when the device was closed.
  std::unique_lock<std::recursive_mutex> enter();
  /// Reserves and zero-fills arena memory. After a failure all is as before.
  uint64_t allocate(uint64_t bytes, std::string name, bool read_only = false,
                    uint64_t align = guest::kAllocAlign);
  /// The same for a launch's parameters (guest::Allocator).
  uint64_t allocate_parameters(uint64_t bytes);
  /// Zeros, but nobody wrote them: what an allocation starts with.
  void fill_zero(uint64_t address, uint64_t bytes);

 private:
  template <typename Allocate>
  uint64_t allocate_by(uint64_t bytes, const Allocate& allocate);
};

/// Arena memory that is given back with its last owner.
struct Allocated {
  std::shared_ptr<DeviceState> device;
  uint64_t address = 0, size = 0;

  Allocated(std::shared_ptr<DeviceState> device, uint64_t bytes, std::string name,
            bool read_only = false, uint64_t align = guest::kAllocAlign);
  /// Imported memory, which has its address already and is unmapped at the end.
  struct Elsewhere {
    uint64_t address, size;
  };
  Allocated(std::shared_ptr<DeviceState> device, Elsewhere place);
  ~Allocated();
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;
};

/// Memory of one launch's parameters.
struct AllocatedParameters {
  std::shared_ptr<DeviceState> device;
  uint64_t address = 0, size = 0;

  AllocatedParameters(std::shared_ptr<DeviceState> device, uint64_t bytes);
  ~AllocatedParameters();
  AllocatedParameters(const AllocatedParameters&) = delete;
  AllocatedParameters& operator=(const AllocatedParameters&) = delete;
};

struct BufferState {
  Allocated memory;
  bool paged = false;     ///< its pages can be absent
  bool exported = false;  ///< keeps the arena in place
  ~BufferState();
};

/// A kernel under given policies, made once.
struct LaunchedProgram {
  std::optional<ir::Program> changed;  ///< where the policies ask for another program
  const ir::Program* program = nullptr;
  uint64_t id = 0;                    ///< LaunchRequest::program_id
  PoliciesInForce policies;           ///< all of them
  uint64_t step_budget = 0;           ///< as they say
  bool addresses_parameters = false;  ///< it asks where they lie
};

/// The number of a kernel, and what was asked for; found without a copy of either.
struct LessLaunched {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  }
};

struct ModuleState {
  std::shared_ptr<DeviceState> device;
  ir::Module module;  ///< kernels with symbols bound
  std::vector<std::pair<std::string, std::unique_ptr<Allocated>>> globals;
  std::string name;  ///< of the file, for messages
  std::vector<isa::RejectedKernel> rejected;
  std::vector<Diagnostic> warnings;
  double parse_ms = 0;
  uint64_t residency_seen = 0;  ///< generation of the device's map that the module's copy has
  /// By kernel and the policies that were asked for.
  std::map<std::pair<size_t, std::map<std::string, std::string>>, LaunchedProgram, LessLaunched>
      launched;

  /// While the device is entered; the reference is good until the next call.
  const LaunchedProgram& launched_program(size_t index,
                                          const std::map<std::string, std::string>& policies);
};

/// A launch that a queue shall make.
struct LaunchOrder {
  std::shared_ptr<ModuleState> module;
  size_t index = 0;  ///< the kernel's
  LaunchOptions options;
  std::vector<Arg> args;
  std::shared_ptr<const void> kept;  ///< what must live until its end
};
/// How it went: one of the two.
struct LaunchEnd {
  std::optional<Result> result;
  std::exception_ptr error;
};

/// Devices beyond what the public API opens.
struct DeviceAccess {
  static DeviceState& state(const Device& device) { return *device.state(); }
  static const std::shared_ptr<DeviceState>& owner(const Device& device) { return device.state(); }
  static bool is_of(const Kernel& kernel, const DeviceState& device) {
    return kernel.state().device.get() == &device;
  }
  /// A device on an engine of the caller's.
  static Device on(std::unique_ptr<Engine> engine);
  /// A buffer on memory of the host, in place; nothing when the device cannot reach it there.
  static std::optional<Buffer> map_host(const Device& device, std::span<std::byte> memory,
                                        const std::string& name, bool read_only);
  static Buffer import_buffer(const Device& device, const lw_vulkan_buffer_info& info,
                              const std::string& name);
  static lw_vulkan_region export_buffer(const Buffer& buffer);
  /// Kernel::launch, with memory of the host that the kernel may reach at the host's addresses.
  static Result launch(const Kernel& kernel, const LaunchOptions& options,
                       const std::vector<Arg>& args, std::span<const HostRange> host_ranges) {
    return launch(kernel.state(), kernel.index_, options, args, host_ranges);
  }
  static Result launch(ModuleState& module, size_t index, const LaunchOptions& options,
                       const std::vector<Arg>& args, std::span<const HostRange> host_ranges);
  static LaunchOrder order(const Kernel& kernel, const LaunchOptions& options,
                           std::vector<Arg> args, std::shared_ptr<const void> kept) {
    return {kernel.module_, kernel.index_, options, std::move(args), std::move(kept)};
  }
  /// All of them, in order, as if launched one after another; short ones share submissions. Every
  /// module is of the device.
  static std::vector<LaunchEnd> launch_in_turn(DeviceState& device,
                                               std::span<const LaunchOrder> orders);
};

}  // namespace lanewise::host::detail
