// Sums of products as plain operations: what the pass makes of Op::dot, beside Op::dot itself and
// beside the literal model, on factors that shuffles bring and on others.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/dot.hpp"
#include "runtime/ir/passes/values/expand_dots.hpp"
#include "tests/oracle/ptx_matrix.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ir::imm;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;
namespace model = ::oracle::matrix;

namespace {

constexpr size_t kDotLanes = 32, kFactor = ir::kDotWords, kDotWords = 2 + 2 * kFactor;
const std::string kFactorNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4"};

struct DotCase {
  ir::Element a, b;
  ir::DotRule rule;
  Type sum = Type::f32;
  bool shuffles = false;
  bool sat = false;
};

/// Of which lane a lane takes a word: A's from its own four, B's from anywhere.
unsigned a_lane(unsigned lane, unsigned word) {
  return (lane & 28) | (word & 3);
}
unsigned b_lane(unsigned lane, unsigned word) {
  return (5 * lane + word % 4) % kDotLanes;
}

/// A lane has the addend, the words of A and B, and space for the sum.
ir::Program program_of(const DotCase& c, uint64_t table) {
  ir::Program p;
  p.name = "sums";
  p.isa = ir::Isa::ptx;
  p.wave_lanes = kDotLanes;
  ir::Builder b(p);
  b.set_block(b.add_block());
  const Reg tid = b.reg(Width::b32), offset = b.reg(Width::b64);
  b.emit(Op::sreg, Type::u32, {tid}, {}).mode = static_cast<uint8_t>(ir::SReg::tid_x);
  b.emit(Op::mulwide, Type::u32, {offset}, {tid, imm(4 * kDotWords)});
  const Reg at = b.make(Op::add, Type::u64, {offset, imm(table)});
  const auto loaded = [&](unsigned word) {
    const Reg r = b.reg(Width::b32);
    b.emit(Op::load, Type::u32, {r}, {at}).mem.emplace().offset = int64_t{4} * word;
    return r;
  };
  std::vector<ir::Operand> from;
  for (unsigned w = 0; w < 4; ++w) {
    const Reg lane = b.make(Op::mul, Type::u32, {tid, imm(5)});
    from.emplace_back(b.make(Op::and_, Type::u32,
                             {b.make(Op::add, Type::u32, {lane, imm(w)}), imm(kDotLanes - 1)}));
  }
  const auto brought = [&](Reg value, ir::Operand lane, uint32_t segments) {
    if (!c.shuffles) return value;
    const Reg got = b.reg(Width::b32), valid = b.reg(Width::pred);
    b.emit(Op::shfl, Type::none, {got, valid},
           {value, lane, imm(segments << 8 | 31), imm(0xffffffff)})
        .mode = static_cast<uint8_t>(ir::ShflMode::idx);
    return got;
  };
  std::vector<ir::Operand> src{loaded(0), imm(ir::dot_word(c.rule))};
  for (unsigned w = 0; w < kFactor; ++w) src.emplace_back(brought(loaded(1 + w), imm(w & 3), 28));
  for (unsigned w = 0; w < kFactor; ++w)
    src.emplace_back(brought(loaded(1 + kFactor + w), from[w % 4], 0));
  const Reg sum = b.reg(Width::b32);
  ir::Inst& dot = b.emit(Op::dot, c.sum, {sum}, src);
  dot.mode = ir::dot_mode(c.a, c.b);
  dot.sat = c.sat;
  b.emit(Op::store, Type::u32, {}, {at, sum}).mem.emplace().offset = 4 * (kDotWords - 1);
  b.exit();
  return p;
}

class Inputs {
 public:
  explicit Inputs(uint64_t seed) : bits_(seed) {}
  uint32_t any() { return static_cast<uint32_t>(bits_()); }

  /// Numbers of a range that is narrow in most tables; zeros, subnormals and, in few tables,
  /// whatever there is.
  uint32_t number(const std::string& type, int offset) {
    const model::Format f = model::format(type);
    const unsigned bits = 1 + static_cast<unsigned>(f.exponent + f.fraction);
    if (special_) return any() & static_cast<uint32_t>((uint64_t{1} << bits) - 1);
    const int top = (1 << f.exponent) - 2, middle = top / 2;
    const int spread = std::min(middle, spread_);
    int e = std::max(middle + offset - spread + static_cast<int>(any() % (2U * spread + 1)), 0);
    e = std::min(e, top);
    const uint32_t fraction = any() & ((1U << f.fraction) - 1);
    uint32_t size = static_cast<uint32_t>(e) << f.fraction | (any() % 4 == 0 ? 0 : fraction);
    if (any() % 8 == 0) size = any() % 2 == 0 ? 0 : fraction;
    return (any() & 1) << (bits - 1) | size;
  }
  uint32_t word(const std::string& type) {
    const unsigned n = model::per_register(type);
    if (type == "tf32") return number(type, offset_) << 13 | (any() & 0x1fff);
    uint32_t all = 0;
    for (unsigned i = 0; i < n; ++i) all |= number(type, offset_) << (32 / n * i);
    return all;
  }
  std::vector<uint32_t> table(const DotCase& c) {
    std::vector<uint32_t> all;
    if (c.sum == Type::s32) {
      // Addends near either end, so that some sums are beyond.
      for (unsigned lane = 0; lane < kDotLanes; ++lane) {
        all.push_back(any() % 2 == 0 ? any() : (any() % 2 << 31) + any() % 4096 - 2048);
        for (unsigned w = 0; w < 2 * kFactor; ++w) all.push_back(any());
        all.push_back(0);
      }
      return all;
    }
    for (unsigned lane = 0; lane < kDotLanes; ++lane) {
      special_ = any() % 32 == 0;
      // Far below 1 subnormal numbers have the highest exponents.
      offset_ = any() % 3 == 0 ? -static_cast<int>(any() % 16) : 0;
      spread_ = static_cast<int>(1 + any() % 14);
      // Of exponents like those of f32 products are near either end of its numbers, or beyond.
      if ((c.a == ir::Element::bf16 || c.a == ir::Element::tf32) && any() % 2 == 0)
        offset_ = (any() % 2 == 0 ? 63 : -68) + static_cast<int>(any() % 16) - 8;
      all.push_back(number(c.sum == Type::f16 ? "f16" : "f32", 2 * offset_));
      if (c.sum == Type::f32 && any() % 8 == 0) all.back() &= 0x80ffffff >> any() % 8;
      for (unsigned w = 0; w < kFactor; ++w)
        all.push_back(word(kFactorNames[static_cast<int>(c.a)]));
      for (unsigned w = 0; w < kFactor; ++w)
        all.push_back(word(kFactorNames[static_cast<int>(c.b)]));
      all.push_back(0);
      if (any() % 4 == 0) cancel(&all[all.size() - kDotWords], kFactorNames[static_cast<int>(c.b)]);
    }
    return all;
  }

 private:
  /// The upper words of each factor give the products of the lower ones with the other sign.
  static void cancel(uint32_t* row, const std::string& type) {
    row[0] = 0;
    for (unsigned w = 0; w < 4; ++w) {
      row[1 + 4 + w] = row[1 + w];
      row[1 + kFactor + 4 + w] =
          row[1 + kFactor + w] ^ (model::per_register(type) == 2 ? 0x80008000 : 0x80808080);
    }
  }

  std::mt19937_64 bits_;
  bool special_ = false;
  int offset_ = 0, spread_ = 4;
};

uint32_t wanted(const DotCase& c, const std::vector<uint32_t>& table, unsigned lane) {
  std::vector<uint32_t> factors[2];
  for (const unsigned side : {0U, 1U}) {
    const std::string& type = kFactorNames[static_cast<int>(side == 0 ? c.a : c.b)];
    const unsigned n = model::per_register(type), bits = 32 / n;
    for (unsigned w = 0; w < c.rule.total; ++w) {
      const unsigned from = !c.shuffles ? lane : side == 0 ? a_lane(lane, w) : b_lane(lane, w);
      const uint32_t word = table[from * kDotWords + 1 + side * kFactor + w];
      for (unsigned i = 0; i < n; ++i)
        factors[side].push_back(word >> (i * bits) &
                                static_cast<uint32_t>((uint64_t{1} << bits) - 1));
    }
  }
  if (c.sum == Type::s32) {
    int64_t sum = static_cast<int32_t>(table[lane * kDotWords]);
    for (size_t i = 0; i < factors[0].size(); ++i)
      sum += model::integer(kFactorNames[static_cast<int>(c.a)], factors[0][i]) *
             model::integer(kFactorNames[static_cast<int>(c.b)], factors[1][i]);
    if (c.sat) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  }
  return model::dot({c.rule.fraction, c.rule.kept, 4U * c.rule.words},
                    c.sum == Type::f16 ? "f16" : "f32", table[lane * kDotWords],
                    kFactorNames[static_cast<int>(c.a)], kFactorNames[static_cast<int>(c.b)],
                    factors[0], factors[1]);
}

void run(const DotCase& c, uint64_t seed) {
  CAPTURE(seed);
  Inputs inputs(seed);
  for (int round = 0; round < 6; ++round) {
    const std::vector<uint32_t> table = inputs.table(c);
    test::Bench plain, expanded;
    const uint64_t at = plain.put(table);
    REQUIRE(expanded.put(table) == at);
    ir::Program p = program_of(c, at);
    plain.run(p, 1, kDotLanes);
    REQUIRE(ir::expand_dots(p));
    for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
    for (const ir::Inst& i : p.blocks[0].insts) REQUIRE(i.op != Op::dot);
    expanded.run(p, 1, kDotLanes);
    const auto a = plain.get<uint32_t>(at, table.size()),
               b = expanded.get<uint32_t>(at, table.size());
    for (unsigned lane = 0; lane < kDotLanes; ++lane) {
      const uint32_t want = wanted(c, table, lane);
      CAPTURE(lane);
      REQUIRE(a[lane * kDotWords + kDotWords - 1] == want);
      REQUIRE(b[lane * kDotWords + kDotWords - 1] == want);
    }
  }
}

}  // namespace

TEST_CASE("sums of products: expanded, computed at once and the model agree") {
  using ir::Element;
  constexpr std::pair<Element, Element> kFactors[] = {
      {Element::f16, Element::f16},   {Element::e4m3, Element::e4m3},
      {Element::e4m3, Element::e5m2}, {Element::e5m2, Element::e5m2},
      {Element::bf16, Element::bf16}, {Element::tf32, Element::tf32}};
  uint64_t seed = 1;
  for (const auto& [a, b] : kFactors)
    for (const ir::Accumulate how : {ir::Accumulate::volta, ir::Accumulate::turing,
                                     ir::Accumulate::ada, ir::Accumulate::hopper})
      for (const uint8_t total : {2, 4, 8})
        for (const Type sum : {Type::f32, Type::f16}) {
          if (sum == Type::f16 && (a == Element::bf16 || a == Element::tf32)) continue;
          for (const bool shuffles : {false, true}) {
            DotCase c{a, b, ir::rule_of(how, a), sum, shuffles};
            c.rule.total = total;
            run(c, seed++);
          }
        }
}

TEST_CASE("sums of integer products: expanded, computed at once and the model agree") {
  using ir::Element;
  constexpr std::pair<Element, Element> kFactors[] = {
      {Element::s8, Element::s8}, {Element::s8, Element::u8}, {Element::u8, Element::u8},
      {Element::s4, Element::s4}, {Element::u4, Element::s4}, {Element::u4, Element::u4}};
  uint64_t seed = 1;
  for (const auto& [a, b] : kFactors)
    for (const uint8_t total : {2, 4, 8})
      for (const bool sat : {false, true}) {
        DotCase c{a, b, {}, Type::s32, false, sat};
        c.rule.total = total;
        run(c, seed++);
      }
}
