// Settings, buffers, registers, parameters.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/script/language/parser.hpp"

namespace lanewise::script {
namespace {

constexpr uint64_t kMaxDim = 65535;
constexpr uint64_t kMaxTid = 1U << 16;

}  // namespace

uint64_t Parser::number(const char* what, uint64_t low, uint64_t high) {
  return evaluate_constant(*parse_sum(*lex_), what, low, high);
}

Dim3 Parser::dimensions() {
  Dim3 d;
  uint32_t* const parts[] = {&d.x, &d.y, &d.z};
  for (uint32_t* part : parts) {
    *part = static_cast<uint32_t>(number("a size", 1, kMaxDim));
    if (!lex_->is_symbol(",") || part == &d.z) break;
    lex_->take();
  }
  return d;
}

/// `active`, `inactive`, `all` or `0..3, 8`.
LaneSet Parser::lane_set() {
  if (lex_->take_word("active")) return {LaneSet::Kind::active, {}};
  if (lex_->take_word("inactive")) return {LaneSet::Kind::inactive, {}};
  if (lex_->take_word("all")) return {LaneSet::Kind::all, {}};
  LaneSet set{LaneSet::Kind::ranges, {}};
  do {
    const Loc loc = lex_->peek().loc;
    const uint64_t first = number("a lane", 0, kMaxTid);
    const uint64_t last = lex_->take_symbol("..") ? number("a lane", 0, kMaxTid) : first;
    if (last < first) fail(loc, "the range of lanes ends before it starts");
    set.ranges.emplace_back(first, last);
  } while (lex_->take_symbol(","));
  return set;
}

/// What follows `where`, in parentheses.
ExprPtr Parser::condition() {
  lex_->expect_symbol("(", "after 'where'");
  ExprPtr e = parse_expr(*lex_);
  lex_->expect_symbol(")", "after the condition");
  return e;
}

/// `%r1`, `R4`, `R4:R5`, `s[4:7]`; blanks removed.
std::string Parser::register_name() {
  std::string name = lex_->expect_word("a register");
  if (lex_->take_symbol(":")) return name + ":" + lex_->expect_word("the last register");
  if (!lex_->take_symbol("[")) return name;
  name += fmt::format("[{}", number("a register number", 0, 255));
  if (lex_->take_symbol(":")) name += fmt::format(":{}", number("a register number", 0, 255));
  lex_->expect_symbol("]", "after the register numbers");
  return name + "]";
}

bool Parser::setting(Case& c, const Token& keyword) {
  const std::string& k = keyword.text;
  if (k == "isa")
    isa(c);
  else if (k == "target")
    target(c);
  else if (k == "ptx_version")
    c.ptx_version = lex_->take().text;
  else if (k == "waves")
    c.waves = static_cast<uint32_t>(number("a number of waves", 1, 64)), c.block.reset();
  else if (k == "cache")
    c.cache = cache_setting();
  else if (k == "grid")
    c.grid = dimensions();
  else if (k == "block")
    c.block = dimensions();
  else if (k == "shared")
    c.dynamic_shared = static_cast<uint32_t>(number("a number of bytes", 0, 1U << 24));
  else if (k == "active")
    active(c);
  else if (k == "memcheck" || k == "mode" || k == "policy")
    policy(c, keyword);
  else if (k == "pixel")
    pixel(c, keyword.loc);
  else if (k == "let")
    let(c);
  else if (k == "buffer")
    buffer(c, keyword.loc);
  else if (k == "reg")
    reg(c);
  else if (k == "param")
    param(c);
  else if (k == "declarations")
    declarations(c);
  else if (k == "module")
    c.modules.emplace_back(keyword.loc, lex_->expect_text("the \"file\" of the module"));
  else
    return false;
  return true;
}

void Parser::isa(Case& c) {
  const Loc loc = lex_->peek().loc;
  const std::string n = lex_->expect_word("ptx, sass or gcn");
  if (n == "ptx")
    c.isa = ir::Isa::ptx;
  else if (n == "sass")
    c.isa = ir::Isa::sass;
  else if (n == "gcn")
    c.isa = ir::Isa::gcn;
  else
    fail(loc, fmt::format("unknown ISA '{}', expected ptx, sass or gcn", n));
}

void Parser::target(Case& c) {
  const Loc loc = lex_->peek().loc;
  c.target = lex_->expect_word("a target such as sm_80 or gfx600");
  const bool gcn = c.target.starts_with("gfx");
  if (!gcn && !c.target.starts_with("sm_"))
    fail(loc, fmt::format("unknown target '{}', expected sm_... or gfx...", c.target));
}

Selection Parser::selection(const char* example) {
  if (lex_->take_word("lanes")) return {lane_set(), nullptr};
  if (lex_->take_word("mask")) return {{}, parse_expr(*lex_)};
  fail(lex_->peek().loc, fmt::format("expected '{0} lanes 0..3, 8' or '{0} mask 0xff'", example));
}

void Parser::active(Case& c) {
  Selection s = selection("active");
  c.active_mask = s.mask;
  if (s.mask == nullptr) c.active = std::move(s.lanes);
}

void Parser::pixel(Case& c, Loc loc) {
  Pixel p;
  p.loc = loc;
  if (lex_->take_word("coverage")) p.covered = selection("coverage");
  if (lex_->take_word("helpers")) p.helpers = selection("helpers");
  c.pixel = std::move(p);
}

void Parser::policy(Case& c, const Token& keyword) {
  const Loc loc = lex_->peek().loc;
  const std::string n = lex_->expect_word("a name");
  const auto wrong = [&](const char* wanted) {
    fail(loc, fmt::format("unknown {} '{}', expected {}", keyword.text, n, wanted));
  };
  if (keyword.text == "policy") {
    const Token value = lex_->take();
    c.policies.emplace_back(n, value.text);
  } else if (keyword.text == "mode") {
    const auto mode = wave_mode_named(n);
    if (!mode) wrong("auto, lane, packed or serial");
    c.wave_mode = *mode;
  } else {
    if (n != "arena" && n != "alloc" && n != "off") wrong("arena, alloc or off");
    c.memcheck = n == "arena" ? Memcheck::arena : n == "off" ? Memcheck::off : Memcheck::alloc;
  }
}

void Parser::check_new_name(const Case& c, const std::string& n, Loc loc) const {
  for (size_t v = 0; v < kVars; ++v)
    if (n == name(static_cast<Var>(v))) fail(loc, fmt::format("'{}' is a variable of its own", n));
  if (n == "nan" || n == "inf" || n == "true" || n == "false")
    fail(loc, fmt::format("'{}' is a value of its own", n));
  for (const BufferDecl& b : c.buffers)
    if (b.name == n)
      fail(loc, fmt::format("'{}' is a buffer already, declared on line {}", n, b.loc.line));
}

void Parser::buffer(Case& c, Loc loc) {
  BufferDecl b;
  b.loc = loc;
  const Loc name_loc = lex_->peek().loc;
  b.name = lex_->expect_word("the buffer's name");
  check_new_name(c, b.name, name_loc);
  const Loc type_loc = lex_->peek().loc;
  const std::string type = lex_->expect_word("an element type");
  const auto t = type_named(type);
  if (!t)
    fail(type_loc, fmt::format("unknown type '{}', expected u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 "
                               "or f64",
                               type));
  b.type = *t;
  lex_->expect_symbol("[", "and the number of elements");
  if (!lex_->is_symbol("]")) b.count = parse_expr(*lex_);
  lex_->expect_symbol("]", "after the number of elements");
  if (lex_->take_symbol("=")) contents(b);
  b.read_only = lex_->take_word("readonly");
  if (lex_->take_word("absent")) b.absent = absent_pages();
  const bool counted =
      b.fill == BufferDecl::Fill::file || (b.first != nullptr && b.first->kind == Expr::Kind::list);
  if (b.count == nullptr && !counted) fail(loc, "how many elements the buffer has must be given");
  c.buffers.push_back(std::move(b));
}

LaneSet Parser::absent_pages() {
  if (!lex_->take_word("pages")) fail(lex_->peek().loc, "expected 'absent pages 1, 3..4'");
  const Loc loc = lex_->peek().loc;
  LaneSet pages = lane_set();
  if (pages.kind == LaneSet::Kind::active || pages.kind == LaneSet::Kind::inactive)
    fail(loc, "expected page numbers or 'all'");
  return pages;
}

void Parser::contents(BufferDecl& b) {
  if (lex_->take_word("iota")) {
    b.fill = BufferDecl::Fill::iota;
    const auto more = [&] {
      return lex_->peek().kind != Token::Kind::newline && lex_->peek().kind != Token::Kind::end &&
             !lex_->is_word("readonly") && !lex_->is_word("absent") && !lex_->is_symbol("}");
    };
    if (more()) b.first = parse_expr(*lex_);
    if (lex_->take_symbol(",")) b.second = parse_expr(*lex_);
    return;
  }
  if (lex_->take_word("random")) {
    b.fill = BufferDecl::Fill::random;
    b.first = parse_expr(*lex_);
    return;
  }
  if (lex_->take_word("file")) {
    b.fill = BufferDecl::Fill::file;
    b.path = lex_->expect_text("the \"file\"");
    return;
  }
  lex_->take_word("fill");
  b.fill = BufferDecl::Fill::value;
  b.first = parse_expr(*lex_);
}

/// `reg .b32 %r1, %r2` or `reg R4:R5 = EXPR`. A later value replaces an earlier one.
/// reg [.v2|.v4] [.TYPE] NAME [= EXPR | = { EXPR, ... }], ...
void Parser::reg(Case& c) {
  const auto dotted = [&] {
    return lex_->peek().kind == Token::Kind::word && lex_->peek().text.starts_with('.');
  };
  std::string type;
  unsigned vector = 1;
  if (dotted()) type = lex_->take().text.substr(1);
  if (type == "v2" || type == "v4") {
    vector = type == "v2" ? 2 : 4;
    if (!dotted()) fail(lex_->peek().loc, "expected the type of the vector's elements, as in .f32");
    type = lex_->take().text.substr(1);
  }
  do {
    RegDecl r;
    r.loc = lex_->peek().loc;
    r.type = type;
    r.name = register_name();
    r.vector = vector;
    if (vector != 1) {
      vector_register(c, std::move(r));
      continue;
    }
    if (lex_->take_symbol("=")) r.value = parse_expr(*lex_);
    set_register(c, std::move(r));
  } while (lex_->take_symbol(","));
}

void Parser::set_register(Case& c, RegDecl r) {
  std::erase_if(c.regs, [&](const RegDecl& other) {
    return other.name == r.name || (r.vector != 1 && other.name.starts_with(r.name + "."));
  });
  const size_t dot = r.name.find('.');
  if (r.type.empty() && dot != std::string::npos) {
    const auto base = std::ranges::find(c.regs, r.name.substr(0, dot), &RegDecl::name);
    if (base != c.regs.end() && base->vector != 1) {
      r.type = base->type;
      r.component = true;
    }
  }
  c.regs.push_back(std::move(r));
}

void Parser::vector_register(Case& c, RegDecl r) {
  const RegDecl whole = r;
  set_register(c, std::move(r));
  if (!lex_->take_symbol("=")) return;
  const Loc loc = lex_->peek().loc;
  lex_->expect_symbol("{", "and one value per component");
  std::vector<ExprPtr> values;
  do values.push_back(parse_expr(*lex_));
  while (lex_->take_symbol(","));
  lex_->expect_symbol("}", "after the components");
  if (values.size() != whole.vector)
    fail(loc, fmt::format("'{}' has {} components, {} values are given", whole.name, whole.vector,
                          values.size()));
  for (unsigned n = 0; n < whole.vector; ++n) {
    RegDecl part = whole;
    part.name = fmt::format("{}.{}", whole.name, "xyzw"[n]);
    part.vector = 1;
    part.component = true;
    part.value = std::move(values[n]);
    c.regs.push_back(std::move(part));
  }
}

void Parser::param(Case& c) {
  ParamDecl p;
  const Loc type_loc = lex_->peek().loc;
  const auto type = type_named(lex_->expect_word("the parameter's type"));
  if (!type) fail(type_loc, "unknown type of parameter, expected u8 ... u64, f16, f32 or f64");
  p.type = *type;
  p.loc = lex_->peek().loc;
  p.name = lex_->expect_word("the parameter's name");
  lex_->expect_symbol("=", "and the parameter's value");
  p.value = parse_expr(*lex_);
  std::erase_if(c.params, [&](const ParamDecl& other) { return other.name == p.name; });
  c.params.push_back(std::move(p));
}

void Parser::let(Case& c) {
  Let l;
  l.loc = lex_->peek().loc;
  l.name = lex_->expect_word("a name");
  check_new_name(c, l.name, l.loc);
  lex_->expect_symbol("=", "and a value");
  l.value = parse_expr(*lex_);
  c.lets.push_back(std::move(l));
}

void Parser::declarations(Case& c) {
  if (lex_->peek().kind != Token::Kind::block)
    fail(lex_->peek().loc, "expected a \"\"\" block of PTX declarations");
  const Token t = lex_->take();
  c.declarations = t.text;
  c.declarations_loc = t.loc;
}

}  // namespace lanewise::script
