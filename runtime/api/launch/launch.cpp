#include "runtime/api/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/launch/arguments.hpp"
#include "runtime/api/launch/device_heap.hpp"
#include "runtime/api/launch/fault_report.hpp"
#include "runtime/api/launch/versions.hpp"
#include "runtime/api/program/policies.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/launch_block.hpp"
#include "runtime/guest/printed.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/isa/stack_size.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/grid_workspace.hpp"
#include "runtime/layout/print_records.hpp"
#include "runtime/reference/race/recorded.hpp"

namespace lanewise::host {

using namespace detail;  // policies

namespace {

/// A request with everything it needs that must outlive it.
struct Prepared {
  std::optional<ir::Program> traced;  ///< with numbered events, when the device is traced
  std::unique_ptr<reference::race::Recorded> races;  ///< judges what lanes of a device record
  std::optional<Allocated> scratch, params;
  std::vector<Allocation> allocations;  ///< the request's, where others are prepared beside it
  LaunchRequest request;
};

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

uint64_t hostcall_address(const Policies& policies) {
  const std::string& address = policies.at("gcn.hostcall");
  return address == "none" ? 0 : std::stoull(address);
}

/// What kernels of the module print to; 0 where none does.
uint64_t print_address(const Module& m) {
  const Allocated* buffer = m.find_variable(guest::kPrintBuffer);
  return buffer != nullptr ? buffer->address : 0;
}

void write_number(Module& m, const Allocated& at, uint64_t offset, uint64_t value) {
  m.device->engine->write(at.address + offset, std::as_bytes(std::span(&value, 1)));
}

bool is_cooperative(const LaunchOrder& order) {
  return order.options.policies.contains("groups");
}
/// What is prepared for it depends on what ran before.
bool runs_alone(const LaunchOrder& order) {
  return is_cooperative(order) || order.module->heap != nullptr;
}
bool is_resident(const Policies& policies) {
  return policies.at("groups") == "resident";
}

/// For a cooperative launch; others find none.
void give_workspace(Module& m, const Policies& policies) {
  if (m.workspace == nullptr) return;
  const bool resident = is_resident(policies);
  if (!resident && !m.workspace_given) return;
  const uint64_t at = m.workspace->address + guest::kGridWorkspaceAt;
  write_number(m, *m.workspace, 0, resident ? at : 0);
  std::array<uint32_t, (guest::kGridWorkspaceBytes - guest::kGridWorkspaceAt) / 4> nobody_came{};
  nobody_came[0] = guest::kGridWorkspaceBytes;
  m.device->engine->write(at, std::as_bytes(std::span(nobody_came)));
  m.workspace_given = resident;
}

void refuse_resident_grid(const LaunchOrder& order, const Policies& policies) {
  const uint64_t groups = order.options.grid.total();
  const std::string type = order.module->device->info.type;
  if (!is_resident(policies) || groups <= 1 || type == "reference") return;
  fail(ErrorDetail::unsupported,
       fmt::format("a cooperative launch of kernel '{}' has {} groups that wait for each other; "
                   "device '{}' promises to run 1 at a time: use the reference engine",
                   order.program().name, groups, order.module->device->info.name));
}

/// The module's copy of the device's residency map.
void update_residency(Module& m) {
  const guest::ResidencyMap& map = m.device->residency;
  if (m.residency_seen == map.generation()) return;
  if (const Allocated* copy = m.find_variable(sass::kSparseMap))
    m.device->engine->write(copy->address, map.bytes());
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

/// What is launched, with trace points of its own where the device is traced.
void set_program(Prepared& out, Device& device, const ir::Program& program, uint64_t id) {
  LaunchRequest& r = out.request;
  r.program = &program;
  r.program_id = id;
  if (device.events == nullptr) return;
  device.events->number_points(out.traced.emplace(program));
  r.untraced = &program;
  r.untraced_id = id;
  r.program = &*out.traced;
  r.program_id = 0;
  r.events = device.events.get();
}

/// The check of races on a device: its lanes record what there is to judge.
void record_races(Prepared& out, const Device& device) {
  LaunchRequest& r = out.request;
  if (!checks_races(r) || device.info.type == std::string_view("reference")) return;
  if (device.events != nullptr)
    throw Error(ErrorKind::usage,
                fmt::format("--check race: device '{}' records events for one purpose at a time; "
                            "run it without a trace and caches, or with --device reference",
                            device.info.name));
  out.races = std::make_unique<reference::race::Recorded>(out.traced.emplace(*r.program));
  r.program = &*out.traced;
  r.program_id = 0;
  r.events = &out.races->collector();
}

/// Some checks need what the reference engine alone sees.
void refuse_check(const LaunchRequest& request, const Device& device) {
  if (device.info.type == std::string_view("reference")) return;
  struct Unseen {
    const char *check, *what;
  };
  for (const Unseen& u :
       {Unseen{"sync", "who waits where"}, Unseen{"perf", "what each access costs"},
        Unseen{"async", "when a copy reads and writes"}})
    if (checks(request, u.check))
      throw Error(ErrorKind::usage, fmt::format("--check {}: device '{}' does not show {}; run it "
                                                "with --device reference, which does",
                                                u.check, device.info.name, u.what));
  if (const std::string& schedule = request.policies.at("schedule"); schedule != "default")
    throw Error(ErrorKind::usage,
                fmt::format("--schedule {}: device '{}' has an order of its own; run it with "
                            "--device reference, which takes one",
                            schedule, device.info.name));
}

/// The request without its parameters, for which there is memory. While the device is entered.
void prepare(Prepared& out, const LaunchOrder& order, std::span<const std::byte> parameters,
             uint64_t block_bytes) {
  const std::shared_ptr<Device>& device = order.module->device;
  const LaunchOptions& options = order.options;
  const LaunchedProgram& launched = order.module->launched_program(order.index, options.policies);
  LaunchRequest& r = out.request;
  const SpecialisedProgram* special = specialised(order, parameters);
  if (special != nullptr)
    set_program(out, *device, special->program, special->id);
  else
    set_program(out, *device, *launched.program, launched.id);
  r.grid = options.grid;
  r.block = guest::launched_block(order.program(), options.block);
  r.dynamic_shared = options.dynamic_shared;
  r.memcheck = options.memcheck;
  r.wave = chosen_wave_mode(options.wave, device->wave_environment);
  r.step_budget = launched.step_budget;
  r.timeout_seconds = options.timeout_seconds;
  r.cancel = options.cancel;
  r.host_ranges = order.host_ranges;
  r.policies = launched.policies;
  refuse_check(r, *device);
  record_races(out, *device);
  if (const uint64_t bytes = guest::scratch_bytes(*r.program, r.grid, r.block); bytes != 0) {
    refuse_large_scratch(*r.program, bytes);
    out.scratch.emplace(device, bytes, std::string(kScratchName));
    device->unwritten.add(out.scratch->address, bytes);
  }
  const uint64_t bytes =
      std::max<uint64_t>(guest::bytes_with_launch_block(order.program(), block_bytes), 1);
  out.params.emplace(device, Allocated::Place{device->allocate_parameters(bytes), bytes, true});
  r.param_address = out.params->address;
  r.readable = r.writable = device->allocator.end();
  if (launched.addresses_parameters) r.readable = r.param_address + bytes - guest::kArenaBase;
  r.allocations = device->allocator.reachable();
  r.imported = device->allocator.has_imported();
  const Module& module = *order.module;
  r.own_allocations = {out.scratch ? out.scratch->address : 0, print_address(module),
                       device->heap_address,
                       module.workspace != nullptr ? module.workspace->address : 0};
  r.unwritten = &device->unwritten;
}

/// The whole request, while the device is entered; its parameters are in memory then.
void prepare_to_run(Prepared& out, const LaunchOrder& order) {
  Module& module = *order.module;
  // Checks by allocation alone refuse writes to what is read only.
  if (order.options.memcheck != Memcheck::alloc) module.device->wrote_anywhere = true;
  check_devices(*module.device, order.args);
  if (module.heap != nullptr || module.workspace != nullptr || is_cooperative(order)) {
    const Policies policies = module.launched_program(order.index, order.options.policies).policies;
    refuse_resident_grid(order, policies);
    give_heap(module, std::stoull(policies.at("heap")));
    give_workspace(module, policies);
  }
  std::vector<std::byte> block =
      parameter_block(order.program(), order.args, dimensions_of(order.options));
  prepare(out, order, block, block.size());
  LaunchRequest& r = out.request;
  r.services = hostcall_address(r.policies);
  guest::add_launch_block(*r.program,
                          {.grid = r.grid,
                           .block = order.options.block,  // the request may have whole waves
                           .shared_bytes = r.program->shared_bytes + r.dynamic_shared,
                           .param_address = r.param_address,
                           .scratch_address = out.scratch ? out.scratch->address : 0,
                           .print_address = print_address(module),
                           .hostcall_address = r.services,
                           .cooperative = is_resident(r.policies)},
                          block);
  if (!block.empty()) module.device->engine->write(r.param_address, block);
  r.params = std::move(block);
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

/// With what the kernel's text has of the instructions.
void add_touched(Outcome& outcome, const ir::Program& program, std::vector<TouchedRange>&& ranges) {
  outcome.touched = std::move(ranges);
  for (const TouchedRange& r : outcome.touched)
    for (const uint32_t at : {r.load_site, r.store_site}) {
      if (at >= program.sites.size() || outcome.places.contains(at)) continue;
      const ir::Site& site = program.sites[at];
      outcome.places[at] = {
          site.line, site.text,
          site.source_file.empty() ? "" : fmt::format("{}:{}", site.source_file, site.source_line)};
    }
}

/// Takes what the request and the result hold.
std::shared_ptr<Outcome> outcome_of(const LaunchOrder& order, LaunchRequest&& request,
                                    LaunchResult&& done) {
  Result result;
  Device& device = *order.module->device;
  const ir::Program& program = order.program();
  result.printed = guest::take_printed(*device.engine, device.allocator.allocations(), program,
                                       print_address(*order.module));
  if (!done.faults.empty()) {
    const std::vector<Allocation> near = with_host_ranges(request.allocations, request.host_ranges);
    const std::vector<Allocation> closed = device.allocator.closed();
    const FaultMemory memory{near, device.allocator.freed(), request.params,
                             guest::shared_bytes(program, request.dynamic_shared), closed};
    for (const Fault& f : done.faults) result.faults.push_back(report(program, f, memory));
    for (FaultReport& f : result.faults) say_stack(f, program, request.policies, near);
  }
  result.fault_count = done.fault_count;
  result.times = {order.module->parse_ms, done.times.translate_ms, done.times.pipeline_ms,
                  done.times.dispatch_ms};
  result.wave_mode = std::move(done.wave_mode);
  result.wave_reason = std::move(done.wave_reason);
  result.profile = std::move(done.profile);
  result.policies = std::move(request.policies);
  const auto outcome = std::make_shared<Outcome>(program.name, std::move(result));
  add_touched(*outcome, program, std::move(done.touched));
  return outcome;
}

/// What an engine threw; where it gave the launch up, with what was found until then.
std::exception_ptr with_found(const std::exception_ptr& error, const LaunchOrder& order,
                              LaunchRequest&& request) {
  try {
    std::rethrow_exception(error);
  } catch (const guest::Ended& ended) {
    LaunchResult done = ended.result;
    const auto found = outcome_of(order, std::move(request), std::move(done));
    if (found->reports.empty()) return error;
    std::string first = found->reports.front();
    if (first.starts_with("fault: ")) first.erase(0, 7);
    while (first.ends_with('\n')) first.pop_back();
    for (size_t at = 0; (at = first.find("\n    ", at)) != std::string::npos;)
      first.replace(at, 5, ", ");
    const uint64_t lanes = found->result.fault_count;
    return std::make_exception_ptr(
        DetailedError(ended.kind(), ended.detail(),
                      fmt::format("{}; before that {} lane{} faulted, the first: {}", ended.what(),
                                  lanes, lanes == 1 ? "" : "s", first)));
  } catch (...) {
    return error;
  }
}

/// Launches that are prepared together before the first of them runs.
class LaunchGroup {
 public:
  LaunchGroup(Device& device, std::span<const LaunchOrder> orders, std::vector<LaunchEnd>& ends)
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
  /// With memory of its own, with events, or with a buffer that is emptied before the next one
  /// prints.
  static bool is_alone(const Prepared& p, const LaunchOrder& o) {
    return p.scratch || p.races != nullptr || o.program().needs.prints || runs_alone(o);
  }
  bool is_alone(size_t prepared) const {
    const LaunchOrder& o = order(prepared);
    return is_alone(*prepared_[prepared], o);
  }
  const LaunchOrder& order(size_t prepared) const { return orders_[ends_.size() + prepared]; }

  /// False when it cannot be prepared beside the others, or when that is its end.
  bool add_next() {
    auto next = std::make_unique<Prepared>();
    const LaunchOrder& o = order(prepared_.size());
    try {
      prepare_to_run(*next, o);
    } catch (...) {
      // It may be that the others take too much memory: once they have run, it is tried again.
      if (prepared_.empty()) ends_.push_back({nullptr, std::current_exception()});
      return false;
    }
    if (is_alone(*next, o) && !prepared_.empty()) return false;
    prepared_.push_back(std::move(next));
    return true;
  }

  /// Each sees what it would see alone: no other's parameters. Several get lists without names,
  /// which engines have no use for.
  void give_allocations() {
    const std::vector<Allocation>& all = device_.allocator.reachable();
    if (prepared_.size() == 1) {
      prepared_.front()->request.allocations = all;
      return;
    }
    std::vector<uint64_t> parameters;
    for (const auto& p : prepared_) parameters.push_back(p->params->address);
    std::ranges::sort(parameters);
    std::vector<Allocation> seen_by_all;
    for (const Allocation& a : all)
      if (!std::ranges::binary_search(parameters, a.address))
        seen_by_all.push_back({a.address, a.size, {}, a.read_only});
    for (const auto& p : prepared_) {
      p->allocations.reserve(seen_by_all.size() + 1);
      p->allocations = seen_by_all;
      const Allocated& own = *p->params;
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

  void run_prepared() {
    if (prepared_.empty()) return;
    give_allocations();
    std::vector<LaunchRequest> requests;
    requests.reserve(prepared_.size());
    for (const auto& p : prepared_) requests.push_back(std::move(p->request));
    std::vector<LaunchOutcome> outcomes = device_.engine->launch_in_turn(requests);
    const std::span<const LaunchOrder> done = orders_.subspan(ends_.size(), prepared_.size());
    for (size_t i = 0; i < done.size(); ++i) {
      if (prepared_[i]->races != nullptr) prepared_[i]->races->collect(outcomes[i].result);
      if (!outcomes[i].result.faults.empty()) name_allocations(*prepared_[i]);
      if (outcomes[i].error)
        ends_.push_back({nullptr, with_found(outcomes[i].error, done[i], std::move(requests[i]))});
      else
        ends_.push_back(
            {outcome_of(done[i], std::move(requests[i]), std::move(outcomes[i].result)), {}});
    }
    prepared_.clear();
  }

  Device& device_;
  std::span<const LaunchOrder> orders_;
  std::vector<LaunchEnd>& ends_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
};

}  // namespace

LaunchedProgram& Module::launched_program(size_t index, const Policies& asked) {
  constexpr size_t kMostKept = 256;  // beyond that all are dropped
  if (const auto known = launched.find(std::pair<size_t, const Policies&>(index, asked));
      known != launched.end())
    return known->second;
  LaunchedProgram made;
  made.policies = complete_policies(asked);
  made.step_budget = step_budget(made.policies);
  made.program = &module.kernels[index];
  made.id = new_program_id();
  made.addresses_parameters = ir::addresses_parameters(*made.program);
  made.textures = ir::texture_handles(*made.program);
  made.changed = *made.program;
  if (!apply_policies(*made.changed, made.policies)) made.changed.reset();
  if (launched.size() >= kMostKept) launched.clear();
  LaunchedProgram& kept = launched[{index, asked}] = std::move(made);
  if (kept.changed) kept.program = &*kept.changed;
  return kept;
}

std::shared_ptr<Outcome> launch(const LaunchOrder& order) {
  Device& device = *order.module->device;
  const auto lock = device.enter();
  Prepared prepared;
  prepare_to_run(prepared, order);
  try {
    LaunchResult done = device.engine->launch(prepared.request);
    if (prepared.races != nullptr) prepared.races->collect(done);
    return outcome_of(order, std::move(prepared.request), std::move(done));
  } catch (const guest::Ended&) {
    std::rethrow_exception(
        with_found(std::current_exception(), order, std::move(prepared.request)));
  }
}

std::vector<LaunchEnd> launch_in_turn(Device& device, std::span<const LaunchOrder> orders) {
  std::vector<LaunchEnd> ends;
  try {
    ends.reserve(orders.size());
    const auto lock = device.enter();
    LaunchGroup(device, orders, ends).run();
  } catch (...) {
    ends.resize(orders.size(), {nullptr, std::current_exception()});
  }
  return ends;
}

Translated translate(const LaunchOrder& order) {
  const auto lock = order.module->device->enter();
  const uint32_t bytes = order.program().param_bytes;
  Prepared prepared;
  std::vector<std::byte> parameters;
  if (!order.args.empty())
    parameters = parameter_block(order.program(), order.args, dimensions_of(order.options));
  prepare(prepared, order, parameters, bytes);
  prepared.request.params.resize(bytes);
  Translated made = order.module->device->engine->translate(prepared.request);
  if (made.words.empty())
    fail(ErrorDetail::invalid_value, "the reference engine runs no SPIR-V; choose a Vulkan device");
  return made;
}

}  // namespace lanewise::host
