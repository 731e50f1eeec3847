// prefetch, discard, applypriority, createpolicy.
#include <bit>
#include <cmath>

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

/// The policy word of a fractional policy: who is primary, who secondary, and how many sixteenths.
void fractional(Emit& e) {
  constexpr std::pair<std::string_view, uint64_t> kPrimary[] = {{"L2::evict_unchanged", 0},
                                                                {"L2::evict_first", 1},
                                                                {"L2::evict_last", 2},
                                                                {"L2::evict_normal", 3}};
  uint64_t high = uint64_t{1} << 28;
  for (const auto& [name, code] : kPrimary)
    if (name == e.get("primary")) high |= code << 25;
  if (e.get("secondary") == "L2::evict_first") high |= uint64_t{1} << 24;
  double fraction = 1.0;
  if (e.count() == 2) {
    if (e.operand(1).kind != Operand::Kind::float_)
      Emit::fail(e.operand(1).loc, "only a constant fraction is supported");
    const ir::Operand value = e.raw(1, kF32);
    fraction = std::bit_cast<float>(static_cast<uint32_t>(value.imm));
    if (!(fraction > 0.0 && fraction <= 1.0))
      Emit::fail(e.operand(1).loc, "the fraction must be above 0 and at most 1");
  }
  high |= static_cast<uint64_t>(std::trunc(fraction * 15.99)) << 20;
  e.set(0, kB64, imm(high << 32));
}

constexpr Row kRows[] = {
    {"prefetch", "?ss:global|local level:L1|L2", prefetch, 1, 1},
    {"prefetch", "?ss:global level:L2::evict_last|L2::evict_normal", prefetch, 1, 1},
    {"prefetchu", "level:L1", prefetch, 1, 1},
    {"discard", "?ss:global L2", discard, 2, 2},
    {"applypriority", "?ss:global L2::evict_normal", applypriority, 2, 2},
    {"createpolicy",
     "fractional primary:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?secondary:L2::evict_first|L2::evict_unchanged type:b64",
     fractional, 1, 2},
};

}  // namespace

std::span<const Row> cache_rows() {
  return kRows;
}

}  // namespace lanewise::ptx
