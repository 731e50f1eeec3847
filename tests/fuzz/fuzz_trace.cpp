// Any bytes as a trace, our own or another tool's: events, or an error that says what is wrong.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "lanewise/error.hpp"
#include "runtime/trace/formats.hpp"

using namespace lanewise;

namespace {

struct Count final : trace::Sink {
  uint64_t items = 0;
  void kernel(const trace::Kernel&) override { ++items; }
  void site(const trace::Site&) override { ++items; }
  void buffer(const trace::Buffer&) override { ++items; }
  void event(const trace::Event&) override { ++items; }
  void finish() override {}
};

/// Readers take paths; each process has a file of its own in memory where there is such a place.
const std::string& scratch() {
  static const std::string path = [] {
    const char* folder = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    static std::string p = std::string(folder) + "/lanewise_fuzz_" + std::to_string(getpid());
    std::atexit([] { std::remove(p.c_str()); });
    return p;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::FILE* file = std::fopen(scratch().c_str(), "wb");
  if (file == nullptr) std::abort();
  std::fwrite(data + 1, 1, size - 1, file);
  std::fclose(file);
  try {
    Count count;
    if (data[0] % 3 == 0) trace::read_trace(scratch(), count);
    if (data[0] % 3 == 1) trace::import_accelsim(scratch(), count);
    if (data[0] % 3 == 2) trace::import_dinero(scratch(), count);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::usage || e.what()[0] == '\0') std::abort();
  }
  return 0;
}
