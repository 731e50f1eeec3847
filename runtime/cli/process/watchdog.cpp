#include "runtime/cli/process/watchdog.hpp"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>

#include "runtime/support/error.hpp"

namespace lanewise::cli {

Watchdog::Watchdog(double seconds, Parts parts) : seconds_(std::min(seconds, 1e8)), parts_(parts) {
  if (seconds_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

double Watchdog::left() const {
  if (seconds_ <= 0) return 0;
  const double gone = std::chrono::duration<double>(Clock::now() - start_).count();
  if (gone < seconds_) return std::ceil((seconds_ - gone) * 1000) / 1000;
  throw Error(ErrorKind::budget,
              fmt::format("the {0} s were over before the kernel could be launched (--timeout {0})",
                          seconds_));
}

void Watchdog::done(size_t count, const char* what) {
  what_ = what;
  done_ = count;
}

/// The promise is a second or a tenth of the limit; what ends gently needs most of it.
void Watchdog::watch() {
  const double more = parts_ == Parts::end_gently ? 0.8 * std::max(1.0, seconds_ / 10) : 0;
  const std::chrono::duration<double> limit(seconds_ + more);
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, start_ + std::chrono::duration_cast<Clock::duration>(limit),
                           [this] { return left_; }))
    end_process();
}

/// Another thread may be inside the very functions that would be used here, so nothing waits for a
/// lock; and where a stream is a pipe that nobody empties, not for that either.
void Watchdog::end_process() const {
  std::signal(SIGALRM, [](int) { _exit(static_cast<int>(ErrorKind::budget)); });
  const itimerval soon{{0, 0}, {0, 100'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  if (ftrylockfile(stdout) == 0) fflush_unlocked(stdout);
  const char* what = what_;
  const std::string text = fmt::format(
      "lanewise: error: the run did not end within {} s{}; {}{}\n", seconds_,
      parts_ == Parts::end_gently ? " and could not be stopped" : " (--timeout)", files_.load(),
      what == nullptr ? std::string() : fmt::format("; {} done: {}", what, done_.load()));
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  _exit(static_cast<int>(ErrorKind::budget));
}

}  // namespace lanewise::cli
