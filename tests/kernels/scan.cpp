// scan_shfl.cu: a prefix sum made of shuffles, with barriers between its two levels.
#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

void check_scan(const char* variant, uint32_t groups, uint32_t threads, uint32_t n) {
  CAPTURE(variant);
  CAPTURE(threads);
  const auto in = random_ints<int32_t>(n, 77 + threads);
  std::vector<int32_t> out(n), sums(groups);
  auto a = device().buffer(in, "in"), b = device().buffer(out, "out");
  auto s = device().buffer(sums, "sums");
  const lanewise::LaunchResult result =
      ptx("scan_shfl", variant, "scan_shfl")
          .launch({.grid = {groups}, .block = {threads}}, a, b, s, static_cast<int32_t>(n));
  result.check();
  if (result.engine != "reference") CHECK(result.wave_mode == "packed");
  for (uint32_t group = 0; group < groups; ++group) {
    uint32_t sum = 0;
    for (uint32_t i = group * threads; i < (group + 1) * threads; ++i) {
      if (i >= n) break;
      sum += static_cast<uint32_t>(in[i]);
      out[i] = static_cast<int32_t>(sum);
    }
    sums[group] = static_cast<int32_t>(sum);
  }
  check_equal(b.read<int32_t>(), out);
  check_equal(s.read<int32_t>(), sums);
}

}  // namespace

TEST_CASE("scan with shuffles: one wave, several, and as many as fit") {
  for (const char* variant : {"sm75", "clang"}) {
    check_scan(variant, 3, 32, 90);
    check_scan(variant, 2, 256, 500);
    check_scan(variant, 1, 1024, 1024);
  }
}
