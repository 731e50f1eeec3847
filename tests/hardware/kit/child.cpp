#include "tests/hardware/kit/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace lanewise::kit {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One of the two pipes: lines out of what comes in.
struct Pipe {
  int read_end = -1, write_end = -1;
  bool error = false;
  std::string partial;

  explicit Pipe(bool is_error) : error(is_error) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  void close_read() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
  void take(const OnLine& on_line) {
    char bytes[65536];
    const ssize_t n = ::read(read_end, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) return;
    if (n > 0) partial.append(bytes, static_cast<size_t>(n));
    for (size_t end; (end = partial.find('\n')) != std::string::npos; partial.erase(0, end + 1))
      on_line(partial.substr(0, end), error);
    if (n > 0) return;
    if (!partial.empty()) on_line(partial, error);
    close_read();
  }
};

[[noreturn]] void become(const Command& command, const Pipe& out, const Pipe& err) {
  ::setpgid(0, 0);
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& w : command.words) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  const std::string text = command.words[0] + ": " + std::strerror(errno) + "\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(127);
}

}  // namespace

Ended run_command(const Command& command, const OnLine& on_line) {
  Pipe out(false), err(true);
  const double start = now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start another process");
  if (child == 0) become(command, out, err);
  ::setpgid(child, child);
  out.close_write();
  err.close_write();

  Ended ended;
  int status = 0;
  bool gone = false;
  // A grandchild may keep the pipes open: what counts is the program's own end.
  while (!gone || out.read_end >= 0 || err.read_end >= 0) {
    if (!gone && ::waitpid(child, &status, WNOHANG) == child) {
      gone = true;
      ended.seconds = now() - start;
      ::kill(-child, SIGKILL);
    }
    if (!gone && !ended.expired && now() - start > command.limit) {
      ended.expired = true;
      ::kill(-child, SIGKILL);
    }
    pollfd waiting[2] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    ::poll(waiting, 2, 50);
    if ((waiting[0].revents & (POLLIN | POLLHUP)) != 0) out.take(on_line);
    if ((waiting[1].revents & (POLLIN | POLLHUP)) != 0) err.take(on_line);
    // A process in uninterruptible sleep in a driver is left behind.
    if (!gone && ended.expired && now() - start > command.limit + 10) {
      ended.seconds = now() - start;
      return ended;
    }
  }
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

}  // namespace lanewise::kit
