#include "runtime/cli/process/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/support/error.hpp"
#include "runtime/support/message.hpp"

namespace lanewise::cli {
namespace {

volatile std::sig_atomic_t wrote_to_nobody = 0;
bool was_closed[3] = {};
struct sigaction pipe_before {
}, size_before{};

}  // namespace

void guard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Opened the wrong way round, so that its use still fails.
    const int wrong_way = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", wrong_way) < 0) _exit(static_cast<int>(ErrorKind::usage));
    was_closed[stream] = true;
  }
  sigaction(SIGPIPE, nullptr, &pipe_before);
  sigaction(SIGXFSZ, nullptr, &size_before);
  std::signal(SIGPIPE, [](int) { wrote_to_nobody = 1; });  // and EPIPE
  std::signal(SIGXFSZ, SIG_IGN);                           // EFBIG
}

void restore_streams() {
  sigaction(SIGPIPE, &pipe_before, nullptr);
  sigaction(SIGXFSZ, &size_before, nullptr);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (was_closed[stream]) close(stream);
}

bool reader_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return wrote_to_nobody != 0 && poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

void end_without_reader() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  _exit(kReaderLeft);  // the signal is blocked
}

void say_text(std::string_view text) {
  const std::string readable = cut_long_words(text);
  static_cast<void>(std::fwrite(readable.data(), 1, readable.size(), stderr));
}

int output_failed(int reason) {
  static bool reported = false;
  if (!reported) {
    say("lanewise: error: cannot write to standard output: {}\n",
        reason != 0 ? std::strerror(reason) : "an earlier write failed");
  }
  reported = true;
  return static_cast<int>(ErrorKind::usage);
}

int deliver_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int reason = errno;
  const int failed = reader_left() ? kReaderLeft : output_failed(reason);
  return code != 0 ? code : failed;
}

}  // namespace lanewise::cli
