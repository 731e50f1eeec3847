// What is read under its own guard alone, and rows of accesses under one guard.
#include <doctest/doctest.h>

#include <string>

#include "runtime/ir/passes/flow/branch_on_guards.hpp"
#include "runtime/ir/passes/values/values.hpp"
#include "tests/support/contains.hpp"

using namespace lanewise::ir;

namespace {

constexpr const char* kHead =
    "program \"k\" ptx wave 32\nmemory param 16 shared 64 local 0\n"
    "reg r0 b32\nreg r1 b32\nreg r2 b32\nreg r3 b32\nreg p4 pred\nreg p5 pred\nreg p6 pred\n"
    "reg d7 b64\nreg d8 b64\n";

std::string blocks_of(const Program& p) {
  const auto defects = verify(p);
  REQUIRE_MESSAGE(defects.empty(), defects.front());
  const std::string text = print(p);
  return text.substr(text.find("block b0"));
}
Program program(const std::string& body) {
  Program p = parse_program(kHead + body);
  REQUIRE(verify(p).empty());
  return p;
}
std::string unguarded(const std::string& body) {
  Program p = program(body);
  drop_guards(p, {});
  return blocks_of(p);
}
std::string branched(const std::string& body) {
  Program p = program(body);
  branch_on_guards(p);
  return blocks_of(p);
}
}  // namespace

TEST_CASE("guards: what is only read under its guard needs none") {
  const std::string store = " @p4 store d7, r1 {global u32}\n exit\n";
  CHECK(has(unguarded("block b0\n @p4 r1 = add.u32 r0, 1\n" + store), "  r1 = add"));
  // Through another guarded write, and under a condition that implies the guard.
  CHECK(has(unguarded("block b0\n @p4 r2 = add.u32 r0, 1\n @p4 r1 = mul.u32 r2, r2\n" + store),
            "  r2 = add"));
  CHECK(has(unguarded("block b0\n p5 = and.pred p4, p6\n @p4 r1 = add.u32 r0, 1\n"
                      " @p5 store d7, r1 {global u32}\n exit\n"),
            "  r1 = add"));
  CHECK(has(unguarded("block b0\n p5 = or.pred p4, p6\n @!p4 r1 = add.u32 r0, 1\n"
                      " @!p5 store d7, r1 {global u32}\n exit\n"),
            "  r1 = add"));
  // In the other lanes it is read as well, or what it was before.
  const auto keeps = [&](const std::string& body) { return has(unguarded(body), "@p4 r1 = add"); };
  CHECK(keeps("block b0\n @p4 r1 = add.u32 r0, 1\n store d7, r1 {global u32}\n exit\n"));
  CHECK(keeps("block b0\n @p4 r1 = add.u32 r0, 1\n @!p4 store d7, r1 {global u32}\n exit\n"));
  CHECK(keeps("block b0\n @p4 r1 = add.u32 r0, 1\n @p5 store d7, r1 {global u32}\n exit\n"));
  CHECK(
      keeps("block b0\n @p4 r1 = add.u32 r0, 1\n branch @p4 b1 b2\nblock b1\n jump b2\n"
            "block b2\n store d7, r1 {global u32}\n exit\n"));
  CHECK(
      keeps("block b0\n p5 = or.pred p4, p6\n @p4 r1 = add.u32 r0, 1\n"
            " @p5 store d7, r1 {global u32}\n exit\n"));
  CHECK(
      keeps("block b0\n @p4 r1 = add.u32 r0, 1\n p5 = icmp.u32.eq r1, 3\n"
            " @p5 store d7, 1 {global u32}\n exit\n"));
  // The guard has another value by then.
  CHECK(keeps("block b0\n @p4 r1 = add.u32 r0, 1\n p4 = icmp.u32.eq r0, 3\n" + store));
  // Other lanes see it; a load may fault; a clock counts.
  CHECK(keeps("block b0\n @p4 r1 = add.u32 r0, 1\n r2 = readlane r1, 3\n" + store));
  CHECK(has(unguarded("block b0\n @p4 r1 = load d8 {global u32}\n" + store), "@p4 r1 = load"));
  CHECK(has(unguarded("block b0\n @p4 r1 = sreg.u32.clock\n" + store), "@p4 r1 = sreg"));
}

TEST_CASE("guards: an iteration's condition is not that of the next") {
  // r1 is read in the next iteration, under what p4 is then.
  CHECK(has(unguarded("block b0\n jump b1\nblock b1\n r0 = add.u32 r0, 1\n"
                      " p4 = icmp.u32.lt r0, 9\n @p4 store d7, r1 {global u32}\n"
                      " @p4 r1 = add.u32 r0, 1\n p5 = icmp.u32.lt r0, 99\n branch @p5 b1 b2\n"
                      "block b2\n exit\n"),
            "@p4 r1 = add"));
  // A condition from before the loop is the same in each.
  CHECK(has(unguarded("block b0\n p4 = icmp.u32.lt r0, 9\n jump b1\nblock b1\n"
                      " r0 = add.u32 r0, 1\n @p4 store d7, r1 {global u32}\n"
                      " @p4 r1 = add.u32 r0, 1\n p5 = icmp.u32.lt r0, 99\n branch @p5 b1 b2\n"
                      "block b2\n exit\n"),
            "  r1 = add"));
}

TEST_CASE("guards: rows of accesses get a branch") {
  // The store takes along what only it needs; what others read stays in front.
  CHECK(branched("block b0\n r1 = add.u32 r0, 1\n r2 = add.u32 r0, 2\n"
                 " store d8, r2 {global u32}\n @p4 store d7, r1 {global u32}\n"
                 " r3 = add.u32 r0, 3\n store d8, r3 {global u32}\n exit\n") ==
        "block b0\n  r2 = add.u32 r0, 2\n  store d8, r2 {global u32}\n  branch @p4 b1 b2\n"
        "block b1\n  r1 = add.u32 r0, 1\n  store d7, r1 {global u32}\n  jump b2\n"
        "block b2\n  r3 = add.u32 r0, 3\n  store d8, r3 {global u32}\n  exit\n");
  const std::string both = branched(
      "block b0\n @!p4 r1 = load d8 {global u32}\n r2 = add.u32 r0, 2\n"
      " r1 = add.u32 r1, 1\n @!p4 store d7, r1 {global u32}\n"
      " store d7, r2 {global u32 offset=4}\n exit\n");
  CHECK(both ==
        "block b0\n  r2 = add.u32 r0, 2\n  branch @!p4 b1 b2\n"
        "block b1\n  r1 = load d8 {global u32}\n  r1 = add.u32 r1, 1\n"
        "  store d7, r1 {global u32}\n  jump b2\n"
        "block b2\n  store d7, r2 {global u32 offset=4}\n  exit\n");
  // A loop's back edge leads to the first of the blocks that were one.
  CHECK(has(branched("block b0\n jump b1\nblock b1\n r1 = add.u32 r0, 1\n"
                     " @p4 store d7, r1 {global u32}\n branch @p5 b1 b2\nblock b2\n exit\n"),
            "block b3\n  branch @p5 b1 b4\n"));
  // Nothing passes an access of others, a barrier, or a register's next write.
  const auto one = [](const std::string& body) { return has(branched(body), "branch"); };
  CHECK(
      !one("block b0\n @p4 r1 = load d8 {global u32}\n store d7, r0 {global u32}\n"
           " @p4 store d7, r1 {global u32}\n exit\n"));
  CHECK(
      !one("block b0\n @p4 store d8, r0 {global u32}\n barrier.sync 0, 0\n"
           " @p4 store d7, r0 {global u32}\n exit\n"));
  CHECK(
      !one("block b0\n r1 = add.u32 r0, 1\n r0 = load d8 {global u32}\n"
           " r2 = add.u32 r0, 1\n store d8, r2 {global u32}\n"
           " @p4 store d7, r1 {global u32}\n exit\n"));
  CHECK(!one("block b0\n @p4 r1 = load d8 {global u32}\n @p5 store d7, r1 {global u32}\n exit\n"));
}

TEST_CASE("guards: rows under what several guards imply, and branches in each other") {
  // Parts of one element by its size: all need its place, the third the second's size, too.
  const std::string head =
      "program \"k\" gcn wave 64\nmemory param 16 shared 64 local 0\nreg r0 b32 scalar\n"
      "reg r1 b32\nreg r2 b32\nreg r3 b32\nreg p4 pred\nreg r5 b32\nreg p6 pred\nreg p7 pred\n"
      "reg p8 pred\nreg p9 pred\nreg p10 pred\nreg d11 b64\nreg p12 pred\nblock b0\n";
  const std::string place = " p4 = icmp.u32.lt r5, 9\n";
  const std::string guards =
      " p6 = icmp.u32.eq r0, 1\n p7 = and.pred p6, p4\n p8 = icmp.u32.ge r0, 4\n"
      " p9 = and.pred p8, p4\n p10 = icmp.u32.ge r0, 8\n p12 = and.pred p10, p9\n";
  const std::string loads =
      " @p7 r1 = load d11 {global u8}\n @p9 r2 = load d11 {global u32}\n"
      " @p12 r3 = load d11 {global u32 offset=4}\n";
  const auto nested = [&](const std::string& text) {
    Program p = parse_program(head + text + " exit\n");
    REQUIRE(verify(p).empty());
    branch_on_guards(p);
    const std::string all = blocks_of(p);
    const size_t first = all.find("branch");
    return first == std::string::npos ? "" : all.substr(first);
  };
  // The lanes' own condition outside, inside what waves agree about, for one load, too.
  const std::string text = nested(place + " r1 = mov.u32 0\n" + guards + loads);
  CHECK(text ==
        "branch @p4 b1 b8\nblock b1\n  branch @p6 b2 b3\n"
        "block b2\n  r1 = mov.u32 0\n  r1 = load d11 {global u8}\n  jump b3\n"
        "block b3\n  branch @p8 b4 b7\n"
        "block b4\n  r2 = load d11 {global u32}\n  branch @p10 b5 b6\n"
        "block b5\n  r3 = load d11 {global u32 offset=4}\n  jump b6\n"
        "block b6\n  jump b7\nblock b7\n  jump b8\nblock b8\n  exit\n");
  // What a branch in front has found is not asked again.
  CHECK(
      !has(nested(place + " branch @p4 b1 b2\nblock b1\n" + guards + loads + " jump b2\nblock b2\n")
               .substr(9),
           "@p4"));
  // A condition that was written again is no more what the guards imply.
  CHECK(!has(nested(place + guards + " p4 = icmp.u32.lt r1, 7\n" + loads), "branch @p4"));
  // Lanes that do not agree, and one load: a branch costs more than it saves.
  CHECK(nested(place + " @p4 r1 = load d11 {global u32}\n").empty());
  CHECK(has(nested(guards + " @p6 r1 = load d11 {global u32}\n"), "branch @p6"));
}

TEST_CASE("fences next to barriers of the whole group") {
  const auto left = [](const std::string& body) {
    Program p = program("block b0\n store d7, r0 {global u32}\n" + body +
                        " r1 = load d7 {global u32}\n store d8, r1 {global u32}\n exit\n");
    drop_fences(p, {});
    return has(blocks_of(p), "fence");
  };
  const std::string fence = " fence {global u32 order=seq_cst scope=cta}\n";
  CHECK(!left(" barrier.sync 0, 0\n" + fence));
  CHECK(!left(fence + " r2 = add.u32 r0, 1\n barrier.sync 0, 0\n"));
  CHECK(left(fence));
  CHECK(left(" barrier.sync 0, 64\n" + fence));
  CHECK(left(" barrier.arrive 0, 0\n" + fence));
  CHECK(left(" @p4 barrier.sync 0, 0\n" + fence));
  CHECK(left(" barrier.sync 0, 0\n store d7, 1 {global u32}\n" + fence));
  CHECK(left(" barrier.sync 0, 0\n fence {global u32 order=seq_cst scope=gpu}\n"));
}
