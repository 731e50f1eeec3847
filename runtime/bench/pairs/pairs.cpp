// The table of pairs. Names with an ending are of another instruction set than PTX, or `.unrolled`.
#include <iterator>

#include "runtime/bench/pairs/pair.hpp"
#include "runtime/bench/pairs/problems.hpp"

namespace lanewise::bench {
namespace {

/// A row of a table; `shape` is how often and how large.
struct Shape {
  Dim3 grid, block;
};
constexpr Shape kWords{{kWordCount / 256}, {256}};  // one word an invocation
constexpr Shape kVectors{{kWordCount / 4 / 256}, {256}};
constexpr Shape kGroups{{kGroupCount}, {256}};  // loops over the words
constexpr Shape kHalves{{kWordCount / 512}, {256}};
constexpr Shape kPicture{{kSide / 16, kSide / 16}, {16, 16}};
constexpr Shape kFractal{{kFractalSide / 16, kFractalSide / 16}, {16, 16}};
constexpr Shape kMatrix{{kMatrixSide / 16, kMatrixSide / 16}, {16, 16}};
constexpr Shape kTiles{{kSide / 32, kSide / 32}, {32, 8}};
constexpr Shape kBodies{{kBodyCount / 256}, {256}};

struct Row {
  const char* kernel;
  const char* parameters;
  const char* glsl;
  Shape shape;
  Problem (*problem)();
};

Pair to_pair(const Row& row, Isa isa, const char* file, const char* ending) {
  Pair p;
  p.name = std::string(row.kernel) + ending;
  p.isa = isa;
  p.file = file;
  p.kernel = row.kernel;
  p.parameters = row.parameters;
  p.glsl = row.glsl;
  p.grid = row.shape.grid;
  p.block = row.shape.block;
  p.problem = row.problem;
  p.own = isa != Isa::ptx;
  return p;
}

/// Pictures of another size by textures, beside the same texels of a buffer.
std::vector<Pair> texture_pairs() {
  struct Resize {
    const char* name;
    bool linear, bytes;
    Problem (*problem)();
  };
  const Resize rows[] = {{"nearest", false, false, nearest_numbers},
                         {"nearest4", false, true, nearest_colours},
                         {"bilinear", true, false, bilinear_numbers},
                         {"bilinear4", true, true, bilinear_colours}};
  std::vector<Pair> all;
  for (const Resize& r : rows) {
    const char* const kernel = r.bytes ? "resize_colours" : "resize";
    Pair& p = all.emplace_back(
        to_pair({kernel, "p1 f0 i2", r.name, kPicture, r.problem}, Isa::ptx, "textures.ptx", ""));
    p.name = r.name;
    p.texture = {r.bytes ? "colours" : "numbers", r.linear, r.bytes};
    p.own = true;
  }
  return all;
}

/// A product of matrices of f16 by mma.m16n8k16: sums by fma, as the GLSL makes them, and by the
/// rule of the module's target.
std::vector<Pair> matrix_pairs() {
  constexpr Shape kShape{{kTilesSide / 64, kTilesSide / 16}, {256}};
  std::vector<Pair> all;
  for (const bool fma : {true, false}) {
    Pair& p =
        all.emplace_back(to_pair({"mma_tiles", "p0 p1 p2 i0", "mma_tiles", kShape, matrix_tiles},
                                 Isa::ptx, "matrix.ptx", fma ? ".fma" : ""));
    p.glsl_small = "mma_tiles_narrow";
    if (fma) p.accumulate = "fma";
    p.own = p.crosses_lanes = true;
  }
  return all;
}

}  // namespace

std::vector<Pair> ptx_pairs() {
  const Row fourteen[] = {
      {"copy1", "p0 p1 i0", "copy1", kWords, copy_words},
      {"copy4", "p0 p1 i0", "copy4", kVectors, copy_vectors},
      {"saxpy", "i0 f0 p0 p1", "saxpy", kWords, saxpy},
      {"gather", "p0 p1 p2 i0", "gather", kWords, gather},
      {"transpose", "p0 p1 i0 i1", "transpose", kPicture, transpose},
      {"reduce", "p0 p1 i0", "reduce", kGroups, reduce_strided},
      {"reduce_shfl", "p0 p1 i0", "reduce_shfl", kGroups, reduce_strided},
      {"sgemm", "p0 p1 p2 i0", "sgemm", kMatrix, sgemm},
      {"hist", "p0 p1 i0", "hist", kGroups, histogram_of_words},
      {"mandel", "p0 i0 i1 i2", "mandel", kFractal, mandelbrot},
      {"nbody", "p0 p1 i0", "nbody", kBodies, nbody},
      {"compact", "p0 p1 p2 i0", "compact", kWords, compact},
      {"dsum", "p0 p1 i0", "dsum", kWords, sums_of_doubles},
      {"sha", "p0 p1 i0", "sha", kWords, mix_words},
  };
  const Row own[] = {
      {"stencil", "p0 p1 i0 i1", "stencil", kPicture, stencil},
      {"scan", "p0 p1", "scan", kWords, scan},
      {"atomics", "p0 p1 i0", "atomics", kWords, atomics},
  };
  // nvcc unrolls two of the loops, and drivers count a loop's body alike whatever its trips: beside
  // GLSL that does the same one sees what translation alone costs.
  const Row unrolled[] = {
      {"nbody", "p0 p1 i0", "nbody_unrolled", kBodies, nbody},
      {"sha", "p0 p1 i0", "sha_unrolled", kWords, mix_words},
  };
  std::vector<Pair> all;
  for (const Row& row : fourteen) all.push_back(to_pair(row, Isa::ptx, "fourteen.ptx", ""));
  for (Pair& p : all) {
    p.crosses_lanes = p.name == "reduce_shfl" || p.name == "compact";
    p.doubles = p.name == "dsum";
    if (p.name == "reduce_shfl") p.glsl_small = "reduce";
  }
  for (const Row& row : unrolled)
    all.push_back(to_pair(row, Isa::ptx, "fourteen.ptx", ".unrolled"));
  for (const Row& row : own) all.push_back(to_pair(row, Isa::ptx, "own.ptx", ""));
  for (size_t i = std::size(fourteen); i < all.size(); ++i) all[i].own = true;
  for (const auto& more : {texture_pairs(), matrix_pairs()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Pair> sass_pairs() {
  const Row rows[] = {
      {"saxpy", "i0 f0 p0 p1", "saxpy", kWords, saxpy},
      {"transpose", "p0 p1 i0 i1", "transpose32", kTiles, transpose},
      {"reduce", "p0 p1 i0", "reduce512", kHalves, reduce_halves},
      {"hist", "p0 p1 i0", "hist8", kGroups, histogram_of_bytes},
  };
  std::vector<Pair> all;
  for (const Row& row : rows) all.push_back(to_pair(row, Isa::sass, "maxwell.sass", ".sass"));
  // The text of SASS does not say how much shared memory its kernels have.
  all[1].dynamic_shared = 32 * 33 * 4;
  all[2].dynamic_shared = all[3].dynamic_shared = 256 * 4;
  return all;
}

std::vector<Pair> gcn_pairs() {
  const Row rows[] = {
      {"saxpy", "p0 p1 i0 f0", "saxpy", kWords, saxpy},
      {"gather", "p0 p1 p2 i0", "gather", kWords, gather},
      {"transpose", "p0 p1 i0 i1", "transpose", kPicture, transpose},
      {"reduce", "p0 p1 i0", "reduce512", kHalves, reduce_halves},
      {"hist", "p0 p1 i0 i1", "hist", kGroups, histogram_of_words},
      {"stencil", "p0 p1 i0 i1", "stencil", kPicture, stencil},
      {"scan", "p0 p1", "scan", kWords, scan},
      {"unpack", "t0 p1 i0 f0", "unpack", kWords, unpack},
      {"table", "v0 v1 v2 i0", "table", kWords, table},
  };
  std::vector<Pair> all;
  for (const Row& row : rows) all.push_back(to_pair(row, Isa::gcn, "own.gfx600.s", ".gcn"));
  return all;
}

const std::vector<Pair>& all_pairs() {
  static const std::vector<Pair> all = [] {
    std::vector<Pair> pairs = ptx_pairs();
    for (const auto& more : {sass_pairs(), gcn_pairs()})
      pairs.insert(pairs.end(), more.begin(), more.end());
    return pairs;
  }();
  return all;
}

LaunchOptions launch_options(const Pair& pair, Memcheck memcheck) {
  LaunchOptions options{.grid = pair.grid, .block = pair.block};
  options.dynamic_shared = pair.dynamic_shared;
  options.memcheck = memcheck;
  if (pair.accumulate != nullptr) options.policies = {{"mma.accumulate", pair.accumulate}};
  return options;
}

}  // namespace lanewise::bench
