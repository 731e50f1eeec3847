// Barriers that all lanes of the group are known to reach together.
#include "runtime/guest/engine.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::spirv {

/// Votes of the whole group: one shared word, emptied before and read after a barrier.
Values LaneEmitter::group_reduction() {
  const auto kind = static_cast<ir::BarrierKind>(inst_->mode);
  const bool all = kind == ir::BarrierKind::red_and;
  // red_and counts the lanes that disagree, so that one word serves every kind.
  Id count = spv::NoResult;
  in_slots([&](uint32_t) {
    const Id mine = src_as(2, ir::Width::pred);
    const Id counted = both(all ? m_.negated(mine) : mine, active());
    const Id one = m_.select(counted, m_.u(1), m_.u(0));
    count = count == spv::NoResult ? one : m_.word(spv::OpIAdd, {count, one});
  });
  const Id first = m_.equals(lane(), 0);
  when(first, [&] { m_.create_store(m_.u(0), frame_.vote); });
  library("lw_barrier", m_.void_type, {});
  m_.word(spv::OpAtomicIAdd,
          {frame_.vote, m_.u(spv::ScopeWorkgroup), m_.u(spv::MemorySemanticsMaskNone), count});
  library("lw_barrier", m_.void_type, {});
  const Id votes = m_.create_load(frame_.vote);
  library("lw_barrier", m_.void_type, {});
  if (kind == ir::BarrierKind::red_popc) return {votes};
  return {m_.op(all ? spv::OpIEqual : spv::OpINotEqual, m_.bool_type, {votes, m_.u(0)})};
}

void LaneEmitter::emit_barrier() {
  if (!frame_.barriers) {
    throw Error(ErrorKind::guest, "internal: a barrier was left in a phase");
  }
  if (static_cast<ir::BarrierKind>(inst_->mode) == ir::BarrierKind::sync) {
    library("lw_barrier", m_.void_type, {});
    return;
  }
  const Values votes = group_reduction();
  in_slots([&](uint32_t) { set_results(votes); });
}

}  // namespace lanewise::spirv
