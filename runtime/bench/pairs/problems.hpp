// Inputs of the benchmarks with what must come out. Floats are small integers where an algorithm
// allows it: then sums are exact in every order, and results are compared bit for bit.
#pragma once

#include "runtime/bench/pairs/pair.hpp"

namespace lanewise::bench {

inline constexpr uint32_t kWordCount = 1 << 20;
inline constexpr uint32_t kGroupCount = 256;
inline constexpr uint32_t kSide = 1024;
inline constexpr uint32_t kFractalSide = 512;
inline constexpr uint32_t kMatrixSide = 256;
inline constexpr uint32_t kTilesSide = 128;
inline constexpr uint32_t kBodyCount = 1024;

// problems_memory.cpp
Problem copy_words();
Problem copy_vectors();
Problem saxpy();
Problem gather();
Problem transpose();
Problem stencil();
Problem unpack();
Problem table();
Problem nearest_numbers();
Problem nearest_colours();
Problem bilinear_numbers();
Problem bilinear_colours();
// problems_group.cpp
Problem reduce_strided();
Problem reduce_halves();
Problem histogram_of_words();
Problem histogram_of_bytes();
Problem scan();
Problem atomics();
Problem compact();
// problems_compute.cpp
Problem sgemm();
Problem matrix_tiles();
Problem mandelbrot();
Problem nbody();
Problem sums_of_doubles();
Problem mix_words();

}  // namespace lanewise::bench
