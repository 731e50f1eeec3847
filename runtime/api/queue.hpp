// Work that runs behind the caller's back, in order.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/api/api.hpp"

namespace lanewise::host {

namespace detail {
struct EventState;
struct QueueState;
}  // namespace detail

/// The end of one job. A cheap handle; any thread may use it.
class Event {
 public:
  bool done() const;
  /// Waits for the end. Throws what the work failed with (not guest faults: see result()).
  void wait() const;
  /// Waits at most so long; true when the work has ended.
  bool wait_for(std::chrono::nanoseconds time) const;
  /// Of a launch, after its end; waits for it. Error(usage) for other work.
  const Result& result() const;
  /// When the work began and ended, by std::chrono::steady_clock; waits for the end.
  std::chrono::steady_clock::time_point began() const, ended() const;

 private:
  friend class Queue;
  detail::EventState& state() const;
  std::shared_ptr<detail::EventState> state_;
};

/// A first-in-first-out queue with a thread of its own. Functions return at once; what they are
/// given is copied but for host memory to read into. Any thread may use it.
class Queue {
 public:
  explicit Queue(const Device& device);

  /// Arguments are checked when the launch begins; the event has the error then. `kept` is held
  /// until the launch has ended: the owner of options.cancel, for instance.
  Event launch(const Kernel& kernel, const LaunchOptions& options, std::vector<Arg> args,
               std::shared_ptr<const void> kept = {});
  Event write(const Buffer& buffer, std::span<const std::byte> bytes, uint64_t offset = 0);
  Event read(const Buffer& buffer, std::span<std::byte> bytes, uint64_t offset = 0);
  /// Calls a function on the queue's thread. It may use the queue, but not wait for it.
  Event call(std::function<void()> function);
  /// Later work of this queue begins when the event of another one has happened, however it ended.
  void wait_for(const Event& event);
  /// Waits until everything that was put in is done.
  void finish();

 private:
  std::shared_ptr<detail::QueueState> owner() const;
  std::shared_ptr<detail::QueueState> state_;  ///< the last owner waits for what is in the queue
};

}  // namespace lanewise::host
