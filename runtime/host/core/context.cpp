#include "runtime/host/core/context.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lanewise/detail/fields.hpp"
#include "runtime/host/core/api_watch.hpp"
#include "runtime/host/core/gpu_table.hpp"
#include "runtime/host/core/observe.hpp"
#include "runtime/host/core/status.hpp"
#include "runtime/host/core/stream.hpp"
#include "runtime/layout/device_heap.hpp"
#include "runtime/support/beside.hpp"

namespace lanewise::core {
namespace {

constexpr size_t kMostPending = 1024;
thread_local bool calls_program = false;
std::atomic<Context*> the_context = nullptr;

Code code_of(const lw_fault& fault) {
  static constexpr std::pair<std::string_view, Code> kCodes[] = {
      {"out_of_range", Code::illegal_address},
      {"null", Code::illegal_address},
      {"write_to_read_only", Code::illegal_address},
      {"misaligned", Code::misaligned_address},
      {"illegal_instruction", Code::illegal_instruction},
      {"illegal_encoding", Code::illegal_instruction},
      {"step_budget", Code::timeout},
      {"stack_overflow", Code::hardware_stack},
      {"uninitialised", Code::success},
  };
  if (*fault.assertion != '\0') return Code::assertion;
  return beside(kCodes, std::string_view(fault.kind), Code::launch_failure);
}

/// Lanes that wait in vain do so because of what happened to others.
bool waited(const lw_fault& fault) {
  return fault.kind == std::string_view("step_budget");
}

/// No call fails on a GPU for what checks find, nor for freed memory.
bool is_finding(const lw_fault& fault) {
  const std::string_view rule = fault.rule;
  return rule == "use-after-free" || rule == "init" || rule == "race" || rule == "async" ||
         rule == "order" ||
         (rule.starts_with("sync-") && rule != "sync-deadlock" && rule != "sync-wave");
}

/// Of the first lane whose fault is more than a finding, rather of one that did not wait in vain.
Code code_of(lw_result* result, uint32_t faults) {
  Code code = Code::success;
  for (uint32_t i = 0; i < faults; ++i) {
    lw_fault fault{};
    fault.struct_size = sizeof fault;
    check(lw_result_fault(result, i, &fault));
    if (is_finding(fault) || (waited(fault) && code != Code::success)) continue;
    code = code_of(fault);
    if (!waited(fault)) break;
  }
  return code;
}

/// Where no device is named: a GPU, else the reference engine. On the same cores a CPU's Vulkan
/// driver compiles each kernel first, was not faster on whole programs, and some end long loops.
const char* default_device() {
  const char* named = std::getenv("LANEWISE_DEVICE");
  if (named != nullptr && *named != '\0' && std::strcmp(named, "auto") != 0) return named;
  size_t count = 0;
  if (lw_list_devices(nullptr, &count) != LW_OK || count == 0) return nullptr;
  std::vector<lw_device_info> devices(count);
  devices.front().struct_size = sizeof devices.front();
  if (lw_list_devices(devices.data(), &count) != LW_OK) return nullptr;
  const bool has_gpu = std::ranges::any_of(devices, [](const lw_device_info& device) {
    const std::string_view type = device.type;
    return type == "discrete" || type == "integrated" || type == "virtual";
  });
  return has_gpu ? nullptr : "reference";
}

/// Handlers run in the order opposite to that of their registration, and so do destructors of what
/// the library made meanwhile, which reports need: it is registered again now and then.
void register_end() {
  static std::atomic<uint64_t> calls = 0;
  const uint64_t count = ++calls;
  if ((count & (count - 1)) == 0) std::atexit([] { the_context.load()->end(); });
}

}  // namespace

Context& Context::current() {
  static std::mutex mutex;
  static Code failed = Code::success;  // it is not tried again
  if (Context* made = the_context) {
    require(!made->forked_, Code::not_initialised);
    return *made;
  }
  const std::lock_guard lock(mutex);
  require(failed == Code::success, failed);
  if (the_context == nullptr) {
    try {
      the_context = new Context;  // outlives the program's own destructors
    } catch (const Failure& failure) {
      failed = failure.code();
      throw;
    }
    register_end();
    pthread_atfork(nullptr, nullptr, [] { the_context.load()->become_child(); });
  }
  return *the_context;
}

Context* Context::opened() {
  return the_context;
}

Context::Context() : settings_(Settings::from_environment()) {
  if (const std::string expected = expected_gpus(settings_.gpu); !expected.empty()) {
    report_line("LANEWISE_GPU is '" + settings_.gpu + "'; expected " + expected);
    fail(Code::no_device);
  }
  visible_ = visible_devices(settings_.gpu, settings_.visible);
  require(!visible_.empty(), Code::no_device);
  try {
    findings_ = std::make_unique<findings::Output>(settings_.findings);
    findings_->add_subject("launches");
  } catch (const std::exception& error) {
    report_line(error.what());
    fail(Code::invalid_value);
  }
  if (lw_device_open(default_device(), &device_) != LW_OK) {
    report_line(lw_last_error());
    fail(Code::no_device);
  }
  info_.struct_size = sizeof info_;
  check(lw_device_get_info(device_, &info_));
  if (settings_.verbose) report_line(std::string("kernels run on ") + info_.name);
  for (State& state : states_) build_options(state);
  start_observing(*this);
  check(lw_queue_create(device_, &queue_));
  if (settings_.races)
    order_ = std::make_unique<StreamOrder>(
        std::ranges::find(settings_.policies, "race.same_value=report") !=
        settings_.policies.end());
  if (settings_.perf) costs_ = std::make_unique<CostWatch>(settings_.counters);
  memory_ = std::make_unique<AddressSpace>(device_, info_.max_arena, settings_.copies_host_memory);
}

void Context::set_policy(const std::string& name, uint64_t value) {
  const std::lock_guard lock(reap_mutex_);
  states_[here()].limits[name] = value;
  build_options(states_[here()]);
}

void Context::set_hostcall(uint64_t address) {
  State& state = states_[here()];
  if (state.has_hostcall) return;
  set_policy("gcn.hostcall", address);
  state.has_hostcall = true;
}

void Context::build_options(State& state) const {
  auto made = std::make_unique<OptionTexts>();
  made->texts = settings_.policies;
  for (const auto& [name, value] : state.limits)
    if (value != 0) made->texts.push_back(name + "=" + std::to_string(value));
  made->texts.emplace_back("groups=resident");  // of cooperative launches
  made->policies.reserve(made->texts.size());
  for (const std::string& text : made->texts) made->policies.push_back(text.c_str());
  made->launch = LW_LAUNCH_OPTIONS_INIT;
  made->launch.memcheck = settings_.memcheck;
  made->launch.timeout_seconds = settings_.timeout_seconds;
  made->launch.policies = made->policies.data();
  made->launch.policy_count = made->policies.size() - 1;
  made->cooperative = made->launch;
  made->cooperative.policy_count = made->policies.size();
  state.launch_options = &made->launch;
  state.cooperative_options = &made->cooperative;
  state.options.push_back(std::move(made));
}

void Context::put_launch(lw_kernel* kernel, const lw_launch_options& options, const lw_arg* args,
                         size_t count, const StampPtr& stamp, const CountedLaunchPtr& counted) {
  if (memory_->has_mirrors()) put([this] { memory_->mirrors_to_device(); });
  lw_event* event = nullptr;
  bool full = false;
  {
    std::unique_lock<std::mutex> reach;
    if (visible_.size() > 1) {
      reach = std::unique_lock(reach_mutex_);
      put([this, device = current_device(),
           peers = peers().load()] { memory_->set_reach(device, peers); },
          true);
    }
    const std::lock_guard lock(pending_mutex_);
    check(lw_queue_launch(queue_, kernel, &options, args, count, &event));
    pending_.push_back({event, &states_[here()], stamp, counted});
    ++put_;
    full = pending_.size() >= kMostPending;
  }
  launched_ = true;
  ++counts_.launches;
  if (full) {
    drain();
    reap();
  }
}

void Context::put(std::function<void()> work, bool even_after_failure) {
  struct Call {
    Context* context;
    State* state;
    std::function<void()> work;
    bool always;
  };
  auto call =
      std::make_unique<Call>(Call{this, &states_[here()], std::move(work), even_after_failure});
  const auto run = [](void* user) {
    const std::unique_ptr<Call> mine(static_cast<Call*>(user));
    Context& context = *mine->context;
    context.reap();
    if (mine->state->found == Code::success || mine->always) {
      try {
        mine->work();
      } catch (const Failure& failure) {
        found(*mine->state, failure.code());
        if (*failure.what() != '\0') report_line(failure.what());
      }
    }
    ++context.done_;
  };
  const std::lock_guard lock(pending_mutex_);
  check(lw_queue_call(queue_, run, call.get(), nullptr));
  (void)call.release();  // `run` owns it now
  ++put_;
}

void Context::found(State& state, Code code) {
  Code none = Code::success;
  if (code != Code::success) state.found.compare_exchange_strong(none, code);
}

void Context::take_result(const Pending& launch) {
  const auto& [event, state, stamp, counted] = launch;
  lw_result* result = nullptr;
  const lw_status status = lw_event_wait(event, &result);
  const Code failed = core::code_of(status);
  const std::string message = status != LW_OK ? lw_last_error() : "";
  lw_event_release(event);
  ++done_;
  lw_result_info info{};
  info.struct_size = sizeof info;
  if (result == nullptr) {
    if (!state->reported.exchange(true)) report_line(message);
    return found(*state, failed);
  }
  check(lw_result_get_info(result, &info));
  if (stamp != nullptr) order_->done(stamp, footprint_of(result, info.touched_ranges));
  if (counted != nullptr) {
    const std::lock_guard lock(findings_mutex_);
    findings_->add_subject(counted->kernel);
    costs_->add(info.profile, *counted);
  }
  if (info.printed_bytes != 0) std::fwrite(info.printed, 1, info.printed_bytes, stdout);
  if (info.fault_count != 0) {
    std::string report = add_faults(result, info, static_cast<int>(state - states_.data()));
    if (!report.empty() && !state->reported.exchange(true)) {
      std::fflush(stdout);
      while (report.ends_with('\n')) report.pop_back();
      if (info.fault_count > 1)
        report += "\n    and " + std::to_string(info.fault_count - 1) + " more lanes";
      std::fprintf(stderr, "========= lanewise: %s\n", report.c_str());
    }
    found(*state, code_of(result, info.reported_faults));
  }
  lw_result_release(result);
}

namespace {

/// Of a pointer of the host's that was given to a kernel.
std::string about_host(const lw_fault& fault) {
  if (fault.kind != std::string_view("out_of_range") || *fault.space != '\0' ||
      AddressSpace::is_device_address(fault.address))
    return {};
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  if (mincore(pointer_at(fault.address / page * page), 1, &resident) != 0) return {};  // not mapped
  return "    it is memory of the host that kernels do not reach: copy it, or make it with "
         "cudaMallocManaged or cudaHostAlloc\n";
}

}  // namespace

std::string Context::about_peer(const lw_fault& fault, int device) const {
  const MemoryPtr memory = memory_->find(fault.address);
  if (visible_.size() == 1 || memory == nullptr || memory->device == device ||
      memory->kind != MemoryKind::device)
    return {};
  const std::string owner = std::to_string(memory->device);
  return "    it is memory of device " + owner + ", which kernels of device " +
         std::to_string(device) + " reach once that has called cudaDeviceEnablePeerAccess(" +
         owner + ", 0)\n";
}

std::string Context::add_faults(lw_result* result, const lw_result_info& info, int device) {
  const std::lock_guard lock(findings_mutex_);
  std::string first;
  bool settled = false;
  uint64_t counted = 0;
  for (uint32_t i = 0; i < info.reported_faults; ++i) {
    lw_fault fault{};
    fault.struct_size = sizeof fault;
    check(lw_result_fault(result, i, &fault));
    FaultReport report;
    detail::each_fault_field(report, fault, detail::FromC{});
    findings_->add_subject(report.kernel);
    if (!findings_->add(findings::of_fault(report, fault.report, ""))) continue;
    ++counted;
    if (settled || (!first.empty() && waited(fault))) continue;
    settled = !waited(fault);
    first = fault.report;
    while (first.ends_with('\n')) first.pop_back();
    first += "\n" + about_peer(fault, device) + about_host(fault);
  }
  counts_.faults += counted + (info.fault_count - info.reported_faults);
  if (first.empty() && info.fault_count > info.reported_faults)
    first = "fault: lanes faulted beyond those that are reported and suppressed\n";
  return first;
}

void Context::add_finding(const std::string& rule, const std::string& subject,
                          const std::string& what) {
  findings::Finding finding;
  finding.rule = rule;
  finding.subject = subject;
  finding.message = finding.report = what;
  finding.places.emplace_back();
  add_finding(std::move(finding));
}

void Context::add_finding(findings::Finding finding) {
  const std::string what = finding.message, rule = finding.rule;
  const std::lock_guard lock(findings_mutex_);
  if (!findings_->add(std::move(finding))) return;
  ++counts_.faults;
  report_line(rule.substr(0, rule.find('-')) + ": " + what);
}

/// Notes: the exit code is not theirs.
void Context::report_costs() {
  if (costs_ == nullptr) return;
  for (findings::Finding& finding : costs_->findings()) {
    const std::string text = finding.subject + ": " + finding.report;
    if (findings_->add(std::move(finding))) report_line(text);
  }
  costs_->write();
}

/// Results of launches that are done, in their order. It never waits: the queue's thread may want
/// the same lock for work that stands before a launch.
void Context::reap() {
  const std::lock_guard order(reap_mutex_);
  for (;;) {
    Pending launch{};
    {
      const std::lock_guard lock(pending_mutex_);
      if (pending_.empty()) return;
      launch = pending_.front();
      int done = 0;
      if (lw_event_wait_for(launch.event, 0, &done) != LW_OK || done == 0) return;
      pending_.pop_front();
    }
    take_result(launch);
  }
}

void Context::drain() {
  if (put_ != done_) lw_queue_finish(queue_);
}

void Context::download() {
  if (launched_.exchange(false) && memory_->has_mirrors()) memory_->mirrors_to_host();
}

void Context::synchronise() {
  synchronise_some();
  if (order_) order_->host_waits_for_all();
}

void Context::synchronise_device() {
  synchronise_some();
  if (order_) order_->host_waits_for_device(current_device());
}

void Context::synchronise_some() {
  require(!in_callback(), Code::not_permitted);
  if (put_ != done_) {
    drain();
    reap();
    download();
    register_end();
    report_exhaustion();
  }
  State& state = states_[here()];
  if (state.found == Code::success) return;
  state.failure = state.found.load();
  fail(state.failure);
}

bool Context::is_idle() {
  reap();
  if (put_ != done_) return false;
  synchronise_some();
  return true;
}

bool Context::has_nothing_to_do() {
  reap();
  return put_ == done_ && states_[here()].found == Code::success;
}

void Context::become_child() {
  forked_ = ended_ = true;
  for (State& state : states_) state.failure = Code::not_initialised;
}

void Context::end() {
  if (ended_.exchange(true)) return;
  // What is local to this thread was destroyed before.
  std::thread([this] {
    drain();
    reap();
    report_exhaustion();
    std::fflush(stdout);
    report_leaks(nullptr);
    report_failed_calls();
    finish_observing(*this);
    const std::lock_guard lock(findings_mutex_);
    try {
      report_costs();
      for (const std::string& line : findings_->finish()) report_line(line);
    } catch (const std::exception& error) {
      report_line(error.what());
    }
  }).join();
}

void Context::wait() {
  drain();
  reap();
  if (order_) order_->host_waits_for_all();
}

void Context::reset(const void* owner) {
  wait();
  std::fflush(stdout);
  const int device = current_device();
  report_leaks(&device);
  State& state = states_[here()];
  state.uses_heap = false;
  if (std::ranges::none_of(states_, [](const State& s) { return s.uses_heap.load(); }))
    empty_heap();
  memory_->clear(owner);
  if (owner == nullptr) {
    const std::lock_guard lock(reap_mutex_);
    state.limits.clear();
    state.has_hostcall = false;
    build_options(state);
  }
  state.found = state.failure = Code::success;
  state.reported = false;
}

namespace {

struct Heap {
  uint64_t address = 0;
  uint64_t header[4] = {};  ///< as runtime/layout/device_heap.hpp has it
};
Heap heap_of(lw_device* device, uint64_t variable) {
  Heap heap;
  if (variable == 0 || lw_memory_read(device, variable, &heap.address, 8) != LW_OK ||
      lw_memory_read(device, heap.address, heap.header, sizeof heap.header) != LW_OK)
    return {};
  return heap;
}

std::string counted(uint64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

}  // namespace

void Context::report_exhaustion() {
  const uint64_t variable = heap_variable_;
  if (variable == 0 || heap_exhausted_) return;
  uint64_t heap = 0, failed = 0;
  if (lw_memory_read(device_, variable, &heap, sizeof heap) != LW_OK || heap == 0 ||
      lw_memory_read(device_, heap + guest::kHeapFailed, &failed, sizeof failed) != LW_OK ||
      failed == 0 || heap_exhausted_.exchange(true))
    return;
  uint64_t bytes = guest::kHeapBytes;
  for (const State& state : states_)
    if (const auto limit = state.limits.find("heap"); limit != state.limits.end())
      bytes = limit->second;
  report_line("malloc() of a kernel gave null: kernels have a heap of " + std::to_string(bytes) +
              " bytes; cudaDeviceSetLimit(cudaLimitMallocHeapSize, ...) sets it before its first "
              "use");
}

/// Where the program asks for it: what nobody freed, of one device or of all. They share the heap.
void Context::report_leaks(const int* device) {
  if (!settings_.leaks) return;
  const Heap heap = heap_of(device_, heap_variable_);
  if (heap.header[2] != 0) {
    std::string line = counted(heap.header[2], "block", "blocks") + " of " +
                       std::to_string(heap.header[3]) +
                       " bytes in all, which kernels allocated, not freed:";
    constexpr size_t kMost = 4;
    size_t listed = 0;
    for (uint64_t at = guest::kHeapHeader; at < heap.header[1];) {
      struct {
        uint32_t state, heap_class;
        uint64_t bytes;
      } block{};
      if (lw_memory_read(device_, heap.address + at, &block, sizeof block) != LW_OK) break;
      if (block.state == guest::kHeapInUse && listed++ < kMost) {
        char text[64];
        std::snprintf(text, sizeof text, "%s 0x%" PRIx64 " (%" PRIu64 " bytes)",
                      listed > 1 ? "," : "", uint64_t{heap.address + at + guest::kHeapBlockHeader},
                      block.bytes);
        line += text;
      }
      const bool filler = block.state == guest::kHeapFiller;
      if (!filler && block.heap_class >= guest::kHeapClasses) break;
      at += guest::kHeapBlockHeader + (filler ? 0 : guest::heap_block_bytes(block.heap_class));
    }
    add_finding("leak-heap", "kernels", line + (listed > kMost ? ", ..." : ""));
  }
  for (const std::string& memory : memory_->in_use(device))
    add_finding("leak-memory", memory.substr(0, memory.find(' ')), memory);
  for (const auto& [count, what] :
       {std::pair(Handles<Stream>::count(), "stream"), std::pair(Handles<Event>::count(), "event")})
    if (count != 0)
      add_finding("leak-handle", what,
                  counted(count, what, (std::string(what) + "s").c_str()) + " not destroyed");
}

void Context::empty_heap() {
  const Heap heap = heap_of(device_, heap_variable_);
  heap_variable_ = 0;
  if (heap.address == 0) return;
  std::vector<uint64_t> header(guest::kHeapHeader / 8);
  header[0] = heap.header[0];
  header[1] = guest::kHeapHeader;
  check(lw_memory_write(device_, heap.address, header.data(), guest::kHeapHeader));
}

bool Context::in_callback() {
  return calls_program;
}

void Context::call(const std::function<void()>& function) {
  calls_program = true;
  function();
  calls_program = false;
}

}  // namespace lanewise::core
