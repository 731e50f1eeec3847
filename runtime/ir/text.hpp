// What the printer and the parser of the IR's text form share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

std::string_view name(Certain certain);

namespace text {

/// Operation name as printed: without the trailing underscore of C++ keywords.
std::string_view op_name(Op op);
/// Spelled-out mode of the operations that have one (sreg, barrier, shfl, cachectl), else empty.
std::string_view mode_name(Op op, uint8_t mode);
std::optional<uint8_t> mode_named(Op op, std::string_view name);
std::string_view name(Isa isa);
/// What names of registers of the width begin with.
constexpr char letter(Width width) {
  return "prd"[static_cast<size_t>(width)];
}
/// In double quotes; backslash, quote and bytes outside printable ASCII escaped.
std::string quote(std::string_view s);
/// The attributes that stand behind an instruction where they are not as usual, in the order of the
/// text: `visit(key, member, what)`, with what the parser expects of a name, or the largest number.
template <typename Visit>
void each_attribute(const CachePolicy&, Visit visit) {
  visit("cache", &CachePolicy::op, "a cache operator");
  visit("l1", &CachePolicy::l1, "a priority");
  visit("l2", &CachePolicy::l2, "a priority");
  visit("prefetch", &CachePolicy::prefetch_bytes, 0xffff);
  visit("glc", &CachePolicy::glc);
  visit("slc", &CachePolicy::slc);
  visit("hint", &CachePolicy::hint);
}
template <typename Visit>
void each_attribute(const Mem&, Visit visit) {
  visit("count", &Mem::count, 0xff);
  visit("offset", &Mem::offset);
  visit("align", &Mem::align_bytes, 0xff);
  visit("rule", &Mem::align, "an alignment rule");
  visit("checked", &Mem::checked);
  visit("certain", &Mem::certain, "guarded or everywhere");
  visit("used", &Mem::used_bytes, 0xffffffff);
  visit("order", &Mem::order, "an ordering");
  visit("scope", &Mem::scope, "a scope");
  visit("atom", &Mem::atom, "an atomic operation");
  visit("atom_type", &Mem::atom_type, "a type");
}
template <typename Visit>
void each_attribute(const BufferAccess&, Visit visit) {
  visit("idxen", &BufferAccess::idxen);
  visit("offen", &BufferAccess::offen);
  visit("addr64", &BufferAccess::addr64);
  visit("format", &BufferAccess::format_op);
  visit("offset", &BufferAccess::inst_offset, 0xffff);
  visit("element", &BufferAccess::element_offset, 0xff);
  visit("payload", &BufferAccess::payload_bytes, 0xff);
  visit("offset32", &BufferAccess::offset32);
  visit("soffset_swizzled", &BufferAccess::soffset_swizzled);
}
template <typename Visit>
void each_attribute(const TextureAccess&, Visit visit) {
  visit("array", &TextureAccess::array);
  visit("integers", &TextureAccess::integers);
  visit("lod", &TextureAccess::lod, "zero, level or gradient");
  visit("bias", &TextureAccess::bias);
  visit("clamp", &TextureAccess::clamp);
  visit("offset", &TextureAccess::offset);
  visit("compare", &TextureAccess::compare);
  visit("component", &TextureAccess::component, 3);
  visit("outside", &TextureAccess::outside, "zero, clamp or trap");
}

std::string print(const Program& p, const Terminator& t);
std::string print(const Program& p, const Guard& g);

}  // namespace text
}  // namespace lanewise::ir
