// Programs whose lanes leave the order of their accesses to the step of the warp.
#include <numeric>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: warp-synchronous programs") {
  const auto in = ints_between<int32_t>(768, 90, -1000, 1000);
  const auto bytes = ints_between<uint8_t>(1000, 91, 0, 20);
  both("warp_step", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), sums = zeros<int32_t>(3), out = zeros<int32_t>(64);
    m.kernel("reduce_last_warp").launch({.grid = {3}, .block = {128}}, a, sums).check();
    std::vector<int32_t> want;
    for (auto at = in.begin(); at != in.end(); at += 256)
      want.push_back(std::accumulate(at, at + 256, 0));
    check_contents(sums, want);

    m.kernel("scan_warp").launch({.grid = {1}, .block = {64}}, a, out).check();
    want.resize(64);
    for (auto at = want.begin(); at != want.end(); at += 32) {
      const auto from = in.begin() + (at - want.begin());
      std::partial_sum(from, from + 32, at);
    }
    check_contents(out, want);

    Buffer sorted = zeros<int32_t>(32);
    m.kernel("sort_warp").launch({.grid = {1}, .block = {32}}, a, sorted).check();
    want.assign(in.begin(), in.begin() + 32);
    std::ranges::sort(want);
    check_contents(sorted, want);

    Buffer values = device().buffer(bytes), counts = zeros<uint32_t>(256);
    m.kernel("count_by_tag").launch({.grid = {1}, .block = {64}}, values, 1000, counts).check();
    std::vector<uint32_t> tally(256);
    for (const uint8_t v : bytes) ++tally[v];
    check_contents(counts, tally);

    Buffer half = zeros<int32_t>(1), number = zeros<uint32_t>(1), lock = zeros<uint32_t>(1),
           sum = zeros<uint32_t>(1);
    m.kernel("half_a_warp").launch({.grid = {1}, .block = {32}}, a, half).check();
    check_contents(half, std::vector<int32_t>{std::accumulate(in.begin(), in.begin() + 32, 0)});
    m.kernel("count_by_lock").launch({.grid = {1}, .block = {64}}, number).check();
    check_contents(number, std::vector<uint32_t>{64});
    m.kernel("add_by_lock").launch({.grid = {2}, .block = {64}}, lock, sum).check();
    check_contents(sum, std::vector<uint32_t>{2 * 63 * 64 / 2});
  });
}
