// `--arg SPEC`: scalars and array files as kernel arguments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/lanewise.hpp"
#include "runtime/support/npy.hpp"

namespace lanewise::cli {

using npy::Array;
using npy::element_size;
using npy::read_array;
using npy::write_array;

struct ArgSpec {
  enum class Kind { scalar, in, out, inout, zero, local, texture };
  Kind kind = Kind::scalar;
  std::vector<std::byte> scalar;  ///< bytes of the value
  bool integer = false, real = false, is_signed = false;
  Arg value() const;     ///< of a scalar
  Array array;           ///< contents (in, inout) or type and shape, zero-filled (out, zero)
  std::string path;      ///< the file it came from or goes to, for messages and names
  std::string write_to;  ///< out, inout: file written after the run
  bool prints = false;   ///< out: its values are printed after the run
  uint64_t local_bytes = 0;
  TextureOptions texture;  ///< `array` has the texels
};

/// What a SPEC begins with, each with its colon.
std::vector<std::string> arg_beginnings();

/// Reads input files too. Error(usage) names the SPEC and what was expected.
ArgSpec parse_arg(const std::string& text);

}  // namespace lanewise::cli
