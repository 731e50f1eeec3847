// Operands of instructions.
#include <bit>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

/// `.x` of a special register or vector, `.b0` `.h10` of a video instruction.
bool is_component(std::string_view name) {
  if (name.size() == 1) return std::string_view("xyzwrgba").find(name[0]) != name.npos;
  if (name.empty() || name.size() > 5 || (name[0] != 'b' && name[0] != 'h')) return false;
  return name.find_first_not_of("01234567", 1) == name.npos;
}

}  // namespace

Operand Parser::operand(bool call, bool texture, std::string& unified) {
  const Token& t = peek();
  if (is('[')) {
    Operand o = address(texture);
    if (peek().kind == Kind::modifier && !(peek().first_on_line && starts_statement())) {
      if (modifier_of(peek()) != "unified")
        fail_expected("`.unified`, `,` or `;` after the address");
      unified = text_of(take());
    }
    return o;
  }
  if (is('{')) {
    ++vector_depth_;
    Operand o = list('}');
    --vector_depth_;
    if (texture && accept('|')) o.pair = take_name("a predicate after `|`");
    return o;
  }
  if (call && is('(')) return list(')');
  if (is('!') && is_name(1)) {
    take();
    Operand o = name_operand();
    o.loc = loc_of(t);
    o.negated = true;
    return o;
  }
  if (is('-') && is_name(1)) {
    take();
    Operand o = name_operand();
    o.loc = loc_of(t);
    o.minus = true;
    return o;
  }
  if (is_name()) {
    Operand o = name_operand();
    if (is('[')) {
      index_into(o);
    } else if (accept('+')) {
      o.offset = integer_constant("an integer constant after `+`");
      o.has_offset = true;
    } else if (is('-')) {
      fail(peek(), "found `-`, a negative offset is written `+-`");
    } else if (accept('|')) {
      o.pair = peek().kind == Kind::identifier && text_of(peek()) == "_"
                   ? std::string(text_of(take()))
                   : take_name("a name or `_` after `|`");
    }
    return o;
  }
  Operand o = element();
  if (o.kind == Operand::Kind::sink && accept('|')) o.pair = take_name("a name after `_|`");
  return o;
}

/// What may stand in a vector or an argument list: a name, `_` or a constant.
Operand Parser::element() {
  if (is_name()) return name_operand();
  if (peek().kind == Kind::identifier && text_of(peek()) == "_") {
    Operand o;
    o.kind = Operand::Kind::sink;
    o.loc = loc_of(take());
    return o;
  }
  if (!starts_constant()) fail_expected("an operand");
  return constant_operand();
}

Operand Parser::constant_operand() {
  Operand o;
  const Token& t = peek();
  o.loc = loc_of(t);
  if (t.kind == Kind::single || t.kind == Kind::double_) {
    take();
    o.kind = Operand::Kind::float_;
    o.single = t.kind == Kind::single;
    for (const char c : text_of(t).substr(2)) {
      o.bits = o.bits << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return o;
  }
  const Constant c = constant();
  if (c.is_float) {
    o.kind = Operand::Kind::float_;
    o.bits = std::bit_cast<uint64_t>(c.number);
  } else {
    o.kind = Operand::Kind::integer;
    o.bits = c.bits;
    o.is_unsigned = c.is_unsigned;
  }
  return o;
}

Operand Parser::name_operand() {
  Operand o;
  o.loc = loc_of(peek());
  o.name = take_name("a name");
  if (peek().kind == Kind::modifier && !(peek().first_on_line && starts_statement())) {
    o.name += component();
  }
  return o;
}

std::string Parser::component() {
  if (!is_component(modifier_of(peek()))) fail_expected("a component such as `.x`");
  return std::string(text_of(take()));
}

/// `[4]` behind a name.
void Parser::index_into(Operand& o) {
  take();
  o.kind = Operand::Kind::array;
  if (is_name()) {
    o.elements.push_back(name_operand());
  } else {
    o.offset = integer_constant("an integer constant or a register as index");
    o.has_offset = true;
  }
  expect(']', "after the index");
}

Operand Parser::address(bool texture) {
  Operand o;
  o.kind = Operand::Kind::address;
  o.loc = loc_of(take());
  if (is_name()) {
    o.name = take_name("a name");
    if (accept('+')) {
      o.offset = integer_constant("an integer constant after `+`");
      o.has_offset = true;
    } else if (is('-')) {
      fail(peek(), "found `-`, a negative offset is written `+-`");
    }
  } else {
    o.offset = integer_constant("a register, a variable or an integer constant as address");
    o.has_offset = true;
  }
  while (texture && accept(',')) {
    if (is('{')) {
      ++vector_depth_;
      o.elements.push_back(list('}'));
      --vector_depth_;
    } else {
      o.elements.push_back(element());
    }
  }
  expect(']', o.name.empty() || o.has_offset ? "after the address" : "or `+` and an offset");
  return o;
}

/// `{a, _}` of a vector, `(a, 1)` of a call; only the latter may be empty.
Operand Parser::list(char close) {
  Operand o;
  o.kind = close == '}' ? Operand::Kind::vector : Operand::Kind::list;
  o.loc = loc_of(take());
  if (close == ')' && accept(')')) return o;
  do {
    o.elements.push_back(element());
  } while (accept(','));
  if (!accept(close)) fail_expected(std::string("`,` or `") + close + "`");
  return o;
}

}  // namespace lanewise::ptx
