// What the manual says about PTX loads and stores: where an access goes, how wide it is, what its
// alignment must be and what becomes of the bytes. Shares nothing with the runtime on purpose.
#pragma once

#include <array>
#include <cstdint>

namespace oracle::ptx {

// --- types -----------------------------------------------------------------------------------
enum class Class { untyped, is_unsigned, is_signed, floating };
struct Type {
  Class cls;
  unsigned bits;
};
constexpr unsigned bytes_of(Type t) {
  return t.bits / 8;
}
/// A vector is one access: its alignment and its limit are those of all elements together.
constexpr unsigned bytes_of(Type t, unsigned elements) {
  return bytes_of(t) * elements;
}
/// 128 bits everywhere; 256 bits only in global and generic memory, with 32- and 64-bit elements.
constexpr bool fits(Type t, unsigned elements, bool global_or_generic) {
  const unsigned bits = t.bits * elements;
  return bits <= 128 || (bits == 256 && global_or_generic && (t.bits == 32 || t.bits == 64));
}

// --- address operands ------------------------------------------------------------------------
/// [reg], [reg+imm], [reg+-imm], [reg+imm+imm]: 64-bit sums that wrap; offsets count bytes.
constexpr uint64_t at_register(uint64_t reg, int64_t first = 0, int64_t second = 0) {
  return reg + static_cast<uint64_t>(first) + static_cast<uint64_t>(second);
}
/// [var], [var+imm]: bytes behind the variable.
constexpr uint64_t at_variable(uint64_t variable, int64_t bytes = 0) {
  return variable + static_cast<uint64_t>(bytes);
}
/// var[n], without brackets around it: elements of the declared type, not of the access.
constexpr uint64_t at_element(uint64_t variable, Type declared, int64_t index) {
  return variable + static_cast<uint64_t>(index * int64_t{bytes_of(declared)});
}
/// Element n of a vector lies n elements further on.
constexpr uint64_t at_vector_element(uint64_t address, Type t, unsigned n) {
  return address + uint64_t{n} * bytes_of(t);
}

// --- alignment: undefined by the manual, hence a choice ------------------------------------------
enum class Align { trap, force, any };
struct Place {
  uint64_t address;
  bool faults;
};
constexpr Place aligned(uint64_t address, unsigned bytes, Align rule) {
  const uint64_t below = address % bytes;
  if (rule == Align::force) return {address - below, false};
  return {address, rule == Align::trap && below != 0};
}

// --- values ----------------------------------------------------------------------------------
/// A register of `width` bits after the load of `memory`, the little-endian value of one element.
constexpr uint64_t loaded(Type t, unsigned width, uint64_t memory) {
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (t.bits == 64) return memory & all;
  const uint64_t value = memory % (uint64_t{1} << t.bits);
  const bool negative = value / (uint64_t{1} << (t.bits - 1)) != 0;
  if (t.cls == Class::is_signed && negative) return (value - (uint64_t{1} << t.bits)) & all;
  return value;
}
/// Byte n of memory after a store: the low bits of the register.
constexpr uint8_t stored(uint64_t reg, unsigned n) {
  return static_cast<uint8_t>(reg >> (8 * n) & 0xff);
}
/// The register holds at least the type's bits: exactly them for floating-point types.
constexpr bool register_fits(Type t, Class reg, unsigned width) {
  if (t.cls == Class::untyped) return width >= t.bits;
  if (t.cls == Class::floating)
    return reg == Class::floating ? width == t.bits : reg == Class::untyped && width >= t.bits;
  return reg != Class::floating && width >= t.bits;
}

// Witnesses.
constexpr Type kU8{Class::is_unsigned, 8}, kS8{Class::is_signed, 8}, kB8{Class::untyped, 8};
constexpr Type kS16{Class::is_signed, 16}, kS32{Class::is_signed, 32}, kB32{Class::untyped, 32};
constexpr Type kF32{Class::floating, 32}, kB64{Class::untyped, 64}, kB128{Class::untyped, 128};
static_assert(at_element(0x1000, kB32, 2) == 0x1008);  // arr[2] of .b32 is at +8
static_assert(at_element(0x1000, kB8, 12) == 0x100c);  // arb[12] of .b8 is at +12
static_assert(at_variable(0x1000, 2) == 0x1002);       // [var+2] counts bytes
static_assert(at_element(0x1000, kB32, -1) == 0xffc);
static_assert(at_register(0x1000, 4, 4) == 0x1008 && at_register(4, -8) == ~uint64_t{3});
static_assert(at_register(0x10, int64_t{1} << 32) == 0x1'0000'0010);  // offsets beyond 32 bits
static_assert(at_vector_element(0x100, kS16, 3) == 0x106);
static_assert(loaded(kS8, 32, 0x80) == 0xffffff80 && loaded(kU8, 32, 0x80) == 0x80);
static_assert(loaded(kB8, 64, 0xff) == 0xff && loaded(kS8, 16, 0xff) == 0xffff);
static_assert(loaded(kS32, 64, 0x80000000) == 0xffffffff80000000);
static_assert(loaded(kB32, 64, 0x80000000) == 0x80000000 && loaded(kS8, 64, 0x7f) == 0x7f);
static_assert(stored(0x11223344, 0) == 0x44 && stored(0x11223344, 3) == 0x11);
static_assert(aligned(0x1003, 4, Align::force).address == 0x1000);
static_assert(aligned(0x1008, 16, Align::trap).faults && !aligned(0x1008, 8, Align::trap).faults);
static_assert(aligned(0x1003, 4, Align::any).address == 0x1003);
static_assert(fits(kB32, 4, false) && !fits(kB32, 8, false) && fits(kB32, 8, true));
static_assert(!fits(kB128, 2, true) && fits(kB64, 4, true) && !fits(kB64, 4, false));
static_assert(fits(kU8, 8, false) && fits(kS16, 8, false));
static_assert(register_fits(kB32, Class::floating, 32) && register_fits(kF32, Class::untyped, 64));
static_assert(!register_fits(kF32, Class::is_unsigned, 32) &&
              register_fits(kU8, Class::is_signed, 64));

}  // namespace oracle::ptx
