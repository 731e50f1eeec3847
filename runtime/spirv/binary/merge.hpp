// A translated kernel and the part of the shader library that it calls become one module.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::spirv {

/// The body's functions without code are those that the part exports under the names that the body
/// imports. Ids of the body stay. In time linear in both, for what a general linker makes of ids
/// and their uses takes several times as long as all the rest of a translation.
std::vector<uint32_t> merge(const std::vector<uint32_t>& body, const std::vector<uint32_t>& part);

}  // namespace lanewise::spirv
