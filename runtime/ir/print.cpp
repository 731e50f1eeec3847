// Text of a program; the grammar is in docs/ir.md and parse.cpp reads it back.
#include <fmt/format.h>

#include <iterator>

#include "runtime/ir/ir.hpp"
#include "runtime/ir/text.hpp"
#include "runtime/ir/wave_ops.hpp"

namespace lanewise::ir {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string number_text(uint64_t v) {
  return v < 10 ? fmt::format("{}", v) : fmt::format("{:#x}", v);
}

char width_letter(const Program& p, uint32_t id) {
  return id < p.regs.size() ? text::letter(p.regs[id].width) : 'r';
}

std::string reg_text(const Program& p, Reg r) {
  if (!r.valid()) return "_";
  return fmt::format("{}{}", width_letter(p, r.id), r.id);
}

std::string operand_text(const Program& p, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::none:
      return "_";
    case Operand::Kind::reg:
      return reg_text(p, o.reg());
    case Operand::Kind::imm:
      return number_text(o.imm);
    case Operand::Kind::symbol:
      return fmt::format("${}{:+}", o.index, static_cast<int64_t>(o.imm));
  }
  return "_";
}

std::string guard_text(const Program& p, const Guard& g) {
  return fmt::format("@{}{}", g.negate ? "!" : "", reg_text(p, g.reg));
}

/// Those that differ from what is usual.
template <typename Attributes>
void print_attributes(const Program& p, const Attributes& a, Out out) {
  text::each_attribute(a, [&](const char* key, auto member, auto...) {
    const auto& value = a.*member;
    using Value = std::remove_cvref_t<decltype(value)>;
    if (value == Attributes{}.*member) return;
    fmt::format_to(out, " {}", key);
    if constexpr (std::is_enum_v<Value>)
      fmt::format_to(out, "={}", name(value));
    else if constexpr (std::is_same_v<Value, Operand>)
      fmt::format_to(out, "={}", operand_text(p, value));
    else if constexpr (std::is_same_v<Value, uint32_t>)
      fmt::format_to(out, "={:#x}", value);
    else if constexpr (!std::is_same_v<Value, bool>)
      fmt::format_to(out, "={}", value);
  });
}

void print_mem(const Program& p, const Mem& m, Out out) {
  fmt::format_to(out, " {{{} {}", name(m.space), name(m.elem));
  print_attributes(p, m, out);
  print_attributes(p, m.cache, out);
  fmt::format_to(out, "}}");
}

void print_buffer(const Program& p, const BufferAccess& b, Out out) {
  constexpr const char* kGens[] = {"gfx6", "gfx7", "gfx8"};
  fmt::format_to(out, " <{}", kGens[static_cast<size_t>(b.gen)]);
  print_attributes(p, b, out);
  fmt::format_to(out, ">");
}

void print_texture(const Program& p, const TextureAccess& t, Out out) {
  fmt::format_to(out, " <texture {}", name(t.dim));
  print_attributes(p, t, out);
  fmt::format_to(out, ">");
}

void print_modifiers(const Inst& i, Out out) {
  const bool apart = may_come_apart(i.from);
  const bool two = i.from != Type::none && !apart;
  if (i.type != Type::none || two) fmt::format_to(out, ".{}", name(i.type));
  if (two) fmt::format_to(out, ".{}", name(i.from));
  if (apart) fmt::format_to(out, ".apart");
  if (i.cond != Cond::eq || i.op == Op::icmp || i.op == Op::fcmp) {
    fmt::format_to(out, ".{}", name(i.cond));
  }
  if (i.round != Round::rn) fmt::format_to(out, ".{}", name(i.round));
  if (i.ftz) fmt::format_to(out, ".ftz");
  if (i.sat) fmt::format_to(out, ".sat");
  if (i.any_nan) fmt::format_to(out, ".any_nan");
  const std::string_view mode = text::mode_name(i.op, i.mode);
  if (!mode.empty()) {
    fmt::format_to(out, ".{}", mode);
  } else if (i.mode != 0) {
    fmt::format_to(out, ".mode{}", i.mode);
  }
}

void print_site(uint32_t site, Out out) {
  if (site != kNone) fmt::format_to(out, " #{}", site);
}

void print_header(const Program& p, Out out) {
  fmt::format_to(out, "program {} {} wave {}{}\n", text::quote(p.name), text::name(p.isa),
                 p.wave_lanes, p.rendezvous ? " rendezvous" : "");
  fmt::format_to(out, "memory param {} shared {} local {}", p.param_bytes, p.shared_bytes,
                 p.local_bytes);
  if (p.reserved_shared != 0) fmt::format_to(out, " reserved {}", p.reserved_shared);
  fmt::format_to(out, "\n");
  const auto* b = p.required_block;
  if (b[0] != 0 || b[1] != 0 || b[2] != 0) {
    fmt::format_to(out, "required_block {} {} {}\n", b[0], b[1], b[2]);
  }
  if (p.max_block != 0) fmt::format_to(out, "max_block {}\n", p.max_block);
  for (const Param& a : p.params) {
    fmt::format_to(out, "param {} {} offset {} size {} align {}{}\n", text::quote(a.name),
                   name(a.type), a.offset, a.size, a.align, a.pointer ? " pointer" : "");
  }
  for (const Symbol& s : p.symbols) fmt::format_to(out, "symbol {}\n", text::quote(s.name));
  for (const Variable& v : p.variables)
    fmt::format_to(out, "variable {} {}{}\n", number_text(v.address), v.size,
                   v.read_only ? " read_only" : "");
  for (const Site& s : p.sites) {
    fmt::format_to(out, "site {} {} {}", s.line, number_text(s.pc), text::quote(s.text));
    if (!s.source_file.empty() || s.source_line != 0) {
      fmt::format_to(out, " {} {}", text::quote(s.source_file), s.source_line);
    }
    if (!s.assertion.empty())
      fmt::format_to(out, " asserts {} {}", text::quote(s.assertion), text::quote(s.function));
    else if (!s.function.empty())
      fmt::format_to(out, " in {}", text::quote(s.function));
    fmt::format_to(out, "\n");
  }
  for (size_t r = 0; r < p.regs.size(); ++r) {
    const RegInfo& info = p.regs[r];
    fmt::format_to(out, "reg {}{} {}", width_letter(p, static_cast<uint32_t>(r)), r,
                   name(info.width));
    if (info.scalar) fmt::format_to(out, " scalar");
    if (!info.name.empty()) fmt::format_to(out, " {}", text::quote(info.name));
    fmt::format_to(out, "\n");
  }
}

}  // namespace

std::string text::print(const Program& p, const Terminator& t) {
  std::string s;
  Out out = std::back_inserter(s);
  const auto target = [&](size_t i) { return i < t.targets.size() ? t.targets[i] : kNone; };
  switch (t.kind) {
    case Terminator::Kind::jump:
      fmt::format_to(out, "jump b{}", target(0));
      break;
    case Terminator::Kind::branch:
      fmt::format_to(out, "branch {} b{} b{}", guard_text(p, t.cond), target(0), target(1));
      break;
    case Terminator::Kind::switch_:
      fmt::format_to(out, "switch {} [", operand_text(p, t.selector));
      for (size_t i = 0; i < t.cases.size(); ++i) {
        fmt::format_to(out, "{}: b{}, ", number_text(t.cases[i]), target(i));
      }
      fmt::format_to(out, "default: b{}]", t.targets.empty() ? kNone : t.targets.back());
      break;
    case Terminator::Kind::exit:
      fmt::format_to(out, "exit");
      break;
  }
  if (t.uniform) fmt::format_to(out, " uniform");
  print_site(t.site, out);
  return s;
}

std::string text::print(const Program& p, const Guard& g) {
  return guard_text(p, g);
}

std::string print(const Program& p, const Inst& i) {
  std::string s;
  Out out = std::back_inserter(s);
  if (!i.guard.always()) fmt::format_to(out, "{} ", guard_text(p, i.guard));
  for (size_t d = 0; d < i.dst.size(); ++d) {
    fmt::format_to(out, "{}{}", d != 0 ? ", " : "", reg_text(p, i.dst[d]));
  }
  if (!i.dst.empty()) fmt::format_to(out, " = ");
  fmt::format_to(out, "{}", text::op_name(i.op));
  print_modifiers(i, out);
  for (size_t k = 0; k < i.src.size(); ++k) {
    fmt::format_to(out, "{} {}", k != 0 ? "," : "", operand_text(p, i.src[k]));
  }
  if (i.mem) print_mem(p, *i.mem, out);
  if (i.buffer) print_buffer(p, *i.buffer, out);
  if (i.texture) print_texture(p, *i.texture, out);
  print_site(i.site, out);
  return s;
}

std::string print(const Program& p) {
  std::string s;
  Out out = std::back_inserter(s);
  print_header(p, out);
  for (size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& block = p.blocks[b];
    fmt::format_to(out, "block b{}", b);
    if (!block.label.empty()) fmt::format_to(out, " {}", text::quote(block.label));
    fmt::format_to(out, "\n");
    for (const Inst& i : block.insts) fmt::format_to(out, "  {}\n", print(p, i));
    fmt::format_to(out, "  {}\n", text::print(p, block.term));
  }
  return s;
}

}  // namespace lanewise::ir
