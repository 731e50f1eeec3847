// What runs the kernels of all devices of a program (devices.hpp), and the work that is under way
// on it. All streams share one queue, in the order of the calls: one of the orders that streams
// allow, and the same in every run.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/host/core/address_space.hpp"
#include "runtime/host/core/cost_watch.hpp"
#include "runtime/host/core/devices.hpp"
#include "runtime/host/core/settings.hpp"
#include "runtime/host/core/stream_order.hpp"

namespace lanewise::core {

/// What was done, for summaries.
struct Counts {
  std::atomic<uint64_t> launches = 0, copies = 0, copied_bytes = 0, faults = 0;
};

class Context {
 public:
  /// Opened by the first call that needs it; throws where there is no device.
  static Context& current();
  /// Null before that.
  static Context* opened();

  lw_device* device() const { return device_; }
  const lw_device_info& info() const { return info_; }
  const Settings& settings() const { return settings_; }
  /// Numbers of the GPUs that are the devices.
  const std::vector<int>& visible() const { return visible_; }
  /// What every launch on the current device is given, but for its shape.
  const lw_launch_options& launch_options(bool cooperative) const {
    const State& s = states_[here()];
    return *(cooperative ? s.cooperative_options : s.launch_options).load();
  }
  /// What the program limits itself to on the current device, for later launches; 0 = the default.
  void set_policy(const std::string& name, uint64_t value);
  /// Bits of the devices whose memory kernels of the current one reach, beside its own.
  std::atomic<unsigned>& peers() { return states_[here()].peers; }
  /// Where kernels of the current device ask for services of the host.
  void set_hostcall(uint64_t address);
  /// The variable of a module that has the address of the heap, once a launch may use that.
  void note_heap(uint64_t variable) {
    heap_variable_ = variable;
    if (!states_[here()].uses_heap) states_[here()].uses_heap = true;
  }
  bool has_heap() const { return heap_variable_ != 0; }
  AddressSpace& memory() { return *memory_; }
  Counts& counts() { return counts_; }
  /// What a check of the host program found; one line on standard error where it counts.
  void add_finding(const std::string& rule, const std::string& subject, const std::string& what);
  void add_finding(findings::Finding finding);
  /// The check of races between streams; null where nobody asks for it.
  StreamOrder* order() { return order_.get(); }

  /// Whether launches are counted.
  bool counts_costs() const { return costs_ != nullptr; }

  /// Puts a launch behind all other work. `args` as lw_queue_launch takes them; `counted`: null
  /// where nobody asks for costs.
  void put_launch(lw_kernel* kernel, const lw_launch_options& options, const lw_arg* args,
                  size_t count, const StampPtr& stamp, const CountedLaunchPtr& counted);
  /// The same with a function of ours, which does nothing once a kernel has failed.
  void put(std::function<void()> work, bool even_after_failure = false);
  /// Waits for all that was put in, prints what kernels printed, and throws what they failed with.
  /// All streams are waited for.
  void synchronise();
  /// The same for what the program takes for a wait for less: `order` learns that from the caller.
  void synchronise_some();
  /// For all streams of the current device.
  void synchronise_device();
  /// Whether all that was put in is done; throws as synchronise() does.
  bool is_idle();
  /// Whether the same is so, and no kernel of the current device has failed; never throws.
  bool has_nothing_to_do();
  /// What an earlier synchronisation found on the current device; it stays.
  Code failure() const { return states_[here()].failure; }
  /// Waits for all of it, whatever becomes of it.
  void wait();
  /// Waits, then forgets the current device's memory of this owner, and its failures.
  void reset(const void* owner = nullptr);
  /// The program ends: waits for its work, and writes reports.
  void end();
  /// The calling thread runs a function of the program that a stream called.
  static bool in_callback();
  static void call(const std::function<void()>& function);

 private:
  /// Of one device.
  /// What the options of launches point to.
  struct OptionTexts {
    std::vector<std::string> texts;
    std::vector<const char*> policies;
    lw_launch_options launch, cooperative;
  };
  struct State {
    /// Of kernels: what was found, and what a synchronising call has reported since.
    std::atomic<Code> found = Code::success, failure = Code::success;
    std::atomic<bool> reported = false, uses_heap = false;
    std::atomic<unsigned> peers = 0;
    std::atomic<bool> has_hostcall = false;
    std::map<std::string, uint64_t> limits;  ///< policies
    std::atomic<const lw_launch_options*> launch_options = nullptr, cooperative_options = nullptr;
    std::vector<std::unique_ptr<OptionTexts>>
        options;  ///< earlier ones stay, for launches under way
  };
  struct Pending {
    lw_event* event;
    State* state;
    StampPtr stamp;
    CountedLaunchPtr counted;
  };

  Context();
  /// In a child that was forked: it has none of the threads that run kernels, and as with CUDA,
  /// each call fails.
  void become_child();
  static size_t here() { return static_cast<size_t>(current_device()); }
  void drain();
  void reap();
  void take_result(const Pending& launch);
  static void found(State& state, Code code);
  void download();
  void build_options(State& state) const;
  void report_leaks(const int* device);
  void report_costs();
  /// Counts the faults that count; the report of the first of them, or "".
  std::string add_faults(lw_result* result, const lw_result_info& info, int device);
  /// A sentence about a peer's memory that the device does not reach; else "".
  std::string about_peer(const lw_fault& fault, int device) const;
  void empty_heap();
  /// One line for all of the program, where kernels asked for memory that the heap did not have.
  void report_exhaustion();

  Settings settings_;
  std::mutex findings_mutex_;
  std::unique_ptr<findings::Output> findings_;
  lw_device* device_ = nullptr;
  lw_queue* queue_ = nullptr;
  lw_device_info info_{};
  std::unique_ptr<AddressSpace> memory_;
  std::unique_ptr<StreamOrder> order_;
  std::unique_ptr<CostWatch> costs_;
  Counts counts_;
  std::vector<int> visible_;
  std::array<State, kMostDevices> states_;
  std::atomic<uint64_t> heap_variable_ = 0;
  std::atomic<bool> heap_exhausted_ = false;  ///< and reported

  std::mutex reach_mutex_;    ///< what a launch reaches is set right before it
  std::mutex pending_mutex_;  ///< order of the queue and of `pending_`
  std::deque<Pending> pending_;
  std::atomic<uint64_t> put_ = 0, done_ = 0;
  std::mutex reap_mutex_;
  std::atomic<bool> launched_ = false, ended_ = false, forked_ = false;
};

}  // namespace lanewise::core
