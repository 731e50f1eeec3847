#include "runtime/api/queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "lanewise/error_detail.hpp"
#include "runtime/api/state.hpp"

namespace lanewise::host {
namespace detail {

using Clock = std::chrono::steady_clock;

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
  std::optional<Result> result;
  Clock::time_point began, ended;

  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
};

using Work = std::function<void()>;

struct QueueTask {
  std::variant<Work, LaunchOrder> what;
  std::shared_ptr<EventState> event;
};

/// What the queue's thread and its owner share.
struct QueueLine {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<QueueTask> tasks;
  bool closed = false;
};

namespace {

void end(EventState& event, LaunchEnd how) {
  const std::lock_guard lock(event.mutex);
  event.result = std::move(how.result);
  event.error = how.error;
  event.ended = Clock::now();
  event.done = true;
  event.changed.notify_all();
}

void perform(const Work& work, EventState& event) {
  event.began = Clock::now();
  LaunchEnd how;
  try {
    work();
  } catch (...) {
    how.error = std::current_exception();
  }
  end(event, std::move(how));
}

void perform(DeviceState& device, std::span<const LaunchOrder> launches,
             std::span<const std::shared_ptr<EventState>> events) {
  const auto now = Clock::now();
  for (const auto& event : events) event->began = now;
  std::vector<LaunchEnd> ends = DeviceAccess::launch_in_turn(device, launches);
  for (size_t i = 0; i < events.size(); ++i) end(*events[i], std::move(ends[i]));
}

/// The launches in front of the line, which may share a submission; or the one task there.
std::vector<QueueTask> take(std::deque<QueueTask>& tasks) {
  constexpr size_t kMost = 64;
  std::vector<QueueTask> taken;
  taken.reserve(std::min(kMost, tasks.size()));
  do {
    taken.push_back(std::move(tasks.front()));
    tasks.pop_front();
  } while (taken.size() < kMost && !tasks.empty() && taken.front().what.index() == 1 &&
           tasks.front().what.index() == 1);
  return taken;
}

void perform(DeviceState& device, std::vector<QueueTask> tasks) {
  if (const Work* work = std::get_if<Work>(&tasks.front().what))
    return perform(*work, *tasks.front().event);
  std::vector<LaunchOrder> launches;
  std::vector<std::shared_ptr<EventState>> events;
  launches.reserve(tasks.size());
  events.reserve(tasks.size());
  for (QueueTask& t : tasks) {
    launches.push_back(std::move(std::get<LaunchOrder>(t.what)));
    events.push_back(std::move(t.event));
  }
  perform(device, launches, events);
}

/// Until the queue is closed and empty.
void serve(DeviceState& device, const std::shared_ptr<QueueLine>& line) {
  for (;;) {
    std::vector<QueueTask> tasks;
    {
      std::unique_lock lock(line->mutex);
      line->changed.wait(lock, [&] { return line->closed || !line->tasks.empty(); });
      if (line->tasks.empty()) return;
      tasks = take(line->tasks);
    }
    perform(device, std::move(tasks));
  }
}

}  // namespace

struct QueueState {
  std::shared_ptr<DeviceState> device;
  std::shared_ptr<QueueLine> line = std::make_shared<QueueLine>();
  std::thread thread;

  explicit QueueState(std::shared_ptr<DeviceState> d) : device(std::move(d)) {
    thread = std::thread([device = device, line = line] { serve(*device, line); });
  }
  ~QueueState() {
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
  QueueState(const QueueState&) = delete;
  QueueState& operator=(const QueueState&) = delete;

  std::shared_ptr<EventState> put(std::variant<Work, LaunchOrder> what) {
    auto event = std::make_shared<EventState>();
    {
      const std::lock_guard lock(line->mutex);
      line->tasks.push_back({std::move(what), event});
    }
    line->changed.notify_one();
    return event;
  }
};

}  // namespace detail

detail::EventState& Event::state() const {
  if (state_ == nullptr) detail::refuse_empty("Event");
  return *state_;
}

bool Event::done() const {
  const std::lock_guard lock(state().mutex);
  return state_->done;
}

void Event::wait() const {
  state().wait();
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Event::wait_for(std::chrono::nanoseconds time) const {
  std::unique_lock lock(state().mutex);
  return state_->changed.wait_for(lock, time, [this] { return state_->done; });
}

const Result& Event::result() const {
  wait();
  if (!state_->result) throw Error(ErrorKind::usage, "only the event of a launch has a result");
  return *state_->result;
}

std::chrono::steady_clock::time_point Event::began() const {
  state().wait();
  return state_->began;
}
std::chrono::steady_clock::time_point Event::ended() const {
  state().wait();
  return state_->ended;
}

/// A copy: a function in the queue may end the queue's handle while it is put in.
std::shared_ptr<detail::QueueState> Queue::owner() const {
  if (state_ == nullptr) detail::refuse_empty("Queue");
  return state_;
}

Queue::Queue(const Device& device)
    : state_(std::make_shared<detail::QueueState>(detail::DeviceAccess::owner(device))) {}

Event Queue::launch(const Kernel& kernel, const LaunchOptions& options, std::vector<Arg> args,
                    std::shared_ptr<const void> kept) {
  kernel.name();  // an empty handle is the caller's mistake, not the event's
  const auto state = owner();
  if (!detail::DeviceAccess::is_of(kernel, *state->device))
    throw DetailedError(ErrorKind::usage, ErrorDetail::other_device,
                        "the kernel was loaded on another device than the queue's");
  Event event;
  event.state_ =
      state->put(detail::DeviceAccess::order(kernel, options, std::move(args), std::move(kept)));
  return event;
}

Event Queue::write(const Buffer& buffer, std::span<const std::byte> bytes, uint64_t offset) {
  buffer.size();
  Event event;
  event.state_ =
      owner()->put([to = buffer, copy = std::vector<std::byte>(bytes.begin(), bytes.end()),
                    offset]() mutable { to.write(copy, offset); });
  return event;
}

Event Queue::read(const Buffer& buffer, std::span<std::byte> bytes, uint64_t offset) {
  buffer.size();
  Event event;
  event.state_ = owner()->put([buffer, bytes, offset] { buffer.read(bytes, offset); });
  return event;
}

Event Queue::call(std::function<void()> function) {
  if (!function) throw Error(ErrorKind::usage, "an empty function was put into a queue");
  Event event;
  event.state_ = owner()->put([function = std::move(function)] { function(); });
  return event;
}

void Queue::wait_for(const Event& event) {
  event.state();
  owner()->put([other = event.state_] { other->wait(); });
}

void Queue::finish() {
  const auto state = owner();
  if (state->thread.get_id() == std::this_thread::get_id())
    throw Error(ErrorKind::usage, "a function in a queue cannot wait for its queue");
  state->put([] {})->wait();
}

}  // namespace lanewise::host
