#include "runtime/isa/ptx/ptype.hpp"

namespace lanewise::ptx {
namespace {

using C = PType::Class;

constexpr std::pair<std::string_view, PType> kTypes[] = {
    {"pred", {C::pred, 1}},
    {"b8", {C::bits, 8}},
    {"b16", {C::bits, 16}},
    {"b32", {C::bits, 32}},
    {"b64", {C::bits, 64}},
    {"b128", {C::bits, 128}},
    {"u8", {C::uint, 8}},
    {"u16", {C::uint, 16}},
    {"u32", {C::uint, 32}},
    {"u64", {C::uint, 64}},
    {"s8", {C::sint, 8}},
    {"s16", {C::sint, 16}},
    {"s32", {C::sint, 32}},
    {"s64", {C::sint, 64}},
    {"f16", {C::flt, 16}},
    {"f16x2", {C::flt, 32, true}},
    {"f32", {C::flt, 32}},
    {"f64", {C::flt, 64}},
    {"bf16", {C::flt, 16, false, true}},
    {"bf16x2", {C::flt, 32, true, true}},
    {"tf32", {C::flt, 32, false, true}},
    {"f32x2", {C::flt, 64, true, true}},
    {"u16x2", {C::bits, 32, true, true}},
    {"s16x2", {C::bits, 32, true, true}},
    {"e4m3x2", {C::flt, 16, true, true}},
    {"e5m2x2", {C::flt, 16, true, true}},
    {"e2m3x2", {C::flt, 16, true, true}},
    {"e3m2x2", {C::flt, 16, true, true}},
    {"e2m1x2", {C::flt, 8, true, true}},
    {"ue8m0x2", {C::flt, 16, true, true}},
};

}  // namespace

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
  if (cls == Class::none) return "typeless";
  if (is_pred()) return ".pred";
  if (packed && is_float()) return alternative ? ".bf16x2" : ".f16x2";
  const char* letter = is_untyped()                ? ".b"
                       : cls == Class::uint        ? ".u"
                       : cls == Class::sint        ? ".s"
                       : alternative && bits == 32 ? ".tf"
                       : alternative               ? ".bf"
                                                   : ".f";
  return letter + std::to_string(bits);
}

std::optional<PType> ptype_named(std::string_view name) {
  for (const auto& [key, type] : kTypes)
    if (key == name) return type;
  return std::nullopt;
}

bool fits(PType want, PType reg, Fit fit) {
  if (want.is_pred() || reg.is_pred()) return want.cls == reg.cls;
  const bool width = reg.bits == want.bits || (fit == Fit::wider && reg.bits > want.bits);
  if (reg.is_untyped()) return width;
  // A pair of halves stands for itself, and for data or an integer of its size.
  if (reg.packed) return width && (want == reg || want.holds_int());
  switch (want.cls) {
    case C::bits:
      return width && !want.packed;
    case C::uint:
    case C::sint:
      return width && reg.is_int();
    case C::flt:
      return reg.is_float() && reg.bits == want.bits && !want.packed && !want.alternative;
    default:
      return false;
  }
}

}  // namespace lanewise::ptx
