// prefetch, discard, applypriority, createpolicy.
#include <bit>
#include <cmath>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Symbol;

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

template <ir::CacheCtl kWhat>
void control(Emit& e) {
  control(e, kWhat);
}

/// The upper word of a policy: kind, and who is primary and secondary.
uint32_t policy_head(Emit& e) {
  constexpr std::pair<std::string_view, uint32_t> kPrimary[] = {{"L2::evict_unchanged", 0},
                                                                {"L2::evict_first", 1},
                                                                {"L2::evict_last", 2},
                                                                {"L2::evict_normal", 3}};
  uint32_t head = 1U << 28 | pick(e.get("primary"), kPrimary, 0U) << 25;
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

// --- what is legal -------------------------------------------------------------------------------

/// A policy goes into a 64-bit register that is not of floating point.
void policy_destination(Context& c) {
  const Operand& o = c.in.operands[0];
  const Symbol s = c.symbol(o);
  if (s.type.is_float()) c.found(o, " for a policy, a 64-bit integer register was expected");
}

/// From sm_100 on the assembler dies of a variable of these spaces behind a generic address.
void refuse_variable(Context& c, bool shared_too) {
  const Operand& a = c.in.operands[0];
  const Symbol s = c.symbol(a);
  if (!c.get("ss").empty() || c.env.sm < 100 || s.kind != Symbol::Kind::variable) return;
  const std::string& space = s.variable->space;
  if (space != "local" && !(shared_too && space == "shared")) return;
  c.found(a, std::string(" by its generic address, from sm_100 on a .global variable") +
                 (shared_too ? "" : " or a .shared one") + " was expected");
}

double value_of(const Operand& o) {
  if (!o.single) return std::bit_cast<double>(o.bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits)));
}

void prefetch_rule(Context& c) {
  refuse_variable(c, false);
  if (c.has("tensormap")) c.refuse_narrow(0);
  const Operand& a = c.in.operands[0];
  const Symbol s = c.symbol(a);
  if (s.kind != Symbol::Kind::variable) return;
  const std::string& space = s.variable->space;
  if (c.has("tensormap") && space == "param" && !s.parameter)
    c.found(a, " of a call, a kernel parameter was expected");
  const bool older = c.old() && !c.env.manual && (space == "shared" || space == "local");
  if (c.in.opcode == "prefetchu" && space != "global" && !older)
    c.found(a, ", a .global variable was expected");
}

void policy_fraction_rule(Context& c) {
  policy_destination(c);
  if (c.in.operands.size() == 1) return;
  const Operand& f = c.in.operands[1];
  if (f.kind != Operand::Kind::float_) {
    const Symbol s = c.symbol(f);
    const bool name =
        f.kind == Operand::Kind::name && (s.kind == Symbol::Kind::reg || f.has_offset);
    if (!name)
      return c.found(f,
                     " as fraction, a 32-bit register or a floating-point constant was expected");
    c.source(1, kF32, Fit::exact);
    return;
  }
  const double value = value_of(f);
  if (!(value > 0.0 && value <= 1.0)) {
    c.error(f,
            "a fraction of " + std::to_string(value) + ", more than 0 and at most 1 was expected");
  }
}

void policy_range_rule(Context& c) {
  policy_destination(c);
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (a.kind == Operand::Kind::address && s.kind == Symbol::Kind::reg && s.type.bits < 32)
    c.found(a, " as address, 32 or 64 bits were expected");
  const Operand &primary = c.in.operands[2], &total = c.in.operands[3];
  if (primary.kind != Operand::Kind::integer || total.kind != Operand::Kind::integer) return;
  if (static_cast<uint32_t>(primary.bits) > static_cast<uint32_t>(total.bits)) {
    c.error(primary, "a primary size of " + std::to_string(static_cast<uint32_t>(primary.bits)) +
                         ", at most the total of " +
                         std::to_string(static_cast<uint32_t>(total.bits)) + " was expected");
  }
}

void line_rule(Context& c) {
  refuse_variable(c, true);
}

constexpr const char* kTensor = "a prefetch of the descriptor's first 128 bytes to L2";

constexpr Row kCacheRows[] = {
    {"prefetch", "?ss:global|local level:L1|L2", judged("a", prefetch_rule), prefetch},
    {"prefetch@80.74", "?ss:global level:L2::evict_last|L2::evict_normal",
     judged("a", prefetch_rule), prefetch},
    {"prefetch@90.80", "?ss:const|param tensormap", judged("A", prefetch_rule),
     control<ir::CacheCtl::prefetch_l2>, kTensor},
    {"prefetchu", "level:L1", judged("a", prefetch_rule), prefetch},
    {"discard@80.74", "?ss:global L2", judged("a i:128", line_rule),
     control<ir::CacheCtl::discard>},
    {"applypriority@80.74", "?ss:global L2::evict_normal", judged("a i:128", line_rule),
     control<ir::CacheCtl::demote_normal>},
    {"createpolicy@80.74", "^fractional primary:$primary ?secondary:$secondary type:b64",
     judged("n ?x", policy_fraction_rule), fractional},
    {"createpolicy@80.74", "^cvt L2 type:b64", judged("n h", policy_destination), convert_policy},
    {"createpolicy@80.74", "^range ?ss:global primary:$primary ?secondary:$secondary type:b64",
     judged("n A m:u32 m:u32", policy_range_rule), range},
    {"cp@80.70",
     "^async cop:ca|cg to_space:shared|shared::cta from_space:global ~L2::cache_hint@80.74 "
     "~pf:L2::64B@80.74|L2::128B@80.74|L2::256B@80.74",
     judge_copy_async, copy_async, "completes by the policy async.copy"},
    {"cp@80.70", "^async wait:commit_group|wait_all", "", wait_async},
    {"cp@80.70", "^async wait_group", "i", wait_async},
};

}  // namespace

constinit Rows cache_rows = kCacheRows;

}  // namespace lanewise::ptx
