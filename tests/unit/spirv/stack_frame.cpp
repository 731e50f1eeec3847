// Drivers that keep every value of a kernel in one stack frame: what it takes is counted, and what
// is too large is refused by name.
#include <doctest/doctest.h>

#include <string>

#include "runtime/spirv/binary/stack_frame.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

/// Registers that live over many barriers, which lanes reach in a loop and may leave at each.
Kernel stopping_kernel(uint32_t registers, uint32_t stops) {
  Kernel k(stops + 2);
  k.program.param_bytes = 8;
  const Reg out = k.param64(0), lane = k.sreg(ir::SReg::linear_tid);
  std::vector<Reg> kept;
  for (uint32_t n = 0; n < registers; ++n) {
    kept.push_back(k.b.reg(Width::b32));
    k.b.emit(Op::mul, Type::u32, {kept.back()}, {lane, ir::imm(n + 3)});
  }
  k.b.jump(1);
  for (uint32_t b = 1; b <= stops; ++b) {
    k.b.set_block(b);
    k.barrier();
    for (uint32_t n = 0; n < registers; ++n)
      k.b.emit(Op::add, Type::u32, {kept[n]}, {kept[n], kept[(n + b) % registers]});
    const Reg more = k.compare(ir::Cond::gt, kept[b % registers], ir::imm(1000 * b));
    k.b.branch({more}, b == stops ? 1 : b + 1, stops + 1);
  }
  k.b.set_block(stops + 1);
  for (const Reg r : kept)
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(out, lane), r});
  k.b.exit();
  return k;
}

spirv::Target keeps_everything() {
  spirv::Target target = tier0();
  target.subgroup_size = 4;
  target.max_invocations = 1;  // which carries all lanes
  target.quirks.folds_nothing = true;
  return target;
}

}  // namespace

TEST_CASE("what lies in a stack frame is counted") {
  spirv::StackUse use;
  use.variable_words = 1000;
  const uint64_t variables = spirv::frame_bytes(use, 4);
  CHECK(variables == 16000);
  use.phi_operands = 10;
  CHECK(spirv::frame_bytes(use, 4) > variables);
  CHECK(spirv::frame_bytes(use, 8) == 2 * spirv::frame_bytes(use, 4));
}

TEST_CASE("what would not fit into the stack frame is refused by name") {
  const auto refusal = [](uint32_t registers, const spirv::Target& target) {
    Kernel k = stopping_kernel(registers, 3);
    k.program.name = "toolarge";
    try {
      spirv::translate(k.program, block_of(1024), target);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::device);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal(4, keeps_everything()).empty());
  // 60 registers of 1,024 lanes for each of four invocations: more than 512 KiB.
  const std::string why = refusal(60, keeps_everything());
  CHECK(why.find("'toolarge'") != std::string::npos);
  CHECK(why.find("another device") != std::string::npos);
  spirv::Target other = keeps_everything();
  other.quirks.folds_nothing = false;
  CHECK(refusal(60, other).empty());
}
