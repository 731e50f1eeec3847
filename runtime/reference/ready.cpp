#include "runtime/reference/ready.hpp"

namespace lanewise::reference {
namespace {

/// Beyond that all are dropped.
constexpr size_t kMostKept = 256;

ir::Program free_loops_marked(const ir::Program& from) {
  static_cast<void>(decode(from));  // refuses what passes would trip over
  ir::Program program = from;
  ir::mark_free_loops(program);
  return program;
}

ir::PointerParams narrowed(ir::Program& program) {
  ir::PointerParams found = ir::find_pointers(program);
  ir::narrow_generic(program);
  return found;
}

/// Where lanes that diverge come to cross-lane operations, the program runs as its tree has it.
std::optional<ir::WaveOrder> order_of(const ir::Program& program, bool lockstep) {
  if (!lockstep && (!ir::has_wave_ops(program) || ir::convergence_uniform(program))) return {};
  return ir::order_waves(program, ir::CountLoops::with_wave_ops);
}

}  // namespace

Ready::Ready(const ir::Program& from, Wishes wishes)
    : program(free_loops_marked(from)),
      pointers(wishes.pointers ? narrowed(program) : ir::PointerParams()),
      order(order_of(program, wishes.lockstep)),
      decoded(order ? decode(*order, wishes) : decode(program, wishes)),
      order_seen(reference::order_seen(program)) {}

std::shared_ptr<const Ready> ReadyPrograms::get(const ir::Program& program, uint64_t id,
                                                Wishes wishes) {
  if (id == 0) return std::make_shared<const Ready>(program, wishes);
  if (const auto known = kept_.find({id, wishes}); known != kept_.end()) return known->second;
  if (kept_.size() >= kMostKept) kept_.clear();
  return kept_[{id, wishes}] = std::make_shared<const Ready>(program, wishes);
}

}  // namespace lanewise::reference
