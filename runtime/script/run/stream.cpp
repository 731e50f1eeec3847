#include "runtime/script/run/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/script/run/registers.hpp"

namespace lanewise::script {
namespace {

/// Text whose chunks stand where they stand in the script, so that messages need no translation.
class Placed {
 public:
  void put(const std::string& s) {
    text_ += s;
    for (const char c : s) {
      column_ = c == '\n' ? 1 : column_ + 1;
      line_ += c == '\n' ? 1 : 0;
    }
  }
  void put_at(const std::string& s, Loc loc) {
    if (line_ < loc.line) put(std::string(loc.line - line_, '\n'));
    if (line_ == loc.line && column_ < loc.column) put(std::string(loc.column - column_, ' '));
    put(s);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  uint32_t line_ = 1, column_ = 1;
};

std::string ptx_text(const Case& c, const Code& code) {
  Placed out;
  out.put(fmt::format(".version {} .target {} .address_size 64 ",
                      c.ptx_version.empty() ? "8.3" : c.ptx_version,
                      c.target.empty() ? "sm_90" : c.target));
  if (!c.declarations.empty()) out.put_at(c.declarations, c.declarations_loc);
  out.put(" .visible .entry stream(");
  for (size_t n = 0; n < c.params.size(); ++n)
    out.put(fmt::format("{}.param .{} {}", n == 0 ? "" : ", ", type_name(c.params[n].type),
                        c.params[n].name));
  out.put(") { ");
  for (const RegDecl& r : c.regs) {
    if (r.component) continue;
    const std::string vector = r.vector == 1 ? "" : fmt::format(".v{} ", r.vector);
    out.put(fmt::format(".reg {}.{} {}; ", vector, r.type, r.name));
  }
  out.put_at(code.text, code.loc);
  out.put("\n}\n");
  return out.text();
}

host::detail::Compiled finish(std::vector<Diagnostic> diagnostics) {
  host::detail::Compiled out;
  out.diagnostics = std::move(diagnostics);
  return out;
}

template <typename Lowered>
void add_lowered(host::detail::Compiled& out, Lowered lowered) {
  out.module = std::move(lowered.module);
  out.diagnostics.insert(out.diagnostics.end(), lowered.diagnostics.begin(),
                         lowered.diagnostics.end());
}

host::detail::Compiled compile_ptx(const Case& c, const Code& code) {
  if (!c.declarations.empty() && c.declarations_loc.line >= code.loc.line)
    fail(c.declarations_loc, "declarations must stand before the code");
  for (const RegDecl& r : c.regs)
    resolve_register(c, r.vector == 1 ? r.name : fmt::format("{}.x", r.name), r.loc);
  // By the real assembler's rules, so that a script says nothing that hardware could not run.
  return host::detail::check(ptx_text(c, code), {.isa = Isa::ptx});
}

host::detail::Compiled compile_sass(const Case& c, const Code& code) {
  unsigned arch = 50;
  if (!c.target.empty()) {
    arch = c.target.starts_with("sm_") ? sass::known_arch(c.target.substr(3)) : 0;
    if (arch == 0)
      fail(c.loc,
           fmt::format("target {} is not Maxwell, expected {}", c.target, sass::kKnownArchs));
  }
  Placed text;
  text.put_at(code.text, code.loc);
  const sass::Listing listing = sass::parse(text.text(), arch);
  host::detail::Compiled out = finish(listing.diagnostics);
  if (out.ok()) add_lowered(out, sass::lower(listing, {.pixel = c.pixel.has_value()}));
  return out;
}

/// The number in "s12" or "v3"; nothing for registers that have names.
std::optional<unsigned> numbered(const std::string& name, char kind) {
  unsigned n = 0;
  const char *first = name.data() + 1, *end = name.data() + name.size();
  if (name[0] != kind || std::from_chars(first, end, n).ec != std::errc()) return std::nullopt;
  return n;
}

/// The wave has the vector registers that the case names: code may count to them.
unsigned vector_registers(const Case& c, const std::vector<std::string>& observed) {
  unsigned most = 0;
  const auto add = [&](const std::string& name, Loc loc) {
    for (const RegisterPart& part : resolve_register(c, name, loc).parts)
      if (const auto n = numbered(part.ir_name, 'v')) most = std::max(most, *n + 1);
  };
  for (const RegDecl& r : c.regs) add(r.name, r.loc);
  for (const std::string& name : observed) add(name, {});
  return most;
}

gcn::LowerOptions gcn_options(const Case& c, const std::vector<std::string>& observed) {
  gcn::LowerOptions o;
  o.vgprs = vector_registers(c, observed);
  o.partial_exec = c.active.kind != LaneSet::Kind::all || c.active_mask != nullptr;
  for (const std::string& name : observed) {
    const Register r = resolve_register(c, name, {});
    if (name == "scc") o.keep_scc = true;
    for (const RegisterPart& part : r.parts) {
      if (part.ir_name.starts_with("vcc"))
        o.numbers.push_back(gcn::kVccLo);
      else if (const auto n = numbered(part.ir_name, 's'))
        o.numbers.push_back(*n & ~1U);
    }
  }
  return o;
}

host::detail::Compiled compile_gcn(const Case& c, const Code& code,
                                   const std::vector<std::string>& observed) {
  const auto gen = gcn::gen_named(c.target.empty() ? "gfx600" : c.target);
  if (!gen)
    fail(c.loc, fmt::format("unknown target {}, expected gfx600, gfx700 or gfx803", c.target));
  Placed text;
  text.put_at(code.text, code.loc);
  const gcn::Listing listing = gcn::parse(text.text(), *gen);
  host::detail::Compiled out = finish(listing.diagnostics);
  if (out.ok()) add_lowered(out, gcn::lower(listing, gcn_options(c, observed)));
  return out;
}

}  // namespace

host::detail::Compiled compile_stream(const Case& c, const Code& code,
                                      const std::vector<std::string>& observed) {
  host::detail::Compiled out = c.isa == ir::Isa::ptx    ? compile_ptx(c, code)
                               : c.isa == ir::Isa::sass ? compile_sass(c, code)
                                                        : compile_gcn(c, code, observed);
  // What is in front of the code was made from the case's own statements.
  for (Diagnostic& d : out.diagnostics) {
    if (d.line >= (c.declarations.empty() ? code.loc.line : c.declarations_loc.line)) continue;
    d.line = c.loc.line;
    d.column = c.loc.column;
  }
  if (out.ok() && out.module.kernels.size() != 1)
    out.diagnostics.push_back(
        {code.loc.line, code.loc.column,
         fmt::format("the code makes {} kernels, expected one stream", out.module.kernels.size()),
         false});
  return out;
}

}  // namespace lanewise::script
