#include "runtime/cli/process/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "runtime/cli/process/streams.hpp"

namespace lanewise::cli {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  done_ = true;
  done_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::done(size_t part, size_t whole) {
  percent_ = static_cast<int>(whole == 0 ? 100 : 100 * part / whole);
}

void Progress::show() const {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  bool shown = false;
  while (!done_) {
    std::this_thread::sleep_for(50ms);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed < 1s) continue;
    shown = true;
    const int percent = percent_;
    const std::string part = percent < 0 ? std::string() : fmt::format(" {} %,", percent);
    say("\r{} ...{} {:.0f} s", what_, part, std::chrono::duration<double>(elapsed).count());
  }
  if (shown) say("\r\x1b[K");
}

}  // namespace lanewise::cli
