// What a matrix unit makes of one row and one column: inputs that show how it adds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/hardware/truth/matrix.hpp"

namespace lanewise::truth {

/// c + the sum of a[k] b[k]; elements that are not named are 0. Bits of each type.
struct Dot {
  struct Product {
    unsigned k = 0;
    uint32_t a = 0, b = 0;
  };
  uint32_t c = 0;
  std::vector<Product> products;
};

/// The buffers of a launch of `matrix_kernel` that computes each of them in a group of its own, and
/// the results in it. Only for shapes of 16 x 8, dense.
Job dot_job(const std::string& header, const MatrixForm& f, const std::vector<Dot>& dots);
std::vector<uint32_t> dot_results(const MatrixForm& f, const Words& out, size_t count);

/// As a table file has it: c, then k, a and b of each product.
Words dot_words(const Dot& dot);
Dot dot_of_words(const Words& words);

/// Probes by name, and what their results say of the unit.
std::vector<std::pair<std::string, Dot>> probes_of(const MatrixForm& f);
std::map<std::string, std::string> findings_of(const MatrixForm& f,
                                               const std::map<std::string, uint32_t>& results);

}  // namespace lanewise::truth
