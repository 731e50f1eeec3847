// Launches for hours: memory must stay flat and every result right.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "tests/faults/add_kernel.hpp"

namespace {

long resident_kib() {
  std::ifstream in("/proc/self/statm");
  long all = 0, resident = 0;
  in >> all >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int fail(const std::string& why) {
  std::fprintf(stderr, "soak: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lanewise;
  long launches = 1'000'000;
  std::string selector = "auto";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--launches") == 0) launches = std::atol(argv[i + 1]);
    if (std::strcmp(argv[i], "--device") == 0) selector = argv[i + 1];
  }
  try {
    Device device = Device::open(selector);
    std::vector<unsigned> expected(32);
    Buffer buffer = device.buffer(expected);
    Module module = device.load_text(kAdd, Isa::ptx);
    const auto start = std::chrono::steady_clock::now();
    long first = 0;
    for (long n = 0; n < launches; ++n) {
      if (n % 1000 == 0 && n != 0) {
        if (buffer.read<unsigned>() != expected)
          return fail("wrong values after launch " + std::to_string(n));
        // Buffers and modules come and go.
        buffer = device.buffer(expected);
        module = device.load_text(kAdd, Isa::ptx);
      }
      const auto add = static_cast<unsigned>(n % 7);
      module.kernel("add").launch({.grid = {1}, .block = {32}}, buffer, add).check();
      for (unsigned& e : expected) e += add;
      if (n == launches / 10) first = resident_kib();
    }
    if (buffer.read<unsigned>() != expected) return fail("wrong values at the end");
    const long last = resident_kib();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%ld launches on %s in %.1f s; %ld KiB after a tenth, %ld KiB at the end\n",
                launches, device.info().name.c_str(), seconds, first, last);
    // Allocators do not give everything back at once; a leak of a few bytes a launch shows in 10^5.
    if (last > first + 2048 + launches / 100) return fail("memory grows");
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  return 0;
}
