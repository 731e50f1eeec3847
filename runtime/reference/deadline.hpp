// The time limit of a launch, asked for so often that reading a clock each time would be felt.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace lanewise::reference {

/// A thread of its own watches the clock and sets a flag.
class Deadline {
 public:
  /// 0 seconds = no limit, and no thread. cancel may be null.
  explicit Deadline(double seconds, const std::atomic<bool>* cancel = nullptr);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Throws Error(budget) once the launch has run longer than it may, or was cancelled.
  void check() const {
    if (over_.load(std::memory_order_relaxed) || cancel_->load(std::memory_order_relaxed)) refuse();
  }

 private:
  void watch();
  [[noreturn]] void refuse() const;

  double seconds_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool left_ = false;
  std::thread thread_;
};

}  // namespace lanewise::reference
