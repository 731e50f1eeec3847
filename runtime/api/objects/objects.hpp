// What the handles of the C API stand for. The objects hold the state of the library; the C
// functions, which stand beside their members, find them by handle (handles.hpp) and turn what is
// thrown into a status (status.hpp).
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "lanewise/detail/arg_bytes.hpp"
#include "lanewise/result.hpp"
#include "runtime/api/objects/handles.hpp"
#include "runtime/api/program/loader.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/guest/allocator.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/guest/texture.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/ir/passes/textures/specialise.hpp"
#include "runtime/layout/residency.hpp"

namespace lanewise::host {

struct Module;

/// By lw_device_open's rules.
std::unique_ptr<Engine> open_engine(const std::string& selector);

inline constexpr uint64_t kDefaultTraceBuffer = uint64_t{64} << 20;

struct Device final : Handled<lw_device, HandleKind::device>, std::enable_shared_from_this<Device> {
  explicit Device(std::unique_ptr<Engine> on, int index = -1);

  /// Held by whoever uses anything below but `info`. Recursive: a launch allocates.
  std::recursive_mutex mutex;
  std::unique_ptr<Engine> engine;  ///< null once the device was closed
  guest::Allocator allocator;
  const lw_device_info info;
  guest::ResidencyMap residency;
  std::unique_ptr<events::Collector> events;  ///< while the device is traced
  struct KnownTexture {
    guest::TextureBlock words;
    guest::TexelRange texels;
  };
  /// Textures and what is bound to module variables, by the address of their block.
  std::map<uint64_t, KnownTexture> texture_blocks;
  /// A launch ran that may have written over blocks.
  bool wrote_anywhere = false;
  /// Blocks in a range that somebody writes or frees are known no more.
  void forget_textures(uint64_t address, uint64_t bytes);
  guest::Unwritten unwritten;  ///< of buffers: what neither the host nor a kernel wrote
  /// LANEWISE_WAVE when the device was opened: launches do not search the environment.
  const std::string wave_environment;
  uint64_t heap_address = 0;  ///< of kernels; 0 until one asks for memory

  /// Nobody else uses the device while the lock lives. Throws when the device was closed.
  std::unique_lock<std::recursive_mutex> enter();
  void close();
  /// Reserves and zero-fills arena memory. After a failure all is as before.
  uint64_t allocate(uint64_t bytes, std::string name, bool read_only, uint64_t align);
  /// Addresses alone (guest::Allocator).
  uint64_t reserve(uint64_t bytes, const std::string& name, uint64_t align);
  /// A part of them gets memory, all zeros, or loses it.
  void set_mapped(uint64_t address, uint64_t bytes, bool mapped);
  /// The same for a launch's parameters (guest::Allocator).
  uint64_t allocate_parameters(uint64_t bytes);

  /// Launches report to the sink what their waves do to memory, and copies by the host do as well,
  /// until stop_tracing(). buffer_bytes: events that may wait on the device before they are handed
  /// on. exact: where loads get their values from (the reference engine only). input: the file
  /// whose lines the kernels' instructions are, for findings. derive: launches whose events depend
  /// on no memory are not recorded (events/derive/paths.hpp).
  void start_tracing(trace::Sink& sink, uint64_t buffer_bytes = kDefaultTraceBuffer,
                     trace::ExactMemory* exact = nullptr, const std::string& input = {},
                     bool derive = true);
  void stop_tracing();

  /// Loads a text, or finds it among the last that were loaded this way.
  std::shared_ptr<Module> program(const std::string& text, Isa isa);
  void released() noexcept override;

 private:
  template <typename Allocate>
  uint64_t allocate_by(uint64_t bytes, const Allocate& allocate);
  /// Zeros, but nobody wrote them: what an allocation starts with.
  void fill_zero(uint64_t address, uint64_t bytes);

  struct Program {
    std::string text;
    std::shared_ptr<Module> module;
  };
  std::mutex programs_mutex_;
  std::list<Program> programs_;  ///< the latest first; they keep the device until it is released
  bool released_ = false;        ///< nothing is kept any more
};

/// Guest memory that is given back with its last owner.
struct Allocated {
  std::shared_ptr<Device> device;
  uint64_t address = 0, size = 0;
  bool parameters = false;  ///< of a launch

  Allocated(std::shared_ptr<Device> of, uint64_t bytes, std::string name, bool read_only = false,
            uint64_t align = guest::kAllocAlign);
  /// What has its address already: imported memory, which is unmapped at the end.
  struct Place {
    uint64_t address, size;
    bool parameters = false;
  };
  Allocated(std::shared_ptr<Device> of, Place at);
  ~Allocated();
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;
};

struct Buffer final : Handled<lw_buffer, HandleKind::buffer> {
  /// `of`: as Allocated takes it.
  template <typename... Of>
  explicit Buffer(Of&&... of) : memory(std::forward<Of>(of)...) {}
  ~Buffer() override;

  Allocated memory;
  bool paged = false;     ///< its pages can be absent
  bool reserved = false;  ///< addresses, of which parts can be accessed
  bool exported = false;  ///< keeps the arena in place

  void write(std::span<const std::byte> bytes, uint64_t offset = 0);
  void read(std::span<std::byte> bytes, uint64_t offset = 0) const;
};

/// A block of memory that kernels find by its address, and who keeps the texels.
struct Texture final : Handled<lw_texture, HandleKind::texture> {
  Texture(const std::shared_ptr<Device>& device, const guest::TextureDescription& d,
          std::shared_ptr<Buffer> of);
  const Allocated block;
  const std::shared_ptr<Buffer> buffer;  ///< null where the caller keeps the texels
  const Device::KnownTexture known;
};

/// Zeros that nobody wrote; paged: on whole pages, which can be absent.
std::shared_ptr<Buffer> allocate(const std::shared_ptr<Device>& device, uint64_t bytes,
                                 const std::string& name, bool paged = false);
/// A buffer on memory of the host, in place; null when the device cannot reach it there.
/// own_address: at the host's address, where that is one of imported memory.
std::shared_ptr<Buffer> map_host(const std::shared_ptr<Device>& device, std::span<std::byte> memory,
                                 const std::string& name, bool read_only, bool own_address = false);

/// One kernel argument: a number or a struct, or the address of a buffer, which it keeps.
struct Argument {
  lw_arg_kind kind;
  lanewise::detail::ArgBytes bytes;
  std::shared_ptr<Buffer> buffer = {};
};

/// A kernel whose textures have formats, filters and address modes that are known.
struct SpecialisedProgram {
  ir::Program program;
  uint64_t id = 0;
};

/// A kernel under given policies, made once.
/// What was found out about the accesses of a launch (guest/certain_accesses.hpp), and what of it
/// it depends on.
struct CertainLaunch {
  Dim3 grid, block;
  Memcheck memcheck = Memcheck::alloc;
  uint64_t changes = 0;            ///< guest::Allocator::changes
  std::vector<uint32_t> textures;  ///< the version's key
  std::vector<std::byte> params;
  const SpecialisedProgram* version = nullptr;  ///< null: nothing is certain
};

struct LaunchedProgram {
  std::optional<ir::Program> changed;  ///< where the policies ask for another program
  const ir::Program* program = nullptr;
  uint64_t id = 0;                          ///< LaunchRequest::program_id
  PoliciesInForce policies;                 ///< all of them
  uint64_t step_budget = 0;                 ///< as they say
  bool addresses_parameters = false;        ///< it asks where they lie
  std::vector<ir::TextureHandle> textures;  ///< handles that launches may know
  /// By the words that were known of them, and by which accesses are certain.
  std::map<std::pair<std::vector<uint32_t>, std::vector<bool>>, SpecialisedProgram> specialised =
      {};
  std::deque<CertainLaunch> certain = {};  ///< of the last launches that were looked at
  unsigned looked_at = 0;                  ///< how many that were
};

/// The number of a kernel, and what was asked for; found without a copy of either.
struct LessLaunched {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  }
};

struct Module;
/// Variables that a module takes from another one.
struct SharedVariables {
  std::shared_ptr<Module> of;
  std::vector<std::string> names;
};

struct Module final : Handled<lw_module, HandleKind::module>, std::enable_shared_from_this<Module> {
  /// What `compile` makes of a program with these options.
  Module(std::shared_ptr<Device> on, detail::LoadOptions options,
         const std::function<detail::Compiled(const detail::LoadOptions&)>& compile,
         const SharedVariables& shared = {});

  using Variable = std::pair<std::string, std::shared_ptr<Allocated>>;
  const std::shared_ptr<Device> device;
  const std::string name;  ///< of the file, for messages
  ir::Module module;       ///< kernels with symbols bound
  std::vector<Variable> globals;
  std::map<std::string, std::shared_ptr<Texture>> textures;  ///< by the variable they are bound to
  std::vector<isa::RejectedKernel> rejected;
  std::vector<Diagnostic> warnings;
  double parse_ms = 0;
  /// Variables that launches set: the address of the device's heap, the grid's workspace.
  const Allocated *heap = nullptr, *workspace = nullptr;
  uint64_t heap_seen = 0;        ///< what its variable has
  bool workspace_given = false;  ///< a cooperative launch was the last one
  uint64_t residency_seen = 0;   ///< generation of the device's map that the module's copy has
  /// By kernel and the policies that were asked for.
  std::map<std::pair<size_t, std::map<std::string, std::string>>, LaunchedProgram, LessLaunched>
      launched;

  size_t kernel_count() const { return module.kernels.size() + rejected.size(); }
  /// Of the whole file: those that cannot run stand behind the others.
  const std::string& kernel_name(size_t index) const;
  /// By name; "" means the only kernel.
  size_t kernel_index(const std::string& wanted) const;
  /// Memory of a variable; null for no variable.
  const Allocated* find_variable(std::string_view wanted) const;
  /// While the device is entered; the reference is good until the next call.
  LaunchedProgram& launched_program(size_t index,
                                    const std::map<std::string, std::string>& policies);
};

struct Kernel final : Handled<lw_kernel, HandleKind::kernel> {
  Kernel(std::shared_ptr<Module> of, const std::string& wanted)
      : module(std::move(of)), index(module->kernel_index(wanted)) {}
  const std::shared_ptr<Module> module;
  const size_t index;
  const ir::Program& program() const { return module->module.kernels[index]; }
};

/// What a launch left behind.
struct Outcome final : Handled<lw_result, HandleKind::result> {
  Outcome(std::string of, Result r);
  const std::string kernel;
  const Result result;
  std::vector<std::string> reports;  ///< one for each reported fault
  std::vector<TouchedRange> touched;
  struct Place {
    uint32_t line = 0;
    std::string text, source;
  };
  std::map<uint32_t, Place> places;  ///< of the sites that `touched` names
  /// The status of the call, with its message.
  lw_status status() const;
};

struct Cancel final : Handled<lw_cancel, HandleKind::cancel> {
  std::atomic<bool> requested = false;
};

struct Blob final : Handled<lw_blob, HandleKind::blob> {
  using Notes = std::map<std::string, std::string>;
  explicit Blob(std::string b, Notes n = {}) : bytes(std::move(b)), notes(std::move(n)) {}
  const std::string bytes;
  const Notes notes;
};

}  // namespace lanewise::host
