#include "runtime/api/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "runtime/api/arguments.hpp"
#include "runtime/api/fault_report.hpp"
#include "runtime/api/policies.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/guest/printed.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/isa/stack_size.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/print_records.hpp"

namespace lanewise::host::detail {
namespace {

constexpr std::string_view kScratchName = "scratch memory";

/// The environment decides where the program leaves the choice open, as it does for the device.
WaveMode chosen_wave_mode(WaveMode asked, const std::string& env) {
  if (asked != WaveMode::automatic || env.empty()) return asked;
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

/// What kernels of the module print to; 0 where none does.
uint64_t print_address(const ModuleState& m) {
  for (const auto& [name, memory] : m.globals)
    if (name == guest::kPrintBuffer) return memory->address;
  return 0;
}

/// Different in every program of the process.
uint64_t new_program_id() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// What the kernel learns about its launch beside the arguments.
void describe_launch(const Prepared& prepared, const ir::Program& program, uint64_t print,
                     std::vector<std::byte>& block) {
  const LaunchRequest& r = prepared.request;
  guest::add_launch_block(program,
                          {.grid = r.grid,
                           .block = prepared.block,
                           .shared_bytes = program.shared_bytes + r.dynamic_shared,
                           .param_address = r.param_address,
                           .scratch_address = prepared.scratch ? prepared.scratch->address : 0,
                           .print_address = print},
                          block);
}

/// The module's copy of the device's residency map.
void update_residency(ModuleState& m) {
  const guest::ResidencyMap& map = m.device->residency;
  if (m.residency_seen == map.generation()) return;
  for (const auto& [name, memory] : m.globals)
    if (name == sass::kSparseMap) m.device->engine->write(memory->address, map.bytes());
  m.residency_seen = map.generation();
}

/// What a fault may have been near to: the host's memory, too.
std::vector<Allocation> with_host_ranges(std::span<const Allocation> own,
                                         std::span<const HostRange> host_ranges) {
  std::vector<Allocation> all(own.begin(), own.end());
  for (const HostRange& r : host_ranges)
    all.push_back({r.address, r.size, fmt::format("host memory at {:#x}", r.address), r.read_only});
  std::ranges::sort(all, {}, &Allocation::address);
  return all;
}

uint32_t dimensions_of(const LaunchOptions& options) {
  const auto beyond_one = [&](uint32_t Dim3::*axis) {
    return uint64_t{options.grid.*axis} * (options.block.*axis) > 1;
  };
  return beyond_one(&Dim3::z) ? 3 : beyond_one(&Dim3::y) ? 2 : 1;
}

/// The whole request, while the device is entered; its parameters are in memory then.
void prepare_to_run(Prepared& out, ModuleState& module, size_t index, const LaunchOptions& options,
                    const std::vector<Arg>& args) {
  const ir::Program& program = program_of(module, index);
  check_devices(*module.device, args);
  std::vector<std::byte> block = parameter_block(program, args, dimensions_of(options));
  prepare(out, module, index, options, block.size());
  describe_launch(out, *out.request.program, print_address(module), block);
  if (!block.empty()) module.device->engine->write(out.request.param_address, block);
  out.request.params = std::move(block);
  update_residency(module);
}

/// How large the stack was that a lane came to the end of.
void say_stack(FaultReport& f, const ir::Program& p, const Policies& policies,
               const std::vector<Allocation>& near) {
  constexpr uint64_t kNear = 1 << 20;
  const auto asked = policies.find("stack");
  const bool declared = asked == policies.end() || asked->second == "declared";
  const bool alloca = f.text.starts_with("alloca");  // has a place of its own
  if (f.kind == FaultKind::stack_overflow && p.isa == ir::Isa::ptx && !alloca)
    f.size = declared ? kStandardStack : static_cast<uint32_t>(std::stoul(asked->second));
  const auto scratch = std::ranges::find(near, kScratchName, &Allocation::name);
  if (scratch == near.end() || f.kind != FaultKind::out_of_range) return;
  if (f.address - (scratch->address + scratch->size) >= kNear) return;
  f.nearest_allocation = fmt::format(
      "the scratch memory of all lanes, {} bytes for each; --stack BYTES, or the policy "
      "stack, gives them more",
      declared ? std::to_string(p.needs.scratch_bytes) : asked->second);
}

/// Takes what the request and the result hold.
Result result_of(ModuleState& module, size_t index, LaunchRequest&& request, LaunchResult&& done) {
  Result result;
  DeviceState& device = *module.device;
  result.printed = guest::take_printed(*device.engine, device.allocator.allocations(),
                                       program_of(module, index), print_address(module));
  if (!done.faults.empty()) {
    const std::vector<Allocation> near = with_host_ranges(request.allocations, request.host_ranges);
    const ir::Program& program = program_of(module, index);
    const FaultMemory memory{near, device.allocator.freed(), request.params,
                             guest::shared_bytes(program, request.dynamic_shared)};
    for (const Fault& f : done.faults) result.faults.push_back(report(program, f, memory));
    for (FaultReport& f : result.faults) say_stack(f, program, request.policies, near);
  }
  result.fault_count = done.fault_count;
  result.times = {module.parse_ms, done.times.translate_ms, done.times.pipeline_ms,
                  done.times.dispatch_ms};
  result.wave_mode = std::move(done.wave_mode);
  result.wave_reason = std::move(done.wave_reason);
  result.policies = std::move(request.policies);
  return result;
}

/// Launches that are prepared together before the first of them runs.
/// Why a launch was given up, and what was found until then: one line.
DetailedError with_faults(ModuleState& module, size_t index, LaunchRequest&& request,
                          const guest::Ended& ended) {
  LaunchResult done = ended.result;
  const Result found = result_of(module, index, std::move(request), std::move(done));
  if (found.faults.empty()) return ended;
  std::string first = format(found.faults.front());
  if (first.starts_with("fault: ")) first.erase(0, 7);
  while (first.ends_with('\n')) first.pop_back();
  for (size_t at = 0; (at = first.find("\n    ", at)) != std::string::npos;)
    first.replace(at, 5, ", ");
  return {ended.kind(), ended.detail(),
          fmt::format("{}; before that {} lane{} faulted, the first: {}", ended.what(),
                      found.fault_count, found.fault_count == 1 ? "" : "s", first)};
}

class LaunchGroup {
 public:
  LaunchGroup(DeviceState& device, std::span<const LaunchOrder> orders,
              std::vector<LaunchEnd>& ends)
      : device_(device), orders_(orders), ends_(ends) {}

  /// Prepares and runs all.
  void run() {
    while (ends_.size() < orders_.size()) {
      while (can_grow() && add_next()) {
      }
      run_prepared();
    }
  }

 private:
  static constexpr size_t kMost = 64;
  /// Beyond that, giving each its own list costs more than a submission.
  static constexpr size_t kMostAllocations = 1024;

  bool can_grow() const {
    if (prepared_.empty()) return true;
    return ends_.size() + prepared_.size() < orders_.size() && prepared_.size() < kMost &&
           !is_alone(prepared_.size() - 1) && device_.events == nullptr &&
           device_.allocator.allocations().size() < kMostAllocations;
  }
  /// With memory of its own, or with a buffer that is emptied before the next one prints.
  bool is_alone(size_t prepared) const {
    const LaunchOrder& o = order(prepared);
    return prepared_[prepared]->scratch || program_of(*o.module, o.index).needs.prints;
  }
  const LaunchOrder& order(size_t prepared) const { return orders_[ends_.size() + prepared]; }

  /// False when it cannot be prepared beside the others, or when that is its end.
  bool add_next() {
    auto next = std::make_unique<Prepared>();
    const LaunchOrder& o = order(prepared_.size());
    try {
      prepare_to_run(*next, *o.module, o.index, o.options, o.args);
    } catch (...) {
      // It may be that the others take too much memory: once they have run, it is tried again.
      if (prepared_.empty()) ends_.push_back({std::nullopt, std::current_exception()});
      return false;
    }
    const bool alone = next->scratch || program_of(*o.module, o.index).needs.prints;
    if (alone && !prepared_.empty()) return false;
    prepared_.push_back(std::move(next));
    return true;
  }

  /// Each sees what it would see alone: no other's parameters. Several get lists without names,
  /// which engines have no use for.
  void give_allocations() {
    const std::vector<Allocation>& all = device_.allocator.allocations();
    if (prepared_.size() == 1) {
      prepared_.front()->request.allocations = all;
      return;
    }
    std::vector<uint64_t> parameters;
    for (const auto& p : prepared_) parameters.push_back(p->params_copy->address);
    std::ranges::sort(parameters);
    std::vector<Allocation> seen_by_all;
    for (const Allocation& a : all)
      if (!std::ranges::binary_search(parameters, a.address))
        seen_by_all.push_back({a.address, a.size, {}, a.read_only});
    for (const auto& p : prepared_) {
      p->allocations.reserve(seen_by_all.size() + 1);
      p->allocations = seen_by_all;
      const AllocatedParameters& own = *p->params_copy;
      p->allocations.insert(
          std::ranges::upper_bound(p->allocations, own.address, {}, &Allocation::address),
          {own.address, own.size, {}, true});
      p->request.allocations = p->allocations;
    }
  }

  /// For reports of faults.
  void name_allocations(Prepared& prepared) const {
    const std::vector<Allocation>& all = device_.allocator.allocations();
    for (Allocation& a : prepared.allocations)
      a.name = std::ranges::lower_bound(all, a.address, {}, &Allocation::address)->name;
  }

  static std::exception_ptr with_found(const std::exception_ptr& error, const LaunchOrder& order,
                                       LaunchRequest&& request) {
    try {
      std::rethrow_exception(error);
    } catch (const guest::Ended& ended) {
      return std::make_exception_ptr(
          with_faults(*order.module, order.index, std::move(request), ended));
    } catch (...) {
      return error;
    }
  }

  void run_prepared() {
    if (prepared_.empty()) return;
    give_allocations();
    std::vector<LaunchRequest> requests;
    requests.reserve(prepared_.size());
    for (const auto& p : prepared_) requests.push_back(std::move(p->request));
    std::vector<LaunchOutcome> outcomes = device_.engine->launch_in_turn(requests);
    const std::span<const LaunchOrder> done = orders_.subspan(ends_.size(), prepared_.size());
    for (size_t i = 0; i < done.size(); ++i) {
      if (!outcomes[i].result.faults.empty()) name_allocations(*prepared_[i]);
      if (outcomes[i].error)
        ends_.push_back(
            {std::nullopt, with_found(outcomes[i].error, done[i], std::move(requests[i]))});
      else
        ends_.push_back({result_of(*done[i].module, done[i].index, std::move(requests[i]),
                                   std::move(outcomes[i].result)),
                         {}});
    }
    prepared_.clear();
  }

  DeviceState& device_;
  std::span<const LaunchOrder> orders_;
  std::vector<LaunchEnd>& ends_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
};

}  // namespace

void prepare(Prepared& out, ModuleState& module, size_t index, const LaunchOptions& options,
             uint64_t block_bytes) {
  const std::shared_ptr<DeviceState>& device = module.device;
  const ir::Program& program = program_of(module, index);
  const LaunchedProgram& launched = module.launched_program(index, options.policies);
  LaunchRequest& r = out.request;
  r.program = launched.program;
  r.program_id = launched.id;
  if (device->events != nullptr) {
    device->events->number_points(out.traced.emplace(*launched.program));
    r.untraced = launched.program;
    r.untraced_id = launched.id;
    r.program = &*out.traced;
    r.program_id = 0;
    r.events = device->events.get();
  }
  r.grid = options.grid;
  out.block = options.block;
  r.block = guest::launched_block(program, options.block);
  r.dynamic_shared = options.dynamic_shared;
  r.memcheck = options.memcheck;
  r.wave = chosen_wave_mode(options.wave, device->wave_environment);
  r.step_budget = launched.step_budget;
  r.timeout_seconds = options.timeout_seconds;
  r.cancel = options.cancel;
  r.policies = launched.policies;
  block_bytes = guest::bytes_with_launch_block(program, block_bytes);
  if (const uint64_t bytes = guest::scratch_bytes(*r.program, r.grid, r.block); bytes != 0) {
    refuse_large_scratch(*r.program, bytes);
    out.scratch.emplace(device, bytes, std::string(kScratchName));
    device->unwritten.add(out.scratch->address, bytes);
  }
  out.params_copy.emplace(device, std::max<uint64_t>(block_bytes, 1));
  r.param_address = out.params_copy->address;
  r.readable = r.writable = device->allocator.end();
  if (launched.addresses_parameters)
    r.readable = r.param_address + out.params_copy->size - guest::kArenaBase;
  r.allocations = device->allocator.allocations();
  r.imported = device->allocator.has_imported();
  r.unwritten = &device->unwritten;
}

const LaunchedProgram& ModuleState::launched_program(size_t index, const Policies& asked) {
  constexpr size_t kMostKept = 256;  // beyond that all are dropped
  if (const auto known = launched.find(std::pair<size_t, const Policies&>(index, asked));
      known != launched.end())
    return known->second;
  LaunchedProgram made;
  made.policies = complete_policies(asked);
  made.step_budget = step_budget(made.policies);
  made.program = &program_of(*this, index);
  made.id = new_program_id();
  made.addresses_parameters = ir::addresses_parameters(*made.program);
  made.changed = *made.program;
  if (!apply_policies(*made.changed, made.policies)) made.changed.reset();
  if (launched.size() >= kMostKept) launched.clear();
  LaunchedProgram& kept = launched[{index, asked}] = std::move(made);
  if (kept.changed) kept.program = &*kept.changed;
  return kept;
}

Result DeviceAccess::launch(ModuleState& module, size_t index, const LaunchOptions& options,
                            const std::vector<Arg>& args, std::span<const HostRange> host_ranges) {
  const auto lock = module.device->enter();
  Prepared prepared;
  prepare_to_run(prepared, module, index, options, args);
  prepared.request.host_ranges = host_ranges;
  try {
    LaunchResult done = module.device->engine->launch(prepared.request);
    return result_of(module, index, std::move(prepared.request), std::move(done));
  } catch (const guest::Ended& ended) {
    throw with_faults(module, index, std::move(prepared.request), ended);
  }
}

std::vector<LaunchEnd> DeviceAccess::launch_in_turn(DeviceState& device,
                                                    std::span<const LaunchOrder> orders) {
  std::vector<LaunchEnd> ends;
  try {
    ends.reserve(orders.size());
    const auto lock = device.enter();
    LaunchGroup(device, orders, ends).run();
  } catch (...) {
    ends.resize(orders.size(), {std::nullopt, std::current_exception()});
  }
  return ends;
}

}  // namespace lanewise::host::detail
