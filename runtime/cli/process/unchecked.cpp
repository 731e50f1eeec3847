#include "runtime/cli/process/unchecked.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace lanewise::cli {
namespace {

constexpr int kGuestError = 1;
constexpr const char* kMessage =
    "lanewise: error: guest access outside its memory with --memcheck off; run it with --memcheck "
    "alloc to see which instruction it is\n";

struct sigaction before_segv, before_bus;

/// Only what may be called in a signal handler.
void report(int) {
  const ssize_t ignored = write(STDERR_FILENO, kMessage, std::strlen(kMessage));
  static_cast<void>(ignored);
  _exit(kGuestError);
}

}  // namespace

UncheckedAccess::UncheckedAccess() {
  struct sigaction action = {};
  action.sa_handler = report;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before_segv);
  sigaction(SIGBUS, &action, &before_bus);
}

UncheckedAccess::~UncheckedAccess() {
  sigaction(SIGSEGV, &before_segv, nullptr);
  sigaction(SIGBUS, &before_bus, nullptr);
}

}  // namespace lanewise::cli
