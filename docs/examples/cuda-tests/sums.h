#pragma once

/// Sums of the rows of a matrix, on a GPU; 0, or an error of CUDA.
extern "C" int row_sums(const float* values, float* sums, int rows, int columns);
