#include "runtime/isa/ptx/symbols.hpp"

#include <charconv>

namespace lanewise::ptx::legal {
namespace {

using SK = Special::Kind;

constexpr Special kSpecials[] = {
    {"%tid", SK::vector, 0, 0},
    {"%ntid", SK::vector, 0, 0},
    {"%ctaid", SK::vector, 0, 0},
    {"%nctaid", SK::vector, 0, 0},
    {"%tid.", SK::half_too, 0, 0},
    {"%ntid.", SK::half_too, 0, 0},
    {"%ctaid.", SK::half_too, 0, 0},
    {"%nctaid.", SK::half_too, 0, 0},
    {"%clusterid", SK::vector, 90, 78},
    {"%nclusterid", SK::vector, 90, 78},
    {"%cluster_ctaid", SK::vector, 90, 78},
    {"%cluster_nctaid", SK::vector, 90, 78},
    {"%clusterid.", SK::word, 90, 78},
    {"%nclusterid.", SK::word, 90, 78},
    {"%cluster_ctaid.", SK::word, 90, 78},
    {"%cluster_nctaid.", SK::word, 90, 78},
    {"%cluster_ctarank", SK::word, 90, 78},
    {"%cluster_nctarank", SK::word, 90, 78},
    {"%is_explicit_cluster", SK::predicate, 90, 78},
    {"%laneid", SK::word, 0, 0},
    {"%warpid", SK::word, 0, 0},
    {"%nwarpid", SK::word, 0, 0},
    {"%smid", SK::word, 0, 0},
    {"%nsmid", SK::word, 0, 0},
    {"%gridid", SK::word_or_long, 0, 0},
    {"%lanemask_eq", SK::word, 0, 0},
    {"%lanemask_le", SK::word, 0, 0},
    {"%lanemask_lt", SK::word, 0, 0},
    {"%lanemask_ge", SK::word, 0, 0},
    {"%lanemask_gt", SK::word, 0, 0},
    {"%clock", SK::word, 0, 0},
    {"%clock_hi", SK::word, 0, 50},
    {"%clock64", SK::wide, 0, 0},
    {"%globaltimer", SK::wide, 0, 0},
    {"%globaltimer_lo", SK::word, 0, 0},
    {"%globaltimer_hi", SK::word, 0, 0},
    {"%total_smem_size", SK::word, 0, 0},
    {"%dynamic_smem_size", SK::word, 0, 0},
    {"%aggr_smem_size", SK::word, 90, 81},
    {"%reserved_smem_offset_begin", SK::word, 80, 76},
    {"%reserved_smem_offset_end", SK::word, 80, 76},
    {"%reserved_smem_offset_cap", SK::word, 80, 76},
    {"%reserved_smem_offset_0", SK::word, 80, 76},
    {"%reserved_smem_offset_1", SK::word, 80, 76},
    {"%current_graph_exec", SK::wide, 0, 80},
};

bool is_number(std::string_view text, uint32_t below) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value < below &&
         (text.size() == 1 || text[0] != '0');
}

/// Registers that exist in numbers.
const Special* numbered(std::string_view name) {
  static constexpr Special kEnvironment{"%envreg#", SK::word, 0, 0};
  static constexpr Special kCounter{"%pm#", SK::word, 0, 0};
  static constexpr Special kLongCounter{"%pm#_64", SK::wide, 0, 40};
  if (name.starts_with("%envreg")) {
    return is_number(name.substr(7), 32) ? &kEnvironment : nullptr;
  }
  if (!name.starts_with("%pm")) return nullptr;
  if (is_number(name.substr(3), 8)) return &kCounter;
  const bool is_long = name.ends_with("_64") && is_number(name.substr(3, name.size() - 6), 8);
  return is_long ? &kLongCounter : nullptr;
}

}  // namespace

const Special* special_named(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot != name.npos && name.size() != dot + 2) return nullptr;
  const std::string_view key = name.substr(0, dot == name.npos ? dot : dot + 1);
  for (const Special& s : kSpecials)
    if (s.name == key) return &s;
  return dot == name.npos ? numbered(name) : nullptr;
}

Symbols::Symbols(const Module& module) {
  for (const Variable& v : module.variables) declare(globals_, v);
  for (const Function& f : module.functions) {
    globals_[f.name].symbol.kind = Symbol::Kind::function;
    globals_[f.name].symbol.function = &f;
  }
  for (const Alias& a : module.aliases) globals_[a.name].symbol.kind = Symbol::Kind::function;
}

Symbol& Symbols::declare(Names& names, const Variable& v) {
  Entry e;
  e.range = v.range;
  e.symbol.variable = &v;
  e.symbol.kind = v.space == "reg" ? Symbol::Kind::reg : Symbol::Kind::variable;
  e.symbol.type = ptype_named(v.type).value_or(PType{});
  e.symbol.vector = v.vector;
  return (names[v.name] = e).symbol;
}

void Symbols::enter(const Function& function) {
  scopes_.clear();
  Names names;
  for (const Variable& v : function.results) declare(names, v).parameter = true;
  for (const Variable& v : function.params) {
    Symbol& s = declare(names, v);
    s.parameter = s.input = true;
    s.entry = function.entry;
  }
  scopes_.push_back(std::move(names));
}

void Symbols::open(const Scope& scope) {
  Names names;
  for (const Statement& s : scope.statements) {
    if (const auto* v = std::get_if<Variable>(&s)) declare(names, *v);
    if (const auto* l = std::get_if<Label>(&s)) {
      names[l->name].symbol.kind = Symbol::Kind::label;
    }
    if (const auto* t = std::get_if<TargetList>(&s)) {
      names[t->name].symbol.kind = Symbol::Kind::targets;
      names[t->name].symbol.targets = t;
    }
    if (const auto* p = std::get_if<CallPrototype>(&s)) {
      names[p->name].symbol.kind = Symbol::Kind::prototype;
      names[p->name].symbol.prototype = p;
    }
  }
  scopes_.push_back(std::move(names));
}

const Symbols::Entry* Symbols::lookup(std::string_view name) const {
  for (size_t i = scopes_.size(); i > 0; --i) {
    const auto it = scopes_[i - 1].find(name);
    if (it != scopes_[i - 1].end()) return &it->second;
  }
  const auto it = globals_.find(name);
  return it == globals_.end() ? nullptr : &it->second;
}

Symbol Symbols::find(std::string_view name) const {
  const size_t dot = name.find('.');
  const std::string_view base = name.substr(0, dot);
  Symbol found;
  if (const Entry* e = lookup(base); e && !e->range) found = e->symbol;
  // `%r12` of `.reg .b32 %r<32>`: all digits at the end are the number, so that the registers of a
  // family whose name ends in a digit cannot be named.
  const size_t last = base.find_last_not_of("0123456789");
  if (found.kind == Symbol::Kind::none && last != base.npos && last + 1 < base.size()) {
    const Entry* e = lookup(base.substr(0, last + 1));
    if (e && e->range && is_number(base.substr(last + 1), *e->range)) found = e->symbol;
  }
  if (found.kind == Symbol::Kind::none) {
    found.special = special_named(name);
    if (found.special) found.kind = Symbol::Kind::special;
    return found;
  }
  if (dot != name.npos) {
    if (found.kind != Symbol::Kind::reg || found.vector == 1) return {};
    found.vector = 1;
  }
  return found;
}

}  // namespace lanewise::ptx::legal
