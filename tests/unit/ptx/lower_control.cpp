// Branches, calls, memory layout.
#include <doctest/doctest.h>

#include "lanewise/types.hpp"
#include "runtime/layout/addresses.hpp"
#include "tests/unit/ptx/lower_support.hpp"

using namespace lanewise;
using namespace lanewise::ptx::test;

namespace {

ir::Program only_kernel(const std::string& lines, const std::string& module_level = {}) {
  ptx::LowerResult r = lower_text(kernel_with(lines, module_level));
  CHECK(text(r.diagnostics).empty());
  REQUIRE(r.module.kernels.size() == 1);
  for (const std::string& problem : ir::verify(r.module.kernels[0])) FAIL_CHECK(problem);
  return std::move(r.module.kernels[0]);
}

size_t count_ops(const ir::Program& p, ir::Op op) {
  size_t n = 0;
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts) n += i.op == op;
  return n;
}

const char* kCallee =
    ".func (.param .b32 out) twice(.param .b32 in) {\n"
    ".reg .b32 %t<3>; ld.param.u32 %t1, [in]; shl.b32 %t2, %t1, 1;\n"
    "st.param.b32 [out+0], %t2; ret; }\n";

const char* kCall =
    "{ .param .b32 a; st.param.b32 [a+0], %r1; .param .b32 r;\n"
    "call.uni (r), twice, (a); ld.param.b32 %r2, [r+0]; }\n";

}  // namespace

TEST_CASE("a guarded branch ends its block, the guard is the condition") {
  const ir::Program p = only_kernel("@!%p1 bra.uni DONE;\nadd.s32 %r1, %r1, 1;\nDONE:");
  const ir::Terminator& t = p.blocks[0].term;
  CHECK(t.kind == ir::Terminator::Kind::branch);
  CHECK(t.cond.negate);
  CHECK(t.uniform);
  REQUIRE(t.targets.size() == 2);
  CHECK(p.blocks[t.targets[0]].label == "DONE");
  CHECK(p.sites.at(t.site).text == "@!%p1 bra.uni DONE");
}

TEST_CASE("code after an unconditional jump is checked but not reached") {
  CHECK(error_of("bra END;\nadd.s32 %r1, %r2;\nEND:").find("found 2") != std::string::npos);
  const ir::Program p = only_kernel("exit;\nadd.s32 %r1, %r2, 3;");
  CHECK(p.blocks[0].term.kind == ir::Terminator::Kind::exit);
  CHECK(p.blocks[0].insts.empty());
}

TEST_CASE("brx.idx becomes a switch whose default traps") {
  const ir::Program p =
      only_kernel("T: .branchtargets A, B;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 1;\nB:");
  const ir::Terminator& t = p.blocks[0].term;
  CHECK(t.kind == ir::Terminator::Kind::switch_);
  CHECK(t.cases == std::vector<uint64_t>{0, 1});
  REQUIRE(t.targets.size() == 3);
  const ir::Block& bad = p.blocks[t.targets[2]];
  REQUIRE(bad.insts.size() == 1);
  CHECK(bad.insts[0].op == ir::Op::trap);
  CHECK(bad.insts[0].mode == static_cast<uint8_t>(FaultKind::illegal_instruction));
}

TEST_CASE("call parameters with constant offsets stay in registers") {
  const ir::Program p = only_kernel(std::string(kCall) + kCall, kCallee);
  CHECK(p.local_bytes == 64);  // the kernel's own array
  CHECK(count_ops(p, ir::Op::load) == 0);
  CHECK(count_ops(p, ir::Op::store) == 0);
  CHECK(count_ops(p, ir::Op::shl) == 2);
}

TEST_CASE("a parameter whose address is taken lives in local memory") {
  const char* callee =
      ".func (.param .b32 out) pick(.param .align 4 .b8 in[16]) {\n"
      ".reg .b32 %t<3>; .reg .b64 %a<3>; mov.b64 %a1, in; ld.param.u32 %t2, [%a1+8];\n"
      "st.param.b32 [out], %t2; ret; }\n";
  const ir::Program p = only_kernel(
      "{ .param .align 4 .b8 a[16]; st.param.b32 [a+8], %r1; .param .b32 r;\n"
      "call (r), pick, (a); ld.param.b32 %r2, [r]; }",
      callee);
  CHECK(p.local_bytes == 80);
  CHECK(count_ops(p, ir::Op::store) == 4);
  CHECK(count_ops(p, ir::Op::load) == 1);
}

TEST_CASE("register parameters, guarded calls, sizes and recursion") {
  const char* add = ".func (.reg .b32 %o) inc(.reg .b32 %i) { add.s32 %o, %i, 1; ret; }\n";
  CHECK(count_ops(only_kernel("@%p1 call (%r1), inc, (%r2);", add), ir::Op::add) == 1);
  CHECK(error_of("{ .param .b64 a; .param .b32 r; call (r), twice, (a); }", kCallee)
            .find("the .param variable `a` for the parameter `in` of 4 bytes") !=
        std::string::npos);
  CHECK(error_of("call twice;", kCallee).find("found 0 results, 1 were expected") !=
        std::string::npos);
  CHECK(error_of("call missing, (%r1);").find("the unknown name `missing`") != std::string::npos);
  const char* loop = ".func a; .func b { call a; ret; } .func a { call b; ret; }\n";
  const ir::Program again = only_kernel("call a;", loop);
  CHECK(count_ops(again, ir::Op::trap) >= 1);  // there is an end to the lane's stack
  CHECK(again.local_bytes >= 1024);
}

TEST_CASE("an indirect call switches over the functions of its shape") {
  const std::string table = std::string(kCallee) +
                            ".func other(.param .b64 in) { ret; }\n"
                            ".global .u64 tab[2] = {twice, other};\n";
  const ir::Program p = only_kernel(
      "{ .param .b32 a; st.param.b32 [a+0], %r1; .param .b32 r;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (r), %rd1, (a), P; ld.param.b32 %r2, [r+0]; }\n",
      table);
  const ir::Terminator& t = p.blocks[0].term;
  REQUIRE(t.kind == ir::Terminator::Kind::switch_);
  CHECK(t.cases == std::vector<uint64_t>{guest::function_address(0)});
  CHECK(t.targets.size() == 2);
}

TEST_CASE("shared memory: only what is mentioned, dynamic after static") {
  const char* vars =
      ".shared .align 4 .b8 a[6]; .shared .align 8 .b8 b[8]; .shared .b32 unused;\n"
      ".extern .shared .align 16 .b8 dyn[];\n";
  const ir::Program p = only_kernel(
      "mov.u32 %r1, a;\nmov.u32 %r2, b;\nmov.u32 %r3, dyn;\n.shared .b32 own;\nmov.u32 %r4, own;",
      vars);
  CHECK(p.shared_bytes == 20);
  const auto& insts = p.blocks[0].insts;
  REQUIRE(insts.size() == 4);
  CHECK(insts[0].src[0].imm == 0);
  CHECK(insts[1].src[0].imm == 8);
  CHECK(insts[2].src[0].imm == 32);
  CHECK(insts[3].src[0].imm == 16);
}

TEST_CASE("module variables keep their bytes and addresses inside") {
  const auto r = lower_text(kernel_with(
      "",
      ".global .align 4 .b8 text[4] = {1, 2, 0x83};\n.const .f32 half[2] = {0.5, 0f40000000};\n"
      ".global .u64 link[2] = {0, text+2};\n"));
  CHECK(text(r.diagnostics).empty());
  const auto find = [&](const std::string& name) -> const ir::Global& {
    for (const ir::Global& g : r.module.globals)
      if (g.name == name) return g;
    FAIL("no variable " << name);
    throw 0;
  };
  CHECK(find("text").size == 4);
  CHECK(find("text").init.at(2) == std::byte{0x83});
  CHECK(find("half").space == ir::Space::constant);
  CHECK(find("half").init.at(3) == std::byte{0x3f});
  CHECK(find("half").init.at(7) == std::byte{0x40});
  REQUIRE(find("link").relocs.size() == 1);
  CHECK(find("link").relocs[0].offset == 8);
  CHECK(find("link").relocs[0].symbol == "text");
  CHECK(find("link").relocs[0].addend == 2);
}

TEST_CASE("calls that multiply without end are stopped") {
  std::string functions = ".func f0(.reg .b32 %x) { add.s32 %x, %x, 1; ret; }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string below = "call f" + std::to_string(i - 1) + ", (%x); ";
    functions += ".func f" + std::to_string(i) + "(.reg .b32 %x) { " + below + below + "ret; }\n";
  }
  CHECK(error_of("call f39, (%r1);", functions).find("too large") != std::string::npos);
}

TEST_CASE("accesses of 256 bits: sinks are read and dropped, or not written") {
  const auto r = lower_text(
      ".version 9.0\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<8>; ld.param.u64 %rd1, [p];\n"
      "ld.global.L2::evict_last.v8.b32 {%r0, _, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd1];\n"
      "st.global.v4.b64 [%rd1], {%rd2, _, %rd3, %rd4}; ret; }\n");
  CHECK(text(r.diagnostics).empty());
  const ir::Program& p = r.module.kernels.at(0);
  for (const std::string& problem : ir::verify(p)) FAIL_CHECK(problem);
  REQUIRE(p.blocks[0].insts.size() == 3);
  CHECK(p.blocks[0].insts[1].mem->bytes() == 32);
  CHECK(p.blocks[0].insts[1].mem->cache.l2 == ir::EvictPriority::last);
  REQUIRE(p.blocks[0].insts[2].src.size() == 5);
  CHECK(p.blocks[0].insts[2].src[2].kind == ir::Operand::Kind::none);
}
