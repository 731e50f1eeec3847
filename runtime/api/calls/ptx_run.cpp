// ptx_run: a kernel in the caller's own memory, host addresses as they are. One C function for
// people who test what a compiler emits, in a process without a GPU.
#include <fmt/format.h>

#include <cstdio>

#include "runtime/api/calls/host_ranges.hpp"
#include "runtime/api/launch/launch.hpp"

namespace lanewise::host {
namespace {

/// Guest and host addresses are the same only on the CPU engine.
Device& cpu() {
  static const auto* const device = new auto(std::make_shared<Device>(open_engine("reference")));
  return **device;
}

uint32_t positive(int n, const char* what) {
  if (n <= 0)
    fail(ErrorDetail::invalid_value, fmt::format("{} is {}; at least 1 was expected", what, n));
  return static_cast<uint32_t>(n);
}

/// Each parameter takes the low bytes of its value.
std::vector<Argument> values(const ir::Program& kernel, int count, void* const* args) {
  const std::vector<ir::Param>& params = kernel.params;
  if (count < 0 || static_cast<size_t>(count) != params.size())
    fail(ErrorDetail::argument_count, fmt::format("kernel '{}' takes {} arguments, {} were given",
                                                  kernel.name, params.size(), count));
  if (count != 0) required(args, "args");
  std::vector<Argument> out;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].size > sizeof(void*))
      fail(
          ErrorDetail::unsupported,
          fmt::format("kernel '{}': argument {} ('{}') is a struct of {} bytes; ptx_run hands over "
                      "values of up to 8 bytes",
                      kernel.name, i + 1, params[i].name, params[i].size));
    const auto value = std::as_bytes(std::span(args + i, 1)).first(params[i].size);
    out.push_back({LW_ARG_BYTES, lanewise::detail::ArgBytes(value)});
  }
  return out;
}

lw_status run(const char* ptx, int count, void* const* args, const LaunchOptions& options) {
  const Kernel kernel(cpu().program(required(ptx, "ptx"), Isa::ptx), "");
  std::vector<HostRange> memory = registered_ranges();
  if (memory.empty()) memory = mapped_ranges();
  auto outcome = launch(
      {kernel.module, kernel.index, options, values(kernel.program(), count, args), {}, memory});
  const std::string& printed = outcome->result.printed;
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  return finish(std::move(outcome), nullptr);
}

}  // namespace
}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

int ptx_run(const char* ptx, int n_args, void* const* args, int lx, int ly, int lz, int gx, int gy,
            int gz, int shared) {
  const lw_status status = guarded([&] {
    LaunchOptions options;
    options.block = {positive(lx, "lx"), positive(ly, "ly"), positive(lz, "lz")};
    options.grid = {positive(gx, "gx"), positive(gy, "gy"), positive(gz, "gz")};
    if (shared < 0) fail(ErrorDetail::invalid_value, "shared is negative");
    options.dynamic_shared = static_cast<uint32_t>(shared);
    return run(ptx, n_args, args, options);
  });
  // The users of this function never looked at what it returned.
  if (status != LW_OK) std::fprintf(stderr, "ptx_run: error: %s\n", lw_last_error());
  return status;
}
