// The shader library at run time: which functions there are, and how a kernel body that imports
// them becomes one module. Functions and their meaning: shaders/INTERFACE.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv::library {

/// The library is compiled once for each set of features that changes its code.
enum class Variant : uint8_t {
  t0,   ///< 32-bit integers, arena as storage buffer
  t1,   ///< int64, device addresses, 8- and 16-bit storage
  t1a,  ///< t1 and 64-bit integer atomics
  t1f,  ///< t1 and native float64
  t2,   ///< t1 and both
};
inline constexpr Variant kVariants[] = {Variant::t0, Variant::t1, Variant::t1a, Variant::t1f,
                                        Variant::t2};
const char* name(Variant);
Variant variant_for(const Target& target);

/// Types that cross the border. b64 is a 64-bit integer, or a vec2 of words in variant t0.
enum class Kind : uint8_t { none, pred, u32, b64, vec2, vec3, vec4 };

struct Signature {
  std::string name;
  Kind result = Kind::none;
  std::vector<Kind> params;
};

/// The library's function of that name, or null. The same functions exist in every variant;
/// pointers into the arena are u32 in variant t0 and b64 in all others.
const Signature* find(std::string_view name, Variant variant = Variant::t1);
/// All functions, sorted by name.
const std::vector<Signature>& functions(Variant variant = Variant::t1);

/// The part of the library that the named functions reach. Throws Error(guest) for an unknown name.
std::vector<uint32_t> trim(const std::vector<std::string>& names, Variant variant);

/// Resolves the imports of `body` (LinkageAttributes Import). Only functions that the body reaches
/// are in the result. Throws Error(guest) with the linker's message when the two do not fit.
std::vector<uint32_t> link(const std::vector<uint32_t>& body, Variant variant);

/// Specialisation constants, by SpecId.
enum SpecId : uint32_t {
  shared_words = 0,
  local_words = 1,
  lanes = 2,
  shared_in_backing = 3,
  local_in_backing = 11,
  local_start = 12,     ///< words of a slot before local memory
  local_total = 5,      ///< filled in by freeze(): local_words * lanes
  loops = 4,            ///< 1: there are some, on devices that cut them
  loop_marks = 7,       ///< words, one per invocation, on devices that cut loops
  group_words = 8,      ///< words of shared memory for cross-lane operations of whole groups
  wave_levels = 9,      ///< counted loops around a cross-lane operation, at most
  level_words = 10,     ///< filled in by freeze(): wave_levels * lanes, at least 1
  fence_by_atomic = 6,  ///< llvmpipe: memory barriers must not appear in divergent loops
};
/// Turns specialisation constants into plain constants with these values (the others get their
/// defaults). Array lengths of 0 become 1.
std::vector<uint32_t> freeze(const std::vector<uint32_t>& words,
                             std::map<uint32_t, uint32_t> values);

}  // namespace lanewise::spirv::library
