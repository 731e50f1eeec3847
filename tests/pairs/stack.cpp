// alloca, and what relocatable code leaves to a linker: dynamic shared memory by name, constants of
// functions.
#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: alloca, dynamic shared memory and constants of functions") {
  const auto in = random_ints<uint32_t>(1000, 412);
  both("stack", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<uint32_t>(64), reals = zeros<double>(64);
    // "alloca": each call takes about 3.6 KiB, all together more than a lane has.
    m.kernel("take").launch({.grid = {1}, .block = {64}}, a, out).check();
    std::vector<uint32_t> want(64), turned(64);
    std::vector<double> curves(64);
    for (uint32_t t = 0; t < 64; ++t) {
      for (uint32_t i = 0; i < 20; ++i) {
        const uint32_t words = 900 + (t + i) % 8;
        uint32_t sum = 0;
        for (uint32_t k = words; k-- > 0;) sum = sum * 31 + in[(t + i) % 64 + k] * (k + 1);
        want[t] += sum;
      }
      turned[t] = in[63 - t] + in[t % 5];
      const double x = in[t] * 0.3333333, y = x + 0.1111;
      const double curve = ((y * 1.2345678901 + 0.123456789) * y - 17.0000001) * y;
      curves[t] = (x * 9.87654321 - curve) + 1.00000007;
    }
    check_contents(out, want);
    m.kernel("turn").launch({.grid = {1}, .block = {64}, .dynamic_shared = 256}, a, out).check();
    check_contents(out, turned);
    m.kernel("curves").launch({.grid = {1}, .block = {64}}, a, reals).check();
    check_contents(reals, curves);
  });
}
