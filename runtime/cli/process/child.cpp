#include "runtime/cli/process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>

#include "lanewise/error.hpp"
#include "runtime/cli/process/own_program.hpp"

namespace lanewise::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::usage, "cannot make a pipe");
  }
  ~Pipe() {
    shut(0);
    shut(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void shut(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

/// Between fork and exec: only what is safe after a fork of a program with threads.
[[noreturn]] void become(const char* program, char* const* arguments, const Pipe& out,
                         const Pipe& err, rlim_t seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out.ends[1], STDOUT_FILENO);
  dup2(err.ends[1], STDERR_FILENO);
  if (seconds != 0) {
    const rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
  }
  execv(program, arguments);
  _exit(127);
}

/// Collects both until both are closed; false when the time was over before.
bool collect(Pipe& out, Pipe& err, ChildOutput& output, Clock::time_point deadline) {
  std::array<pollfd, 2> files{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  std::string* const texts[2] = {&output.out, &output.err};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    poll(files.data(), files.size(), static_cast<int>(std::min<long>(left, 1000)));
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = ::read(files[i].fd, buffer, sizeof buffer);
      if (n > 0)
        texts[i]->append(buffer, static_cast<size_t>(n));
      else
        files[i].fd = -1;  // poll passes over it
    }
  }
  return true;
}

}  // namespace

ChildOutput run_child(const std::vector<std::string>& arguments, double processor_seconds,
                      double clock_seconds) {
  std::vector<std::string> texts{"lanewise"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  const std::string program = own_program();
  Pipe out, err;
  const auto seconds = static_cast<rlim_t>(processor_seconds);
  const pid_t child = fork();
  if (child < 0) throw Error(ErrorKind::usage, "cannot start another process");
  if (child == 0) become(program.c_str(), pointers.data(), out, err, seconds);
  out.shut(1);
  err.shut(1);

  ChildOutput output;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(clock_seconds));
  if (!collect(out, err, output, deadline)) {
    output.expired = true;
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) output.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    output.code = 128 + WTERMSIG(status);
    // The limit of processor time ends a process with one of these two.
    output.expired = output.expired || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
  }
  return output;
}

}  // namespace lanewise::cli
