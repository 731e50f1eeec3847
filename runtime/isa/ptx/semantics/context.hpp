// The state of a lowering: one ModuleContext per file, one KernelContext per kernel, one Body per
// (inlined) function, one Emit per instruction.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "runtime/isa/ptx/semantics/recursion.hpp"
#include "runtime/isa/ptx/semantics/scan.hpp"
#include "runtime/isa/ptx/table.hpp"
#include "runtime/isa/ptx/verdicts.hpp"

namespace lanewise::ptx {

/// Thrown by every check; caught at the statement, where it becomes a diagnostic.
struct Reject {
  Loc loc;
  std::string message;
};

class ModuleContext {
 public:
  ModuleContext(const Module& module, const LowerOptions& options);

  const Module& module;
  const LowerOptions& options;
  const std::unique_ptr<const Verdicts> verdicts;
  ir::Module out;
  std::vector<Diagnostic> diagnostics;
  std::vector<Diagnostic>* kernel_errors = nullptr;  ///< of the kernel in work, when there is one
  std::set<const Function*> lowered;                 ///< functions inlined somewhere

  void report(Loc loc, const std::string& message, bool warning = false);
  const Variable* variable(const std::string& name) const;
  const Function* function(const std::string& name) const;
  const FunctionUses& uses(const Function& function);
  /// The function can come to a call of itself, by names and by what pointers may lead to.
  bool calls_itself(const Function& function);
  /// Position in ir::Module::functions; kNone when its address is never taken.
  uint32_t function_index(const std::string& name) const;
  const std::string* file_name(uint32_t number) const;

 private:
  void find_taken_addresses();
  void find_recursion();
  std::unordered_map<std::string, const Variable*> variables_;
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_map<const Function*, FunctionUses> uses_;
  std::optional<std::set<const Function*>> recursive_;  ///< when it has been asked for
  std::set<std::tuple<uint32_t, uint32_t, std::string>> seen_;
};

/// The bytes of a .param variable of a call: word registers, or local memory when some access has
/// no constant offset.
struct ParamObject {
  std::string name;
  uint32_t size = 0;
  uint32_t align = 1;
  bool in_memory = false;
  /// Where in local memory: a number, or in a function that calls itself the register that holds
  /// it.
  ir::Operand base = ir::Operand::immediate(0);
  uint32_t frame_at = 0;  ///< in such a function: from the frame's begin (Recursion::reserve)
  std::vector<ir::Reg> words;
};

/// What a name stands for inside a function.
struct Entity {
  enum class Kind : uint8_t { reg, variable, label, targets, prototype };
  Kind kind = Kind::reg;
  Loc loc;
  PType type;                 ///< registers: as declared
  std::vector<ir::Reg> regs;  ///< one, or one per element of a vector register; .b128: two halves
  const Variable* variable = nullptr;
  ir::Space space = ir::Space::global;
  ir::Operand base;                     ///< address of a variable in its space
  std::shared_ptr<ParamObject> object;  ///< .param variables of calls and functions
  bool input = false;                   ///< parameter of the function: read only
  uint32_t block = ir::kNone;
  const TargetList* targets = nullptr;
  const CallPrototype* prototype = nullptr;
};

class KernelContext {
 public:
  KernelContext(ModuleContext& module, const Function& kernel);

  ModuleContext& module;
  const Function& kernel;
  ir::Program program;
  ir::Builder builder;
  std::vector<const Function*> call_stack;
  size_t lowered_instructions = 0;  ///< with every inlined copy
  Recursion recursion;

  ir::Reg carry();  ///< CC.CF
  uint32_t symbol(const std::string& name);
  uint32_t site(const Instruction& inst, const SourceLine& source);
  uint32_t allocate_local(uint64_t size, uint32_t align);
  /// Where in local memory functions that call themselves have their frames.
  uint32_t stack();
  void say_function(ir::Site& site) const;
  /// Bytes of a lane that `alloca` gives out.
  static constexpr uint32_t kAllocaBytes = 64 << 10;
  /// Where in local memory they begin.
  uint32_t alloca_area();
  /// How many of them are taken; functions give back what they took when they return.
  ir::Reg alloca_top();
  size_t allocas = 0;  ///< lowered so far
  /// Shared memory that `%reserved_smem_offset_...` name, as much as GPUs keep. It stands behind
  /// the kernel's own, as for sm_80, in kernels that name it.
  static constexpr uint32_t kReservedShared = 1024;
  static constexpr std::string_view kReservedNames = "%reserved_smem_offset_";
  bool cluster_waits = false,
       may_take_15 = false;  ///< `barrier.cluster.wait`; a barrier that may be 15
  uint32_t shared_offset(const Variable& variable) const { return shared_.at(&variable); }
  bool has_shared(const Variable& variable) const { return shared_.contains(&variable); }

 private:
  void plan_shared();
  void plan_params();
  ir::Reg carry_;
  std::optional<uint32_t> stack_, alloca_area_;
  ir::Reg alloca_top_;
  std::unordered_map<std::string, uint32_t> symbols_;
  std::unordered_map<const Instruction*, uint32_t> sites_;
  std::unordered_map<const Variable*, uint32_t> shared_;
};

/// Lowers one function body into the kernel: the entry itself or one inlined call.
class Body {
 public:
  Body(KernelContext& kernel, const Function& function, uint32_t return_block);

  KernelContext& kernel;
  const Function& function;
  const uint32_t return_block;  ///< kNone: returning ends the lane

  void bind_param(const Variable& param, std::shared_ptr<ParamObject> object, bool input);
  void bind_kernel_param(const Variable& param, uint32_t offset);
  void declare(const Variable& variable);
  void run();

  Entity* find(const std::string& name);
  /// What a half of a .b128 register is called here; no guest name has this character.
  static std::string half_name(const std::string& name, unsigned half) {
    return name + (half == 0 ? "#0" : "#1");
  }
  ir::Builder& builder() { return kernel.builder; }
  /// Ends the current block; what follows is unreachable until a label.
  void close() { open_ = false; }
  /// Starts a block, falling through from the current one.
  void enter(uint32_t block);
  bool open() const { return open_; }
  std::shared_ptr<ParamObject> make_object(const std::string& name, uint64_t size, uint32_t align,
                                           bool in_memory);
  bool needs_memory(const std::string& name, uint64_t size) const;

 private:
  struct Range {
    PType type;
    uint32_t count;
    uint32_t vector;
    Loc loc;
  };
  struct Level {
    std::unordered_map<std::string, Entity> entities;
    std::unordered_map<std::string, Range> ranges;  ///< by prefix
  };
  void scope(const Scope& scope);
  void predeclare(const Scope& scope);
  void statement(const Statement& statement);
  void instruction(const Instruction& inst);
  Entity& add(const std::string& name, Loc loc, Entity entity);
  void declare_register(const Variable& variable);
  Entity* find_ranged(Level& level, const std::string& name);
  Entity* find_element(const std::string& name);
  Entity* find_half(const std::string& name);
  std::vector<ir::Reg> make_registers(PType type, uint32_t vector, const std::string& name);
  Entity* find_module_variable(const std::string& name);

  const FunctionUses& uses_;
  std::vector<Level> levels_;
  std::unordered_map<std::string, Entity> globals_;
  SourceLine source_;
  bool open_ = true;
};

}  // namespace lanewise::ptx
