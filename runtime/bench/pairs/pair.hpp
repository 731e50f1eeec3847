// A guest kernel beside hand-written GLSL for the same algorithm, and the problem that both solve.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace lanewise::bench {

using Bytes = std::vector<std::byte>;

/// What the kernels work on, in terms of the hand-written ones: pointers p0 to p3, integers i0 to
/// i3 and a float f0 (shaders/native/common.glsl).
struct Problem {
  std::vector<Bytes> buffers;  ///< contents before, p0 first
  std::vector<int32_t> integers;
  float number = 0;
  /// The host's model: what is wrong with the contents after; empty when nothing is.
  std::function<std::string(const std::vector<Bytes>&)> wrong;
};

/// A texture of the module, whose texels are those of p0 in kSide columns and rows: a float each,
/// or four bytes that are read as numbers of 0 to 1. Coordinates count texels and are clamped.
struct TextureOfPair {
  const char* name = nullptr;  ///< none without
  bool linear = false, bytes = false;
};

struct Pair {
  std::string name;  ///< "saxpy", "saxpy.gcn"
  Isa isa = Isa::ptx;
  const char* file = nullptr;  ///< of runtime/bench/guest
  const char* kernel = nullptr;
  /// The guest's parameters in order: "p0" and so on a pointer, "i0", "f0", "v0" a buffer
  /// descriptor of the words at p0, "t0" one of its texels of four bytes that are read as numbers
  /// of 0 to 1.
  const char* parameters = nullptr;
  const char* glsl = nullptr;        ///< of shaders/native
  const char* glsl_small = nullptr;  ///< where subgroups are smaller than the 32 that `glsl` needs
  TextureOfPair texture;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  Problem (*problem)() = nullptr;
  bool crosses_lanes = false;
  bool doubles = false;
  bool own = false;  ///< not of the fourteen that targets are stated for
  const char* accumulate =
      nullptr;  ///< policy mma.accumulate, where it is another than the default
};

/// All of them; PTX first.
const std::vector<Pair>& all_pairs();
std::vector<Pair> ptx_pairs();
std::vector<Pair> sass_pairs();
std::vector<Pair> gcn_pairs();

LaunchOptions launch_options(const Pair& pair, Memcheck memcheck);

}  // namespace lanewise::bench
