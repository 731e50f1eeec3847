// One lane's program to SPIR-V: the instructions and the structured control flow of one function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/layout/host_shader.h"
#include "runtime/layout/push_words.hpp"
#include "runtime/spirv/binary/module_builder.hpp"
#include "runtime/spirv/lane/lane_state.hpp"
#include "runtime/spirv/lane/row_question.hpp"
#include "runtime/spirv/lane/row_uses.hpp"
#include "runtime/spirv/waves/member_proof.hpp"

namespace lanewise::spirv {

/// What one instruction yields, in the order of its destinations.
struct Values {
  Id first = spv::NoResult, second = spv::NoResult, third = spv::NoResult, fourth = spv::NoResult;
};

/// How the lanes of a group are laid over invocations.
struct Shape {
  uint32_t lanes = 1;
  uint32_t local_size = 1;
  uint32_t lanes_per_invocation = 1;
  /// The tree is too deep, a loop around a dispatch takes its place (ir::Structured::flattened),
  /// and lanes that the tree holds together come to a barrier or cross-lane operation one by one.
  bool scatters = false;
  bool serial = false;  ///< each invocation carries the lanes of one wave, one after the other
  /// Wave mode: neighbouring invocations carry a wave together, each `lanes_per_invocation` of its
  /// lanes, in slots. Waves smaller than a subgroup share one.
  bool packed = false;
  bool takes_steps = true;  ///< of the budget: some loop may
  /// The driver cuts loops before any budget is used up: lanes look once at the host's wish to
  /// stop.
  bool checks_limit_once = false;
  /// The kernel may read such memory: shared on chip, local in an array.
  bool clears_shared = false, clears_local = false;
  bool locks_shared = false;  ///< some access to shared memory may take the group's lock
  /// Stretches whose checks have nothing to say have a version without any (emit_versions.cpp).
  bool versions = false;
  ir::PointerParams pointers;  ///< what Mem::pointer counts
};

/// Module-level variables that the body's function shares with the entry point.
struct Frame {
  std::vector<LaneState*> states;  ///< of each slot; lane, phase and serial mode have one
  Id push = spv::NoResult;         ///< push constants: runtime/layout/push_words.hpp
  Id lane = spv::NoResult;  ///< Private uint: linear thread index of the lane being run (slot 0)
  Id subgroup_lane = spv::NoResult;  ///< Private uint, wave mode: the invocation in its subgroup
  Id group = spv::NoResult;          ///< Private uvec3
  Id clock = spv::NoResult;          ///< Private uint: counts the reads of the clock registers
  bool barriers = false;             ///< the body may wait for the group itself (direct mode)
  bool waves = false;                ///< the same for cross-lane operations
  Id stopped =
      spv::NoResult;  ///< Private bool: this lane's budget is used up (direct barriers only)
  Id loop_entries = spv::NoResult;  ///< Private uint: loops begun by the invocation
  Id steps = spv::NoResult;         ///< Private uint: back edges of loops that hold barriers
  Id vote = spv::NoResult;          ///< Workgroup uint: one value shared with the whole group
  Id resume = spv::NoResult;        ///< Private uint: phase mode only
  std::vector<Id> carried;          ///< Private variable per register, NoResult = a local one
};

/// A form that lanes can carry out through shared memory, given that all lanes of the group reach
/// it together.
bool runs_in_group(const ir::Inst& inst);

/// A word of the launch block that is always 0 (shaders/INTERFACE.md).
inline constexpr uint32_t kLaunchSpareWord = host_shader::LAUNCH_ZERO;
// Others: bytes of the parameters, and where they begin.
inline constexpr uint32_t kLaunchParamBytesWord = host_shader::LAUNCH_PARAM_BYTES,
                          kLaunchParamsWord = host_shader::LAUNCH_PARAMS;

class LaneEmitter {
 public:
  LaneEmitter(ModuleBuilder& module, const ir::Structured& code, const Options& options,
              const Target& target, const Shape& shape, const Frame& frame);
  /// Writes the body at the module's build point, up to and with the function's return.
  void run();

  // --- used by the tables of native operations (emit_*.cpp) -------------------------------------
  Id src(size_t index);  ///< operand of the current instruction
  Id src_as(size_t index, ir::Width width);
  const ir::Inst& inst() const { return *inst_; }
  ModuleBuilder& module() { return m_; }
  const Target& target() const { return target_; }
  bool int64() const { return m_.int64(); }
  const Options& options() const { return options_; }
  const Shape& shape() const { return shape_; }
  bool has_library(std::string_view name) const;
  /// Calls the library, or throws naming the instruction when the library has no such function.
  Id library(std::string_view name, Id result_type, std::span<const Id> args);
  Id library(std::string_view name, Id result_type, std::initializer_list<Id> args) {
    return library(name, result_type, std::span(args.begin(), args.size()));
  }
  [[noreturn]] void unsupported(const std::string& why) const;

  uint32_t wave_lanes() const { return program_.wave_lanes; }
  Id launch_word(uint32_t word);
  Id push_word(uint32_t word);
  /// The compiler may find out the value of source `index` (an immediate, or computed from such).
  bool may_be_constant(size_t index) const;
  bool constant_here(uint32_t reg) const;
  void follow_constants(const ir::Inst& inst);
  /// The current move is where a constant becomes one that no compiler knows.
  bool hides_move() const;
  /// The same bits, but no compiler knows (Quirks::folds_zero alone).
  Id hidden(Id bits, ir::Width width);
  Id lane() const { return slot_->lane; }
  Id lane_in_wave() {
    if (in_several_slots()) return in_wave(slot_->number);
    return m_.word(spv::OpBitwiseAnd, {lane(), m_.u(wave_lanes() - 1)});
  }
  /// Wave mode with waves that are wider than subgroups.
  bool in_several_slots() const { return shape_.packed && slots_.size() > 1; }
  Id group(unsigned component) { return m_.extract(group_, m_.uint_type, component); }
  Id site() { return m_.u(inst_->site); }
  Id tick();  ///< 64 bits: the next value of the lane's clock

  template <typename Body>
  void when(Id condition, Body body) {
    m_.when(condition, body);
  }

  /// `body` runs in lanes for which `usual` is false, and may in others: such are rare.
  void when_unusual(Id usual, const std::function<void()>& body);

 private:
  // Registers (emitter.cpp)
  struct Slot;
  LaneState& state() { return *slot_->state; }
  void make_slots();
  Slot& holder(uint32_t reg);
  void find_variables();
  void initialise_variables();
  Id read(uint32_t reg);
  void write(uint32_t reg, Id value);
  Id variable(uint32_t reg);
  Id guard_value(const ir::Guard& guard);
  Id value_of(const ir::Operand& operand, ir::Width width);
  /// Stores what was written and is wanted later, or always is.
  void flush(const std::function<bool(uint32_t)>& wanted = {});
  /// Of registers, at the build point, for where the code comes back to what was known there.
  using KnownValues = std::vector<std::pair<uint32_t, Id>>;
  KnownValues known_values() const;
  void set_known_values(const KnownValues& known);
  void forget();
  void will_write(const std::vector<ir::Node>& list);
  void forget_but(const KnownValues& known, uint32_t before);
  void set_results(const Values& values);
  void set_all(Ids results);

  // Instructions
  void emit(const ir::Inst& inst);
  void emit_pure();
  Values pure_values();
  Values pure_library();
  /// Of the current sum of products: how many words of each factor there are, and in one step.
  struct DotSteps {
    uint32_t total, words, flags;
    std::string function;  ///< of the library
  };
  DotSteps dot_steps() const;
  Id dot_word(const DotSteps& steps, uint32_t step, uint32_t n);
  Id dot_call(const DotSteps& steps, Id sum, const Ids& factors);
  Values dot();
  void emit_memory();
  void emit_event();
  void emit_load();
  void emit_store();
  void emit_atom();
  void emit_barrier();
  Values group_reduction();
  void emit_wave();
  Values group_operation();
  // Wave mode: all slots at a time (emit_slots.cpp, emit_subgroup.cpp)
  bool masked() const { return shape_.packed; }
  void run_instruction(const ir::Inst& inst);
  void plan_slots();
  bool diverges_anywhere(const std::vector<ir::Node>& list) const;
  bool once_for_all(const ir::Inst& inst) const;
  void set_library_state(const ir::Inst& inst);
  void in_slots(const std::function<void(uint32_t slot)>& body);
  void find_lane_numbers();
  Id made_of_lane(const ir::Inst& inst);
  class Table;
  struct OfTurns;
  Table turn_table(size_t n, Id type, uint32_t entries);
  void take_turns(uint32_t steps, const std::function<void(Id turn, Id step, Id slot)>& body);
  bool sums_in_turn(const ir::Inst& inst) const;
  void dots_in_turn();
  bool is_long(const ir::Inst& inst) const;
  size_t run_in_turn(size_t first, size_t last);
  void start_masks();
  Id active();
  void set_active(Id mask);
  Id both(Id a, Id b);
  Id inverse(Id a);
  Id any_of(const Ids& of_slots);
  // Masks of a wave, as two words
  struct Mask {
    Id low = spv::NoResult, high = spv::NoResult;
  };
  Id first_in_subgroup();
  Id in_wave(uint32_t slot);
  Mask ballot_of(const Ids& of_slots);
  Mask all_lanes();
  Mask participants(const Ids& taking_part);
  Id holds(const Mask& mask, Id lane);
  Id is_empty(const Mask& mask);
  Id equal(const Mask& a, const Mask& b);
  Id lowest(const Mask& mask);
  Id pick_slot(const Ids& values, Id slot);
  Id shuffled(Id value, Id lane);
  Id quad_lane(Id value, uint32_t place);
  Id value_of_lane(const Ids& values, Id lane);
  Ids gathered(const Ids& values, const Ids& from, bool inside = false);
  Ids shuffled_by(const Ids& values, uint32_t distance, ir::ShflMode mode);
  void subgroup_operation(const ir::Inst& inst);
  void give_to_slots(const std::function<Values(uint32_t slot)>& of_slot, bool alike);
  void vote(const std::vector<Mask>& members, const Ids& taking_part);
  void shuffle(const Mask& present, const Ids& taking_part);
  void match(const std::vector<Mask>& members, const Ids& taking_part);
  void reduce(const std::vector<Mask>& members, const Ids& taking_part);
  void read_lane();
  // Member masks that lanes look at as they run (emit_members.cpp)
  void plan_members();
  bool ends_apart(const std::vector<ir::Node>& list, bool apart) const;
  Mask live_lanes();
  void end_active();
  void ask_members(const Mask& present, const Ids& taking_part);
  void reduce_apart(const std::vector<Mask>& members);
  Ids masks_named();
  Values group_vote();
  Values group_match();
  void emit_trap();
  Values special_register();
  Values buffer_address();
  Values buffer_format();
  void emit_report();

  // Addresses (address.cpp)
  Id base_address();
  Id forced_address();
  bool is_aligned() const;
  Id hide_address(Id address, ir::Width width);
  static bool is_retry_loop(const ir::Inst& inst);
  bool has_retry_loops() const;
  Id add64(Id value, uint64_t addend);
  Id add32(Id value, uint32_t addend);
  bool has_windows() const;
  ir::Space memory_space() const;
  uint64_t space_bytes(ir::Space space) const;
  /// Where an address lies: the offset in its space and, of generic ones, which space that is.
  struct Place {
    Id offset = spv::NoResult;  ///< uint, or b64 in a large arena
    Id window = spv::NoResult;  ///< uint: 0 arena, 1 shared, 2 local; NoResult = known
    Id high = spv::NoResult;    ///< uint: must be 0 for the offset to mean anything
  };
  Place place_of(Id address);
  Id arena_pointer(Id offset);
  Id window_base() const;

  // Checks (emit_check.cpp)
  void prepare_limits();
  void emit_check();
  void emit_unwritten();
  bool searches_allocations(const ir::Inst& check) const;
  void find_allocations();
  Id allocation_allows(Id address, uint32_t bytes);
  Id outside(const Place& place, Id address, uint32_t bytes);
  Id outside_small(Id offset, uint64_t size, uint32_t bytes);

  // Versions of a stretch: checked in full, and not at all (emit_versions.cpp)
  void run_range(size_t first, size_t last);
  size_t run_versions(size_t first, size_t last);
  void run_in_full(size_t first, size_t last);
  void renew_addresses(size_t first, size_t row);
  void renew(uint32_t reg, size_t before, size_t now, size_t row);
  bool has_question(const ir::Inst& inst) const;
  bool has_one_row() const;
  size_t end_of_row(size_t first, size_t row, size_t last);
  RowUses& row_uses();
  Id wanted_by_check();
  bool is_aligned_pointer(uint32_t offset) const;
  bool asks_often(size_t first, size_t row) const;
  void count_asking_blocks();
  Id ask_row(size_t first, size_t row);
  RowQuestion::Pointer pointer_of(uint32_t pointer, bool write);
  std::optional<RowQuestion::Pointer> pointer_at(uint32_t param, bool write);
  RowQuestion::Pointer with_windows(RowQuestion::Pointer pointer) const;
  RowQuestion::Pointer all_memory(bool write);
  RowQuestion::Pointer last_found(size_t first, size_t index);

  // Memory (emit_memory.cpp)
  struct Access;
  Access access();
  Ids library_place(const Access& access, uint32_t byte_offset);
  std::string access_form(const Access& access, uint32_t bytes) const;
  Ids load_component(const Access& access, uint32_t offset, uint32_t bytes);
  Ids elements_of(const Ids& words, uint32_t bytes);
  void store_component(const Access& access, uint32_t offset, uint32_t bytes);
  Ids load_parameter(uint32_t offset);
  uint32_t parameter_offset() const;
  Id param_word(uint32_t offset);
  Id at_start(const std::function<Id()>& value);
  void find_parameters();
  Id extend(Id word, ir::Type elem);
  uint32_t atomic_flags() const;
  size_t value_count() const;
  void order_before();
  void order_after();
  void fence_call(ir::Scope scope);
  void fence();
  Id unless_stopped(Id condition);
  Id activity();  ///< the instruction's guard, and that the lane was not stopped

  // Control flow (emit_control.cpp)
  void nodes(const std::vector<ir::Node>& list);
  void node(const ir::Node& n);
  void run_block(uint32_t block);
  void emit_if(const ir::Node& n);
  void emit_loop(const ir::Node& n);
  void emit_scope(const ir::Node& n);
  void leave();  ///< returns from the function
  void end_lane();
  static bool has_node(const std::vector<ir::Node>& list, ir::Node::Kind kind);
  void note_budget(uint32_t site);
  /// What a lane writes when it leaves a loop by itself, on devices that cut loops.
  struct LoopMark {
    uint32_t number = 0;          ///< in shared memory, 0 = nothing
    Id variable = spv::NoResult;  ///< or here: Function uint
    Id entry = spv::NoResult;     ///< what is written there, another word each time a loop begins
    bool any() const { return number != 0 || variable != spv::NoResult; }
  };
  LoopMark begin_mark();
  void write_mark(const LoopMark& mark);
  Id was_marked(const LoopMark& mark);
  Id not_left(const LoopMark& mark, uint32_t site);
  Id group_may_go_on(uint32_t site);
  Id group_must_stop(Id iterations);
  bool has_barrier(const std::vector<ir::Node>& list) const;
  // Wave mode (emit_masked.cpp)
  void masked_if(const ir::Node& n);
  void uniform_if(const ir::Node& n);
  void masked_scope(const ir::Node& n);
  void masked_loop(const ir::Node& n);
  void leave_construct(const ir::Node& n);
  void masked_jump(const ir::Node& n);
  void masked_trap();
  void loop_of_wave(const ir::Node& n);
  void stop_wave(const Ids& who, Id stopped, uint32_t site, bool group);
  void run_guarded(Id condition, const std::function<void()>& body);
  void reload_masks();
  void keep_masks_if(bool changes);
  Ids lane_flags(const char* name);
  void deactivate(const Ids& variables);
  Ids reactivated(const Ids& lanes, const Ids& variables);
  bool uniform_condition(const ir::Node& n) const;
  Id condition_of_wave(const ir::Node& n);
  Ids masks();
  void set_masks(const Ids& masks);

  ModuleBuilder& m_;
  const ir::Structured& code_;
  const ir::Program& program_;
  const Options& options_;
  const Target& target_;
  const Shape& shape_;
  const Frame& frame_;
  ir::Liveness live_;
  const ir::Inst* inst_ = nullptr;
  std::optional<RowUses> uses_;  ///< of the block uses_block_
  uint32_t uses_block_ = 0;
  bool one_row_ = false;  ///< has_one_row()
  Id hidden_zero_ = spv::NoResult;
  Id arena_ = spv::NoResult;  ///< the arena's device address, where it is used
  /// The first offset too large for an access, in the arena and behind a pointer parameter.
  struct Reach {
    uint32_t bytes = 0;
    uint32_t pointer = ir::kNone;
    bool write = false;  ///< of a pointer's
    auto operator<=>(const Reach&) const = default;
  };
  Reach reach_of(const ir::Inst& check) const;
  Id limit_of(Id size, uint32_t bytes);
  Id limit(const Reach& reach);
  Id start(uint32_t pointer);
  bool wide_offsets() const;
  Id launch_size(uint32_t word);
  std::map<Reach, Id> limits_;
  std::map<uint32_t, Id> bases_;   ///< by pointer parameter, see LAUNCH_POINTER_BASES
  std::map<uint32_t, Id> starts_;  ///< by pointer parameter: where its allocation lies in the arena
  std::vector<bool> constant_;     ///< by register: some definition depends on immediates alone
  std::vector<bool> merged_;       ///< by register: constants that are moved there are hidden
  /// The same of what the block that is emitted has written so far.
  std::vector<bool> constant_now_;
  std::vector<uint32_t> written_here_;  ///< by register: the block (this_block_) that did last
  uint32_t this_block_ = 0;             ///< counts the blocks that were begun
  Id group_ = spv::NoResult;
  Id subgroup_lane_ = spv::NoResult;  ///< wave mode

  /// What there is of each lane that the invocation carries at a time.
  struct Slot {
    uint32_t number = 0;
    LaneState* state = nullptr;
    Id lane = spv::NoResult;
    // By register:
    std::vector<Id> variables;  ///< made at first use
    std::vector<Id> cache;      ///< value known at the build point
    std::vector<uint32_t> cached, dirty;
    // Wave mode: does the lane take part? NoResult = surely.
    Id active = spv::NoResult;           ///< known at the build point
    Id active_variable = spv::NoResult;  ///< where it is kept from block to block
    Id ended = spv::NoResult;  ///< Function bool, where some operation asks for the lanes that live
    /// Of the check that is emitted, where all slots have searched together: how many allocations
    /// begin at or below the address.
    Id found = spv::NoResult;
  };
  std::vector<Slot> slots_;
  Slot* slot_ = nullptr;  ///< the one whose instruction is emitted
  /// Wave mode: registers and conditions that are the same in all lanes of a wave (of a group,
  /// where waves share subgroups), and those of them that exist once for all slots.
  std::vector<bool> uniform_, shared_;
  std::unique_ptr<MemberProof> members_;                ///< wave mode
  std::map<std::pair<Id, uint32_t>, Ids> turn_tables_;  ///< by type and length
  /// By register: what makes it of the lane's number and immediates alone, or null. In each block
  /// it is computed again, as what is known of its bits is known of no variable.
  std::vector<const ir::Inst*> of_lane_;
  MemberUse member_use_;            ///< of the current instruction
  uint32_t block_ = 0, index_ = 0;  ///< which one is emitted
  uint32_t divergence_ = 0;  ///< constructs around the build point whose lanes may be inactive
  bool full_ = false;        ///< no lane of the group is missing and none has ended or is inactive

  // All by register:
  std::vector<bool> live_across_;     ///< live into or out of some block
  std::vector<bool> always_;          ///< stored at the end of every block that writes it
  std::vector<bool> zeroed_;          ///< may be read before it is written
  std::vector<bool> stored_;          ///< scratch of flush()
  std::vector<uint32_t> written_at_;  ///< which of all writes was the register's last one
  uint32_t writes_ = 0;
  std::vector<bool> carried_;  ///< written in two versions: found in variables behind them
  /// The load of a parameter that is all that ever writes the register, or null.
  std::vector<const ir::Inst*> parameter_;
  std::unordered_map<Id, uint32_t> param_words_;  ///< words of parameters: their offsets
  /// Where the function begins, and the words of the launch that are read there.
  Block* start_ = nullptr;
  bool at_start_ = false;
  std::unordered_map<uint32_t, Id> push_words_, launch_words_;
  std::unordered_map<uint32_t, uint32_t> asking_blocks_;  ///< with checks, by pointer
  /// By check that searches: variables with the allocation that was found last, and its size.
  struct Found {
    Id start = spv::NoResult, bytes = spv::NoResult;
  };
  std::unordered_map<const ir::Inst*, Found> found_;
  uint32_t quick_ = 0;  ///< versions around the build point whose accesses are known to be allowed
  std::vector<uint32_t> allowed_;  ///< the answers of their checks
  struct Construct {
    Block* break_to = nullptr;
    Block* continue_to = nullptr;  ///< null for a scope
    LoopMark mark = {};
    bool broken = false, continued = false;
    // Wave mode, where a construct is left divergently: Function bools by slot.
    Ids left = {}, continues = {};
  };
  std::vector<Construct> constructs_;
  uint32_t loops_ = 0;  ///< marked loops so far
};

/// One row of the table of native operations: with which types and on which devices an operation
/// has SPIR-V instructions of exactly its meaning. Operations without a row go to the library.
using NativeFn = Values (*)(LaneEmitter&, spv::Op);
struct NativeRow {
  ir::Op op;
  uint32_t types;  ///< bit per ir::Type
  bool (*when)(const LaneEmitter&);
  NativeFn emit;
  spv::Op code = spv::OpNop;
};
/// Of rows that do not ask for the type.
inline constexpr uint32_t kAnyType = ~0U;
constexpr uint32_t bit(ir::Type type) {
  return 1U << static_cast<unsigned>(type);
}
const NativeRow* find_native(const LaneEmitter& emitter, const ir::Inst& inst);
/// The rows of one file; each emit_*.cpp has its own table.
using NativeTable = const std::span<const NativeRow>;
extern NativeTable integer_rows;
extern NativeTable float_rows;
extern NativeTable convert_rows;
extern NativeTable move_rows;
extern NativeTable own_rows;
extern NativeTable quick_rows;

}  // namespace lanewise::spirv
