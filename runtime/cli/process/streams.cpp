#include "runtime/cli/process/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/support/error.hpp"
#include "runtime/support/message.hpp"

namespace lanewise::cli {

void guard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Opened the wrong way round, so that its use still fails.
    const int wrong_way = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", wrong_way) < 0) _exit(static_cast<int>(ErrorKind::usage));
  }
  std::signal(SIGPIPE, SIG_IGN);  // EPIPE
  std::signal(SIGXFSZ, SIG_IGN);  // EFBIG
}

void say_text(std::string_view text) {
  const std::string readable = cut_long_words(text);
  static_cast<void>(std::fwrite(readable.data(), 1, readable.size(), stderr));
}

int output_failed(int reason) {
  static bool told = false;
  if (!told) {
    say("lanewise: error: cannot write to standard output: {}\n",
        reason != 0 ? std::strerror(reason) : "an earlier write failed");
  }
  told = true;
  return static_cast<int>(ErrorKind::usage);
}

int deliver_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int failed = output_failed(errno);
  return code != 0 ? code : failed;
}

}  // namespace lanewise::cli
