// Random control flow with cross-lane operations anywhere in it, for every width of a guest wave:
// as a part of a subgroup, as wide, and wider. The reference engine decides.
// LANEWISE_RANDOM_WAVES=N asks for N programs of each width, LANEWISE_RANDOM_SEED for other ones.
#include <cstdlib>

#include "tests/differential/engines.hpp"
#include "tests/unit/ir/bounded.hpp"
#include "tests/unit/ir/random.hpp"

namespace random_waves {

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

/// A lane's state, mixed with what the lanes around it say.
class Mixer {
 public:
  Mixer(ir::Program& p, std::mt19937& rng) : p_(p), b_(p), rng_(rng) {}

  void run() {
    const auto blocks = static_cast<uint32_t>(p_.blocks.size());
    bool some = false;
    for (uint32_t i = 0; i < blocks; ++i) {
      if (below(3) != 0 && (some || i + 1 < blocks)) continue;
      b_.set_block(i);
      operation();
      some = true;
    }
  }

 private:
  uint32_t below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(rng_); }
  Reg make(Op op, std::vector<ir::Operand> src) { return b_.make(op, Type::u32, std::move(src)); }
  const Reg state_{0};

  void mix(Reg word) {
    b_.emit(Op::mul, Type::u32, {state_}, {state_, ir::imm(2654435761U)});
    b_.emit(Op::xor_, Type::u32, {state_}, {state_, word});
  }
  void mix_predicate(Reg pred) { mix(make(Op::select, {pred, ir::imm(0x51), ir::imm(0xae00)})); }

  Reg some_bit() {
    const Reg bit = make(Op::and_, {state_, ir::imm(1U << below(12))}), pred = b_.reg(Width::pred);
    b_.emit(Op::icmp, Type::u32, {pred}, {bit, ir::imm(0)}).cond = ir::Cond::ne;
    return pred;
  }
  /// Few values, so that lanes agree at times.
  Reg some_value() {
    return make(Op::and_, {make(Op::shr, {state_, ir::imm(below(20))}), ir::imm(3)});
  }

  void operation() {
    const ir::Operand everybody = ir::imm(0xffffffff);
    switch (below(9)) {
      case 0: {
        const Reg mask = b_.reg(Width::b64), low = b_.reg(Width::b32), high = b_.reg(Width::b32);
        b_.emit(Op::ballot, Type::none, {mask}, {some_bit()});
        b_.emit(Op::unpack64, Type::none, {low, high}, {mask});
        mix(low);
        return mix(high);
      }
      case 1: {
        const Op votes[] = {Op::vote_any, Op::vote_all, Op::vote_uni};
        const Reg pred = b_.reg(Width::pred);
        b_.emit(votes[below(3)], Type::none, {pred}, {some_bit(), everybody});
        return mix_predicate(pred);
      }
      case 2:
        return mix(b_.make(Op::vote_ballot, Type::none, {some_bit(), everybody}));
      case 3:
        return shuffle();
      case 4:
        return mix(b_.make(Op::match_any, Type::u32, {some_value(), everybody}));
      case 5: {
        // Its mask has 32 bits; no instruction set with wider waves has it.
        if (p_.wave_lanes > 32) return mix(b_.make(Op::readfirst, Type::none, {state_}));
        const Reg word = b_.reg(Width::b32), pred = b_.reg(Width::pred);
        b_.emit(Op::match_all, Type::u32, {word, pred}, {some_value(), everybody});
        mix(word);
        return mix_predicate(pred);
      }
      case 6: {
        using enum ir::AtomOp;
        const ir::AtomOp kinds[] = {add, min, max, and_, or_, xor_};
        const Reg word = b_.reg(Width::b32);
        ir::Inst& i =
            b_.emit(Op::redux, below(2) == 0 ? Type::s32 : Type::u32, {word}, {state_, everybody});
        i.mem.emplace().atom = kinds[below(6)];
        return mix(word);
      }
      case 7:
        return mix(b_.make(Op::activemask, Type::none, {}));
      default:
        return mix(b_.make(Op::readfirst, Type::none, {state_}));
    }
  }

  /// The distance is the same in all lanes, or each lane has its own.
  void shuffle() {
    const Reg word = b_.reg(Width::b32), there = b_.reg(Width::pred);
    const uint32_t clamps[] = {0x1f, 0, 0x1807, 0x1c03};
    const uint32_t mode = below(4);
    ir::Operand distance = ir::imm(below(32));
    if (below(2) == 0) distance = make(Op::and_, {state_, ir::imm(31)});
    const uint32_t clamp =
        mode == static_cast<uint32_t>(ir::ShflMode::up) ? 0x1800 * below(2) : clamps[below(4)];
    ir::Inst& i = b_.emit(Op::shfl, Type::none, {word, there},
                          {state_, distance, ir::imm(clamp), ir::imm(0xffffffff)});
    i.mode = static_cast<uint8_t>(mode);
    mix(word);
    mix_predicate(there);
  }

  ir::Program& p_;
  ir::Builder b_;
  std::mt19937& rng_;
};

uint32_t asked(const char* variable, uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

/// `wave`: some device has subgroups that are too narrow for 64 lanes.
void compare_random(uint32_t wave_lanes, WaveMode wave = WaveMode::packed) {
  const uint32_t first = asked("LANEWISE_RANDOM_SEED", 1),
                 count = asked("LANEWISE_RANDOM_WAVES", 4);
  for (uint32_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    std::mt19937 rng(seed);
    ir::testing::RandomOptions options;
    options.blocks = 4 + seed % 7;
    options.shape = seed % 3 == 0 ? ir::testing::Shape::any : ir::testing::Shape::nested;
    ir::Program graph = ir::testing::random_program(rng, options);
    graph.wave_lanes = wave_lanes;
    Mixer(graph, rng).run();
    const uint32_t lanes =
        wave_lanes + 1 + seed * 7 % (2 * wave_lanes);  // the last wave is partial
    ir::Program p = bounded(graph, 40, lanes);
    p.wave_lanes = wave_lanes;
    compare(p, {2, 1, 1}, {lanes, 1, 1}, {0}, size_t{2} * lanes * 2, {},
            [wave](LaunchRequest& request) { request.wave = wave; });
  }
  CHECK(validation_messages() == 0);
}

}  // namespace

TEST_CASE("random waves: 4 lanes") {
  compare_random(4);
}
TEST_CASE("random waves: 8 lanes") {
  compare_random(8);
}
TEST_CASE("random waves: 16 lanes") {
  compare_random(16);
}
TEST_CASE("random waves: 32 lanes") {
  compare_random(32);
}
TEST_CASE("random waves: 64 lanes") {
  compare_random(64, WaveMode::automatic);
}

}  // namespace random_waves
