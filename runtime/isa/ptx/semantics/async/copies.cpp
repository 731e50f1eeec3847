// cp.async of single lanes: what is legal, and what it becomes.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

/// Reads the first `size` of the words' bytes, the rest is zero: whole words, then what is left of
/// the last one byte by byte. `wanted` is false where nothing is to be read.
class PartialCopy {
 public:
  PartialCopy(Emit& e, ir::Operand base, const ir::Mem& mem, const std::vector<ir::Reg>& words)
      : e_(e), base_(base), mem_(mem), words_(words), guard_(e.guard()) {}

  void run(ir::Operand size) {
    const auto bytes = static_cast<uint32_t>(words_.size() * 4);
    for (const ir::Reg word : words_) e_.emit(Op::mov, Type::u32, {word}, {imm(0)});
    const ir::Reg all = reaches(size, bytes);
    load(all, mem_.elem, words_, mem_.offset);
    const ir::Reg part = e_.op(Op::not_, Type::pred, {all});
    for (uint32_t i = 0; i + 1 < words_.size(); ++i)
      load(both(part, reaches(size, 4 * i + 4)), Type::u32, {words_[i]},
           mem_.offset + int64_t{4} * i);
    for (uint32_t i = 0; i < bytes; ++i)
      if (i % 4 != 3) byte(both(part, last_partial(size, i)), i);
  }

 private:
  ir::Reg reaches(ir::Operand size, uint32_t bytes) {
    return e_.op(Op::icmp, Type::u32, {size, imm(bytes)}, {.cond = ir::Cond::ge});
  }
  /// Byte i is read, but not the whole word around it.
  ir::Reg last_partial(ir::Operand size, uint32_t i) {
    const ir::Reg word = reaches(size, i / 4 * 4 + 4);
    return both(e_.op(Op::not_, Type::pred, {word}), reaches(size, i + 1));
  }
  ir::Reg both(ir::Reg a, ir::Reg b) { return e_.op(Op::and_, Type::pred, {a, b}); }

  void byte(ir::Reg when, uint32_t i) {
    const ir::Reg value = e_.temp(ir::Width::b32), word = words_[i / 4];
    e_.emit(Op::mov, Type::u32, {value}, {imm(0)});
    load(when, Type::u8, {value}, mem_.offset + i);
    const ir::Reg shifted = e_.op(Op::shl, Type::u32, {value, imm(uint64_t{i} % 4 * 8)});
    e_.emit(Op::or_, Type::u32, {word}, {word, shifted});
  }

  void load(ir::Reg when, Type elem, const std::vector<ir::Reg>& to, int64_t offset) {
    ir::Mem mem = mem_;
    mem.elem = elem;
    mem.count = static_cast<uint8_t>(to.size());
    mem.offset = offset;
    ir::Guard guard{when};
    if (!guard_.always()) {
      const ir::Reg mine = guard_.negate ? e_.op(Op::not_, Type::pred, {guard_.reg}) : guard_.reg;
      guard = {both(mine, when)};
    }
    e_.builder().set_guard(guard);
    e_.emit(Op::load, Type::none, to, {base_}).mem = mem;
    e_.builder().set_guard(guard_);
  }

  Emit& e_;
  ir::Operand base_;
  const ir::Mem& mem_;
  const std::vector<ir::Reg>& words_;
  ir::Guard guard_;
};

/// The optional operand: how many bytes are copied, or a predicate that says none.
ir::Operand source_size(Emit& e, uint64_t bytes) {
  const Operand& o = e.operand(3);
  const Entity* entity = o.kind == Operand::Kind::name ? e.body.find(o.name) : nullptr;
  const bool ignores =
      entity != nullptr && entity->kind == Entity::Kind::reg && entity->type.is_pred();
  if (!ignores) return e.raw(3, kU32);
  return e.op(Op::select, Type::u32, {e.pred(3), imm(0), imm(bytes)});
}

}  // namespace

/// Asynchronous copies complete at once, which every program must expect, or when a wait asks for
/// them (policy async.copy).
void copy_async(Emit& e) {
  if (!e.is_constant(2)) Emit::fail(e.operand(2).loc, "the copy size must be a constant");
  const uint64_t bytes = e.operand(2).bits;
  const bool fits = bytes == 16 || (e.get("cop") == "ca" && (bytes == 4 || bytes == 8));
  if (!fits) Emit::fail(e.operand(2).loc, "the copy size must be 16, or 4 or 8 with '.ca'");
  const bool partial = e.count() == (e.has("L2::cache_hint") ? 5 : 4);
  ir::Mem mem;
  mem.cache = cache_policy(e, partial ? 4 : 3);
  mem.count = static_cast<uint8_t>(bytes / 4);
  ir::Mem from = mem, to = mem;
  const ir::Operand source = apply_address(e, e.address(e.operand(1), "global"), from);
  const ir::Operand target = apply_address(e, e.address(e.operand(0), "shared"), to);
  to.cache = {};
  const ir::Operand size = partial ? source_size(e, bytes) : imm(bytes);
  const ir::Operand read =
      size.is_imm() ? size : ir::Operand(e.op(Op::min, Type::u32, {size, imm(bytes)}));
  note_bytes(e, ir::AsyncNote::read, ir::AsyncKind::lane, {source, from}, read);
  note_bytes(e, ir::AsyncNote::write, ir::AsyncKind::lane, {target, to}, imm(bytes));
  ir::Builder& b = e.builder();
  const uint32_t later = b.add_block(), now = b.add_block(), after = b.add_block();
  b.branch({copies_wait(e)}, later, now);
  b.set_block(later);
  QueuedCopy queued;
  queued.source = generic_address(e, {source, from});
  queued.target = generic_address(e, {target, to});
  queued.read = read;
  queued.bytes = imm(bytes);
  queue_copy(e, ir::AsyncKind::lane, queued);
  b.jump(after);
  b.set_block(now);
  std::vector<ir::Reg> words;
  for (unsigned i = 0; i < mem.count; ++i) words.push_back(e.temp(ir::Width::b32));
  if (partial)
    PartialCopy(e, source, from, words).run(size);
  else
    e.emit(Op::load, Type::none, words, {source}).mem = from;
  std::vector<ir::Operand> src{target};
  src.insert(src.end(), words.begin(), words.end());
  e.emit(Op::store, Type::none, {}, src).mem = to;
  b.jump(after);
  b.set_block(after);
}

void wait_async(Emit& e) {
  for (size_t i = 0; i < e.count(); ++i)
    if (!e.is_constant(i)) Emit::fail(e.operand(i).loc, "expected a constant number of groups");
  if (e.has("wait")) {
    note_groups(e, ir::AsyncNote::commit, ir::AsyncKind::lane);
    end_copy_group(e, ir::AsyncKind::lane);
  }
  if (e.get("wait") == "commit_group") return;
  const uint64_t younger = e.count() == 1 ? e.operand(0).bits : 0;
  note_groups(e, ir::AsyncNote::wait, ir::AsyncKind::lane, younger);
  complete_copies(e, ir::AsyncKind::lane, younger);
}

void judge_copy_async(legal::Context& c) {
  c.refuse_unified();
  const bool hint = c.has("L2::cache_hint");
  if (!c.count(3, 5)) return;
  const size_t n = c.in.operands.size();
  c.address(0, c.get("to_space"));
  // The one global address that may be narrow on every target.
  const legal::Symbol from = c.symbol(c.in.operands[1]);
  const bool narrow =
      from.kind == legal::Symbol::Kind::reg && from.type.bits == 32 && !c.env.manual;
  c.address(1, narrow ? "local" : "global");
  const bool bypass = c.get("cop") == "cg";
  if (const Operand* size = c.literal(2, "a constant size")) {
    const bool known = size->bits == 16 || (!bypass && (size->bits == 4 || size->bits == 8));
    if (!known) {
      c.error(*size, "a copy of " + std::to_string(static_cast<int64_t>(size->bits)) + " bytes, " +
                         (bypass ? "16 was expected" : "4, 8 or 16 was expected"));
    }
  }
  const size_t plain = n - (hint ? 1 : 0);
  if (plain < 3 || plain > 4)
    return c.error("found " + std::to_string(n) + " operands, " + (hint ? "4 or 5" : "3 or 4") +
                   " were expected");
  if (plain == 4) {
    const legal::Symbol s = c.symbol(c.in.operands[3]);
    const bool ignore = s.kind == legal::Symbol::Kind::reg && s.type.is_pred();
    if (ignore) {
      if (!c.old()) c.need(80, 83, "a predicate that ignores the source");
    } else {
      const Operand &whole = c.in.operands[2], &read = c.in.operands[3];
      if (read.kind == Operand::Kind::integer && read.bits > whole.bits)
        c.error(read, std::to_string(read.bits) + " bytes of " + std::to_string(whole.bits) +
                          ", no more were expected");
      c.integer_source(3, 32);
    }
  }
  if (hint) c.policy(n - 1);
}

}  // namespace lanewise::ptx
