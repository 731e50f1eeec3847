// Calls: the target, and arguments against parameters.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

using K = Operand::Kind;
using S = Symbol::Kind;

struct Signature {
  const std::vector<Variable>* results = nullptr;
  const std::vector<Variable>* params = nullptr;
};

uint64_t bytes_of(const Variable& v) {
  const auto type = ptype_named(v.type);
  uint64_t n = type ? type->bits / 8 : 0;
  n *= v.vector;
  for (const uint64_t d : v.dims) n *= d;
  return n;
}

uint64_t align_of(const Variable& v) {
  if (v.align != 0) return v.align;
  const auto type = ptype_named(v.type);
  return type ? type->bits / 8 * v.vector : 1;
}

/// Arguments are call parameters of the same size, registers of the parameter's width or constants.
void argument(Context& c, const Operand& o, const Variable& formal, bool result) {
  const Symbol s = c.symbol(o);
  if (o.kind == K::sink && result) return;
  const auto fault = [&] {
    c.error(o, found_text(o, s) + " for the parameter `" + formal.name + "` of " +
                   std::to_string(bytes_of(formal)) + " bytes, one of its type was expected");
  };
  if (s.kind == S::variable && s.variable->space == "param" && o.kind == K::name) {
    if (formal.space == "reg" || bytes_of(*s.variable) != bytes_of(formal) ||
        align_of(*s.variable) < align_of(formal))
      fault();
    return;
  }
  PType want = ptype_named(formal.type).value_or(PType{});
  if (formal.space != "reg") want.cls = PType::Class::bits;
  const bool constant = o.kind == K::integer || o.kind == K::float_;
  if (constant && !result && formal.dims.empty()) {
    if (!Context::constant_fits(o, want)) fault();
    return;
  }
  if (o.kind == K::name && s.kind == S::function && !result && want.bits >= 32) return;
  const bool reg = o.kind == K::name && s.kind == S::reg && s.vector == 1 && !o.has_offset &&
                   !o.negated && o.pair.empty() && formal.dims.empty() && formal.vector == 1;
  if (!reg || !fits(want, s.type, Fit::exact)) fault();
}

void arguments(Context& c, const Operand* list, const std::vector<Variable>& formals,
               bool results) {
  const size_t n = list ? list->elements.size() : 0;
  if (n != formals.size()) {
    c.error("found " + std::to_string(n) + (results ? " results, " : " arguments, ") +
            std::to_string(formals.size()) + " were expected");
    return;
  }
  for (size_t i = 0; i < n; ++i) argument(c, list->elements[i], formals[i], results);
}

/// What `.calltargets` and `.callprototype` say of a call by way of a register.
Signature indirect(Context& c, const Operand& o) {
  const Symbol s = c.symbol(o);
  if (o.kind == K::name && s.kind == S::prototype)
    return {&s.prototype->results, &s.prototype->params};
  if (o.kind == K::name && s.kind == S::targets && !s.targets->targets.empty()) {
    const Symbol first = c.env.symbols->find(s.targets->targets[0]);
    if (first.function != nullptr) return {&first.function->results, &first.function->params};
  }
  c.error(o, found_text(o, s) + ", a call prototype or a list of targets was expected");
  return {};
}

}  // namespace

void call_rule(Context& c) {
  const auto& ops = c.in.operands;
  size_t at = 0;
  const Operand* results = !ops.empty() && ops[0].kind == K::list ? &ops[at++] : nullptr;
  if (at == ops.size()) {
    c.error("no target, a function was expected");
    return;
  }
  const Operand& target = ops[at++];
  const Operand* params = at < ops.size() && ops[at].kind == K::list ? &ops[at++] : nullptr;
  const Operand* last = at < ops.size() ? &ops[at++] : nullptr;
  if (at != ops.size()) {
    c.error(ops[at], "an operand too many, none was expected");
    return;
  }
  const Symbol s = c.symbol(target);
  Signature signature;
  if (target.kind == K::name && s.kind == S::function && !target.has_offset) {
    if (s.function != nullptr && s.function->entry) {
      c.error(target, "the kernel `" + target.name + "` as target, a function was expected");
      return;
    }
    if (last != nullptr) {
      c.error(*last, "an operand too many, none was expected");
      return;
    }
    if (s.function == nullptr) return;
    signature = {&s.function->results, &s.function->params};
  } else {
    if (s.kind != S::reg) {
      c.error(target, found_text(target, s) + " as target, a function was expected");
      return;
    }
    c.register_of(target, kU64, Fit::exact);
    if (last == nullptr) {
      c.error("a call by way of a register without a prototype, one was expected");
      return;
    }
    signature = indirect(c, *last);
  }
  if (signature.results == nullptr) return;
  arguments(c, results, *signature.results, true);
  arguments(c, params, *signature.params, false);
}

void branch_table_rule(Context& c) {
  const Operand& o = c.in.operands[1];
  const Symbol s = c.symbol(o);
  const bool labels = o.kind == K::name && s.kind == S::targets && !s.targets->targets.empty() &&
                      c.env.symbols->find(s.targets->targets[0]).kind == S::label;
  if (!labels) c.error(o, found_text(o, s) + ", a list of branch targets was expected");
}

}  // namespace lanewise::ptx::legal
