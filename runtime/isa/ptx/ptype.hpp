// PTX types and which registers an instruction of a type accepts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/ir/types.hpp"

namespace lanewise::ptx {

/// `.u32` is {u, 32}; `.f16x2` is {f, 32, packed}.
struct PType {
  enum class Class : uint8_t { none, pred, bits, uint, sint, flt };
  Class cls = Class::none;
  unsigned bits = 0;
  bool packed = false;       ///< two of its parts
  bool alternative = false;  ///< bf16, tf32, 8-bit floats: no register is declared like this

  bool is(Class c) const { return cls == c; }
  bool is_untyped() const { return cls == Class::bits; }
  bool is_int() const { return cls == Class::uint || cls == Class::sint; }
  /// An integer, or bits that may be one.
  bool holds_int() const { return is_untyped() || is_int(); }
  bool is_signed() const { return cls == Class::sint; }
  bool is_float() const { return cls == Class::flt; }
  bool is_pred() const { return cls == Class::pred; }
  /// `.f16`, and other half floats of which two fill a register.
  bool is_half() const { return is_float() && (bits == 16 || packed); }
  unsigned bytes() const { return bits / 8; }
  /// The type that IR arithmetic uses: narrow integers compute in 32 bits.
  ir::Type ir() const;
  /// The type in memory: untyped, sign kept for narrow integers.
  ir::Type memory() const;
  ir::Width width() const { return ir::width_of(ir()); }
  PType untyped() const { return {Class::bits, bits}; }
  std::string text() const;  ///< ".u32"
  bool operator==(const PType&) const = default;
};

inline constexpr PType kPred{PType::Class::pred, 1};
inline constexpr PType kB16{PType::Class::bits, 16};
inline constexpr PType kB32{PType::Class::bits, 32};
inline constexpr PType kB64{PType::Class::bits, 64};
inline constexpr PType kU32{PType::Class::uint, 32};
inline constexpr PType kS32{PType::Class::sint, 32};
inline constexpr PType kU64{PType::Class::uint, 64};
inline constexpr PType kF16{PType::Class::flt, 16};
inline constexpr PType kF32{PType::Class::flt, 32};
inline constexpr PType kF64{PType::Class::flt, 64};

/// nullopt for what is no type at all.
std::optional<PType> ptype_named(std::string_view name);

/// exact = arithmetic; wider = loads, stores and conversions take wider registers, too.
enum class Fit : uint8_t { exact, wider };
/// May a register of type `reg` stand where the instruction says `want`?
bool fits(PType want, PType reg, Fit fit);

}  // namespace lanewise::ptx
