// Queues and events: work that runs behind the caller's back, in order.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <variant>

#include "runtime/api/launch/launch.hpp"
#include "runtime/api/objects/structs.hpp"

namespace lanewise::host {
namespace {

using Clock = std::chrono::steady_clock;

struct Event final : Handled<lw_event, HandleKind::event> {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  LaunchEnd how;  ///< other work than a launch has no outcome
  Clock::time_point began, ended;

  void end(LaunchEnd end) {
    const std::lock_guard lock(mutex);
    how = std::move(end);
    ended = Clock::now();
    done = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
};

using Work = std::function<void()>;

struct Task {
  std::variant<Work, LaunchOrder> what;
  std::shared_ptr<Event> event;
};

/// What the queue's thread and its owner share.
struct Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool closed = false;
  bool busy = false;  ///< some thread performs what it took
};

/// The launches in front of the line, which may share a submission; or the one task there.
std::vector<Task> take(std::deque<Task>& tasks) {
  constexpr size_t kMost = 64;
  std::vector<Task> taken;
  taken.reserve(std::min(kMost, tasks.size()));
  do {
    taken.push_back(std::move(tasks.front()));
    tasks.pop_front();
  } while (taken.size() < kMost && !tasks.empty() && taken.front().what.index() == 1 &&
           tasks.front().what.index() == 1);
  return taken;
}

void perform(const Work& work, Event& event) {
  LaunchEnd how;
  try {
    work();
  } catch (...) {
    how.error = std::current_exception();
  }
  event.end(std::move(how));
}

void perform(Device& device, std::vector<Task> tasks) {
  const auto now = Clock::now();
  for (const Task& t : tasks) t.event->began = now;
  if (const Work* work = std::get_if<Work>(&tasks.front().what))
    return perform(*work, *tasks.front().event);
  std::vector<LaunchOrder> launches;
  launches.reserve(tasks.size());
  for (Task& t : tasks) launches.push_back(std::move(std::get<LaunchOrder>(t.what)));
  std::vector<LaunchEnd> ends = launch_in_turn(device, launches);
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i].event->end(std::move(ends[i]));
}

/// While the lock holds the line, which nobody performs tasks of.
void perform_next(Device& device, Line& line, std::unique_lock<std::mutex>& lock) {
  std::vector<Task> tasks = take(line.tasks);
  line.busy = true;
  lock.unlock();
  perform(device, std::move(tasks));
  lock.lock();
  line.busy = false;
}

/// Until the queue is closed and empty.
void serve(Device& device, Line& line) {
  std::unique_lock lock(line.mutex);
  for (;;) {
    line.changed.wait(lock, [&] { return !line.busy && (line.closed || !line.tasks.empty()); });
    if (line.tasks.empty()) return;
    perform_next(device, line, lock);
  }
}

/// Performs launches that the queue's thread has not begun: whoever waits for them anyway is there
/// sooner than that thread. True: nothing is left.
bool help(Device& device, Line& line) {
  std::unique_lock lock(line.mutex);
  bool helped = false;
  while (!line.busy && !line.tasks.empty() && line.tasks.front().what.index() == 1) {
    perform_next(device, line, lock);
    helped = true;
  }
  if (helped && (line.closed || !line.tasks.empty())) line.changed.notify_all();
  return !line.busy && line.tasks.empty();
}

struct Queue final : Handled<lw_queue, HandleKind::queue> {
  const std::shared_ptr<Device> device;
  const std::shared_ptr<Line> line = std::make_shared<Line>();
  std::thread thread;

  explicit Queue(std::shared_ptr<Device> on)
      : device(std::move(on)), thread([of = device, tasks = line] { serve(*of, *tasks); }) {}
  /// The last owner waits for what is in the queue.
  ~Queue() override {
    {
      const std::lock_guard lock(line->mutex);
      line->closed = true;
    }
    line->changed.notify_all();
    // A function on the queue's own thread may be the last to release it.
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }

  std::shared_ptr<Event> put(std::variant<Work, LaunchOrder> what) {
    auto event = std::make_shared<Event>();
    {
      const std::lock_guard lock(line->mutex);
      line->tasks.push_back({std::move(what), event});
    }
    line->changed.notify_one();
    return event;
  }
};

/// The body of functions that put work into a queue: `what` makes it. The queue is held: a function
/// in it may release its handle meanwhile.
template <typename What>
lw_status put(lw_queue* queue, lw_event** out, const What& what) noexcept {
  return guarded([&] {
    if (out != nullptr) *out = nullptr;
    const auto into = find<Queue>(queue);
    const auto event = into->put(what(*into));
    if (out != nullptr) *out = new_handle(event);
  });
}

uint64_t nanoseconds(Clock::time_point t) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count());
}

}  // namespace
}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_queue_create(lw_device* device, lw_queue** out) {
  return gives(out, [&] { return std::make_shared<Queue>(find<Device>(device)); });
}

lw_status lw_queue_launch(lw_queue* queue, lw_kernel* kernel, const lw_launch_options* options,
                          const lw_arg* args, size_t arg_count, lw_event** out) {
  return put(queue, out, [&](const Queue& into) {
    const auto what = find<Kernel>(kernel);
    LaunchOrder order = order_of(*what, options, args, arg_count);
    if (what->module->device != into.device)
      fail(ErrorDetail::other_device, "the kernel was loaded on another device than the queue's");
    return order;
  });
}

lw_status lw_queue_write(lw_queue* queue, lw_buffer* buffer, uint64_t offset, const void* data,
                         uint64_t bytes, lw_event** out) {
  return put(queue, out, [&](const Queue&) -> Work {
    const auto from = span_of<const std::byte>(data, bytes);
    return [to = find<Buffer>(buffer), copy = std::vector(from.begin(), from.end()), offset] {
      to->write(copy, offset);
    };
  });
}

lw_status lw_queue_read(lw_queue* queue, lw_buffer* buffer, uint64_t offset, void* data,
                        uint64_t bytes, lw_event** out) {
  return put(queue, out, [&](const Queue&) -> Work {
    return [from = find<Buffer>(buffer), to = span_of<std::byte>(data, bytes), offset] {
      from->read(to, offset);
    };
  });
}

lw_status lw_queue_call(lw_queue* queue, lw_queue_callback function, void* user, lw_event** out) {
  return put(queue, out, [&](const Queue&) -> Work {
    required(reinterpret_cast<void*>(function), "function");
    return [function, user] { function(user); };
  });
}

lw_status lw_queue_wait_event(lw_queue* queue, lw_event* event) {
  return put(queue, nullptr,
             [&](const Queue&) -> Work { return [other = find<Event>(event)] { other->wait(); }; });
}

lw_status lw_queue_finish(lw_queue* queue) {
  return guarded([&] {
    const auto object = find<Queue>(queue);
    if (object->thread.get_id() == std::this_thread::get_id())
      fail(ErrorDetail::invalid_value, "a function in a queue cannot wait for its queue");
    if (!help(*object->device, *object->line)) object->put(Work([] {}))->wait();
  });
}

lw_status lw_event_wait(lw_event* event, lw_result** result) {
  return guarded([&]() -> lw_status {
    if (result != nullptr) *result = nullptr;
    const auto object = find<Event>(event);
    object->wait();
    if (object->how.error) std::rethrow_exception(object->how.error);
    return object->how.outcome != nullptr ? finish(object->how.outcome, result) : LW_OK;
  });
}

lw_status lw_event_wait_for(lw_event* event, double seconds, int* done) {
  return guarded([&] {
    *required(done, "done") = 0;
    const auto object = find<Event>(event);
    if (!(seconds >= 0)) fail(ErrorDetail::invalid_value, "seconds is no number of at least 0");
    // A year is as good as for ever, and converts without overflow.
    const std::chrono::duration<double> limit(std::min(seconds, 365.0 * 24 * 3600));
    std::unique_lock lock(object->mutex);
    *done =
        object->changed.wait_for(lock, std::chrono::duration_cast<std::chrono::nanoseconds>(limit),
                                 [&] { return object->done; });
  });
}

lw_status lw_event_times(lw_event* event, uint64_t* began, uint64_t* ended) {
  return guarded([&] {
    const auto object = find<Event>(event);
    object->wait();
    *required(began, "began") = nanoseconds(object->began);
    *required(ended, "ended") = nanoseconds(object->ended);
  });
}
