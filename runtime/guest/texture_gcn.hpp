// What a GCN kernel finds at the address of a texture: the image's descriptor, what OpenCL's
// libraries keep behind it, and its sampler where HIP's libraries look for it; or of a sampler
// alone the sampler's descriptor.
#pragma once

#include <array>

#include "runtime/guest/texture.hpp"

namespace lanewise::guest {

using GcnWords = std::array<uint32_t, 16>;
inline constexpr size_t kSamplerWord = 12;

/// 8 words of T#, or 4 of V# for a texel buffer; channel type, channel order and width; 4 words of
/// S#. Or that S# alone. An image that a T# cannot describe gets one that no instruction takes.
GcnWords gcn_words(const TextureDescription& d);

}  // namespace lanewise::guest
