// The CTest program: ends with 0 if all sums are right.
#include "sums.h"

#include <cstdio>
#include <vector>

int main() {
  constexpr int kRows = 300, kColumns = 7;
  std::vector<float> values(kRows * kColumns), sums(kRows);
  for (int i = 0; i < kRows * kColumns; ++i) values[i] = static_cast<float>(i % 11);
  int wrong = row_sums(values.data(), sums.data(), kRows, kColumns) != 0 ? kRows : 0;
  for (int row = 0; row < kRows; ++row) {
    float expected = 0;
    for (int column = 0; column < kColumns; ++column) expected += values[row * kColumns + column];
    wrong += sums[row] != expected ? 1 : 0;
  }
  std::printf("%d of %d sums are wrong\n", wrong, kRows);
  return wrong != 0 ? 1 : 0;
}
