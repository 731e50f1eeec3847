// atomics.cu: with one thread every result is determined; with many, the order-free ones are.
#include <algorithm>

#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

struct State {
  std::vector<int32_t> a = std::vector<int32_t>(400, 0);
  std::vector<uint32_t> u = {0xffffffffu, 0, 0x1234, 3, 5};
  std::vector<float> f = {1.5f};
  std::vector<uint64_t> l = {~0ull - 3, 1};
  State() {
    a[0] = 10;
    a[1] = 10;
    a[2] = 50;
    a[3] = 7;
    a[4] = 0;
    a[5] = 99;
    a[101] = 41;
  }
};

struct Ran {
  std::vector<int32_t> a;
  std::vector<uint32_t> u;
  std::vector<float> f;
  std::vector<uint64_t> l;
};

Ran run(const char* variant, uint32_t threads) {
  const State s;
  auto da = device().buffer(s.a, "a"), du = device().buffer(s.u, "u"),
       df = device().buffer(s.f, "f"), dl = device().buffer(s.l, "l");
  ptx("atomics", variant, "atomics")
      .launch({.grid = {1}, .block = {threads}}, da, du, df, dl)
      .check();
  return {da.read<int32_t>(), du.read<uint32_t>(), df.read<float>(), dl.read<uint64_t>()};
}

}  // namespace

TEST_CASE("atomics, one thread: every value") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const Ran got = run(variant, 1);
    const State s;
    // i = 0: add 0, sub 0, min 0, max 0, and 0, or 0, xor 0, cas 0 -> 1, exch 0, inc, dec
    const int old = 0 + 99 + 3 + 5;
    auto a = s.a;
    a[2] = 0;
    a[4] = 1;
    a[5] = 0;
    a[6] = old;
    a[100] = 42;
    check_equal(got.a, a);
    check_equal(got.u, {0u, 0u, 0x1234u, 4u, 4u});
    check_equal(got.f, {1.5f + old});
    check_equal(got.l, {~0ull - 2, uint64_t{2}});
  }
}

TEST_CASE("atomics, many threads: what no order can change") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const uint32_t threads = 90;
    const Ran got = run(variant, threads);
    const int sum = static_cast<int>(threads * (threads - 1) / 2);
    CHECK(got.a[0] == 10 + sum);
    CHECK(got.a[1] == 10 - sum);
    CHECK(got.a[2] == 0);
    CHECK(got.a[3] == static_cast<int>(threads) - 1);
    uint32_t all_or = 0, all_and = 0xffffffffu, all_xor = 0x1234;
    for (uint32_t i = 0; i < threads; ++i) {
      all_or |= i;
      all_and &= i;
      all_xor ^= i;
    }
    CHECK(got.u[0] == all_and);
    CHECK(got.u[1] == all_or);
    CHECK(got.u[2] == all_xor);
    // inc wraps after 7: from 3, 90 steps of a cycle of 8. dec from 5 likewise.
    CHECK(got.u[3] == (3 + threads) % 8);
    CHECK(got.u[4] == (5 + 8 * threads - threads) % 8);
    CHECK(got.l[0] == ~0ull - 3 + threads);
    CHECK(got.l[1] == 2);
    CHECK(got.a[100] == 42);
    // Every old value lies in what the operations can return.
    for (uint32_t i = 0; i < threads; ++i) {
      CAPTURE(i);
      CHECK(got.a[6 + i] >= 0);
    }
  }
}
