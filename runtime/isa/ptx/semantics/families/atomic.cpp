// atom and red.
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {

ir::AtomOp atomic_operation(std::string_view name) {
  constexpr std::pair<std::string_view, ir::AtomOp> kOps[] = {
      {"add", ir::AtomOp::add}, {"min", ir::AtomOp::min},  {"max", ir::AtomOp::max},
      {"inc", ir::AtomOp::inc}, {"dec", ir::AtomOp::dec},  {"and", ir::AtomOp::and_},
      {"or", ir::AtomOp::or_},  {"xor", ir::AtomOp::xor_}, {"exch", ir::AtomOp::exch},
      {"cas", ir::AtomOp::cas}};
  for (const auto& [text, op] : kOps)
    if (text == name) return op;
  return ir::AtomOp::add;
}

namespace {

ir::Order order(std::string_view sem) {
  return sem == "acquire"   ? ir::Order::acquire
         : sem == "release" ? ir::Order::release
         : sem == "acq_rel" ? ir::Order::acq_rel
                            : ir::Order::relaxed;
}

/// How the values of an atomic travel: in which registers, and what memory holds.
struct Shape {
  PType reg;
  ir::Type atom = ir::Type::u32, elem = ir::Type::u32;
  unsigned count = 1;  ///< registers of one value
};

Shape shape_of(Emit& e) {
  const std::string_view type = e.get("type");
  const bool packed = type.ends_with("x2");
  const unsigned vector = vector_elements(e.form);
  if (type.starts_with("bf16") || type.starts_with("f16")) {
    Shape s{packed ? kB32 : kB16, type.starts_with("b") ? ir::Type::bf16 : ir::Type::f16,
            packed ? ir::Type::u32 : ir::Type::u16, vector};
    // Registers of halves may be declared as such.
    if (type == "f16") s.reg = kF16;
    if (type == "f16x2") s.reg = e.type();
    return s;
  }
  const PType t = e.type();
  if (t.bits == 128) return {kB64, ir::Type::u64, ir::Type::u64, 2};
  if (t.bits == 16) return {t, ir::Type::u16, ir::Type::u16, 1};
  return {t, t.ir(), t.bits == 64 ? ir::Type::u64 : ir::Type::u32, vector};
}

std::vector<Operand> registers(Emit& e, size_t i, const Shape& shape) {
  return e.get("type") == "b128" ? e.halves(e.operand(i)) : e.elements(i, shape.count);
}

/// Operand 0 is the old value for atom; red starts with the address.
void access(Emit& e, bool returns) {
  const Shape shape = shape_of(e);
  const size_t at = returns ? 1 : 0;
  ir::Mem mem;
  mem.atom = atomic_operation(e.get("op"));
  mem.atom_type = shape.atom;
  mem.elem = shape.elem;
  mem.count = static_cast<uint8_t>(shape.count);
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
  for (size_t i = 0; i < values; ++i)
    for (const Operand& o : registers(e, at + 1 + i, shape)) src.push_back(e.raw(o, shape.reg));
  std::vector<ir::Reg> dst;
  std::vector<Operand> to;
  if (returns && !e.is_sink(0)) to = registers(e, 0, shape);
  for (size_t i = 0; i < to.size(); ++i) dst.push_back(e.temp(ir::width_of(shape.elem)));
  ir::Inst& inst = e.emit(ir::Op::atom, shape.reg.ir(), dst, src);
  inst.mem = mem;
  // The adders in front of global memory flush f32; those of shared memory do not.
  inst.ftz = shape.atom == ir::Type::f32 && mem.space != ir::Space::shared;
  for (size_t i = 0; i < to.size(); ++i) e.set(to[i], shape.reg, dst[i], Fit::exact, true);
}

void atom(Emit& e) {
  access(e, true);
}
void red(Emit& e) {
  access(e, false);
}

#define LW_ATOMIC \
  "~sem:relaxed|acquire|release|acq_rel ~scope:$scope ?ss:global|$sharedany ~L2::cache_hint "

constexpr Row kAtomicRows[] = {
    {"atom", LW_ATOMIC "op:and|or|xor type:b32|b64", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:exch type:b32|b64", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:cas type:b32|b64", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:cas type:b16", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:cas type:b128", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:exch type:b128", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:add type:u32|s32|u64|f32|f64", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:add noftz type:f16|f16x2|bf16|bf16x2", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:inc|dec type:u32", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:min|max type:u32|s32|u64|s64", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:add vec:v2|v4 type:f32", nullptr, atom, "", check_hints},
    {"atom", LW_ATOMIC "op:add|min|max noftz vec:v2|v4|v8 type:f16|bf16", nullptr, atom, "",
     check_hints},
    {"atom", LW_ATOMIC "op:add|min|max noftz vec:v2|v4 type:f16x2|bf16x2", nullptr, atom, "",
     check_hints},
    {"red", LW_ATOMIC "op:and|or|xor type:b32|b64", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:add type:u32|s32|u64|f32|f64", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:add noftz type:f16|f16x2|bf16|bf16x2", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:inc|dec type:u32", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:min|max type:u32|s32|u64|s64", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:add vec:v2|v4 type:f32", nullptr, red, "", check_hints},
    {"red", LW_ATOMIC "op:add|min|max noftz vec:v2|v4|v8 type:f16|bf16", nullptr, red, "",
     check_hints},
    {"red", LW_ATOMIC "op:add|min|max noftz vec:v2|v4 type:f16x2|bf16x2", nullptr, red, "",
     check_hints},
};

}  // namespace

std::span<const Row> atomic_rows() {
  return kAtomicRows;
}

}  // namespace lanewise::ptx
