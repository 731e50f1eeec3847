// The compiled GLSL library, one SPIR-V module per variant. runtime/spirv/binary/library.hpp uses
// it.
#pragma once

#include <cstdint>
#include <span>

namespace lanewise::shaders {

std::span<const uint32_t> library_t0();   ///< 32-bit integers only, arena as storage buffer
std::span<const uint32_t> library_t1();   ///< int64, device addresses, 8- and 16-bit storage
std::span<const uint32_t> library_t1a();  ///< T1 and 64-bit integer atomics
std::span<const uint32_t> library_t1f();  ///< T1 and native float64
std::span<const uint32_t> library_t2();   ///< T1 and both

}  // namespace lanewise::shaders
