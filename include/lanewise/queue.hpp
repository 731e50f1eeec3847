// Work that runs behind the caller's back, in order.
//
//   lanewise::Queue queue(device);
//   queue.write(x, bytes);
//   auto launched = queue.launch(kernel, {.grid = {4}, .block = {256}}, {1000, 2.0f, x, y});
//   auto copied = queue.read(y, host);          // host must live until then
//   copied.wait();                              // throws what the copy failed with
//   launched.result().check();                  // faults belong to their launch
//
// Several queues of one device take turns on it; each keeps its own order. Work that fails does not
// stop its queue: its event has the error.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "lanewise/lanewise.hpp"

namespace lanewise {

namespace detail {
/// A function in a queue, and what it threw.
struct Called {
  std::function<void()> function;
  std::exception_ptr error;
  static void run(void* user) {
    const std::unique_ptr<std::shared_ptr<Called>> self(
        static_cast<std::shared_ptr<Called>*>(user));
    try {
      (*self)->function();
    } catch (...) {
      (*self)->error = std::current_exception();
    }
    (*self)->function = nullptr;  // what it holds ends here, not with the event
  }
};
struct EventFacts {
  std::shared_ptr<Called> called;  ///< of Queue::call
  std::mutex mutex;
  std::optional<Result> result;  ///< once it was asked for
};
using EventState = Owned<lw_event, lw_event_release, EventFacts>;
using QueueState = Owned<lw_queue, lw_queue_release, NoFacts>;
}  // namespace detail

/// The end of one job. A cheap handle; any thread may use it.
class Event {
 public:
  bool done() const { return wait_for(std::chrono::nanoseconds(0)); }
  /// Waits for the end. Throws what the work failed with (not guest faults: see result()).
  void wait() const {
    lw_result* result = nullptr;
    const lw_status status = lw_event_wait(state().handle, &result);
    lw_result_release(result);
    if (status != LW_OK && result == nullptr) detail::raise(status);
    if (state_->called != nullptr && state_->called->error)
      std::rethrow_exception(state_->called->error);
  }
  /// Waits at most so long; true when the work has ended.
  bool wait_for(std::chrono::nanoseconds time) const {
    int done = 0;
    const double seconds = std::chrono::duration<double>(time).count();
    detail::call(lw_event_wait_for(state().handle, seconds < 0 ? 0 : seconds, &done));
    return done != 0;
  }
  /// Of a launch, after its end; waits for it. Error(usage) for other work.
  const Result& result() const {
    wait();
    const std::lock_guard lock(state().mutex);
    if (!state_->result) {
      lw_result* result = nullptr;
      lw_event_wait(state_->handle, &result);
      if (result == nullptr)
        throw Error(ErrorKind::usage, "only the event of a launch has a result");
      state_->result = detail::take(result);
    }
    return *state_->result;
  }
  /// When the work began and ended, by std::chrono::steady_clock; waits for the end.
  std::chrono::steady_clock::time_point began() const { return times().first; }
  std::chrono::steady_clock::time_point ended() const { return times().second; }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_event* c_handle() const { return state().handle; }

 private:
  friend class Queue;
  using Time = std::chrono::steady_clock::time_point;
  detail::EventState& state() const { return detail::used(state_, "Event"); }
  std::pair<Time, Time> times() const {
    uint64_t began = 0, ended = 0;
    detail::call(lw_event_times(state().handle, &began, &ended));
    return {Time(std::chrono::nanoseconds(began)), Time(std::chrono::nanoseconds(ended))};
  }
  std::shared_ptr<detail::EventState> state_;
};

/// A first-in-first-out queue with a thread of its own. Functions return at once; what they are
/// given is copied but for host memory to read into. Any thread may use it.
class Queue {
 public:
  explicit Queue(const Device& device) {
    lw_queue* handle = nullptr;
    detail::call(lw_queue_create(device.c_handle(), &handle));
    state_ = detail::own<detail::QueueState>(handle);  // the last owner waits for its work
  }

  /// Arguments are checked when the launch begins; the event has the error then. `kept` is held
  /// until the launch has ended: the owner of options.cancel, for instance.
  Event launch(const Kernel& kernel, const LaunchOptions& options, std::vector<Arg> args,
               std::shared_ptr<const void> kept = {}) {
    const detail::COptions how(options);
    const std::vector<lw_arg> values = detail::to_c(args);
    const auto queue = owner();
    auto keeper = kept == nullptr ? nullptr : std::make_unique<std::shared_ptr<const void>>(kept);
    lw_event* event = nullptr;
    detail::call(lw_queue_launch(queue->handle, kernel.c_handle(), how.get(), values.data(),
                                 values.size(), &event));
    Event out = made(event);
    if (keeper == nullptr) return out;
    const auto let_go = [](void* user) { delete static_cast<std::shared_ptr<const void>*>(user); };
    // Without memory for that function it is kept for ever: the launch may still look at it.
    lw_queue_call(queue->handle, let_go, keeper.release(), nullptr);
    return out;
  }
  Event write(const Buffer& buffer, std::span<const std::byte> bytes, uint64_t offset = 0) {
    lw_event* event = nullptr;
    detail::call(lw_queue_write(owner()->handle, buffer.c_handle(), offset, bytes.data(),
                                bytes.size(), &event));
    return made(event);
  }
  Event read(const Buffer& buffer, std::span<std::byte> bytes, uint64_t offset = 0) {
    lw_event* event = nullptr;
    detail::call(lw_queue_read(owner()->handle, buffer.c_handle(), offset, bytes.data(),
                               bytes.size(), &event));
    return made(event);
  }
  /// Calls a function on the queue's thread. It may use the queue, but not wait for it.
  Event call(std::function<void()> function) {
    if (!function) throw Error(ErrorKind::usage, "an empty function was put into a queue");
    const auto queue = owner();
    auto called = std::make_shared<detail::Called>();
    called->function = std::move(function);
    auto user = std::make_unique<std::shared_ptr<detail::Called>>(called);
    lw_event* event = nullptr;
    detail::call(lw_queue_call(queue->handle, detail::Called::run, user.get(), &event));
    static_cast<void>(user.release());  // the function's own
    Event out = made(event);
    out.state_->called = std::move(called);
    return out;
  }
  /// Later work of this queue begins when the event of another one has happened, however it ended.
  void wait_for(const Event& event) {
    detail::call(lw_queue_wait_event(owner()->handle, event.c_handle()));
  }
  /// Waits until everything that was put in is done.
  void finish() { detail::call(lw_queue_finish(owner()->handle)); }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_queue* c_handle() const { return owner()->handle; }

 private:
  /// A copy: a function in the queue may end the queue's handle while it is put in.
  std::shared_ptr<detail::QueueState> owner() const {
    detail::used(state_, "Queue");
    return state_;
  }
  static Event made(lw_event* handle) {
    Event out;
    out.state_ = detail::own<detail::EventState>(handle);
    return out;
  }
  std::shared_ptr<detail::QueueState> state_;
};

}  // namespace lanewise
