// A stretch of code in two versions: one question decides whether its accesses need their checks.
#include <doctest/doctest.h>

#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Space;
using ir::Type;

namespace {

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
  spirv::Options options = block_of(32);
  options.memcheck = memcheck;
  const spirv::Module module = spirv::translate(k.program, options, target);
  CHECK(spirv::validate(module.words) == "");
  const std::string text = spirv::disassemble(module.words);
  size_t n = 0;
  for (size_t at = text.find("GroupNonUniformAny "); at != std::string::npos;
       at = text.find("GroupNonUniformAny ", at + 1))
    ++n;
  return n;
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
