// Barriers in memory, and what reports to them.
#include "tests/kernels/around_mbarrier.hpp"

using namespace kernels;
using around_mbarrier::init;
using around_mbarrier::run;

TEST_CASE("mbarrier: arrivals, states, parities, drops") {
  // One lane goes through two phases of three arrivals, then drops one and ends a phase of two.
  const std::vector<uint32_t> got = run(init(3) + R"(
    mbarrier.arrive.shared.b64 %s0, [bar];
    mbarrier.pending_count.b64 %r0, %s0;
    mbarrier.test_wait.shared.b64 %w, [bar], %s0;
    selp.u32 %r1, 1, 0, %w;
    mbarrier.arrive.noComplete.shared.b64 %s1, [bar], 1;
    mbarrier.pending_count.b64 %r2, %s1;
    mbarrier.test_wait.parity.shared.b64 %w, [bar], 0;
    selp.u32 %r3, 1, 0, %w;
    mbarrier.arrive.shared.b64 _, [bar];
    mbarrier.test_wait.shared.b64 %w, [bar], %s0;
    selp.u32 %r4, 1, 0, %w;
    mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    selp.u32 %r5, 1, 0, %w;
    mbarrier.test_wait.parity.shared.b64 %w, [bar], 1;
    selp.u32 %r6, 1, 0, %w;
    mbarrier.arrive_drop.shared.b64 %s2, [bar];
    mbarrier.arrive.release.cta.shared::cta.b64 %s3, [bar], 2;
    mbarrier.pending_count.b64 %r7, %s3;
    mbarrier.arrive.shared.b64 %s4, [bar];
    mbarrier.pending_count.b64 %r8, %s4;
    mbarrier.test_wait.parity.shared.b64 %w, [bar], 1;
    selp.u32 %r9, 1, 0, %w;
    mbarrier.inval.shared.b64 [bar];
    st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};
    st.global.v4.u32 [%q+16], {%r4, %r5, %r6, %r7};
    st.global.v2.u32 [%q+32], {%r8, %r9};
)",
                                        1, 10);
  CHECK(got == std::vector<uint32_t>{3, 0, 2, 0, 1, 1, 0, 2, 2, 1});
}

TEST_CASE("mbarrier: bytes that are expected hold a phase open") {
  const std::vector<uint32_t> got = run(init(1) + R"(
    mbarrier.arrive.expect_tx.shared.b64 %s0, [bar], 24;
    mbarrier.test_wait.shared.b64 %w, [bar], %s0;
    selp.u32 %r0, 1, 0, %w;
    mov.u32 %r8, m;
    mov.u32 %r9, bar;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r8], {5, 7}, [%r9];
    mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bar], 12;
    mbarrier.test_wait.shared.b64 %w, [bar], %s0;
    selp.u32 %r1, 1, 0, %w;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8], 11, [%r9];
    mbarrier.test_wait.shared.b64 %w, [bar], %s0;
    selp.u32 %r2, 1, 0, %w;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r8], 9;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8], 9;
    ld.shared.v2.u32 {%r3, %r4}, [m];
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;
    mbarrier.arrive.shared.b64 %s1, [bar];
    mbarrier.test_wait.shared.b64 %w, [bar], %s1;
    selp.u32 %r5, 1, 0, %w;
    setmaxnreg.inc.sync.aligned.u32 40;
    st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};
    st.global.v2.u32 [%q+16], {%r4, %r5};
)",
                                        1, 6);
  CHECK(got == std::vector<uint32_t>{0, 0, 1, 16, 7, 0});
}

TEST_CASE("mbarrier: copies in bulk report their bytes, others their arrival") {
  const std::vector<uint32_t> in = random_ints<uint32_t>(64, 3);
  // 64 words to shared memory, and back behind the input; 32 of them are added to a sum at once.
  std::vector<uint32_t> memory = in;
  memory.resize(size_t{64} * 3);
  for (const char* time : {"immediate", "late"}) {
    CAPTURE(time);
    const std::vector<uint32_t> got = run(init(1) + R"(
    add.u64 %s0, %p, 256;
    @%o mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    @%o cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [m], [%s0], 256, [bar];
W:  mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    bar.sync 0;
    mad.lo.u32 %r1, %t, 4, 0;
    mov.u32 %r2, m;
    add.u32 %r1, %r1, %r2;
    ld.shared.u32 %r3, [%r1];
    ld.shared.u32 %r4, [%r1+128];
    st.global.v2.u32 [%q], {%r3, %r4};
    add.u64 %s1, %s0, 256;
    mov.u32 %r5, 256;
    @%o cp.async.bulk.global.shared::cta.bulk_group [%s1], [m], %r5;
    add.u64 %s1, %s1, 256;
    @%o cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%s1], [m], 128;
    @%o cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%s1], [m], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    cp.async.ca.shared.global [%r1+1024], [%q], 4;
    cp.async.mbarrier.arrive.shared.b64 [bar];
    @%o cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    mbarrier.test_wait.parity.shared.b64 %w, [bar], 1;
)",
                                          32, 2, memory, time);
    std::vector<uint32_t> want;
    for (unsigned i = 0; i < 32; ++i) want.insert(want.end(), {in[i], in[32 + i]});
    for (int copy = 0; copy < 2; ++copy) want.insert(want.end(), in.begin(), in.end());
    for (unsigned i = 0; i < 64; ++i) want.push_back(i < 32 ? 2 * in[i] : 0);
    check_equal(got, want);
  }
}

TEST_CASE("cp.async.bulk: a copy completes at once, or when somebody waits for it") {
  const std::vector<uint32_t> in = random_ints<uint32_t>(32, 5);
  std::vector<uint32_t> memory = in;
  memory.resize(64);
  // Each lane reads its word before the wait and behind it, and stores over what goes to global
  // memory before the wait.
  const std::string body = init(1) + R"(
    add.u64 %s0, %p, 256;
    mad.lo.u32 %r1, %t, 4, 0;
    mov.u32 %r2, m;
    add.u32 %r1, %r1, %r2;
    @%o mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    @%o cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [m], [%s0], 128, [bar];
    bar.sync 0;
    ld.shared.u32 %r3, [%r1];
    bar.sync 0;
W:  mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    ld.shared.u32 %r4, [%r1];
    st.global.v2.u32 [%q], {%r3, %r4};
    bar.sync 0;
    add.u64 %s1, %s0, 128;
    @%o cp.async.bulk.global.shared::cta.bulk_group [%s1], [m], 128;
    @%o cp.async.bulk.commit_group;
    bar.sync 0;
    st.shared.u32 [%r1], 7;
    bar.sync 0;
    @%o cp.async.bulk.wait_group.read 0;
)";
  for (const bool late : {false, true}) {
    CAPTURE(late);
    std::vector<uint32_t> want;
    for (const uint32_t x : in) want.insert(want.end(), {late ? 0 : x, x});
    want.insert(want.end(), in.begin(), in.end());
    for (const uint32_t x : in) want.push_back(late ? 7 : x);
    check_equal(run(body, 32, 2, memory, late ? "late" : "immediate"), want);
  }
}

TEST_CASE("st.async: a store lands at once, or when somebody waits for it") {
  // A store of each size, one that no lane makes, and more than are kept: those land at once.
  const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.";
  std::string body = init(1) + R"(
    mov.u32 %r8, m;
    mov.u32 %r9, bar;
    mov.b64 %s2, 0x0000000800000007;
    mov.b64 %s3, 0x0000000a00000009;
    @%o mbarrier.arrive.expect_tx.shared.b64 _, [bar], 188;
)";
  const std::vector<std::string> stores = {
      "b32 [%r8], 1, [%r9];", "v2.b32 [%r8+8], {3, 4}, [%r9];", "b64 [%r8+16], %s2, [%r9];",
      "v4.b32 [%r8+32], {11, 12, 13, 14}, [%r9];", "v2.b64 [%r8+48], {%s2, %s3}, [%r9];"};
  for (const std::string& s : stores) body += "@%o " + store + s + "\n";
  body += "setp.gt.u32 %w, %t, 99;\n@%w " + store + "b32 [%r8+4], 99, [%r9];\n";
  body += "mov.u32 %r5, 0;\nL: add.u32 %r6, %r5, 100;\nmad.lo.u32 %r7, %r5, 4, %r8;\n@%o " + store +
          "b32 [%r7+64], %r6, [%r9];\n" + R"(
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %w, %r5, 34;
    @%w bra L;
    bar.sync 0;
    mad.lo.u32 %r1, %t, 8, %r8;
    ld.shared.v2.u32 {%r2, %r3}, [%r1];
    bar.sync 0;
W:  mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    ld.shared.v2.u32 {%r4, %r5}, [%r1];
    bar.sync 0;
    st.global.v4.u32 [%q], {%r2, %r3, %r4, %r5};
)";
  constexpr size_t kLanes = 32, kAtOnce = 5 + 34 - 32;
  std::vector<uint32_t> after = {1, 0, 3, 4, 7, 8, 0, 0, 11, 12, 13, 14, 7, 8, 9, 10};
  for (unsigned i = 0; i < 34; ++i) after.push_back(100 + i);
  for (const bool late : {false, true}) {
    CAPTURE(late);
    std::vector<uint32_t> before = after;
    if (late) std::fill(before.begin(), before.end() - kAtOnce, 0);
    before.resize(2 * kLanes), after.resize(2 * kLanes);
    std::vector<uint32_t> want;
    for (unsigned i = 0; i < 2 * kLanes; i += 2)
      want.insert(want.end(), {before[i], before[i + 1], after[i], after[i + 1]});
    after.resize(50);
    check_equal(run(body, kLanes, 4, {}, late ? "late" : "immediate"), want);
  }
}

TEST_CASE(
    "red.async, cp.reduce.async.bulk: a reduction is made at once, or when somebody waits for it") {
  // Words that each operation meets, and its operand; the last two of 64 bits. Words 32 to 47 get
  // what a bulk copy brings, behind the input in global memory: 16 numbers of its kinds.
  const std::string report = "[%r9];\n",
                    reduce =
                        "@%o red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
                        "bytes.";
  struct Word {
    const char* how;
    uint32_t before, by, after;
  };
  const Word words[] = {{"add.u32", 5, 7, 12},
                        {"add.s32", 5, 0xfffffff7, 0xfffffffc},
                        {"min.u32", 0x80000000, 3, 3},
                        {"min.s32", 0x80000000, 3, 0x80000000},
                        {"max.u32", 0x80000000, 3, 0x80000000},
                        {"max.s32", 0x80000000, 3, 3},
                        {"inc.u32", 9, 9, 0},
                        {"dec.u32", 0, 6, 6},
                        {"and.b32", 0xf0f0, 0xff00, 0xf000},
                        {"or.b32", 0xf0f0, 0xff00, 0xfff0},
                        {"xor.b32", 0xf0f0, 0xff00, 0x0ff0}};
  constexpr unsigned kLanes = 32, kSum = 12, kNear = 16, kWords = 32;
  std::string body = init(1) + "mov.u32 %r8, m;\nmov.u32 %r9, bar;\n";
  const auto put = [&](unsigned at, uint32_t value) {
    body +=
        "@%o st.shared.u32 [%r8+" + std::to_string(4 * at) + "], " + std::to_string(value) + ";\n";
  };
  std::vector<uint32_t> before(kWords), after(kWords);
  for (unsigned i = 0; i < std::size(words); ++i) {
    put(i, words[i].before);
    before[i] = words[i].before, after[i] = words[i].after;
  }
  put(kSum, 0xffffffff);
  before[kSum] = 0xffffffff, after[kSum] = 4, after[kSum + 1] = 1;
  // What lies behind is added to the words before it, eight of them, by a copy.
  for (unsigned i = 0; i < 8; ++i) {
    put(kNear + i, 100 + i), put(kNear + 8 + i, i);
    before[kNear + i] = 100 + i, before[kNear + 8 + i] = after[kNear + 8 + i] = i;
    after[kNear + i] = 100 + 2 * i;
  }
  body += "bar.sync 0;\n@%o mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
          std::to_string(4 * std::size(words) + 8 + 32) + ";\n";
  for (unsigned i = 0; i < std::size(words); ++i)
    body += reduce + words[i].how + " [%r8+" + std::to_string(4 * i) + "], " +
            std::to_string(words[i].by) + ", " + report;
  body += reduce + "add.u64 [%r8+48], 5, " + report + R"(
    @%o cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [m+64], [m+96], 32, [bar];
    add.u64 %s0, %p, 384;
    @%o cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%s0], [m+96], 32;
    @%o cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%s0+32], [m+96], 16;
    @%o cp.async.bulk.global.shared::cta.bulk_group [%s0+48], [m+96], 16;
    cp.async.bulk.commit_group;
    bar.sync 0;
    mad.lo.u32 %r1, %t, 4, %r8;
    ld.shared.u32 %r2, [%r1];
    cvta.to.global.u64 %s1, %s0;
    and.b32 %r5, %t, 15;
    mad.wide.u32 %s1, %r5, 4, %s1;
    ld.global.u32 %r3, [%s1];
    bar.sync 0;
W:  mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    cp.async.bulk.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r4, [%r1];
    st.global.u32 [%q], %r2;
    st.global.u32 [%q+4], %r4;
    st.global.u32 [%q+8], %r3;
)";
  // Two numbers of f16 a word: 1 + 2 and 0.5 + 0 for the first, whose bits are those of small ones.
  std::vector<uint32_t> far = {3,      0x80000000, 0xffffffff, 1, 9, 2, 6, 100,
                               0x3c00, 0x38003c00, 0,          0, 7, 7, 7, 7};
  std::vector<uint32_t> reduced = {3, 1, 2, 3, 9, 5, 6, 100, 0x3c00, 0x38003c00, 2, 3, 0, 1, 2, 3};
  for (const bool late : {false, true}) {
    CAPTURE(late);
    const std::vector<uint32_t> got = run(body, kLanes, 3, far, late ? "late" : "immediate");
    std::vector<uint32_t> want;
    for (unsigned i = 0; i < kLanes; ++i)
      want.insert(want.end(),
                  {late ? before[i] : after[i], after[i], late ? far[i % 16] : reduced[i % 16]});
    want.insert(want.end(), reduced.begin(), reduced.end());
    check_equal(got, want);
  }
}

TEST_CASE("cp.async.bulk: more copies than wait in the queue") {
  // 40 copies of 16 bytes: 32 of them are late.
  const std::vector<uint32_t> in = random_ints<uint32_t>(160, 6);
  const std::string body = init(1) + R"(
    add.u64 %s0, %p, 640;
    mov.u32 %r2, m;
    mov.u32 %r3, 0;
    @%o mbarrier.arrive.expect_tx.shared.b64 _, [bar], 640;
N:  @%o cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%s0], 16, [bar];
    add.u64 %s0, %s0, 16;
    add.u32 %r2, %r2, 16;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %w, %r3, 40;
    @%w bra N;
W:  mbarrier.test_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    mad.lo.u32 %r1, %t, 20, 0;
    mov.u32 %r2, m;
    add.u32 %r1, %r1, %r2;
    ld.shared.u32 %r3, [%r1];
    ld.shared.u32 %r4, [%r1+4];
    ld.shared.u32 %r5, [%r1+8];
    ld.shared.u32 %r6, [%r1+12];
    ld.shared.u32 %r7, [%r1+16];
    st.global.u32 [%q], %r3;
    st.global.u32 [%q+4], %r4;
    st.global.u32 [%q+8], %r5;
    st.global.u32 [%q+12], %r6;
    st.global.u32 [%q+16], %r7;
)";
  std::vector<uint32_t> want = in;
  want.insert(want.end(), in.begin(), in.end());
  for (const char* time : {"immediate", "late"}) check_equal(run(body, 32, 5, in, time), want);
}

TEST_CASE("cp.async: a copy completes at once, or when a wait asks for its group") {
  // Three groups; what is there before any wait, behind a wait that leaves two, one, and none.
  const std::string body = R"(
    mov.u32 %r9, m;
    mad.lo.u32 %r9, %t, 64, %r9;
    add.u64 %s0, %p, 512;
    setp.lt.u32 %w, %t, 3;
    cp.async.ca.shared.global [%r9], [%s0], 4;
    cp.async.commit_group;
    @%w cp.async.ca.shared.global [%r9+8], [%s0+8], 8, 5;
    cp.async.commit_group;
    cp.async.cg.shared.global [%r9+16], [%s0+16], 16;
    cp.async.commit_group;
    ld.shared.u32 %r0, [%r9];
    cp.async.wait_group 2;
    ld.shared.u32 %r1, [%r9];
    ld.shared.u32 %r2, [%r9+8];
    cp.async.wait_group 1;
    ld.shared.v2.u32 {%r3, %r4}, [%r9+8];
    ld.shared.u32 %r5, [%r9+28];
    cp.async.wait_all;
    ld.shared.v2.u32 {%r6, %r7}, [%r9+24];
    st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};
    st.global.v4.u32 [%q+16], {%r4, %r5, %r6, %r7};
)";
  std::vector<uint32_t> in(8);
  for (uint32_t i = 0; i < 8; ++i) in[i] = 0x01020304 * (i + 1);
  for (const std::string copies : {"immediate", "late"}) {
    CAPTURE(copies);
    std::vector<uint32_t> words(96);  // behind the 32 words of the lanes' results
    words.insert(words.end(), in.begin(), in.end());
    const std::vector<uint32_t> got = run(body, 4, 8, words, copies);
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const bool late = copies == "late", second = lane < 3;
      const uint32_t cut = in[3] & 0xff;
      const std::vector<uint32_t> want = {late ? 0 : in[0],
                                          in[0],
                                          late || !second ? 0 : in[2],
                                          second ? in[2] : 0,
                                          second ? cut : 0,
                                          late ? 0 : in[7],
                                          in[6],
                                          in[7]};
      CHECK(std::vector<uint32_t>(got.begin() + long{lane} * 8, got.begin() + long{lane} * 8 + 8) ==
            want);
    }
  }
}
