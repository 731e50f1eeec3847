// Which parameter an address is computed from: proven or left open, never guessed.
#include <doctest/doctest.h>

#include "runtime/ir/passes/memory/pointers.hpp"

using namespace lanewise::ir;

namespace {

/// Three pointers a, b, c at 0, 8, 16, a 64-bit and a 32-bit number at 24 and 32; an address in d9.
Program with(const std::string& body) {
  return parse_program(R"(program "k" ptx wave 32
memory param 40 shared 0 local 0
param "a" u64 offset 0 size 8 align 8
param "b" u64 offset 8 size 8 align 8
param "c" u64 offset 16 size 8 align 8
param "n" u64 offset 24 size 8 align 8
param "i" u32 offset 32 size 4 align 4
reg d0 b64
reg d1 b64
reg d2 b64
reg d3 b64
reg r4 b32
reg r5 b32
reg r6 b32
reg p7 pred
reg d8 b64
reg d9 b64
block b0 "entry"
  d0 = load.u64 0 {param u64}
  d1 = load.u64 8 {param u64}
  d3 = load.u64 24 {param u64}
  r4 = load.u32 32 {param u32}
  p7 = icmp.u32.lt r4, 7
)" + body);
}

/// Byte offset of the parameter that the last access goes through.
uint32_t parameter(const std::string& body) {
  Program p = with(body);
  const PointerParams found = find_pointers(p);
  const Mem* last = nullptr;
  for (const Block& block : p.blocks)
    for (const Inst& inst : block.insts)
      if (inst.mem && inst.mem->space == Space::global) last = &*inst.mem;
  REQUIRE(last != nullptr);
  return last->pointer == kNone ? kNone : found.through.at(last->pointer);
}

/// Which variable the last access goes through: the one at 0x10000100 (0), or at 0x10000400 (1).
uint32_t variable(const std::string& body) {
  Program p = with(body);
  p.variables = {{0x10000100, 64, true}, {0x10000400, 16, false}};
  const PointerParams found = find_pointers(p);
  const uint32_t pointer = p.blocks[0].insts.back().mem->pointer;
  if (pointer == kNone || pointer < found.through.size()) return kNone;
  const Variable v = found.variables.at(pointer - found.through.size());
  return v == p.variables[0] ? 0 : 1;
}

const std::string kLoad = "  r6 = load.u32 d9 {global u32}\n  exit\n";

}  // namespace

TEST_CASE("a parameter plus an index") {
  CHECK(parameter("  d9 = mov.u64 d1\n" + kLoad) == 8);
  CHECK(parameter("  d8 = mulwide.u32 r4, 4\n  d9 = add.u64 d1, d8\n" + kLoad) == 8);
  CHECK(parameter("  d8 = shl.u64 d3, 2\n  d9 = add.u64 d8, d1\n" + kLoad) == 8);
  CHECK(parameter("  d8 = zext64 r4\n  d9 = sub.u64 d1, d8\n" + kLoad) == 8);
  CHECK(parameter("  d9 = and.u64 d1, 0xfffffffffffffff0\n" + kLoad) == 8);
  CHECK(parameter("  r5, r6 = unpack64.u64 d1\n  d9 = pack64.u64 r5, r6\n" + kLoad) == 8);
  // The base of a buffer descriptor: other fields stand above it.
  CHECK(parameter("  r5, r6 = unpack64.u64 d1\n  r6 = or.u32 r6, 0x80000000\n"
                  "  r6 = and.u32 r6, 0xffff\n  d9 = pack64.u64 r5, r6\n" +
                  kLoad) == 8);
}

TEST_CASE("an index that was loaded") {
  CHECK(parameter("  r5 = load.u32 d0 {global u32}\n  d8 = mulwide.u32 r5, 4\n"
                  "  d9 = add.u64 d1, d8\n" +
                  kLoad) == 8);
}

TEST_CASE("what may be either of two pointers, or both, is nobody's") {
  CHECK(parameter("  d9 = select.u64 p7, d0, d1\n" + kLoad) == kNone);
  CHECK(parameter("  d9 = add.u64 d0, d1\n" + kLoad) == kNone);
  CHECK(parameter("  d9 = add.u64 d1, d3\n" + kLoad) == kNone);  // which one is the pointer?
  CHECK(parameter("  d9 = select.u64 p7, d0, 0x10004000\n" + kLoad) == kNone);
  CHECK(parameter("  d9 = select.u64 p7, d0, 0\n" + kLoad) == 0);
  CHECK(parameter("  d9 = mov.u64 d0\n  @p7 d9 = mov.u64 d1\n" + kLoad) == kNone);
  CHECK(parameter("  d9 = load.u64 d0 {global u64}\n" + kLoad) == kNone);
}

TEST_CASE("an address in the shared or local window belongs to no parameter") {
  for (const char* window : {"shared_window", "local_window"}) {
    const std::string at = std::string("  d8 = sreg.u64.") + window + "\n";
    CHECK(parameter(at + "  d9 = select.u64 p7, d0, d8\n" + kLoad) == kNone);
    CHECK(parameter(at + "  d9 = mov.u64 d0\n  @p7 d9 = add.u64 d8, 16\n" + kLoad) == kNone);
  }
  CHECK(parameter("  d9 = select.u64 p7, d0, 0x1000000\n" + kLoad) == kNone);
  CHECK(parameter("  d8 = zext64 r4\n  d8 = add.u64 d8, 0x2000010\n  d9 = select.u64 p7, d0, d8\n" +
                  kLoad) == kNone);
}

TEST_CASE("halves of two pointers make none") {
  CHECK(parameter("  r5, r6 = unpack64.u64 d0\n  r6 = and.u32 r6, 0xffff\n"
                  "  r5, r4 = unpack64.u64 d1\n  d9 = pack64.u64 r5, r6\n" +
                  kLoad) == kNone);
}

TEST_CASE("the way from one pointer to another is no proof") {
  const std::string way = "  r5 = load.u32 d1 {global u32}\n  d8 = sub.u64 d1, d0\n";
  CHECK(parameter(way + "  d9 = add.u64 d0, d8\n" + kLoad) == kNone);
  CHECK(parameter(way + "  d8 = shr.s64 d8, 2\n  d8 = shl.u64 d8, 2\n  d9 = add.u64 d0, d8\n" +
                  kLoad) == kNone);
}

TEST_CASE("registers are followed from block to block") {
  const std::string loop = R"(  d9 = mov.u64 d1
  jump b1
block b1 "loop"
  r6 = load.u32 d9 {global u32}
  d9 = add.u64 d9, 4
  p7 = icmp.u32.lt r6, 7
  branch @p7 b1 b2
block b2 "end"
  exit
)";
  CHECK(parameter(loop) == 8);
  // The register is used again for something else.
  CHECK(parameter("  d9 = mov.u64 d0\n  r6 = load.u32 d9 {global u32}\n" + loop) == 8);
}

TEST_CASE("parameters in offsets are found") {
  Program p = with("  d8 = shl.u64 d3, 2\n  d9 = add.u64 d1, d8\n" + kLoad);
  const PointerParams found = find_pointers(p);
  CHECK(found.through == std::vector<uint32_t>{8});
  CHECK(found.in_offsets == std::vector<uint32_t>{24});
}

TEST_CASE("what a mask guards is known of the lanes of the mask") {
  const std::string reused = R"(  @p7 r6 = load.u32 d0 {global u32}
  @p7 r6 = shl.u32 r4, 2
  d8 = zext64 r6
  @p7 d9 = add.u64 d1, d8
)";
  const std::string under = "  @p7 r6 = load.u32 d9 {global u32}\n  exit\n";
  CHECK(parameter("  @p7 d9 = mov.u64 d0\n" + reused + under) == 8);
  // All lanes: some still hold the other pointer.
  CHECK(parameter("  @p7 d9 = mov.u64 d0\n" + reused + kLoad) == kNone);
  // The mask has got more lanes since.
  CHECK(parameter("  d9 = mov.u64 d0\n" + reused + "  p7 = mov.pred 1\n" + under) == kNone);
  // It has lost some.
  CHECK(parameter("  d9 = mov.u64 d0\n" + reused + "  p7 = and.pred p7, p7\n" + under) == 8);
}

TEST_CASE("loads from the kernarg segment become loads of parameters") {
  Program p = with("  d9 = sreg.u64.param_base\n" + kLoad);
  load_parameters(p);
  const Inst& last = p.blocks[0].insts.back();
  REQUIRE(last.op == Op::load);
  CHECK(last.mem->space == Space::param);
  CHECK(last.src[0] == Operand::immediate(0));
}

TEST_CASE("loads from the block behind the parameters become loads of constants") {
  const auto space = [](const std::string& address, uint32_t block) {
    Program p = with("  d9 = sreg.u64.param_base\n" + address + kLoad);
    p.needs.block_offset = block;
    load_parameters(p);
    return p.blocks[0].insts.back().mem->space;
  };
  const std::string first = "  d9 = add.u64 d9, 64\n", last = "  d9 = add.u64 d9, 316\n",
                    behind = "  d9 = add.u64 d9, 317\n", other = "  d9 = add.u64 d0, 64\n";
  CHECK(space(first, 64) == Space::constant);
  CHECK(space(last, 64) == Space::constant);
  CHECK(space(behind, 64) == Space::global);
  CHECK(space(first, 0) == Space::global);
  CHECK(space(first, 128) == Space::global);
  CHECK(space(other, 64) == Space::global);
}

TEST_CASE("a variable plus an index") {
  const std::string load = "  r6 = load.u32 d9 {global u32}\n";
  const std::string end = "  exit\n";
  const auto of = [&](const std::string& body) { return variable(body + load + end); };
  CHECK(of("  d8 = mulwide.u32 r4, 4\n  d9 = add.u64 d8, 0x10000100\n") == 0);
  CHECK(of("  d8 = mulwide.u32 r4, 4\n  d9 = add.u64 0x10000408, d8\n") == 1);
  CHECK(of("  d9 = mov.u64 0x10000410\n") == 1);  // just behind
  CHECK(of("  d9 = mov.u64 0x10000411\n") == kNone);
  CHECK(of("  d9 = mov.u64 0x100000ff\n") == kNone);
  // Its address in halves.
  CHECK(of("  r5 = mov.u32 0x10000400\n  r6 = mov.u32 0\n  d9 = pack64.u64 r5, r6\n") == 1);
  // One or the other, both, and one as an offset of a parameter.
  CHECK(of("  d9 = select.u64 p7, 0x10000100, 0x10000400\n") == kNone);
  CHECK(of("  d8 = add.u64 d3, 0x10000100\n  d9 = add.u64 d8, 0x10000400\n") == kNone);
  CHECK(of("  d8 = sub.u64 0x10000100, 0x10000400\n  d9 = add.u64 d8, 0x10000400\n") == kNone);
  // Beside a parameter that another access goes through: parameters are counted first.
  const std::string other = "  r5 = load.u32 d1 {global u32}\n";
  CHECK(of("  d9 = mov.u64 0x10000400\n" + load + other + "  d9 = mov.u64 0x10000100\n") == 0);
  // An index that is a pointer in another access proves nothing.
  CHECK(of("  r6 = load.u32 d3 {global u32}\n  d9 = add.u64 d3, 0x10000400\n") == kNone);
}
