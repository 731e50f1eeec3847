// prefetch, discard, applypriority, createpolicy.
#include <bit>
#include <cmath>

#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

void control(Emit& e, ir::CacheCtl what) {
  ir::Mem mem;
  const Address a = e.address(e.operand(0), e.get("ss"));
  const ir::Operand base = apply_address(e, a, mem);
  mem.align = ir::AlignRule::any;
  ir::Inst& inst = e.emit(ir::Op::cachectl, ir::Type::none, {}, {base});
  inst.mode = static_cast<uint8_t>(what);
  inst.mem = mem;
}

void prefetch(Emit& e) {
  const std::string_view level = e.get("level");
  control(e, level == "L1"               ? ir::CacheCtl::prefetch_l1
             : level == "L2"             ? ir::CacheCtl::prefetch_l2
             : level == "L2::evict_last" ? ir::CacheCtl::prefetch_l2_evict_last
                                         : ir::CacheCtl::prefetch_l2_evict_normal);
}

void prefetch_tensor(Emit& e) {
  control(e, ir::CacheCtl::prefetch_l2);
}

void check_line_size(Emit& e) {
  if (!e.is_constant(1) || e.operand(1).bits != 128)
    Emit::fail(e.operand(1).loc, "the size of '" + e.inst.opcode + "' must be 128");
}

void discard(Emit& e) {
  check_line_size(e);
  control(e, ir::CacheCtl::discard);
}

void applypriority(Emit& e) {
  check_line_size(e);
  control(e, ir::CacheCtl::demote_normal);
}

/// The upper word of a policy: kind, and who is primary and secondary.
uint32_t policy_head(Emit& e) {
  constexpr std::pair<std::string_view, uint32_t> kPrimary[] = {{"L2::evict_unchanged", 0},
                                                                {"L2::evict_first", 1},
                                                                {"L2::evict_last", 2},
                                                                {"L2::evict_normal", 3}};
  uint32_t head = 1U << 28;
  for (const auto& [name, code] : kPrimary)
    if (name == e.get("primary")) head |= code << 25;
  if (e.get("secondary") == "L2::evict_first") head |= 1U << 24;
  return head;
}

void set_policy(Emit& e, ir::Operand high) {
  if (high.is_imm()) return e.set(0, kB64, imm(high.imm << 32));
  e.set(0, kB64, e.op(ir::Op::pack64, ir::Type::u64, {imm(0), high}));
}

/// How many sixteenths get the primary priority, less one: trunc(fraction * 15.99).
void fractional(Emit& e) {
  const uint32_t head = policy_head(e);
  if (e.count() == 1) return set_policy(e, imm(head | 15U << 20));
  const ir::Operand value = e.raw(1, kF32);
  if (!value.is_imm()) {
    const ir::Reg scaled =
        e.op(ir::Op::fmul, ir::Type::f32, {value, imm(std::bit_cast<uint32_t>(15.99F))});
    const ir::Reg whole =
        e.op(ir::Op::f2i, ir::Type::u32, {scaled}, {.round = ir::Round::rz, .from = ir::Type::f32});
    const ir::Reg shifted = e.op(ir::Op::shl, ir::Type::u32, {whole, imm(20)});
    return set_policy(e, e.op(ir::Op::or_, ir::Type::u32, {shifted, imm(head)}));
  }
  const double fraction = std::bit_cast<float>(static_cast<uint32_t>(value.imm));
  if (!(fraction > 0.0 && fraction <= 1.0))
    Emit::fail(e.operand(1).loc, "the fraction must be above 0 and at most 1");
  set_policy(e, imm(head | static_cast<uint32_t>(std::trunc(fraction * 15.99)) << 20));
}

/// The window of `total` bytes is cut into at most 128 blocks of 2^s bytes; the first ones, up to
/// `primary` bytes behind the address, get the primary priority.
void range(Emit& e) {
  using ir::Op;
  using ir::Type;
  ir::Mem mem;
  const Address a = e.address(e.operand(1), e.get("ss"));
  ir::Operand base = apply_address(e, a, mem);
  if (base.is_reg() && e.kernel.program.regs[base.index].width == ir::Width::b32)
    base = e.widen(base, false);
  if (mem.space != ir::Space::global && mem.space != ir::Space::generic)
    e.fail("a policy for a range needs a global address");
  const ir::Reg address = e.op(Op::add, Type::u64, {base, imm(static_cast<uint64_t>(mem.offset))});
  const ir::Operand primary = e.raw(2, kU32), total = e.raw(3, kU32);
  const ir::Reg less = e.op(Op::sub, Type::u32, {total, imm(1)});
  const ir::Reg zeros = e.op(Op::clz, Type::u32, {less});
  const ir::Reg log = e.op(Op::sub, Type::s32, {imm(32 - 7), zeros});
  const ir::Reg shift = e.op(Op::max, Type::s32, {log, imm(12)});
  const ir::Reg start = e.op(Op::shr, Type::u64, {address, shift});
  const ir::Reg block = e.op(Op::shl, Type::u64, {imm(1), shift});
  const ir::Reg after = e.op(Op::add, Type::u64, {address, e.widen(primary, false)});
  const ir::Reg rounded = e.op(Op::add, Type::u64, {after, block});
  const ir::Reg last = e.op(Op::sub, Type::u64, {rounded, imm(1)});
  const ir::Reg end = e.op(Op::shr, Type::u64, {last, shift});
  const ir::Reg blocks = e.op(Op::sub, Type::u64, {end, start});
  const ir::Reg capped = e.op(Op::min, Type::u64, {blocks, imm(127)});
  const ir::Operand count = e.narrow(capped), first = e.narrow(start);
  const ir::Reg first7 = e.op(Op::and_, Type::u32, {first, imm(127)});
  const ir::Reg size = e.op(Op::sub, Type::u32, {shift, imm(12)});
  const std::pair<ir::Operand, uint32_t> fields[] = {{size, 20}, {first7, 12}, {count, 5}};
  ir::Operand high = imm(policy_head(e) | 1U << 27);
  for (const auto& [value, at] : fields)
    high = e.op(Op::or_, Type::u32, {high, e.op(Op::shl, Type::u32, {value, imm(at)})});
  set_policy(e, high);
}

/// An access property is already a policy word.
void convert_policy(Emit& e) {
  e.set(0, kU64, e.raw(1, kU64));
}

/// Reads the first `size` of the words' bytes, the rest is zero: whole words, then what is left of
/// the last one byte by byte. `wanted` is false where nothing is to be read.
class PartialCopy {
 public:
  PartialCopy(Emit& e, ir::Operand base, const ir::Mem& mem, const std::vector<ir::Reg>& words)
      : e_(e), base_(base), mem_(mem), words_(words), guard_(e.guard()) {}

  void run(ir::Operand size) {
    const auto bytes = static_cast<uint32_t>(words_.size() * 4);
    for (const ir::Reg word : words_) e_.emit(ir::Op::mov, ir::Type::u32, {word}, {imm(0)});
    const ir::Reg all = reaches(size, bytes);
    load(all, mem_.elem, words_, mem_.offset);
    const ir::Reg part = e_.op(ir::Op::not_, ir::Type::pred, {all});
    for (uint32_t i = 0; i + 1 < words_.size(); ++i)
      load(both(part, reaches(size, 4 * i + 4)), ir::Type::u32, {words_[i]},
           mem_.offset + int64_t{4} * i);
    for (uint32_t i = 0; i < bytes; ++i)
      if (i % 4 != 3) byte(both(part, last_partial(size, i)), i);
  }

 private:
  ir::Reg reaches(ir::Operand size, uint32_t bytes) {
    return e_.op(ir::Op::icmp, ir::Type::u32, {size, imm(bytes)}, {.cond = ir::Cond::ge});
  }
  /// Byte i is read, but not the whole word around it.
  ir::Reg last_partial(ir::Operand size, uint32_t i) {
    const ir::Reg word = reaches(size, i / 4 * 4 + 4);
    return both(e_.op(ir::Op::not_, ir::Type::pred, {word}), reaches(size, i + 1));
  }
  ir::Reg both(ir::Reg a, ir::Reg b) { return e_.op(ir::Op::and_, ir::Type::pred, {a, b}); }

  void byte(ir::Reg when, uint32_t i) {
    const ir::Reg value = e_.temp(ir::Width::b32), word = words_[i / 4];
    e_.emit(ir::Op::mov, ir::Type::u32, {value}, {imm(0)});
    load(when, ir::Type::u8, {value}, mem_.offset + i);
    const ir::Reg shifted = e_.op(ir::Op::shl, ir::Type::u32, {value, imm(uint64_t{i} % 4 * 8)});
    e_.emit(ir::Op::or_, ir::Type::u32, {word}, {word, shifted});
  }

  void load(ir::Reg when, ir::Type elem, const std::vector<ir::Reg>& to, int64_t offset) {
    ir::Mem mem = mem_;
    mem.elem = elem;
    mem.count = static_cast<uint8_t>(to.size());
    mem.offset = offset;
    ir::Guard guard{when};
    if (!guard_.always()) {
      const ir::Reg mine =
          guard_.negate ? e_.op(ir::Op::not_, ir::Type::pred, {guard_.reg}) : guard_.reg;
      guard = {both(mine, when)};
    }
    e_.builder().set_guard(guard);
    e_.emit(ir::Op::load, ir::Type::none, to, {base_}).mem = mem;
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
  return e.op(ir::Op::select, ir::Type::u32, {e.pred(3), imm(0), imm(bytes)});
}

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
      size.is_imm() ? size : ir::Operand(e.op(ir::Op::min, ir::Type::u32, {size, imm(bytes)}));
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
    e.emit(ir::Op::load, ir::Type::none, words, {source}).mem = from;
  std::vector<ir::Operand> src{target};
  src.insert(src.end(), words.begin(), words.end());
  e.emit(ir::Op::store, ir::Type::none, {}, src).mem = to;
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

constexpr const char* kTensor = "a prefetch of the descriptor's first 128 bytes to L2";

constexpr Row kCacheRows[] = {
    {"prefetch", "?ss:global|local level:L1|L2", nullptr, prefetch},
    {"prefetch", "?ss:global level:L2::evict_last|L2::evict_normal", nullptr, prefetch},
    {"prefetch", "?ss:const|param tensormap", nullptr, prefetch_tensor, kTensor},
    {"prefetchu", "level:L1", nullptr, prefetch},
    {"discard", "?ss:global L2", nullptr, discard},
    {"applypriority", "?ss:global L2::evict_normal", nullptr, applypriority},
    {"createpolicy",
     "fractional primary:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?secondary:L2::evict_first|L2::evict_unchanged type:b64",
     nullptr, fractional},
    {"createpolicy", "cvt L2 type:b64", nullptr, convert_policy},
    {"createpolicy",
     "range ?ss:global primary:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?secondary:L2::evict_first|L2::evict_unchanged type:b64",
     nullptr, range},
    {"cp", "async cop:ca|cg to:shared|shared::cta ss:global ~L2::cache_hint ~pf:$pf", nullptr,
     copy_async, "completes by the policy async.copy"},
    {"cp", "async wait:commit_group|wait_all", nullptr, wait_async},
    {"cp", "async wait_group", nullptr, wait_async},
};

}  // namespace

std::span<const Row> cache_rows() {
  return kCacheRows;
}

}  // namespace lanewise::ptx
