#include "runtime/host/core/context.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/host/core/observe.hpp"
#include "runtime/host/core/status.hpp"

namespace lanewise::core {
namespace {

constexpr size_t kMostPending = 1024;
thread_local bool calls_program = false;
std::atomic<Context*> the_context = nullptr;

Code code_of(const lw_fault& fault) {
  using Row = std::pair<std::string_view, Code>;
  constexpr std::array kRows = {
      Row{"out_of_range", Code::illegal_address},
      Row{"null", Code::illegal_address},
      Row{"write_to_read_only", Code::illegal_address},
      Row{"misaligned", Code::misaligned_address},
      Row{"illegal_instruction", Code::illegal_instruction},
      Row{"illegal_encoding", Code::illegal_instruction},
      Row{"step_budget", Code::timeout},
      Row{"stack_overflow", Code::hardware_stack},
      Row{"uninitialised", Code::success},
  };
  if (*fault.assertion != '\0') return Code::assertion;
  for (const auto& [kind, code] : kRows)
    if (kind == fault.kind) return code;
  return Code::launch_failure;
}

/// Freed memory, like memory that nobody wrote, is a finding: no call fails for it on a GPU.
bool is_finding(const lw_fault& fault) {
  return fault.allocation_freed != 0 || std::string_view(fault.kind) == "uninitialised";
}

/// Of the first lane whose fault is more than a finding.
Code code_of(lw_result* result, uint32_t faults) {
  for (uint32_t i = 0; i < faults; ++i) {
    lw_fault fault{};
    fault.struct_size = sizeof fault;
    check(lw_result_fault(result, i, &fault));
    if (!is_finding(fault)) return code_of(fault);
  }
  return Code::success;
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
  if (Context* made = the_context) return *made;
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
  }
  return *the_context;
}

Context* Context::opened() {
  return the_context;
}

Context::Context() : settings_(Settings::from_environment()) {
  if (lw_device_open(default_device(), &device_) != LW_OK) {
    report_line(lw_last_error());
    fail(Code::no_device);
  }
  info_.struct_size = sizeof info_;
  check(lw_device_get_info(device_, &info_));
  if (settings_.verbose) report_line(std::string("kernels run on ") + info_.name);
  set_stack(0);
  start_observing(*this);
  check(lw_queue_create(device_, &queue_));
  memory_ = std::make_unique<AddressSpace>(device_, info_.max_arena, settings_.copies_host_memory);
}

/// What launches under way use stays.
void Context::set_stack(uint64_t bytes) {
  auto* texts = new std::vector<std::string>(settings_.policies);
  if (bytes != 0) texts->push_back("stack=" + std::to_string(bytes));
  auto* policies = new std::vector<const char*>;
  for (const std::string& text : *texts) policies->push_back(text.c_str());
  auto* options = new lw_launch_options(LW_LAUNCH_OPTIONS_INIT);
  options->memcheck = settings_.memcheck;
  options->timeout_seconds = settings_.timeout_seconds;
  options->policies = policies->data();
  options->policy_count = policies->size();
  launch_options_ = options;
}

void Context::put_launch(lw_kernel* kernel, const lw_launch_options& options, const lw_arg* args,
                         size_t count) {
  if (memory_->has_mirrors()) put([this] { memory_->mirrors_to_device(); });
  lw_event* event = nullptr;
  bool full = false;
  {
    const std::lock_guard lock(pending_mutex_);
    check(lw_queue_launch(queue_, kernel, &options, args, count, &event));
    pending_.push_back(event);
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
    std::function<void()> work;
    bool always;
  };
  auto call = std::make_unique<Call>(Call{this, std::move(work), even_after_failure});
  const auto run = [](void* user) {
    const std::unique_ptr<Call> mine(static_cast<Call*>(user));
    Context& context = *mine->context;
    context.reap();
    if (context.found_ == Code::success || mine->always) {
      try {
        mine->work();
      } catch (const Failure& failure) {
        context.found(failure.code());
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

void Context::found(Code code) {
  Code none = Code::success;
  if (code != Code::success) found_.compare_exchange_strong(none, code);
}

void Context::take_result(lw_event* event) {
  lw_result* result = nullptr;
  const lw_status status = lw_event_wait(event, &result);
  const Code failed = core::code_of(status);
  const std::string message = status != LW_OK ? lw_last_error() : "";
  lw_event_release(event);
  ++done_;
  lw_result_info info{};
  info.struct_size = sizeof info;
  if (result == nullptr) {
    if (!reported_.exchange(true)) report_line(message);
    return found(failed);
  }
  check(lw_result_get_info(result, &info));
  if (info.printed_bytes != 0) std::fwrite(info.printed, 1, info.printed_bytes, stdout);
  if (info.fault_count != 0) {
    lw_fault fault{};
    fault.struct_size = sizeof fault;
    check(lw_result_fault(result, 0, &fault));
    counts_.faults += info.fault_count;
    if (!reported_.exchange(true)) {
      std::fflush(stdout);
      std::string report = fault.report;
      while (report.ends_with('\n')) report.pop_back();
      if (info.fault_count > 1)
        report += "\n    and " + std::to_string(info.fault_count - 1) + " more lanes";
      std::fprintf(stderr, "========= lanewise: %s\n", report.c_str());
    }
    found(code_of(result, info.reported_faults));
  }
  lw_result_release(result);
}

/// Results of launches that are done, in their order. It never waits: the queue's thread may want
/// the same lock for work that stands before a launch.
void Context::reap() {
  const std::lock_guard order(reap_mutex_);
  for (;;) {
    lw_event* event = nullptr;
    {
      const std::lock_guard lock(pending_mutex_);
      if (pending_.empty()) return;
      event = pending_.front();
      int done = 0;
      if (lw_event_wait_for(event, 0, &done) != LW_OK || done == 0) return;
      pending_.pop_front();
    }
    take_result(event);
  }
}

void Context::drain() {
  if (put_ != done_) lw_queue_finish(queue_);
}

void Context::download() {
  if (launched_.exchange(false) && memory_->has_mirrors()) memory_->mirrors_to_host();
}

void Context::synchronise() {
  require(!in_callback(), Code::not_permitted);
  if (put_ != done_) {
    drain();
    reap();
    download();
    register_end();
  }
  if (found_ == Code::success) return;
  failure_ = found_.load();
  fail(failure_);
}

bool Context::is_idle() {
  reap();
  if (put_ != done_) return false;
  synchronise();
  return true;
}

void Context::end() {
  if (ended_.exchange(true)) return;
  // What is local to this thread was destroyed before.
  std::thread([this] {
    drain();
    reap();
    std::fflush(stdout);
    finish_observing(*this);
  }).join();
}

void Context::reset() {
  drain();
  reap();
  std::fflush(stdout);
  memory_->clear();
  found_ = failure_ = Code::success;
  reported_ = false;
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
