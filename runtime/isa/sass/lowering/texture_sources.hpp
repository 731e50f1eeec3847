// Handles of textures and surfaces, and the words of the blocks that they lead to.
#pragma once

#include "runtime/ir/texture.hpp"
#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/layout/texture_block.hpp"

namespace lanewise::sass {

using Words = std::vector<Operand>;

/// Addresses of the blocks that describe an image and a sampler; one block does both, but for
/// modules whose samplers are variables of their own.
struct Handle {
  Operand image, sampler;
};
/// The 64-bit handle of a texture or surface that an instruction names by number: the word of bank
/// 0 that the number counts, which holds a parameter, or what the loader put there for a reference.
Handle numbered_handle(LowerContext& c, unsigned number);
/// The handle that a register holds. Handles fit in 32 bits.
Handle register_handle(LowerContext& c, Operand value);

/// `count` words of the block, at most four.
Words block_words(LowerContext& c, Operand handle, guest::TextureWord first, uint32_t more,
                  unsigned count);
/// The words of ir/texture.hpp. A handle that leads to no block is a fault.
Words image_words(LowerContext& c, Operand handle, bool levels);
Words sampler_words(LowerContext& c, Operand handle);

/// Registers one after another, as an instruction takes them for one of its operands.
class Sources {
 public:
  Sources(LowerContext& c, unsigned first) : c_(c), next_(first) {}
  /// RZ stands for any number of zeros.
  Operand take() { return c_.readable(next_ >= kRZ ? kRZ : next_++); }
  /// A layer is the lower half of its register.
  Operand take_layer();

 private:
  LowerContext& c_;
  unsigned next_;
};

/// Registers from `first` on take the values; from RZ on nobody does.
void put_registers(LowerContext& c, unsigned first, const std::vector<Reg>& values);

}  // namespace lanewise::sass
