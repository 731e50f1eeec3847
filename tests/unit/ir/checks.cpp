// insert_checks: which accesses need no check.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/ir/ir.hpp"
#include "runtime/ir/passes/memory/gather_checks.hpp"
#include "runtime/ir/passes/passes.hpp"

using namespace lanewise::ir;

namespace {

/// Checks in a program of one block that may use registers r0, d1, p2, r3, r4, d5, d6 and d7.
size_t checks_of(const std::string& body, const std::string& variables) {
  Program p =
      parse_program("program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\n" + variables +
                    "site 1 0 \"one\"\nreg r0 b32\nreg d1 b64\nreg p2 pred\nreg r3 b32\nreg r4 "
                    "b32\nreg d5 b64\nreg d6 b64\nreg d7 b64\nblock b0 \"entry\"\n  r0 = load 0 "
                    "{param u32} #0\n" +
                    body + "  exit #0\n");
  CHECK(verify(p).empty());
  insert_checks(p,
                {.params = 8, .shared = 0, .local = 0, .block = {64, 1, 1}, .allocations = true});
  return static_cast<size_t>(
      std::ranges::count_if(p.blocks[0].insts, [](const Inst& i) { return i.op == Op::check; }));
}

std::string load(const std::string& address, const std::string& space = "constant u32") {
  return "  r0 = load " + address + " {" + space + "} #0\n";
}
const std::string kTable = "variable 0x10000100 64 read_only\n";
/// d5 = the table's begin + 4 * (r0 & mask)
std::string element(unsigned mask) {
  return "  r3 = and.u32 r0, " + std::to_string(mask) +
         " #0\n  r4 = shl.u32 r3, 2 #0\n  d1 = zext64 r4 #0\n  d5 = add.u64 d1, 0x10000100 #0\n";
}

}  // namespace

TEST_CASE("checks: an access that surely lies in a module's variable needs none") {
  CHECK(checks_of(load("0x10000100"), kTable) == 0);
  CHECK(checks_of(load("0x1000013c"), kTable) == 0);
  CHECK(checks_of(load("0x10000140"), kTable) == 1);
  CHECK(checks_of(load("0x100000fc"), kTable) == 1);
  CHECK(checks_of(load("0x1000013a"), kTable) == 1);  // not aligned, and over the end
  CHECK(checks_of(load("0x10000102"), kTable) == 1);  // not aligned
  CHECK(checks_of(load("0x10000100"), "") == 1);
  CHECK(checks_of(load("0x10000104", "generic u32"), kTable) == 0);
  CHECK(checks_of("  d1 = load 0x10000138 {global u64} #0\n", kTable) == 0);
  CHECK(checks_of(load("0x10000140", "generic u32"), kTable) == 1);
}

TEST_CASE("checks: what the host has found to be legal is not asked about") {
  CHECK(checks_of(load("d1", "global u32"), "") == 1);
  CHECK(checks_of(load("d1", "global u32 certain=guarded"), "") == 0);
  CHECK(checks_of(load("d1", "generic u32 certain=everywhere"), "") == 0);
}

TEST_CASE("checks: indices of known range, and stores") {
  CHECK(checks_of(element(15) + load("d5"), kTable) == 0);
  CHECK(checks_of(element(31) + load("d5"), kTable) == 1);
  const std::string store = "  store 0x10000100, 7 {global u32} #0\n";
  CHECK(checks_of(store, kTable) == 1);
  CHECK(checks_of(store, "variable 0x10000100 64\n") == 0);
}

TEST_CASE("checks: bits that cannot be set are known through or and exclusive or") {
  // As a bitonic sort finds its partner.
  CHECK(checks_of(element(15) + "  d6 = xor.u64 d1, 32 #0\n  d7 = add.u64 d6, 0x10000100 #0\n" +
                      load("d7"),
                  kTable) == 0);
  CHECK(checks_of(
            element(7) + "  d6 = or.u64 d1, 32 #0\n  d7 = add.u64 d6, 0x10000100 #0\n" + load("d7"),
            kTable) == 0);
  CHECK(checks_of(element(15) + "  d6 = xor.u64 d1, 64 #0\n  d7 = add.u64 d6, 0x10000100 #0\n" +
                      load("d7"),
                  kTable) == 1);
}

TEST_CASE("checks: the lower partner of a butterfly lies inside") {
  // 2 * i - (i & 3), of 8 numbers i, and its partner 4 elements on.
  const std::string lower =
      "  r3 = and.u32 r0, 7 #0\n  r4 = shl.u32 r3, 1 #0\n  r0 = and.u32 r3, 3 #0\n"
      "  r4 = sub.u32 r4, r0 #0\n  r4 = shl.u32 r4, 2 #0\n  d1 = zext64 r4 #0\n"
      "  d5 = add.u64 d1, 0x10000100 #0\n  d6 = add.u64 d5, ";
  CHECK(checks_of(lower + "16 #0\n" + load("d6"), kTable) == 0);
  CHECK(checks_of(lower + "20 #0\n" + load("d6"), kTable) == 1);
}

namespace {

/// Checks of element r3 - r4 of 16, both below 16, in a block behind `branch`.
size_t checks_of_difference(const std::string& compare, const std::string& before = "",
                            const std::string& table = kTable, const std::string& to = "b3") {
  Program p = parse_program(
      "program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\n" + table +
      "site 1 0 \"one\"\nreg r0 b32\nreg d1 b64\nreg p2 pred\nreg r3 b32\nreg r4 b32\nreg d5 b64\n"
      "block b0 \"entry\"\n  r3 = load 0 {param u32} #0\n  r4 = load 4 {param u32} #0\n"
      "  r3 = and.u32 r3, 15 #0\n  r4 = and.u32 r4, 15 #0\n" +
      compare + "block b1\n" + before +
      "  r0 = sub.u32 r3, r4 #0\n  r0 = shl.u32 r0, 2 #0\n  d1 = zext64 r0 #0\n"
      "  d5 = add.u64 d1, 0x10000100 #0\n  r0 = load d5 {constant u32} #0\n  exit #0\n"
      "block b2\n  r3 = mov.u32 1 #0\n  jump " +
      to +
      "\n"
      "block b3\n  exit #0\n");
  REQUIRE(verify(p).empty());
  insert_checks(p, {.params = 8, .block = {64, 1, 1}, .allocations = true});
  return static_cast<size_t>(
      std::ranges::count_if(p.blocks[1].insts, [](const Inst& i) { return i.op == Op::check; }));
}

}  // namespace

TEST_CASE("checks: a difference is small where a branch has found which number is greater") {
  const std::string behind = "  branch @p2 b1 b3 #0\n";
  CHECK(checks_of_difference("  p2 = icmp.u32.ge r3, r4 #0\n" + behind) == 0);
  CHECK(checks_of_difference("  p2 = icmp.s32.lt r4, r3 #0\n" + behind) == 0);
  CHECK(checks_of_difference("  p2 = icmp.u32.lt r3, r4 #0\n  branch @!p2 b1 b3 #0\n") == 0);
  CHECK(checks_of_difference("  p2 = icmp.u32.ge r4, r3 #0\n" + behind) == 1);
  CHECK(checks_of_difference("  p2 = icmp.u32.ne r3, r4 #0\n" + behind) == 1);
  CHECK(checks_of_difference("  p2 = icmp.u32.ge r3, r4 #0\n  branch @!p2 b1 b3 #0\n") == 1);
  // The block is reached past the compare, too; the numbers are others; the table is too small.
  CHECK(checks_of_difference("  p2 = icmp.u32.ge r3, r4 #0\n  branch @p2 b1 b2 #0\n", "", kTable,
                             "b1") == 1);
  const std::string ge = "  p2 = icmp.u32.ge r3, r4 #0\n" + behind;
  CHECK(checks_of_difference(ge, "  r4 = xor.u32 r3, 15 #0\n") == 1);
  CHECK(checks_of_difference(ge, "", "variable 0x10000100 60 read_only\n") == 1);
  // With signs it says nothing of numbers that may be negative.
  const std::string any = "  r3 = load 0 {param u32} #0\n  r4 = or.u32 r3, 0x80000000 #0\n";
  CHECK(checks_of_difference(any + "  p2 = icmp.s32.ge r3, r4 #0\n" + behind) == 1);
}

TEST_CASE("checks: a branch says something of what was computed before it, too") {
  // d4 = the table's begin + 4 * r3 is ready before the branch.
  const auto checks = [](const std::string& before, const std::string& compare,
                         const std::string& otherwise = "b2") {
    Program p = parse_program(
        "program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\n" + kTable +
        "site 1 0 \"one\"\nreg r0 b32\nreg p1 pred\nreg p2 pred\nreg r3 b32\nreg d4 b64\n"
        "block b0 \"entry\"\n  r3 = load 0 {param u32} #0\n  d4 = zext64 r3 #0\n"
        "  d4 = shl.u64 d4, 2 #0\n  d4 = add.u64 d4, 0x10000100 #0\n" +
        before + "  p1 = " + compare + " #0\n  branch @p1 b1 " + otherwise +
        " #0\nblock b1\n  r0 = load d4 {constant u32} #0\n  exit #0\n"
        "block b2\n  exit #0\n");
    REQUIRE(verify(p).empty());
    insert_checks(p, {.params = 8, .block = {64, 1, 1}, .allocations = true});
    return std::ranges::count_if(p.blocks[1].insts,
                                 [](const Inst& i) { return i.op == Op::check; });
  };
  CHECK(checks("", "icmp.u32.lt r3, 16") == 0);
  CHECK(checks("", "icmp.u32.le r3, 16") == 1);
  CHECK(checks("", "icmp.s32.lt r3, 16") == 1);  // negative numbers are too
  CHECK(checks("", "icmp.u32.ge r3, 16") == 1);
  CHECK(checks("", "icmp.u32.lt r3, 16", "b1") == 1);
  CHECK(checks("  r3 = load 4 {param u32} #0\n", "icmp.u32.lt r3, 16") == 1);  // another number
  // Paths that an earlier compare has parted meet again: it is the same number, or it is not.
  const auto parted = [](const std::string& body) {
    Program p = parse_program(
        "program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\n" + kTable +
        "site 1 0 \"one\"\nreg r0 b32\nreg p1 pred\nreg r2 b32\nreg d3 b64\n"
        "block b0 \"entry\"\n  r2 = load 0 {param u32} #0\n  d3 = zext64 r2 #0\n"
        "  d3 = shl.u64 d3, 2 #0\n  d3 = add.u64 d3, 0x10000100 #0\n"
        "  p1 = icmp.u32.lt r2, 99 #0\n  branch @p1 b1 b2 #0\nblock b1\n" +
        body +
        "  jump b2\nblock b2\n  p1 = icmp.u32.lt r2, 16 #0\n  branch @p1 b3 b4 #0\n"
        "block b3\n  r0 = load d3 {constant u32} #0\n  exit #0\nblock b4\n  exit #0\n");
    REQUIRE(verify(p).empty());
    insert_checks(p, {.params = 8, .block = {64, 1, 1}, .allocations = true});
    return std::ranges::count_if(p.blocks[3].insts,
                                 [](const Inst& i) { return i.op == Op::check; });
  };
  CHECK(parted("") == 0);
  CHECK(parted("  r2 = mov.u32 1 #0\n") == 1);
}

TEST_CASE("checks: alignment is known of no more bits than there are") {
  // The upper half of a pair, 128 bytes on from where the table begins at most, may be odd.
  const std::string half =
      "  d1 = pack64 0, r0 #0\n  d5 = shr.u64 d1, 33 #0\n"
      "  d6 = and.u64 d5, 31 #0\n  d7 = add.u64 d6, 0x10000100 #0\n";
  CHECK(checks_of(half + load("d7"), kTable) == 1);
  CHECK(checks_of(half + "  r0 = load d7 {constant u8} #0\n", kTable) == 0);
  // Two words are aligned by 8, wherever the variable that they lie in begins.
  const std::string odd = "variable 0x10000104 64 read_only\n";
  CHECK(checks_of("  d1 = load 0x10000104 {constant u64} #0\n", odd) == 1);
  CHECK(checks_of("  d1 = load 0x10000108 {constant u64} #0\n", odd) == 1);
  CHECK(checks_of(load("0x10000104"), odd) == 0);
}

TEST_CASE("checks: variables survive the text form") {
  const std::string text = "program \"k\" ptx wave 32\nmemory param 0 shared 0 local 0\n" + kTable +
                           "variable 0x20000000 4\nblock b0 \"entry\"\n  exit\n";
  const Program p = parse_program(text);
  CHECK(p.variables.size() == 2);
  CHECK(parse_program(print(p)).variables == p.variables);
}

namespace {

/// The operations of a block, in order, once its checks were gathered.
std::string gathered(const std::string& body) {
  Program p = parse_program(
      "program \"k\" ptx wave 32\nmemory param 8 shared 0 local 0\nsite 1 0 \"one\"\n"
      "reg r0 b32\nreg d1 b64\nreg d2 b64\nreg r3 b32\nblock b0 \"entry\"\n" +
      body + "  exit #0\n");
  insert_checks(p, {.params = 8, .block = {64, 1, 1}, .allocations = true});
  gather_checks(p);
  CHECK(verify(p).empty());
  std::string all;
  for (const Inst& inst : p.blocks[0].insts) all += std::string(info(inst.op).name) + " ";
  return all;
}

}  // namespace

TEST_CASE("checks: those of a block stand together, behind what their addresses need") {
  const std::string first = "  r0 = load d1 {global u32} #0\n";
  CHECK(gathered(first + "  d2 = add.u64 d1, 64 #0\n  store d2, r0 {global u32} #0\n") ==
        "add check check load store ");
  CHECK(gathered(first + "  r3 = load 0 {param u32} #0\n  d2 = zext64 r3 #0\n"
                         "  store d2, r0 {global u32} #0\n") ==
        "load zext64 check check load store ");
  // The address depends on what was loaded, or what it is made of is still read.
  CHECK(gathered(first + "  d2 = zext64 r0 #0\n  store d2, r0 {global u32} #0\n") ==
        "check load zext64 check store ");
  CHECK(gathered(first + "  d1 = add.u64 d1, 64 #0\n  store d1, r0 {global u32} #0\n") ==
        "check load add check store ");
  // What has a fault of its own, or ends the lane, is not passed.
  CHECK(gathered(first + "  trap #0\n  store d2, r0 {global u32} #0\n") ==
        "check load trap check store ");
}
