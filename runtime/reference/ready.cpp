#include "runtime/reference/ready.hpp"

#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

/// Beyond that all are dropped.
constexpr size_t kMostKept = 256;

ir::Program free_loops_marked(const ir::Program& from) {
  const std::vector<std::string> defects = ir::verify(from);
  if (!defects.empty()) throw Error(ErrorKind::guest, defects.front());
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

/// Lanes that take no turns need not pause.
Wishes of_order(Wishes wishes, const OrderSeen& seen) {
  wishes.ahead = wishes.ahead && seen.lanes;
  return wishes;
}

}  // namespace

Ready::Ready(const ir::Program& from, Wishes wishes)
    : program(free_loops_marked(from)),
      pointers(wishes.pointers ? narrowed(program) : ir::PointerParams()),
      order(order_of(program, wishes.lockstep)),
      order_seen(reference::order_seen(program)),
      decoded(decode(order ? order->tree.program : program, of_order(wishes, order_seen),
                     order ? &*order : nullptr)) {}

std::shared_ptr<const Ready> ReadyPrograms::get(const ir::Program& program, uint64_t id,
                                                Wishes wishes) {
  if (id == 0) return std::make_shared<const Ready>(program, wishes);
  if (const auto known = kept_.find({id, wishes}); known != kept_.end()) return known->second;
  if (kept_.size() >= kMostKept) kept_.clear();
  return kept_[{id, wishes}] = std::make_shared<const Ready>(program, wishes);
}

}  // namespace lanewise::reference
