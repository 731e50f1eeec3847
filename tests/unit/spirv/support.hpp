// Programs and devices for the translator's tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/ir/builder.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::test {

inline spirv::Target tier0() {
  spirv::Target t;
  t.denorm_preserve = t.signed_zero_inf_nan = true;
  t.max_invocations = 256;
  t.max_shared = 32768;
  return t;
}
inline spirv::Target tier1() {
  spirv::Target t = tier0();
  t.int64 = t.bda = t.storage8 = t.storage16 = true;
  t.rte = t.native_add = t.native_compare = t.quirks.cuts_loops = true;
  t.max_invocations = 1024;
  return t;
}
inline spirv::Target tier2() {
  spirv::Target t = tier1();
  t.float64 = t.int64_atomics = true;
  t.denorm_preserve64 = t.rte64 = t.signed_zero_inf_nan64 = true;
  t.native_fma = t.native_div = t.native_sqrt = t.native_add64 = t.native_fma64 = true;
  t.native_div64 = t.native_sqrt64 = t.native_compare64 = true;
  return t;
}
inline std::vector<std::pair<std::string, spirv::Target>> all_tiers() {
  return {{"T0", tier0()}, {"T1", tier1()}, {"T2", tier2()}};
}

/// Drivers for which a module is rewritten after it was linked: SwiftShader, lavapipe of Mesa 22.3.
inline std::vector<spirv::Target> with_quirks() {
  spirv::Target folds = tier0(), loops = tier1();
  folds.quirks.folds_nothing = true;
  loops.quirks.loses_loop_values = loops.quirks.folds_zero = loops.quirks.fence_by_atomic = true;
  return {folds, loops};
}

inline spirv::Options block_of(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  spirv::Options options;
  options.block = {x, y, z};
  return options;
}

/// Translates and returns the validator's verdict, empty when all is well.
inline std::string verdict(const ir::Program& program, const spirv::Options& options,
                           const spirv::Target& target) {
  return spirv::validate(spirv::translate(program, options, target).words);
}

/// A program under construction: a builder with blocks made on demand and short spellings.
struct Kernel {
  ir::Program program;
  ir::Builder b{program};

  explicit Kernel(size_t blocks = 1) {
    program.name = "test";
    program.sites.resize(1);
    program.sites[0].line = 7;
    program.sites[0].text = "the guest's own words;";
    for (size_t i = 0; i < blocks; ++i) b.add_block(std::string(1, static_cast<char>('a' + i)));
    b.set_block(0);
    b.set_site(0);
  }

  ir::Reg sreg(ir::SReg which) {
    const ir::Reg r = b.reg(ir::Width::b32);
    b.emit(ir::Op::sreg, ir::Type::u32, {r}, {}).mode = static_cast<uint8_t>(which);
    return r;
  }
  ir::Reg param64(uint32_t offset) {
    const ir::Reg r = b.reg(ir::Width::b64);
    memory(ir::Op::load, ir::Space::param, ir::Type::u64, 1, {r}, {ir::imm(offset)});
    return r;
  }
  ir::Inst& memory(ir::Op op, ir::Space space, ir::Type elem, uint8_t count,
                   std::vector<ir::Reg> dst, std::vector<ir::Operand> src) {
    ir::Inst& inst = b.emit(op, ir::Type::none, std::move(dst), std::move(src));
    ir::Mem mem;
    mem.space = space;
    mem.elem = elem;
    mem.count = count;
    inst.mem = mem;
    return inst;
  }
  ir::Reg compare(ir::Cond cond, ir::Operand x, ir::Operand y, ir::Type type = ir::Type::u32) {
    const ir::Reg p = b.reg(ir::Width::pred);
    b.emit(ir::Op::icmp, type, {p}, {x, y}).cond = cond;
    return p;
  }
  void barrier(ir::BarrierKind kind = ir::BarrierKind::sync, uint32_t id = 0, uint32_t count = 0) {
    b.emit(ir::Op::barrier, ir::Type::none, {}, {ir::imm(id), ir::imm(count)}).mode =
        static_cast<uint8_t>(kind);
  }
  /// address = base + 4 * index
  ir::Reg element(ir::Reg base, ir::Reg index, uint32_t size = 4) {
    const ir::Reg wide = b.make(ir::Op::mulwide, ir::Type::u64, {index, ir::imm(size)});
    program.blocks[b.block()].insts.back().type = ir::Type::u32;
    return b.make(ir::Op::add, ir::Type::u64, {base, wide});
  }
  ir::Reg move_into(ir::Reg into, ir::Operand value, ir::Type type = ir::Type::u32) {
    b.emit(ir::Op::mov, type, {into}, {value});
    return into;
  }
};

}  // namespace lanewise::test
