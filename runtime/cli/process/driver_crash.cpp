#include "runtime/cli/process/driver_crash.hpp"

#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanewise::cli {
namespace {

constexpr int kDriverError = 3;
constexpr const char* kDriverCrashed =
    "lanewise: error: the Vulkan driver crashed (a fault of the processor in code that is not "
    "lanewise's); what was not written yet is lost. Some compilers of drivers do on very large "
    "kernels: "
    "try another --device\n";

struct Range {
  uintptr_t begin = 0, end = 0;
};
// In an array: a signal handler may read it whatever was interrupted.
std::array<Range, 512> known;
size_t known_count = 0;

int remember_code(dl_phdr_info* object, size_t, void*) {
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    if (known_count == known.size()) return 1;
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    known[known_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

uintptr_t interrupted_at([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(context.uc_mcontext.pc);
#else
  return known[0].begin;  // not known: it counts as ours
#endif
}

/// Only what may be called in a signal handler.
void report_driver(int signal, siginfo_t*, void* context) {
  const uintptr_t at = interrupted_at(*static_cast<const ucontext_t*>(context));
  for (size_t i = 0; i < known_count; ++i)
    if (at >= known[i].begin && at < known[i].end) {
      // The instruction faults again, and the system does what it does then.
      ::signal(signal, SIG_DFL);
      return;
    }
  const ssize_t ignored = write(STDERR_FILENO, kDriverCrashed, std::strlen(kDriverCrashed));
  static_cast<void>(ignored);
  _exit(kDriverError);
}

}  // namespace

void report_driver_crashes() {
  dl_iterate_phdr(remember_code, nullptr);
  if (known_count == known.size()) return;  // not all of them: nothing could be distinguished
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction before = {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_sigaction = report_driver;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace lanewise::cli
