#include "runtime/reference/deadline.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/guest/ended.hpp"

namespace lanewise::reference {

namespace {
const std::atomic<bool> kNeverCancelled = false;
}

Deadline::Deadline(double seconds, const std::atomic<bool>* cancel)
    : seconds_(seconds), cancel_(cancel != nullptr ? cancel : &kNeverCancelled) {
  if (seconds > 0) thread_ = std::thread([this] { watch(); });
}

Deadline::~Deadline() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Deadline::watch() {
  // A year is as good as for ever, and converts without overflow.
  const std::chrono::duration<double> limit(std::min(seconds_, 365.0 * 24 * 3600));
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, limit, [this] { return left_; })) over_ = true;
}

void Deadline::refuse() const {
  if (over_) throw guest::timed_out(seconds_);
  throw guest::cancelled();
}

}  // namespace lanewise::reference
