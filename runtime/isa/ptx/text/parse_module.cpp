// Directives between functions, function headers, and parse().
#include <algorithm>
#include <array>
#include <utility>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

/// All digits, no sign, small: the parts of a version number.
bool to_small(std::string_view text, uint32_t& value) {
  if (text.empty() || text.size() > 3) return false;
  value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  return true;
}

/// What may follow a function's declaration that has no `;`.
bool ends_declaration(std::string_view directive) {
  static constexpr std::array<std::string_view, 15> kBegin = {
      "visible", "weak", "extern",  "common", "entry", "func",      "global",          "const",
      "shared",  "file", "section", "alias",  "align", "attribute", "metadata_section"};
  return directive == "pragma" || std::ranges::find(kBegin, directive) != kBegin.end();
}

bool is_architecture(std::string_view name) {
  const size_t underscore = name.find('_');
  if (underscore == name.npos) return false;
  const std::string_view family = name.substr(0, underscore);
  std::string_view number = name.substr(underscore + 1);
  if (number.ends_with('a') || number.ends_with('f')) number.remove_suffix(1);
  uint32_t value = 0;
  return (family == "sm" || family == "compute") && to_small(number, value);
}

}  // namespace

void Parser::parse_module() {
  while (peek().kind != Kind::end) {
    const size_t before = pos_;
    try {
      vector_depth_ = 0;
      module_item();
    } catch (const SyntaxError&) {
      if (pos_ == before) take();
      skip_to_module_item();
      note_unread(before);
    }
  }
  require_header();
}

/// The file must begin with .version and .target; says so once.
void Parser::require_header() {
  if (header_checked_) return;
  header_checked_ = true;
  const std::string what =
      peek().kind == Kind::end ? "the file has no " : "the file begins without ";
  if (!version_seen_)
    report({1, 1}, what + "`.version`, one such as `.version 7.5` was expected first");
  if (!target_seen_)
    report({1, 1}, what + "`.target`, one such as `.target sm_75` was expected after `.version`");
}

void Parser::module_item() {
  const Token& t = peek();
  if (is_modifier("version")) return version();
  if (is_modifier("target")) {
    if (!in_head_)
      report(loc_of(t),
             "`.target` behind other directives, it was expected right after `.version`");
    return target();
  }
  require_header();
  const bool in_head = std::exchange(in_head_, false);
  if (t.kind != Kind::modifier) fail_expected("a directive such as `.visible` or `.global`");
  if (is_modifier("address_size")) return address_size(in_head);
  if (is_modifier("file")) return file();
  if (is_modifier("section")) return section();
  if (is_modifier("metadata_section")) return metadata_section();
  if (is_modifier("pragma")) return pragma(&module.directives);
  if (is_modifier("alias")) return alias();
  const Linkage link = linkage();
  if (is_modifier("entry") || is_modifier("func")) return function(link);
  if (is_modifier("global") || is_modifier("const") || is_modifier("shared") ||
      is_modifier("align") || is_modifier("attribute") || is_modifier("reg") ||
      is_modifier("local") || is_modifier("param")) {
    for (Variable& v : variables(link, false)) add(std::move(v));
    return;
  }
  if (&t != &peek()) fail_expected("`.entry`, `.func` or a variable after " + found(t));
  fail(t, "unknown directive " + found(t) + ", a declaration or a function was expected");
}

void Parser::version() {
  take();
  const Token& t = peek();
  const std::string_view text = t.kind == Kind::decimal ? text_of(t) : std::string_view{};
  const size_t dot = std::min(text.find('.'), text.size());
  if (t.kind != Kind::decimal || !to_small(text.substr(0, dot), module.version_major) ||
      !to_small(text.substr(std::min(dot + 1, text.size())), module.version_minor)) {
    version_seen_ = true;  // one message is enough
    fail_expected("a version such as 7.5");
  }
  if (version_seen_) fail(t, "a second `.version`, one per file was expected");
  version_seen_ = true;
  take();
}

void Parser::target() {
  target_seen_ = true;
  if (!version_seen_) require_header();
  take();
  do {
    const Token& t = peek();
    std::string name = take_name("a target such as sm_75");
    if (is_architecture(name)) {
      if (!module.target.empty() && module.target != name) {
        fail(t, "a second target " + found(t) + ", `" + module.target + "` alone was expected");
      }
      module.target = std::move(name);
    } else if (name == "debug" || name == "texmode_unified" || name == "texmode_independent" ||
               name == "map_f64_to_f32") {
      target_option(t, std::move(name));
    } else {
      fail(t, "unknown target " + found(t) + ", one such as sm_75 was expected");
    }
  } while (accept(','));
  if (module.target.empty()) fail_expected("a target such as sm_75");
}

void Parser::target_option(const Token& t, std::string name) {
  if (module.target.empty())
    fail(t, found(t) + " before the architecture, one such as sm_75 was expected first");
  if (name == "map_f64_to_f32" && sm_number(module.target) >= 13)
    report(loc_of(t),
           found(t) + " for `" + module.target + "`, a target before sm_13 was expected");
  const std::string other = name == "texmode_unified" ? "texmode_independent" : "texmode_unified";
  const auto& options = module.target_options;
  if (name.starts_with("texmode") && std::ranges::find(options, other) != options.end())
    report(loc_of(t), found(t) + " beside `" + other + "`, one of them was expected");
  module.target_options.push_back(std::move(name));
}

void Parser::address_size(bool in_head) {
  const Token& directive = take();
  const Token& t = peek();
  const uint64_t bits = take_integer("32 or 64");
  if (bits != 32 && bits != 64)
    fail(t, "an address size of " + found(t) + ", 32 or 64 was expected");
  if (!in_head)
    report(loc_of(directive),
           "`.address_size` behind other directives, it was expected right after `.target`");
  module.address_size = static_cast<uint32_t>(bits);
}

/// `.file 1 "name" [, time, size]`
void Parser::file() {
  Directive d{loc_of(take()), "file", {}};
  d.values.push_back(take_u32("a file number", UINT32_MAX));
  std::string name = take_string("the file's name in quotes");
  for (int i = 0; i < 2 && accept(','); ++i) {
    take_integer(i == 0 ? "a time" : "a size");
    d.values.push_back(0);
  }
  module.files.emplace_back(d.values[0], std::move(name));
  module.directives.push_back(std::move(d));
}

/// Debug data: `label: .b8 1, 2 .b32 label+4, .debug_str`. Read, not kept.
void Parser::section() {
  take();
  if (peek().kind != Kind::modifier) fail_expected("the name of a section such as `.debug_str`");
  take();
  const Token& open = peek();
  if (!is('{')) fail_expected("`{` before the contents of the section");
  take();
  try {
    while (!is('}')) {
      if (peek().kind == Kind::end) {
        if (cut_) return;
        fail(peek(),
             "the file ends, `}` was expected for the `{` of line " + std::to_string(open.line));
      }
      section_item();
    }
    take();
  } catch (const SyntaxError&) {
    while (peek().kind != Kind::end && !accept('}')) take();
  }
}

void Parser::section_item() {
  if (is_name() && is(1, ':')) {
    take();
    take();
    return;
  }
  const Token& type = peek();
  const unsigned bits = is_modifier("b8")    ? 8
                        : is_modifier("b16") ? 16
                        : is_modifier("b32") ? 32
                        : is_modifier("b64") ? 64
                                             : 0;
  if (bits == 0) fail_expected("a label, `.b8`, `.b16`, `.b32` or `.b64`");
  take();
  do {
    const Token& t = peek();
    const bool negative = is('-');
    if (negative || t.kind == Kind::integer) {
      if (negative) take();
      const uint64_t value = take_integer("an integer");
      const uint64_t most = negative ? uint64_t{1} << (bits - 1) : ~uint64_t{0} >> (64 - bits);
      if (value > most)
        report(loc_of(t),
               found(t) + " does not fit " + found(type) + ", a smaller one was expected");
      continue;
    }
    if (t.kind != Kind::modifier && !is_name()) fail_expected("an integer, a label or a section");
    if (bits < 32)
      report(loc_of(t), "an address in " + found(type) + ", `.b32` or `.b64` was expected");
    take();
    if (accept('+')) {
      take_integer("an offset");
    } else if (accept('-')) {
      take_name("a label");
    }
  } while (accept(','));
}

/// The assemblers take it empty and no other.
void Parser::metadata_section() {
  take();
  expect('{', "after `.metadata_section`");
  expect('}', "after `{`");
}

void Parser::alias() {
  take();
  Alias a;
  a.loc = loc_of(peek());
  a.name = take_name("the name of a function");
  expect(',', "between the two names");
  a.target = take_name("the name of a function");
  end_statement("the alias");
  module.aliases.push_back(std::move(a));
}

void Parser::function(const Linkage& link) {
  Function f;
  f.entry = modifier_of(take()) == "entry";
  f.visible = link.visible;
  f.weak = link.weak;
  f.is_extern = link.is_extern;
  f.linkage = linkage_name(link);
  f.loc = loc_of(peek());
  function_name_ = peek();
  bool good = true;
  try {
    if (link.common) fail(link.first, "`.common` before a function, a variable was expected");
    function_header(f);
  } catch (const SyntaxError&) {
    good = false;
    skip_header();
    if (function_name_.kind == Kind::identifier) module.unread.emplace(text_of(function_name_));
  }
  const Token name = function_name_;
  const Token& open = peek();
  if (accept('{')) {
    f.has_body = true;
    depth_ = 0;
    try {
      body(f.body, open);
    } catch (const EndOfBody&) {
    }
    if (f.entry && module.version_major * 10 + module.version_minor < 14) take_parameters(f);
  } else if (good) {
    // Like ptxas: a function's declaration may end where the next directive begins.
    if (f.entry || peek().kind != Kind::modifier) end_statement("the function's header");
    accept(';');
  } else {
    accept(';');
  }
  if (good) add(std::move(f), name);
}

/// Until .version 1.3 an entry's parameters are declared in its body.
void Parser::take_parameters(Function& f) {
  std::vector<Statement> rest;
  for (Statement& s : f.body.statements) {
    auto* variable = std::get_if<Variable>(&s);
    if (variable != nullptr && variable->space == "param")
      f.params.push_back(std::move(*variable));
    else
      rest.push_back(std::move(s));
  }
  f.body.statements = std::move(rest);
}

/// Behind an error in a header: to its body, its `;` or what follows.
void Parser::skip_header() {
  while (peek().kind != Kind::end && !is('{') && !is('}') && !is(';')) {
    if (peek().first_on_line && (is_modifier("visible") || is_modifier("entry") ||
                                 is_modifier("func") || is_modifier("extern"))) {
      return;
    }
    take();
  }
}

void Parser::function_header(Function& f) {
  while (is_modifier("attribute")) {
    if (f.entry) fail(peek(), "`.attribute` of a kernel, its name was expected");
    std::vector<std::string> attributes;
    f.directives.push_back({loc_of(peek()), "attribute", {}});
    attribute(attributes);
  }
  if (is('(')) {
    if (f.entry) fail(peek(), "a kernel with a result, its name was expected");
    f.results = parameters(false, false);
  }
  f.loc = loc_of(peek());
  function_name_ = peek();
  f.name = take_name("the name of the function");
  if (is('(')) f.params = parameters(f.entry, false);
  if (!f.entry) {
    callable_directives(f.directives);
    f.noreturn =
        std::ranges::find(f.directives, "noreturn", &Directive::name) != f.directives.end();
    if (peek().kind != Kind::modifier || !ends_declaration(modifier_of(peek()))) {
      if (peek().kind == Kind::modifier)
        fail(peek(), found(peek()) + " is no directive of a function, `{` or `;` was expected");
      if (!is('{') && !is(';')) fail_expected("`{` or `;` after the function's header");
    }
    return;
  }
  while (peek().kind == Kind::modifier) {
    if (entry_directive(f)) continue;
    fail(peek(), "unknown directive " + found(peek()) + " of a function, `{` or `;` was expected");
  }
  if (is(';') && !f.directives.empty())
    fail_expected("`{` after the directives of a kernel, whose declaration has none");
  if (!is('{') && !is(';')) fail_expected("`{` or `;` after the function's header");
}

/// Of a function or prototype: `.noreturn` comes first.
void Parser::callable_directives(std::vector<Directive>& directives) {
  if (is_modifier("noreturn")) directives.push_back({loc_of(take()), "noreturn", {}});
  while (is_modifier("abi_preserve") || is_modifier("abi_preserve_control")) {
    const Token& t = take();
    directives.push_back(
        {loc_of(t), std::string(modifier_of(t)), {take_u32("a number of registers", UINT32_MAX)}});
  }
}

bool Parser::entry_directive(Function& f) {
  const Token& t = peek();
  Directive d{loc_of(t), std::string(modifier_of(t)), {}};
  if (d.name == "pragma") {
    pragma(&f.directives);
    return true;
  }
  if (d.name == "noreturn") fail(t, "`.noreturn` of a kernel, a function was expected");
  if (d.name == "maxntid" || d.name == "reqntid") {
    d.values = counts("thread", false);
    std::ranges::copy(d.values, d.name == "maxntid" ? f.maxntid : f.reqntid);
  } else if (d.name == "minnctapersm" || d.name == "maxnctapersm" || d.name == "maxnreg" ||
             d.name == "maxclusterrank") {
    take();
    d.values = {take_u32("a number", UINT32_MAX)};
  } else if (d.name == "explicitcluster" || d.name == "blocksareclusters") {
    take();
  } else if (d.name == "reqnctapercluster") {
    d.values = counts("group", true);
  } else {
    return false;
  }
  cluster_directive(f, d);
  f.directives.push_back(std::move(d));
  return true;
}

/// The kernel is reported the first one, or of the first that wants more than one group: a size, or
/// what asks for clusters without a size (`.explicitcluster` may stand before it).
void Parser::cluster_directive(Function& f, const Directive& d) {
  const bool limit = d.name == "maxclusterrank";  // a launch without clusters keeps to any limit
  if (d.name.find("cluster") == std::string::npos || f.wants_clusters ||
      (limit && !f.clusters.empty())) {
    return;
  }
  f.clusters = d.name;
  f.clusters_loc = d.loc;
  const bool single = std::ranges::all_of(d.values, [](uint32_t n) { return n == 1; });
  f.wants_clusters = !limit && !single;
  f.explicit_cluster = f.explicit_cluster || d.name == "explicitcluster";
  f.cluster_size = f.cluster_size || d.name == "reqnctapercluster";
}

/// `.maxntid X[, Y[, Z]]`: counts of `what`; what is not given is 1.
std::vector<uint32_t> Parser::counts(const std::string& what, bool zero) {
  take();
  std::vector<uint32_t> read(3, 1);
  size_t i = 0;
  do {
    const Token& t = peek();
    if (i == 3) fail(t, "more than 3 " + what + " counts, `{` or a directive was expected");
    read[i] = take_u32("a number of " + what + "s", UINT32_MAX);
    if (read[i] == 0 && !zero) fail(t, "0 " + what + "s, at least 1 was expected");
    ++i;
  } while (accept(','));
  return read;
}

void Parser::add(Function&& f, const Token& name) {
  const auto [it, fresh] = function_index_.try_emplace(f.name, module.functions.size());
  if (fresh) {
    module.functions.push_back(std::move(f));
    return;
  }
  Function& known = module.functions[it->second];
  if (known.has_body)
    return report(loc_of(name), found(name) + " was defined in line " +
                                    std::to_string(known.loc.line) +
                                    " already, another name was expected");
  Function other;
  Function& head = f.has_body ? known : f;
  other.loc = head.loc;
  other.name = head.name;
  other.entry = head.entry;
  other.visible = head.visible;
  other.weak = head.weak;
  other.is_extern = head.is_extern;
  other.linkage = head.linkage;
  other.results = head.results;
  other.params = head.params;
  other.directives = head.directives;
  other.noreturn = head.noreturn;
  module.other_functions.push_back(std::move(other));
  if (known.entry != f.entry)
    return report(loc_of(name), found(name) + " was declared in line " +
                                    std::to_string(known.loc.line) +
                                    ", the same kind of function was expected");
  f.visible |= known.visible;  // a declaration's linkage holds for the definition, too
  f.weak |= known.weak;
  if (f.has_body) known = std::move(f);
}

void Parser::add(Variable&& v) {
  const auto [it, fresh] = variable_index_.try_emplace(v.name, module.variables.size());
  if (fresh) {
    module.variables.push_back(std::move(v));
    return;
  }
  Variable& known = module.variables[it->second];
  if (!known.is_extern && !v.is_extern) {
    report(v.loc, quoted(v.name) + " was defined in line " + std::to_string(known.loc.line) +
                      " already, another name was expected");
  } else if (known.is_extern && !v.is_extern) {
    std::swap(known, v);
  }
  module.other_variables.push_back(std::move(v));
}

ParseResult parse(std::string_view text, size_t max_errors) {
  ParseResult result;
  LexResult lexed = tokenize(text, max_errors);
  if (!lexed.unreadable) {
    Parser parser(text, std::move(lexed.tokens), max_errors, lexed.cut);
    try {
      parser.parse_module();
    } catch (const EnoughErrors&) {
    }
    result.module = std::move(parser.module);
    result.diagnostics = std::move(parser.diagnostics);
  }
  std::ranges::move(lexed.diagnostics, std::back_inserter(result.diagnostics));
  std::ranges::stable_sort(result.diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  if (max_errors != 0 && result.diagnostics.size() > max_errors) {
    result.diagnostics.resize(max_errors);
  }
  return result;
}

}  // namespace lanewise::ptx
