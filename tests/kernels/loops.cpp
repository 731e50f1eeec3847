// Loops that lanes leave at different times: what they take along must be right, however lanes are
// laid over invocations and whatever accesses are checked against.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::LaunchOptions;
using lanewise::Memcheck;
using lanewise::WaveMode;

namespace {

constexpr int kThreads = 64;

/// One block of 64 lanes in every mode.
void in_every_mode(const std::function<void(const LaunchOptions&)>& run) {
  for (const WaveMode wave : {WaveMode::lane, WaveMode::packed, WaveMode::serial}) {
    for (const Memcheck memcheck : {Memcheck::arena, Memcheck::alloc, Memcheck::off}) {
      CAPTURE(static_cast<int>(wave));
      CAPTURE(static_cast<int>(memcheck));
      run({.grid = {1}, .block = {kThreads}, .memcheck = memcheck, .wave = wave});
    }
  }
}

void in_every_form(const char* kernel,
                   const std::function<void(lanewise::Kernel&, const LaunchOptions&)>& run) {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    lanewise::Kernel compiled = ptx("loops", variant, kernel);
    in_every_mode([&](const LaunchOptions& options) { run(compiled, options); });
  }
}

/// Six in ten are zero, the last one is not.
std::vector<int> sparse_words(size_t n, uint64_t seed) {
  std::vector<int> words = random_ints<int>(n, seed);
  for (int& word : words) word = static_cast<unsigned>(word) % 10 < 6 ? 0 : word | 1;
  words.back() = 7;
  return words;
}

}  // namespace

TEST_CASE("loops: a loaded word is taken out of its loop, straight from the assembler") {
  lanewise::Kernel kernel = device()
                                .load_text(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry v5(.param .u64 a,.param .u64 o,.param .u64 q){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; ld.param.u64 %rd3,[q]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4;
 add.s64 %rd1,%rd1,%rd5; add.s64 %rd2,%rd2,%rd5; add.s64 %rd3,%rd3,%rd5; mov.u32 %r2,0;
L: ld.global.u32 %r3,[%rd1]; add.s64 %rd1,%rd1,4; add.s32 %r2,%r2,1; setp.eq.s32 %p1,%r3,0; @%p1 bra L;
 st.global.u32 [%rd2],%r3; st.global.u32 [%rd3],%r2; ret; }
)",
                                           lanewise::Isa::ptx)
                                .kernel();
  const std::vector<int> in = sparse_words(96, 1);
  std::vector<int> word, steps;
  for (int t = 0; t < kThreads; ++t) {
    const auto found = std::find_if(in.begin() + t, in.end(), [](int v) { return v != 0; });
    word.push_back(*found);
    steps.push_back(static_cast<int>(found - in.begin()) - t + 1);
  }
  in_every_mode([&](const LaunchOptions& options) {
    auto din = device().buffer(in), dword = device().allocate(4 * kThreads),
         dsteps = device().allocate(4 * kThreads);
    kernel.launch(options, din, dword, dsteps).check();
    check_equal(dword.read<int>(), word);
    check_equal(dsteps.read<int>(), steps);
  });
}

TEST_CASE("loops: a count that all lanes share stays so where some take another way") {
  // The whole wave jumps over the count in turn 2; lanes go on to C or to E by what they load.
  lanewise::Kernel kernel = device()
                                .load_text(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry turns(.param .u64 a,.param .u64 o,.param .u64 q){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; ld.param.u64 %rd3,[q]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4;
 add.s64 %rd1,%rd1,%rd5; add.s64 %rd2,%rd2,%rd5; add.s64 %rd3,%rd3,%rd5;
 ld.global.u32 %r4,[%rd1]; mov.u32 %r2,0; mov.u32 %r3,0; mov.u32 %r5,0;
L: setp.eq.u32 %p1,%r2,2; @%p1 bra C;
 add.u32 %r3,%r3,%r2; add.u32 %r3,%r3,10;
 setp.eq.u32 %p2,%r4,%r2; @%p2 bra E;
 add.u32 %r5,%r5,1;
C: add.u32 %r5,%r5,100;
E: add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,5; @%p1 bra L;
 st.global.u32 [%rd2],%r3; st.global.u32 [%rd3],%r5; ret; }
)",
                                           lanewise::Isa::ptx)
                                .kernel();
  std::vector<int> in, count, ways;
  for (int t = 0; t < kThreads; ++t) {
    in.push_back(t % 7);
    count.push_back(0 + 1 + 3 + 4 + 4 * 10);
    ways.push_back(504 - (in[t] < 5 && in[t] != 2 ? 101 : 0));
  }
  in_every_mode([&](const LaunchOptions& options) {
    auto din = device().buffer(in), dcount = device().allocate(4 * kThreads),
         dways = device().allocate(4 * kThreads);
    kernel.launch(options, din, dcount, dways).check();
    check_equal(dcount.read<int>(), count);
    check_equal(dways.read<int>(), ways);
  });
}

TEST_CASE("loops: the first word that is not zero") {
  const std::vector<int> in = sparse_words(96, 2);
  std::vector<int> word, steps;
  for (int t = 0; t < kThreads; ++t) {
    int n = 0;
    while (in[t + n] == 0) ++n;
    word.push_back(in[t + n]);
    steps.push_back(n + 1);
  }
  in_every_form("skip_zeros", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto din = device().buffer(in), dword = device().allocate(4 * kThreads),
         dsteps = device().allocate(4 * kThreads);
    kernel.launch(options, din, dword, dsteps).check();
    check_equal(dword.read<int>(), word);
    check_equal(dsteps.read<int>(), steps);
  });
}

TEST_CASE("loops: an early return compares what was loaded") {
  const int n = 20;
  std::vector<int> a(kThreads + n), b(kThreads + n);
  std::mt19937_64 rng(3);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(rng() % 5);
    b[i] = rng() % 8 == 0 ? static_cast<int>(rng() % 5) : a[i];
  }
  std::fill(a.end() - 30, a.end(), 0);
  std::fill(b.end() - 30, b.end(), 0);
  std::vector<int> want(kThreads, 0);
  for (int t = 0; t < kThreads; ++t) {
    const auto [x, y] = std::mismatch(a.begin() + t, a.begin() + t + n, b.begin() + t);
    want[t] = x == a.begin() + t + n ? 2 : *x < *y ? 1 : 0;
  }
  in_every_form("compare", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto da = device().buffer(a), db = device().buffer(b), out = device().allocate(4 * kThreads);
    kernel.launch(options, da, db, n, out).check();
    check_equal(out.read<int>(), want);
  });
}

TEST_CASE("loops: a bitonic sort in global memory, a launch for each step") {
  const int n = 256;
  const auto in = random_ints<int>(n, 4);
  std::vector<int> want = in;
  std::ranges::sort(want);
  in_every_form("bitonic_step", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto words = device().buffer(in);
    for (int k = 2; k <= n; k *= 2)
      for (int j = k / 2; j > 0; j /= 2) kernel.launch(options, words, n, k, j).check();
    check_equal(words.read<int>(), want);
  });
}

TEST_CASE("loops: a string search with a loop in its loop") {
  std::vector<uint8_t> text(200);
  std::mt19937_64 rng(5);
  for (uint8_t& letter : text) letter = static_cast<uint8_t>('a' + rng() % 2);
  const std::vector<uint8_t> pattern = {'a', 'b', 'b', 'a', 'b'};
  std::vector<int> want;
  for (int t = 0; t < kThreads; ++t) {
    const auto at = std::search(text.begin() + t, text.end(), pattern.begin(), pattern.end());
    want.push_back(at == text.end() ? -1 : static_cast<int>(at - text.begin()));
  }
  in_every_form("search", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto dtext = device().buffer(text), dpattern = device().buffer(pattern),
         out = device().allocate(4 * kThreads);
    kernel.launch(options, dtext, 200, dpattern, 5, out).check();
    check_equal(out.read<int>(), want);
  });
}

TEST_CASE("loops: a binary search and the word it ended at") {
  std::vector<int> sorted = random_ints<int>(777, 6);
  std::ranges::sort(sorted);
  std::vector<int> keys = random_ints<int>(kThreads, 7);
  for (int t = 0; t < kThreads; t += 3) keys[t] = sorted[t * 11];
  std::vector<int> at, word;
  for (const int key : keys) {
    at.push_back(
        static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
    // The last middle that was looked at, by the same halving.
    int low = 0, high = static_cast<int>(sorted.size()), last = 0;
    while (low < high) {
      last = sorted[std::midpoint(low, high)];
      (last < key ? low : high) =
          last < key ? std::midpoint(low, high) + 1 : std::midpoint(low, high);
    }
    word.push_back(last);
  }
  in_every_form("lower_bound", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto dsorted = device().buffer(sorted), dkeys = device().buffer(keys),
         dat = device().allocate(4 * kThreads), dword = device().allocate(4 * kThreads);
    kernel.launch(options, dsorted, 777, dkeys, dat, dword).check();
    check_equal(dat.read<int>(), at);
    check_equal(dword.read<int>(), word);
  });
}

TEST_CASE("loops: probes of a hash table") {
  const uint32_t mask = 127;
  std::vector<uint32_t> table(2 * (mask + 1), 0);
  std::vector<uint32_t> keys = random_ints<uint32_t>(kThreads, 8);
  for (uint32_t& key : keys) key |= 1;
  const auto home = [&](uint32_t key) { return key * 2654435761U & mask; };
  for (size_t i = 0; i < 90; ++i) {  // two of three keys are there, and others
    const uint32_t key = i < 42 ? keys[i * 3 / 2] : static_cast<uint32_t>(1000 + 2 * i);
    uint32_t at = home(key);
    while (table[2 * at] != 0 && table[2 * at] != key) at = (at + 1) & mask;
    table[2 * at] = key;
    table[2 * at + 1] = key ^ 0x5a5a5a5a;
  }
  std::vector<uint32_t> values, looks;
  for (const uint32_t key : keys) {
    uint32_t value = ~0U, total = 0;
    for (const uint32_t stride : {1U, 3U}) {
      uint32_t at = home(key);
      ++total;
      for (; table[2 * at] != key && table[2 * at] != 0; at = (at + stride) & mask) ++total;
      if (table[2 * at] == key) value = table[2 * at + 1] ^ total;
    }
    values.push_back(value);
    looks.push_back(total);
  }
  in_every_form("probe", [&](lanewise::Kernel& kernel, const LaunchOptions& options) {
    auto dtable = device().buffer(table), dkeys = device().buffer(keys),
         dvalues = device().allocate(4 * kThreads), dlooks = device().allocate(4 * kThreads);
    kernel.launch(options, dtable, mask, dkeys, dvalues, dlooks).check();
    check_equal(dvalues.read<uint32_t>(), values);
    check_equal(dlooks.read<uint32_t>(), looks);
  });
}

namespace {

/// x -> 1664525 x + 1013904223, n times over, by squaring the step.
uint32_t after_iterations(uint32_t x, uint32_t n) {
  uint32_t factor = 1664525, add = 1013904223;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) x = factor * x + add;
    add = factor * add + add;
    factor = factor * factor;
  }
  return x;
}

}  // namespace

TEST_CASE("loops: a million iterations, or a fault that names the driver's limit") {
  // The counts come from memory, so each lane leaves in another iteration and no trip count is
  // known.
  lanewise::Module module = device().load_text(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry lane(.param .u64 a,.param .u64 o){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4;
 add.s64 %rd1,%rd1,%rd5; add.s64 %rd2,%rd2,%rd5; ld.global.u32 %r5,[%rd1]; mov.u32 %r2,0; mov.u32 %r3,%r1;
L: mad.lo.u32 %r3,%r3,1664525,1013904223; add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,%r5; @%p1 bra L;
 st.global.u32 [%rd2],%r3; ret; }
.visible .entry wave(.param .u64 a,.param .u64 o){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4;
 add.s64 %rd1,%rd1,%rd5; add.s64 %rd2,%rd2,%rd5; ld.global.u32 %r5,[%rd1]; mov.u32 %r2,0; mov.u32 %r3,%r1;
L: mad.lo.u32 %r3,%r3,1664525,1013904223; add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,%r5; @%p1 bra L;
 shfl.sync.bfly.b32 %r4,%r3,1,31,-1; sub.u32 %r3,%r3,%r4;
 st.global.u32 [%rd2],%r3; ret; }
)",
                                               lanewise::Isa::ptx);
  constexpr uint32_t kLanes = 8;
  std::vector<uint32_t> iterations, alone, together;
  for (uint32_t t = 0; t < kLanes; ++t) {
    iterations.push_back(1000000 + 31 * t);
    alone.push_back(after_iterations(t, iterations[t]));
  }
  for (uint32_t t = 0; t < kLanes; ++t) together.push_back(alone[t] - alone[t ^ 1]);
  // Only the older lavapipe cuts; that it does is known by its version, not by what this test sees.
  const std::string driver = device().info().driver;
  const bool cuts = driver.find("Mesa 22.") != std::string::npos;
  for (const char* name : {"lane", "wave"}) {
    CAPTURE(name);
    lanewise::Kernel kernel = module.kernel(name);
    auto counts = device().buffer(iterations), out = device().allocate(uint64_t{4} * kLanes);
    const LaunchOptions options{.grid = {1}, .block = {kLanes}, .policies = {{"steps", "1100000"}}};
    const lanewise::Result result = kernel.launch(options, counts, out);
    if (cuts) {
      // In serial mode it is the loop over the lanes that is cut, so some never come to theirs.
      if (result.wave_mode != "serial") CHECK(result.fault_count == kLanes);
      REQUIRE(!result.faults.empty());
      CHECK(result.faults[0].kind == lanewise::FaultKind::step_budget);
      CHECK(lanewise::format(result.faults[0]).find("65535 iterations") != std::string::npos);
    } else {
      result.check();
      check_equal(out.read<uint32_t>(), *name == 'l' ? alone : together);
    }
  }
}

TEST_CASE("loops: a lane has exactly the steps of its budget, wherever the others leave") {
  // A loop, loops in a loop, a loop that begins anew from where its iterations do not end. Lanes of
  // a wave count steps together while all have many left.
  lanewise::Module module = device().load_text(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a,.param .u64 o){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,8;
 add.s64 %rd1,%rd1,%rd5; mul.wide.u32 %rd5,%r1,4; add.s64 %rd2,%rd2,%rd5;
 ld.global.v2.u32 {%r5,%r6},[%rd1]; mov.u32 %r2,0; mov.u32 %r3,%r1;
A: mad.lo.u32 %r3,%r3,1664525,1013904223; add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,%r5; @%p1 bra A;
 mov.u32 %r7,0;
B: mov.u32 %r2,0;
C: mad.lo.u32 %r3,%r3,1664525,1013904223; add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,%r5; @%p1 bra C;
 add.u32 %r7,%r7,1; setp.lt.u32 %p1,%r7,%r6; @%p1 bra B;
 mov.u32 %r2,0;
D: add.u32 %r2,%r2,1; setp.ge.u32 %p1,%r2,%r5; @%p1 bra E;
 and.b32 %r8,%r2,3; setp.eq.u32 %p2,%r8,0; @%p2 bra F; setp.eq.u32 %p2,%r8,1; @%p2 bra D;
 mad.lo.u32 %r3,%r3,1664525,1013904223; setp.eq.u32 %p2,%r8,2; @%p2 bra F;
 mad.lo.u32 %r3,%r3,1664525,1013904223; bra D;
F: mad.lo.u32 %r3,%r3,1664525,1013904223; bra D;
E: st.global.u32 [%rd2],%r3; ret; }
)",
                                               lanewise::Isa::ptx);
  constexpr uint32_t kLanes = 40;
  lanewise::Kernel kernel = module.kernel("k");
  struct Trips {
    uint32_t inner, outer;
    uint32_t steps() const { return (outer + 2) * (inner - 1) + outer - 1; }
    /// The last loop computes 1, 0, 2 and 2 times where its count leaves 0, 1, 2 and 3 of four.
    uint32_t computes() const {
      const uint32_t counts = inner - 1;
      return inner * (outer + 1) + counts / 4 + 2 * ((counts + 2) / 4 + (counts + 1) / 4);
    }
  };
  for (const Trips most : {Trips{1, 1},
                           {2, 1},
                           {32, 1},
                           {33, 1},
                           {64, 1},
                           {65, 2},
                           {3, 40},
                           {200, 3},
                           {129, 32},
                           {4097, 1},
                           {70, 130},
                           {2, 4100}}) {
    CAPTURE(most.inner);
    CAPTURE(most.outer);
    std::vector<uint32_t> trips, expected;
    for (uint32_t t = 0; t < kLanes; ++t) {
      const bool one = t == most.outer % kLanes;  // with more than all others
      const Trips here{one ? most.inner : 1 + (most.inner - 1) * t / kLanes,
                       one ? most.outer : 1 + (most.outer - 1) * (kLanes - t) / (kLanes + 1)};
      trips.insert(trips.end(), {here.inner, here.outer});
      expected.push_back(after_iterations(t, here.computes()));
    }
    auto in = device().buffer(trips), out = device().allocate(uint64_t{4} * kLanes);
    const auto launch = [&](uint32_t budget) {
      return kernel.launch(
          LaunchOptions{
              .grid = {1}, .block = {kLanes}, .policies = {{"steps", std::to_string(budget)}}},
          in, out);
    };
    // A wave's lanes that one invocation runs share its steps.
    const std::string mode = launch(1U << 26).wave_mode;
    if (mode == "serial" || mode == "packed") return;
    launch(std::max(most.steps(), 1U)).check();
    check_equal(out.read<uint32_t>(), expected);
    if (most.steps() < 2) continue;
    const lanewise::Result result = launch(most.steps() - 1);
    REQUIRE(result.faults.size() == 1);
    CHECK(result.faults[0].kind == lanewise::FaultKind::step_budget);
    CHECK(32 * result.faults[0].wave + result.faults[0].lane == most.outer % kLanes);
  }
}
