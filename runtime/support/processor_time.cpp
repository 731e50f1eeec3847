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
  std::error_code ended;  // a system without the folder tells of no others
  for (std::filesystem::directory_iterator task("/proc/self/task", ended), end;
       !ended && task != end; task.increment(ended)) {
    const std::string name = task->path().filename().string();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread != gettid() && is_running(task->path())) out.push_back(thread);
  }
  return out;
}

/// What runs for others is found running look after look, but where it waits for memory or a lock.
/// A thread that has just done its work and goes to sleep is found once or twice.
std::vector<int> threads_of_others() {
  constexpr int kLooks = 5;
  std::map<int, int> found;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const int thread : running_threads()) ++found[thread];
    if (found.empty()) break;
  }
  std::vector<int> out;
  for (const auto& [thread, times] : found)
    if (times >= kLooks - 1) out.push_back(thread);
  return out;
}

}  // namespace

ProcessorTime::ProcessorTime() {
  for (const int thread : threads_of_others())
    if (const auto used = read_clock(clock_of(thread))) others_.push_back({thread, *used});
  start_ = read_clock(CLOCK_PROCESS_CPUTIME_ID).value_or(0);
}

double ProcessorTime::milliseconds() const {
  double sum = read_clock(CLOCK_PROCESS_CPUTIME_ID).value_or(0) - start_;
  for (const Other& other : others_)
    sum -= read_clock(clock_of(other.thread)).value_or(other.start) - other.start;
  return sum;
}

}  // namespace lanewise
