// Loops around a compare-and-swap in wave mode: all lanes of a wave, several waves and groups at
// one word. What comes out is what the host adds up, whatever the order; a lock is refused by name.
#include <algorithm>
#include <bit>
#include <numeric>

#include "runtime/isa/sass/sass.hpp"
#include "tests/differential/ptx_kernel.hpp"

namespace swap_loops {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kLanes = 96, kGroups = 2, kAll = kLanes * kGroups;
constexpr uint32_t kOlds = 16;  ///< word of the output from which on lanes leave what they got

/// r1 is the lane of the launch, r2 that of the group; %rd2 the output, %rd3 the lane's own word.
ir::Program kernel(const std::string& body) {
  return ptx_kernel(
      ".reg .b16 %h<6>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<6>; .reg .f64 %d<6>; "
      ".reg .pred %p<6>;",
      "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r3, " + std::to_string(kLanes) +
          ", %r2; mad.wide.u32 %rd3, %r1, 4, %rd2; activemask.b32 %r4;\n" + body);
}

ir::Program sass_kernel(const std::string& text) {
  const sass::Listing listing = sass::parse(text);
  REQUIRE_MESSAGE(listing.ok(), listing.diagnostics[0].message);
  sass::LowerResult lowered = sass::lower(listing);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lowered.diagnostics[0].message);
  lowered.module.kernels.at(0).shared_bytes = 16;
  return lowered.module.kernels.at(0);
}

/// The words that it leaves in wave mode on a device and, as there, in step and lane by lane on the
/// reference engine.
template <typename Check>
void everywhere(const ir::Program& program, const Check& check) {
  for (const TestEngine& engine : engines_in_turn()) {
    for (const WaveSchedule schedule : {WaveSchedule::until_stop, WaveSchedule::lockstep}) {
      const bool reference = engine.label == "reference";
      if (!reference && schedule == WaveSchedule::lockstep) continue;
      CAPTURE(engine.label);
      CAPTURE(static_cast<int>(schedule));
      const Outcome got = run_on(*engine.engine, program, {kGroups, 1, 1}, {kLanes, 1, 1},
                                 std::vector<uint32_t>(64, 0), kOlds + kAll, [&](auto& request) {
                                   request.wave = WaveMode::packed;
                                   request.schedule = schedule;
                                   request.step_budget = 20000;
                                 });
      CHECK_MESSAGE(got.fault_count == 0, describe(got));
      check(got.words);
    }
  }
}

uint64_t wide(const std::vector<uint32_t>& words, size_t at) {
  return words[at] | uint64_t{words[at + 1]} << 32;
}

/// What the lanes got are 0, 1, 2 ..., once each.
void check_tickets(const std::vector<uint32_t>& words, uint32_t count) {
  std::vector<uint32_t> olds(words.begin() + kOlds, words.end()), each(kAll);
  std::ranges::sort(olds);
  for (uint32_t n = 0; n < kAll; ++n) each[n] = n % count;
  std::ranges::sort(each);
  CHECK(olds == each);
}

}  // namespace

TEST_CASE("swap loops: tickets from one word, from the value that was seen or loaded anew") {
  const ir::Program seen = kernel(R"(
    ld.global.u32 %r5, [%rd2];
    AGAIN: mov.u32 %r6, %r5; add.u32 %r7, %r6, 1;
    atom.global.cas.b32 %r5, [%rd2], %r6, %r7; setp.ne.s32 %p1, %r5, %r6; @%p1 bra AGAIN;
    st.global.u32 [%rd3+64], %r5;
)");
  const ir::Program loaded = kernel(R"(
    AGAIN: ld.volatile.global.u32 %r6, [%rd2]; add.u32 %r7, %r6, 1;
    atom.global.cas.b32 %r5, [%rd2], %r6, %r7; setp.eq.s32 %p1, %r5, %r6; @!%p1 bra AGAIN;
    st.global.u32 [%rd3+64], %r5;
)");
  for (const ir::Program* program : {&seen, &loaded}) {
    everywhere(*program, [](const std::vector<uint32_t>& words) {
      CHECK(words[0] == kAll);
      check_tickets(words, kAll);
    });
  }
}

TEST_CASE("swap loops: sums of f32, f64 and u64, each lane several times") {
  const ir::Program program = kernel(R"(
    and.b32 %r5, %r1, 3; add.u32 %r5, %r5, 1; cvt.rn.f32.u32 %f1, %r1; cvt.rn.f64.u32 %d1, %r1;
    cvt.u64.u32 %rd4, %r1; shl.b64 %rd4, %rd4, 30;
    ROUND:
    ld.global.u32 %r6, [%rd2];
    SINGLE: mov.b32 %f2, %r6; add.f32 %f2, %f2, %f1; mov.b32 %r7, %f2;
    atom.global.cas.b32 %r8, [%rd2], %r6, %r7; setp.ne.s32 %p1, %r6, %r8; mov.u32 %r6, %r8;
    @%p1 bra SINGLE;
    ld.global.u64 %rd5, [%rd2+8];
    DOUBLE: mov.b64 %d2, %rd5; add.f64 %d2, %d2, %d1; mov.b64 %rd6, %d2;
    atom.global.cas.b64 %rd7, [%rd2+8], %rd5, %rd6; setp.ne.s64 %p1, %rd5, %rd7;
    mov.u64 %rd5, %rd7; @%p1 bra DOUBLE;
    ld.global.u64 %rd5, [%rd2+16];
    WIDE: add.u64 %rd6, %rd5, %rd4;
    atom.global.cas.b64 %rd7, [%rd2+16], %rd5, %rd6; mov.b64 {%r6, %r7}, %rd5;
    mov.b64 {%r8, %r9}, %rd7; setp.eq.u32 %p1, %r6, %r8; setp.eq.and.u32 %p1, %r7, %r9, %p1;
    mov.u64 %rd5, %rd7; @!%p1 bra WIDE;
    sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra ROUND;
)");
  uint64_t sum = 0;
  for (uint64_t lane = 0; lane < kAll; ++lane) sum += lane * (lane % 4 + 1);
  everywhere(program, [&](const std::vector<uint32_t>& words) {
    CHECK(std::bit_cast<float>(words[0]) == static_cast<float>(sum));
    CHECK(std::bit_cast<double>(wide(words, 2)) == static_cast<double>(sum));
    CHECK(wide(words, 4) == sum << 30);
  });
}

TEST_CASE("swap loops: the largest float, and a count that stops at a limit") {
  const ir::Program program = kernel(R"(
    // Floats that are not negative are in the order of their bits.
    mul.lo.u32 %r5, %r1, 37; rem.u32 %r5, %r5, 193; cvt.rn.f32.u32 %f1, %r5; mov.b32 %r5, %f1;
    ld.global.u32 %r6, [%rd2];
    HIGHER: setp.ge.s32 %p1, %r6, %r5; @%p1 bra DONE;
    atom.global.cas.b32 %r7, [%rd2], %r6, %r5; setp.ne.s32 %p1, %r6, %r7; mov.u32 %r6, %r7;
    @%p1 bra HIGHER;
    DONE:
    mov.u32 %r8, -1; ld.global.u32 %r6, [%rd2+4];
    COUNT: setp.ge.u32 %p1, %r6, 100; @%p1 bra FULL;
    add.u32 %r7, %r6, 1; mov.u32 %r9, %r6; atom.global.cas.b32 %r6, [%rd2+4], %r9, %r7;
    setp.ne.s32 %p1, %r6, %r9; @%p1 bra COUNT;
    mov.u32 %r8, %r9;
    FULL: st.global.u32 [%rd3+64], %r8;
)");
  float largest = 0;
  for (uint32_t lane = 0; lane < kAll; ++lane)
    largest = std::max(largest, static_cast<float>(lane * 37 % 193));
  everywhere(program, [&](const std::vector<uint32_t>& words) {
    CHECK(std::bit_cast<float>(words[0]) == largest);
    CHECK(words[1] == 100);
    std::vector<uint32_t> olds(words.begin() + kOlds, words.end());
    std::ranges::sort(olds);
    for (uint32_t n = 0; n < kAll; ++n) CHECK(olds[n] == (n < 100 ? n : ~0U));
  });
}

TEST_CASE("swap loops: the largest float, compared as floats and added to in a loop") {
  // SwiftShader's compiler did not come to an end where each slot's compare had branches.
  const ir::Program program = kernel(R"(
    cvt.rn.f32.u32 %f1, %r1; ld.global.u32 %r6, [%rd2];
    HIGHER: mov.b32 %f2, %r6; setp.ge.f32 %p1, %f2, %f1; @%p1 bra DONE;
    mov.b32 %r5, %f1; atom.global.cas.b32 %r7, [%rd2], %r6, %r5; setp.ne.s32 %p1, %r6, %r7;
    mov.u32 %r6, %r7; @%p1 bra HIGHER;
    DONE: cvt.rn.f32.u32 %f3, %r2; mov.f32 %f4, 0f42800000;
    LONGER: add.f32 %f3, %f3, 0f40000000; setp.lt.f32 %p1, %f3, %f4; @%p1 bra LONGER;
    st.global.f32 [%rd3+64], %f3;
)");
  everywhere(program, [&](const std::vector<uint32_t>& words) {
    CHECK(std::bit_cast<float>(words[0]) == static_cast<float>(kAll - 1));
    for (uint32_t lane = 0; lane < kAll; ++lane) {
      auto f = static_cast<float>(lane % kLanes);
      do f += 2;
      while (f < 64);
      CHECK(std::bit_cast<float>(words[kOlds + lane]) == f);
    }
  });
}

TEST_CASE("swap loops: lanes at eight words, and at a halfword") {
  const ir::Program program = kernel(R"(
    and.b32 %r5, %r1, 7; mad.wide.u32 %rd4, %r5, 4, %rd2; ld.global.u32 %r6, [%rd4];
    WORD: mov.u32 %r7, %r6; mad.lo.u32 %r8, %r5, 100, 1; add.u32 %r8, %r8, %r7;
    atom.global.cas.b32 %r6, [%rd4], %r7, %r8; setp.ne.s32 %p1, %r6, %r7; @%p1 bra WORD;
    ld.global.u16 %h1, [%rd2+34];
    HALF: add.u16 %h2, %h1, 3; mov.u16 %h3, %h1; atom.global.cas.b16 %h1, [%rd2+34], %h3, %h2;
    setp.ne.s16 %p1, %h1, %h3; @%p1 bra HALF;
)");
  everywhere(program, [](const std::vector<uint32_t>& words) {
    for (uint32_t n = 0; n < 8; ++n) CHECK(words[n] == kAll / 8 * (100 * n + 1));
    CHECK(words[8] == kAll * 3 << 16);
  });
}

TEST_CASE("swap loops: shared memory of SASS, 64 bits compared with a carry") {
  // Each lane adds 2^31 and its own number; lane 0 stores its group's sum.
  const ir::Program program = sass_kernel(R"(
S2R R0, SR_TID.X ;
S2R R1, SR_CTAID.X ;
ISETP.NE.AND P0, PT, R0, RZ, PT ;
@!P0 STS.64 [RZ], RZ ;
VOTE.ANY R2, PT, PT ;
LOP32I.OR R3, R0, 0x80000000 ;
BAR.SYNC 0x0 ;
LDS.U.64 R4, [RZ] ;
SSY `(.L_end) ;
IADD R6.CC, R3, R4 ;
IADD.X R7, RZ, R5 ;
.L_again:
ATOMS.CAS.64 R8, [RZ], R4, R6 ;
IADD RZ.CC, -R8, R4 ;
ISETP.EQ.U32.X.AND P1, PT, R5, R9, PT ;
@!P1 IADD R6.CC, R3, R8 ;
@!P1 MOV R4, R8 ;
@!P1 MOV R5, R9 ;
@!P1 IADD.X R7, RZ, R9 ;
@!P1 BRA `(.L_again) ;
SYNC ;
.L_end:
BAR.SYNC 0x0 ;
@P0 EXIT ;
LDS.U.64 R6, [RZ] ;
ISCADD R10.CC, R1, c[0x0][0x148], 0x3 ;
IADD.X R11, RZ, c[0x0][0x14c] ;
STG.E.64 [R10], R6 ;
EXIT ;
)");
  const uint64_t sum = (uint64_t{kLanes} << 31) + kLanes * (kLanes - 1) / 2;
  everywhere(program, [&](const std::vector<uint32_t>& words) {
    for (uint32_t group = 0; group < kGroups; ++group) CHECK(wide(words, 2 * group) == sum);
  });
}

TEST_CASE("swap loops: a lock is refused, and its instruction named") {
  const ir::Program lock = kernel(R"(
    SPIN: atom.global.cas.b32 %r5, [%rd2], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra SPIN;
    ld.volatile.global.u32 %r6, [%rd2+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd2+4], %r6;
    membar.gl; atom.global.exch.b32 %r5, [%rd2], 0;
)");
  size_t devices = 0;
  for (const TestEngine& engine : test_engines()) {
    if (engine.label == "reference") continue;
    CAPTURE(engine.label);
    ++devices;
    try {
      (void)run_on(*engine.engine, lock, {1, 1, 1}, {kLanes, 1, 1}, {0}, 8,
                   [](auto& request) { request.wave = WaveMode::packed; });
      FAIL_CHECK("was run");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::guest);
      CHECK(std::string(error.what()).find("'atom.global.cas.b32 %r5, [%rd2], 0, 1") !=
            std::string::npos);
      CHECK(std::string(error.what()).find("a loop may wait here") != std::string::npos);
    }
  }
  CHECK(devices + 1 == test_engines().size());
}

}  // namespace swap_loops
