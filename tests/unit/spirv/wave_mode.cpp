// Wave mode: modules of every shape are valid, and what cannot be kept together is reported.
#include <doctest/doctest.h>

#include "runtime/ir/dot.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

constexpr uint64_t kAll = 0xffffffff;

spirv::Target with_subgroups(spirv::Target target, uint32_t size) {
  target.wave_operations = true;
  target.subgroup_size = size;
  return target;
}

Reg shuffle(Kernel& k, Reg value, ir::Operand by, ir::Operand members) {
  const Reg result = k.b.reg(Width::b32), in_range = k.b.reg(Width::pred);
  k.b.emit(Op::shfl, Type::none, {result, in_range}, {value, by, ir::imm(31), members}).mode =
      static_cast<uint8_t>(ir::ShflMode::bfly);
  return result;
}

/// A loop that lanes leave apart, with a shuffle in it and a break in an if; lanes that end early.
Kernel divergent_kernel(uint32_t wave_lanes) {
  Kernel k(7);
  k.program.param_bytes = 8;
  k.program.wave_lanes = wave_lanes;
  const Reg out = k.param64(0), lane = k.sreg(ir::SReg::linear_tid);
  const Reg left = k.b.reg(Width::b32), sum = k.b.reg(Width::b32);
  k.move_into(left, lane);
  k.move_into(sum, ir::imm(0));
  k.barrier();
  k.b.branch({k.compare(ir::Cond::eq, lane, ir::imm(3))}, 6, 1);
  k.b.set_block(1);
  const Reg got = shuffle(k, left, ir::imm(1), ir::imm(kAll));
  k.b.emit(Op::add, Type::u32, {sum}, {sum, got});
  k.b.branch({k.compare(ir::Cond::gt, sum, ir::imm(100))}, 4, 2);
  k.b.set_block(2);
  k.b.emit(Op::sub, Type::u32, {left}, {left, ir::imm(1)});
  k.b.branch({k.compare(ir::Cond::ne, left, ir::imm(0))}, 1, 3);
  k.b.set_block(3);
  const Reg first = k.b.reg(Width::b32);
  k.b.emit(Op::readfirst, Type::none, {first}, {sum});
  k.b.emit(Op::add, Type::u32, {sum}, {sum, first});
  k.b.jump(5);
  k.b.set_block(4);
  k.b.jump(5);
  k.b.set_block(5);
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(out, lane), sum});
  k.b.exit();
  k.b.set_block(6);
  k.b.exit();
  return k;
}

spirv::Module translated(const Kernel& k, WaveMode mode, uint32_t lanes = 64,
                         spirv::Target target = with_subgroups(tier1(), 8)) {
  spirv::Options options = block_of(lanes);
  options.wave = mode;
  return spirv::translate(k.program, options, target);
}

std::string refusal(const Kernel& k) {
  try {
    (void)translated(k, WaveMode::packed);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::guest);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("wave mode: valid for waves narrower and wider than subgroups, whole and partial") {
  for (const auto& [tier, target] : all_tiers()) {
    for (const uint32_t width : {4U, 8U, 16U, 32U, 64U}) {
      const Kernel k = divergent_kernel(width);
      for (const uint32_t size : {4U, 8U, 16U, 32U, 64U, 128U}) {
        if (width / size > 8) continue;
        for (const uint32_t lanes : {128U, 77U}) {
          CAPTURE(tier);
          CAPTURE(width);
          CAPTURE(size);
          CAPTURE(lanes);
          const auto module =
              translated(k, WaveMode::automatic, lanes, with_subgroups(target, size));
          CHECK(spirv::validate(module.words) == "");
          CHECK(module.wave_mode == "packed");
          CHECK(module.subgroup_size == size);
          CHECK(module.lanes_per_invocation == std::max(1U, width / size));
          CHECK(module.local_size % size == 0);
          CHECK(module.local_size * module.lanes_per_invocation >= lanes);
          // Of several sizes a kernel takes its wave's.
          spirv::Target several = with_subgroups(target, size);
          several.least_subgroup = std::min(16U, size);
          const auto narrow = translated(k, WaveMode::automatic, lanes, several);
          CHECK(narrow.subgroup_size == (width < 16 ? size : std::min(size, width)));
          CHECK(spirv::validate(narrow.words) == "");
        }
      }
    }
  }
}

TEST_CASE("wave mode: what is too much for a compiler that folds nothing is taken lane by lane") {
  const auto kernel = [](int products) {
    Kernel k(1);
    Reg value = k.sreg(ir::SReg::laneid);
    for (int n = 0; n < products; ++n) {
      const Reg squared = k.b.reg(Width::b32);
      k.b.emit(Op::mul, Type::u32, {squared}, {value, value});
      value = squared;
    }
    value = shuffle(k, value, ir::imm(1), ir::imm(kAll));
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.param64(0), value});
    k.b.exit();
    k.program.param_bytes = 8;
    return k;
  };
  spirv::Target target = with_subgroups(tier1(), 4);
  const Kernel large = kernel(4000), little = kernel(5);
  CHECK(translated(large, WaveMode::automatic, 64, target).wave_mode == "packed");
  target.quirks.folds_nothing = true;
  CHECK(translated(little, WaveMode::automatic, 64, target).wave_mode == "packed");
  CHECK(translated(large, WaveMode::packed, 64, target).wave_mode == "packed");
  const auto module = translated(large, WaveMode::automatic, 64, target);
  CHECK(module.wave_mode == "serial");
  CHECK(module.wave_reason.find("too much for this driver's compiler") != std::string::npos);
  CHECK(spirv::validate(module.words) == "");
}

TEST_CASE("wave mode: slots share what a shuffle brings where they name the same lanes") {
  // As matrix instructions do: lane % 4 says which eight lanes, an immediate which of them.
  const auto shuffles = [](uint32_t mask, uint32_t by, bool in_loop = false) {
    Kernel k(3);
    const Reg lane = k.sreg(ir::SReg::laneid), out = k.param64(0);
    const Reg place = k.b.reg(Width::b32), first = k.b.reg(Width::b32), from = k.b.reg(Width::b32);
    k.b.emit(Op::and_, Type::u32, {place}, {lane, ir::imm(mask)});
    k.b.emit(Op::shl, Type::u32, {first}, {place, ir::imm(by)});
    k.b.emit(Op::or_, Type::u32, {from}, {first, ir::imm(1)});
    const Reg sum = k.b.reg(Width::b32);
    k.move_into(sum, lane);
    k.b.jump(1);
    k.b.set_block(1);
    const Reg got = k.b.reg(Width::b32), valid = k.b.reg(Width::pred);
    k.b.emit(Op::shfl, Type::none, {got, valid}, {sum, from, ir::imm(31), ir::imm(kAll)}).mode =
        static_cast<uint8_t>(ir::ShflMode::idx);
    k.b.emit(Op::add, Type::u32, {sum}, {sum, got});
    if (in_loop)
      k.b.branch({k.compare(ir::Cond::lt, sum, ir::imm(100))}, 1, 2);
    else
      k.b.jump(2);
    k.b.set_block(2);
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(out, lane), sum});
    k.b.exit();
    k.program.param_bytes = 8;
    const std::string text = spirv::disassemble(translated(k, WaveMode::packed, 32).words);
    size_t count = 0;
    for (size_t at = text.find(" = OpGroupNonUniformShuffle "); at != std::string::npos;
         at = text.find(" = OpGroupNonUniformShuffle ", at + 1))
      ++count;
    return count;
  };
  CHECK(shuffles(3, 3) == 4);    // one of each slot
  CHECK(shuffles(28, 0) == 4);   // each slot its own
  CHECK(shuffles(31, 1) == 16);  // each slot any
  // What is made of the lane's number is known behind the blocks that made it.
  CHECK(shuffles(3, 3, true) == 4);
  CHECK(shuffles(28, 0, true) == 4);
}

TEST_CASE("wave mode: a compiler that folds nothing gets one call for all slots' sums") {
  Kernel k(1);
  const Reg lane = k.sreg(ir::SReg::laneid), out = k.param64(0), sum = k.b.reg(Width::b32);
  const Reg sent = shuffle(k, lane, ir::imm(1), ir::imm(kAll));
  std::vector<ir::Operand> src{ir::imm(0), ir::imm(ir::dot_word({24, 23, 4, 8}))};
  for (unsigned i = 0; i < 2 * ir::kDotWords; ++i) src.emplace_back(i % 3 == 0 ? sent : lane);
  k.b.emit(Op::dot, Type::f32, {sum}, std::move(src)).mode =
      ir::dot_mode(ir::Element::f16, ir::Element::f16);
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(out, lane), sum});
  k.b.exit();
  k.program.param_bytes = 8;
  spirv::Target target = with_subgroups(tier1(), 4);
  const auto all = translated(k, WaveMode::packed, 32, target);
  CHECK(spirv::validate(all.words) == "");
  target.quirks.folds_nothing = true;
  const auto one = translated(k, WaveMode::packed, 32, target);
  CHECK(spirv::validate(one.words) == "");
  CHECK(one.words.size() < 20'000);  // 16 copies are more than 80,000
}

TEST_CASE("wave mode: a compiler that folds nothing gets one call for a chain of f64 fma") {
  Kernel k(1);
  const Reg lane = k.sreg(ir::SReg::laneid), out = k.param64(0), x = k.b.reg(Width::b64);
  shuffle(k, lane, ir::imm(1), ir::imm(kAll));
  k.memory(Op::load, ir::Space::global, Type::u64, 1, {x}, {k.element(out, lane)});
  Reg sum = x;
  for (int i = 0; i < 8; ++i) {
    const Reg next = k.b.reg(Width::b64);
    k.b.emit(Op::ffma, Type::f64, {next}, {x, x, sum});
    sum = next;
  }
  k.memory(Op::store, ir::Space::global, Type::u64, 1, {}, {k.element(out, lane), sum});
  k.b.exit();
  k.program.param_bytes = 8;
  spirv::Target target = with_subgroups(tier1(), 4);
  target.float64 = false;
  target.quirks.folds_nothing = true;
  const auto module = translated(k, WaveMode::packed, 32, target);
  CHECK(spirv::validate(module.words) == "");
  CHECK(module.words.size() < 30'000);  // 64 copies are more than 80,000
}

TEST_CASE("wave mode: modules that are rewritten for drivers stay valid") {
  for (const spirv::Target& quirks : with_quirks()) {
    const auto module =
        translated(divergent_kernel(32), WaveMode::automatic, 77, with_subgroups(quirks, 8));
    CHECK(spirv::validate(module.words) == "");
    CHECK(module.wave_mode == "packed");
  }
}

TEST_CASE("wave mode: a loop whose body has nothing left stays valid where modules are rewritten") {
  // SPIRV-Tools merges the empty body with the budget's blocks and makes the header its own
  // continue target.
  Kernel k(2);
  k.program.param_bytes = 8;
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.param64(0), ir::imm(7)});
  k.b.jump(1);
  k.b.set_block(1);
  k.b.emit(Op::activemask, Type::none, {k.b.reg(Width::b32)}, {});
  k.b.jump(1);
  for (const spirv::Target& quirks : with_quirks()) {
    const auto module = translated(k, WaveMode::packed, 64, with_subgroups(quirks, 4));
    CHECK(spirv::validate(module.words) == "");
  }
}

TEST_CASE("wave mode: a member mask that was taken of the lanes that use it") {
  const auto kernel = [](bool same_lanes) {
    Kernel k(4);
    const Reg lane = k.sreg(ir::SReg::laneid), mask = k.b.reg(Width::b32);
    const Reg low = k.compare(ir::Cond::lt, lane, ir::imm(5));
    k.b.emit(Op::vote_ballot, Type::none, {mask}, {low, ir::imm(kAll)});
    if (same_lanes) {
      k.b.branch({low}, 1, 3);
    } else {
      k.b.branch({k.compare(ir::Cond::lt, lane, ir::imm(6))}, 1, 3);
    }
    k.b.set_block(1);
    const Reg got = shuffle(k, lane, ir::imm(1), mask);
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(k.param64(0), lane), got});
    k.b.jump(2);
    k.b.set_block(2);
    k.b.emit(Op::wave_sync, Type::none, {}, {ir::imm(kAll)});  // where the others may wait
    k.b.exit();
    k.b.set_block(3);
    k.b.jump(2);
    k.program.param_bytes = 8;
    return k;
  };
  constexpr char kProven[] = "the lanes of a wave can be kept together";
  // Who waits for nobody needs no proof.
  CHECK(translated(kernel(false), WaveMode::automatic).wave_reason == kProven);
  const auto waiting = [&](bool same_lanes) {
    Kernel k = kernel(same_lanes);
    k.program.rendezvous = true;
    return translated(k, WaveMode::automatic);
  };
  CHECK(waiting(true).wave_mode == "packed");
  CHECK(waiting(true).wave_reason == kProven);
  CHECK(waiting(false).wave_mode == "packed");
  CHECK(waiting(false).wave_reason ==
        "the lanes of a wave can be kept together as long as one cross-lane operation finds all "
        "lanes of its member mask there");
}

TEST_CASE("wave mode: lanes that skip an operation in one iteration and come to it in another") {
  // for (i < 4) if (lane == i) shuffle; with a mask of all lanes it is what strided loops do.
  const auto mode = [](bool all) {
    Kernel k(5);
    k.program.param_bytes = 12;
    k.program.rendezvous = true;
    const Reg lane = k.sreg(ir::SReg::laneid), i = k.b.reg(Width::b32);
    k.move_into(i, ir::imm(0));
    k.b.jump(1);
    k.b.set_block(1);
    k.b.branch({k.compare(ir::Cond::eq, lane, i)}, 2, 3);
    k.b.set_block(2);
    (void)shuffle(k, lane, ir::imm(1), all ? ir::imm(kAll) : ir::imm(0xff));
    k.b.jump(3);
    k.b.set_block(3);
    k.b.emit(Op::add, Type::u32, {i}, {i, ir::imm(1)});
    k.b.branch({k.compare(ir::Cond::lt, i, ir::imm(4))}, 1, 4);
    k.b.set_block(4);
    k.b.exit();
    return translated(k, WaveMode::automatic).wave_mode;
  };
  CHECK(mode(false) == "serial");
  CHECK(mode(true) == "packed");
}

TEST_CASE(
    "wave mode: a mask of an earlier turn, or taken before a lane may have ended, is not it") {
  // The mask is used in front of where it is taken.
  Kernel k(3);
  k.program.param_bytes = 8;
  k.program.rendezvous = true;
  const Reg lane = k.sreg(ir::SReg::laneid), mask = k.b.reg(Width::b32), left = k.b.reg(Width::b32);
  k.move_into(left, lane);
  k.b.jump(1);
  k.b.set_block(1);
  const Reg got = shuffle(k, lane, ir::imm(1), mask);
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(k.param64(0), lane), got});
  k.b.emit(Op::activemask, Type::none, {mask}, {});
  k.b.emit(Op::sub, Type::u32, {left}, {left, ir::imm(1)});
  k.b.branch({k.compare(ir::Cond::ne, left, ir::imm(0))}, 1, 2);
  k.b.set_block(2);
  k.b.exit();
  CHECK(translated(k, WaveMode::automatic).wave_mode == "serial");

  Kernel traps(1);
  traps.program.param_bytes = 8;
  traps.program.rendezvous = true;
  const Reg own = traps.sreg(ir::SReg::laneid), taken = traps.b.reg(Width::b32);
  traps.b.emit(Op::activemask, Type::none, {taken}, {});
  traps.b.set_guard({traps.compare(ir::Cond::eq, own, ir::imm(3)), false});
  traps.b.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
  traps.b.set_guard({});
  const Reg after = shuffle(traps, own, ir::imm(1), taken);
  traps.memory(Op::store, ir::Space::global, Type::u32, 1, {},
               {traps.element(traps.param64(0), own), after});
  traps.b.exit();
  CHECK(translated(traps, WaveMode::automatic).wave_reason ==
        "the lanes of a wave can be kept together");
}

TEST_CASE("wave mode: not for loops that may wait for another lane of the wave, but for GCN's") {
  Kernel k(3);
  k.program.param_bytes = 8;
  const Reg lock = k.param64(0), old = k.b.reg(Width::b32), mask = k.b.reg(Width::b32);
  k.b.emit(Op::activemask, Type::none, {mask}, {});
  k.b.jump(1);
  k.b.set_block(1);
  k.memory(Op::atom, ir::Space::global, Type::u32, 1, {old}, {lock, ir::imm(0), ir::imm(1)})
      .mem->atom = ir::AtomOp::cas;
  k.b.branch({k.compare(ir::Cond::ne, old, ir::imm(0))}, 1, 2);
  k.b.set_block(2);
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {lock, mask});
  k.b.exit();
  CHECK(translated(k, WaveMode::automatic).wave_mode == "lane");  // its operation meets the group
  CHECK(
      refusal(k) ==
      "the lanes of a wave cannot be kept together: 'the guest's own words;' (line 7): a loop may "
      "wait here for another lane of the wave; use --wave auto or serial");
  k.program.isa = ir::Isa::gcn;
  CHECK(translated(k, WaveMode::automatic).wave_mode == "packed");
}

TEST_CASE("wave mode: a lock stays one where what it gave was kept in local memory") {
  Kernel k(3);
  k.program.param_bytes = 8;
  k.program.local_bytes = 16;
  const Reg lock = k.param64(0), old = k.b.reg(Width::b32), kept = k.b.reg(Width::b32);
  k.b.emit(Op::activemask, Type::none, {k.b.reg(Width::b32)}, {});
  k.b.jump(1);
  k.b.set_block(1);
  k.memory(Op::atom, ir::Space::global, Type::u32, 1, {old}, {lock, ir::imm(0), ir::imm(1)})
      .mem->atom = ir::AtomOp::cas;
  k.memory(Op::store, ir::Space::local, Type::u32, 1, {}, {ir::imm(8), old});
  k.memory(Op::load, ir::Space::local, Type::u32, 1, {kept}, {ir::imm(8)});
  k.b.branch({k.compare(ir::Cond::ne, kept, ir::imm(0))}, 1, 2);
  k.b.set_block(2);
  k.b.exit();
  CHECK(refusal(k).find("a loop may wait here for another lane of the wave") != std::string::npos);
}

TEST_CASE("wave mode: devices without subgroup operations, and barriers that lanes reach apart") {
  const Kernel k = divergent_kernel(32);
  CHECK(translated(k, WaveMode::automatic, 64, tier1()).wave_mode == "serial");
  Kernel apart(3);
  const Reg lane = apart.sreg(ir::SReg::linear_tid), mask = apart.b.reg(Width::b32);
  apart.b.emit(Op::activemask, Type::none, {mask}, {});
  apart.b.branch({apart.compare(ir::Cond::lt, lane, ir::imm(32))}, 1, 2);
  apart.b.set_block(1);
  apart.barrier(ir::BarrierKind::sync, 1, 32);
  apart.b.exit();
  apart.b.set_block(2);
  apart.b.exit();
  CHECK(translated(apart, WaveMode::automatic).wave_mode == "serial");
  CHECK(refusal(apart).find("it waits for a part of the block") != std::string::npos);
}
