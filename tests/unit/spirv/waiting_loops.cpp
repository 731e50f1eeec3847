// Loops in which a lane waits for others of its group, and where the others get their turn.
#include <doctest/doctest.h>

#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/ir/yield.hpp"
#include "runtime/spirv/waves/waiting_loops.hpp"
#include "runtime/spirv/waves/wave_proof.hpp"

using namespace lanewise;

namespace {

/// b1 is what the loop begins with, b2 stores r1.
ir::Program loop_in_kernel(const std::string& blocks) {
  std::string text = "program \"k\" ptx wave 32\nmemory param 8 shared 64 local 64\n";
  for (int n = 0; n < 8; ++n) text += "reg r" + std::to_string(n) + " b32\n";
  for (int n = 8; n < 16; ++n) text += "reg p" + std::to_string(n) + " pred\n";
  text += "reg d16 b64\nblock b0\n  d16 = load.u64 0 {param u64}\n  r1 = mov.u32 0\n  jump b1\n";
  const size_t inside = std::min(blocks.find("block b3"), blocks.size());
  ir::Program program =
      ir::parse_program(text + blocks.substr(0, inside) +
                        "\nblock b2\n  store.u32 d16, r1 {global u32 offset=64}\n  exit\n" +
                        blocks.substr(inside) + "\n");
  for (const std::string& problem : ir::verify(program)) FAIL_CHECK(problem);
  return program;
}

/// The yields with their guards, by blocks.
std::string yields(const std::string& blocks) {
  ir::Program program = loop_in_kernel(blocks);
  std::string found;
  const bool any = spirv::yield_in_waits(program);
  for (const std::string& problem : ir::verify(program)) FAIL_CHECK(problem);
  for (size_t b = 0; b < program.blocks.size(); ++b)
    for (const ir::Inst& inst : program.blocks[b].insts)
      if (ir::is_yield(inst)) found += "b" + std::to_string(b) + ": " + ir::print(program, inst);
  CHECK(any == !found.empty());
  // With them, lanes are not kept together.
  CHECK((!any || spirv::obstacle_to_waves(program, 64)));
  return found;
}

const char* const kFlag = "  r2 = load.u32 0 {shared u32 order=acquire scope=cta}\n";
const char* const kLoop = "  p8 = icmp.u32.eq r2, 0\n  branch @p8 b1 b2";

}  // namespace

TEST_CASE("waiting loops: a flag, a lock, either side of the branch, a jump back") {
  const auto loop = [](const std::string& look) { return "block b1\n" + look + kLoop; };
  CHECK(yields(loop(kFlag)) == "b1: @p8 barrier.yield 0, 0");
  CHECK(yields(loop("  r2 = atom.u32 0, 0, 1 {shared u32 order=acquire scope=cta atom=cas}\n")) ==
        "b1: @p8 barrier.yield 0, 0");
  CHECK(yields("block b1\n" + std::string(kFlag) +
               "  p8 = icmp.u32.ne r2, 0\n  branch @p8 b2 b1") == "b1: @!p8 barrier.yield 0, 0");
  CHECK(yields("block b1\n" + std::string(kFlag) +
               "  p8 = icmp.u32.ne r2, 0\n  branch @p8 b2 b3\n"
               "block b3\n  r1 = add.u32 r1, 1\n  jump b1") == "b3: barrier.yield 0, 0");
}

TEST_CASE("waiting loops: the inner one alone") {
  CHECK(yields("block b1\n  jump b3\nblock b3\n" + std::string(kFlag) +
               "  p8 = icmp.u32.le r2, r1\n  branch @p8 b3 b4\n"
               "block b4\n  r1 = add.u32 r1, 1\n  p9 = icmp.u32.lt r1, 5\n  branch @p9 b1 b2") ==
        "b3: @p8 barrier.yield 0, 0");
}

TEST_CASE("waiting loops: what waits for nobody of the group") {
  const auto none = [](const std::string& look) {
    CHECK(yields("block b1\n" + look + kLoop).empty());
  };
  none("  r2 = load.u32 0 {shared u32}\n");  // changes for this lane alone
  none("  r2 = load.u32 d16 {global u32 order=acquire scope=gpu}\n");  // other groups, too
  none("  r2 = atom.u32 0, 1 {shared u32 order=relaxed scope=cta atom=add}\n");  // hands out work
  // A loop around a compare-and-swap.
  CHECK(yields("block b1\n  r3 = add.u32 r1, 7\n"
               "  r4 = atom.u32 0, r1, r3 {shared u32 order=relaxed scope=cta atom=cas}\n"
               "  p8 = icmp.u32.ne r4, r1\n  r1 = mov.u32 r4\n  branch @p8 b1 b2")
            .empty());
  // What was seen decides something else.
  CHECK(yields("block b1\n" + std::string(kFlag) +
               "  p9 = icmp.u32.eq r2, 0\n  branch @p9 b3 b4\nblock b3\n  store.u32 d16, r1 "
               "{global u32}\n  jump b4\n"
               "block b4\n  r1 = add.u32 r1, 1\n  p8 = icmp.u32.lt r1, 5\n  branch @p8 b1 b2")
            .empty());
}
