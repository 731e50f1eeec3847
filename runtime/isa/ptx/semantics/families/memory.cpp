// ld, ldu, st in all spaces.
#include <algorithm>

#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

void order(Emit& e, ir::Mem& mem) {
  if (e.has("volatile")) mem.order = ir::Order::volatile_;
  if (e.has("mmio")) mem.order = ir::Order::mmio;
  const std::string_view sem = e.get("sem");
  if (sem == "relaxed") mem.order = ir::Order::relaxed;
  if (sem == "acquire") mem.order = ir::Order::acquire;
  if (sem == "release") mem.order = ir::Order::release;
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

constexpr const char* kBulkStore = "bulk stores are not supported";

constexpr Row kMemoryRows[] = {
    {"ld",
     "~weak ?ss:global|local|$sharedany|param|param::entry|param::func|const ?cop:ca|cg|cs|lu|cv "
     "~l1:$l1 ~l2:$l2 ~pf:$pf ~L2::cache_hint ?vec:$vec type:$mem",
     nullptr, load, "", check_hints},
    {"ld", "ss:global nc ?cop:ca|cg|cs ~l1:$l1 ~l2:$l2 ~pf:$pf ~L2::cache_hint ?vec:$vec type:$mem",
     nullptr, load, "", check_hints},
    {"ld", "volatile ?ss:global|$sharedany ~l2:$l2 ~pf:$pf ?vec:$vec type:$mem", nullptr, load, "",
     check_hints},
    {"ld",
     "sem:relaxed|acquire scope:$scope ?ss:global|$sharedany ~l1:$l1 ~l2:$l2 ~pf:$pf "
     "~L2::cache_hint "
     "?vec:$vec type:$mem",
     nullptr, load, "", check_hints},
    {"ld", "mmio relaxed sys ?ss:global type:$mem", nullptr, load, "", check_hints},
    {"ldu", "?ss:global ?vec:v2|v4 type:$mem", nullptr, load, "", check_hints},
    {"st",
     "~weak ?ss:global|local|$sharedany|param|param::func ?cop:wb|cg|cs|wt ~l1:$l1 ~l2:$l2 "
     "~L2::cache_hint ?vec:$vec type:$mem",
     nullptr, store, "", check_hints},
    {"st", "volatile ?ss:global|$sharedany ~l2:$l2 ?vec:$vec type:$mem", nullptr, store, "",
     check_hints},
    {"st",
     "sem:relaxed|release scope:$scope ?ss:global|$sharedany ~l1:$l1 ~l2:$l2 ~L2::cache_hint "
     "?vec:$vec "
     "type:$mem",
     nullptr, store, "", check_hints},
    {"st", "mmio relaxed sys ?ss:global type:$mem", nullptr, store, "", check_hints},
    {"st",
     "async ~mmio ~sem:weak|release ~scope:$scope ?ss:global|shared::cluster "
     "~mbarrier::complete_tx::bytes ~vec:v2|v4 type:$mem",
     nullptr, store_async, "", nullptr, isa::Claim::effect},
    {"st", "bulk ~weak ?ss:shared::cta", nullptr, nullptr, kBulkStore, nullptr, isa::Claim::none},
};

}  // namespace

std::span<const Row> memory_rows() {
  return kMemoryRows;
}

}  // namespace lanewise::ptx
