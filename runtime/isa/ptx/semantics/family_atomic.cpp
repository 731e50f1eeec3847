// atom and red.
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

ir::AtomOp operation(std::string_view name) {
  constexpr std::pair<std::string_view, ir::AtomOp> kOps[] = {
      {"add", ir::AtomOp::add}, {"min", ir::AtomOp::min},  {"max", ir::AtomOp::max},
      {"inc", ir::AtomOp::inc}, {"dec", ir::AtomOp::dec},  {"and", ir::AtomOp::and_},
      {"or", ir::AtomOp::or_},  {"xor", ir::AtomOp::xor_}, {"exch", ir::AtomOp::exch},
      {"cas", ir::AtomOp::cas}};
  for (const auto& [text, op] : kOps)
    if (text == name) return op;
  return ir::AtomOp::add;
}

ir::Order order(std::string_view sem) {
  return sem == "acquire"   ? ir::Order::acquire
         : sem == "release" ? ir::Order::release
         : sem == "acq_rel" ? ir::Order::acq_rel
                            : ir::Order::relaxed;
}

/// Operand 0 is the old value for atom; red starts with the address.
void access(Emit& e, bool returns) {
  const PType t = e.type();
  const size_t at = returns ? 1 : 0;
  ir::Mem mem;
  mem.atom = operation(e.get("op"));
  mem.atom_type = t.packed ? ir::Type::f16 : t.ir();
  mem.elem = t.bits == 64 ? ir::Type::u64 : ir::Type::u32;
  mem.order = order(e.get("sem"));
  mem.scope = e.has("scope") ? scope_named(e.get("scope")) : ir::Scope::gpu;
  const size_t values = mem.atom == ir::AtomOp::cas ? 2 : 1;
  mem.cache = cache_policy(e, at + 1 + values);
  const Address a = e.address(e.operand(at), e.get("ss"));
  const ir::Operand base = apply_address(e, a, mem);
  if (mem.space != ir::Space::global && mem.space != ir::Space::shared &&
      mem.space != ir::Space::generic)
    e.fail("'" + e.inst.opcode + "' works on global and shared memory only");
  std::vector<ir::Operand> src{base};
  for (size_t i = 0; i < values; ++i) src.push_back(e.raw(at + 1 + i, t));
  std::vector<ir::Reg> dst;
  if (returns && !e.is_sink(0)) dst.push_back(e.temp_like(t));
  ir::Inst& inst = e.emit(ir::Op::atom, t.ir(), dst, src);
  inst.mem = mem;
  // The adders in front of global memory flush f32; those of shared memory do not.
  inst.ftz = t == kF32 && mem.space != ir::Space::shared;
  if (!dst.empty()) e.set(0, t, dst[0]);
}

void atom(Emit& e) {
  access(e, true);
}
void red(Emit& e) {
  access(e, false);
}

#define LW_ATOMIC \
  "~sem:relaxed|acquire|release|acq_rel ~scope:$scope ?ss:global|$sharedany ~L2::cache_hint "

#define LW_ABSENT_ATOMIC(opcode, rest, why) \
  { opcode, LW_ATOMIC rest, nullptr, 0, 9, why, nullptr, FormState::unsupported }

constexpr const char* kNarrow = "atomics on 16-bit values are not supported";
constexpr const char* kWide = "atomics on vectors and 128-bit values are not supported";

constexpr Row kRows[] = {
    {"atom", LW_ATOMIC "op:and|or|xor type:b32|b64", atom, 3, 4, "", check_hints},
    {"atom", LW_ATOMIC "op:exch type:b32|b64", atom, 3, 4, "", check_hints},
    {"atom", LW_ATOMIC "op:cas type:b32|b64", atom, 4, 5, "", check_hints},
    {"atom", LW_ATOMIC "op:add type:u32|s32|u64|f32|f64", atom, 3, 4, "", check_hints},
    {"atom", LW_ATOMIC "op:add noftz type:f16x2", atom, 3, 4, "", check_hints},
    {"atom", LW_ATOMIC "op:inc|dec type:u32", atom, 3, 4, "", check_hints},
    {"atom", LW_ATOMIC "op:min|max type:u32|s32|u64|s64", atom, 3, 4, "", check_hints},
    {"red", LW_ATOMIC "op:and|or|xor type:b32|b64", red, 2, 3, "", check_hints},
    {"red", LW_ATOMIC "op:add type:u32|s32|u64|f32|f64", red, 2, 3, "", check_hints},
    {"red", LW_ATOMIC "op:add noftz type:f16x2", red, 2, 3, "", check_hints},
    {"red", LW_ATOMIC "op:inc|dec type:u32", red, 2, 3, "", check_hints},
    {"red", LW_ATOMIC "op:min|max type:u32|s32|u64|s64", red, 2, 3, "", check_hints},
    LW_ABSENT_ATOMIC("atom", "op:cas type:b16", kNarrow),
    LW_ABSENT_ATOMIC("atom", "op:cas|exch type:b128", kWide),
    LW_ABSENT_ATOMIC("atom", "op:add noftz type:f16|bf16|bf16x2", kNarrow),
    LW_ABSENT_ATOMIC("red", "op:add noftz type:f16|bf16|bf16x2", kNarrow),
    LW_ABSENT_ATOMIC("atom", "op:add vec:v2|v4 type:f32", kWide),
    LW_ABSENT_ATOMIC("red", "op:add vec:v2|v4 type:f32", kWide),
};

}  // namespace

std::span<const Row> atomic_rows() {
  return kRows;
}

}  // namespace lanewise::ptx
