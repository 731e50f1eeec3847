// Each pass over values by itself, on programs small enough to say what must be left.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/ir/passes/pipeline.hpp"
#include "tests/support/contains.hpp"

using namespace lanewise::ir;

namespace {

constexpr const char* kValuesHead =
    "program \"k\" ptx wave 32\nmemory param 16 shared 0 local 0\n"
    "reg r0 b32\nreg r1 b32\nreg r2 b32\nreg r3 b32\nreg p4 pred\nreg p5 pred\n"
    "reg d6 b64\nreg d7 b64\nreg d8 b64\nsymbol \"s\"\nsite 1 0 \"one\"\nsite 2 8 \"two\"\n";

/// The blocks after one pass.
std::string after(const std::string& pass_name, const std::string& body) {
  Program p = parse_program(kValuesHead + body);
  REQUIRE(verify(p).empty());
  for (const Pass& pass : passes()) {
    if (pass.name == pass_name) pass.run(p, {});
  }
  const auto defects = verify(p);
  REQUIRE_MESSAGE(defects.empty(), defects.front());
  const std::string text = print(p);
  return text.substr(text.find("block b0"));
}
}  // namespace

TEST_CASE("constants: what is known is computed, where it is known") {
  const std::string chain = after("constants",
                                  "block b0\n r0 = mov.u32 7\n r1 = add.u32 r0, 1\n"
                                  " d6 = zext64 r1\n d7 = shl.u64 d6, r1\n"
                                  " store d8, d7 {global u64}\n exit\n");
  CHECK(has(chain, "store d8, 0x800 {global u64}"));
  // The register that readlane names is one of other lanes.
  CHECK(has(after("constants",
                  "block b0\n r0 = mov.u32 7\n r1 = readlane r0, 3\n store d8, r1 {global u32}\n"
                  " exit\n"),
            "readlane r0, 3"));
  // A register that is written twice is known from one write to the next.
  const std::string twice =
      after("constants",
            "block b0\n r0 = mov.u32 7\n store d8, r0 {global u32}\n"
            " r0 = load d8 {global u32}\n store d8, r0 {global u32}\n exit\n");
  CHECK(has(twice, "store d8, 7 "));
  CHECK(has(twice, "store d8, r0 "));
  // A guard that never holds; one that always does.
  const std::string guards = after("constants",
                                   "block b0\n p4 = mov.pred 1\n @p4 store d8, 1 {global u32}\n"
                                   " @!p4 store d8, 2 {global u32}\n exit\n");
  CHECK(has(guards, "  store d8, 1 "));
  CHECK(!has(guards, "store d8, 2 "));
}

TEST_CASE("constants: branches of programs with operations across lanes stay") {
  const std::string body =
      "block b0\n p4 = mov.pred 1\n branch @p4 b1 b2\nblock b1\n jump b2\nblock b2\n";
  CHECK(!has(after("constants", body + " exit\n"), "branch"));
  CHECK(has(after("constants", body + " r0 = activemask\n exit\n"), "branch @p4 b1 b2"));
  CHECK(has(after("blocks", body + " r0 = activemask\n exit\n"), "block b2"));
  CHECK(has(after("blocks", body + " exit\n"), "block b0\n  p4 = mov.pred 1\n  exit"));
}

TEST_CASE("copies: the first holder, as long as it holds") {
  CHECK(has(after("copies", "block b0\n r1 = mov.u32 r0\n store d8, r1 {global u32}\n exit\n"),
            "store d8, r0 "));
  CHECK(has(after("copies",
                  "block b0\n r1 = mov.u32 r0\n r0 = add.u32 r0, 1\n store d8, r1 {global u32}\n"
                  " exit\n"),
            "store d8, r1 "));
  CHECK(has(after("copies", "block b0\n @p4 r1 = mov.u32 r0\n store d8, r1 {global u32}\n exit\n"),
            "store d8, r1 "));
  // Both have one write, and the copy dominates.
  CHECK(has(after("copies",
                  "block b0\n r0 = load d8 {global u32}\n r1 = mov.u32 r0\n branch @p4 b1 b2\n"
                  "block b1\n store d8, r1 {global u32}\n jump b2\nblock b2\n exit\n"),
            "store d8, r0 "));
  CHECK(has(after("copies",
                  "block b0\n r1 = mov.u32 r0\n r2 = readlane r1, 3\n store d8, r2 {global u32}\n"
                  " exit\n"),
            "readlane r1, 3"));
}

TEST_CASE("common: parameters are loaded once") {
  const std::string loads =
      "block b0\n r0 = load 4 {param u32} #0\n branch @p4 b1 b2\n"
      "block b1\n r1 = load 4 {param u32} #1\n r2 = load 4 {param u16} #1\n"
      " r3 = load 0 {param u32 offset=4} #1\n store d8, r1, r2 {global u32 count=2}\n jump b2\n"
      "block b2\n exit\n";
  const std::string merged = after("common", loads);
  CHECK(has(merged, "r1 = mov.u32 r0 #1"));
  CHECK(has(merged, "r2 = load 4 {param u16}"));
  // Not where it may not have been loaded.
  CHECK(has(after("common",
                  "block b0\n branch @p4 b1 b2\nblock b1\n r0 = load 4 {param u32}\n"
                  " store d8, r0 {global u32}\n jump b2\nblock b2\n r1 = load 4 {param u32}\n"
                  " store d8, r1 {global u32}\n exit\n"),
            "r1 = load 4"));
  // Nor is other memory.
  CHECK(has(
      after("common", "block b0\n r0 = load d8 {global u32}\n r1 = load d8 {global u32}\n exit\n"),
      "r1 = load d8"));
}

TEST_CASE("common: one operation, the same operands") {
  CHECK(has(after("common", "block b0\n r1 = add.u32 r0, r3\n r2 = add.s32 r3, r0\n exit\n"),
            "r2 = mov.u32 r1"));
  CHECK(has(after("common", "block b0\n r1 = sub.u32 r0, r3\n r2 = sub.u32 r3, r0\n exit\n"),
            "r2 = sub.u32 r3, r0"));
  CHECK(has(after("common", "block b0\n r1 = shr.u32 r0, r3\n r2 = shr.s32 r0, r3\n exit\n"),
            "r2 = shr.s32"));
  // An operand, or what held the result, has been written since.
  CHECK(has(after("common",
                  "block b0\n r1 = add.u32 r0, r3\n r3 = mov.u32 5\n r2 = add.u32 r0, r3\n exit\n"),
            "r2 = add.u32"));
  CHECK(has(after("common",
                  "block b0\n r1 = add.u32 r0, r3\n @p4 r1 = mov.u32 5\n r2 = add.u32 r0, r3\n"
                  " exit\n"),
            "r2 = add.u32"));
  // Under a guard: known under the same guard in the same state.
  const std::string guarded = after("common",
                                    "block b0\n @p4 r1 = add.u32 r0, r3\n"
                                    " @p4 r2 = add.u32 r0, r3\n r3 = add.u32 r0, r3\n exit\n");
  CHECK(has(guarded, "@p4 r2 = mov.u32 r1"));
  CHECK(has(guarded, "  r3 = add.u32 r0, r3"));
  CHECK(has(after("common",
                  "block b0\n @p4 r1 = add.u32 r0, r3\n p4 = xor.pred p4, p5\n"
                  " @p4 r2 = add.u32 r0, r3\n exit\n"),
            "r2 = add.u32"));
  // Clocks go on; two results may not overwrite each other.
  CHECK(has(after("common", "block b0\n r1 = sreg.u32.clock\n r2 = sreg.u32.clock\n exit\n"),
            "r2 = sreg"));
  CHECK(has(after("common", "block b0\n r1, r2 = unpack64 d6\n r2, r1 = unpack64 d6\n exit\n"),
            "r2, r1 = unpack64"));
}

TEST_CASE("addresses: sums with constants join at the width of the address") {
  CHECK(has(after("addresses",
                  "block b0\n d7 = add.u64 d6, 0x10\n d8 = add.u64 d7, 0xfffffffffffffff8\n"
                  " store d8, 1 {global u32 offset=4} #1\n exit\n"),
            "store d6, 1 {global u32 offset=12} #1"));
  CHECK(has(after("addresses",
                  "block b0\n r1 = add.u32 r0, 0xfffffff0\n r2 = load r1 {shared u32 offset=32}\n"
                  " exit\n"),
            "load r0 {shared u32 offset=16}"));
  // The base has been written since.
  CHECK(has(after("addresses",
                  "block b0\n d7 = add.u64 d6, 16\n d6 = mov.u64 0\n"
                  " store d7, 1 {global u32}\n exit\n"),
            "store d7, 1 {global u32}"));
  CHECK(has(
      after("addresses", "block b0\n @p4 d7 = add.u64 d6, 16\n store d7, 1 {global u32}\n exit\n"),
      "store d7, 1 {global u32}"));
}

TEST_CASE("pairs: what was taken apart is whole again") {
  const std::string whole = after("pairs",
                                  "block b0\n r0, r1 = unpack64 d6\n d7 = pack64 r0, r1\n"
                                  " d8 = pack64 r1, r0\n r2 = mov.u32 r0\n r0 = mov.u32 4\n"
                                  " d8 = pack64 r2, r1\n d8 = pack64 r0, r1\n exit\n");
  CHECK(has(whole, "d7 = mov.u64 d6"));
  CHECK(has(whole, "d8 = pack64 r1, r0"));
  CHECK(has(whole, "d8 = mov.u64 d6"));
  CHECK(has(whole, "d8 = pack64 r0, r1\n  exit"));
  const std::string words = after("pairs",
                                  "block b0\n d6 = pack64 r0, r1\n r2, r3 = unpack64 d6\n"
                                  " r1, r3 = unpack64 d6\n r3 = trunc32 d6\n exit\n");
  CHECK(has(words, "r2 = mov.u32 r0"));
  CHECK(has(words, "r3 = mov.u32 r1"));
  CHECK(has(words, "r1, r3 = unpack64 d6"));
  CHECK(has(words, "r3 = mov.u32 r0"));
}

TEST_CASE("pairs: what was computed word by word") {
  const std::string low = "block b0\n r2, p4 = addc.u32 r0, r1, 0\n";
  const std::string sum =
      after("pairs",
            low + " r0 = mov.u32 9\n r3, p5 = addc.u32 r1, r1, p4\n d6 = pack64 r2, r3\n exit\n");
  CHECK(has(sum, "r9 = mov.u32 r0\n  r2, p4 = addc.u32 r0, r1, 0"));  // kept: it is written over
  CHECK(has(sum, "d10 = pack64.u64 r9, r1"));
  CHECK(has(sum, "d11 = pack64.u64 r1, r1"));
  CHECK(has(sum, "d6 = add.u64 d10, d11"));
  const auto stays = [&](const std::string& words) {
    return has(after("pairs", words + " d6 = pack64 r2, r3\n exit\n"), "d6 = pack64 r2, r3");
  };
  CHECK(!stays(low + " r3, p5 = addc.u32 r1, r0, p4\n"));
  CHECK(stays(low + " r3, p5 = addc.u32 r1, r0, p5\n"));                    // another carry
  CHECK(stays(low + " r3, p5 = subb.u32 r1, r0, p4\n"));                    // it is no borrow
  CHECK(stays(low + " p4 = mov.pred 1\n r3, p5 = addc.u32 r1, r0, p4\n"));  // no more
  CHECK(stays(low + " @p5 r3, p4 = addc.u32 r1, r0, p4\n"));                // not always
  CHECK(stays("block b0\n r2, p4 = addc.u32 r0, r1, 1\n r3, p5 = addc.u32 r1, r0, p4\n"));
  const auto wide = [](const std::string& words) {
    return after("pairs", "block b0\n" + words + " d6 = pack64 r2, r3\n exit\n");
  };
  CHECK(has(wide(" r2, p4 = subb.u32 r0, 5, 0\n r3, p5 = subb.u32 r1, 7, p4\n"),
            "d6 = sub.u64 d9, 0x700000005"));
  CHECK(has(wide(" r2 = mov.u32 r0\n r3 = shr.s32 r0, 31\n"), "d6 = sext64.u64 r2"));
  CHECK(has(wide(" r2 = shl.u32 r0, 2\n r3 = shr.s32 r0, 30\n"),
            "d9 = sext64.u64 r0\n  d6 = shl.u64 d9, 2"));
  CHECK(has(wide(" r2 = shl.u32 r0, 2\n r3 = shr.u32 r0, 30\n"), "d9 = zext64.u64 r0"));
  CHECK(has(wide(" r2 = shl.u32 r0, 2\n r3 = shr.s32 r0, 29\n"), "d6 = pack64 r2, r3"));
  CHECK(has(wide(" r2 = shl.u32 r0, 2\n r3 = shr.s32 r1, 30\n"), "d6 = pack64 r2, r3"));
  CHECK(has(wide(" r2 = mul.u32 r0, r1\n r3 = mulhi.s32 r0, r1\n"), "d6 = mulwide.s32 r0, r1"));
}

TEST_CASE("pairs: a value that was written over is read from a register of its own") {
  const std::string kept = after("pairs",
                                 "block b0\n r0, r1 = unpack64 d6\n d6 = mov.u64 5\n d7 = pack64 "
                                 "r0, r1\n d8 = mov.u64 d7\n exit\n");
  CHECK(has(kept, "d9 = mov.u64 d6\n  r0, r1 = unpack64"));
  CHECK(has(kept, "d7 = mov.u64 d9"));
}

TEST_CASE("dead: a sum whose carry nobody reads is a plain one") {
  const std::string body = "block b0\n r2, p4 = addc.u32 r0, r1, 0\n store d8, r2 {global u32}\n";
  CHECK(has(after("dead", body + " exit\n"), "r2 = add.u32 r0, r1"));
  CHECK(has(after("dead", body + " @p4 store d8, r0 {global u32}\n exit\n"), "r2, p4 = addc.u32"));
  CHECK(has(
      after("dead", "block b0\n r2, p4 = subb.u32 r0, r1, p5\n store d8, r2 {global u32}\n exit\n"),
      "r2, p4 = subb.u32"));
}

TEST_CASE("dead: what may fault or is seen by other lanes stays") {
  const std::string left = after("dead",
                                 "block b0\n r0 = load d8 {global u32}\n r1 = load 12 {param u32}\n"
                                 " r2 = load 16 {param u32}\n r3 = load 2 {param u32}\n exit\n");
  CHECK(has(left, "load d8"));
  CHECK(!has(left, "load 12"));
  CHECK(has(left, "load 0x10 "));  // beyond the parameters
  CHECK(has(left, "load 2 "));     // misaligned
  CHECK(has(after("dead",
                  "block b0\n r0 = mov.u32 5\n r1 = readlane r0, 3\n r0 = mov.u32 6\n"
                  " store d8, r1 {global u32}\n exit\n"),
            "r0 = mov.u32 6"));
  // A circle of registers that only feed each other; a write that another one covers.
  const std::string circle = after("dead",
                                   "block b0\n r0 = mov.u32 1\n r2 = mov.u32 8\n r2 = mov.u32 9\n"
                                   " jump b1\nblock b1\n r1 = add.u32 r0, 1\n r0 = mov.u32 r1\n"
                                   " store d8, r2 {global u32}\n branch @p4 b1 b2\n"
                                   "block b2\n exit\n");
  CHECK(!has(circle, "r0"));
  CHECK(!has(circle, "= mov.u32 8"));
  CHECK(has(circle, "= mov.u32 9"));
}

TEST_CASE("blocks: back edges keep their number and their terminators") {
  // The empty block takes the back edge: its site is what the step budget names.
  const std::string latch =
      "block b0\n jump b1\nblock b1\n store d8, 1 {global u32}\n branch @p4 b2 b3 #0\n"
      "block b2\n jump b1 #1\nblock b3\n exit\n";
  CHECK(has(after("blocks", latch), "jump b1 #1"));
  // Joined with b0, the edge from b3 to b2 would go forward.
  const std::string order =
      "block b0\n jump b3\nblock b1\n exit\nblock b2\n store d8, 1 {global u32}\n jump b1\n"
      "block b3\n store d8, 2 {global u32}\n branch @p4 b2 b1 #1\n";
  CHECK(has(after("blocks", order), "block b0\n  jump b3\n"));
}

TEST_CASE("a pass that breaks a program is caught where verify() looks") {
  const Pass broken = {"broken", [](Program& p, const PassOptions&) {
                         p.blocks[0].insts[0].src.pop_back();
                         return false;
                       }};
  Program p = parse_program(std::string(kValuesHead) +
                            "block b0\n r1 = add.u32 r0, 1\n store d8, r1 {global u32}\n exit\n");
  bool seen = false;
#ifdef NDEBUG
  run_passes({&broken, 1}, p, {},
             [&](const Pass&, const Program& q) { seen = !verify(q).empty(); });
#else
  CHECK_THROWS(run_passes({&broken, 1}, p, {}));
  seen = true;
#endif
  CHECK(seen);
}

TEST_CASE("products: sums of products of halves") {
  // r0 * r1 + r2, as XMAD, XMAD.MRG and XMAD.PSL.CBCC make it; r3 and the like are one register.
  const std::string head =
      "program \"k\" sass wave 32\nmemory param 16 shared 0 local 0\nreg r0 b32\nreg r1 b32\n"
      "reg r2 b32\nreg r3 b32\nreg r4 b32\nreg r5 b32\nreg r6 b32\nreg r7 b32\nreg r8 b32\n"
      "reg r9 b32\nreg r10 b32\nreg r11 b32\nreg d12 b64\nreg p13 pred\n";
  const auto joined = [&](const std::string& body) {
    Program p = parse_program(head + "block b0\n" + body + " store d12, r11 {global u32}\n exit\n");
    REQUIRE(verify(p).empty());
    optimise(p);
    REQUIRE(verify(p).empty());
    const std::string text = print(p);
    return text.substr(text.find("block b0"));
  };
  const std::string low = " r3 = zext16 r0\n r4 = zext16 r1\n r5 = mul.u32 r3, r4\n";
  const std::string merged =
      " r6 = shr.u32 r1, 16\n r7 = mul.u32 r3, r6\n r8 = zext16 r7\n r9 = shl.u32 r1, 16\n"
      " r9 = or.u32 r8, r9\n";
  const std::string high =
      " r3 = shr.u32 r0, 16\n r4 = shr.u32 r9, 16\n r10 = mul.u32 r3, r4\n"
      " r10 = shl.u32 r10, 16\n r9 = shl.u32 r9, 16\n";
  const std::string whole = " r5 = add.u32 r5, r2\n" + merged + high + " r9 = add.u32 r5, r9\n";
  const std::string product =
      "block b0\n  r14 = mul.u32 r0, r1\n  r11 = add.u32 r14, r2\n"
      "  store d12, r11 {global u32}\n  exit\n";
  CHECK(joined(low + whole + " r11 = add.u32 r10, r9\n") == product);
  CHECK(joined(low + merged + high + " r9 = add.u32 r5, r9\n r11 = add.u32 r10, r9\n") ==
        "block b0\n  r11 = mul.u32 r0, r1\n  store d12, r11 {global u32}\n  exit\n");
  // A factor below 2^16 has no upper half.
  CHECK(joined(" r3 = zext16 r0\n r5 = mul.u32 r3, 33\n r5 = add.u32 r5, r2\n"
               " r3 = shr.u32 r0, 16\n r10 = mul.u32 r3, 33\n r10 = shl.u32 r10, 16\n"
               " r11 = add.u32 r10, r5\n") ==
        "block b0\n  r14 = mul.u32 r0, 0x21\n  r11 = add.u32 r14, r2\n"
        "  store d12, r11 {global u32}\n  exit\n");
  // Another factor, a half too few, a factor that is gone, a sum under a guard.
  const auto stays = [&](const std::string& body) {
    return joined(body).find("mul.u32 r0, r1") == std::string::npos;
  };
  const std::string sum = " r11 = add.u32 r10, r9\n";
  CHECK(stays(" r3 = zext16 r0\n r4 = zext16 r2\n r5 = mul.u32 r3, r4\n" + whole + sum));
  CHECK(stays(low + " r5 = add.u32 r5, r2\n" + merged + high + " r11 = add.u32 r10, r5\n"));
  CHECK(
      stays(low + whole + " r1 = load d12 {global u32}\n" + sum + " store d12, r1 {global u32}\n"));
  CHECK(stays(low + whole + " @p13" + sum));
  CHECK(stays(" r3 = sext16 r0\n r4 = zext16 r1\n r5 = mul.u32 r3, r4\n r3 = zext16 r0\n" + whole +
              sum));
}
