#include "runtime/reference/deadline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/support/error.hpp"

namespace lanewise::reference {

Deadline::Deadline(double seconds) : seconds_(seconds) {
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
  throw Error(ErrorKind::budget,
              fmt::format("the kernel did not end within {} s and was stopped; its buffers hold "
                          "what it had written",
                          seconds_));
}

}  // namespace lanewise::reference
