// Fences, and asynchronous copies and stores.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {

void no_operand_rule(Context& c) {
  c.count(0, 0);
}

void fence_tensor_rule(Context& c) {
  c.refuse_unified();
  if (!c.count(2, 2)) return;
  c.near_address(0, "");
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
    const bool ignore = s.kind == Symbol::Kind::reg && s.type.is_pred();
    if (ignore) {
      if (!c.old()) c.need(80, 83, "a predicate that ignores the source");
    } else {
      const Operand &whole = c.in.operands[2], &read = c.in.operands[3];
      if (read.kind == Operand::Kind::integer && read.bits > whole.bits)
        c.error(read, std::to_string(read.bits) + " bytes of " + std::to_string(whole.bits) +
                          ", no more were expected");
      c.integer_source(3, 32);
    }
  }
  if (hint) c.policy(n - 1);
}

}  // namespace lanewise::ptx::legal
