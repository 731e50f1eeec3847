// Fences, barriers, cache control, shuffles and special registers.
#include <fmt/format.h>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::sass {

using ir::CacheCtl;
using Kind = OperandSpec::Kind;

namespace {

CacheCtl cache_action(uint64_t op) {
  switch (op) {
    case 1:
      return CacheCtl::prefetch_l1;
    case 3:
      return CacheCtl::prefetch_l2;
    case 4:
      return CacheCtl::write_back;
    case 5:
      return CacheCtl::invalidate;
    case 6:
      return CacheCtl::invalidate_all;
    case 7:
      return CacheCtl::reset;
    case 8:
      return CacheCtl::write_back_all;
    default:
      throw Unsupported("this cache operation is not supported: it is not documented");
  }
}

/// Where the address of a CCTL lies: data (also .U, its old name), constants, instructions.
Space cache_space(const Instruction& i) {
  if (i.form->is(kLocalLines)) return Space::local;
  const uint64_t cache = i.mod(ModId::cache);
  return cache == 2 ? Space::constant : cache == 3 ? Space::code : Space::generic;
}

ir::Inst& emit_cache_event(LowerContext& c, CacheCtl what, Space space,
                           std::vector<Operand> address) {
  ir::Inst& inst = c.emit(Op::cachectl, Type::none, {}, std::move(address));
  inst.mode = static_cast<uint8_t>(what);
  inst.mem.emplace();
  inst.mem->space = space;
  inst.mem->align = ir::AlignRule::any;
  return inst;
}

}  // namespace

/// An event for the cache tracker; values never change. The indexed constant cache (.U.IVALL) is
/// distinguished from L1 by the cache operator of the loads that use it.
void lower_cctl(LowerContext& c, const Instruction& i) {
  const CacheCtl what = cache_action(i.mod(ModId::op));
  const Space space = cache_space(i);
  if (i.operand(Role::addr) == nullptr) {
    ir::Inst& all = emit_cache_event(c, what, space, {});
    if (space == Space::generic && i.mod(ModId::cache) == 1) all.mem->cache.op = CacheOp::ci;
    return;
  }
  const LowerContext::Address a = space == Space::local ? c.window_address(i) : c.wide_address(i);
  emit_cache_event(c, what, space, {a.base}).mem->offset = a.offset;
}

void lower_membar(LowerContext& c, const Instruction& i) {
  static constexpr ir::Scope kScopes[] = {ir::Scope::cta, ir::Scope::gpu, ir::Scope::sys};
  const uint64_t scope = i.mod(ModId::scope), invalidate = i.mod(ModId::invalidate);
  if (scope == 3) throw Unsupported("MEMBAR.VC is not supported: its meaning is not documented");
  ir::Inst& fence = c.emit(Op::fence, Type::none, {}, {});
  fence.mem.emplace();
  fence.mem->order = ir::Order::seq_cst;
  fence.mem->scope = kScopes[scope];
  // .IVALLT is about texture caches: nothing that runs here puts a line there.
  if ((invalidate & 1) != 0) emit_cache_event(c, CacheCtl::invalidate_all, Space::generic, {});
}

namespace {

enum SpecialCode : uint64_t {
  kVirtualConfig = 0x02,
  kVirtualId = 0x03,
  kPackedThread = 0x20,
  kSharedWindow = 0x30,
  kSharedWindowSize = 0x31,
  kLocalWindow = 0x34,
  kLocalWindowSize = 0x35,
  kStackLimit = 0x37,
  kTimerLow = 0x52,
  kTimerHigh = 0x53
};

/// SR_PM0 to SR_PM7 and their upper halves: nothing is counted.
bool is_counter(uint64_t code) {
  return (code >= 0x04 && code <= 0x0b) || (code >= 0x48 && code <= 0x4f);
}

/// What is the same in every lane of every launch.
std::optional<uint32_t> fixed_value(uint64_t code) {
  if (is_counter(code)) return 0;
  switch (code) {
    case kSharedWindowSize:
    case kLocalWindowSize:
      return static_cast<uint32_t>(guest::kWindowSize);
    case kStackLimit:  // what functions compare their stack pointer with: memory begins at 0 here
      return 0;
    default:
      return std::nullopt;
  }
}

/// Warp in bits 8 to 13, multiprocessor from bit 20 on: compilers take them from there. Nothing
/// says what stands in the other bits; here it is zero.
Operand warp_and_processor(LowerContext& c, SReg warp, SReg processor) {
  const auto field = [&](SReg which, uint32_t mask, uint32_t place) {
    const Reg low = c.make(Op::and_, Type::u32, {c.special(which), imm(mask)});
    return Operand(c.make(Op::shl, Type::u32, {low, imm(place)}));
  };
  return c.make(Op::or_, Type::u32, {field(warp, 0x3f, 8), field(processor, 0x1ff, 20)});
}

/// x in bits 0 to 15, y in 16 to 25, z in 26 to 31: open drivers take it apart so.
Operand packed_thread(LowerContext& c) {
  Operand x = c.special(SReg::tid_x);
  for (const auto& [which, place] : {std::pair(SReg::tid_y, 16), std::pair(SReg::tid_z, 26)}) {
    const Reg up =
        c.make(Op::shl, Type::u32, {c.special(which), imm(static_cast<uint64_t>(place))});
    x = c.make(Op::or_, Type::u32, {x, up});
  }
  return x;
}

Operand timer_word(LowerContext& c, bool high) {
  const auto [low, up] = c.unpack(c.special(SReg::globaltimer, Type::u64));
  return high ? up : low;
}

}  // namespace

void lower_s2r(LowerContext& c, const Instruction& i) {
  static const std::map<uint64_t, SReg> regs = {
      {0x00, SReg::laneid},      {0x01, SReg::clock},       {0x21, SReg::tid_x},
      {0x22, SReg::tid_y},       {0x23, SReg::tid_z},       {0x25, SReg::ctaid_x},
      {0x26, SReg::ctaid_y},     {0x27, SReg::ctaid_z},     {0x32, SReg::total_smem_size},
      {0x38, SReg::lanemask_eq}, {0x39, SReg::lanemask_lt}, {0x3a, SReg::lanemask_le},
      {0x3b, SReg::lanemask_gt}, {0x3c, SReg::lanemask_ge}, {0x50, SReg::clock},
      {0x51, SReg::clock_hi}};
  const uint64_t code = i.operand(Role::b)->field.get(i.word);
  const auto put = [&](Operand x) { c.emit(Op::mov, Type::u32, {c.destination(i)}, {x}); };
  if (code == kVirtualId) return put(warp_and_processor(c, SReg::warpid, SReg::smid));
  if (code == kVirtualConfig) return put(warp_and_processor(c, SReg::nwarpid, SReg::nsmid));
  if (code == kPackedThread) return put(packed_thread(c));
  if (code == kTimerLow || code == kTimerHigh) return put(timer_word(c, code == kTimerHigh));
  if (code == kSharedWindow) return put(c.window(SReg::shared_window));
  if (code == kLocalWindow) return put(c.window(SReg::local_window));
  if (const auto value = fixed_value(code)) return put(imm(*value));
  const auto found = regs.find(code);
  if (found == regs.end())
    throw Unsupported(fmt::format("special register {:#x} is not supported yet", code));
  c.emit(Op::sreg, Type::u32, {c.destination(i)}, {}).mode = static_cast<uint8_t>(found->second);
}

/// The result of a reduction waits in a register of its own until B2R fetches it.
void lower_bar(LowerContext& c, const Instruction& i) {
  using ir::BarrierKind;
  const Operand id = c.raw(i, Role::a);
  if (id.is_imm() && id.imm > 15) throw Unsupported("barriers go from 0 to 15");
  const Operand count = i.operand(Role::b) != nullptr ? c.raw(i, Role::b) : imm(0);
  if (i.operand(Role::r) == nullptr) {
    const bool arrives = i.form->is(kArrives);
    c.emit(Op::barrier, Type::none, {}, {id, count}).mode =
        static_cast<uint8_t>(arrives ? BarrierKind::arrive : BarrierKind::sync);
    return;
  }
  static constexpr BarrierKind kKinds[] = {BarrierKind::red_popc, BarrierKind::red_and,
                                           BarrierKind::red_or};
  const uint64_t kind = i.mod(ModId::bop);
  const Operand vote = c.pred_source(i, Role::r);
  const Reg result = kind == 0 ? c.barrier_count() : c.barrier_vote();
  c.emit(Op::barrier, Type::none, {result}, {id, count, vote}).mode =
      static_cast<uint8_t>(kKinds[kind]);
  if (kind == 0)
    c.emit(Op::icmp, Type::u32, {c.barrier_vote()}, {result, imm(0)}).cond = Cond::ne;
  else
    c.emit(Op::select, Type::u32, {c.barrier_count()}, {result, imm(1), imm(0)});
}

void lower_shfl(LowerContext& c, const Instruction& i) {
  static constexpr ir::ShflMode kModes[] = {ir::ShflMode::idx, ir::ShflMode::up, ir::ShflMode::down,
                                            ir::ShflMode::bfly};
  const unsigned p = c.reg_number(i, Role::p);
  const Operand a = c.raw(i, Role::a), b = c.raw(i, Role::b), limits = c.raw(i, Role::c);
  c.emit(Op::shfl, Type::none, {c.destination(i), c.predicate(p)}, {a, b, limits, imm(0xffffffff)})
      .mode = static_cast<uint8_t>(kModes[i.mod(ModId::mode)]);
}

/// A killed lane runs on as a helper: it loads, computes and takes part in cross-lane operations.
void lower_kil(LowerContext& c, const Instruction& i) {
  const Operand test = flag_test(c, i);
  if (!test.is_imm() || test.imm == 0) c.set_guard(c.narrowed(test));
  c.emit(Op::mov, Type::pred, {c.track_stores()}, {imm(0)});
}

void lower_nop(LowerContext&, const Instruction&) {}

}  // namespace lanewise::sass
