// Texture operations whose block's class is known at a launch: format, filter, address modes and
// levels, but neither addresses nor sizes, which change with every image. Of those it may be known
// that what they describe lies in memory.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/ir/texture.hpp"

namespace lanewise::ir {

/// Where a kernel has a handle from: a parameter of 64 bits, or the address of a variable.
struct TextureHandle {
  bool parameter = false;
  uint64_t value = 0;  ///< byte offset of the parameter, or the address
  bool operator==(const TextureHandle&) const = default;
};
/// Those of its texture operations, as far as it says so.
std::vector<TextureHandle> texture_handles(const Program& program);

/// What the launch may do without being asked: nothing changes that while it runs.
enum class TexelMemory : uint8_t {
  unknown,
  block,     ///< read the block
  readable,  ///< and every texel that the block's words describe
  writable,  ///< and write them
};

/// A word of the block, as far as `mask` says.
struct KnownWord {
  uint32_t number = 0, value = 0, mask = 0xffffffff;
};
struct KnownBlock {
  TextureHandle handle;
  std::vector<KnownWord> words;
  TexelMemory memory = TexelMemory::unknown;
};
/// In front of expand_textures(): what is known is used. False where nothing is.
bool specialise_textures(Program& program, std::span<const KnownBlock> known);

}  // namespace lanewise::ir
