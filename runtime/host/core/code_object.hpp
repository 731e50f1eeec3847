// Variables of AMD's code objects, which are parts of one image in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lanewise::core {

/// The variable of a module that a code object's image is.
inline constexpr const char* kCodeObjectImage = "code object";

struct CodeSymbol {
  uint64_t offset = 0, bytes = 0;  ///< from the image's first byte on
};
/// Nothing where the bytes are no code object, or have no such symbol.
std::optional<CodeSymbol> symbol_in(const void* data, size_t bytes, const std::string& name);

}  // namespace lanewise::core
