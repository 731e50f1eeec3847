#include "runtime/vulkan/pipeline/compile_timeout.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace lanewise::vulkan {
namespace {

/// Shared by the thread that works and the one that waits, whichever is there last.
struct Task {
  std::function<void()> work;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;
};

void perform(const std::shared_ptr<Task>& task) {
  std::exception_ptr error;
  try {
    task->work();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(task->mutex);
    task->error = error;
    task->ended = true;
  }
  task->changed.notify_one();
}

}  // namespace

Clock::time_point deadline_after(double seconds) {
  if (seconds <= 0) return Clock::time_point::max();
  const std::chrono::duration<double> span(std::min(seconds, 1e8));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

Clock::duration grace_after(double seconds) {
  const std::chrono::duration<double> span(std::max(0.5, std::min(seconds, 1e8) / 20));
  return std::chrono::duration_cast<Clock::duration>(span);
}

bool ends_by(Clock::time_point deadline, std::function<void()> work) {
  if (deadline == Clock::time_point::max()) {
    work();
    return true;
  }
  const auto task = std::make_shared<Task>();
  task->work = std::move(work);
  std::thread thread(perform, task);
  std::unique_lock lock(task->mutex);
  const bool ended = task->changed.wait_until(lock, deadline, [&] { return task->ended; });
  lock.unlock();
  if (!ended) {
    thread.detach();
    return false;
  }
  thread.join();
  if (task->error) std::rethrow_exception(task->error);
  return true;
}

}  // namespace lanewise::vulkan
