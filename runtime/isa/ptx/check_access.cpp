// Loads and stores.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

bool is_windowed(std::string_view space) {
  return space.empty() || space == "global";
}

/// `.param` alone is the parameter of a called function for st, of the kernel for ld.
bool is_param(std::string_view space) {
  return space.starts_with("param");
}

std::string named(std::string_view qualifier) {
  return "`." + std::string(qualifier) + "`";
}

void semantics(Context& c) {
  const std::string_view sem = c.get("sem"), scope = c.get("scope"), space = c.get("space");
  const bool ordered = sem == "relaxed" || sem == "acquire" || sem == "release";
  if (ordered && scope.empty()) {
    c.error(named(sem) + " without scope, one of `.cta` `.cluster` `.gpu` `.sys` was expected");
  }
  if (!ordered && !scope.empty()) {
    c.error(named(scope) + " without an ordering, `.relaxed`" +
            (c.in.opcode == "ld" ? " or `.acquire`" : " or `.release`") + " was expected");
  }
  const bool common = is_windowed(space) || space.starts_with("shared");
  if (ordered && !common) {
    c.error(named(sem) + " in " + named(space) +
            ", `.global`, `.shared` or a generic address was expected");
  }
  if (sem == "volatile" && !common) {
    if (space != "local") {
      c.error("`.volatile` in " + named(space) +
              ", `.global`, `.shared` or a generic address was expected");
    } else {
      c.need(0, 91, "`.volatile` in `.local`");
    }
  }
  if (ordered && scope == "sys" && c.type().bits == 128) c.need(70, 84, "`.b128` with `.sys`");
}

void memory_mapped(Context& c) {
  if (!c.has("mmio")) return;
  if (c.get("sem") != "relaxed" || c.get("scope") != "sys") {
    c.error("`.mmio` goes with `.relaxed.sys` alone, both were expected");
  }
  if (!is_windowed(c.get("space"))) {
    c.error("`.mmio` in " + named(c.get("space")) +
            ", `.global` or a generic address was expected");
  }
  for (const char* slot : {"vec", "l1", "l2", "hint", "size", "cop", "nc"}) {
    if (c.has(slot)) c.error("`.mmio` with " + named(c.get(slot)) + ", it was expected without");
  }
}

void caching(Context& c) {
  const std::string_view sem = c.get("sem"), space = c.get("space"), cop = c.get("cop");
  const bool weak = sem.empty() || sem == "weak";
  if (!cop.empty() && !weak) {
    c.error("cache operator " + named(cop) + " with " + named(sem) + ", `.weak` was expected");
  }
  if (!cop.empty() && c.has("l1")) {
    c.error("cache operator " + named(cop) + " with " + named(c.get("l1")) +
            ", one of them was expected");
  }
  if (c.has("l1")) {
    if (sem == "volatile")
      c.error("`.volatile` with " + named(c.get("l1")) + ", one of them was expected");
    if (!is_windowed(space)) {
      c.error(named(c.get("l1")) + " in " + named(space) +
              ", `.global` or a generic address was expected");
    }
  }
  if (c.has("hint")) {
    if (sem == "volatile") c.error("`.volatile` with `.L2::cache_hint`, one of them was expected");
    if (!is_windowed(space)) {
      c.error("`.L2::cache_hint` in " + named(space) +
              ", `.global` or a generic address was expected");
    }
  }
  if (c.has("size") && !is_windowed(space)) {
    c.error(named(c.get("size")) + " in " + named(space) +
            ", `.global` or a generic address was expected");
  }
}

void read_only(Context& c) {
  if (!c.has("nc")) return;
  if (c.get("space") != "global") c.error("`.nc` without `.global`, it was expected with it");
  if (c.has("sem")) c.error("`.nc` with " + named(c.get("sem")) + ", it was expected without");
  const std::string_view cop = c.get("cop");
  if (cop == "lu" || cop == "cv") {
    c.error("`.nc` with " + named(cop) + ", `.ca`, `.cg` or `.cs` was expected");
  }
}

/// 256 bits is a feature of its own; up to 128 bits is allowed everywhere.
bool check_width(Context& c) {
  const PType t = c.type();
  const unsigned n = c.vector(), bits = t.bits * n;
  const bool wide = bits == 256 && (n == 8 || n == 4) && t.bits < 128;
  if (n == 8 && !wide) c.need(0, 80, "`.v8`");
  if (c.env.manual && n == 8 && !wide) {
    c.error("`.v8` of " + t.text() + ", elements of 32 bits were expected (the manual's text)");
  }
  if (bits > 128 && !wide) {
    c.error("a vector of " + std::to_string(bits) + " bits, 128 at most were expected");
  } else if (wide) {
    c.need(100, 88, "an access of 256 bits");
    if (!is_windowed(c.get("space"))) {
      c.error("an access of 256 bits in " + named(c.get("space")) +
              ", `.global` or a generic address was expected");
    }
  }
  if (c.has("l2") && !wide) {
    c.error(named(c.get("l2")) + " in an access of " + std::to_string(bits) +
            " bits, `.v8` of 32-bit or `.v4` of 64-bit elements was expected");
  }
  return wide;
}

void parameter(Context& c, size_t address) {
  const Operand& a = c.in.operands[address];
  const Symbol s = c.symbol(a);
  if (s.kind != Symbol::Kind::variable || s.variable->space != "param") return;
  const std::string_view space = c.get("space");
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

void unified(Context& c, size_t address) {
  if (c.in.unified.empty()) return;
  if (c.in.opcode == "st" || !is_windowed(c.get("space"))) {
    c.error("`.unified` here, a load of `.global` or generic space was expected");
    return;
  }
  c.need(0, 80, "`.unified`");
  const Symbol s = c.symbol(c.in.operands[address]);
  if (s.kind != Symbol::Kind::variable) return;
  for (const std::string& a : s.variable->attributes)
    if (a == "unified") return;
  c.error(c.in.operands[address], "`.unified` on `" + c.in.operands[address].name +
                                      "`, a variable with that attribute was expected");
}

}  // namespace

void access_rule(Context& c) {
  semantics(c);
  memory_mapped(c);
  caching(c);
  read_only(c);
  const bool wide = check_width(c);
  const bool store = c.in.opcode == "st", hint = c.has("hint");
  if (c.in.operands.size() == 3 && !hint) {
    c.error("a third operand, `.L2::cache_hint` was expected with it");
    return;
  }
  if (!c.count(hint ? 3 : 2, hint ? 3 : 2)) return;
  const size_t address = store ? 0 : 1, data = store ? 1 : 0;
  c.address(address, c.get("space"));
  if (is_param(c.get("space"))) parameter(c, address);
  unified(c, address);
  if (c.vector() > 1) {
    c.vector_operand(data, c.type(), c.vector(), Fit::wider, store, !store || wide);
  } else if (store) {
    c.source(data, c.type(), Fit::wider);
  } else {
    c.destination(data, c.type(), Fit::wider);
  }
  if (hint) c.policy(2);
}

void uniform_load_rule(Context& c) {
  if (c.type().bits * c.vector() > 128) {
    c.error("a vector of " + std::to_string(c.type().bits * c.vector()) +
            " bits, 128 at most were expected");
  }
  if (!c.count(2, 2)) return;
  if (c.type().bits == 128) c.need(70, 83, "`.b128`");
  c.address(1, c.get("space"));
  unified(c, 1);
  if (c.vector() > 1) {
    c.vector_operand(0, c.type(), c.vector(), Fit::wider, false, true);
  } else {
    c.destination(0, c.type(), Fit::wider);
  }
}

}  // namespace lanewise::ptx::legal
