// Random programs and an interpreter of a few operations, to compare control flow before and after
// a pass. A trace is the sequence of writes to the registers that the original program has.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir::testing {

enum class Shape { any, local, nested };
struct RandomOptions {
  uint32_t blocks = 10;
  Shape shape = Shape::any;
  uint32_t barrier_percent = 0;
  uint32_t switch_percent = 8;
  bool moves = false;       ///< constants and copies in registers of their own, some guarded
  bool arithmetic = false;  ///< with moves: what the passes over values have rules for
};
Program random_program(std::mt19937& rng, const RandomOptions& options);

struct Event {
  uint32_t reg;  ///< kNone: a barrier
  uint64_t value;
  bool operator==(const Event&) const = default;
};

/// Runs until the exit, the event limit or the step limit.
class Machine {
 public:
  Machine(const Program& p, size_t traced_regs, size_t max_events = 300, size_t max_steps = 200000)
      : p_(p),
        regs(p.regs.size()),
        traced_(traced_regs),
        max_events_(max_events),
        steps_(max_steps) {}

  void run_blocks();                             ///< the plain graph
  void run_tree(const std::vector<Node>& body);  ///< the structured form
  bool spent() const { return trace.size() >= max_events_ || steps_ == 0; }

  std::vector<Event> trace;

 private:
  enum class Leave { none, brk, cont, exit };
  void block(const Block& b);
  void inst(const Inst& i);
  Leave list(const std::vector<Node>& nodes);
  Leave node(const Node& n);
  uint64_t value(const Operand& o) const { return o.is_reg() ? regs[o.index] : o.imm; }
  bool holds(const Guard& g) const { return g.always() || (regs[g.reg.id] != 0) != g.negate; }
  bool step() { return !spent() && steps_-- > 0; }

  const Program& p_;

 public:
  std::vector<uint64_t> regs;

 private:
  size_t traced_, max_events_, steps_;
};

/// Every jump is inside what it leaves, nothing follows a jump, no block occurs twice.
void check_shape(const Structured& s);

}  // namespace lanewise::ir::testing
