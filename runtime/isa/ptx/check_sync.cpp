// Fences, and asynchronous copies and stores.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {

void no_operand_rule(Context& c) {
  c.count(0, 0);
}

void fence_tensor_rule(Context& c) {
  c.refuse_unified();
  if (!c.count(2, 2)) return;
  c.address(0, "");
  const Operand* size = c.literal(1, "the constant 128");
  if (size && size->bits != 128) {
    c.error(*size,
            "a size of " + std::to_string(static_cast<int64_t>(size->bits)) + ", 128 was expected");
  }
}

void copy_wait_rule(Context& c) {
  if (c.count(1, 1)) c.literal(0, "a constant number of groups");
}

void copy_async_rule(Context& c) {
  c.refuse_unified();
  const bool hint = c.has("hint");
  if (!c.count(3, 5)) return;
  const size_t n = c.in.operands.size();
  if (c.position("space") > c.position("global")) {
    c.error("`.global` stands before `." + std::string(c.get("space")) +
            "`, the space of the destination was expected first");
  }
  c.address(0, c.get("space"));
  // The one global address that may be narrow on every target.
  const Symbol from = c.symbol(c.in.operands[1]);
  const bool narrow = from.kind == Symbol::Kind::reg && from.type.bits == 32 && !c.env.manual;
  c.address(1, narrow ? "local" : "global");
  const bool bypass = c.get("how") == "cg";
  if (const Operand* size = c.literal(2, "a constant size")) {
    const bool known = size->bits == 16 || (!bypass && (size->bits == 4 || size->bits == 8));
    if (!known) {
      c.error(*size, "a copy of " + std::to_string(static_cast<int64_t>(size->bits)) + " bytes, " +
                         (bypass ? "16 was expected" : "4, 8 or 16 was expected"));
    }
  }
  const size_t plain = n - (hint ? 1 : 0);
  if (plain < 3 || plain > 4) {
    c.error("found " + std::to_string(n) + " operands, " + (hint ? "4 or 5" : "3 or 4") +
            " were expected");
    return;
  }
  if (plain == 4) {
    const Symbol s = c.symbol(c.in.operands[3]);
    const bool ignore = s.kind == Symbol::Kind::reg && s.type.cls == Type::Class::pred;
    if (ignore) {
      c.need(80, 83, "a predicate that ignores the source");
    } else {
      c.integer_source(3, 32);
    }
  }
  if (hint) c.policy(n - 1);
}

void store_async_rule(Context& c) {
  const bool reports = c.has("mbarrier::complete_tx::bytes");
  if (!c.count(reports ? 3 : 2, reports ? 3 : 2)) return;
  const std::string_view space = c.get("space");
  c.address(0, reports ? "shared::cluster" : space);
  if (c.vector() > 1) {
    c.vector_operand(1, c.type(), c.vector(), Fit::wider, true, false);
  } else {
    c.source(1, c.type(), Fit::wider);
  }
  if (reports) c.address(2, "shared::cluster");
}

void bulk_store_rule(Context& c) {
  if (!c.count(3, 3)) return;
  c.address(0, c.get("space"));
  c.source(1, {Type::Class::bits, 64}, Fit::exact);
  const Operand* value = c.literal(2, "the constant 0");
  if (value && value->bits != 0) {
    c.error(*value,
            "a value of " + std::to_string(static_cast<int64_t>(value->bits)) + ", 0 was expected");
  }
}

void multimem_rule(Context& c) {
  const std::string_view sem = c.get("sem");
  const bool strong = !sem.empty() && sem != "weak";
  if (strong != c.has("scope")) {
    c.error(strong ? "`." + std::string(sem) + "` without a scope, one was expected"
                   : "a scope, `.relaxed` or stronger was expected with it");
  }
  if (!c.count(2, 2)) return;
  const bool loads = c.in.opcode == "multimem" && c.has("ld_reduce");
  c.address(loads ? 1 : 0, "global");
}

}  // namespace lanewise::ptx::legal
