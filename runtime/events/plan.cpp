#include "runtime/events/plan.hpp"

#include <bit>

#include "runtime/events/points.hpp"
#include "runtime/guest/event_words.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::events {
namespace {

using ir::Op;

/// Where the parameters stand in constant bank 0 of Maxwell code.
constexpr uint64_t kMaxwellParams = 0x140;

bool cached(ir::Isa isa, ir::Space space) {
  if (space == ir::Space::param) return isa == ir::Isa::sass;
  return space != ir::Space::shared;
}

/// A fence of no scope orders nothing: it is how a barrier shows up in the stream of a lane.
bool is_marker(const ir::Inst& inst) {
  return inst.op == Op::fence && inst.mem && inst.mem->scope == ir::Scope::none;
}

bool traced(ir::Isa isa, const ir::Inst& inst) {
  if (!inst.mem) return false;
  switch (inst.op) {
    case Op::load:
      if (inst.mode == static_cast<uint8_t>(ir::LoadMode::descriptor)) return false;
      return cached(isa, inst.mem->space);
    case Op::store:
    case Op::atom:
      return cached(isa, inst.mem->space);
    case Op::cachectl:
      return true;
    case Op::fence:
      return true;
    default:
      return false;
  }
}

/// Lanes that pass the barrier without waiting take no part in the order of waves.
bool waits(const ir::Inst& inst) {
  return inst.op == Op::barrier &&
         static_cast<ir::BarrierKind>(inst.mode) != ir::BarrierKind::arrive;
}

bool is_policy(const ir::Inst& inst) {
  return inst.op == Op::cachectl && inst.mode == static_cast<uint8_t>(ir::CacheCtl::policy_word);
}

/// Consecutive points of one guest instruction and one kind are its components.
void join_components(Plan& plan, const std::vector<uint32_t>& site_of_point) {
  size_t first = 0;
  while (first < plan.points.size()) {
    const Point& a = plan.points[first];
    size_t last = first;
    while (a.access && last + 1 < plan.points.size() && plan.points[last + 1].access &&
           site_of_point[first] != ir::kNone && site_of_point[last + 1] == site_of_point[first] &&
           plan.sites[plan.points[last + 1].site].kind == plan.sites[a.site].kind &&
           plan.points[last + 1].space == a.space)
      ++last;
    if (last != first) {
      trace::Site whole = plan.sites[a.site];
      for (size_t i = first + 1; i <= last; ++i)
        whole.bytes = static_cast<uint16_t>(whole.bytes + plan.points[i].bytes);
      plan.points[first].components = static_cast<uint32_t>(last - first);
      plan.points[first].whole_site = static_cast<uint32_t>(plan.sites.size());
      plan.sites.push_back(std::move(whole));
    }
    first = last + 1;
  }
}

/// Registers that hold one value from their only definition on. The cache policy words of
/// .L2::cache_hint are such registers: compilers keep what createpolicy makes of constants in them.
class Constants {
 public:
  explicit Constants(const ir::Program& program) : isa_(program.isa), values_(program.regs.size()) {
    std::vector<uint32_t> definitions(program.regs.size());
    for (const ir::Block& block : program.blocks)
      for (const ir::Inst& inst : block.insts)
        for (const ir::Reg r : inst.dst) ++definitions[r.id];
    // A copy may stand before what it copies, so as often as something is learnt.
    for (bool more = true; more;) {
      more = false;
      for (const ir::Block& block : program.blocks)
        for (const ir::Inst& inst : block.insts) {
          if (inst.op != Op::mov || inst.dst.size() != 1 || inst.src.size() != 1) continue;
          const uint32_t to = inst.dst[0].id;
          if (definitions[to] != 1 || values_[to]) continue;
          values_[to] = value(inst.src[0]);
          more |= values_[to].has_value();
        }
    }
  }
  std::optional<uint64_t> value(const ir::Operand& o) const {
    if (o.is_imm()) return o.imm;
    return o.is_reg() ? values_[o.index] : std::nullopt;
  }
  /// Has the access a policy word that is not known?
  bool asks_for_policy(const ir::Inst& inst) const {
    return traced(isa_, inst) && inst.op != Op::cachectl && inst.mem->cache.hint.is_reg() &&
           !value(inst.mem->cache.hint);
  }

 private:
  ir::Isa isa_;
  std::vector<std::optional<uint64_t>> values_;
};

void put_markers(ir::Block& block, const Constants& constants) {
  std::vector<ir::Inst> out;
  out.reserve(block.insts.size());
  for (ir::Inst& inst : block.insts) {
    if (waits(inst)) out.push_back(marker(Op::fence, inst));
    if (constants.asks_for_policy(inst)) {
      ir::Inst& word = out.emplace_back(marker(Op::cachectl, inst));
      word.mode = static_cast<uint8_t>(ir::CacheCtl::policy_word);
      word.src = {inst.mem->cache.hint};
    }
    out.push_back(std::move(inst));
  }
  block.insts = std::move(out);
}

}  // namespace

ir::Inst marker(Op op, const ir::Inst& inst) {
  ir::Inst m;
  m.op = op;
  m.guard = inst.guard;
  m.site = inst.site;
  m.mem.emplace();
  return m;
}

Point make_point(const ir::Inst& inst) {
  Point p;
  p.barrier = is_marker(inst);
  p.address = !inst.src.empty();
  p.access = inst.op == Op::load || inst.op == Op::store || inst.op == Op::atom;
  p.policy = is_policy(inst);
  p.write = inst.op == Op::store || inst.op == Op::atom;
  p.space = inst.mem->space;
  p.pointer = inst.mem->pointer;
  p.bytes = inst.mem->bytes();
  p.alignment = std::bit_ceil(inst.mem->alignment());
  p.rule = inst.mem->align;
  const uint32_t form = guest::event_form(inst, 1);
  p.drop = form >> guest::kFormDropShift & 15;
  p.arena = (form & guest::kFormArena) != 0;
  if (p.arena) p.base = guest::kArenaBase;
  if (p.space == ir::Space::param) p.base = kMaxwellParams;
  return p;
}

bool has_loops(const ir::Program& program) {
  for (size_t i = 0; i < program.blocks.size(); ++i)
    for (const uint32_t target : program.blocks[i].term.targets)
      if (target <= i) return true;
  return false;
}

Plan number(ir::Program& program) {
  Plan plan;
  plan.loops = has_loops(program);
  plan.pointers = ir::find_pointers(program);
  const Constants constants(program);
  std::vector<uint32_t> site_of_point;
  for (ir::Block& block : program.blocks) {
    put_markers(block, constants);
    for (ir::Inst& inst : block.insts) {
      inst.event = 0;
      if (!traced(program.isa, inst)) continue;
      Point p = make_point(inst);
      p.hinted = constants.asks_for_policy(inst);
      if (!p.barrier && !p.policy) {
        std::optional<trace::Site> site = describe(program, inst);
        if (!site) continue;
        if (site->hinted)
          site->policy = constants.value(inst.mem->cache.hint).value_or(trace::kPolicyAtRunTime);
        p.site = static_cast<uint32_t>(plan.sites.size());
        p.scalar = site->scalar;
        plan.sites.push_back(std::move(*site));
      }
      inst.mem->pointer = ir::kNone;  // engines find it themselves, where it is wanted
      plan.points.push_back(p);
      site_of_point.push_back(inst.site);
      inst.event = static_cast<uint32_t>(plan.points.size());
    }
  }
  plan.code_bits = static_cast<uint32_t>(std::bit_width(plan.points.size() + 1));
  if (plan.code_bits > 16)
    throw Error(ErrorKind::guest, "kernel " + program.name + " has " +
                                      std::to_string(plan.points.size()) +
                                      " memory instructions; at most 65534 can be traced");
  join_components(plan, site_of_point);
  return plan;
}

uint32_t common_form(const Plan& plan, uint64_t extent, uint64_t local_bytes) {
  const bool brief = extent != 0 && most_words(plan, extent, local_bytes) == plan.points.size();
  return (plan.loops ? 0 : guest::kFormFits) | (brief ? guest::kFormShort : 0);
}

uint64_t most_words(const Plan& plan, uint64_t arena_size, uint64_t local_bytes) {
  uint64_t words = 0;
  const uint64_t capacity = uint64_t{~uint32_t{0} >> plan.code_bits} + 1;
  for (const Point& p : plan.points) {
    const bool shared = p.space == ir::Space::shared;
    const uint64_t size = p.arena ? arena_size : shared ? guest::kWindowSize : local_bytes;
    const bool windows = p.space == ir::Space::generic;  // shared memory's and local memory's
    const bool one = !p.address || (p.access && !windows && size <= uint64_t{1} << 32 &&
                                    (size >> p.drop) < capacity);
    words += one ? 1 : 3;
  }
  return words;
}

}  // namespace lanewise::events
