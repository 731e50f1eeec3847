// The module's own directives, and names that are declared more than once.
#include "runtime/isa/ptx/module/rules.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

std::string code(std::string_view text) {
  return std::string(1, '`').append(text).append("`");
}

}  // namespace

bool is_before(Loc a, Loc b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

ModuleRules::ModuleRules(const Module& module, const Setting& setting,
                         std::vector<Diagnostic>& diagnostics)
    : module_(module), setting_(setting), diagnostics_(diagnostics) {
  const auto note = [&](const std::string& name, Known k) {
    const auto [it, fresh] = known_.try_emplace(name, k);
    if (!fresh && is_before(k.loc, it->second.loc)) it->second = k;
  };
  for (const auto* all : {&module.variables, &module.other_variables})
    for (const Variable& v : *all) note(v.name, {v.loc, &v, nullptr});
  for (const auto* all : {&module.functions, &module.other_functions})
    for (const Function& f : *all) note(f.name, {f.loc, nullptr, &f});
}

void ModuleRules::error(Loc loc, std::string message) {
  diagnostics_.push_back({loc.line, loc.column, std::move(message)});
}

void ModuleRules::need(Loc loc, std::string_view what, unsigned version, unsigned sm) {
  if (setting_.version < version) {
    error(loc, std::string(what) + " needs .version " + version_text(version) +
                   " or higher, found " + version_text(setting_.version));
  } else if (setting_.sm != 0 && setting_.sm < sm) {
    error(loc, std::string(what) + " needs .target sm_" + std::to_string(sm) +
                   " or higher, found " + setting_.target);
  }
}

const ModuleRules::Known* ModuleRules::known(std::string_view name, Loc before) const {
  const auto it = known_.find(name);
  return it == known_.end() || !is_before(it->second.loc, before) ? nullptr : &it->second;
}

void ModuleRules::run() {
  directives();
  declared();
  aliases();
  for (const Variable& v : module_.variables) variable(v, Place::module);
  for (const Variable& v : module_.other_variables) variable(v, Place::module);
  for (const Function& f : module_.functions) function(f);
  for (const Function& f : module_.other_functions) function(f);
}

void ModuleRules::directives() {
  std::map<uint32_t, std::string_view> files;
  size_t file = 0;
  for (const Directive& d : module_.directives) {
    if (d.name != "file") {
      // Others belong to functions, or are not known there either.
      if (d.name != "pragma nounroll")
        error(d.loc, code(d.name) + " outside a function, \"nounroll\" was expected");
      continue;
    }
    const std::string_view name = module_.files[file++].second;
    if (d.values.size() > 1) need(d.loc, "a time in `.file`", 32);
    if (const auto [it, fresh] = files.try_emplace(d.values[0], name); !fresh && it->second != name)
      error(d.loc,
            "a second `.file " + std::to_string(d.values[0]) + "`, another number was expected");
  }
}

/// Each name's declarations in the order of the text: does a later one agree with the first?
void ModuleRules::declared() {
  std::map<std::string_view, std::vector<const Variable*>> variables;
  for (const Variable& v : module_.other_variables) variables[v.name].push_back(&v);
  for (const Variable& v : module_.variables)
    if (const auto it = variables.find(v.name); it != variables.end()) it->second.push_back(&v);
  for (auto& [name, all] : variables) {
    std::ranges::sort(all, [](const auto* a, const auto* b) { return is_before(a->loc, b->loc); });
    for (size_t i = 1; i < all.size(); ++i) redeclared(*all[0], *all[i]);
  }
  std::map<std::string_view, std::vector<const Function*>> functions;
  for (const Function& f : module_.other_functions) functions[f.name].push_back(&f);
  for (const Function& f : module_.functions)
    if (const auto it = functions.find(f.name); it != functions.end()) it->second.push_back(&f);
  for (auto& [name, all] : functions) {
    std::ranges::sort(all, [](const auto* a, const auto* b) { return is_before(a->loc, b->loc); });
    for (size_t i = 1; i < all.size(); ++i) redeclared(*all[0], *all[i]);
  }
  for (const Variable& v : module_.variables)
    if (special_named(v.name) != nullptr)
      error(v.loc, code(v.name) + " is a special register, another name was expected");
  for (const auto* all : {&module_.variables, &module_.other_variables})
    for (const Variable& v : *all)
      if (const Known& k = known_.at(v.name); k.function != nullptr)
        error(v.loc, code(v.name) + " is a function of line " + std::to_string(k.loc.line) +
                         ", another name was expected");
  for (const auto* all : {&module_.functions, &module_.other_functions})
    for (const Function& f : *all)
      if (const Known& k = known_.at(f.name); k.variable != nullptr)
        error(f.loc, code(f.name) + " is a variable of line " + std::to_string(k.loc.line) +
                         ", another name was expected");
}

void ModuleRules::aliases() {
  std::set<std::string_view> seen;
  for (const Alias& a : module_.aliases) {
    const std::string text = "`.alias " + a.name + ", " + a.target + "`: ";
    need(a.loc, "`.alias`", 63);
    if (!seen.insert(a.name).second) {
      error(a.loc, text + "a second alias of this name, one was expected");
      continue;
    }
    const auto* name = known(a.name, a.loc);
    const auto* target = known(a.target, a.loc);
    // The assemblers take an alias of an alias, which has no body.
    const bool chained = seen.contains(a.target) && a.target != a.name;
    if (std::string why = chained ? std::string() : alias_fault(module_, a); !why.empty()) {
      error(a.loc, std::move(why));
    } else if (name == nullptr || name->function == nullptr || target == nullptr ||
               target->function == nullptr) {
      error(a.loc, text + "both functions were expected to be declared before");
    } else if (target->function->linkage == "weak") {
      error(a.loc, text + code(a.target) + " is `.weak`, a function that is not was expected");
    } else if (const std::string why = difference(*name->function, *target->function);
               !why.empty()) {
      error(a.loc, text + "their " + why + " differ, the same ones were expected");
    }
  }
}

}  // namespace lanewise::ptx::legal
