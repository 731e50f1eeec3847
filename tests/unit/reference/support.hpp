// Small kernels for tests of the reference engine: build, run, look at what the lanes stored.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "runtime/ir/builder.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/reference.hpp"

namespace lanewise::test {

using ir::imm;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::Type;
using ir::Width;

/// A kernel whose lanes each own 64 bytes of the arena, eight slots of eight bytes.
struct TestKernel {
  ir::Program program;
  ir::Builder b{program};
  uint32_t entry = b.add_block("entry");
  Reg slot_address;

  explicit TestKernel(uint32_t wave_lanes = 32) {
    program.name = "test";
    program.wave_lanes = wave_lanes;
    const Reg tid = sreg(ir::SReg::linear_tid);
    const Reg group = sreg(ir::SReg::ctaid_x);
    const Reg lanes = sreg(ir::SReg::ntid_x);
    const Reg first = b.make(Op::mul, Type::u32, {group, lanes});
    const Reg global = b.make(Op::add, Type::u32, {first, tid});
    const Reg bytes = b.make(Op::mulwide, Type::u32, {global, imm(64)});
    program.regs[bytes.id].width = Width::b64;
    slot_address = b.make(Op::add, Type::u64, {bytes, imm(guest::kArenaBase)});
  }
  Reg sreg(ir::SReg which, Type type = Type::u32) {
    const Reg r = b.reg(ir::width_of(type));
    b.emit(Op::sreg, type, {r}, {}).mode = static_cast<uint8_t>(which);
    return r;
  }
  static ir::Mem mem(Type elem, ir::Space space = ir::Space::global, int64_t offset = 0) {
    ir::Mem m;
    m.space = space;
    m.elem = elem;
    m.offset = offset;
    return m;
  }
  /// Stores a b32 (or, with u64, a b64) register into one of the lane's slots.
  void put(uint32_t slot, Operand value, Type elem = Type::u32) {
    b.emit(Op::store, Type::none, {}, {slot_address, value}).mem =
        mem(elem, ir::Space::global, int64_t{8} * slot);
  }
  void put_pred(uint32_t slot, Reg pred) {
    put(slot, b.make(Op::select, Type::u32, {pred, imm(1), imm(0)}));
  }
  Reg load(Operand address, const ir::Mem& m) {
    const Reg r = b.reg(ir::width_of(m.elem));
    b.emit(Op::load, Type::none, {r}, {address}).mem = m;
    return r;
  }
  void site(uint32_t n) {
    if (program.sites.size() <= n) program.sites.resize(n + 1);
    b.set_site(n);
  }
};

struct Run {
  std::unique_ptr<Engine> engine;
  LaunchResult result;

  uint64_t slot(uint32_t lane, uint32_t slot) const {
    uint64_t v = 0;
    engine->read(guest::kArenaBase + 64 * uint64_t{lane} + 8 * uint64_t{slot},
                 {reinterpret_cast<std::byte*>(&v), 8});
    return v;
  }
};

using Adjust = std::function<void(LaunchRequest&)>;

inline Run run(const TestKernel& kernel, uint32_t lanes = 1, uint32_t groups = 1,
               const Adjust& adjust = {}) {
  Run r{reference::make_engine(), {}};
  r.engine->reserve(1 << 20);
  LaunchRequest request;
  request.program = &kernel.program;
  request.grid = {groups, 1, 1};
  request.block = {lanes, 1, 1};
  if (adjust) adjust(request);
  r.result = r.engine->launch(request);
  return r;
}

/// Bit patterns that arithmetic trips over, then random ones; the same in every run.
inline std::vector<uint64_t> samples(unsigned bits, size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> v = {0,
                             1,
                             2,
                             3,
                             0x7f,
                             0x80,
                             0xff,
                             0x7fff,
                             0x8000,
                             0x7fffffff,
                             0x80000000,
                             0xffffffff,
                             uint64_t{1} << (bits - 1),
                             ~uint64_t{0}};
  while (v.size() < count) v.push_back(random() >> random() % bits);
  for (uint64_t& x : v) x &= ~uint64_t{0} >> (64 - bits);
  return v;
}

}  // namespace lanewise::test
