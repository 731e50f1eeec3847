// What a GCN kernel finds at the address of a texture: the image's descriptor and what OpenCL's
// libraries keep behind it, or of a sampler alone the sampler's descriptor.
#pragma once

#include <array>

#include "runtime/guest/texture.hpp"

namespace lanewise::guest {

/// 8 words of T#, channel type, channel order and width; or 4 words of S#. An image that a T#
/// cannot describe gets one that no instruction takes.
std::array<uint32_t, 12> gcn_words(const TextureDescription& d);

}  // namespace lanewise::guest
