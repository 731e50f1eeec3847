// Functions that call themselves. Such a function is lowered once; a call from inside it saves the
// registers that are still wanted in the lane's stack, which is local memory, and enters it again.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/ir/builder.hpp"
#include "runtime/isa/stack_size.hpp"

namespace lanewise::ptx {

struct Function;
struct Entity;

/// One function while it is lowered, with the calls of it from inside.
struct Activation {
  struct Call {
    uint32_t site = ir::kNone;
    /// Blocks: does it fit; registers are saved; arguments are passed; results are taken;
    /// registers come back; what follows the call.
    uint32_t check, save, enter, land, restore, resume;
    std::vector<ir::Reg> results;  ///< taken, and not to be overwritten by what comes back
    uint32_t fault;
  };
  const Function* function = nullptr;
  uint32_t entry = ir::kNone;     ///< where every call of it begins
  uint32_t returned = ir::kNone;  ///< where every call of it ends
  uint32_t leave = ir::kNone;     ///< behind the outermost one
  uint32_t pop = ir::kNone;
  ir::Reg depth;  ///< calls from inside that have not ended
  uint32_t first_reg = 0, end_reg = 0;
  size_t frame = 0;                     ///< Recursion::frames_
  std::vector<Entity> params, results;  ///< what callers fill and read
  std::vector<Call> calls;
};

class Recursion {
 public:
  /// Of a lane, all frames together, unless a launch asks for another size.
  static constexpr uint32_t kStackBytes = kStandardStack;

  Recursion(ir::Program& program, ir::Builder& builder) : program_(program), b_(builder) {}

  Activation& begin(const Function& function, uint32_t returned);
  void end();
  /// The function is being lowered and can be entered again.
  Activation* active(const Function& function);
  bool inside() const { return !open_.empty(); }
  /// A variable of the frame: where it begins in it.
  uint32_t reserve(uint64_t bytes, uint32_t align);
  /// The register that is to hold its address in local memory, in whatever frame this is.
  void locate(uint32_t at, ir::Reg address);
  /// The blocks of one more call from inside; ends the current block.
  Activation::Call& call(Activation& activation, uint32_t site);
  /// Once the whole kernel is there: `make_stack` gives it its place, the last in local memory.
  void finish(const std::function<uint32_t()>& make_stack);

 private:
  struct Frame {
    uint64_t variables = 0;  ///< bytes
    size_t saved = 0;        ///< registers at most
    uint64_t token() const { return (variables + 7) / 8 * 8 + 8 * saved; }
    uint64_t bytes() const { return (token() + 4 + 15) / 16 * 16; }
  };
  void connect(Activation& a);
  std::vector<ir::Reg> wanted(const Activation& a, const Activation::Call& call,
                              const std::vector<uint32_t>& live) const;
  void fill(const Activation& a);
  void save(ir::Reg reg, int64_t at);
  void restore(ir::Reg reg, int64_t at);
  ir::Inst& access(ir::Op op, ir::Type type, std::vector<ir::Reg> dst, std::vector<ir::Operand> src,
                   int64_t at);

  ir::Program& program_;
  ir::Builder& b_;
  ir::Reg top_;  ///< where the current frame begins in local memory, of which the stack is the end
  std::vector<Frame> frames_;
  std::deque<Activation> all_;
  std::vector<Activation*> open_;
  std::vector<std::vector<std::vector<ir::Reg>>> saved_;  ///< [activation][call]
};

}  // namespace lanewise::ptx
