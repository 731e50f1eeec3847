// Long functions of several slots: sums of products, and f64 in words. A compiler that folds
// nothing gets a copy of the library's function wherever it is called: one call in a loop over
// slots stands for all.
#include <algorithm>
#include <bit>

#include "runtime/ir/dot.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::spirv {
namespace {

bool alike(const Ids& ids) {
  return std::ranges::all_of(ids, [&](Id id) { return id == ids[0]; });
}

}  // namespace

/// What a loop reads with its counter.
class LaneEmitter::Table {
 public:
  Table(ModuleBuilder& m, Id type, Id array) : m_(m), type_(type), array_(array) {}
  Id load(Id index) { return m_.create_load(at(index)); }
  void store(Id index, Id value) { m_.create_store(value, at(index)); }

 private:
  Id at(Id index) {
    const Id pointer = m_.make_pointer(spv::StorageClassFunction, type_);
    return m_.op(spv::OpAccessChain, pointer, {array_, index});
  }

  ModuleBuilder& m_;
  Id type_, array_;
};

/// The n-th of those that all loops share; they have `entries` values of a type.
LaneEmitter::Table LaneEmitter::turn_table(size_t n, Id type, uint32_t entries) {
  std::vector<Id>& tables = turn_tables_[{type, entries}];
  while (tables.size() <= n)
    tables.push_back(
        m_.create_variable(spv::StorageClassFunction, m_.make_array_type(type, m_.u(entries), 0)));
  return {m_, type, tables[n]};
}

/// A value that the turns of a loop find by their number, where it is not the same in all of them.
/// `values`: of each step, those of its slots.
struct LaneEmitter::OfTurns {
  OfTurns(LaneEmitter& e, size_t table, Id type, const std::vector<Ids>& values) {
    by_step = std::ranges::all_of(values, alike);
    const bool one =
        std::ranges::all_of(values, [&](const Ids& v) { return v[0] == values[0][0]; });
    if (by_step && one) {
      value = values[0][0];
      return;
    }
    const size_t slots = by_step ? 1 : values[0].size();
    found.emplace(
        e.turn_table(table, type, static_cast<uint32_t>(values.size() * values[0].size())));
    for (size_t step = 0; step < values.size(); ++step)
      for (size_t k = 0; k < slots; ++k)
        found->store(e.m_.u(static_cast<uint32_t>(step * slots + k)), values[step][k]);
  }
  Id load(Id step, Id turn) { return found ? found->load(by_step ? step : turn) : value; }

  Id value = spv::NoResult;
  std::optional<Table> found;
  bool by_step = true;
};

/// `body` for each step, and in each of them each slot.
void LaneEmitter::take_turns(uint32_t steps, const std::function<void(Id, Id, Id)>& body) {
  const auto slots = static_cast<uint32_t>(slots_.size());
  m_.count_to(steps * slots, [&](Id turn) {
    const auto shift = static_cast<uint32_t>(std::countr_zero(slots));
    const Id step = m_.word(spv::OpShiftRightLogical, {turn, m_.u(shift)});
    const Id slot = m_.word(spv::OpBitwiseAnd, {turn, m_.u(slots - 1)});
    body(turn, step, slot);
  });
}

bool LaneEmitter::sums_in_turn(const ir::Inst& inst) const {
  return inst.op == ir::Op::dot && in_several_slots() && target_.quirks.folds_nothing;
}

/// Steps of the rule, and in each of them the slots.
void LaneEmitter::dots_in_turn() {
  const DotSteps steps = dot_steps();
  const uint32_t count = (steps.total + steps.words - 1) / steps.words;
  Table sums = turn_table(0, m_.uint_type, static_cast<uint32_t>(slots_.size()));
  in_slots([&](uint32_t k) { sums.store(m_.u(k), src(0)); });
  std::vector<OfTurns> words;
  for (uint32_t w = 0; w < 2 * ir::kDotWords; ++w) {
    std::vector<Ids> values(count);
    for (uint32_t step = 0; step < count; ++step)
      in_slots([&](uint32_t) { values[step].push_back(dot_word(steps, step, w)); });
    words.emplace_back(*this, w + 1, m_.uint_type, values);
  }
  take_turns(count, [&](Id turn, Id step, Id slot) {
    Ids factors;
    for (OfTurns& word : words) factors.push_back(word.load(step, turn));
    sums.store(slot, dot_call(steps, sums.load(slot), factors));
  });
  in_slots([&](uint32_t k) { set_results({sums.load(m_.u(k))}); });
}

/// Is this one of the operations that the library needs hundreds of instructions for?
bool LaneEmitter::is_long(const ir::Inst& inst) const {
  static constexpr EnumSet<ir::Op> kLong{ir::Op::fadd, ir::Op::fsub, ir::Op::fmul, ir::Op::ffma,
                                         ir::Op::fdiv, ir::Op::frcp, ir::Op::fsqrt};
  return inst.type == ir::Type::f64 && !target_.float64 && kLong.has(inst.op);
}

namespace {

/// `next` is the same operation as `inst`, and nothing but its last source comes from it.
bool continues(const ir::Inst& inst, const ir::Inst& next) {
  if (next.op != inst.op || next.type != inst.type || next.round != inst.round ||
      next.mode != inst.mode || next.ftz != inst.ftz || next.sat != inst.sat ||
      next.any_nan != inst.any_nan || next.event != 0 || !next.guard.always() ||
      !inst.guard.always())
    return false;
  for (size_t i = 0; i + 1 < inst.src.size(); ++i)
    if (!inst.src[i].is_reg() || !next.src[i].is_reg()) return false;
  return inst.src.size() > 1 && next.src.back() == ir::Operand(inst.dst[0]);
}

}  // namespace

/// Behind the instructions of the block from `first` on, one or a chain of them, that it has run in
/// a loop; `first` where that is none.
size_t LaneEmitter::run_in_turn(size_t first, size_t last) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  const ir::Inst& one = insts[first];
  if (!masked() || !in_several_slots() || !target_.quirks.folds_nothing || !is_long(one) ||
      once_for_all(one) || one.event != 0)
    return first;
  std::vector<uint32_t> written{one.dst[0].id};
  const auto independent = [&](const ir::Inst& next) {
    for (size_t i = 0; i + 1 < next.src.size(); ++i)
      if (std::ranges::find(written, next.src[i].index) != written.end()) return false;
    return !once_for_all(next);
  };
  size_t end = first + 1;
  while (end < last && continues(insts[end - 1], insts[end]) && independent(insts[end]))
    written.push_back(insts[end++].dst[0].id);
  const auto steps = static_cast<uint32_t>(end - first),
             slots = static_cast<uint32_t>(slots_.size());
  const Id type = m_.type_of(ir::width_of(one.type));

  const size_t sources = one.src.size();
  std::vector<OfTurns> values;
  for (size_t s = 0; s < sources; ++s) {
    const bool chained = steps > 1 && s + 1 == sources;
    std::vector<Ids> of_steps(chained ? 1 : steps);
    for (size_t step = 0; step < of_steps.size(); ++step) {
      inst_ = &insts[first + step];
      in_slots([&](uint32_t) { of_steps[step].push_back(src(s)); });
    }
    values.emplace_back(*this, s, type, of_steps);
  }
  Table results = turn_table(sources, type, steps * slots);
  Table sums = turn_table(sources + 1, type, slots);
  if (steps > 1) {
    inst_ = &one;
    in_slots([&](uint32_t k) { sums.store(m_.u(k), src(sources - 1)); });
  }
  take_turns(steps, [&](Id turn, Id step, Id slot) {
    inst_ = &one;
    std::vector<std::pair<Id*, Id>> known;
    for (size_t s = 0; s < sources; ++s) {
      if (!one.src[s].is_reg()) continue;
      Id& cached = holder(one.src[s].index).cache[one.src[s].index];
      known.emplace_back(&cached, cached);
      cached = steps > 1 && s + 1 == sources ? sums.load(slot) : values[s].load(step, turn);
    }
    const Id result = pure_values().first;
    for (auto k = known.rbegin(); k != known.rend(); ++k) *k->first = k->second;
    results.store(turn, result);
    if (steps > 1) sums.store(slot, result);
  });
  for (uint32_t step = 0; step < steps; ++step) {
    inst_ = &insts[first + step];
    in_slots([&](uint32_t k) { set_results({results.load(m_.u(step * slots + k))}); });
    follow_constants(*inst_);
  }
  return end;
}

}  // namespace lanewise::spirv
