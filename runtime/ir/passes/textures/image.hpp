// Where the texels of an image lie, and how they are read and written.
#pragma once

#include <array>
#include <span>

#include "runtime/ir/passes/textures/fold.hpp"
#include "runtime/ir/texture.hpp"

namespace lanewise::ir::textures {

using Values = std::array<Operand, 4>;

/// Sizes and pitches of one level.
struct Level {
  Operand width, height, depth;  ///< texels
  Operand start, row, slice;     ///< bytes: b64, b32, b64
};

class Image {
 public:
  /// `words` as ir/texture.hpp lists them.
  Image(Fold& f, const TextureAccess& access, std::span<const Operand> words);

  Operand word(image::Word w) const { return words_[w]; }
  /// More than one dimension, and three; immediates unless the access is `described`.
  Operand has_y() const { return has_y_; }
  Operand has_z() const { return has_z_; }
  Operand has_layers() const { return has_layers_; }
  Operand first_level();
  Operand last_level();
  Operand bytes() const { return bytes_; }
  /// Integers cannot be filtered.
  Operand integer_format();
  /// `level` counts from the base of the chain.
  Level level(Operand level);
  Operand address(const Level& level, Operand x, Operand y, Operand slice);

  /// Texels are numbers, no infinities.
  bool finite() const;
  /// What raw words hold that, as a texel times 0, change no sum that began with -0; nothing where
  /// no words are known to.
  std::optional<uint32_t> neutral() const;
  using Raw = std::array<Reg, 4>;
  /// The words of the texel at the address, which is one of the image's whatever `when` says; each
  /// is `otherwise` where it does not hold.
  Raw read_if(const Inst& like, Operand address, Operand when, uint32_t otherwise);
  /// The same converted.
  Values converted(const Inst& like, const Raw& raw, Operand may);
  /// The converted texel at the address; zeros as the format has them where `may` does not hold.
  Values load(const Inst& like, Operand address, Operand may);
  void store(const Inst& like, Operand address, Operand may, const Values& values);

 private:
  struct Part;
  Raw read(Mem memory, Operand address, Operand when, uint32_t otherwise);
  template <typename Access>
  void for_each_part(Operand may, const Access& access);
  static Mem part_of(Mem memory, const Part& part);
  std::optional<Values> words(const Inst& like, const Values& raw, Operand may);
  std::optional<Values> fractions(const Inst& like, const Values& raw, Operand may);
  Operand of_255(Operand c);
  Values unpack(const Inst& like, const Values& raw, Operand may);
  void apply_srgb(Values& texel);
  Operand rounded_up(Operand size, Operand power_of_two);
  void next_level(Level& l, Operand number, Operand padded);

  Fold& f_;
  std::array<Operand, kImageWords> words_;
  Operand bytes_, has_y_, has_z_, has_layers_;
};

}  // namespace lanewise::ir::textures
