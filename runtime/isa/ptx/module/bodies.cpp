// Names of a body: declared once in a scope, labels and functions that lists of targets name.
#include <charconv>

#include "runtime/isa/ptx/module/rules.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx::legal {
namespace {

/// What a name has before the digits at its end, and their number; false without digits.
bool split_number(std::string_view name, std::string_view& prefix, uint64_t& number) {
  const size_t last = name.find_last_not_of("0123456789");
  if (last == name.npos || last + 1 == name.size()) return false;
  prefix = name.substr(0, last + 1);
  const auto [end, error] =
      std::from_chars(name.data() + last + 1, name.data() + name.size(), number);
  return error == std::errc{};
}

}  // namespace

bool Names::add_variable(const Variable& v) {
  const std::string_view name = v.name;
  if (v.range) {
    const auto lowest = numbered_.find(name);
    const bool hit = lowest != numbered_.end() && lowest->second < *v.range;
    return ranges_.try_emplace(name, *v.range).second && !hit;
  }
  std::string_view prefix;
  uint64_t number = 0;
  if (split_number(name, prefix, number)) {
    if (const auto range = ranges_.find(prefix); range != ranges_.end() && number < range->second)
      return false;
    const auto [it, fresh] = numbered_.try_emplace(prefix, number);
    if (!fresh) it->second = std::min(it->second, number);
  }
  return plain_.try_emplace(name, false).second;
}

bool Names::has_label(std::string_view name) const {
  const auto it = plain_.find(name);
  return it != plain_.end() && it->second;
}

void ModuleRules::body(const Function& f) {
  scopes_.clear();
  scope(f.body, &f);
}

void ModuleRules::declare(const Variable& v, Names& names) {
  if (v.name != "_" && !names.add_variable(v))
    error(v.loc, quoted(v.name) + " is declared in this scope already, another name was expected");
}

void ModuleRules::scope(const Scope& s, const Function* parameters_of) {
  Names& names = scopes_.emplace_back();
  if (parameters_of != nullptr) {
    for (const Variable& v : parameters_of->results) declare(v, names);
    for (const Variable& v : parameters_of->params) declare(v, names);
  }
  const auto label = [&](Loc loc, const std::string& name) {
    if (!names.add_label(name))
      error(loc, "the label " + quoted(name) +
                     " is declared in this scope already, another name was expected");
  };
  for (const Statement& st : s.statements) {
    if (const auto* v = std::get_if<Variable>(&st)) {
      declare(*v, names);
      variable(*v, Place::body);
    } else if (const auto* l = std::get_if<Label>(&st)) {
      label(l->loc, l->name);
    } else if (const auto* t = std::get_if<TargetList>(&st)) {
      label(t->loc, t->name);
    } else if (const auto* p = std::get_if<CallPrototype>(&st)) {
      label(p->loc, p->name);
      callable(p->loc, p->results, p->params, p->directives, true);
      for (const auto* all : {&p->results, &p->params})
        for (const Variable& v : *all) variable(v, Place::prototype);
    }
  }
  for (const Statement& st : s.statements) {
    if (const auto* t = std::get_if<TargetList>(&st)) targets(*t);
    if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&st)) scope(**inner, nullptr);
  }
  scopes_.pop_back();
}

void ModuleRules::targets(const TargetList& list) {
  if (!list.calls) need(list.loc, "`.branchtargets`", 60);
  for (const std::string& name : list.targets) {
    if (list.calls) {
      const Known* k = known(name, list.loc);
      if (k == nullptr || k->function == nullptr || k->function->entry)
        error(list.loc,
              quoted(name) + " in `.calltargets`, a function declared before was expected");
      continue;
    }
    size_t i = scopes_.size();
    while (i > 0 && !scopes_[i - 1].has(name)) --i;
    if (i == 0 || !scopes_[i - 1].has_label(name))
      error(list.loc, quoted(name) + " in `.branchtargets`, a label was expected");
  }
}

}  // namespace lanewise::ptx::legal
