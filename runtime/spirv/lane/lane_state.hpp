// What a lane carries beside its registers: its first fault and the steps it has left. Module
// variables, which compilers keep in registers; where an invocation carries several lanes, phase
// mode saves them like registers.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "runtime/spirv/binary/module_builder.hpp"
#include "runtime/spirv/fault_points.hpp"

namespace lanewise::spirv {

class LaneState {
 public:
  /// Several states of one kernel number their faults together. `takes_steps`: step() is called
  /// somewhere. `step_budget`: steps are limited.
  LaneState(ModuleBuilder& module, const Target& target, FaultPoints& points, bool takes_steps,
            bool step_budget);

  FaultPoints& points() { return points_; }
  const FaultPoints& points() const { return points_; }
  /// The variables, all of them words.
  std::array<Id, 5> variables() const { return {point_, low_, high_, left_, reserve_}; }

  /// A lane begins. `budget`: words of the launch block, low and high.
  void start(Id budget_low, Id budget_high);
  /// The same for a lane whose steps another state counts.
  void start() { m_.create_store(m_.u(0), point_); }
  /// Keeps the lane's first fault; `wrong` says whether this is one.
  void note(Id wrong, Id point, Id low, Id high);
  /// What several checks in a row find, in their order: where nothing is wrong for any lane, one
  /// branch passes by all of it. Nothing in `body` may read the fault that is kept.
  void note_together(const std::function<void()>& body);
  /// The same where it is sure.
  void note(Id point, Id low, Id high) { note(m_.b(true), point, low, high); }
  void note(FaultKind kind, uint32_t site) {
    note(m_.u(points_.number(kind, site)), m_.u(0), m_.u(0));
  }
  /// A back edge: true = go on. When not, out_of_steps() says whether the budget is used up; else
  /// the host wants the launch to end.
  Id step();
  /// The same where the iteration may still leave its loop: `stop` leaves it, in a branch that
  /// hardly any iteration takes, so the others carry no answer. False = not on this device.
  bool step_or(const std::function<void()>& stop);
  /// The same for a loop that holds no other and has one back edge, between begin_steps() and
  /// end_steps(): the lanes of a wave count its iterations together, in a scalar. NoResult = not on
  /// this device.
  Id begin_steps();
  void step_together(Id ahead, const std::function<void()>& stop);
  void end_steps(Id ahead);
  Id out_of_steps();
  /// The driver has left a loop for the lane, unless the launch was asked to . `which`: kCutHere
  /// or kCutAnywhere.
  void cut_by_driver(uint32_t site, uint32_t which);
  /// Code for what does not happen in a launch without faults; `body` runs where this is reached.
  void hardly_ever(const std::function<void()>& body);
  void set_inputs(Id push, Id work_group) {
    push_ = push;
    work_group_ = work_group;
  }
  /// A lane ends: its fault, if any, is written down.
  void report(Id lane);
  /// The same at once, for the faults of `body`: no path that has none has to ask.
  void report_after(Id lane, const std::function<void()>& body);
  /// Of the launch, not of the submission.
  Id group_id();

 private:
  struct Finding {
    Id wrong, point, low, high;
  };
  void keep_first(std::span<const Finding> findings);
  std::vector<Finding> findings_of(const std::function<void()>& body);
  Id any_of(std::span<const Finding> findings);
  Id count();
  void count_or(const std::function<void()>& stop);
  Id take_ahead();
  Id refill();
  Id unreported();
  void write(Id lane);
  Id load(Id variable) { return m_.create_load(variable); }

  ModuleBuilder& m_;
  const Target& target_;
  FaultPoints& points_;
  bool takes_steps_, step_budget_;  ///< without a budget the reserve never gets less
  Id point_, low_, high_;
  Id push_ = spv::NoResult;                   ///< the push constants
  Id work_group_ = spv::NoResult;             ///< the built-in variable
  bool reports_at_once_ = false;              ///< the build point is in report_after()
  bool reports_early_ = false;                ///< there is one
  bool keeps_faults_ = false;                 ///< some fault is reported at the lane's end
  std::vector<Finding>* together_ = nullptr;  ///< of note_together() around the build point
  Id left_ = spv::NoResult;                   ///< back edges until the next look at the budget
  Id reserve_ = spv::NoResult;                ///< what the budget has beyond that
};

}  // namespace lanewise::spirv
