// The time limit of a launch.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "runtime/guest/ended.hpp"

namespace lanewise::reference {

class Deadline {
 public:
  /// 0 seconds = no limit. cancel may be null.
  explicit Deadline(double seconds, const std::atomic<bool>* cancel = nullptr)
      : seconds_(seconds), cancel_(cancel) {
    // A year is as good as for ever, and converts without overflow.
    end_ += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(std::min(seconds, 365.0 * 24 * 3600)));
  }

  /// Throws Error(budget) once the launch has run longer than it may, or was cancelled. Asked for
  /// so often that reading the clock each time would be felt.
  void check() const {
    static thread_local uint32_t asked = 0;
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) throw guest::cancelled();
    if (seconds_ > 0 && ++asked % 64 == 0 && Clock::now() > end_) throw guest::timed_out(seconds_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  const std::atomic<bool>* cancel_;
  Clock::time_point end_ = Clock::now();
};

}  // namespace lanewise::reference
