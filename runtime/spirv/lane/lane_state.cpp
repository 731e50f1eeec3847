#include "runtime/spirv/lane/lane_state.hpp"

#include <spirv/unified1/GLSL.std.450.h>

#include "runtime/layout/push_words.hpp"

namespace lanewise::spirv {
namespace {

/// Where the driver leaves loops by itself, a lane is soon at its end. It looks at the host's wish
/// when it begins, and its steps are counted down in one go: drivers that do this run both sides of
/// every branch (llvmpipe), and a look in each iteration is what they would make of a rare one.
bool checks_limit_once(const Target& target) {
  return target.quirks.cuts_loops;
}

/// In place of the number of a fault that is written down.
constexpr uint32_t kReported = ~0U;

/// So many back edges pass between two looks at the budget and at the host's wish to stop.
constexpr uint32_t kStepsAtOnce = 4096;
/// So many are counted for a wave at a time. The fewer, the less often lanes have to count for
/// themselves because one of them has not got as many left.
constexpr uint32_t kStepsAhead = 64;

}  // namespace

LaneState::LaneState(ModuleBuilder& module, const Target& target, FaultPoints& points,
                     bool takes_steps, bool step_budget)
    : m_(module),
      target_(target),
      points_(points),
      takes_steps_(takes_steps),
      step_budget_(step_budget) {
  const auto variable = [&](const char* name, Id first) {
    return m_.create_variable(spv::StorageClassPrivate, m_.uint_type, name, first);
  };
  point_ = variable("fault_point", m_.u(0));
  // Nobody looks at the address of no fault: a value here would be carried along all paths.
  low_ = variable("fault_low", spv::NoResult);
  high_ = variable("fault_high", spv::NoResult);
  if (!takes_steps) return;
  left_ = variable("steps_left", m_.u(0));
  reserve_ = variable("steps_reserve", m_.u(0));
}

void LaneState::start(Id budget_low, Id budget_high) {
  start();
  if (!takes_steps_) return;
  const Id all = m_.u(~0U);
  // Budgets of 2^32 steps and more count as 2^32 - 1.
  const Id wide = m_.differs(budget_high, 0);
  const Id budget = step_budget_ ? m_.select(wide, all, budget_low) : all;
  if (checks_limit_once(target_)) {
    const Id aborted = m_.call("lw_aborted", m_.bool_type, {});
    m_.create_store(m_.select(aborted, m_.u(0), budget), left_);
    // A lane that stops with a larger budget was stopped by the driver. Compilers know how many
    // steps are left behind a loop: none.
    const Id beyond = m_.test(spv::OpUGreaterThan, {budget, m_.u(kLoopLimit)});
    const Id not_budget = m_.test(spv::OpLogicalOr, {aborted, beyond});
    m_.create_store(m_.select(not_budget, m_.u(1), m_.u(0)), reserve_);
    return;
  }
  const Id first = m_.glsl(GLSLstd450UMin, m_.uint_type, {budget, m_.u(kStepsAtOnce)});
  m_.create_store(first, left_);
  const Id rest = m_.word(spv::OpISub, {budget, first});
  m_.create_store(step_budget_ ? rest : all, reserve_);
}

void LaneState::note(Id wrong, Id point, Id low, Id high) {
  keeps_faults_ = keeps_faults_ || !reports_at_once_;
  const Finding finding{wrong, point, low, high};
  if (together_ != nullptr) return together_->push_back(finding);
  keep_first({&finding, 1});
}

/// Of findings in their order, unless the lane has a fault already.
void LaneState::keep_first(std::span<const Finding> findings) {
  const Id none = m_.equals(load(point_), 0);
  Id point = load(point_), low = load(low_), high = load(high_);
  for (auto f = findings.rbegin(); f != findings.rend(); ++f) {
    const Id first = m_.test(spv::OpLogicalAnd, {f->wrong, none});
    point = m_.select(first, f->point, point);
    low = m_.select(first, f->low, low);
    high = m_.select(first, f->high, high);
  }
  m_.create_store(point, point_);
  m_.create_store(low, low_);
  m_.create_store(high, high_);
}

std::vector<LaneState::Finding> LaneState::findings_of(const std::function<void()>& body) {
  std::vector<Finding> findings;
  together_ = &findings;
  body();
  together_ = nullptr;
  return findings;
}

Id LaneState::any_of(std::span<const Finding> findings) {
  Id any = findings.front().wrong;
  for (const Finding& f : findings.subspan(1)) any = m_.test(spv::OpLogicalOr, {any, f.wrong});
  return any;
}

void LaneState::note_together(const std::function<void()>& body) {
  const std::vector<Finding> findings = findings_of(body);
  const Id any = any_of(findings);
  m_.when(target_.wave_operations ? m_.any_lane(any) : any, [&] { keep_first(findings); });
}

/// Takes steps from the reserve; false = there are none.
Id LaneState::refill() {
  const Id more = m_.call("lw_refill", m_.uint_type, {load(reserve_)});
  if (step_budget_) m_.create_store(m_.word(spv::OpISub, {load(reserve_), more}), reserve_);
  // A lane that was stopped stays so: its next step looks again.
  const Id at_least = m_.glsl(GLSLstd450UMax, m_.uint_type, {more, m_.u(1)});
  m_.create_store(m_.word(spv::OpISub, {at_least, m_.u(1)}), left_);
  return m_.differs(more, 0);
}

/// One step less; true = that was the last before a look at the reserve.
Id LaneState::count() {
  const Id left = load(left_);
  m_.create_store(m_.word(spv::OpISub, {left, m_.u(1)}), left_);
  return m_.equals(left, 0);
}

Id LaneState::step() {
  if (checks_limit_once(target_)) {
    const Id left = load(left_);
    const Id go_on = m_.differs(left, 0);
    const Id one = m_.select(go_on, m_.u(1), m_.u(0));
    m_.create_store(m_.word(spv::OpISub, {left, one}), left_);
    return go_on;
  }
  const Id used_up = count();
  Block* before = m_.build_point();
  Block* take = m_.new_block();
  Block* merge = m_.new_block();
  m_.create_selection_merge(merge);
  m_.create_conditional_branch(used_up, take, merge);
  m_.set_build_point(take);
  const Id some = refill();
  Block* after = m_.build_point();
  m_.create_branch(merge);
  m_.set_build_point(merge);
  return m_.test(spv::OpPhi, {m_.b(true), before->id(), some, after->id()});
}

bool LaneState::step_or(const std::function<void()>& stop) {
  if (checks_limit_once(target_)) return false;
  count_or(stop);
  return true;
}

void LaneState::count_or(const std::function<void()>& stop) {
  m_.when(count(), [&] {
    const Id none = m_.negated(refill());
    m_.when(none, stop);
  });
}

/// Steps for all lanes of the wave that are here, off what each of them has left; none where one of
/// them has too few: then each step counts for each lane.
Id LaneState::take_ahead() {
  const Id few = m_.test(spv::OpULessThan, {load(left_), m_.u(kStepsAhead)});
  const Id some = m_.select(m_.any_lane(few), m_.u(0), m_.u(kStepsAhead));
  m_.create_store(m_.word(spv::OpISub, {load(left_), some}), left_);
  return some;
}

Id LaneState::begin_steps() {
  if (checks_limit_once(target_) || !target_.wave_operations || target_.quirks.runs_both_sides)
    return spv::NoResult;
  const Id ahead = m_.create_variable(spv::StorageClassFunction, m_.uint_type, "steps_ahead");
  m_.create_store(take_ahead(), ahead);
  return ahead;
}

void LaneState::step_together(Id ahead, const std::function<void()>& stop) {
  m_.when(m_.equals(load(ahead), 0), [&] {
    const Id some = take_ahead();
    m_.create_store(m_.glsl(GLSLstd450UMax, m_.uint_type, {some, m_.u(1)}), ahead);
    m_.when(m_.equals(some, 0), [&] { count_or(stop); });
  });
  m_.create_store(m_.word(spv::OpISub, {load(ahead), m_.u(1)}), ahead);
}

/// What was taken and not used goes back.
void LaneState::end_steps(Id ahead) {
  m_.create_store(m_.word(spv::OpIAdd, {load(left_), load(ahead)}), left_);
}

Id LaneState::out_of_steps() {
  return m_.equals(load(reserve_), 0);
}

void LaneState::cut_by_driver(uint32_t site, uint32_t which) {
  const Id aborted = m_.call("lw_aborted", m_.bool_type, {});
  const uint32_t point = points_.number(FaultKind::step_budget, site);
  note(m_.negated(aborted), m_.u(point), m_.u(which), m_.u(0));
}

Id LaneState::group_id() {
  Ids place;
  for (uint32_t i = 0; i < 3; ++i) {
    const Id pointer =
        m_.op(spv::OpAccessChain, m_.make_pointer(spv::StorageClassPushConstant, m_.uint_type),
              {push_, m_.u(0), m_.u(guest::kPushBase + i)});
    const Id inside = m_.extract(load(work_group_), m_.uint_type, i);
    place.push_back(m_.word(spv::OpIAdd, {inside, load(pointer)}));
  }
  return m_.create_composite_construct(m_.uvec3_type, place);
}

void LaneState::report_after(Id lane, const std::function<void()>& body) {
  reports_at_once_ = reports_early_ = true;
  const std::vector<Finding> findings = findings_of(body);
  reports_at_once_ = false;
  m_.when(any_of(findings), [&] {
    keep_first(findings);
    m_.when(unreported(), [&] {
      write(lane);
      m_.create_store(m_.u(kReported), point_);
    });
  });
}

/// Has the lane a fault that is not written down?
Id LaneState::unreported() {
  if (!reports_early_) return m_.differs(load(point_), 0);
  return m_.test(spv::OpULessThan,
                 {m_.word(spv::OpISub, {load(point_), m_.u(1)}), m_.u(kReported - 1)});
}

void LaneState::write(Id lane) {
  m_.call("lw_report", m_.void_type, {load(point_), load(low_), load(high_), group_id(), lane});
}

void LaneState::report(Id lane) {
  if (!keeps_faults_) return;
  const Id faulted = unreported();
  const auto write = [&] { m_.when(faulted, [&] { this->write(lane); }); };
  // Most waves have nothing to report: they pass by without a look at their lanes.
  if (!target_.wave_operations || target_.quirks.runs_both_sides) return write();
  m_.when(m_.any_lane(faulted), [&] { hardly_ever(write); });
}

/// Compilers take a branch for one that goes either way. What always holds, which they cannot know,
/// says that it is not so; the barriers, which order nothing, keep them from asking for all at
/// once.
void LaneState::hardly_ever(const std::function<void()>& body) {
  if (target_.quirks.fence_by_atomic) return body();
  const auto here = [&] {
    m_.memory_barrier(spv::ScopeSubgroup, spv::MemorySemanticsAcquireReleaseMask |
                                              spv::MemorySemanticsUniformMemoryMask);
  };
  const Id word =
      m_.op(spv::OpAccessChain, m_.make_pointer(spv::StorageClassPushConstant, m_.uint_type),
            {push_, m_.u(0), m_.u(guest::kPushArenaAddress)});
  // No arena begins at an odd address.
  const Id even = m_.differs(m_.create_load(word), 1);
  here();
  m_.when(even, [&] {
    here();
    body();
  });
}

}  // namespace lanewise::spirv
