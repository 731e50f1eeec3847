// Every pure operation with every type it takes, on every tier: the module is valid SPIR-V.
#include <doctest/doctest.h>

#include <bit>

#include "runtime/ir/dot.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Type;
using ir::Width;

namespace {

Width width_for(char letter, Type type, Type from) {
  switch (letter) {
    case 'p':
      return Width::pred;
    case 'w':
      return Width::b32;
    case 'd':
      return Width::b64;
    case 'F':
      return ir::width_of(from);
    default:
      return ir::width_of(type);
  }
}

/// One instruction whose operands come from memory and whose results go there.
Kernel kernel_with(Op op, Type type, Type from, const ir::Guard& guard, bool guarded) {
  Kernel k;
  const ir::Reg base = k.param64(0);
  const auto load = [&](Width width) {
    if (width == Width::pred) {
      const ir::Reg word = k.b.reg(Width::b32);
      k.memory(Op::load, ir::Space::global, Type::u32, 1, {word}, {base});
      return k.compare(ir::Cond::ne, word, ir::imm(0));
    }
    const ir::Reg r = k.b.reg(width);
    k.memory(Op::load, ir::Space::global, width == Width::b64 ? Type::u64 : Type::u32, 1, {r},
             {base});
    return r;
  };
  const std::string_view signature = ir::info(op).signature;
  const size_t colon = signature.find(':');
  std::vector<ir::Operand> sources;
  for (char c : signature.substr(colon + 1)) sources.emplace_back(load(width_for(c, type, from)));
  std::vector<ir::Reg> results;
  for (char c : signature.substr(0, colon)) {
    results.push_back(load(width_for(c, type, from)));
  }
  ir::Guard used = guard;
  if (guarded) used.reg = load(Width::pred);
  k.b.set_guard(used);
  ir::Inst& inst = k.b.emit(op, type, results, sources);
  inst.from = from;
  inst.mode = op == Op::lop3 ? 0xca : 0;
  if (op == Op::buffer_address) inst.buffer.emplace();
  k.b.set_guard({});
  for (ir::Reg r : results) {
    ir::Operand value = r;
    const Width width = k.program.regs[r.id].width;
    if (width == Width::pred) value = k.b.make(Op::select, Type::u32, {r, ir::imm(1), ir::imm(0)});
    k.memory(Op::store, ir::Space::global, width == Width::b64 ? Type::u64 : Type::u32, 1, {},
             {base, value});
  }
  k.b.exit();
  return k;
}

std::vector<Type> types_of(Op op) {
  switch (op) {
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
      return {Type::pred, Type::u32, Type::s32, Type::u64, Type::s64};
    case Op::mov:
    case Op::select:
      return {Type::pred, Type::u32, Type::u64, Type::f32, Type::f64};
    case Op::mulwide:
      return {Type::u32, Type::s32};
    case Op::f2i:
      return {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
    case Op::frsqrt_approx:
    case Op::fex2_approx:
    case Op::flg2_approx:
    case Op::fsin_approx:
    case Op::fcos_approx:
    case Op::ftanh_approx:
    case Op::fdiv_approx:
    case Op::frcp_approx:
    case Op::fsqrt_approx:
      return {Type::f32};
    case Op::i2f:
    case Op::f2f:
      return {Type::f16, Type::f32, Type::f64};
    default:
      break;
  }
  if (op >= Op::fadd && op <= Op::fround) return {Type::f16, Type::f32, Type::f64};
  if (std::string_view(ir::info(op).signature).find('T') == std::string_view::npos)
    return {Type::u32};
  return {Type::u32, Type::s32, Type::u64, Type::s64};
}
std::vector<Type> sources_of(Op op) {
  if (op == Op::i2f) return {Type::u32, Type::s32, Type::u64, Type::s64};
  if (op == Op::f2i || op == Op::f2f) return {Type::f16, Type::f32, Type::f64};
  return {Type::none};
}
bool about_doubles(Type type, Type from) {
  return type == Type::f64 || from == Type::f64;
}

}  // namespace

TEST_CASE("every pure operation translates to valid SPIR-V") {
  for (int number = 0; ir::info(static_cast<Op>(number)).trait != ir::OpTrait::mem; ++number) {
    const Op op = static_cast<Op>(number);
    if (op == Op::sreg) continue;
    for (const Type type : types_of(op)) {
      for (const Type from : sources_of(op)) {
        if (op == Op::f2f && type == from) continue;
        for (const auto& [tier, target] : all_tiers()) {
          for (const bool guarded : {false, true}) {
            if (guarded && tier != "T1") continue;
            CAPTURE(ir::info(op).name);
            CAPTURE(ir::name(type));
            CAPTURE(ir::name(from));
            CAPTURE(tier);
            CAPTURE(guarded);
            const Kernel k = kernel_with(op, type, from, {}, guarded);
            try {
              const std::string message = verdict(k.program, block_of(64), target);
              CHECK(message == "");
            } catch (const Error& error) {
              // Only arithmetic in double precision may be refused, and only without the feature.
              CAPTURE(error.what());
              CHECK(about_doubles(type, from));
              CHECK_FALSE(target.float64);
              CHECK(std::string(error.what()).find("line 7") != std::string::npos);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("buffer addresses translate for every descriptor form") {
  for (const auto gen :
       {ir::BufferAccess::Gen::gfx6, ir::BufferAccess::Gen::gfx7, ir::BufferAccess::Gen::gfx8}) {
    for (int form = 0; form < 8; ++form) {
      Kernel k = kernel_with(Op::buffer_address, Type::none, Type::none, {}, false);
      for (ir::Inst& inst : k.program.blocks[0].insts) {
        if (inst.op != Op::buffer_address) continue;
        inst.buffer->gen = gen;
        inst.buffer->idxen = (form & 1) != 0;
        inst.buffer->offen = (form & 2) != 0;
        inst.buffer->addr64 = (form & 4) != 0;
      }
      for (const auto& [tier, target] : all_tiers()) {
        CAPTURE(tier);
        CHECK(verdict(k.program, block_of(64), target) == "");
      }
    }
  }
}

TEST_CASE("every special register translates") {
  Kernel k;
  const ir::Reg base = k.param64(0);
  for (int i = 0; i <= static_cast<int>(ir::SReg::local_window); ++i) {
    const ir::Reg value = k.sreg(static_cast<ir::SReg>(i));
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {base, value});
  }
  k.b.exit();
  for (const auto& [tier, target] : all_tiers()) {
    CAPTURE(tier);
    CHECK(verdict(k.program, block_of(8, 4, 2), target) == "");
  }
}

TEST_CASE("cross-lane instructions that the group reaches together need no packing") {
  Kernel k;
  const ir::Reg p = k.compare(ir::Cond::eq, ir::imm(1), ir::imm(1));
  k.b.emit(Op::vote_any, Type::pred, {k.b.reg(Width::pred)}, {p, ir::imm(0xffffffff)});
  k.b.exit();
  spirv::Options options = block_of(64);
  for (const auto& [tier, target] : all_tiers()) {
    CAPTURE(tier);
    for (const WaveMode mode : {WaveMode::automatic, WaveMode::lane, WaveMode::serial}) {
      options.wave = mode;
      CHECK(verdict(k.program, options, target) == "");
      const spirv::Module module = spirv::translate(k.program, options, target);
      CHECK(module.wave_mode == (mode == WaveMode::serial ? "serial" : "lane"));
      CHECK((module.wave_reason == "asked for") == (mode != WaveMode::automatic));
    }
  }
}

TEST_CASE("others are serial, and refused in lane mode with their place") {
  Kernel k;
  const ir::Reg p = k.compare(ir::Cond::lt, k.sreg(ir::SReg::laneid), ir::imm(5));
  k.b.set_guard({p, false});
  k.b.emit(Op::vote_any, Type::pred, {k.b.reg(Width::pred)}, {p, ir::imm(0xffffffff)});
  k.b.set_guard({});
  k.b.exit();
  spirv::Options options = block_of(64);
  for (const auto& [tier, target] : all_tiers()) {
    CAPTURE(tier);
    CHECK(verdict(k.program, options, target) == "");
    CHECK(spirv::translate(k.program, options, target).wave_mode == "serial");
  }
  options.wave = WaveMode::lane;
  std::string message;
  try {
    (void)spirv::translate(k.program, options, tier1());
  } catch (const Error& error) {
    message = error.what();
    CHECK(error.kind() == ErrorKind::guest);
  }
  CHECK(message ==
        "cross-lane instruction 'the guest's own words;' (line 7) cannot run in lane mode, as not "
        "all lanes of the block are known to reach it together; use --wave auto, packed or serial");
}

TEST_CASE("sums of matrix instructions keep subnormals beside operations that flush them") {
  for (const ir::Accumulate how : {ir::Accumulate::fma, ir::Accumulate::ampere})
    for (const bool sums : {false, true}) {
      CAPTURE(sums);
      Kernel k;
      const ir::Reg base = k.param64(0), x = k.sreg(ir::SReg::tid_x);
      ir::Operand value = k.b.reg(Width::b32);
      k.b.emit(Op::fadd, Type::f32, {value.reg()}, {x, x}).ftz = true;
      if (sums) {
        ir::DotRule rule = ir::rule_of(how, ir::Element::f16);
        std::vector<ir::Operand> src{value, ir::imm(ir::dot_word(rule))};
        src.resize(2 + 2 * ir::kDotWords, x);
        value = k.b.make(Op::dot, Type::f32, src);
      }
      k.memory(Op::store, ir::Space::global, Type::f32, 1, {}, {base, value});
      k.b.exit();
      spirv::Target target = tier2();
      target.native_convert = target.flush_mode = true;
      target.flushing = {.add = true, .fma = true, .compare = true, .convert = true};
      target.subgroup_size = 64;
      const std::string text =
          spirv::disassemble(spirv::translate(k.program, block_of(64), target).words);
      CHECK((text.find("DenormFlushToZero 32") != std::string::npos) == !sums);
    }
}

TEST_CASE("fma of a direction asks nothing where its addend is surely the larger part") {
  spirv::Target target = tier2();
  target.wave_operations = true;
  // nvcc's exp: a number from 0 to 1, times 252, plus 3 * 2^22 + 1, down.
  const auto questions = [&](bool from_0_to_1, float factor) {
    Kernel k;
    k.program.param_bytes = 16;
    const ir::Reg base = k.param64(0), x = k.b.reg(Width::b32), small = k.b.reg(Width::b32),
                  sum = k.b.reg(Width::b32);
    k.memory(Op::load, ir::Space::global, Type::u32, 1, {x}, {base});
    k.b.emit(Op::ffma, Type::f32, {small}, {x, x, ir::imm(0x3f000000)}).sat = from_0_to_1;
    const uint32_t bits = std::bit_cast<uint32_t>(factor);
    k.b.emit(Op::ffma, Type::f32, {sum}, {small, ir::imm(bits), ir::imm(0x4b400001)}).round =
        ir::Round::rm;
    k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {base, sum});
    k.b.exit();
    spirv::Options options = block_of(32);
    options.memcheck = Memcheck::off;
    const spirv::Module module = spirv::translate(k.program, options, target);
    CHECK(spirv::validate(module.words) == "");
    const std::string text = spirv::disassemble(module.words);
    size_t n = 0;
    for (size_t at = text.find("GroupNonUniformAny "); at != std::string::npos;
         at = text.find("GroupNonUniformAny ", at + 1))
      ++n;
    return n;
  };
  const size_t asked = questions(false, 252);
  CHECK(asked > 0);
  CHECK(questions(true, 252) == asked - 1);
  CHECK(questions(true, 0.5F) == asked);  // a product may be too small to be seen
  CHECK(questions(true, 8e6F) == asked);  // or as large as the addend
}
