// Coordinates, address modes and levels of detail.
#pragma once

#include <optional>

#include "runtime/ir/passes/textures/image.hpp"

namespace lanewise::ir::textures {

/// The sources of sample and gather by name.
struct Sources {
  std::array<Operand, kSamplerWords> sampler;
  std::array<Operand, 3> at;  ///< x, y, z
  Operand layer;
  std::optional<Operand> level, bias, least, compare;
  std::array<Operand, 6> gradient;
  std::array<Operand, 3> offset;  ///< 0 where the access has none
};
Sources take_sources(const Inst& inst);

/// The two texels of an axis that a coordinate lies between; one where nothing is filtered.
struct AxisPlace {
  std::array<Operand, 2> index;            ///< inside the image
  std::array<Operand, 2> inside;           ///< else the border
  Operand high_weight;                     ///< of 256
  std::optional<Operand> high_share = {};  ///< the same as f32 from 0 to 1, where it was made so
};
struct Footprint {
  std::array<AxisPlace, 3> axes;
  Operand layer;
};
struct LevelOfDetail {
  Operand first, second;  ///< second: immediate 0 where there is surely none
  Operand fraction;       ///< weight of the second, of 256
  Operand linear;         ///< texels are filtered
};
struct Place {
  Operand x, y, slice, inside;
};

class Coordinates {
 public:
  Coordinates(Fold& f, const TextureAccess& access, Image& image, const Sources& sources,
              FilterRule rule);

  LevelOfDetail level_of_detail();
  Footprint footprint(const Level& level, Operand linear);
  /// Of integer coordinates.
  Operand integer_level();
  Place texel(const Level& level);

 private:
  Operand state(uint32_t mask) { return f_.bit(s_.sampler[sampler::state], mask); }
  Operand address_mode(unsigned axis);
  struct Folded {
    Operand at, reversed;
  };
  Folded folded(Operand coordinate, Operand mode);
  AxisPlace axis(unsigned n, Operand size, Operand linear);
  AxisPlace clamped_axis(Operand x, Operand size, bool linear);
  Operand wrapped(Operand index, Operand size);
  void resolve(AxisPlace& place, Operand size, Operand mode);
  Operand gradient_level();
  Operand clamped(Operand index, Operand size);
  void face_of_cube();

  Fold& f_;
  const TextureAccess& access_;
  Image& image_;
  const Sources& s_;
  FilterRule rule_;
  std::array<Operand, 3> at_;
  Operand layer_;
};

}  // namespace lanewise::ir::textures
