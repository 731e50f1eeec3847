// The descriptors of images (T#) and samplers (S#) as the words of ir/texture.hpp.
#pragma once

#include <array>

#include "runtime/ir/passes/textures/fold.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

using Fold = ir::textures::Fold;

/// What a T# says.
struct ImageState {
  std::array<ir::Operand, ir::kImageWords> words;
  ir::Operand usable;  ///< there is an image, its layout is linear, its format one that is known
  ir::Operand one, three, cube;     ///< how many coordinates there are; of none of these, two
  ir::Operand first_layer, layers;  ///< of the view
  ir::Operand number_format;
  ir::Operand bytes;                   ///< of a texel
  ir::Operand min_lod;                 ///< with 8 bits behind the point
  ir::Operand base_level, last_level;  ///< of the chain that the view begins in

  ir::Operand word(ir::image::Word w) const { return words[w]; }
};

/// Reads the T# of an instruction. One that cannot be used is reported, and a null one is not.
ImageState image_state(LowerContext& c, const Instruction& i);
/// The words of the S#.
std::array<ir::Operand, ir::kSamplerWords> sampler_words(LowerContext& c, const Instruction& i,
                                                         const ImageState& image);
/// ir::FormatMode bits of the instruction.
uint8_t format_mode(const LowerContext& c, const Instruction& i);
/// A sticky report of illegal_encoding by the active lanes where this holds.
void report_encoding(LowerContext& c, ir::Operand when);

}  // namespace lanewise::gcn
