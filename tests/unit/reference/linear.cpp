// What instructions make of forms, held against what they compute of each lane's numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "runtime/events/derive/linear.hpp"
#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/signature.hpp"
#include "tests/support/sanitized.hpp"

// Names of its own: these files are compiled together.
namespace linear_forms {
namespace {

using namespace lanewise::events;
namespace ir = lanewise::ir;
using ir::Op;
using ir::Type;
using ir::Width;

constexpr Place kCounts = {5, 2, 1, 1, 3, 1, 2};

std::vector<Place> all_places() {
  std::vector<Place> places;
  for (int64_t i = 0; i < 5 * 2 * 3 * 2; ++i)
    places.push_back({i % 5, i / 5 % 2, 0, 0, i / 10 % 3, 0, i / 30});
  return places;
}

/// Bits where results change: ends of the widths, small numbers, powers of two.
uint64_t number(std::mt19937_64& rng) {
  switch (rng() % 5) {
    case 0:
      return rng() % 40;
    case 1:
      return ~uint64_t{0} - rng() % 40;
    case 2:
      return (uint64_t{1} << rng() % 64) + rng() % 9 - 4;
    case 3:
      return (uint64_t{0x80000000} << rng() % 2) + rng() % 64 - 32;
    default:
      return rng() >> rng() % 64;
  }
}

Form random_form(std::mt19937_64& rng, unsigned bits) {
  Form f = Form::of(number(rng));
  if (rng() % 3 != 0) {
    const uint64_t step = rng() % 2 == 0 ? uint64_t{1} << rng() % 10 : number(rng);
    for (size_t i = 0; i < kCoordinates; ++i)
      if (kCounts[i] > 1 && rng() % 2 == 0)
        f.factor[i] = static_cast<int64_t>(step * (rng() % 5 - 1));
  }
  return cut(f, bits);
}

std::vector<ir::Inst> instructions() {
  std::vector<ir::Inst> list;
  for (int i = 0; i <= static_cast<int>(Op::icmp); ++i) {
    ir::Inst inst;
    inst.op = static_cast<Op>(i);
    if (inst.op == Op::sreg) continue;
    for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
      inst.type = type;
      if (inst.op == Op::mulwide && ir::width_of(type) == Width::b64) continue;
      list.push_back(inst);
    }
  }
  return list;
}

/// What the value is in a lane; nothing when it is not known.
std::optional<uint64_t> at(const Value& v, const Place& place, unsigned bits) {
  switch (v.kind) {
    case Value::Kind::unknown:
      return std::nullopt;
    case Value::Kind::test:
      return v.test.at(place) != v.negated ? 1 : 0;
    case Value::Kind::form:
      break;
  }
  const uint64_t all = v.form.at(place);
  return bits == 64 ? all : all & ((uint64_t{1} << bits) - 1);
}

unsigned bits_of(Width width) {
  return width == Width::pred ? 1 : width == Width::b32 ? 32 : 64;
}

struct Tally {
  size_t known = 0, asked = 0;
};

/// All lanes where `follow` answers what the lane would answer.
void check_lanes(const ir::Inst& inst, std::span<const Form> sources, Tally& tally) {
  const Extents extents(kCounts);
  const auto signature = ir::signature(inst.op);
  const bool constant = std::ranges::all_of(sources, &Form::is_constant);
  for (const bool answer : {false, true}) {
    std::optional<Test> asked;
    const Results results =
        linear_results(inst, sources, extents, [&](const Test& test) -> std::optional<bool> {
          asked = test;
          return answer;
        });
    for (const Place& place : all_places()) {
      if (asked && asked->at(place) != answer) continue;
      std::vector<uint64_t> bits;
      for (size_t i = 0; i < sources.size(); ++i) {
        const unsigned width = bits_of(*ir::letter_width(inst, signature.src[i]));
        bits.push_back(*at(Value::of(sources[i]), place, width));
      }
      const auto want = ir::evaluate(inst, bits);
      for (size_t r = 0; r < signature.dst.size(); ++r) {
        const unsigned width = bits_of(*ir::letter_width(inst, signature.dst[r]));
        const auto got = at(results[r], place, width);
        if (!constant) ++tally.asked;
        if (!got) continue;
        if (!constant) ++tally.known;
        if (!want || *got != (*want)[r])
          FAIL(ir::info(inst.op).name << " " << ir::name(inst.type) << " result " << r);
      }
    }
  }
}

}  // namespace

TEST_CASE("linear forms: every integer operation gives what each lane computes") {
  std::mt19937_64 rng(20261126);
  Tally all;
  for (ir::Inst inst : instructions()) {
    const std::string_view letters = ir::signature(inst.op).src;
    inst.src.resize(letters.size());
    Tally tally;
    for (int round = 0; round < static_cast<int>(lanewise::test::rounds(400)); ++round) {
      inst.cond = static_cast<ir::Cond>(rng() % 6);
      inst.mode = static_cast<uint8_t>(inst.op == Op::lop3 ? rng() % 256 : rng() % 2);
      std::vector<Form> sources;
      for (const char letter : letters) {
        const Width width = *ir::letter_width(inst, letter);
        sources.push_back(width == Width::pred ? Form::of(rng() % 2)
                                               : random_form(rng, bits_of(width)));
        const bool amount = letter == 'w' && sources.size() > 1;
        if (amount && rng() % 4 != 0) sources.back() = Form::of(rng() % 34);
      }
      check_lanes(inst, sources, tally);
    }
    all.known += tally.known;
    all.asked += tally.asked;
  }
  // Most forms here wrap somewhere, so much is unknown; but not all.
  CHECK(all.known * 4 > all.asked);
}

TEST_CASE("linear forms: what compilers make of an index is known") {
  const Extents extents({256, 1, 1, 1, 8192, 1, 1});
  const auto result = [&](Op op, Type type, std::vector<Form> sources) {
    ir::Inst inst;
    inst.op = op;
    inst.type = type;
    inst.src.resize(sources.size());
    return linear_results(inst, sources, extents, {})[0];
  };
  Form tid, group;
  tid.factor[0] = 1;
  group.factor[4] = 1;
  const Value start = result(Op::shl, Type::u32, {group, Form::of(8)});
  const Value index = result(Op::or_, Type::u32, {start.form, tid});
  CHECK(index.form.factor == Place{1, 0, 0, 0, 256, 0, 0});
  const Value wide = result(Op::mulwide, Type::s32, {index.form, Form::of(4)});
  CHECK(wide.form.factor == Place{4, 0, 0, 0, 1024, 0, 0});
  // The halves of a pointer, added with a carry that never happens.
  const Value low = result(Op::add, Type::u32, {Form::of(0x10000000), wide.form});
  const Value whole = result(Op::pack64, Type::u64, {low.form, Form::of(7)});
  CHECK(whole.form.constant == 0x710000000);
  CHECK(whole.form.factor == Place{4, 0, 0, 0, 1024, 0, 0});
  CHECK(result(Op::icmp, Type::s32, {index.form, Form::of(1000)}).kind == Value::Kind::test);
  CHECK(result(Op::icmp, Type::s32, {index.form, Form::of(256 * 8192)}).is_constant());
  // Factors that wrap with the launch's size are no form.
  CHECK(result(Op::zext64, Type::u64, {scaled(group, 1 << 20)}).kind == Value::Kind::unknown);
}

}  // namespace linear_forms
