// Lanes that wait in a loop for what others of their group do: for lanes of their own wave, for
// other waves, and for lanes whose turn comes later in the text.
#include "tests/kernels/around_mbarrier.hpp"

using namespace kernels;
using around_mbarrier::init;
using around_mbarrier::run;

TEST_CASE("mbarrier: a producer and a consumer of two buffers") {
  // Warp 0 fills buffer s % 2 in stage s, warp 1 adds it up: full and empty barriers for each.
  const std::vector<uint32_t> got = run(R"(
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    @%o mbarrier.init.shared.b64 [full], 32;
    @%o mbarrier.init.shared.b64 [full+8], 32;
    @%o mbarrier.init.shared.b64 [empty], 32;
    @%o mbarrier.init.shared.b64 [empty+8], 32;
    bar.sync 0;
    mov.u32 %r0, 0;
    mov.u32 %r9, 0;
    and.b32 %r1, %t, 31;
    setp.lt.u32 %o, %t, 32;
N:  and.b32 %r2, %r0, 1;
    shr.u32 %r3, %r0, 1;
    and.b32 %r3, %r3, 1;
    mov.u32 %r4, full;
    mad.lo.u32 %r4, %r2, 8, %r4;
    mov.u32 %r5, empty;
    mad.lo.u32 %r5, %r2, 8, %r5;
    mov.u32 %r6, m;
    mad.lo.u32 %r6, %r2, 128, %r6;
    mad.lo.u32 %r7, %r1, 4, %r6;
    @!%o bra C;
    xor.b32 %r3, %r3, 1;
E:  mbarrier.try_wait.parity.shared.b64 %w, [%r5], %r3;
    @!%w bra E;
    mad.lo.u32 %r8, %r0, 100, %r1;
    st.shared.u32 [%r7], %r8;
    mbarrier.arrive.shared.b64 _, [%r4];
    bra D;
C:  mbarrier.try_wait.parity.shared.b64 %w, [%r4], %r3;
    @!%w bra C;
    xor.b32 %r8, %r1, 31;
    mad.lo.u32 %r8, %r8, 4, %r6;
    ld.shared.u32 %r8, [%r8];
    mad.lo.u32 %r9, %r9, 3, %r8;
    mbarrier.arrive.shared.b64 _, [%r5];
D:  add.u32 %r0, %r0, 1;
    setp.lt.u32 %w, %r0, 6;
    @%w bra N;
    st.global.u32 [%q], %r9;
)",
                                        64, 1);
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t sum = 0;
    for (unsigned stage = 0; stage < 6; ++stage) sum = sum * 3 + stage * 100 + (31 - lane);
    CHECK(got[32 + lane] == sum);
  }
}

TEST_CASE("mbarrier: all lanes of two waves wait for each other") {
  const std::vector<uint32_t> got = run(init(64) + R"(
    mov.u32 %r1, m;
    mad.lo.u32 %r2, %t, 4, %r1;
    st.shared.u32 [%r2], %t;
    mbarrier.arrive.shared.b64 %s0, [bar];
W:  mbarrier.try_wait.shared.b64 %w, [bar], %s0;
    @!%w bra W;
    sub.u32 %r2, 63, %t;
    mad.lo.u32 %r2, %r2, 4, %r1;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%q], %r3;
)",
                                        64, 1);
  for (uint32_t i = 0; i < 64; ++i) CHECK(got[i] == 63 - i);
}

TEST_CASE("mbarrier: one lane arrives behind the loop in which its wave waits") {
  const std::vector<uint32_t> got = run(init(1) + R"(
    setp.eq.u32 %o, %t, 5;
    @%o bra A;
W:  mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
    @!%w bra W;
    ld.shared.u32 %r1, [m];
    bra E;
A:  st.shared.u32 [m], 77;
    mbarrier.arrive.shared.b64 _, [bar];
    mov.u32 %r1, 5;
E:  st.global.u32 [%q], %r1;
)",
                                        40, 1);
  for (uint32_t i = 0; i < 40; ++i) CHECK(got[i] == (i == 5 ? 5 : 77));
}

TEST_CASE("mbarrier: each lane waits for the one before it, then all shuffle") {
  const std::vector<uint32_t> got = run(R"(
    mad.lo.u32 %r1, %t, 8, 2048;
    mov.u32 %r2, m;
    add.u32 %r1, %r1, %r2;
    mad.lo.u32 %r3, %t, 4, %r2;
    mbarrier.init.shared.b64 [%r1], 1;
    bar.sync 0;
    mov.u32 %r4, 1;
    @%o bra S;
W:  mbarrier.test_wait.parity.shared.b64 %w, [%r1+-8], 0;
    @!%w bra W;
    ld.shared.u32 %r4, [%r3+-4];
    add.u32 %r4, %r4, 2;
S:  st.shared.u32 [%r3], %r4;
    mbarrier.arrive.shared.b64 _, [%r1];
    shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;
    st.global.u32 [%q], %r5;
)",
                                        64, 1);
  for (uint32_t i = 0; i < 64; ++i) CHECK(got[i] == 2 * (i ^ 1) + 1);
}

TEST_CASE("shared memory: a lock for which all lanes of two waves spin, and a flag") {
  const std::vector<uint32_t> got = run(R"(
    setp.eq.u32 %o, %t, 63;
L:  atom.acquire.cta.shared.cas.b32 %r1, [m], 0, 1;
    setp.ne.u32 %w, %r1, 0;
    @%w bra L;
    ld.shared.u32 %r2, [m+4];
    add.u32 %r2, %r2, 3;
    st.shared.u32 [m+4], %r2;
    atom.release.cta.shared.exch.b32 %r3, [m], 0;
    bar.sync 0;
    @%o bra S;
F:  ld.volatile.shared.u32 %r2, [m+8];
    setp.eq.u32 %w, %r2, 0;
    @%w bra F;
    bra E;
S:  ld.shared.u32 %r2, [m+4];
    st.volatile.shared.u32 [m+8], %r2;
E:  st.global.u32 [%q], %r2;
)",
                                        64, 1);
  for (uint32_t i = 0; i < 64; ++i) CHECK(got[i] == 64 * 3);
}

TEST_CASE("waiting: the step of a warp waits for no lane that goes another way") {
  // The last halvings of a sum, then lane 0 alone reads it while the others are at the barrier.
  const std::string text =
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      "  .shared .align 4 .b8 part[256]; .reg .b64 %rd<3>; .reg .b32 %r<8>; .reg .pred %p<2>;\n"
      "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
      "  mov.u32 %r2, part; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.u32 [%r2], %r1;\n"
      "  bar.sync 0; setp.gt.u32 %p1, %r1, 31; @%p1 bra REST;\n"
      "  ld.volatile.shared.u32 %r3, [%r2]; ld.volatile.shared.u32 %r4, [%r2+128];\n"
      "  add.u32 %r3, %r3, %r4; st.volatile.shared.u32 [%r2], %r3;\n"
      "  ld.volatile.shared.u32 %r4, [%r2+4]; add.u32 %r3, %r3, %r4;\n"
      "  st.volatile.shared.u32 [%r2], %r3;\nREST:\n"
      "  setp.ne.u32 %p1, %r1, 0; @%p1 bra LAST;\n"
      "  ld.shared.u32 %r5, [part]; st.global.u32 [%rd1+256], %r5;\nLAST:\n"
      "  bar.sync 0; ld.shared.u32 %r6, [part]; add.u32 %r6, %r6, %r1;\n"
      "  add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6; ret;\n}\n";
  constexpr uint32_t kSum = 0 + 32 + 1 + 33;
  std::vector<uint32_t> expected;
  for (uint32_t lane = 0; lane < 64; ++lane) expected.push_back(kSum + lane);
  expected.push_back(kSum);
  lanewise::Buffer out = device().buffer(std::vector<uint32_t>(expected.size()));
  lanewise::Kernel kernel = device().load_text(text, lanewise::Isa::ptx).kernel();
  kernel.launch({.grid = {1}, .block = {64}}, out).check();
  check_equal(out.read<uint32_t>(), expected);
}
