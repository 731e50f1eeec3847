// isa_corpus [--limit SECONDS] FILE...: translates every kernel of the files for the GPU that the
// environment names and has its driver's compiler make code of it, each within a limit of processor
// time: what takes longer would keep a user waiting at every start. 0 good, 1 some kernel took
// longer or failed, 77 (skipped) when there is no such compiler. A kernel that cannot run is none
// of its business.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lanewise/lanewise.hpp>
#include <string>
#include <vector>

#include "runtime/vulkan/pipeline/statistics.hpp"

using namespace lanewise;

namespace {

constexpr int kSkipped = 77, kRefused = 78, kSerial = 79;

bool has_compiler() {
  try {
    const vulkan::StatisticsCompiler compiler("RADV");
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> kernels_of(const std::string& file) {
  try {
    return Device::open("reference").load_file(file).kernels();
  } catch (const Error& e) {
    std::printf("%s: %s\n", file.c_str(), e.what());
    return {};
  }
}

/// In a process of its own, which the system ends at the limit.
int compile(const std::string& file, const std::string& name, unsigned limit) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time{limit, limit};
    setrlimit(RLIMIT_CPU, &time);
    try {
      Device device = Device::open("RADV");
      const Kernel kernel = device.load_file(file).kernel(name);
      LaunchOptions options;
      options.block = {64};
      const TranslatedKernel made = kernel.translated(options);
      if (made.wave_mode == "serial") _exit(kSerial);
      const uint32_t lanes = kernel.info().isa == "gcn" ? 64 : 32;
      vulkan::StatisticsCompiler("RADV").translated(made.spirv,
                                                    made.wave_mode == "packed" ? lanes : 0);
      _exit(0);
    } catch (const Error& e) {
      const bool unwilling = e.kind() == ErrorKind::guest || e.kind() == ErrorKind::usage;
      if (!unwilling) std::printf("%s: %s: %s\n", file.c_str(), name.c_str(), e.what());
      std::fflush(stdout);
      _exit(unwilling ? kRefused : 1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("%s: %s: not done within %u s of processor time\n", file.c_str(), name.c_str(),
              limit);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned limit = 10;
  std::vector<std::string> files, but;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
      limit = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (std::strcmp(argv[i], "--but") == 0 && i + 1 < argc)
      but.emplace_back(argv[++i]);
    else
      files.emplace_back(argv[i]);
  }
  if (!has_compiler()) {
    std::printf("skipped: no GPU compiler; RADV_FORCE_FAMILY and VK_DRIVER_FILES name one\n");
    return kSkipped;
  }
  int compiled = 0, refused = 0, serial = 0, bad = 0;
  for (const std::string& file : files) {
    for (const std::string& name : kernels_of(file)) {
      if (std::ranges::find(but, name) != but.end()) continue;
      const int code = compile(file, name, limit);
      (code == 0 ? compiled : code == kRefused ? refused : code == kSerial ? serial : bad)++;
    }
  }
  std::printf(
      "%d kernels compiled, %d in serial mode and %d that cannot run were left out, %d failed\n",
      compiled, serial, refused, bad);
  return bad == 0 && compiled != 0 ? 0 : 1;
}
