#include "runtime/script/run/registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lanewise::script {
namespace {

/// The number behind a prefix; nullopt when anything else is there.
std::optional<unsigned> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  unsigned v = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size() || text.size() > 3) return std::nullopt;
  return v;
}

Register group(const std::string& name, const std::string& prefix, unsigned first, unsigned last,
               unsigned limit, Loc loc) {
  if (last < first || last - first > 15 || last >= limit)
    fail(loc, fmt::format("'{}': registers go from {}0 to {}{}, at most 16 at once", name, prefix,
                          prefix, limit - 1));
  Register r;
  r.name = name;
  for (unsigned n = first; n <= last; ++n)
    r.parts.push_back({fmt::format("{}{}", prefix, n), ir::Width::b32});
  r.bits = 32 * r.words();
  return r;
}

Register predicate(const std::string& name) {
  Register r;
  r.name = name;
  r.parts = {{name, ir::Width::pred}};
  r.bits = 1;
  return r;
}

/// The vector that `%v.y` is a component of.
const RegDecl* vector_of(const Case& c, const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos || dot + 2 != name.size()) return nullptr;
  const auto decl = std::ranges::find(c.regs, name.substr(0, dot), &RegDecl::name);
  if (decl == c.regs.end()) return nullptr;
  const size_t n = std::string_view("xyzw").find(name[dot + 1]);
  return n < decl->vector && decl->vector != 1 ? &*decl : nullptr;
}

/// All components at once: words(...), where each is one.
Register whole_vector(const RegDecl& decl, Loc loc) {
  const auto type = type_named(decl.type);
  if (!type || bits_of(*type) != 32)
    fail(loc, fmt::format("'{}' is a vector: name a component, as in {}.x", decl.name, decl.name));
  Register r;
  r.name = decl.name;
  for (unsigned n = 0; n < decl.vector; ++n)
    r.parts.push_back({fmt::format("{}.{}", decl.name, "xyzw"[n]), ir::Width::b32});
  r.bits = 32 * r.words();
  return r;
}

Register ptx_register(const Case& c, const std::string& name, Loc loc) {
  const RegDecl* vector = vector_of(c, name);
  const auto decl = vector != nullptr ? c.regs.begin() + (vector - c.regs.data())
                                      : std::ranges::find(c.regs, name, &RegDecl::name);
  if (vector == nullptr && decl != c.regs.end() && decl->vector != 1)
    return whole_vector(*decl, loc);
  if (decl == c.regs.end() || decl->type.empty())
    fail(loc, fmt::format("register '{}' is not declared: reg .b32 {}", name, name));
  if (decl->type == "pred") return predicate(name);
  Register r;
  r.name = name;
  if (const auto type = type_named(decl->type)) {
    r.bits = bits_of(*type);
    r.as = type;
    if (decl->type[0] != 'b') r.takes = takes(*type);
    if (decl->type[0] == 'b') r.as.reset();
  } else if (decl->type != "f16x2") {
    fail(decl->loc, fmt::format("registers of type .{} are not supported here, expected .pred, "
                                ".b8 to .b64, .u, .s, .f16, .f16x2, .f32 or .f64",
                                decl->type));
  }
  r.parts = {{name, r.bits == 64 ? ir::Width::b64 : ir::Width::b32}};
  return r;
}

Register sass_register(const std::string& name, Loc loc) {
  const size_t colon = name.find(':');
  if (const auto first = number_after(name.substr(0, colon), "R")) {
    const auto last =
        colon == std::string::npos ? first : number_after(name.substr(colon + 1), "R");
    if (last) return group(name, "R", *first, *last, 255, loc);
  }
  if (const auto p = number_after(name, "P"); p && *p < 7) return predicate(name);
  if (name == "CC.C") return predicate(name);
  fail(loc, fmt::format("SASS has no register '{}' that can be set or read here; expected R0 to "
                        "R254, pairs such as R2:R3, P0 to P6 or CC.C",
                        name));
}

Register gcn_register(const std::string& name, Loc loc) {
  for (const std::string prefix : {"v", "s"}) {
    const unsigned limit = prefix == "v" ? 256 : 104;
    if (const auto n = number_after(name, prefix)) return group(name, prefix, *n, *n, limit, loc);
    if (!name.starts_with(prefix + "[")) continue;
    const std::string inside = name.substr(2, name.size() - 3);
    const size_t colon = inside.find(':');
    const auto first = number_after(inside.substr(0, colon), "");
    const auto last =
        colon == std::string::npos ? first : number_after(inside.substr(colon + 1), "");
    if (first && last) return group(name, prefix, *first, *last, limit, loc);
  }
  Register r;
  r.name = name;
  if (name == "vcc_lo" || name == "vcc_hi" || name == "m0") {
    r.parts = {{name, ir::Width::b32}};
    return r;
  }
  if (name == "vcc") {
    r.parts = {{"vcc_lo", ir::Width::b32}, {"vcc_hi", ir::Width::b32}};
    r.bits = 64;
    return r;
  }
  if (name == "scc") return predicate(name);
  if (name == "exec") {
    r = predicate(name);
    r.exec = true;
    return r;
  }
  fail(loc, fmt::format("GCN has no register '{}' that can be set or read here; expected v0, s0, "
                        "v[2:3], s[4:7], vcc, vcc_lo, vcc_hi, exec, scc or m0",
                        name));
}

}  // namespace

Register resolve_register(const Case& c, const std::string& name, Loc loc) {
  if (c.isa == ir::Isa::ptx) return ptx_register(c, name, loc);
  return c.isa == ir::Isa::sass ? sass_register(name, loc) : gcn_register(name, loc);
}

}  // namespace lanewise::script
