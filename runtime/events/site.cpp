// From an instruction of the IR to what the cache tracker's tables look at.
#include <stdexcept>

#include "runtime/events/plan.hpp"
#include "runtime/support/beside.hpp"

namespace lanewise::events {
namespace {

using ir::Op;
using trace::OpKind;
using trace::Site;

trace::Space space_of(ir::Space space) {
  using trace::Space;
  static constexpr std::pair<ir::Space, Space> kSpaces[] = {
      {ir::Space::generic, Space::generic}, {ir::Space::local, Space::local},
      {ir::Space::shared, Space::shared},   {ir::Space::constant, Space::constant},
      {ir::Space::param, Space::constant},  {ir::Space::code, Space::instruction},
  };
  return beside(kSpaces, space, Space::global);
}

OpKind kind_of(const ir::Inst& inst) {
  static constexpr std::pair<Op, OpKind> kKinds[] = {
      {Op::load, OpKind::load},        {Op::store, OpKind::store}, {Op::atom, OpKind::atomic},
      {Op::cachectl, OpKind::control}, {Op::fence, OpKind::fence},
  };
  return beside(kKinds, inst.op, OpKind::none);
}

trace::ControlOp control_of(ir::CacheCtl what) {
  using ir::CacheCtl, trace::ControlOp;
  static constexpr std::pair<CacheCtl, ControlOp> kControls[] = {
      {CacheCtl::prefetch_l1, ControlOp::prefetch_l1},
      {CacheCtl::prefetch_l15, ControlOp::prefetch_l15},
      {CacheCtl::prefetch_l2, ControlOp::prefetch_l2},
      {CacheCtl::prefetch_l2_evict_last, ControlOp::prefetch_l2_evict_last},
      {CacheCtl::prefetch_l2_evict_normal, ControlOp::prefetch_l2_evict_normal},
      {CacheCtl::write_back, ControlOp::write_back},
      {CacheCtl::invalidate, ControlOp::invalidate},
      {CacheCtl::invalidate_all, ControlOp::invalidate_all},
      {CacheCtl::reset, ControlOp::reset},
      {CacheCtl::write_back_all, ControlOp::write_back_all},
      {CacheCtl::demote_normal, ControlOp::demote_normal},
      {CacheCtl::discard, ControlOp::discard},
  };
  for (const auto& [own, control] : kControls)
    if (own == what) return control;
  throw std::logic_error("a policy word has no site of its own");
}

/// OpKind begins as the kinds of facts do.
constexpr bool same(OpKind kind, ir::CacheFacts::Kind fact) {
  return static_cast<size_t>(kind) == static_cast<size_t>(fact);
}
static_assert(same(OpKind::none, ir::CacheFacts::Kind::none) &&
              same(OpKind::load, ir::CacheFacts::Kind::load) &&
              same(OpKind::store, ir::CacheFacts::Kind::store) &&
              same(OpKind::atomic, ir::CacheFacts::Kind::atomic) &&
              same(OpKind::control, ir::CacheFacts::Kind::control) &&
              same(OpKind::fence, ir::CacheFacts::Kind::fence));

bool orders(OpKind kind) {
  return kind == OpKind::fence || kind == OpKind::control;
}

/// What the guest instruction says as a whole, of an operation of its kind.
void from_instruction(const ir::CacheFacts& f, Site& s) {
  s.glc = f.glc;
  s.slc = f.slc;
  s.scalar = f.scalar;
  s.volatile_lines = f.volatile_lines;
  s.system_lines = f.system_lines;
  s.invalidates = f.invalidates;
  if (f.generic) s.space = trace::Space::generic;
  s.target = static_cast<trace::Target>(f.cache);
  s.encoding.register_address = f.register_address;
  s.encoding.nonzero_immediate = f.nonzero_immediate;
  s.encoding.extended = f.extended;
  s.encoding.read_scoreboard = f.read_scoreboard;
  s.encoding.wait = f.wait;
}

void from_memory(const ir::Inst& inst, const ir::CacheFacts* instruction, Site& s) {
  const ir::Mem& mem = *inst.mem;
  s.order = mem.order;
  s.scope = mem.scope;
  const ir::CachePolicy& cache = mem.cache;
  s.op = cache.op;
  s.l1 = cache.l1;
  s.l2 = cache.l2;
  s.prefetch_bytes = cache.prefetch_bytes;
  s.glc = s.glc || cache.glc;
  s.slc = s.slc || cache.slc;
  if (inst.op == Op::fence) return;
  s.space = space_of(mem.space);
  if (inst.op == Op::cachectl) {
    const auto own = static_cast<ir::CacheCtl>(inst.mode);
    s.control = control_of(instruction != nullptr ? instruction->control.value_or(own) : own);
    if (instruction != nullptr) return;
    if (mem.space == ir::Space::constant) s.target = trace::Target::constant;
    if (mem.space == ir::Space::code) s.target = trace::Target::instruction;
    s.encoding.register_address = !inst.src.empty();
    return;
  }
  s.bytes = static_cast<uint16_t>(mem.bytes());
  s.emitted =
      inst.op == Op::atom || ir::is_strong(inst) ? trace::Emitted::atomic : trace::Emitted::plain;
  s.hinted = cache.hint.kind != ir::Operand::Kind::none;
}

}  // namespace

std::optional<Site> describe(const ir::Program& program, const ir::Inst& inst) {
  const auto dialect = static_cast<trace::Dialect>(program.isa);
  const ir::Site source = inst.site < program.sites.size() ? program.sites[inst.site] : ir::Site();
  const OpKind kind = kind_of(inst);
  const auto whole = static_cast<OpKind>(source.cache.kind);  // the same numbering
  if (whole != kind && orders(kind) && orders(whole)) return {};
  Site s;
  s.dialect = dialect;
  if (whole == kind) from_instruction(source.cache, s);
  s.kind = kind;
  s.pc = source.pc;
  // A place is a line of the file it names: the source's where .loc names it, else the guest's own.
  s.line = source.source_file.empty() ? source.line : source.source_line;
  s.text = source.text.empty() ? std::string(ir::info(inst.op).name) : source.text;
  s.file = source.source_file;
  from_memory(inst, whole == kind ? &source.cache : nullptr, s);
  return s;
}

}  // namespace lanewise::events
