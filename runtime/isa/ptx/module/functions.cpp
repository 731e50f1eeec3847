// Heads of functions, kernels and prototypes: parameters, directives, and declarations of one name.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/module/rules.hpp"
#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx::legal {
namespace {

/// What a directive needs, and what it must not be beside.
struct DirectiveRow {
  std::string_view name;
  unsigned version, sm;
  bool positive;               ///< 0 is no value
  std::string_view beside;     ///< refused together with it
  std::string_view assembler;  ///< the one that does not know it
};
constexpr DirectiveRow kRows[] = {
    {"maxntid", 0, 0, true, "reqntid", ""},
    {"reqntid", 0, 0, true, "", ""},
    {"minnctapersm", 0, 0, true, "", ""},
    {"maxnreg", 0, 0, true, "", ""},
    {"noreturn", 64, 0, false, "", ""},
    {"reqnctapercluster", 78, 90, false, "maxclusterrank", ""},
    {"maxclusterrank", 78, 90, false, "", ""},
    {"explicitcluster", 78, 90, false, "", ""},
    {"blocksareclusters", 90, 90, false, "", "11.8"},
    {"abi_preserve", 90, 0, false, "", "11.8"},
    {"abi_preserve_control", 90, 0, false, "", "11.8"},
};
constexpr unsigned kMostPreserved = 255;

const Directive* find(const std::vector<Directive>& all, std::string_view name) {
  const auto it = std::ranges::find(all, name, &Directive::name);
  return it == all.end() ? nullptr : &*it;
}

std::string quoted_directive(std::string_view name) {
  return std::string("`.").append(name).append("`");
}

bool is_open(const Variable& v) {
  return !v.dims.empty() && v.dims[0] == 0;
}

/// "", or what the two have different.
std::string list_difference(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  if (a.size() != b.size()) return "numbers of parameters";
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].space != b[i].space) return "state spaces";
    if (a[i].type != b[i].type || a[i].vector != b[i].vector || a[i].dims != b[i].dims)
      return "types of parameters";
    if (variable_alignment(a[i]) != variable_alignment(b[i])) return "alignments";
  }
  return {};
}

}  // namespace

void ModuleRules::function(const Function& f) {
  if (f.has_body && f.is_extern)
    error(f.loc, quoted(f.name) + " is `.extern` and has a body, none was expected");
  callable(f.loc, f.results, f.params, f.directives, false);
  const Place place = f.entry ? Place::entry_parameter : Place::parameter;
  for (const Variable& v : f.results) variable(v, Place::parameter);
  for (const Variable& v : f.params) variable(v, place);
  function_directives(f);
  if (f.entry) parameter_space(f);
  if (f.has_body) body(f);
}

/// What functions and prototypes share.
void ModuleRules::callable(Loc loc, const std::vector<Variable>& results,
                           const std::vector<Variable>& params,
                           const std::vector<Directive>& directives, bool prototype) {
  const bool all_registers =
      std::ranges::all_of(results, [](const Variable& v) { return v.space == "reg"; });
  if (results.size() > 1 && !all_registers)
    error(loc, "several results outside registers, `.reg` was expected for each");
  for (const Variable& v : results)
    if (is_open(v)) error(v.loc, "a result without size, `[N]` was expected");
  for (size_t i = 0; i + 1 < params.size(); ++i)
    if (is_open(params[i]))
      error(params[i].loc, "a parameter without size before others, `[N]` was expected");
  for (size_t i = 0; i < directives.size(); ++i) {
    const Directive& d = directives[i];
    const auto* row = std::ranges::find(kRows, d.name, &DirectiveRow::name);
    if (row == std::end(kRows)) continue;
    if (setting_.old_assembler && !row->assembler.empty()) {
      error(d.loc, quoted_directive(d.name) + " is not known to the assembler of CUDA " +
                       std::string(row->assembler) + ", none was expected");
      continue;
    }
    need(d.loc, quoted_directive(d.name), row->version, row->sm);
    if (row->positive && std::ranges::find(d.values, 0U) != d.values.end())
      error(d.loc, quoted_directive(d.name) + " of 0, at least 1 was expected");
    if (const Directive* other = find(directives, row->beside); other != nullptr)
      error(d.loc, quoted_directive(d.name) + " beside " + quoted_directive(other->name) +
                       ", one of them was expected");
    if (d.name.starts_with("abi_preserve")) {
      if (d.values[0] > kMostPreserved)
        error(d.loc, quoted_directive(d.name) + " of " + std::to_string(d.values[0]) +
                         " registers, at most " + std::to_string(kMostPreserved) +
                         " were expected");
      if (find(directives, d.name) != &d)
        error(d.loc, "a second " + quoted_directive(d.name) + ", one was expected");
    }
    if (d.name == "noreturn" && !results.empty())
      error(d.loc, "`.noreturn` of a " + std::string(prototype ? "prototype" : "function") +
                       " with results, none were expected");
  }
}

void ModuleRules::function_directives(const Function& f) {
  for (const Directive& d : f.directives) {
    if (d.name == "maxnctapersm") {
      if (setting_.version > 20)
        error(d.loc, "`.maxnctapersm` ended with .version 2.0, `.minnctapersm` was expected");
    } else if (d.name == "attribute") {
      error(d.loc, "`.attribute` of a function needs separate compilation, none was expected");
    } else if (d.name == "blocksareclusters") {
      if (find(f.directives, "reqntid") == nullptr ||
          find(f.directives, "reqnctapercluster") == nullptr)
        error(
            d.loc,
            "`.blocksareclusters` without `.reqntid` and `.reqnctapercluster`, both were expected");
    }
  }
}

void ModuleRules::parameter_space(const Function& f) {
  uint64_t bytes = 0;
  for (const Variable& v : f.params) {
    const uint64_t align = std::max<uint64_t>(variable_alignment(v), 1);
    bytes = (bytes + align - 1) / align * align + variable_size(v);
  }
  const bool large = setting_.version >= 81 && (setting_.sm == 0 || setting_.sm >= 70);
  const uint64_t most = large ? 32764 : 4352;
  if (bytes > most)
    error(f.loc, quoted(f.name) + " has " + std::to_string(bytes) +
                     " bytes of parameters, at most " + std::to_string(most) + " were expected" +
                     (large ? "" : " before .version 8.1 or below sm_70"));
}

std::string ModuleRules::difference(const Function& a, const Function& b) const {
  std::string why = list_difference(a.results, b.results);
  return why.empty() ? list_difference(a.params, b.params) : why;
}

void ModuleRules::redeclared(const Function& first, const Function& later) {
  const std::string text = quoted(later.name) + " differs from the declaration in line " +
                           std::to_string(first.loc.line);
  if (first.has_body)
    return error(later.loc, quoted(later.name) + " was defined in line " +
                                std::to_string(first.loc.line) +
                                " already, no declaration was expected behind it");
  if (first.entry != later.entry)
    error(later.loc, text + ": the same kind of function was expected");
  if (const std::string why = difference(first, later); !why.empty())
    error(later.loc, text + ": " + why + " differ");
  if (first.noreturn != later.noreturn)
    error(later.loc, text + ": `.noreturn` in both or in none was expected");
  const bool linked =
      first.linkage == later.linkage || (later.linkage.empty() && first.linkage != "extern");
  if (!linked || (first.linkage == "extern" && later.has_body))
    error(later.loc, text + ": the same linkage was expected");
}

}  // namespace lanewise::ptx::legal
