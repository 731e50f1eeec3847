// The C++ API from an installed tree: the same as consumer.c with a tracker beside it, what the
// library does without a device, and an exception across the library.
#include <cstdio>
#include <lanewise/cache.hpp>
#include <lanewise/error_detail.hpp>
#include <lanewise/lanewise.hpp>
#include <lanewise/queue.hpp>
#include <lanewise/tools.hpp>
#include <numeric>

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  auto device = lanewise::Device::open(argv[2]);
  auto kernel = device.load_file(argv[1]).kernel("saxpy");
  std::vector<float> host(1000);
  std::iota(host.begin(), host.end(), 0.0f);
  auto x = device.buffer(host), y = device.allocate(4000, "y");
  auto cache = lanewise::Cache::follow(device, {.presets = {"gv100"}});
  kernel.launch({.grid = {4}, .block = {256}}, 1000, 2.0f, x, y).check();
  cache.finish();
  if (cache.report("csv").find("ld.global") == std::string::npos) return 1;
  if (lanewise::coverage_of("ptx", "add.f32").state != "exact") return 1;
  if (!lanewise::assemble("s_endpgm\n", {.isa = "gcn"}).ok) return 1;
  const auto got = y.read<float>();
  std::printf("sum %.0f\n", std::accumulate(got.begin(), got.end(), 0.0f));
  try {
    kernel.launch({.grid = {1}, .block = {1}}, 1000, 2, x, y);
  } catch (const lanewise::DetailedError& e) {
    return e.detail() == lanewise::ErrorDetail::argument_kind ? 0 : 1;
  }
  return 1;
} catch (const lanewise::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(e.kind());
}
