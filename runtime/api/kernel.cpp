#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "lanewise/error_detail.hpp"
#include "runtime/api/arguments.hpp"
#include "runtime/api/policies.hpp"
#include "runtime/api/state.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise {
namespace {

const ir::Program& program_of(const detail::ModuleState& m, size_t index) {
  return m.module.kernels[index];
}

std::string bytes_text(uint64_t n) {
  return fmt::format("{} byte{}", n, n == 1 ? "" : "s");
}

std::string describe_nearest(const guest::Nearest& nearest, uint64_t address, uint32_t size) {
  const Allocation& a = *nearest.allocation;
  if (nearest.distance == 0) {
    const uint64_t end = address - a.address + size;
    const std::string over =
        end > a.size ? fmt::format(", {} past its end", bytes_text(end - a.size)) : "";
    return fmt::format("'{}' (offset {} of {} bytes{})", a.name, address - a.address, a.size, over);
  }
  if (nearest.distance == 1)
    return fmt::format("'{}' ({}; right behind its end)", a.name, bytes_text(a.size));
  if (nearest.distance > 0) {
    return fmt::format("'{}' ({}; {} past its end)", a.name, bytes_text(a.size),
                       bytes_text(static_cast<uint64_t>(nearest.distance - 1)));
  }
  return fmt::format("'{}' ({}; {} before its start)", a.name, bytes_text(a.size),
                     bytes_text(static_cast<uint64_t>(-nearest.distance)));
}

/// Shared, local and parameter space have addresses of their own, which no allocation is near to.
bool in_guest_memory(const ir::Program& p, const Fault& f) {
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts)
      if (i.site == f.site && i.mem && ir::info(i.op).trait == ir::OpTrait::mem &&
          (i.mem->space == ir::Space::shared || i.mem->space == ir::Space::local ||
           i.mem->space == ir::Space::param))
        return false;
  return true;
}

void add_nearest(FaultReport& r, std::span<const Allocation> allocations) {
  const auto nearest = guest::nearest_allocation(allocations, r.address);
  if (!nearest) return;
  r.nearest_allocation = describe_nearest(*nearest, r.address, r.size);
  r.allocation = nearest->allocation->name;
  r.allocation_address = nearest->allocation->address;
  r.allocation_size = nearest->allocation->size;
}

void add_parameter(FaultReport& r, const ir::Program& p, const Fault& f,
                   std::span<const Allocation> allocations, std::span<const std::byte> params) {
  const auto named = std::ranges::find(p.params, f.parameter, &ir::Param::offset);
  if (f.parameter == ir::kNone) return;
  r.parameter = named != p.params.end() && !named->name.empty()
                    ? named->name
                    : fmt::format("at byte {} of the parameters", f.parameter);
  if (const Allocation* into =
          guest::pointed_at(allocations, guest::pointer_at(params, f.parameter))) {
    r.parameter_allocation = into->name;
    r.parameter_allocation_address = into->address;
  }
}

FaultReport report(const ir::Program& p, const Fault& f, std::span<const Allocation> allocations,
                   std::span<const std::byte> params) {
  FaultReport r;
  r.kind = f.kind;
  r.kernel = p.name;
  if (f.site < p.sites.size()) {
    const ir::Site& site = p.sites[f.site];
    r.pc = site.pc;
    r.line = site.line;
    r.text = site.text;
    if (!site.source_file.empty()) {
      r.source = fmt::format("{}:{}", site.source_file, site.source_line);
    }
  }
  r.group = {f.group[0], f.group[1], f.group[2]};
  r.wave = f.lane / p.wave_lanes;
  r.lane = f.lane % p.wave_lanes;
  r.address = f.address;
  r.size = f.size;
  if (f.size != 0 && f.kind != FaultKind::uninitialised && in_guest_memory(p, f))
    add_nearest(r, allocations);
  add_parameter(r, p, f, allocations, params);
  return r;
}

/// Everything a launch needs that must outlive the request.
struct Prepared {
  ir::Program traced;  ///< with numbered events, when the device is traced
  std::unique_ptr<detail::Allocated> params_copy, scratch;
  LaunchRequest request;
  Dim3 block;  ///< as it was asked for; the request may have whole waves
};

/// The environment speaks where the program leaves the choice open, as it does for the device.
WaveMode chosen_wave_mode(WaveMode asked) {
  const char* env = std::getenv("LANEWISE_WAVE");
  if (asked != WaveMode::automatic || env == nullptr || *env == '\0') return asked;
  if (const auto mode = wave_mode_named(env)) return *mode;
  throw Error(ErrorKind::usage,
              fmt::format("LANEWISE_WAVE is '{}'; auto, lane, packed or serial was expected", env));
}

/// The wave's offset is a 32-bit register.
void refuse_large_scratch(const ir::Program& p, uint64_t bytes) {
  if (bytes <= 0xffffffff) return;
  throw Error(ErrorKind::usage,
              fmt::format("kernel '{}' needs {} bytes of scratch memory for each lane; this launch "
                          "would take {} bytes, 4 GiB is the most",
                          p.name, p.needs.scratch_bytes, bytes));
}

/// Different in every program of the process.
uint64_t new_program_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// What the kernel learns about its launch beside the arguments.
void describe_launch(const Prepared& prepared, const ir::Program& program,
                     std::vector<std::byte>& block) {
  const LaunchRequest& r = prepared.request;
  guest::add_launch_block(program,
                          {.grid = r.grid,
                           .block = prepared.block,
                           .shared_bytes = program.shared_bytes + r.dynamic_shared,
                           .param_address = r.param_address,
                           .scratch_address = prepared.scratch ? prepared.scratch->address : 0},
                          block);
}

void prepare(Prepared& out, detail::ModuleState& module, size_t index, const LaunchOptions& options,
             uint64_t block_bytes) {
  const std::shared_ptr<detail::DeviceState>& device = module.device;
  const ir::Program& program = program_of(module, index);
  const detail::LaunchedProgram& launched = module.launched_program(index, options.policies);
  LaunchRequest& r = out.request;
  r.program = launched.program;
  r.program_id = launched.id;
  if (device->events != nullptr) {
    out.traced = *launched.program;
    device->events->number_points(out.traced);
    r.program = &out.traced;
    r.program_id = 0;
    r.events = device->events.get();
  }
  r.grid = options.grid;
  out.block = options.block;
  r.block = guest::launched_block(program, options.block);
  r.dynamic_shared = options.dynamic_shared;
  r.memcheck = options.memcheck;
  r.wave = chosen_wave_mode(options.wave);
  r.step_budget = detail::step_budget(launched.policies);
  r.timeout_seconds = options.timeout_seconds;
  r.cancel = options.cancel;
  r.policies = launched.policies;
  block_bytes = guest::bytes_with_launch_block(program, block_bytes);
  out.params_copy = std::make_unique<detail::Allocated>(device, std::max<uint64_t>(block_bytes, 1),
                                                        "kernel parameters", true);
  r.param_address = out.params_copy->address;
  if (const uint64_t bytes = guest::scratch_bytes(program, r.grid, r.block); bytes != 0) {
    refuse_large_scratch(program, bytes);
    out.scratch = std::make_unique<detail::Allocated>(device, bytes, "scratch memory");
  }
  r.allocations = device->allocator.allocations();
  r.windows = device->allocator.has_foreign();
}

/// What a fault may have been near to: the host's memory, too.
std::vector<Allocation> with_foreign(std::span<const Allocation> own,
                                     std::span<const ForeignRange> foreign) {
  std::vector<Allocation> all(own.begin(), own.end());
  for (const ForeignRange& r : foreign)
    all.push_back({r.address, r.size, fmt::format("host memory at {:#x}", r.address), r.read_only});
  std::ranges::sort(all, {}, &Allocation::address);
  return all;
}

/// The module's copy of the device's residency map.
void update_residency(detail::ModuleState& m) {
  const guest::ResidencyMap& map = m.device->residency;
  if (m.residency_seen == map.generation()) return;
  for (const auto& [name, memory] : m.globals)
    if (name == sass::kSparseMap) m.device->engine->write(memory->address, map.bytes());
  m.residency_seen = map.generation();
}

}  // namespace

detail::ModuleState& Kernel::state() const {
  if (module_ == nullptr) detail::refuse_empty("Kernel");
  return *module_;
}

const std::string& Kernel::name() const {
  return program_of(state(), index_).name;
}

std::vector<ParamInfo> Kernel::params() const {
  std::vector<ParamInfo> out;
  for (const ir::Param& p : program_of(state(), index_).params) {
    const bool typed = p.type != ir::Type::none;
    out.push_back({p.name, p.offset, p.size, p.pointer,
                   typed ? std::string(ir::name(p.type)) : std::string()});
  }
  return out;
}

std::string Kernel::ir() const {
  return ir::print(program_of(state(), index_));
}

std::string Kernel::optimised_ir(const LaunchOptions& options) const {
  ir::Program program = program_of(state(), index_);
  ir::lower_switches(program);
  ir::optimise(program, {{{options.block.x, options.block.y, options.block.z}}});
  return ir::print(program);
}

Result Kernel::launch(const LaunchOptions& options, const std::vector<Arg>& args) const {
  return detail::DeviceAccess::launch(state(), index_, options, args, {});
}

namespace detail {

const LaunchedProgram& ModuleState::launched_program(size_t index, const Policies& asked) {
  constexpr size_t kMostKept = 256;  // beyond that all are dropped
  if (const auto known = launched.find({index, asked}); known != launched.end())
    return known->second;
  LaunchedProgram made;
  made.policies = complete_policies(asked);
  made.program = &program_of(*this, index);
  made.id = new_program_id();
  made.changed = *made.program;
  if (!apply_policies(*made.changed, made.policies)) made.changed.reset();
  if (launched.size() >= kMostKept) launched.clear();
  LaunchedProgram& kept = launched[{index, asked}] = std::move(made);
  if (kept.changed) kept.program = &*kept.changed;
  return kept;
}

Result DeviceAccess::launch(ModuleState& module, size_t index, const LaunchOptions& options,
                            const std::vector<Arg>& args, std::span<const ForeignRange> foreign) {
  const ir::Program& program = program_of(module, index);
  DeviceState& device = *module.device;
  check_devices(device, args);
  const auto beyond_one = [&](uint32_t Dim3::*axis) {
    return uint64_t{options.grid.*axis} * (options.block.*axis) > 1;
  };
  const uint32_t dimensions = beyond_one(&Dim3::z) ? 3 : beyond_one(&Dim3::y) ? 2 : 1;
  std::vector<std::byte> block = parameter_block(program, args, dimensions);
  const auto lock = device.enter();
  Prepared prepared;
  prepare(prepared, module, index, options, block.size());
  prepared.request.foreign = foreign;
  describe_launch(prepared, program, block);
  if (!block.empty()) device.engine->write(prepared.request.param_address, block);
  prepared.request.params = std::move(block);
  update_residency(module);
  const LaunchResult done = device.engine->launch(prepared.request);

  Result result;
  const std::vector<Allocation> near = with_foreign(device.allocator.allocations(), foreign);
  for (const Fault& f : done.faults)
    result.faults.push_back(report(program, f, near, prepared.request.params));
  result.fault_count = done.fault_count;
  result.times = {module.parse_ms, done.times.translate_ms, done.times.pipeline_ms,
                  done.times.dispatch_ms};
  result.wave_mode = done.wave_mode;
  result.wave_reason = done.wave_reason;
  result.policies = std::move(prepared.request.policies);
  return result;
}

}  // namespace detail

std::vector<uint32_t> Kernel::spirv(const LaunchOptions& options) const {
  return translated(options).spirv;
}

TranslatedKernel Kernel::translated(const LaunchOptions& options) const {
  const ir::Program& program = program_of(state(), index_);
  const auto lock = module_->device->enter();
  Prepared prepared;
  prepare(prepared, *module_, index_, options, program.param_bytes);
  prepared.request.params.resize(program.param_bytes);
  Translated made = module_->device->engine->translate(prepared.request);
  if (made.words.empty()) {
    throw Error(ErrorKind::usage, "the reference engine runs no SPIR-V; choose a Vulkan device");
  }
  return {std::move(made.words), std::move(made.wave_mode), std::move(made.wave_reason)};
}

}  // namespace lanewise
