// Typed loads of known formats: what the expansion computes beside the operation, and fractions
// beside the host's division, for all 2^16 numbers of a component.
#include <doctest/doctest.h>

#include <bit>

#include "runtime/ir/passes/memory/expand_formats.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kGroups = 64, kLanesOfGroup = 128;
constexpr uint32_t kSteps = 65536 / (kGroups * kLanesOfGroup);

/// Element n of the format in lane n + step * lanes; its words have n in both halves, each another
/// way. Out of range in every 16th lane.
TestKernel kernel_of(uint32_t format, uint8_t mode, uint32_t step) {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::linear_tid), group = k.sreg(ir::SReg::ctaid_x);
  const Reg first = k.b.make(Op::mul, Type::u32, {group, imm(kLanesOfGroup)});
  const Reg lane = k.b.make(Op::add, Type::u32, {first, tid});
  const Reg n = k.b.make(Op::add, Type::u32, {lane, imm(step * kGroups * kLanesOfGroup)});
  const Reg other = k.b.make(Op::xor_, Type::u32, {n, imm(0xa5c3)});
  const Reg upper = k.b.make(Op::shl, Type::u32, {other, imm(16)});
  const Reg low = k.b.make(Op::or_, Type::u32, {upper, n});
  const Reg high = k.b.make(Op::mul, Type::u32, {low, imm(0x9e3779b1)});
  const Reg rest = k.b.make(Op::and_, Type::u32, {n, imm(15)});
  const Reg may = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {may}, {rest, imm(7)}).cond = ir::Cond::ne;
  std::vector<Reg> out(4);
  for (Reg& r : out) r = k.b.reg(Width::b32);
  k.b.emit(Op::fmt_unpack, Type::none, out, {low, high, n, upper, imm(format), may}).mode = mode;
  for (uint32_t i = 0; i < 4; ++i) k.put(i, out[i]);
  k.b.exit();
  return k;
}

std::vector<std::byte> results(const TestKernel& k) {
  const Run r = run(k, kLanesOfGroup, kGroups);
  REQUIRE(r.result.fault_count == 0);
  std::vector<std::byte> all(size_t{64} * kGroups * kLanesOfGroup);
  r.engine->read(guest::kArenaBase, all);
  return all;
}

size_t left(const TestKernel& k) {
  size_t n = 0;
  for (const ir::Inst& i : k.program.blocks[0].insts) n += i.op == Op::fmt_unpack ? 1 : 0;
  return n;
}

constexpr uint32_t kXyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9, kOthers = 7 | 1 << 3 | 4 << 6 | 5 << 9;

}  // namespace

TEST_CASE("formats: what they become, beside the operation") {
  constexpr uint8_t kAlphaZero = static_cast<uint8_t>(ir::FormatMode::missing_zero) |
                                 static_cast<uint8_t>(ir::FormatMode::out_of_range_zero);
  for (const uint32_t code : {1, 2, 3, 4, 5, 10, 11, 12, 13, 14})
    for (const uint32_t number : {0, 4, 5, 7}) {
      const bool words = code == 4 || code == 11 || code >= 13;
      if (number == 7 && !words) continue;
      for (const uint8_t mode : {uint8_t{0}, kAlphaZero}) {
        const uint32_t format = (mode == 0 ? kXyzw : kOthers) | number << 12 | code << 15;
        const uint32_t steps = mode == 0 && number != 7 ? kSteps : 1;
        for (uint32_t step = 0; step < steps; step += code == 12 ? 1 : 3) {
          CAPTURE(code);
          CAPTURE(number);
          CAPTURE(int{mode});
          TestKernel k = kernel_of(format, mode, step);
          const std::vector<std::byte> before = results(k);
          REQUIRE(ir::expand_formats(k.program));
          REQUIRE(left(k) == 0);
          REQUIRE(ir::verify(k.program).empty());
          CHECK(results(k) == before);
        }
      }
    }
  // Others stay: of 10 bits, signed fractions, f16, 16-bit registers.
  for (const uint32_t format : {9U << 15, 10U << 15 | 1U << 12, 12U << 15 | 7U << 12}) {
    TestKernel k = kernel_of(kXyzw | format, 0, 0);
    CHECK(!ir::expand_formats(k.program));
  }
  TestKernel half = kernel_of(kXyzw | 10U << 15, static_cast<uint8_t>(ir::FormatMode::d16), 0);
  CHECK(!ir::expand_formats(half.program));
}

TEST_CASE("formats: fractions are rounded once") {
  for (uint32_t step = 0; step < kSteps; ++step) {
    TestKernel k = kernel_of(kXyzw | 12U << 15, 0, step);
    REQUIRE(ir::expand_formats(k.program));
    const Run r = run(k, kLanesOfGroup, kGroups);
    size_t wrong = 0;
    for (uint32_t lane = 0; lane < kGroups * kLanesOfGroup; ++lane) {
      const uint32_t n = step * kGroups * kLanesOfGroup + lane;
      const float c = n % 16 == 7 ? 0.0F : static_cast<float>(n);
      wrong += static_cast<uint32_t>(r.slot(lane, 0)) != std::bit_cast<uint32_t>(c / 65535.0F);
    }
    CHECK(wrong == 0);
  }
}
