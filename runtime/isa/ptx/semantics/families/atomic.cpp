// atom and red.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {

using ir::Type;

namespace {

using legal::Context;
using legal::Symbol;

/// How the values of an atomic travel: in which registers, and what memory holds.
struct AtomicShape {
  PType reg;
  Type atom = Type::u32, elem = Type::u32;
  unsigned count = 1;  ///< registers of one value
};

AtomicShape shape_of(Emit& e) {
  const std::string_view type = e.get("type");
  const bool packed = type.ends_with("x2");
  const unsigned vector = vector_elements(e.form);
  if (type.starts_with("bf16") || type.starts_with("f16")) {
    AtomicShape s{packed ? kB32 : kB16, type.starts_with("b") ? Type::bf16 : Type::f16,
                  packed ? Type::u32 : Type::u16, vector};
    // Registers of halves may be declared as such.
    if (type == "f16") s.reg = kF16;
    if (type == "f16x2") s.reg = e.type();
    return s;
  }
  const PType t = e.type();
  if (t.bits == 128) return {kB64, Type::u64, Type::u64, 2};
  if (t.bits == 16) return {t, Type::u16, Type::u16, 1};
  return {t, t.ir(), t.bits == 64 ? Type::u64 : Type::u32, vector};
}

std::vector<Operand> registers(Emit& e, size_t i, const AtomicShape& shape) {
  return e.get("type") == "b128" ? e.halves(e.operand(i)) : e.elements(i, shape.count);
}

/// Operand 0 is the old value for atom; red starts with the address.
void access(Emit& e) {
  const bool returns = e.inst.opcode == "atom";
  const AtomicShape shape = shape_of(e);
  const size_t at = returns ? 1 : 0;
  ir::Mem mem;
  mem.atom = atomic_operation(e.get("op"));
  mem.atom_type = shape.atom;
  mem.elem = shape.elem;
  mem.count = static_cast<uint8_t>(shape.count);
  mem.order = order_named(e.get("sem"), ir::Order::relaxed);
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
  inst.ftz = shape.atom == Type::f32 && mem.space != ir::Space::shared;
  for (size_t i = 0; i < to.size(); ++i) e.set(to[i], shape.reg, dst[i], Fit::exact, true);
}

// --- what is legal -------------------------------------------------------------------------------

/// Halves travel in untyped registers of their size.
PType declared_type(Context& c) {
  const PType t = c.type();
  return t.packed || t.bits == 16 ? t.untyped() : t;
}

/// The assembler reads every atom of .b32 and .b128 with the operands of cas, too, and drops the
/// last.
bool takes_spare_operand(Context& c) {
  const std::string_view type = c.get("type");
  return c.in.opcode == "atom" && !c.env.manual && !c.has("L2::cache_hint") &&
         c.get("op") != "cas" &&
         (type == "b32" || type == "b128" || (type == "b64" && c.get("scope") == "cluster")) &&
         c.in.operands.size() == 4;
}

/// Operands in front of the policy, behind which nothing else may stand.
bool counted(Context& c, size_t expected) {
  const bool hint = c.has("L2::cache_hint");
  if (takes_spare_operand(c)) {
    c.warn(c.in.operands[3], "a fourth operand, 3 were expected");
    return true;
  }
  if (!hint && c.in.operands.size() == expected + 1) {
    c.error("found " + std::to_string(expected + 1) + " operands, " + std::to_string(expected) +
            " were expected (a cache policy needs `.L2::cache_hint`)");
    return false;
  }
  if (!c.count(expected + (hint ? 1 : 0), expected + (hint ? 1 : 0))) return false;
  if (hint) c.policy(expected);
  return true;
}

/// bf16 and pairs travel in untyped registers alone, f16 in its own, too, and in vectors in any of
/// 16 bits. None of them has constants.
void half_register(Context& c, const Operand& o, bool in_vector) {
  const PType t = c.type();
  if (!t.is_half() || o.kind == Operand::Kind::sink) return;
  const Symbol s = c.symbol(o);
  const bool own = t.bits == 16 && !t.alternative;
  const bool fine = s.kind == Symbol::Kind::reg
                        ? s.type.is_untyped() || (t.packed && s.type == t) ||
                              (own && (in_vector || s.type.is_float()))
                        : o.kind == Operand::Kind::name;
  if (fine) return;
  c.found(o, " for ." + std::string(c.get("type")) + ", a register of " + t.untyped().text() +
                 " was expected");
}

/// Elements of unlike types count as untyped.
bool alike(Context& c, const std::vector<Operand>& elements) {
  const Symbol first = c.symbol(elements[0]);
  return std::ranges::all_of(elements, [&](const Operand& e) {
    const Symbol s = c.symbol(e);
    return e.kind == elements[0].kind && s.kind == first.kind && s.type == first.type;
  });
}

void vector_elements(Context& c, size_t i, bool is_source) {
  const Operand& o = c.in.operands[i];
  c.vector_operand(i, declared_type(c), c.vector(), Fit::exact, is_source, !is_source);
  if (o.kind != Operand::Kind::vector) return half_register(c, o, true);
  if (o.elements.empty() || !alike(c, o.elements)) return;
  for (const Operand& e : o.elements) half_register(c, e, true);
}

void atomic_rule(Context& c) {
  const bool returns = c.in.opcode == "atom";
  if (!returns || (c.has("ss") && c.get("ss") != "global")) c.refuse_unified();
  const size_t address = returns ? 1 : 0;
  const size_t sources = c.get("op") == "cas" ? 2 : 1;
  if (!counted(c, address + 1 + sources)) return;
  const PType t = declared_type(c);
  if (returns) c.destination(0, t, Fit::exact, true);
  if (returns) half_register(c, c.in.operands[0], false);
  c.address(address, c.get("ss"));
  for (size_t i = 1; i <= sources; ++i) {
    c.source(address + i, t, Fit::exact);
    half_register(c, c.in.operands[address + i], false);
  }
  if (!takes_spare_operand(c)) return;
  const Operand& spare = c.in.operands[3];
  if (spare.kind == Operand::Kind::integer) {
    c.error(spare, "found 4 operands, 3 were expected (a cache policy needs `.L2::cache_hint`)");
  } else {
    c.source(3, t, Fit::exact);
  }
}

void vector_atomic_rule(Context& c) {
  const bool returns = c.in.opcode == "atom";
  const size_t address = returns ? 1 : 0;
  if (!counted(c, address + 2)) return;
  if (returns && c.in.operands[0].kind != Operand::Kind::sink) vector_elements(c, 0, false);
  c.address(address, c.get("ss"));
  vector_elements(c, address + 1, true);
}

#define LW_SCOPE "~scope:cta@60.50|cluster@90.78|gpu@60.50|sys@60.50 "
#define LW_ATOM "~sem:relaxed@70.60|acquire@70.60|release@70.60|acq_rel@70.60 " LW_SCOPE
#define LW_REDUCTION "~sem:relaxed@70.60|release@70.60 " LW_SCOPE
#define LW_BITS "?ss:global|$shared op:and|or|xor ~L2::cache_hint@80.74 type:b32|b64"
#define LW_SUM "?ss:global|$shared op:add ~L2::cache_hint@80.74 type:u32|s32|u64|f32|f64@60.50"
#define LW_HALVES                                          \
  "?ss:global|$shared op:add noftz ~L2::cache_hint@80.74 " \
  "type:f16@70.63|f16x2@60.62|bf16@90.78|bf16x2@90.78"
#define LW_WRAP "?ss:global|$shared op:inc|dec ~L2::cache_hint@80.74 type:u32"
#define LW_EXTREME "?ss:global|$shared op:min|max ~L2::cache_hint@80.74 type:u32|s32|u64|s64"
#define LW_SUMS "?ss:global op:add ~L2::cache_hint vec:v2|v4 type:f32"
#define LW_MANY_HALVES "?ss:global op:add|min|max noftz ~L2::cache_hint vec:v2|v4|v8 type:f16|bf16"
#define LW_MANY_PAIRS "?ss:global op:add|min|max noftz ~L2::cache_hint vec:v2|v4 type:f16x2|bf16x2"

constexpr Row row(std::string_view opcode, const char* pattern, legal::Rule rule = atomic_rule) {
  return {opcode, pattern, rule, access, "", check_hints};
}

constexpr Row kAtomicRows[] = {
    row("atom", LW_ATOM LW_BITS),
    row("atom", LW_ATOM "?ss:global|$shared op:exch ~L2::cache_hint@80.74 type:b32|b64|b128@90.83"),
    row("atom", LW_ATOM "?ss:global|$shared op:cas type:b32|b64|b16@70.63|b128@90.83"),
    row("atom", LW_ATOM LW_SUM),
    row("atom", LW_ATOM LW_HALVES),
    row("atom", LW_ATOM LW_WRAP),
    row("atom", LW_ATOM LW_EXTREME),
    row("atom@90.81", LW_ATOM LW_SUMS, vector_atomic_rule),
    row("atom@90.81", LW_ATOM LW_MANY_HALVES, vector_atomic_rule),
    row("atom@90.81", LW_ATOM LW_MANY_PAIRS, vector_atomic_rule),
    row("red", LW_REDUCTION LW_BITS),
    row("red", LW_REDUCTION LW_SUM),
    row("red", LW_REDUCTION LW_HALVES),
    row("red", LW_REDUCTION LW_WRAP),
    row("red", LW_REDUCTION LW_EXTREME),
    row("red@90.81", LW_REDUCTION LW_SUMS, vector_atomic_rule),
    row("red@90.81", LW_REDUCTION LW_MANY_HALVES, vector_atomic_rule),
    row("red@90.81", LW_REDUCTION LW_MANY_PAIRS, vector_atomic_rule),
};

}  // namespace

constinit Rows atomic_rows = kAtomicRows;

}  // namespace lanewise::ptx
