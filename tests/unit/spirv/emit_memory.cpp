// Memory instructions of every width and shape, on every tier.
#include <doctest/doctest.h>

#include "runtime/support/error.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::AtomOp;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Width;

namespace {

void check_everywhere(const ir::Program& program) {
  for (const auto& [tier, target] : all_tiers()) {
    CAPTURE(tier);
    CHECK(verdict(program, block_of(64), target) == "");
  }
}

/// Loads `count` elements and stores them again, both under a guard when asked.
void copy_elements(Kernel& k, Space space, Type elem, uint8_t count, uint8_t alignment,
                   ir::AlignRule rule, bool guarded) {
  const bool wide = space == Space::global || space == Space::generic || space == Space::constant;
  const ir::Reg pointer = k.param64(0);
  const ir::Operand address = wide ? ir::Operand(pointer) : ir::Operand(k.sreg(ir::SReg::tid_x));
  std::vector<ir::Reg> values;
  for (int i = 0; i < count; ++i)
    values.push_back(k.b.reg(ir::size_of(elem) == 8 ? Width::b64 : Width::b32));
  if (guarded) {
    const ir::Reg p = k.compare(ir::Cond::lt, k.sreg(ir::SReg::tid_x), ir::imm(7));
    k.b.set_guard({p, true});
  }
  const auto shape = [&](ir::Inst& inst) {
    inst.mem->align_bytes = alignment;
    inst.mem->align = rule;
    inst.mem->offset = -8;
  };
  shape(k.memory(Op::load, space, elem, count, values, {address}));
  if (space != Space::param && space != Space::constant) {
    std::vector<ir::Operand> sources{address};
    for (ir::Reg r : values) sources.emplace_back(r);
    shape(k.memory(Op::store, space, elem, count, {}, sources));
  } else {
    for (ir::Reg r : values)
      k.memory(Op::store, Space::global, ir::size_of(elem) == 8 ? Type::u64 : Type::u32, 1, {},
               {pointer, r});
  }
  k.b.set_guard({});
}

}  // namespace

TEST_CASE("loads and stores of every width translate to valid SPIR-V") {
  for (const Space space : {Space::global, Space::generic, Space::shared, Space::local,
                            Space::constant, Space::param}) {
    for (const Type elem : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::u64}) {
      for (const uint8_t count : {1, 2, 3, 4, 8}) {
        if (ir::size_of(elem) * count > 32) continue;
        for (const bool element_aligned : {false, true}) {
          Kernel k;
          k.program.shared_bytes = 4096;
          k.program.local_bytes = 64;
          const auto alignment = static_cast<uint8_t>(element_aligned ? ir::size_of(elem) : 0);
          copy_elements(k, space, elem, count, alignment,
                        count == 8 ? ir::AlignRule::force : ir::AlignRule::trap, count == 2);
          k.b.exit();
          CAPTURE(ir::name(space));
          CAPTURE(ir::name(elem));
          CAPTURE(int{count});
          CAPTURE(element_aligned);
          check_everywhere(k.program);
        }
      }
    }
  }
}

TEST_CASE("a sink element is not written") {
  Kernel k;
  const ir::Reg base = k.param64(0);
  const ir::Operand none;
  k.memory(Op::store, Space::global, Type::u32, 8, {},
           {base, ir::imm(1), none, ir::imm(3), none, ir::imm(5), ir::imm(6), none, ir::imm(8)});
  k.b.exit();
  check_everywhere(k.program);
  const std::string text =
      spirv::disassemble(spirv::translate(k.program, block_of(64), tier1()).words);
  size_t calls = 0;
  for (size_t at = 0; (at = text.find("lw_store_global_32", at)) != std::string::npos; ++at)
    ++calls;
  // Without names in the linked module the count cannot be seen, then only validity was tested.
  if (calls != 0) CHECK(calls >= 5);
}

TEST_CASE("orderings and fences translate") {
  for (const auto order : {ir::Order::relaxed, ir::Order::volatile_, ir::Order::mmio,
                           ir::Order::acquire, ir::Order::release, ir::Order::seq_cst}) {
    Kernel k;
    const ir::Reg base = k.param64(0), r = k.b.reg(Width::b32);
    const auto ordered = [&](ir::Inst& inst) {
      inst.mem->order = order;
      inst.mem->scope = ir::Scope::gpu;
    };
    if (order != ir::Order::release)
      ordered(k.memory(Op::load, Space::global, Type::u32, 1, {r}, {base}));
    if (order != ir::Order::acquire)
      ordered(k.memory(Op::store, Space::global, Type::u32, 1, {}, {base, ir::imm(5)}));
    ir::Inst& fence = k.b.emit(Op::fence, Type::none, {}, {});
    fence.mem.emplace().scope = ir::Scope::sys;
    k.memory(Op::cachectl, Space::global, Type::u32, 1, {}, {base});
    k.b.exit();
    check_everywhere(k.program);
  }
}

TEST_CASE("atomics translate, or are refused with a reason") {
  size_t refused = 0, accepted = 0;
  for (const Space space : {Space::global, Space::shared, Space::generic}) {
    for (int op = 0; op <= static_cast<int>(AtomOp::wrap); ++op) {
      for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64, Type::f32, Type::f64}) {
        const auto atom = static_cast<AtomOp>(op);
        const bool logic = atom >= AtomOp::and_ && atom <= AtomOp::xor_;
        const bool counter = atom == AtomOp::inc || atom == AtomOp::dec || atom == AtomOp::exch ||
                             atom == AtomOp::cas || atom > AtomOp::fcas;
        if (ir::is_float(type) && (logic || counter)) continue;
        if (!ir::is_float(type) && atom == AtomOp::fcas) continue;
        Kernel k;
        k.program.shared_bytes = 256;
        const bool wide_value = ir::size_of(type) == 8;
        const ir::Reg base = k.param64(0);
        const ir::Reg old = k.b.reg(wide_value ? Width::b64 : Width::b32);
        const ir::Operand address =
            space == Space::shared ? ir::Operand(k.sreg(ir::SReg::tid_x)) : ir::Operand(base);
        std::vector<ir::Operand> sources{address, ir::imm(3)};
        if (ir::takes_two(atom)) sources.push_back(ir::imm(4));
        for (const bool wants_old : {true, false}) {
          ir::Inst& inst =
              k.memory(Op::atom, space, wide_value ? Type::u64 : Type::u32, 1,
                       wants_old ? std::vector<ir::Reg>{old} : std::vector<ir::Reg>{}, sources);
          inst.mem->atom = atom;
          inst.mem->atom_type = type;
          inst.mem->order = ir::Order::relaxed;
        }
        k.b.exit();
        for (const auto& [tier, target] : all_tiers()) {
          CAPTURE(tier);
          CAPTURE(ir::name(space));
          CAPTURE(ir::name(atom));
          CAPTURE(ir::name(type));
          try {
            const std::string message = verdict(k.program, block_of(64), target);
            CHECK(message == "");
            ++accepted;
          } catch (const Error& error) {
            CHECK(std::string(error.what()).find("line 7") != std::string::npos);
            CHECK((ir::is_float(type) && atom == AtomOp::rsub));
            ++refused;
          }
        }
      }
    }
  }
  MESSAGE("atomics accepted " << accepted << ", refused " << refused);
  CHECK(accepted > refused);
}

TEST_CASE("shared memory beyond the device's limit goes to the backing buffer") {
  Kernel k;
  k.program.shared_bytes = 20000;
  copy_elements(k, Space::shared, Type::u32, 1, 0, ir::AlignRule::trap, false);
  k.b.exit();
  spirv::Options options = block_of(64);
  const spirv::Module small = spirv::translate(k.program, options, tier1());
  CHECK(small.backing_bytes == 0);
  options.dynamic_shared = 30000;
  const spirv::Module large = spirv::translate(k.program, options, tier1());
  CHECK(large.backing_bytes == 50000);
  CHECK(spirv::validate(large.words) == "");
}
