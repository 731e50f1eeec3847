// How a lane writes down its memory events: a stream of 32-bit words, the same in shaders
// (shaders/lib/trace.glsl) and in the reference engine. docs/events.md describes it.
//
//   one word:    payload << code_bits | number of the trace point
//   three words: point << code_bits | escape code, address low, address high
//
// The payload is the byte offset in the arena (in local memory: the offset there), without the low
// bits that the access's alignment makes zero. A word of 0 ends the stream.
#pragma once

#include <algorithm>
#include <bit>

#include "runtime/ir/ir.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {

// Bits of a trace form. Bits 0-4: code bits; bits 8-11: dropped low bits of the address.
inline constexpr uint32_t kFormDropShift = 8;
inline constexpr uint32_t kFormArena = 1U << 16;      ///< the payload counts from the arena's start
inline constexpr uint32_t kFormAnywhere = 1U << 17;   ///< addresses that nothing maps count, too
inline constexpr uint32_t kFormWindows = 1U << 18;    ///< generic: the shared and local windows
inline constexpr uint32_t kFormForce = 1U << 19;      ///< low bits are dropped, else they fault
inline constexpr uint32_t kFormNoAddress = 1U << 20;  ///< fences and the like
// Of all points of a launch; what no lane can want need not be looked for.
inline constexpr uint32_t kFormFits = 1U << 21;   ///< the events of each lane fit
inline constexpr uint32_t kFormShort = 1U << 22;  ///< every event is one word

inline uint32_t event_form(const ir::Inst& inst, uint32_t code_bits) {
  uint32_t form = code_bits;
  if (inst.src.empty()) return form | kFormNoAddress;
  const ir::Mem& mem = *inst.mem;
  const bool access = inst.op != ir::Op::cachectl;
  if (!access) form |= kFormAnywhere;
  if (mem.space == ir::Space::generic) form |= kFormWindows;
  if (!ir::wide_space(mem.space)) return form;
  form |= kFormArena;
  if (!access || mem.align == ir::AlignRule::any) return form;
  const uint32_t alignment = std::min(std::bit_ceil(mem.alignment()), 64U);
  form |= static_cast<uint32_t>(std::countr_zero(alignment)) << kFormDropShift;
  return mem.align == ir::AlignRule::force ? form | kFormForce : form;
}

/// Writes the words of one event; returns how many (0: the access faults for sure, nothing is
/// reported).
inline unsigned encode_event(uint32_t form, uint32_t point, uint64_t address, uint64_t arena_size,
                             uint32_t* words) {
  const uint32_t bits = form & 31, drop = form >> kFormDropShift & 15;
  const uint32_t escape = (1U << bits) - 1;
  words[0] = point;
  if ((form & kFormNoAddress) != 0) return 1;
  const uint64_t low = (uint64_t{1} << drop) - 1;
  uint64_t offset = address;
  if ((form & kFormArena) != 0) {
    offset = address - kArenaBase;
    const bool window = (form & kFormWindows) != 0 && (address >> 24 == 1 || address >> 24 == 2);
    const bool inside = offset < arena_size;
    if (!inside && !window && (form & kFormAnywhere) == 0) return 0;
    if ((address & low) != 0 && (form & kFormForce) == 0) return 0;
    if (!inside) offset = ~uint64_t{0};
  }
  if (offset <= ~uint32_t{0} && offset >> drop <= ~uint32_t{0} >> bits) {
    words[0] |= static_cast<uint32_t>(offset >> drop) << bits;
    return 1;
  }
  address &= ~low;
  words[0] = point << bits | escape;
  words[1] = static_cast<uint32_t>(address);
  words[2] = static_cast<uint32_t>(address >> 32);
  return 3;
}

}  // namespace lanewise::guest
