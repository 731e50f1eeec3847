// A stretch of code in two versions: one question decides whether its accesses need their checks.
#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/spirv/lane/row_uses.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Space;
using ir::Type;

namespace {

size_t count(const std::string& text, const char* what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string translated(const Kernel& k, const spirv::Target& target, Memcheck memcheck) {
  spirv::Options options = block_of(32);
  options.memcheck = memcheck;
  const spirv::Module module = spirv::translate(k.program, options, target);
  CHECK(spirv::validate(module.words) == "");
  return spirv::disassemble(module.words);
}

/// Questions in the module of two loads and a store at distances from one address.
size_t questions(const spirv::Target& target, Memcheck memcheck) {
  Kernel k;
  k.program.param_bytes = 16;
  const ir::Reg address = k.param64(0);
  const ir::Reg a = k.b.reg(ir::Width::b32), b = k.b.reg(ir::Width::b32);
  k.memory(Op::load, Space::global, Type::u32, 1, {a}, {address});
  k.memory(Op::load, Space::global, Type::u32, 1, {b}, {address}).mem->offset = 8;
  k.memory(Op::store, Space::global, Type::u32, 1, {}, {address, a}).mem->offset = 4;
  k.memory(Op::store, Space::global, Type::u32, 1, {}, {address, b});
  k.b.exit();
  return count(translated(k, target, memcheck), "GroupNonUniformAny ");
}

}  // namespace

TEST_CASE("one question for all accesses of a stretch, none where both sides of branches run") {
  spirv::Target target = tier1();
  target.wave_operations = true;
  const size_t reports = questions(target, Memcheck::off);
  CHECK(questions(target, Memcheck::arena) == reports + 1);
  target.quirks.runs_both_sides = true;
  CHECK(questions(target, Memcheck::arena) == 0);
}

TEST_CASE("addresses of which nothing is known are compared once, the farthest of them") {
  spirv::Target target = tier1();
  target.wave_operations = true;
  // A full check compares each; the question in front of them all together.
  const auto compares = [&](size_t addresses) {
    Kernel k;
    k.program.param_bytes = 16;
    const ir::Reg table = k.param64(0);
    std::vector<ir::Reg> found;
    for (size_t i = 0; i < addresses; ++i) {
      found.push_back(k.b.reg(ir::Width::b64));
      k.memory(Op::load, Space::global, Type::u64, 1, {found[i]}, {table}).mem->offset = 8 * i;
    }
    for (const ir::Reg address : found) {
      const ir::Reg word = k.b.reg(ir::Width::b32);
      k.memory(Op::load, Space::global, Type::u32, 1, {word}, {address});
    }
    k.b.exit();
    return count(translated(k, target, Memcheck::arena), "UGreaterThanEqual ");
  };
  // Of two more addresses and where they are loaded from, four in full.
  CHECK(compares(3) == compares(1) + 4);
}

TEST_CASE("what a block does with one address is one stretch") {
  constexpr uint32_t kAddress = 0, kPredicate = 1;
  ir::Block block;
  const auto check = [&](int64_t offset, Type elem, ir::Operand happens) {
    ir::Inst& inst = block.insts.emplace_back();
    inst.op = Op::check;
    inst.src = {ir::Reg{kAddress}, happens};
    inst.mem.emplace();
    inst.mem->elem = elem;
    inst.mem->offset = offset;
  };
  const ir::Operand always = ir::Operand::immediate(1);
  check(-8, Type::u32, always);
  check(4, Type::u32, always);
  check(0, Type::u64, always);                // aligned by more: another question
  check(2, Type::u32, always);                // never aligned where the others are
  check(12, Type::u32, ir::Reg{kPredicate});  // may not happen
  ir::Inst& moved = block.insts.emplace_back();
  moved.op = Op::add;
  moved.dst = {ir::Reg{kAddress}};
  check(0, Type::u32, always);  // of the next address
  check(-4, Type::u32, always);
  const std::vector<uint32_t> live;
  const spirv::RowUses uses(block, live);
  const auto is = [&](size_t n, int64_t least, int64_t end) {
    const spirv::RowUses::Stretch* found = uses.stretch_of(n);
    return found != nullptr && found->least == least && found->end == end;
  };
  CHECK(is(0, -8, 8));
  CHECK(is(1, -8, 8));
  CHECK(is(2, 0, 8));
  CHECK(is(3, 2, 6));
  CHECK(uses.stretch_of(4) == nullptr);
  CHECK(is(6, -4, 4));
  CHECK(is(7, -4, 4));
}

TEST_CASE("how far memory reaches behind a parameter is what the host has laid down") {
  Kernel k;
  k.program.param_bytes = 16;
  const ir::Reg address = k.param64(8), a = k.b.reg(ir::Width::b32);
  k.memory(Op::load, Space::global, Type::u32, 1, {a}, {address});
  k.memory(Op::store, Space::global, Type::u32, 1, {}, {address, a});
  k.b.exit();
  spirv::Target target = tier1();
  target.wave_operations = true;
  spirv::Options options = block_of(32);
  ir::Program program = k.program;
  const ir::PointerParams found = spirv::find_pointers(program, options, target);
  CHECK(found.through == std::vector<uint32_t>{8});
  CHECK(found.alignments == std::vector<uint32_t>{4});
  CHECK(program.blocks[0].insts[1].mem->pointer == ir::kNone);  // what is refused is the arena's
  target.quirks.runs_both_sides = true;
  CHECK(spirv::find_pointers(program, options, target).through.empty());

  std::array<uint64_t, 2> params = {0, guest::kArenaBase + 0x104};
  const auto bounds = [&] {
    return guest::arena_bounds(found, std::as_bytes(std::span(params)), 0x1000, 0x800).at(0);
  };
  CHECK(bounds().aligned);
  CHECK(bounds().allows(guest::kArenaBase + 0xffc, 4, false));
  CHECK_FALSE(bounds().allows(guest::kArenaBase + 0xffd, 4, false));
  CHECK_FALSE(bounds().allows(guest::kArenaBase + 0x7fd, 4, true));
  // What a descriptor has above the address is part of what kernels add to.
  params[1] |= uint64_t{1} << 52;
  CHECK(bounds().pointer == params[1]);
  params[1] += 2;
  CHECK_FALSE(bounds().aligned);
}

TEST_CASE("addresses that come from nowhere are asked about, too") {
  const auto questions_of = [](Space space, Memcheck memcheck) {
    Kernel k;
    k.program.param_bytes = 16;
    k.program.shared_bytes = 64;
    const ir::Reg pointer = k.param64(0);
    const ir::Reg address = k.b.reg(ir::Width::b64), a = k.b.reg(ir::Width::b32);
    k.memory(Op::load, Space::global, Type::u64, 1, {address}, {pointer});
    k.memory(Op::load, space, Type::u32, 1, {a}, {address});
    k.memory(Op::store, space, Type::u32, 1, {}, {address, a}).mem->offset = 4;
    k.b.exit();
    spirv::Target target = tier1();
    target.wave_operations = true;
    return count(translated(k, target, memcheck), "GroupNonUniformAny ");
  };
  const size_t plain = questions_of(Space::global, Memcheck::arena);
  CHECK(plain >= 3);  // of the pointer, and of where it leads; and one about reports
  CHECK(questions_of(Space::generic, Memcheck::arena) == plain);
  CHECK(questions_of(Space::global, Memcheck::alloc) == plain);
  CHECK(questions_of(Space::generic, Memcheck::alloc) == plain);
}

TEST_CASE(
    "one index of 64 bits is compared once, however it is scaled and whatever it is added to") {
  Kernel k;
  k.program.param_bytes = 32;
  const ir::Reg n = k.param64(24), index = k.b.reg(ir::Width::b64);
  const std::array<ir::Reg, 3> pointers = {k.param64(0), k.param64(8), k.param64(16)};
  k.b.emit(Op::mul, Type::u64, {index}, {n, n});
  for (uint32_t i = 0; i < 3; ++i) {
    const ir::Reg a = k.b.reg(ir::Width::b32);
    const ir::Reg scaled = k.b.reg(ir::Width::b64), address = k.b.reg(ir::Width::b64);
    k.b.emit(Op::shl, Type::u64, {scaled}, {index, ir::Operand::immediate(i)});
    k.b.emit(Op::add, Type::u64, {address}, {pointers.at(i), scaled});
    const Type type = i == 0 ? Type::u8 : i == 1 ? Type::u16 : Type::u32;
    k.memory(Op::load, Space::global, type, 1, {a}, {address});
  }
  k.b.exit();
  spirv::Target target = tier1();
  target.wave_operations = true;
  const auto compares = [&] {
    return count(translated(k, target, Memcheck::arena), "OpUGreaterThanEqual ");
  };
  const size_t both = compares();
  target.quirks.runs_both_sides = true;
  CHECK(both == compares() + 1);
}

TEST_CASE("the base of a GCN descriptor is a pointer as any other") {
  const auto compares = [](uint64_t mask, bool versions) {
    Kernel k;
    k.program.param_bytes = 16;
    const ir::Reg index = k.b.reg(ir::Width::b32), a = k.b.reg(ir::Width::b32);
    const ir::Reg low = k.b.reg(ir::Width::b32), high = k.b.reg(ir::Width::b32);
    for (const auto& [reg, at] : {std::pair{low, 0U}, {high, 4U}, {index, 8U}})
      k.memory(Op::load, Space::param, Type::u32, 1, {reg}, {ir::Operand::immediate(at)});
    k.b.emit(Op::mul, Type::u32, {index}, {index, index});
    k.b.emit(Op::and_, Type::u32, {high}, {high, ir::Operand::immediate(0xffff)});
    const ir::Reg base = k.b.reg(ir::Width::b64), at = k.b.reg(ir::Width::b64);
    k.b.emit(Op::pack64, Type::u64, {base}, {low, high});
    k.b.emit(Op::zext64, Type::u64, {at}, {index});
    k.b.emit(Op::shl, Type::u64, {at}, {at, ir::Operand::immediate(2)});
    k.b.emit(Op::add, Type::u64, {at}, {base, at});
    k.b.emit(Op::and_, Type::u64, {at}, {at, ir::Operand::immediate(mask)});
    k.memory(Op::load, Space::global, Type::u32, 1, {a}, {at}).mem->align = ir::AlignRule::force;
    k.b.exit();
    spirv::Target target = tier1();
    target.wave_operations = true;
    target.quirks.runs_both_sides = !versions;
    return count(translated(k, target, Memcheck::arena), "OpUGreaterThanEqual ");
  };
  constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;
  CHECK(compares(kAddress, true) == compares(kAddress, false) + 1);
  // A mask that may change an address near memory hides what it is made of, but not that it is one.
  CHECK(compares(kAddress >> 20, true) == compares(kAddress >> 20, false) + 1);
}

TEST_CASE(
    "where one row of checks alone can find a fault it reports, and lanes do not ask at their "
    "end") {
  enum class Also { nothing, a_row, a_trap, an_assertion, a_loop };
  const auto text_of = [](Also also) {
    Kernel k(also == Also::a_loop ? 3 : 1);
    k.program.param_bytes = 16;
    const ir::Reg address = k.param64(0);
    const ir::Reg a = k.b.reg(ir::Width::b32), b = k.b.reg(ir::Width::b64);
    k.memory(Op::load, Space::global, Type::u32, 1, {a}, {address});
    k.memory(Op::load, Space::global, Type::u64, 1, {b}, {address}).mem->offset = 8;
    k.memory(Op::store, Space::global, Type::u32, 1, {}, {address, a}).mem->offset = 4;
    if (also == Also::a_row) k.memory(Op::store, Space::global, Type::u32, 1, {}, {b, a});
    if (also == Also::a_trap || also == Also::an_assertion) {
      k.b.set_guard({k.compare(ir::Cond::lt, a, ir::imm(7)), false});
      const Op op = also == Also::a_trap ? Op::trap : Op::report;
      k.b.emit(op, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
      k.b.set_guard({});
    }
    if (also == Also::a_loop) {
      k.b.jump(1);
      k.b.set_block(1);
      k.b.emit(Op::add, Type::u32, {a}, {a, a});
      k.b.branch({k.compare(ir::Cond::lt, a, ir::imm(7)), false}, 1, 2);
      k.b.set_block(2);
    }
    k.b.exit();
    spirv::Target target = tier1();
    target.wave_operations = true;
    target.quirks.cuts_loops = false;
    return translated(k, target, Memcheck::arena);
  };
  const auto asked = [](const std::string& text) { return count(text, "GroupNonUniformAny "); };
  const auto reported = [](const std::string& text) {
    return count(text, "OpStore %fault_point %uint_4294967295");
  };
  const std::string one = text_of(Also::nothing);
  CHECK(asked(one) == 1);  // whether any access of the row may be refused
  CHECK(reported(one) == 1);
  for (const Also also : {Also::a_row, Also::a_trap, Also::an_assertion, Also::a_loop}) {
    const std::string text = text_of(also);
    CAPTURE(static_cast<int>(also));
    // The lanes of a loop ask in front of it, and when these are used up, whether all have steps.
    const bool steps = also == Also::a_loop;
    // Behind a row of several checks all of them are kept by one branch.
    CHECK(asked(text) == (also == Also::a_row ? 4 : steps ? 5 : 3));
    CHECK((count(text, "OpStore %steps_ahead") != 0) == steps);
    CHECK(reported(text) == 0);
  }
}

TEST_CASE("what no path has written is known behind branches and loops") {
  const auto loads = [](const std::string& between) {
    const std::string text =
        "program \"k\" ptx wave 32\nmemory param 16 shared 0 local 0\n"
        "param \"a\" u64 offset 0 size 8 align 8 pointer\n"
        "reg r0 b32\nreg d1 b64\nreg d2 b64\nreg p3 pred\nreg r4 b32\nblock b0\n"
        "  r0 = sreg.u32.tid_x\n  d1 = load.u64 0 {param u64}\n  d2 = zext64 r0\n"
        "  d2 = shl.u64 d2, 2\n  d2 = add.u64 d1, d2\n  r4 = mov.u32 r0\n" +
        between + "  store d2, r0 {global u32}\n  exit\n";
    Kernel k;
    k.program = ir::parse_program(text);
    spirv::Target target = tier1();
    target.wave_operations = true;
    return count(translated(k, target, Memcheck::arena), "= OpLoad %ulong ");
  };
  const std::string count_down =
      "  r4 = sub.u32 r4, 1\n  p3 = icmp.u32.ne r4, 0\n  branch @p3 b1 b2\nblock b2\n";
  const std::string branch = "  p3 = icmp.u32.lt r0, 9\n  branch @p3 b1 b2\nblock b1\n";
  CHECK(loads("  jump b1\nblock b1\n") == 0);
  CHECK(loads("  jump b1\nblock b1\n" + count_down) == 0);
  CHECK(loads(branch + "  store d1, r0 {global u32}\n  jump b2\nblock b2\n") == 0);
  CHECK(loads(branch + "  d2 = add.u64 d2, 4\n  jump b2\nblock b2\n") > 0);
  CHECK(loads("  jump b1\nblock b1\n  d2 = add.u64 d2, 4\n" + count_down) > 0);
}
