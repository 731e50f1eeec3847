// Which loops around a compare-and-swap lanes may run in step, and which only look like one.
#include <doctest/doctest.h>

#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/spirv/waves/swap_loops.hpp"
#include "runtime/spirv/waves/wave_proof.hpp"

using namespace lanewise;

namespace {

/// r0 to r15 (r0 the lane, r1 what was loaded first), p16 to p23, d24 (where the words lie) to d31.
/// The loop begins at b1 and leads to b2, which stores r1.
ir::Program around(const std::string& blocks) {
  std::string text = "program \"k\" sass wave 32\nmemory param 8 shared 64 local 64\n";
  for (int n = 0; n < 32; ++n) {
    const std::string number = std::to_string(n);
    text += n < 16   ? "reg r" + number + " b32\n"
            : n < 24 ? "reg p" + number + " pred\n"
                     : "reg d" + number + " b64\n";
  }
  text += R"(
block b0
  r0 = sreg.u32.laneid
  d24 = load.u64 0 {param u64}
  r1 = load.u32 d24 {global u32}
  d25 = load.u64 d24 {global u64}
  r12 = load.u32 d24 {global u32 offset=8}
  jump b1
)" + blocks +
          "\n";
  if (blocks.find("block b2") == std::string::npos)
    text += "block b2\n  store.u32 d24, r1 {global u32 offset=64}\n  exit\n";
  ir::Program program = ir::parse_program(text);
  for (const std::string& problem : ir::verify(program)) FAIL_CHECK(problem);
  return program;
}

/// The operation that may wait, empty when none does; the passes for devices change nothing of it.
std::string waits_at(const std::string& blocks) {
  ir::Program program = around(blocks);
  const auto found = spirv::obstacle_to_waves(program, 64);
  const std::string op = found ? ir::print(program, *found->inst) : "";
  if (found) CHECK(found->why == "a loop may wait here for another lane of the wave");
  ir::optimise(program, {{{64, 1, 1}}});
  CHECK(spirv::obstacle_to_waves(program, 64).has_value() == found.has_value());
  return op;
}
bool waits(const std::string& blocks) {
  return !waits_at(blocks).empty();
}

const char* const kSwap = "atom.u32 d24, r1, r3 {global u32 order=relaxed scope=gpu atom=cas}\n";
const char* const kSwap64 =
    "atom.u64 d24, d25, d26 {global u64 order=relaxed scope=gpu atom=cas atom_type=u64}\n";

/// One block: an addition by a compare-and-swap, then `rest`.
std::string adds(const std::string& rest) {
  return std::string("block b1\n  r3 = add.u32 r1, r0\n  r4 = ") + kSwap + rest;
}
std::string adds64(const std::string& rest) {
  return std::string("block b1\n  d26 = add.u64 d25, 3\n  d27 = ") + kSwap64 + rest;
}

}  // namespace

TEST_CASE("swap loops: words of 32 and 64 bits, however they are compared") {
  CHECK(!waits(adds("p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  CHECK(!waits(adds("p16 = icmp.s32.eq r1, r4\nr1 = mov.u32 r4\nbranch @!p16 b1 b2")));
  CHECK(!waits(adds("p16 = icmp.s32.eq r1, r4\nr1 = mov.u32 r4\nbranch @p16 b2 b1")));
  CHECK(
      !waits(adds("r5 = xor.u32 r1, r4\np16 = icmp.u32.ne r5, 0\nr1 = mov.u32 r4\n"
                  "branch @p16 b1 b2")));
  CHECK(
      !waits(adds("r5 = sub.u32 r1, r4\np16 = icmp.u32.ne r5, 0\nr1 = mov.u32 r4\n"
                  "branch @p16 b1 b2")));
  // Less or more is as good as unequal.
  CHECK(
      !waits(adds("p16 = icmp.u32.lt r1, r4\np17 = icmp.u32.gt r1, r4\np16 = or.pred p16, p17\n"
                  "r1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // A condition that is a number for a while.
  CHECK(
      !waits(adds("p16 = icmp.u32.eq r1, r4\nr5 = select.u32 p16, 0, 0xffffffff\n"
                  "p17 = icmp.s32.ne r5, 0\nr1 = mov.u32 r4\nbranch @p17 b1 b2")));
  CHECK(!waits(adds64("p16 = icmp.s64.ne d27, d25\nd25 = mov.u64 d27\nbranch @p16 b1 b2")));
  CHECK(
      !waits(adds64("r5, r6 = unpack64.u32 d25\nr7, r8 = unpack64.u32 d27\n"
                    "p16 = icmp.u32.eq r5, r7\np17 = icmp.u32.eq r6, r8\n"
                    "p18 = and.pred p16, p17\n@!p18 d25 = pack64.u64 r7, r8\n"
                    "branch @!p18 b1 b2")));
  CHECK(
      !waits(adds64("r5, r6 = unpack64.u32 d25\nr7, r8 = unpack64.u32 d27\n"
                    "r5 = xor.u32 r5, r7\nr6 = xor.u32 r6, r8\nr5 = or.u32 r5, r6\n"
                    "p16 = icmp.u32.ne r5, 0\nd25 = mov.u64 d27\nbranch @p16 b1 b2")));
}

namespace {

/// 64 bits as a sum of SASS's kind compares them: a subtraction that sets the carry, then one of
/// the upper words that takes it; what was seen is kept in two registers.
std::string chain(const std::string& moves) {
  return "block b1\n  d25 = pack64.u64 r1, r12\n  d26 = pack64.u64 r3, r5\n  d27 = " +
         std::string(kSwap64) +
         "r4, r6 = unpack64.u32 d27\nr7 = not.u32 r4\n"
         "r8, p16 = addc.u32 r7, r1, 1\np17 = icmp.u32.eq r8, 0\np18 = not.pred p16\n"
         "r9, p19 = subb.u32 r12, r6, p18\np20 = icmp.u32.eq r9, 0\np21 = and.pred p20, p17\n"
         "p22 = and.pred p21, 1\n" +
         moves + "@!p22 r3, p16 = addc.u32 r0, r4, 0\n@!p22 r5, p23 = addc.u32 r0, r6, p16\n" +
         "branch @!p22 b1 b2\n";
}

}  // namespace

TEST_CASE("swap loops: 64 bits in SASS's halves, with guarded moves") {
  CHECK(!waits(chain("@!p22 r1 = mov.u32 r4\n@!p22 r12 = mov.u32 r6\n")));
  CHECK(waits(chain("@!p22 r1 = mov.u32 r4\n")));  // the upper word stays what it was
  CHECK(waits(chain("@p22 r1 = mov.u32 r4\n@p22 r12 = mov.u32 r6\n")));
  CHECK(waits(chain("@!p22 r12 = mov.u32 r4\n@!p22 r1 = mov.u32 r6\n")));
}

TEST_CASE("swap loops: the first comparand may be anything") {
  CHECK(
      !waits("block b1\n  r1 = mov.u32 0\n  jump b3\nblock b2\n  exit\nblock b3\n"
             "  r3 = add.u32 r1, r0\n  r4 = " +
             std::string(kSwap) + "p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b3 b2"));
}

TEST_CASE("swap loops: tested at the top, left in the middle, with ways inside") {
  const std::string swap = kSwap;
  // As a maximum: left where what is there is large enough.
  CHECK(
      !waits("block b1\n  p17 = icmp.u32.ge r1, r0\n  branch @p17 b2 b3\nblock b2\n  exit\n"
             "block b3\n  r3 = mov.u32 r0\n  r4 = " +
             swap + "p16 = icmp.u32.eq r4, r1\nr1 = mov.u32 r4\nbranch @p16 b2 b1"));
  // A limit of tries, and another lane's flag.
  CHECK(
      !waits(adds("r12 = add.u32 r12, 1\np16 = icmp.u32.ne r4, r1\np17 = icmp.u32.lt r12, 9\n"
                  "p16 = and.pred p16, p17\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  CHECK(
      !waits(adds("r5 = load.u32 d24 {global u32 offset=32 order=relaxed scope=gpu}\n"
                  "p17 = icmp.u32.eq r5, 0\np16 = icmp.u32.ne r4, r1\np16 = and.pred p16, p17\n"
                  "r1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // Two ways to the new value, and two back to the top.
  CHECK(
      !waits("block b1\n  p17 = icmp.u32.ge r1, r0\n  r3 = mov.u32 r0\n  branch @p17 b3 b4\n"
             "block b2\n  exit\nblock b3\n  r3 = add.u32 r1, 1\n  jump b4\nblock b4\n  r4 = " +
             swap +
             "p16 = icmp.u32.eq r4, r1\nr1 = mov.u32 r4\nbranch @p16 b2 b5\n"
             "block b5\n  branch @p17 b1 b6\nblock b6\n  jump b1\n"));
  // Under a guard, which holds for all that iterate.
  CHECK(!waits("block b1\n  r3 = add.u32 r1, r0\n  p17 = icmp.u32.lt r1, 100\n  @p17 r4 = " + swap +
               "p16 = icmp.u32.ne r4, r1\np16 = and.pred p16, p17\nr1 = mov.u32 r4\n"
               "branch @p16 b1 b2"));
  CHECK(waits("block b1\n  r3 = add.u32 r1, r0\n  p17 = icmp.u32.lt r1, 100\n  @p17 r4 = " + swap +
              "p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2"));
}

TEST_CASE("swap loops: a lock, whatever its form, is none") {
  const std::string lock = "atom.u32 d24, 0, 1 {global u32 order=relaxed scope=gpu atom=cas}\n";
  CHECK(waits("block b1\n  r4 = " + lock + "p16 = icmp.u32.ne r4, 0\nbranch @p16 b1 b2"));
  // The comparand is what was seen with the lock's bit off.
  CHECK(
      waits("block b1\n  r5 = and.u32 r1, 0xfffffffe\n  r3 = or.u32 r1, 1\n"
            "  r4 = atom.u32 d24, r5, r3 {global u32 order=relaxed scope=gpu atom=cas}\n"
            "p16 = icmp.u32.ne r4, r5\nr1 = mov.u32 r4\nbranch @p16 b1 b2"));
  // Who swaps has not got it before it was free.
  CHECK(
      waits(adds("p16 = icmp.u32.ne r4, r1\np17 = icmp.u32.ne r4, 0\np16 = or.pred p16, p17\n"
                 "r1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // The same in two loops.
  CHECK(
      waits(adds("p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b3\n"
                 "block b2\n  exit\nblock b3\n  p17 = icmp.u32.ne r4, 0\n  branch @p17 b1 b2")));
  // While it is taken nobody tries.
  const std::string look =
      "r1 = load.u32 d24 {global u32 order=relaxed scope=gpu}\n  p17 = icmp.u32.ne r1, 0\n";
  const std::string take = std::string("r3 = or.u32 r1, 1\n  r4 = ") + kSwap +
                           "p16 = icmp.u32.ne r4, r1\n  branch @p16 b1 b2\n";
  CHECK(
      waits("block b1\n  " + look + "  branch @p17 b1 b3\nblock b2\n  exit\nblock b3\n  " + take));
  CHECK(waits_at("block b1\n  jump b3\nblock b2\n  exit\nblock b3\n  " + look +
                 "  branch @p17 b3 b4\nblock b4\n  " + take)
            .find("load") != std::string::npos);
}

TEST_CASE("swap loops: where equal bits may iterate") {
  // A NaN is never equal to itself.
  CHECK(waits(adds("p16 = fcmp.f32.neu r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  CHECK(waits(adds64("p16 = fcmp.f64.eq d27, d25\nd25 = mov.u64 d27\nbranch @!p16 b1 b2")));
  // Until the value suits; by then the lane may have swapped.
  CHECK(waits(adds("p16 = icmp.u32.lt r4, r0\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // Not compared with the comparand.
  CHECK(waits(adds("p16 = icmp.u32.ne r4, r0\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  CHECK(waits(adds("p16 = icmp.u32.ne r4, r3\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // Round and round as long as it succeeds.
  CHECK(waits(adds("p16 = icmp.u32.eq r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2")));
  // A number of times.
  CHECK(
      waits(adds("p16 = icmp.u32.eq r4, r1\nr1 = mov.u32 r4\n@p16 r12 = sub.u32 r12, 1\n"
                 "p17 = icmp.u32.ne r12, 0\nbranch @p17 b1 b2")));
  // Both halves are equal, but that is not enough.
  CHECK(
      waits(adds64("r5, r6 = unpack64.u32 d25\nr7, r8 = unpack64.u32 d27\n"
                   "p16 = icmp.u32.eq r5, r7\np17 = icmp.u32.eq r6, r8\np18 = icmp.u32.eq r7, r0\n"
                   "p16 = and.pred p16, p17\np16 = and.pred p16, p18\nd25 = mov.u64 d27\n"
                   "branch @!p16 b1 b2")));
}

TEST_CASE("swap loops: where the next comparand is not what was seen") {
  CHECK(waits(adds("p16 = icmp.u32.ne r4, r1\nbranch @p16 b1 b2")));
  CHECK(waits(adds("p16 = icmp.u32.ne r4, r1\nr1 = add.u32 r4, 1\nbranch @p16 b1 b2")));
  CHECK(
      waits(adds("p16 = icmp.u32.ne r4, r1\np17 = icmp.u32.lt r4, r0\n@p17 r1 = mov.u32 r4\n"
                 "branch @p16 b1 b2")));
  // Of two ways round one forgets it.
  CHECK(
      waits(adds("p16 = icmp.u32.eq r4, r1\nbranch @p16 b2 b3\nblock b2\n  exit\n"
                 "block b3\n  p17 = icmp.u32.lt r4, r0\n  branch @p17 b1 b4\n"
                 "block b4\n  r1 = mov.u32 r4\n  jump b1\n")));
  // A weak load may be served from a cache, and one of another word says nothing.
  const auto loads = [](const std::string& what) {
    return "block b1\n  r1 = load.u32 d24 {global u32" + what +
           "}\n  r3 = add.u32 r1, r0\n  r4 = " + kSwap +
           "p16 = icmp.u32.ne r4, r1\nbranch @p16 b1 b2";
  };
  CHECK(!waits(loads(" order=relaxed scope=gpu")));
  CHECK(!waits(loads(" order=volatile")));
  CHECK(waits(loads("")));
  CHECK(waits(loads(" offset=4 order=relaxed scope=gpu")));
  CHECK(
      waits("block b1\n  d28 = add.u64 d24, 4\n  r1 = load.u32 d28 {global u32 order=relaxed "
            "scope=gpu}\n  r3 = add.u32 r1, r0\n  r4 = " +
            std::string(kSwap) + "p16 = icmp.u32.ne r4, r1\nbranch @p16 b1 b2"));
}

TEST_CASE("swap loops: the address stays") {
  const std::string again = "p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2";
  CHECK(waits(adds("d24 = add.u64 d24, 4\n" + again)));
  CHECK(waits(adds("@p17 d24 = add.u64 d24, 4\n" + again)));
  // Loaded anew each time, from a parameter or from where others may have written.
  CHECK(!waits("block b1\n  d24 = load.u64 0 {param u64}\n  r3 = add.u32 r1, r0\n  r4 = " +
               std::string(kSwap) + again));
  CHECK(waits("block b1\n  d24 = load.u64 d28 {global u64}\n  r3 = add.u32 r1, r0\n  r4 = " +
              std::string(kSwap) + again));
  CHECK(
      !waits("block b1\n  r5 = and.u32 r0, 7\n  r6 = shl.u32 r5, 2\n  r3 = add.u32 r1, r0\n"
             "  r4 = atom.u32 r6, r1, r3 {shared u32 order=relaxed scope=cta atom=cas}\n" +
             again));
}

TEST_CASE("swap loops: nothing else in them may hold a lane up or write what is compared") {
  const std::string again = "p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b2";
  CHECK(waits(adds("store.u32 d25, r0 {global u32}\n" + again)));
  CHECK(waits(adds("store.u32 d25, r0 {generic u32}\n" + again)));
  CHECK(
      !waits(adds("store.u32 0, r0 {shared u32}\nstore.u32 0, r0 {local u32}\n"
                  "fence {global u32 order=seq_cst scope=gpu}\n" +
                  again)));
  CHECK(waits(adds("atom.u32 d25, r0 {global u32 order=relaxed scope=gpu}\n" + again)));
  CHECK(waits(adds(std::string("r5 = ") + kSwap + again)));
  CHECK(waits(adds("p17 = vote_any p16, 0xffffffff\n" + again)));
  // Equality of floats, as GCN's compare-and-swap has it.
  CHECK(!waits_at("block b1\n  r3 = add.u32 r1, r0\n  r4 = atom.u32 d24, r1, r3 {global u32 "
                  "order=relaxed scope=gpu atom=fcas atom_type=f32}\n" +
                  again)
             .empty());
}

TEST_CASE("swap loops: halfwords are compared as such") {
  const auto halfword = [](const std::string& seen) {
    return "block b1\n  r3 = add.u32 r1, r0\n  r4 = atom.u32 d24, r1, r3 {global u16 order=relaxed "
           "scope=gpu atom=cas atom_type=u16}\n" +
           seen + "r1 = mov.u32 r4\nbranch @p16 b1 b2";
  };
  CHECK(!waits(halfword("r5 = zext16.u32 r1\np16 = icmp.u32.ne r4, r5\n")));
  CHECK(!waits(halfword("r5 = sext16.u32 r1\nr6 = sext16.u32 r4\np16 = icmp.s32.ne r6, r5\n")));
  CHECK(waits(halfword("r5 = sext16.u32 r1\nr6 = zext8.u32 r4\np16 = icmp.s32.ne r6, r5\n")));
  // Bits above those that memory holds make equal halfwords unequal.
  CHECK(waits(halfword("p16 = icmp.u32.ne r4, r1\n")));
}

TEST_CASE("swap loops: inside other loops") {
  // A lane makes r12 additions. `out`: where the inner loop may be left besides.
  const auto outer = [](const std::string& again, const std::string& count,
                        const std::string& out) {
    return "block b1\n  r1 = load.u32 d24 {global u32}\n  jump b3\nblock b2\n  exit\nblock b3\n  "
           "r3 = add.u32 r1, r0\n  r4 = " +
           std::string(kSwap) + "r10 = add.u32 r10, 1\np17 = icmp.u32.eq r4, 7\n" + out +
           "block b4\n  p16 = icmp.u32.ne r4, r1\n  r1 = mov.u32 r4\n  branch @p16 b3 b5\n"
           "block b5\n  jump b6\nblock b6\n  r12 = sub.u32 r12, " +
           count + "\n  p18 = icmp.s32.gt " + again +
           ", 0\n  branch @p18 b1 b2\n"
           "block b7\n  r12 = sub.u32 r12, 1\n  p18 = icmp.s32.gt r12, 0\n  branch @p18 b1 b2\n";
  };
  CHECK(!waits(outer("r12", "1", "jump b4\n")));
  CHECK(!waits(outer("r12", "1", "branch @p17 b6 b4\n")));  // both exits meet
  CHECK(waits(outer("r12", "1", "branch @p17 b2 b4\n")));
  CHECK(waits(outer("r12", "1", "branch @p17 b7 b4\n")));
  CHECK(waits(outer("r12", "r4", "jump b4\n")));  // by what was seen
  CHECK(waits(outer("r4", "1", "jump b4\n")));
  CHECK(waits(outer("r10", "1", "jump b4\n")));  // by how often others got in between
  // One that can be entered in the middle has no iterations of its own.
  CHECK(
      waits("block b1\n  p17 = icmp.u32.lt r0, 7\n  branch @p17 b3 b4\nblock b2\n  exit\n"
            "block b3\n  r3 = add.u32 r1, r0\n  jump b4\nblock b4\n  r4 = " +
            std::string(kSwap) + "p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b3 b2"));
}

TEST_CASE("swap loops: a count that an atomic gave is no reason to wait") {
  const std::string swaps = adds("p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\nbranch @p16 b1 b3\n");
  const auto counted = [&](const std::string& inside) {
    return swaps + "block b2\n  exit\nblock b3\n  r4 = sub.u32 r4, 1\n" + inside +
           "  p17 = icmp.s32.gt r4, 0\n  branch @p17 b3 b2\n";
  };
  CHECK(waits_at(counted("")).empty());
  CHECK(waits_at(counted("  r7 = atom.u32 d24, r0 {global u32 order=relaxed scope=gpu}\n"))
            .find("atom") != std::string::npos);
}

TEST_CASE("swap loops: a register that held what an atomic gave, and holds something else") {
  const std::string before =
      "block b1\n  r4 = atom.u32 d24, r0 {global u32 order=relaxed scope=gpu atom=add}\n"
      "  p16 = icmp.u32.eq r4, 0\n  @p16 store.u32 d24, r0 {global u32 offset=8}\n  jump b3\n"
      "block b2\n  exit\nblock b3\n"
      "  r5 = load.u32 d24 {global u32 order=relaxed scope=gpu}\n  r12 = add.u32 r12, 1\n";
  CHECK(!waits(before + "  p16 = icmp.u32.lt r12, 9\n  branch @p16 b3 b2"));
  CHECK(waits(before + "  p16 = icmp.u32.ne r5, 0\n  branch @p16 b3 b2"));
  CHECK(waits(before + "  branch @p16 b3 b2"));
}

TEST_CASE("swap loops: where one leads to") {
  const auto one = [](const std::string& blocks) {
    const auto found = spirv::swap_loops(around(blocks));
    REQUIRE(found.size() == 1);
    return found[0];
  };
  const std::string swap = adds("p16 = icmp.u32.ne r4, r1\nr1 = mov.u32 r4\n");
  CHECK(one(swap + "branch @p16 b1 b2").leads_to == 2);
  CHECK(one(swap + "branch @p16 b1 b3\nblock b2\n  exit\nblock b3\n  jump b2\n").leads_to == 2);
  CHECK(one(swap + "branch @p16 b1 b2").blocks == std::vector<uint32_t>{1});
  CHECK(one(swap + "branch @p16 b3 b2\nblock b2\n  exit\nblock b3\n  p17 = icmp.u32.eq r1, 4\n"
                   "  branch @p17 b4 b1\nblock b4\n  exit\n")
            .leads_to == ir::kNone);
}
