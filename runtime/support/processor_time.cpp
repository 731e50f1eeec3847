#include "runtime/support/processor_time.hpp"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace lanewise {
namespace {

std::optional<double> read_clock(clockid_t clock) {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return {};
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

/// The kernel's name for the clock of a thread: its number's complement, and "of one thread" and
/// "as scheduled" in the low three bits. pthread_getcpuclockid gives the same, for threads that one
/// has a handle of.
clockid_t clock_of(int thread) {
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6U);
}

/// The state is the letter behind the name, which stands in parentheses and may hold some itself.
bool is_running(const std::filesystem::path& task) {
  std::ifstream file(task / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 1, 2) == " R";
}

/// Of this process, without the caller's.
std::vector<int> running_threads() {
  std::vector<int> out;
  std::error_code ended;  // a system without the folder knows of no others
  for (std::filesystem::directory_iterator task("/proc/self/task", ended), end;
       !ended && task != end; task.increment(ended)) {
    const std::string name = task->path().filename().string();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread != gettid() && is_running(task->path())) out.push_back(thread);
  }
  return out;
}

/// A thread computes for others if it goes on for `kComputes` while the caller sleeps. One that has
/// just done its work and has yet to go to sleep, which takes long where processors are few, does
/// not.
std::vector<int> threads_of_others() {
  constexpr double kComputes = 2;  // milliseconds; drivers' threads spin for one before they sleep
  constexpr int kLooks = 200;
  std::map<int, double> first;
  std::set<int> others;
  for (int look = 0; look < kLooks; ++look) {
    bool undecided = false;
    for (const int thread : running_threads()) {
      const auto used = read_clock(clock_of(thread));
      if (!used) continue;  // it has ended
      if (*used - first.try_emplace(thread, *used).first->second >= kComputes)
        others.insert(thread);
      undecided |= !others.contains(thread);
    }
    if (!undecided) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {others.begin(), others.end()};
}

}  // namespace

// The process's clock is the first to be read at the start and the last at the end: what passes
// between the reads of two clocks, which may be much where processors are few, makes the time
// longer, never shorter. The least of several measurements is then the best one.
ProcessorTime::ProcessorTime() {
  const std::vector<int> others = threads_of_others();
  start_ = read_clock(CLOCK_PROCESS_CPUTIME_ID).value_or(0);
  for (const int thread : others)
    if (const auto used = read_clock(clock_of(thread))) others_.push_back({thread, *used});
}

double ProcessorTime::milliseconds() const {
  double by_others = 0;
  for (const Other& other : others_)
    by_others += read_clock(clock_of(other.thread)).value_or(other.start) - other.start;
  return read_clock(CLOCK_PROCESS_CPUTIME_ID).value_or(start_) - start_ - by_others;
}

}  // namespace lanewise
