// Sums of products of several slots. The library's function is long, and a compiler that folds
// nothing gets a copy of it wherever it is called: one call in a loop over slots stands for all.
#include <algorithm>

#include "runtime/ir/dot.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

bool alike(const Ids& ids) {
  return std::ranges::all_of(ids, [&](Id id) { return id == ids[0]; });
}

}  // namespace

/// What a loop reads with its counter.
class LaneEmitter::Table {
 public:
  Table(ModuleBuilder& m, Id array) : m_(m), array_(array) {}
  Id load(Id index) { return m_.create_load(at(index)); }
  void store(Id index, Id value) { m_.create_store(value, at(index)); }

 private:
  Id at(Id index) {
    const Id pointer = m_.make_pointer(spv::StorageClassFunction, m_.uint_type);
    return m_.op(spv::OpAccessChain, pointer, {array_, index});
  }

  ModuleBuilder& m_;
  Id array_;
};

/// The n-th of those that all sums share; they have `entries` words.
LaneEmitter::Table LaneEmitter::dot_table(size_t n, uint32_t entries) {
  std::vector<Id>& tables = dot_tables_[entries];
  while (tables.size() <= n)
    tables.push_back(m_.create_variable(spv::StorageClassFunction,
                                        m_.make_array_type(m_.uint_type, m_.u(entries), 0)));
  return {m_, tables[n]};
}

bool LaneEmitter::sums_in_turn(const ir::Inst& inst) const {
  return inst.op == ir::Op::dot && in_several_slots() && target_.quirks.folds_nothing;
}

/// Steps of the rule, and in each of them the slots.
void LaneEmitter::dots_in_turn() {
  const auto slots = static_cast<uint32_t>(slots_.size());
  const DotSteps steps = dot_steps();
  const uint32_t count = (steps.total + steps.words - 1) / steps.words, entries = count * slots;
  Table sums = dot_table(0, entries);
  in_slots([&](uint32_t k) { sums.store(m_.u(k), src(0)); });
  // Of each word of a step: where it is found, and by the step alone?
  struct Found {
    Id value = spv::NoResult;
    std::optional<Table> table = {};
    bool by_step = true;
  };
  std::vector<Found> words(2 * size_t{ir::kDotWords});
  for (uint32_t w = 0; w < words.size(); ++w) {
    Found& found = words[w];
    std::vector<Ids> of_steps;
    for (uint32_t step = 0; step < count; ++step) {
      Ids of_slots;
      in_slots([&](uint32_t) { of_slots.push_back(dot_word(steps, step, w)); });
      found.by_step = found.by_step && alike(of_slots);
      of_steps.push_back(std::move(of_slots));
    }
    if (found.by_step &&
        std::ranges::all_of(of_steps, [&](const Ids& ids) { return ids[0] == of_steps[0][0]; })) {
      found.value = of_steps[0][0];
      continue;
    }
    found.table.emplace(dot_table(w + 1, entries));
    for (uint32_t step = 0; step < count; ++step)
      for (uint32_t k = 0; k < (found.by_step ? 1 : slots); ++k)
        found.table->store(m_.u(found.by_step ? step : step * slots + k), of_steps[step][k]);
  }
  const Id counter = m_.create_variable(spv::StorageClassFunction, m_.uint_type);
  m_.create_store(m_.u(0), counter);
  m_.repeat([&] {
    const Id turn = m_.create_load(counter);
    const auto shift = static_cast<uint32_t>(std::countr_zero(slots));
    const Id step = m_.op(spv::OpShiftRightLogical, m_.uint_type, {turn, m_.u(shift)});
    const Id slot = m_.op(spv::OpBitwiseAnd, m_.uint_type, {turn, m_.u(slots - 1)});
    Ids factors;
    for (Found& found : words)
      factors.push_back(found.table ? found.table->load(found.by_step ? step : turn) : found.value);
    sums.store(slot, dot_call(steps, sums.load(slot), factors));
    const Id next = m_.op(spv::OpIAdd, m_.uint_type, {turn, m_.u(1)});
    m_.create_store(next, counter);
    return m_.op(spv::OpULessThan, m_.bool_type, {next, m_.u(entries)});
  });
  in_slots([&](uint32_t k) { set_results({sums.load(m_.u(k))}); });
}

}  // namespace lanewise::spirv
