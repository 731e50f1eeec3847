// Directives between functions, function headers, and parse().
#include <algorithm>

#include "runtime/isa/ptx/parser.hpp"

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
  if (is_modifier("target")) return target();
  require_header();
  if (t.kind != Kind::modifier) fail_expected("a directive such as `.visible` or `.global`");
  if (is_modifier("address_size")) return address_size();
  if (is_modifier("file")) return file();
  if (is_modifier("section")) return section();
  if (is_modifier("pragma")) return pragma();
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
    } else if (name == "debug" || name == "texmode_unified" || name == "texmode_independent") {
      module.target_options.push_back(std::move(name));
    } else {
      fail(t, "unknown target " + found(t) + ", one such as sm_75 was expected");
    }
  } while (accept(','));
  if (module.target.empty()) fail_expected("a target such as sm_75");
}

void Parser::address_size() {
  take();
  const Token& t = peek();
  const uint64_t bits = take_integer("32 or 64");
  if (bits != 32 && bits != 64)
    fail(t, "an address size of " + found(t) + ", 32 or 64 was expected");
  module.address_size = static_cast<uint32_t>(bits);
}

/// `.file 1 "name" [, time, size]`
void Parser::file() {
  take();
  const uint32_t number = take_u32("a file number", UINT32_MAX);
  std::string name = take_string("the file's name in quotes");
  if (accept(',')) {
    take_integer("a time");
    expect(',', "between time and size");
    take_integer("a size");
  }
  module.files.emplace_back(number, std::move(name));
}

/// Debug data: skipped as a whole.
void Parser::section() {
  take();
  if (peek().kind != Kind::modifier && !is_name()) fail_expected("the name of a section");
  take();
  const Token& open = peek();
  if (!is('{')) fail_expected("`{` before the contents of the section");
  skip_block();
  const Token& last = tokens_[pos_ > 0 ? pos_ - 1 : 0];
  const bool closed = last.kind == Kind::punct && last.punct == '}';
  if (peek().kind == Kind::end && !closed && !cut_) {
    fail(peek(),
         "the file ends, `}` was expected for the `{` of line " + std::to_string(open.line));
  }
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
  f.loc = loc_of(peek());
  function_name_ = peek();
  bool good = true;
  try {
    if (link.common) fail(link.first, "`.common` before a function, a variable was expected");
    function_header(f);
  } catch (const SyntaxError&) {
    good = false;
    skip_header();
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
  } else if (good) {
    end_statement("the function's header");
  } else {
    accept(';');
  }
  if (good) add(std::move(f), name);
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
    std::vector<std::string> attributes;
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
  function_directives(f);
  if (!is('{') && !is(';')) fail_expected("`{` or `;` after the function's header");
}

void Parser::function_directives(Function& f) {
  while (peek().kind == Kind::modifier) {
    if (function_directive(f)) continue;
    fail(peek(), "unknown directive " + found(peek()) + " of a function, `{` or `;` was expected");
  }
}

bool Parser::function_directive(Function& f) {
  const Token& t = peek();
  const std::string_view name = modifier_of(t);
  if (name == "pragma") {
    pragma();
  } else if (name == "maxntid") {
    dimensions(f.maxntid, "thread");
  } else if (name == "reqntid") {
    dimensions(f.reqntid, "thread");
  } else if (name == "minnctapersm" || name == "maxnctapersm" || name == "maxnreg" ||
             name == "abi_preserve" || name == "abi_preserve_control") {
    take();
    take_u32("a number", UINT32_MAX);
  } else if (name == "noreturn") {
    if (f.entry) fail(t, "`.noreturn` of a kernel, a function was expected");
    f.noreturn = true;
    take();
  } else if (name == "explicitcluster" || name == "blocksareclusters") {
    cluster_directive(f);
    f.wants_clusters = true;
    take();
  } else if (name == "reqnctapercluster") {
    cluster_directive(f);
    uint32_t groups[3];
    dimensions(groups, "group");
    f.wants_clusters |= groups[0] != 1 || groups[1] != 1 || groups[2] != 1;
  } else if (name == "maxclusterrank") {  // a launch without clusters keeps to any limit
    cluster_directive(f);
    take();
    take_u32("a number of groups", UINT32_MAX);
  } else {
    return false;
  }
  return true;
}

/// The kernel is reported the first one, or of the first that wants more than one group.
void Parser::cluster_directive(Function& f) {
  if (f.wants_clusters || (!f.clusters.empty() && modifier_of(peek()) == "maxclusterrank")) return;
  f.clusters = modifier_of(peek());
  f.clusters_loc = loc_of(peek());
}

/// `.maxntid X[, Y[, Z]]`: counts of `what`; what is not given is 1.
void Parser::dimensions(uint32_t (&counts)[3], const std::string& what) {
  take();
  uint32_t read[3] = {1, 1, 1};
  size_t i = 0;
  do {
    const Token& t = peek();
    if (i == 3) fail(t, "more than 3 " + what + " counts, `{` or a directive was expected");
    read[i] = take_u32("a number of " + what + "s", UINT32_MAX);
    if (read[i] == 0) fail(t, "0 " + what + "s, at least 1 was expected");
    ++i;
  } while (accept(','));
  std::ranges::copy(read, counts);
}

void Parser::add(Function&& f, const Token& name) {
  const auto [it, fresh] = function_index_.try_emplace(f.name, module.functions.size());
  if (fresh) {
    module.functions.push_back(std::move(f));
    return;
  }
  Function& known = module.functions[it->second];
  if (known.has_body) {
    report(loc_of(name), found(name) + " was defined in line " + std::to_string(known.loc.line) +
                             " already, another name was expected");
    return;
  }
  if (known.entry != f.entry) {
    report(loc_of(name), found(name) + " was declared in line " + std::to_string(known.loc.line) +
                             ", the same kind of function was expected");
    return;
  }
  f.visible |= known.visible;
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
    known = std::move(v);
  }
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
