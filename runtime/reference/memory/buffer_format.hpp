// Conversions of GCN typed buffer accesses; the rules: docs/gcn.md. The host rounds to nearest.
#pragma once

#include <array>
#include <cstdint>

namespace lanewise::reference {

/// The format word has descriptor word 3's layout: DST_SEL, NUM_FORMAT, DATA_FORMAT. `mode` has
/// ir::FormatMode bits.
using Texel = std::array<uint32_t, 4>;

/// Bytes of one element, 0 for the codes without a format.
uint32_t format_bytes(uint32_t format);
/// Combinations that are documented for reading or, with the bit `store`, for writing.
bool format_legal(uint32_t format, uint32_t mode);
/// Element in memory -> registers.
Texel format_unpack(const Texel& raw, uint32_t format, bool in_range, uint32_t mode);
/// f32 bits of 8 bits with the sRGB curve; higher bits are not looked at.
uint32_t srgb_to_float(uint32_t component);
/// Registers -> element in memory.
Texel format_pack(const Texel& data, uint32_t format, uint32_t mode);

}  // namespace lanewise::reference
