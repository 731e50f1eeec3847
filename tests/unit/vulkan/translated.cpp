// The whole path from IR to results on every software device, with the real translator.
#include <doctest/doctest.h>

#include "runtime/ir/builder.hpp"
#include "runtime/spirv/translate.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using guest::kArenaBase;
using ir::Op;
using ir::Operand;
using ir::Type;
using ir::Width;

namespace {

constexpr uint64_t kOut = kArenaBase + 4096;

ir::Program named(const char* name) {
  ir::Program program;
  program.name = name;
  program.sites.resize(4);
  return program;
}

ir::Reg special(ir::Builder& b, ir::SReg which) {
  const ir::Reg r = b.reg(Width::b32);
  b.emit(Op::sreg, Type::u32, {r}, {}).mode = static_cast<uint8_t>(which);
  return r;
}

void store(ir::Builder& b, Operand address, Operand value) {
  ir::Inst& inst = b.emit(Op::store, Type::none, {}, {address, value});
  inst.mem.emplace();
  inst.site = 1;
}

/// out[group * lanes + lane] = that number, plus `add`.
ir::Program ids(uint32_t lanes, uint32_t add) {
  ir::Program program = named("ids");
  ir::Builder b(program);
  b.set_block(b.add_block("entry"));
  const ir::Reg group = special(b, ir::SReg::ctaid_x), lane = special(b, ir::SReg::tid_x);
  const ir::Reg first = b.make(Op::mul, Type::u32, {group, ir::imm(lanes)});
  const ir::Reg id = b.make(Op::add, Type::u32, {first, lane});
  const ir::Reg offset = b.make(Op::mulwide, Type::u32, {id, ir::imm(4)});
  program.regs[offset.id].width = Width::b64;
  const ir::Reg address = b.make(Op::add, Type::u64, {offset, ir::imm(kOut)});
  store(b, address, b.make(Op::add, Type::u32, {id, ir::imm(add)}));
  b.exit();
  return program;
}

/// Never ends but for its step budget.
ir::Program endless() {
  ir::Program program = named("endless");
  ir::Builder b(program);
  const uint32_t entry = b.add_block("entry"), loop = b.add_block("loop");
  b.set_block(entry);
  b.jump(loop);
  b.set_block(loop);
  b.set_site(2);
  store(b, ir::imm(kOut), ir::imm(1));
  b.jump(loop);
  return program;
}

LaunchRequest request_for(const ir::Program& program, uint32_t groups, uint32_t lanes) {
  LaunchRequest request;
  request.program = &program;
  request.grid = {groups, 1, 1};
  request.block = {lanes, 1, 1};
  request.param_address = kArenaBase;
  return request;
}

std::unique_ptr<Engine> open(const SoftwareDriver& driver, const std::string& cache = "off") {
  return vulkan::make_engine(driver.part, checked_options(cache));
}

}  // namespace

TEST_CASE("translated kernels: many groups and the largest blocks") {
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = open(driver);
    struct Shape {
      uint32_t groups, lanes;
    };
    for (const Shape shape : {Shape{70001, 1}, Shape{9, 1024}, Shape{100, 33}}) {
      CAPTURE(shape.lanes);
      const uint32_t count = shape.groups * shape.lanes;
      engine->reserve(8192 + uint64_t{count} * 4);
      const ir::Program program = ids(shape.lanes, shape.lanes);
      const LaunchResult result = engine->launch(request_for(program, shape.groups, shape.lanes));
      CHECK(result.fault_count == 0);
      const auto words = read_words(*engine, kOut - kArenaBase, count);
      uint32_t wrong = 0;
      for (uint32_t i = 0; i < count; ++i) wrong += words[i] != i + shape.lanes ? 1 : 0;
      CHECK(wrong == 0);
    }
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("translated kernels: stores past the arena are faults of their lanes") {
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = open(driver);
    engine->reserve(4096 + 60 * 4);
    const ir::Program program = ids(64, 0);
    const LaunchResult result = engine->launch(request_for(program, 1, 64));
    REQUIRE(result.fault_count == 4);
    for (uint32_t i = 0; i < 4; ++i) {
      CHECK(result.faults[i].kind == FaultKind::out_of_range);
      CHECK(result.faults[i].lane == 60 + i);
      CHECK(result.faults[i].address == kOut + 4 * (60 + i));
      CHECK(result.faults[i].size == 4);
      CHECK(result.faults[i].site == 1);
    }
    CHECK(read_words(*engine, 4096 + 59 * 4, 1)[0] == 59);
  }
}

TEST_CASE("translated kernels: an endless loop ends with its step budget or its time") {
  const ir::Program program = endless();
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    const auto engine = open(driver);
    engine->reserve(8192);
    LaunchRequest request = request_for(program, 1, 32);
    request.step_budget = 1000;
    const LaunchResult result = engine->launch(request);
    REQUIRE(result.fault_count >= 1);
    CHECK(result.faults[0].kind == FaultKind::step_budget);
    // A driver that cuts loops ends this one before any clock does.
    if (vulkan::target_of(*engine)->quirks.cuts_loops) continue;
    request.step_budget = uint64_t{1} << 40;
    request.timeout_seconds = 0.5;
    CHECK(error_of([&] { engine->launch(request); }).kind() == ErrorKind::budget);
  }
}

TEST_CASE("a translation is found again on disk") {
  const std::string cache = scratch_directory("translations");
  const ir::Program program = ids(32, 5);
  for (const auto& driver : installed_drivers()) {
    CAPTURE(driver.label);
    for (int round = 0; round < 2; ++round) {
      int translated = 0;
      const auto engine = vulkan::make_engine_with(
          driver.part, checked_options(cache),
          [&](const ir::Program& p, const spirv::Options& o, const spirv::Target& t) {
            ++translated;
            return spirv::translate(p, o, t);
          });
      engine->reserve(16384);
      engine->launch(request_for(program, 2, 32));
      engine->launch(request_for(program, 3, 32));
      CHECK(translated == (round == 0 ? 1 : 0));
      CHECK(read_words(*engine, 4096, 96)[95] == 100);
    }
  }
}
