#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

constexpr std::pair<std::string_view, ir::CacheOp> kCacheOps[] = {
    {"ca", ir::CacheOp::ca}, {"cg", ir::CacheOp::cg}, {"cs", ir::CacheOp::cs},
    {"lu", ir::CacheOp::lu}, {"cv", ir::CacheOp::cv}, {"wb", ir::CacheOp::wb},
    {"wt", ir::CacheOp::wt}};

constexpr std::pair<std::string_view, ir::EvictPriority> kPriorities[] = {
    {"evict_normal", ir::EvictPriority::normal},
    {"evict_unchanged", ir::EvictPriority::unchanged},
    {"evict_first", ir::EvictPriority::first},
    {"evict_last", ir::EvictPriority::last},
    {"no_allocate", ir::EvictPriority::no_allocate}};

std::string_view after_colons(std::string_view text) {
  const size_t at = text.rfind(':');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

void check_param_range(Emit& e, int64_t offset, uint64_t bytes, uint64_t size) {
  if (offset >= 0 && static_cast<uint64_t>(offset) + bytes <= size) return;
  e.fail("the access covers bytes " + std::to_string(offset) + " to " +
         std::to_string(offset + static_cast<int64_t>(bytes) - 1) + " of a parameter of " +
         std::to_string(size) + " bytes");
}

ir::Operand policy_word(Emit& e, size_t i) {
  const Entity* entity = e.operand(i).name.empty() ? nullptr : e.body.find(e.operand(i).name);
  if (entity != nullptr && entity->kind != Entity::Kind::reg)
    Emit::fail(e.operand(i).loc, "expected a 64-bit register or constant with a cache policy");
  return e.raw(i, kU64);
}

}  // namespace

ir::Scope scope_named(std::string_view name) {
  constexpr std::pair<std::string_view, ir::Scope> kScopes[] = {{"cta", ir::Scope::cta},
                                                                {"cluster", ir::Scope::cluster},
                                                                {"gpu", ir::Scope::gpu},
                                                                {"gl", ir::Scope::gpu},
                                                                {"sys", ir::Scope::sys}};
  return pick(name, kScopes, ir::Scope::none);
}

ir::AtomOp atomic_operation(std::string_view name) {
  constexpr std::pair<std::string_view, ir::AtomOp> kOps[] = {
      {"min", ir::AtomOp::min},  {"max", ir::AtomOp::max},   {"inc", ir::AtomOp::inc},
      {"dec", ir::AtomOp::dec},  {"and", ir::AtomOp::and_},  {"or", ir::AtomOp::or_},
      {"xor", ir::AtomOp::xor_}, {"exch", ir::AtomOp::exch}, {"cas", ir::AtomOp::cas}};
  return pick(name, kOps, ir::AtomOp::add);
}

ir::Order order_named(std::string_view name, ir::Order otherwise) {
  constexpr std::pair<std::string_view, ir::Order> kOrders[] = {{"relaxed", ir::Order::relaxed},
                                                                {"acquire", ir::Order::acquire},
                                                                {"release", ir::Order::release},
                                                                {"acq_rel", ir::Order::acq_rel},
                                                                {"sc", ir::Order::seq_cst}};
  return pick(name, kOrders, otherwise);
}

unsigned vector_elements(const Form& f) {
  const std::string_view vec = f.get("vec");
  return vec == "v2" ? 2 : vec == "v4" ? 4 : vec == "v8" ? 8 : 1;
}

ir::CachePolicy cache_policy(Emit& e, size_t plain_operands) {
  ir::CachePolicy policy;
  policy.op = e.has("nc") ? ir::CacheOp::nc : pick(e.get("cop"), kCacheOps, ir::CacheOp::none);
  policy.l1 = pick(after_colons(e.get("l1")), kPriorities, ir::EvictPriority::none);
  policy.l2 = pick(after_colons(e.get("l2")), kPriorities, ir::EvictPriority::none);
  const std::string_view prefetch = after_colons(e.get("pf"));
  policy.prefetch_bytes = prefetch == "64B"    ? 64
                          : prefetch == "128B" ? 128
                          : prefetch == "256B" ? 256
                                               : 0;
  const size_t wanted = plain_operands + (e.has("L2::cache_hint") ? 1 : 0);
  if (e.count() != wanted)
    e.fail("'" + e.inst.opcode + "' in this form takes " + std::to_string(wanted) +
           " operands, found " + std::to_string(e.count()) +
           (e.has("L2::cache_hint") ? " ('.L2::cache_hint' needs a policy operand)" : ""));
  if (e.has("L2::cache_hint")) policy.hint = policy_word(e, plain_operands);
  return policy;
}

ir::Operand apply_address(Emit& e, const Address& a, ir::Mem& mem) {
  mem.space = a.space;
  mem.offset = a.offset;
  mem.align = e.kernel.module.options.align;
  if (a.object != nullptr) check_param_range(e, a.offset, mem.bytes(), a.object->size);
  if (a.space != ir::Space::param) return a.base;
  mem.align = ir::AlignRule::any;
  if (!a.kernel_param) return a.base;
  for (const ir::Param& p : e.kernel.program.params)
    if (p.offset == a.base.imm) check_param_range(e, a.offset, mem.bytes(), p.size);
  mem.offset += static_cast<int64_t>(a.base.imm);
  return imm(0);
}

std::string check_hints(const Form& f) {
  const auto named = [&f](const char* slot) { return "`." + std::string(f.get(slot)) + "`"; };
  const std::string_view space = f.get("ss");
  const bool global = space.empty() || space == "global";
  const std::string elsewhere =
      " in `." + std::string(space) + "`, `.global` or a generic address was expected";
  for (const char* slot : {"l1", "pf", "L2::cache_hint"})
    if (f.has(slot) && !global) return named(slot) + elsewhere;
  if (f.has("cop") && f.has("l1"))
    return "cache operator " + named("cop") + " with " + named("l1") + ", one of them was expected";
  const unsigned bits = f.type().bits * vector_elements(f);
  const bool wide = bits == 256 && (f.type().bits == 32 || f.type().bits == 64);
  if (wide && !global) return "an access of 256 bits" + elsewhere;
  if (bits > 128 && !wide)
    return "a vector of " + std::to_string(bits) + " bits, 128 at most were expected";
  if (f.has("l2") && !wide)
    return named("l2") + " in an access of " + std::to_string(bits) +
           " bits, `.v8` of 32-bit or `.v4` of 64-bit elements was expected";
  return {};
}

}  // namespace lanewise::ptx
