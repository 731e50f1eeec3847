// `--arg tex:FILE[:KEY=VALUE,...]`: an array file as the texels of a texture.
#pragma once

#include <string>

#include "lanewise/lanewise.hpp"
#include "runtime/support/npy.hpp"

namespace lanewise::cli {

struct TextureSpec {
  TextureOptions options;
  std::string write_to;  ///< the file that the texels are written to after the run
};

/// What the keys say of a texture with these texels. Error(usage) names SPEC and what was expected.
TextureSpec parse_texture(const std::string& spec, const npy::Array& array,
                          const std::string& keys);

}  // namespace lanewise::cli
