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

/// An access property is already a policy word.
void convert_policy(Emit& e) {
  e.set(0, kU64, e.raw(1, kU64));
}

/// Asynchronous copies complete at once, which every program must expect; waiting is then free.
void copy_async(Emit& e) {
  if (!e.is_constant(2)) Emit::fail(e.operand(2).loc, "the copy size must be a constant");
  const uint64_t bytes = e.operand(2).bits;
  const bool fits = bytes == 16 || (e.get("cop") == "ca" && (bytes == 4 || bytes == 8));
  if (!fits) Emit::fail(e.operand(2).loc, "the copy size must be 16, or 4 or 8 with '.ca'");
  ir::Mem mem;
  mem.cache = cache_policy(e, 3);
  mem.count = static_cast<uint8_t>(bytes / 4);
  ir::Mem from = mem, to = mem;
  const ir::Operand source = apply_address(e, e.address(e.operand(1), "global"), from);
  const ir::Operand target = apply_address(e, e.address(e.operand(0), "shared"), to);
  to.cache = {};
  std::vector<ir::Reg> words;
  for (unsigned i = 0; i < mem.count; ++i) words.push_back(e.temp(ir::Width::b32));
  e.emit(ir::Op::load, ir::Type::none, words, {source}).mem = from;
  std::vector<ir::Operand> src{target};
  src.insert(src.end(), words.begin(), words.end());
  e.emit(ir::Op::store, ir::Type::none, {}, src).mem = to;
}

void wait_async(Emit& e) {
  for (size_t i = 0; i < e.count(); ++i)
    if (!e.is_constant(i)) Emit::fail(e.operand(i).loc, "expected a constant number of groups");
}

constexpr const char* kRange = "policies for address ranges are not supported";

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
    {"createpolicy", "cvt L2 type:b64", convert_policy, 2, 2},
    {"createpolicy",
     "range ?ss:global primary:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?secondary:L2::evict_first|L2::evict_unchanged type:b64",
     nullptr, 4, 4, kRange, nullptr, FormState::unsupported},
    {"cp", "async cop:ca|cg to:shared|shared::cta ss:global ~L2::cache_hint ~pf:$pf", copy_async, 3,
     4, "completes at once"},
    {"cp", "async wait:commit_group|wait_all", wait_async, 0, 0},
    {"cp", "async wait_group", wait_async, 1, 1},
};

}  // namespace

std::span<const Row> cache_rows() {
  return kRows;
}

}  // namespace lanewise::ptx
