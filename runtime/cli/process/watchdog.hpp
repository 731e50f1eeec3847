// --timeout holds for the whole process, whatever it is waiting for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace lanewise::cli {

/// Everything that can be given up gently is asked to end when the time is over. Where that does
/// not help - a parser, a driver's compiler, a pipe that nobody empties - the watchdog ends the
/// process a little later, with exit code 4.
class Watchdog {
 public:
  enum class Parts : uint8_t {
    end_gently,  ///< what runs has a limit of its own, and a little time behind it
    end_at_once  ///< nothing in here knows of the limit
  };
  /// From now on; 0 = it never ends.
  explicit Watchdog(double seconds, Parts parts = Parts::end_gently);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// What is left of the time for a part that has a limit of its own: 0 = there is no limit.
  /// Error(budget) when nothing is left.
  double left() const;
  double seconds() const { return seconds_; }
  /// Printed when it has to end the process: what became of the user's files. Text that stays.
  void files_are(const char* text) { files_ = text; }
  /// Printed then, too: how far the work has come, as in "cases done: 3". Text that stays.
  void done(size_t count, const char* what);

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  [[noreturn]] void end_process() const;

  double seconds_;
  Parts parts_;
  Clock::time_point start_ = Clock::now();
  std::atomic<const char*> files_ = "no output file was touched";
  std::atomic<size_t> done_ = 0;
  std::atomic<const char*> what_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool left_ = false;
  std::thread thread_;
};

}  // namespace lanewise::cli
