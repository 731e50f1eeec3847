// The entry point around a lane's body: built-ins, lanes over invocations, barriers in phase mode.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/spirv/binary/module_builder.hpp"
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {

/// What a kernel's barriers ask of direct mode.
struct BarrierUse {
  bool any = false, barriers = false, reductions = false, loops = false, waves = false;
};
BarrierUse barrier_use(const ir::Program& program);
/// Shared memory that the translator itself uses, bytes.
inline constexpr uint32_t kDirectSharedBytes = 4, kPhaseSharedBytes = 288;

class KernelBuilder {
 public:
  KernelBuilder(ModuleBuilder& module, const Options& options, const Target& target,
                const Shape& shape);

  const std::vector<FaultPoint>& fault_points() const { return points_.all(); }

  /// Every barrier is reached by all lanes together: one invocation per lane, plain barriers.
  /// Without barriers and cross-lane operations an invocation may run several lanes, one after the
  /// other.
  void build_direct(const ir::Program& program);
  /// Wave mode: the lanes of a wave stay together, over several invocations.
  void build_packed(const ir::Program& program);
  /// Barriers anywhere: every lane runs to its next barrier, then the group decides who goes on.
  void build_phases(const ir::Phases& phases);

 private:
  void begin_entry();
  Id input(Id type, spv::BuiltIn which, const char* name);
  Id builtin(Id type, spv::BuiltIn which, const char* name);
  void make_group_variables(bool meet, const BarrierUse& use);
  void place_waves(const ir::Program& program);
  void finish_entry();
  void report_cut();
  void clear_local();
  void start_lane();
  void run_lane(Function* body);
  void end_of_lane();
  Function* build_body(const ir::Program& program);
  Id private_variable(Id type, const char* name, Id initial = spv::NoResult);
  void run_lanes_in_turn(Function* body);
  Id lane_of(Id slot);
  Id lane_exists(Id lane);
  void for_each_slot(const std::function<void(Id slot)>& body);
  Id library(const char* name, Id type, const Ids& args);

  // Phase mode (phase_mode.cpp)
  struct PhaseState;
  void make_phase_variables(const ir::Phases& phases, PhaseState& state);
  void run_lane(const ir::Phases& phases, PhaseState& state, Function* body, Id slot);
  Id fault_at(FaultKind kind, const ir::Inst& stop);
  void start_all_lanes(PhaseState& state);
  void load_lane_state(PhaseState& state, Id slot);
  void stop_at_barrier(const ir::Phases& phases, PhaseState& state, Id slot);
  void arrive(const ir::Phases& phases, PhaseState& state, Id slot);
  void release(const ir::Phases& phases, PhaseState& state, Id slot);
  void abandon(const ir::Phases& phases, PhaseState& state, Id outcome, Id slot);
  void abandon_all(const ir::Phases& phases, PhaseState& state, Id outcome);
  void release_lanes(const ir::Phases& phases, PhaseState& state);
  void run_body(const ir::Phases& phases, PhaseState& state, Function* body, Id slot);
  void run_lanes(const ir::Phases& phases, PhaseState& state, Function* body);
  Id living(PhaseState& state, Id slot);
  Id waits(PhaseState& state, Id slot);
  Id stop_value(const ir::Phases& phases, Id which,
                const std::function<Id(const ir::Inst&)>& value_of);
  Id operand_of(const ir::Operand& operand, ir::Width width, Id when_dynamic);
  Id array_element(Id array, Id slot, Id type);

  // Cross-lane operations in phase mode (serial_mode.cpp)
  void begin_wave();
  void stand(const ir::Phases& phases, Id slot);
  void publish_operands(const ir::Phases& phases, Id slot);
  void take_results(const ir::Phases& phases, Id slot);
  void resolve_complete(const ir::Phases& phases, PhaseState& state, Id resolved);
  void resolve_first(const ir::Phases& phases, PhaseState& state);
  void carry_out(const ir::Phases& phases, PhaseState& state);
  void give(const ir::Inst& kind, PhaseState& state, Id slot);
  void give_lane(const ir::Inst& kind, PhaseState& state, Id slot);

  ModuleBuilder& m_;
  const Options& options_;
  const Target& target_;
  const Shape& shape_;
  FaultPoints points_;
  LaneState state_;
  std::vector<std::unique_ptr<LaneState>> more_states_;  ///< of slots 1 ... in wave mode
  Frame frame_;
  Function* entry_ = nullptr;
  Id work_group_ = spv::NoResult;  ///< the built-in variable
  Id invocation_ = spv::NoResult;
};

/// Per invocation, one element for each lane it carries.
struct KernelBuilder::PhaseState {
  struct Saved {
    Id array = spv::NoResult;
    Id variable = spv::NoResult;
    Id type = spv::NoResult;
  };
  std::vector<Saved> registers;  ///< carried registers, `resume` included
  std::vector<Id> array_of;      ///< [register], NoResult when not carried
  Id resume = spv::NoResult;     ///< array: where the lane goes on, kPhaseEnded when it has ended
  Id waiting = spv::NoResult;    ///< array: barrier index the lane waits at, 0 = none
  Id barrier = spv::NoResult;    ///< array: the guest barrier it waits at
  Id round = spv::NoResult;
};

}  // namespace lanewise::spirv
