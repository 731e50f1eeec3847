// Variable declarations, in modules and bodies, and the parameters of functions.
#include <algorithm>
#include <bit>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

/// More would exhaust memory long before they could be of use (ptxas dies of them).
constexpr uint32_t kMaxRange = 1u << 20;
constexpr uint32_t kMaxAlign = 1u << 20;
constexpr size_t kMaxDimensions = 16;
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

bool is_space(std::string_view name) {
  return name == "reg" || name == "local" || name == "shared" || name == "global" ||
         name == "const" || name == "param";
}

}  // namespace

unsigned type_bytes(std::string_view type) {
  if (is_opaque(type)) return 8;
  if (type == "pred") return 1;
  return ptype_named(type).value_or(PType{}).bytes();
}

/// `.visible`, `.weak`, `.extern`, `.common` before a variable or function.
Parser::Linkage Parser::linkage() {
  Linkage l;
  l.first = peek();
  while (peek().kind == Kind::modifier) {
    const std::string_view name = modifier_of(peek());
    bool* flag = name == "visible"  ? &l.visible
                 : name == "weak"   ? &l.weak
                 : name == "extern" ? &l.is_extern
                 : name == "common" ? &l.common
                                    : nullptr;
    if (!flag) break;
    if (l.visible || l.weak || l.is_extern || l.common) {
      fail(peek(), "a second linkage " + found(peek()) + ", one directive was expected");
    }
    *flag = true;
    take();
  }
  return l;
}

/// Space, alignment, attributes, vector and type, up to the name. The type comes last.
Variable Parser::variable_type(bool parameter) {
  Variable v;
  while (v.type.empty()) {
    const Token& t = peek();
    if (t.kind != Kind::modifier) fail_expected("a type such as `.b32`");
    const std::string_view name = modifier_of(t);
    if (v.vector != 1 && type_bytes(name) == 0) {
      fail(t, "found " + found(t) + " behind the vector size, a type was expected");
    } else if (is_space(name)) {
      if (!v.space.empty()) fail(t, "a second state space " + found(t) + ", a type was expected");
      v.space = name;
      take();
    } else if (name == "align") {
      v.align = alignment();
    } else if (name == "attribute") {
      attribute(v.attributes);
    } else if (name == "v2" || name == "v4") {
      v.vector = name == "v2" ? 2 : 4;
      take();
    } else if (type_bytes(name) != 0) {
      v.type = name;
      take();
    } else {
      fail(t, "unknown type " + found(t) +
                  ", a state space, `.align`, `.v2`, `.v4` or a type "
                  "such as `.b32` was expected");
    }
  }
  if (!parameter) return v;
  if (is_modifier("ptr")) {
    take();
    v.pointer = true;
    const bool named = is_modifier("global") || is_modifier("shared") || is_modifier("local") ||
                       is_modifier("const");
    if (named) v.pointer_space = modifier_of(take());
    if (is_modifier("align")) v.pointer_align = alignment();
  } else if (is_modifier("align")) {
    v.align = alignment();
    v.align_last = true;
  }
  return v;
}

uint32_t Parser::alignment() {
  take();
  const Token& number = peek();
  const uint32_t align = take_u32("an alignment", kMaxAlign);
  if (!std::has_single_bit(align)) {
    fail(number, "the alignment is " + found(number) + ", a power of two was expected");
  }
  return align;
}

/// `.attribute(.managed, .unified(1, 2))`
void Parser::attribute(std::vector<std::string>& attributes) {
  take();
  expect('(', "after `.attribute`");
  do {
    const Token& t = peek();
    if (!is_modifier("managed") && !is_modifier("unified")) {
      fail_expected("`.managed` or `.unified`");
    }
    attributes.emplace_back(modifier_of(take()));
    if (modifier_of(t) == "unified") {
      expect('(', "after `.unified`");
      take_integer("the first half of the identifier");
      expect(',', "between the halves of the identifier");
      take_integer("the second half of the identifier");
      expect(')', "after the identifier");
    }
  } while (accept(','));
  expect(')', "after the attributes");
}

std::vector<Variable> Parser::variables(const Linkage& linkage, bool in_body) {
  const Token& first = peek();
  Variable head = variable_type(false);
  if (head.space.empty()) fail(first, "no state space, one such as `.global` was expected");
  if (!in_body && (head.space == "reg" || head.space == "local" || head.space == "param")) {
    fail(first,
         "`.reg`, `.local` or `.param` outside a function, "
         "`.global`, `.const` or `.shared` was expected");
  }
  head.visible = linkage.visible;
  head.weak = linkage.weak;
  head.is_extern = linkage.is_extern;
  head.common = linkage.common;
  std::vector<Variable> all;
  do {
    Variable v = head;
    const Token& name = peek();
    declarator(v, false);
    if (accept('=')) {
      if (head.space != "global" && head.space != "const") {
        fail(name, found(name) + " has a value, one in `.global` or `.const` was expected");
      }
      if (v.is_extern) fail(name, found(name) + " is `.extern` and has a value, none was expected");
      initialiser(v);
    }
    check_variable(v, name, in_body);
    if (v.range && v.space != "reg") {
      all_of_range(v, all);
    } else {
      all.push_back(std::move(v));
    }
  } while (accept(','));
  end_statement("the declaration");
  return all;
}

/// `name<3>` in memory is name0, name1 and name2.
void Parser::all_of_range(const Variable& v, std::vector<Variable>& all) {
  const uint32_t count = v.range.value_or(0);
  for (uint32_t i = 0; i < count; ++i) {
    all.push_back(v);
    all.back().range.reset();
    all.back().name += std::to_string(i);
  }
}

/// Name with `<N>` or `[N]`.
void Parser::declarator(Variable& v, bool parameter) {
  v.loc = loc_of(peek());
  v.name = take_name(parameter ? "the name of a parameter" : "the name of a variable");
  if (!parameter && accept('<')) {
    const Token& number = peek();
    const uint64_t range = take_integer("the number of registers");
    if (range > kMaxRange) {
      fail(number,
           found(number) + " registers, at most " + std::to_string(kMaxRange) + " were expected");
    }
    v.range = static_cast<uint32_t>(range);
    expect('>', "after the number of registers");
  }
  dimensions(v, parameter);
}

void Parser::dimensions(Variable& v, bool parameter) {
  while (is('[')) {
    const Token& open = take();
    if (v.space == "reg") fail(open, "a register array, `<N>` was expected instead of `[N]`");
    if (parameter && !v.dims.empty())
      fail(open, "a second dimension of a parameter, `,` or `)` was expected");
    if (v.dims.size() == kMaxDimensions) fail(open, "more than 16 dimensions, fewer were expected");
    if (v.dims.empty() && is(']')) {
      v.dims.push_back(0);
    } else {
      const Token& number = peek();
      const bool warp = peek().kind == Kind::identifier && text_of(peek()) == "WARP_SZ";
      v.dims.push_back(warp ? literal().bits : take_integer("the size of the array"));
      if (v.dims.back() == 0 && v.dims.size() > 1)
        fail(number, "an array size of 0, at least 1 was expected");
    }
    expect(']', "after the size of the array");
  }
}

void Parser::check_variable(const Variable& v, const Token& name, bool in_body) {
  check_size(v, name);
  if (v.type == "pred" && v.space != "reg") {
    fail(name, found(name) + " is a predicate in memory, `.reg` was expected");
  }
  const bool open_end = !v.dims.empty() && v.dims[0] == 0;
  if (open_end && !v.has_init && (in_body || !v.is_extern)) {
    fail(name, found(name) + " has no size, a size, a value or `.extern` was expected");
  }
}

void Parser::check_size(const Variable& v, const Token& name) {
  uint64_t bytes = uint64_t{type_bytes(v.type)} * v.vector;
  for (const uint64_t n : v.dims) {
    if (n != 0 && bytes > kMaxBytes / n) {
      fail(name, found(name) + " is larger than 1 TiB, a smaller array was expected");
    }
    bytes *= std::max<uint64_t>(n, 1);
  }
}

/// `( ... )` of a function or prototype; goes on behind a bad parameter.
std::vector<Variable> Parser::parameters(bool entry, bool prototype) {
  std::vector<Variable> all;
  take();
  if (accept(')')) return all;
  do {
    try {
      all.push_back(parameter(entry, prototype));
      if (!is(',') && !is(')')) fail_expected("`,` or `)` after the parameter");
    } catch (const SyntaxError&) {
      while (!is(',') && !is(')')) {
        if (is('{') || is('}') || is(';') || peek().kind == Kind::end) throw;
        take();
      }
    }
  } while (accept(','));
  expect(')', "after the parameters");
  return all;
}

Variable Parser::parameter(bool entry, bool prototype) {
  const Token& first = peek();
  if (!is_modifier("param") && !is_modifier("reg") && !is_modifier("align") &&
      !is_modifier("attribute")) {
    fail_expected("`.param` or `.reg`");
  }
  Variable v = variable_type(true);
  if (v.space != "param" && (entry || v.space != "reg")) {
    fail(first, entry ? "a kernel parameter outside `.param`, `.param` was expected"
                      : "a parameter outside `.param` and `.reg`, one of them was expected");
  }
  const Token& name = peek();
  if (prototype && name.kind == Kind::identifier && text_of(name) == "_") {
    v.loc = loc_of(take());
    v.name = text_of(name);
    dimensions(v, true);
  } else {
    declarator(v, true);
  }
  check_size(v, name);
  if (entry && !v.dims.empty() && v.dims[0] == 0) {
    fail(name, found(name) + " is a kernel parameter without size, `[N]` was expected");
  }
  return v;
}

}  // namespace lanewise::ptx
