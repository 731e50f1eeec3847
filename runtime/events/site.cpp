// From an instruction of the IR to what the cache tracker's tables look at.
#include <stdexcept>

#include "runtime/events/plan.hpp"

namespace lanewise::events {
namespace {

using ir::Op;
using trace::OpKind;
using trace::Site;

trace::Space space_of(ir::Space space) {
  switch (space) {
    case ir::Space::generic:
      return trace::Space::generic;
    case ir::Space::local:
      return trace::Space::local;
    case ir::Space::shared:
      return trace::Space::shared;
    case ir::Space::constant:
    case ir::Space::param:
      return trace::Space::constant;
    case ir::Space::code:
      return trace::Space::instruction;
    case ir::Space::global:
      break;
  }
  return trace::Space::global;
}

OpKind kind_of(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::load:
      return OpKind::load;
    case Op::store:
      return OpKind::store;
    case Op::atom:
      return OpKind::atomic;
    case Op::cachectl:
      return OpKind::control;
    case Op::fence:
      return OpKind::fence;
    default:
      return OpKind::none;
  }
}

trace::ControlOp control_of(ir::CacheCtl what) {
  using trace::ControlOp;
  switch (what) {
    case ir::CacheCtl::prefetch_l1:
      return ControlOp::prefetch_l1;
    case ir::CacheCtl::prefetch_l15:
      return ControlOp::prefetch_l15;
    case ir::CacheCtl::prefetch_l2:
      return ControlOp::prefetch_l2;
    case ir::CacheCtl::prefetch_l2_evict_last:
      return ControlOp::prefetch_l2_evict_last;
    case ir::CacheCtl::prefetch_l2_evict_normal:
      return ControlOp::prefetch_l2_evict_normal;
    case ir::CacheCtl::write_back:
      return ControlOp::write_back;
    case ir::CacheCtl::invalidate:
      return ControlOp::invalidate;
    case ir::CacheCtl::invalidate_all:
      return ControlOp::invalidate_all;
    case ir::CacheCtl::reset:
      return ControlOp::reset;
    case ir::CacheCtl::write_back_all:
      return ControlOp::write_back_all;
    case ir::CacheCtl::demote_normal:
      return ControlOp::demote_normal;
    case ir::CacheCtl::discard:
      return ControlOp::discard;
    case ir::CacheCtl::policy_word:
      break;
  }
  throw std::logic_error("a policy word has no site of its own");
}

OpKind kind_of(ir::CacheFacts::Kind kind) {
  using Kind = ir::CacheFacts::Kind;
  switch (kind) {
    case Kind::load:
      return OpKind::load;
    case Kind::store:
      return OpKind::store;
    case Kind::atomic:
      return OpKind::atomic;
    case Kind::control:
      return OpKind::control;
    case Kind::fence:
      return OpKind::fence;
    case Kind::none:
      break;
  }
  return OpKind::none;
}

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
  const OpKind whole = kind_of(source.cache.kind);
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
