// What a case runs and expects.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/script/language/parser.hpp"

namespace lanewise::script {
namespace {

FaultKind fault_named(const std::string& n, Loc loc) {
  std::string known;
  for (auto k = static_cast<uint8_t>(FaultKind::out_of_range);
       k <= static_cast<uint8_t>(FaultKind::data_race); ++k) {
    const auto kind = static_cast<FaultKind>(k);
    if (name(kind) == n) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(kind));
  }
  fail(loc, fmt::format("unknown fault '{}', expected {}", n, known));
}

bool has_code(const Case& c) {
  return std::ranges::any_of(c.steps,
                             [](const Step& s) { return std::holds_alternative<Code>(s); });
}

bool has_run(const Case& c) {
  return std::ranges::any_of(c.steps, [](const Step& s) {
    return std::holds_alternative<Code>(s) || std::holds_alternative<Launch>(s);
  });
}

bool is_buffer(const Case& c, const std::string& n) {
  return std::ranges::any_of(c.buffers, [&](const BufferDecl& b) { return b.name == n; });
}

}  // namespace

bool Parser::step(Case& c, const Token& keyword) {
  const std::string& k = keyword.text;
  if (k == "code") {
    code(c);
  } else if (k == "launch") {
    launch(c, keyword.loc);
  } else if (k == "expect") {
    expect(c, keyword.loc);
  } else if (k == "dump") {
    Dump d{keyword.loc, {}, {}};
    d.name = is_buffer(c, lex_->peek().text) ? lex_->take().text : register_name();
    d.path = lex_->expect_text("the \"file\" to write");
    if (!has_run(c)) fail(keyword.loc, "nothing has run before this dump");
    c.steps.emplace_back(std::move(d));
  } else {
    return false;
  }
  return true;
}

void Parser::code(Case& c) {
  if (lex_->peek().kind != Token::Kind::block)
    fail(lex_->peek().loc, "expected a \"\"\" block of instructions");
  const Token t = lex_->take();
  if (has_code(c)) fail(t.loc, "a case has one code block");
  if (!c.isa) fail(t.loc, "the case does not say its ISA: isa ptx, sass or gcn");
  c.steps.emplace_back(Code{t.loc, t.text});
}

/// launch KERNEL [grid X,Y,Z] [block X,Y,Z] [shared N] [args ...]
void Parser::launch(Case& c, Loc loc) {
  Launch l;
  l.loc = loc;
  l.kernel = lex_->expect_word("the kernel's name");
  if (c.modules.empty()) fail(loc, "no module is loaded that could hold the kernel");
  while (true) {
    if (lex_->take_word("grid")) {
      l.grid = dimensions();
    } else if (lex_->take_word("block")) {
      l.block = dimensions();
    } else if (lex_->take_word("shared")) {
      l.shared = static_cast<uint32_t>(number("a number of bytes", 0, 1U << 24));
    } else if (lex_->take_word("args")) {
      do {
        Launch::Argument a;
        a.loc = lex_->peek().loc;
        a.value = parse_expr(*lex_);
        // `u32 5`: what was read is the type.
        if (a.value->kind == Expr::Kind::name && type_named(a.value->text)) {
          a.type = type_named(a.value->text);
          a.value = parse_expr(*lex_);
        }
        l.args.push_back(std::move(a));
      } while (lex_->take_symbol(","));
      break;
    } else {
      break;
    }
  }
  c.steps.emplace_back(std::move(l));
}

void Parser::expect(Case& c, Loc loc) {
  if (lex_->take_word("rejected")) {
    Rejected r{loc, {}};
    if (lex_->peek().kind == Token::Kind::text) r.message = lex_->take().text;
    c.rejected.push_back(std::move(r));
    return;
  }
  if (!has_run(c)) fail(loc, "nothing has run before this expectation");
  if (lex_->take_word("fault")) return expect_fault(c, loc);
  if (lex_->is_word("no")) {
    lex_->take();
    if (!lex_->take_word("fault")) fail(lex_->peek().loc, "expected 'no fault'");
    c.steps.emplace_back(ExpectFault{loc, FaultKind::none, {LaneSet::Kind::all, {}}, {}, {}, {}});
    return;
  }
  if (is_buffer(c, lex_->peek().text)) return expect_memory(c, loc, lex_->take().text);
  if (lex_->take_word("cache")) return expect_cache(c, loc);
  expect_register(c, loc);
}

/// expect fault KIND [lanes SET] [where (EXPR)] [address EXPR] [size EXPR] [text "..."]
void Parser::expect_fault(Case& c, Loc loc) {
  ExpectFault f;
  f.loc = loc;
  const Loc kind_loc = lex_->peek().loc;
  f.kind = fault_named(lex_->expect_word("the kind of fault"), kind_loc);
  while (true) {
    if (lex_->take_word("lanes"))
      f.lanes = lane_set();
    else if (lex_->take_word("where"))
      f.lanes.where = condition();
    else if (lex_->take_word("address"))
      f.address = parse_expr(*lex_);
    else if (lex_->take_word("size"))
      f.size = parse_expr(*lex_);
    else if (lex_->take_word("text"))
      f.text = lex_->expect_text("part of the instruction");
    else
      break;
  }
  c.steps.emplace_back(std::move(f));
}

/// expect BUFFER [as TYPE] [ [first[..last]] ] == EXPR | unchanged
void Parser::expect_memory(Case& c, Loc loc, const std::string& name) {
  ExpectMemory m;
  m.loc = loc;
  m.buffer = name;
  if (lex_->take_word("as")) {
    const Loc type_loc = lex_->peek().loc;
    m.as = type_named(lex_->expect_word("a type"));
    if (!m.as) fail(type_loc, "unknown type, expected u8 ... u64, s8 ... s64, f16, f32 or f64");
  }
  if (lex_->take_symbol("[")) {
    m.first = parse_expr(*lex_);
    m.last = lex_->take_symbol("..") ? parse_expr(*lex_) : m.first;
    lex_->expect_symbol("]", "after the elements");
  }
  if (!lex_->take_word("unchanged")) {
    lex_->expect_symbol("==", "or 'unchanged'");
    m.value = parse_expr(*lex_);
  }
  c.steps.emplace_back(std::move(m));
}

/// expect REGISTER [as TYPE] [lanes SET] [where (EXPR)] == EXPR
void Parser::expect_register(Case& c, Loc loc) {
  ExpectRegister r;
  r.loc = loc;
  const Loc name_loc = lex_->peek().loc;
  r.name = register_name();
  if (!has_code(c))
    fail(name_loc,
         fmt::format("'{}' is no buffer, and registers are known after code only", r.name));
  if (lex_->take_word("as")) {
    const Loc type_loc = lex_->peek().loc;
    r.as = type_named(lex_->expect_word("a type"));
    if (!r.as) fail(type_loc, "unknown type, expected u8 ... u64, s8 ... s64, f16, f32 or f64");
  }
  if (lex_->take_word("lanes")) r.lanes = lane_set();
  if (lex_->take_word("where")) r.lanes.where = condition();
  lex_->expect_symbol("==", "and the expected value");
  r.value = parse_expr(*lex_);
  c.steps.emplace_back(std::move(r));
}

}  // namespace lanewise::script
