// Compressed images of fat binaries, by the system's libraries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanewise::host::detail {

/// Nothing where the bytes are broken or do not make `size` ones. Throws Error(usage) in a build
/// without the library.
std::optional<std::string> decompress_lz4(std::string_view in, uint64_t size);
std::optional<std::string> decompress_zstd(std::string_view in, uint64_t size);

}  // namespace lanewise::host::detail
