// Cross-lane operations: each one in every situation that lanes of a wave can be in, on every
// engine. The reference engine decides. A program holds several operations: most of what a driver
// compiles for it is there once, however many there are.
#include "tests/differential/engines.hpp"

namespace waves {

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Reg;
using ir::ShflMode;
using ir::Type;
using ir::Width;

namespace {

enum class Place : uint8_t { all, half, both_sides, loop, late, waves };
const std::vector<std::string> kPlaces = {"all lanes",           "half of the lanes",
                                          "both sides of an if", "divergent loop",
                                          "after lanes ended",   "waves apart"};
constexpr uint32_t kPlaceCount = 6;
constexpr size_t kCasesOfOneProgram = 5;

/// One cross-lane operation on `value`; its results end up in two words.
struct Case {
  const char* name;
  Op op;
  Type type = Type::none;
  uint8_t mode = 0;
  uint32_t b = 0, c = 0x1f;
  uint32_t members = 0xffffffff;
  ir::AtomOp atom = ir::AtomOp::add;
};
uint8_t mode_of(ShflMode m) {
  return static_cast<uint8_t>(m);
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      {"ballot", Op::ballot},
      {"vote_any", Op::vote_any},
      {"vote_all", Op::vote_all},
      {"vote_uni", Op::vote_uni},
      {"vote_ballot", Op::vote_ballot},
      {"shfl up", Op::shfl, Type::none, mode_of(ShflMode::up), 3, 0},
      {"shfl down", Op::shfl, Type::none, mode_of(ShflMode::down), 5, 0x1f},
      {"shfl bfly", Op::shfl, Type::none, mode_of(ShflMode::bfly), 9, 0x1f},
      {"shfl idx", Op::shfl, Type::none, mode_of(ShflMode::idx), 6, 0x1f},
      {"shfl segment", Op::shfl, Type::none, mode_of(ShflMode::down), 2, 0x1807},
      {"match_any", Op::match_any, Type::u32},
      {"match_any 64", Op::match_any, Type::u64},
      {"match_all", Op::match_all, Type::u32},
      {"activemask", Op::activemask},
      {"elect", Op::elect},
      {"wave_sync", Op::wave_sync},
      {"readlane", Op::readlane, Type::none, 0, 11},
      {"readfirst", Op::readfirst},
      {"vote_ballot members", Op::vote_ballot, Type::none, 0, 0, 0, 0x00ffff0f},
  };
  using enum ir::AtomOp;
  for (const ir::AtomOp atom : {add, min, max, and_, or_, xor_})
    list.push_back({"redux", Op::redux, Type::s32, 0, 0, 0, 0xffffffff, atom});
  return list;
}

/// Each case in each place; a lane writes a word for each pair, cases of a place side by side.
class WaveKernel {
 public:
  WaveKernel(std::vector<Case> cases, uint32_t wave_lanes) : cases_(std::move(cases)) {
    k.program.param_bytes = 16;
    k.program.wave_lanes = wave_lanes;
    output_ = k.param64(8);
    const Reg tid = k.sreg(ir::SReg::linear_tid), group = k.sreg(ir::SReg::ctaid_x);
    const Reg size = k.sreg(ir::SReg::ntid_x);
    const Reg before = make(Op::mul, {group, size});
    index_ = make(Op::add, {before, tid});
    lane_ = k.sreg(ir::SReg::laneid);
    const Reg mixed = make(Op::mul, {index_, ir::imm(2654435761U)});
    value_ = make(Op::shr, {mixed, ir::imm(29)});
    result_ = k.b.reg(Width::b32);
    wave_ = k.sreg(ir::SReg::warpid);
  }

  ir::Program build() {
    put(Place::all, [&] { operation(); });
    const Reg odd = make(Op::and_, {lane_, ir::imm(1)});
    const Reg is_odd = k.compare(ir::Cond::ne, odd, ir::imm(0));
    put(Place::half, [&] {
      when(
          is_odd, [&] { operation(); }, [] {});
    });
    const Reg low = k.compare(ir::Cond::lt, lane_, ir::imm(13));
    put(Place::both_sides, [&] {
      when(
          low, [&] { operation(); }, [&] { operation(); });
    });
    put(Place::loop, [&] { loop(make(Op::and_, {lane_, ir::imm(3)})); });
    const Reg third = make(Op::rem, {wave_, ir::imm(3)});
    const Reg first = k.compare(ir::Cond::eq, third, ir::imm(0));
    put(Place::waves, [&] {
      when(
          first, [&] { loop(wave_); }, [&] { operation(); });
    });
    // The lanes with bit 1 go; the others meet once more.
    const Reg bit = make(Op::and_, {lane_, ir::imm(2)});
    const uint32_t gone = k.b.add_block(), rest = k.b.add_block();
    k.b.branch({k.compare(ir::Cond::ne, bit, ir::imm(0))}, gone, rest);
    k.b.set_block(gone);
    k.b.exit();
    k.b.set_block(rest);
    put(Place::late, [&] { operation(); });
    k.b.exit();
    return k.program;
  }

 private:
  Reg make(Op op, std::vector<ir::Operand> src) { return k.b.make(op, Type::u32, std::move(src)); }

  template <typename Then, typename Else>
  void when(Reg condition, Then then, Else otherwise) {
    const uint32_t yes = k.b.add_block(), no = k.b.add_block(), merge = k.b.add_block();
    k.b.branch({condition}, yes, no);
    k.b.set_block(yes);
    then();
    k.b.jump(merge);
    k.b.set_block(no);
    otherwise();
    k.b.jump(merge);
    k.b.set_block(merge);
  }

  /// The operation once, and as often again as `more` says.
  void loop(Reg more) {
    const Reg left = k.b.reg(Width::b32);
    k.move_into(left, more);
    const uint32_t head = k.b.add_block(), after = k.b.add_block();
    k.b.jump(head);
    k.b.set_block(head);
    operation();
    const Reg done = k.compare(ir::Cond::eq, left, ir::imm(0));
    k.b.emit(Op::sub, Type::u32, {left}, {left, ir::imm(1)});
    k.b.branch({done}, after, head);
    k.b.set_block(after);
  }

  /// The body with every case as its operation.
  template <typename Body>
  void put(Place place, Body body) {
    const auto count = static_cast<uint32_t>(cases_.size());
    for (uint32_t i = 0; i < count; ++i) {
      case_ = cases_[i];
      k.move_into(result_, ir::imm(0));
      body();
      const uint32_t slot = static_cast<uint32_t>(place) * count + i;
      const Reg base = make(Op::mul, {index_, ir::imm(uint64_t{count} * kPlaceCount)});
      const Reg at = make(Op::add, {base, ir::imm(slot)});
      k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(output_, at), result_});
    }
  }

  void mix(Reg word) {
    k.b.emit(Op::mul, Type::u32, {result_}, {result_, ir::imm(31)});
    k.b.emit(Op::add, Type::u32, {result_}, {result_, word});
  }

  void operation() {
    const std::string_view signature = ir::info(case_.op).signature;
    const std::string_view gives = signature.substr(0, signature.find(':'));
    const bool wide = ir::width_of(case_.type) == Width::b64;
    std::vector<Reg> dst;
    for (const char letter : gives) {
      dst.push_back(k.b.reg(letter == 'p' ? Width::pred : letter == 'd' ? Width::b64 : Width::b32));
    }
    std::vector<ir::Operand> src;
    const bool has_value =
        case_.op != Op::activemask && case_.op != Op::elect && case_.op != Op::wave_sync;
    if (has_value) {
      if (signature[gives.size() + 1] == 'p') {
        src.emplace_back(k.compare(ir::Cond::gt, value_, ir::imm(3)));
      } else {
        src.emplace_back(wide ? k.b.make(Op::pack64, Type::u64, {value_, value_}) : value_);
      }
    }
    if (case_.op == Op::shfl) src.insert(src.end(), {ir::imm(case_.b), ir::imm(case_.c)});
    if (case_.op == Op::readlane) src.push_back(ir::imm(case_.b));
    if (src.size() < signature.size() - gives.size() - 1) src.push_back(ir::imm(case_.members));
    ir::Inst& inst = k.b.emit(case_.op, case_.type, dst, src);
    inst.mode = case_.mode;
    if (case_.op == Op::redux) inst.mem.emplace().atom = case_.atom;
    for (const Reg r : dst) {
      const Width width = k.program.regs[r.id].width;
      if (width == Width::pred) {
        mix(k.b.make(Op::select, Type::u32, {r, ir::imm(1), ir::imm(0)}));
      } else if (width == Width::b64) {
        const Reg low = k.b.reg(Width::b32), high = k.b.reg(Width::b32);
        k.b.emit(Op::unpack64, Type::none, {low, high}, {r});
        mix(low);
        mix(high);
      } else {
        mix(r);
      }
    }
    if (dst.empty()) mix(value_);
  }

  Kernel k;
  std::vector<Case> cases_;
  Case case_;  ///< the one that operation() does
  Reg output_, index_, lane_, value_, result_, wave_;
};

void compare_cases(const std::vector<Case>& cases, uint32_t wave_lanes, uint32_t lanes,
                   WaveMode mode) {
  const ir::Program p = WaveKernel(cases, wave_lanes).build();
  std::vector<std::string> what;
  for (const std::string& place : kPlaces)
    for (const Case& c : cases) what.push_back(std::string(c.name) + ", " + place);
  CAPTURE(lanes);
  compare(p, {2, 1, 1}, {lanes, 1, 1}, {0}, size_t{2} * lanes * what.size(), what,
          [mode](LaunchRequest& request) { request.wave = mode; });
}

/// All of them, a few to a program.
void compare_all(const std::vector<Case>& cases, uint32_t wave_lanes, uint32_t lanes,
                 WaveMode mode = WaveMode::packed) {
  for (size_t i = 0; i < cases.size(); i += kCasesOfOneProgram) {
    const size_t end = std::min(cases.size(), i + kCasesOfOneProgram);
    compare_cases({&cases[i], &cases[i] + (end - i)}, wave_lanes, lanes, mode);
  }
}

template <typename Wanted>
std::vector<Case> cases_that(Wanted wanted) {
  std::vector<Case> list = cases();
  std::erase_if(list, [&](const Case& c) { return !wanted(c); });
  return list;
}

}  // namespace

/// Those whose member mask names all lanes: the others may wait for lanes that stand elsewhere.
bool can_stay_together(const Case& c) {
  return c.members == 0xffffffff;
}

TEST_CASE("waves: every operation in four waves, the last one partial") {
  compare_all(cases_that(can_stay_together), 32, 117);
  CHECK(validation_messages() == 0);
}

TEST_CASE("waves: narrower than a subgroup, as wide, and twice that") {
  const auto some = cases_that([](const Case& c) {
    return can_stay_together(c) && (c.op != Op::redux || c.atom == ir::AtomOp::max);
  });
  for (const uint32_t width : {4U, 8U, 16U}) {
    CAPTURE(width);
    compare_all(some, width, 45);
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("waves: lanes one after another") {
  compare_all(cases(), 32, 117, WaveMode::serial);
  CHECK(validation_messages() == 0);
}

TEST_CASE("waves: a full wave and less than one") {
  const auto some = cases_that(
      [](const Case& c) { return c.op == Op::shfl || c.op == Op::redux || c.op == Op::elect; });
  compare_all(some, 32, 32);
  compare_all(some, 32, 19);
}

TEST_CASE("waves: 64 lanes") {
  compare_all(cases_that([](const Case& c) {
                return can_stay_together(c) && (c.op != Op::redux || c.atom == ir::AtomOp::add);
              }),
              64, 150, WaveMode::automatic);
}

TEST_CASE("waves: a lane number that slots without active lanes do not have") {
  // It comes with a word that differs from lane to lane later, so that each slot keeps its own.
  Kernel k(3);
  k.program.param_bytes = 16;
  k.program.wave_lanes = 32;
  const Reg output = k.param64(8), index = k.sreg(ir::SReg::linear_tid);
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg value = k.b.make(Op::mul, Type::u32, {index, ir::imm(2654435761U)});
  const Reg number = k.b.reg(Width::b32), other = k.b.reg(Width::b32), left = k.b.reg(Width::b32);
  const Reg mask = k.b.reg(Width::b64), result = k.b.reg(Width::b32);
  k.move_into(number, ir::imm(0));
  k.b.emit(Op::add, Type::u32, {left}, {k.sreg(ir::SReg::nctaid_x), ir::imm(1)});
  k.b.jump(1);
  k.b.set_block(1);
  const Reg bits = k.b.make(Op::and_, Type::u32, {lane, ir::imm(~2U)});
  k.b.emit(Op::ballot, Type::none, {mask}, {k.compare(ir::Cond::eq, bits, ir::imm(1))});
  k.b.emit(Op::unpack64, Type::none, {number, other}, {mask});  // of lanes 1 and 3: 10
  k.b.emit(Op::readlane, Type::none, {result}, {value, number});
  k.move_into(other, lane);
  k.b.emit(Op::sub, Type::u32, {left}, {left, ir::imm(1)});
  k.b.branch({k.compare(ir::Cond::ne, left, ir::imm(0))}, 1, 2);
  k.b.set_block(2);
  const Reg sum = k.b.make(Op::add, Type::u32, {result, other});
  const Reg both = k.b.make(Op::add, Type::u32, {sum, number});
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(output, index), both});
  k.b.exit();
  compare(k.program, {1, 1, 1}, {48, 1, 1}, {0}, 48);
}

TEST_CASE("waves: what a driver's loop limit cuts is a fault, never a wrong value") {
  // Every lane votes 20,000 times and counts the lanes it saw.
  Kernel k(3);
  k.program.param_bytes = 16;
  const Reg output = k.param64(8), lane = k.sreg(ir::SReg::linear_tid);
  const Reg count = k.b.reg(Width::b32), left = k.b.reg(Width::b32);
  k.move_into(count, ir::imm(0));
  k.move_into(left, ir::imm(20000));
  k.b.jump(1);
  k.b.set_block(1);
  const Reg mask = k.b.reg(Width::b32);
  k.b.emit(Op::activemask, Type::none, {mask}, {});
  const Reg seen = k.b.make(Op::popc, Type::u32, {mask});
  k.b.emit(Op::add, Type::u32, {count}, {count, seen});
  k.b.emit(Op::sub, Type::u32, {left}, {left, ir::imm(1)});
  k.b.branch({k.compare(ir::Cond::ne, left, ir::imm(0))}, 1, 2);
  k.b.set_block(2);
  k.memory(Op::store, ir::Space::global, Type::u32, 1, {}, {k.element(output, lane), count});
  k.b.exit();
  for (const TestEngine& engine : test_engines()) {
    CAPTURE(engine.label);
    const Outcome got = run_on(*engine.engine, k.program, {1, 1, 1}, {32, 1, 1}, {0}, 32);
    const bool whole = got.fault_count == 0;
    if (!whole) CHECK(got.faults[0].kind == FaultKind::step_budget);
    CHECK((whole || engine.label == "lavapipe"));
    for (const uint32_t word : got.words) CHECK(word == (whole ? 640000 : 0));
  }
}

}  // namespace waves
