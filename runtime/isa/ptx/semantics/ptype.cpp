#include "runtime/isa/ptx/semantics/ptype.hpp"

namespace lanewise::ptx {

ir::Type PType::ir() const {
  switch (cls) {
    case Class::pred:
      return ir::Type::pred;
    case Class::sint:
      return bits == 64 ? ir::Type::s64 : ir::Type::s32;
    case Class::flt:
      if (packed) return ir::Type::u32;
      return bits == 64 ? ir::Type::f64 : bits == 32 ? ir::Type::f32 : ir::Type::f16;
    default:
      return bits == 64 ? ir::Type::u64 : ir::Type::u32;
  }
}

ir::Type PType::memory() const {
  const bool s = is_signed();
  switch (bits) {
    case 8:
      return s ? ir::Type::s8 : ir::Type::u8;
    case 16:
      return s ? ir::Type::s16 : ir::Type::u16;
    case 64:
    case 128:  // two of them
      return ir::Type::u64;
    default:
      return ir::Type::u32;
  }
}

std::string PType::text() const {
  if (cls == Class::pred) return ".pred";
  if (packed) return ".f16x2";
  const char* letter = cls == Class::bits   ? ".b"
                       : cls == Class::uint ? ".u"
                       : cls == Class::sint ? ".s"
                                            : ".f";
  return letter + std::to_string(bits);
}

std::optional<PType> ptype_named(std::string_view name) {
  using C = PType::Class;
  static constexpr struct {
    std::string_view name;
    PType type;
  } kTypes[] = {
      {"pred", kPred},      {"b8", {C::bits, 8}},   {"b16", kB16},
      {"b32", kB32},        {"b64", kB64},          {"b128", {C::bits, 128}},
      {"u8", {C::uint, 8}}, {"u16", {C::uint, 16}}, {"u32", kU32},
      {"u64", kU64},        {"s8", {C::sint, 8}},   {"s16", {C::sint, 16}},
      {"s32", kS32},        {"s64", {C::sint, 64}}, {"f16", kF16},
      {"f32", kF32},        {"f64", kF64},          {"f16x2", {C::flt, 32, true}},
  };
  for (const auto& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

bool accepts(PType want, PType reg, Fit fit) {
  using C = PType::Class;
  if (want.is_pred() || reg.is_pred()) return want.is_pred() && reg.is_pred();
  const bool same = reg.bits == want.bits;
  const bool fits = same || (fit == Fit::wider && reg.bits > want.bits);
  switch (want.cls) {
    case C::bits:
      return fits;
    case C::uint:
    case C::sint:
      return fits && reg.is_int();
    case C::flt:
      if (reg.is(C::bits)) return fits;
      return same && reg.is_float() && (reg.packed == want.packed || want.packed);
    default:
      return false;
  }
}

}  // namespace lanewise::ptx
