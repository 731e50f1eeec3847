#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/api/policies.hpp"
#include "runtime/api/state.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise {
namespace {

const ir::Program& program_of(const detail::ModuleState& m, size_t index) {
  return m.module.kernels[index];
}

/// The value of an integer argument, sign- or zero-extended to 64 bits.
uint64_t integer_value(const Arg& arg) {
  uint64_t value = 0;
  std::memcpy(&value, arg.bytes().data(), arg.bytes().size());
  const unsigned bits = 8 * static_cast<unsigned>(arg.bytes().size());
  if (arg.is_signed() && bits < 64 && ((value >> (bits - 1)) & 1) != 0) value |= ~0ULL << bits;
  return value;
}

/// True when the low `size` bytes keep the value, read either as signed or as unsigned.
bool fits(uint64_t value, unsigned size) {
  if (size >= 8) return true;
  const unsigned bits = 8 * size;
  const uint64_t high = value >> bits;
  const uint64_t sign_run = ~0ULL >> bits;
  return high == 0 || (high == sign_run && ((value >> (bits - 1)) & 1) != 0);
}

void place_argument(const ir::Program& p, size_t i, const Arg& arg, std::vector<std::byte>& block) {
  const ir::Param& param = p.params[i];
  std::byte* at = block.data() + param.offset;
  if (arg.bytes().size() == param.size) {
    std::copy(arg.bytes().begin(), arg.bytes().end(), at);
    return;
  }
  if (arg.is_integer() && param.size <= 8) {
    const uint64_t value = integer_value(arg);
    if (fits(value, param.size)) {
      std::memcpy(at, &value, param.size);
      return;
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("kernel '{}': argument {} ('{}') takes {} bytes, {} were given", p.name,
                          i + 1, param.name, param.size, arg.bytes().size()));
}

/// Kernels whose text names no parameters (SASS, bare GCN streams): the arguments in order, each at
/// the next multiple of its own size, as a C compiler lays them out.
std::vector<std::byte> unnamed_parameters(const ir::Program& p, const std::vector<Arg>& args) {
  std::vector<std::byte> block;
  for (const Arg& arg : args) {
    const size_t size = arg.bytes().size();
    const size_t align = std::clamp<size_t>(std::bit_floor(size), 1, 16);
    block.resize((block.size() + align - 1) / align * align);
    block.insert(block.end(), arg.bytes().begin(), arg.bytes().end());
  }
  if (block.size() < p.param_bytes) {
    throw Error(ErrorKind::usage,
                fmt::format("kernel '{}' reads {} bytes of parameters, the {} arguments given take "
                            "{}",
                            p.name, p.param_bytes, args.size(), block.size()));
  }
  return block;
}

std::vector<std::byte> parameter_block(const ir::Program& p, const std::vector<Arg>& args) {
  if (p.params.empty() && p.isa != ir::Isa::ptx) return unnamed_parameters(p, args);
  if (args.size() != p.params.size()) {
    std::string wanted;
    for (const ir::Param& param : p.params) {
      wanted += fmt::format("{}{} ({} bytes)", wanted.empty() ? "" : ", ", param.name, param.size);
    }
    throw Error(
        ErrorKind::usage,
        fmt::format("kernel '{}' takes {} arguments, {} were given{}", p.name, p.params.size(),
                    args.size(), wanted.empty() ? std::string() : "; in order: " + wanted));
  }
  std::vector<std::byte> block(p.param_bytes);
  for (size_t i = 0; i < args.size(); ++i) place_argument(p, i, args[i], block);
  return block;
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

FaultReport report(const ir::Program& p, const Fault& f, std::span<const Allocation> allocations) {
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
  if (f.size != 0 && in_guest_memory(p, f)) add_nearest(r, allocations);
  return r;
}

/// Everything a launch needs that must outlive the request.
struct Prepared {
  ir::Program changed;  ///< used when a policy rewrites the program
  std::unique_ptr<detail::Allocated> params_copy, scratch;
  detail::Policies policies;
  LaunchRequest request;
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

/// What the kernel learns about its launch beside the arguments.
void describe_launch(const Prepared& prepared, const ir::Program& program,
                     std::vector<std::byte>& block) {
  const LaunchRequest& r = prepared.request;
  guest::add_launch_block(program,
                          {.grid = r.grid,
                           .block = r.block,
                           .shared_bytes = program.shared_bytes + r.dynamic_shared,
                           .param_address = r.param_address,
                           .scratch_address = prepared.scratch ? prepared.scratch->address : 0},
                          block);
}

void prepare(Prepared& out, const std::shared_ptr<detail::DeviceState>& device,
             const ir::Program& program, const LaunchOptions& options, uint64_t block_bytes) {
  out.policies = detail::complete_policies(options.policies);
  LaunchRequest& r = out.request;
  r.program = &program;
  if (out.changed = program; detail::apply_policies(out.changed, out.policies)) {
    r.program = &out.changed;
  }
  if (device->events != nullptr) {
    device->events->number_points(out.changed);
    r.program = &out.changed;
    r.events = device->events.get();
  }
  r.grid = options.grid;
  r.block = options.block;
  r.dynamic_shared = options.dynamic_shared;
  r.memcheck = options.memcheck;
  r.wave = chosen_wave_mode(options.wave);
  r.step_budget = detail::step_budget(out.policies);
  r.timeout_seconds = options.timeout_seconds;
  r.policies = out.policies;
  block_bytes = guest::bytes_with_launch_block(program, block_bytes);
  out.params_copy = std::make_unique<detail::Allocated>(device, std::max<uint64_t>(block_bytes, 1),
                                                        "kernel parameters", true);
  r.param_address = out.params_copy->address;
  if (const uint64_t bytes = guest::scratch_bytes(program, r.grid, r.block); bytes != 0) {
    refuse_large_scratch(program, bytes);
    out.scratch = std::make_unique<detail::Allocated>(device, bytes, "scratch memory");
  }
  r.allocations = device->allocator.allocations();
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

const std::string& Kernel::name() const {
  return program_of(*module_, index_).name;
}

std::vector<ParamInfo> Kernel::params() const {
  std::vector<ParamInfo> out;
  for (const ir::Param& p : program_of(*module_, index_).params) {
    out.push_back({p.name, p.offset, p.size, p.pointer});
  }
  return out;
}

std::string Kernel::ir() const {
  return ir::print(program_of(*module_, index_));
}

std::string Kernel::optimised_ir(const LaunchOptions& options) const {
  ir::Program program = program_of(*module_, index_);
  ir::lower_switches(program);
  ir::optimise(program, {{{options.block.x, options.block.y, options.block.z}}});
  return ir::print(program);
}

Result Kernel::launch(const LaunchOptions& options, const std::vector<Arg>& args) const {
  const ir::Program& program = program_of(*module_, index_);
  std::vector<std::byte> block = parameter_block(program, args);
  Prepared prepared;
  prepare(prepared, module_->device, program, options, block.size());
  describe_launch(prepared, program, block);
  if (!block.empty()) module_->device->engine->write(prepared.request.param_address, block);
  prepared.request.params = std::move(block);
  update_residency(*module_);
  const LaunchResult done = module_->device->engine->launch(prepared.request);

  Result result;
  for (const Fault& f : done.faults) {
    result.faults.push_back(report(program, f, module_->device->allocator.allocations()));
  }
  result.fault_count = done.fault_count;
  result.times = {module_->parse_ms, done.times.translate_ms, done.times.pipeline_ms,
                  done.times.dispatch_ms};
  result.wave_mode = done.wave_mode;
  result.wave_reason = done.wave_reason;
  result.policies = prepared.policies;
  return result;
}

std::vector<uint32_t> Kernel::spirv(const LaunchOptions& options) const {
  return translated(options).spirv;
}

TranslatedKernel Kernel::translated(const LaunchOptions& options) const {
  const ir::Program& program = program_of(*module_, index_);
  Prepared prepared;
  prepare(prepared, module_->device, program, options, program.param_bytes);
  prepared.request.params.resize(program.param_bytes);
  Translated made = module_->device->engine->translate(prepared.request);
  if (made.words.empty()) {
    throw Error(ErrorKind::usage, "the reference engine runs no SPIR-V; choose a Vulkan device");
  }
  return {std::move(made.words), std::move(made.wave_mode), std::move(made.wave_reason)};
}

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const ir::Program& p : state_->module.kernels) names.push_back(p.name);
  for (const isa::RejectedKernel& r : state_->rejected) names.push_back(r.name);
  return names;
}

Kernel Module::kernel(const std::string& wanted) const {
  const auto& kernels = state_->module.kernels;
  Kernel k;
  k.module_ = state_;
  if (wanted.empty() && kernels.size() == 1 && state_->rejected.empty()) return k;
  const auto bad = std::ranges::find(state_->rejected, wanted, &isa::RejectedKernel::name);
  if (bad != state_->rejected.end()) throw CompileError(state_->name, bad->diagnostics);
  const auto it = std::ranges::find(kernels, wanted, &ir::Program::name);
  if (it == kernels.end()) {
    std::string all;
    for (const std::string& n : Module::kernels()) all += (all.empty() ? "" : ", ") + n;
    if (kernels.empty()) throw Error(ErrorKind::usage, "the module holds no kernel");
    throw Error(ErrorKind::usage, wanted.empty()
                                      ? "the module holds several kernels, name one of: " + all
                                      : "no kernel '" + wanted + "'; there are: " + all);
  }
  k.index_ = static_cast<size_t>(it - kernels.begin());
  return k;
}

SymbolInfo Module::symbol(const std::string& wanted) const {
  for (const auto& [name, memory] : state_->globals) {
    if (name == wanted) return {memory->address, memory->size};
  }
  throw Error(ErrorKind::usage, "the module has no variable '" + wanted + "'");
}

namespace {
void check_symbol_range(const std::string& name, uint64_t bytes, uint64_t size) {
  if (bytes > size) {
    throw Error(ErrorKind::usage, fmt::format("{} bytes do not fit the variable '{}' of {} bytes",
                                              bytes, name, size));
  }
}
}  // namespace

void Module::write_symbol(const std::string& name, std::span<const std::byte> bytes) {
  const SymbolInfo s = symbol(name);
  check_symbol_range(name, bytes.size(), s.size);
  if (!bytes.empty()) state_->device->engine->write(s.address, bytes);
}
void Module::read_symbol(const std::string& name, std::span<std::byte> bytes) const {
  const SymbolInfo s = symbol(name);
  check_symbol_range(name, bytes.size(), s.size);
  if (!bytes.empty()) state_->device->engine->read(s.address, bytes);
}

const std::vector<Diagnostic>& Module::warnings() const {
  return state_->warnings;
}

}  // namespace lanewise
