// ld, ldu, st in all spaces.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Symbol;

void order(Emit& e, ir::Mem& mem) {
  if (e.has("volatile")) mem.order = ir::Order::volatile_;
  if (e.has("mmio")) mem.order = ir::Order::mmio;
  mem.order = order_named(e.get("sem"), mem.order);
  mem.scope = e.has("mmio") ? ir::Scope::sys : scope_named(e.get("scope"));
}

ir::Mem describe(Emit& e) {
  ir::Mem mem;
  mem.elem = e.type().memory();
  mem.count = static_cast<uint8_t>(vector_elements(e.form) * (e.type().bits == 128 ? 2 : 1));
  order(e, mem);
  mem.cache = cache_policy(e, 2);
  return mem;
}

std::vector<Operand> values_of(Emit& e, size_t i, const ir::Mem& mem) {
  if (e.type().bits != 128) return e.elements(i, mem.count);
  // A destination that is thrown away has no halves.
  if (e.is_sink(i)) e.fail("the result of '" + e.inst.opcode + "' cannot be discarded with '_'");
  return e.halves(e.operand(i));
}

/// Vector elements may mix register classes of one width; then only the bits count.
PType element_type(Emit& e, const std::vector<Operand>& elements, bool stores) {
  if (e.type().bits == 128) return kB64;
  const PType t = e.type();
  const Entity* first = nullptr;
  bool mixed = false;
  for (const Operand& o : elements) {
    const Entity* entity = o.kind == Operand::Kind::name ? e.body.find(o.name) : nullptr;
    // A number or a special register among registers of floats is its bits.
    if (entity == nullptr || entity->kind != Entity::Kind::reg) {
      mixed = mixed || (stores && elements.size() > 1 && o.kind != Operand::Kind::float_);
      continue;
    }
    if (first == nullptr) first = entity;
    if (entity->type.bits != first->type.bits)
      Emit::fail(o.loc, "the elements of a vector must have one width");
    const bool integer = entity->type.is_int();
    mixed = mixed || entity->type.cls != first->type.cls ||
            (elements.size() > 1 && t.is_float() && integer);
  }
  const bool all_sinks =
      std::ranges::all_of(elements, [](const Operand& o) { return o.kind == Operand::Kind::sink; });
  if (all_sinks) Emit::fail(elements[0].loc, "at least one element must be a register");
  const bool extends = !stores && t.is_signed() && first != nullptr && first->type.bits > t.bits;
  return mixed && !extends ? t.untyped() : t;
}

void check_words(Emit& e, const Address& a, const ir::Mem& mem) {
  ir::Mem copy = mem;
  apply_address(e, a, copy);
}

void load_words(Emit& e, const Address& a, const ir::Mem& mem, const std::vector<Operand>& to,
                PType t) {
  check_words(e, a, mem);
  for (size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<uint32_t>(a.offset + static_cast<int64_t>(i * t.bytes()));
    e.set(to[i], t, read_words(e, *a.object, at, t), Fit::wider, true);
  }
}

void check_unified(Emit& e, const Operand& address) {
  if (e.inst.unified.empty()) return;
  const Entity* entity = e.body.find(address.name);
  const bool declared = entity != nullptr && entity->variable != nullptr &&
                        std::ranges::count(entity->variable->attributes, "unified") != 0;
  if (entity != nullptr && entity->kind == Entity::Kind::reg && e.inst.unified == ".unified")
    return;  // whatever it points at
  if (!declared || e.inst.unified != ".unified")
    e.fail("'" + e.inst.unified + "' is only for variables declared with that attribute");
}

void load(Emit& e) {
  ir::Mem mem = describe(e);
  const auto to = values_of(e, 0, mem);
  const PType t = element_type(e, to, false);
  check_unified(e, e.operand(1));
  const Address a = e.address(e.operand(1), e.get("ss"));
  if (a.object != nullptr && !a.object->in_memory) return load_words(e, a, mem, to, t);
  const ir::Operand base = apply_address(e, a, mem);
  mem.used_bytes = e.inst.used_bytes;
  std::vector<ir::Reg> values;
  for (unsigned i = 0; i < mem.count; ++i) values.push_back(e.temp(ir::width_of(mem.elem)));
  e.emit(ir::Op::load, ir::Type::none, values, {base}).mem = mem;
  for (unsigned i = 0; i < mem.count; ++i) e.set(to[i], t, values[i], Fit::wider, true);
}

void store(Emit& e) {
  ir::Mem mem = describe(e);
  const auto from = values_of(e, 1, mem);
  const PType t = element_type(e, from, true);
  const Address a = e.address(e.operand(0), e.get("ss"));
  if (a.kernel_param || a.input)
    e.fail("parameters cannot be written by the function they belong to");
  const bool words = a.object != nullptr && !a.object->in_memory;
  if (!words && a.space == ir::Space::param) e.fail("kernel parameters cannot be written");
  const ir::Operand base = apply_address(e, a, mem);
  std::vector<ir::Operand> src{base};
  const bool may_skip = mem.bytes() == 32;  // bytes under a sink are not written
  for (const Operand& o : from)
    src.push_back(may_skip && o.kind == Operand::Kind::sink ? ir::Operand{}
                                                            : e.raw(o, t, Fit::wider));
  if (!words) {
    e.emit(ir::Op::store, ir::Type::none, {}, src).mem = mem;
    return;
  }
  for (size_t i = 0; i < from.size(); ++i)
    write_words(e, *a.object, static_cast<uint32_t>(a.offset + static_cast<int64_t>(i * t.bytes())),
                t, src[i + 1]);
}

/// 256 bits is a feature of its own; up to 128 bits is allowed everywhere.
void check_width(Context& c) {
  const PType t = c.type();
  const unsigned n = c.vector(), bits = t.bits * n;
  if (bits == 256) {
    c.need(100, 88, "an access of 256 bits");
  } else if (n == 8) {
    c.need(0, 80, "`.v8`");
    if (c.env.manual)
      c.error("`.v8` of " + t.text() + ", elements of 32 bits were expected (the manual's text)");
  }
  if (bits == 128 && n == 1 && (c.get("scope") == "sys" || c.has("sys")))
    c.need(70, 84, "`.b128` with `.sys`");
}

/// A parameter that the instruction's space or direction does not reach.
void check_parameter(Context& c, size_t address) {
  const Operand& a = c.in.operands[address];
  const Symbol s = c.symbol(a);
  if (s.kind != Symbol::Kind::variable || s.variable->space != "param") return;
  const std::string_view space = c.get("ss");
  const bool store = c.in.opcode == "st";
  if (store && s.input) {
    c.error(a, std::string("a store into the ") + (s.entry ? "kernel" : "function's") +
                   " parameter `" + a.name + "`, a parameter of a call was expected");
  }
  if (!s.entry && space == "param::entry") {
    c.error(a, "`" + a.name + "` is no kernel parameter, `.param::func` was expected");
  }
  if (s.entry && space == "param::func" && (store || c.env.manual)) {
    c.error(a, "`" + a.name + "` is a kernel parameter, `.param::entry` was expected");
  }
  if (!s.parameter && !c.in.guard.empty()) {
    c.error(a,
            "a predicate on an access to the call parameter `" + a.name + "`, none was expected");
  }
}

void check_attribute(Context& c) {
  if (c.in.unified.empty()) return;
  const std::string_view space = c.get("ss");
  if (!space.empty() && space != "global") return c.refuse_unified();
  c.need(0, 80, "`.unified`");
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (s.kind != Symbol::Kind::variable) return;
  if (std::ranges::count(s.variable->attributes, "unified") == 0)
    c.error(a, "`.unified` on `" + a.name + "`, a variable with that attribute was expected");
}

void access_rule(Context& c) {
  check_width(c);
  if (c.env.manual && c.has("cop") && c.has("l2"))
    c.error("`." + std::string(c.get("cop")) + "` with `." + std::string(c.get("l2")) +
            "`, one of them was expected (the manual's text)");
  if (c.get("ss").starts_with("param")) check_parameter(c, c.in.opcode == "st" ? 0 : 1);
  if (c.in.opcode == "ld") check_attribute(c);
}

void uniform_rule(Context& c) {
  const unsigned bits = c.type().bits * c.vector();
  if (bits > 128)
    c.error("a vector of " + std::to_string(bits) + " bits, 128 at most were expected");
  check_attribute(c);
}

#define LW_SPACES "global|local|$shared|const|param|param::entry@.83|param::func@.83"
#define LW_STRONG "scope:$scope ?ss:global|$shared "
#define LW_HINTS "~l1:$l1 ~l2:$l2 ~L2::cache_hint@80.74 "
#define LW_WIDE "?vec:$vec type:$data"

constexpr Row load_row(const char* pattern) {
  return {"ld", pattern, judged("n> u h&L2::cache_hint", access_rule), load, "", check_hints};
}
constexpr Row store_row(const char* pattern) {
  return {"st", pattern, judged("a m> h&L2::cache_hint", access_rule), store, "", check_hints};
}

constexpr const char* kLater = "what .version 9.1 adds is not supported";

constexpr Row kMemoryRows[] = {
    load_row("~weak@70.60 ?ss:" LW_SPACES " ?cop:ca|cg|cs|lu|cv " LW_HINTS "~pf:$pf " LW_WIDE),
    load_row("ss:global ?cop:ca|cg|cs nc " LW_HINTS "~pf:$pf " LW_WIDE),
    load_row("volatile ?ss:global|$shared ~l2:$l2! ~pf:$pf " LW_WIDE),
    load_row("sem:relaxed@70.60|acquire@70.60 " LW_STRONG LW_HINTS "~pf:$pf " LW_WIDE),
    load_row("mmio@70.82 relaxed@70.60 sys ?ss:global type:$data"),
    {"ldu", "?ss:global ?vec:v2|v4 type:$data", judged("n> u", uniform_rule), load, "",
     check_hints},
    store_row(
        "~weak@70.60 ?ss:global|local|$shared|param|param::func@.83 ?cop:wb|cg|cs|wt " LW_HINTS
            LW_WIDE),
    store_row("volatile ?ss:global|$shared ~l2:$l2! " LW_WIDE),
    {"ld", "volatile ss:local@.91 " LW_WIDE, judged("n> u", access_rule), kLater, "", check_hints},
    {"st", "volatile ss:local@.91 " LW_WIDE, judged("a m>", access_rule), kLater, "", check_hints},
    store_row("sem:relaxed@70.60|release@70.60 " LW_STRONG LW_HINTS LW_WIDE),
    store_row("mmio@70.82 relaxed@70.60 sys ?ss:global type:$data"),
};

}  // namespace

constinit Rows memory_rows = kMemoryRows;

}  // namespace lanewise::ptx
