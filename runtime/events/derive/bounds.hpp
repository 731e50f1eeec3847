// What lanes that have answered tests are known to be.
#pragma once

#include <algorithm>

#include "runtime/events/derive/form.hpp"

namespace lanewise::events {

/// What the answers of lanes say about a sum of coordinates. The first factor is positive.
struct Bounds {
  std::array<int64_t, kCoordinates> factor{};
  int64_t low = 0, high = 0;
};

/// The sum of a test as one of these, with its sign, and a constant.
struct Sum {
  std::array<int64_t, kCoordinates> factor;
  int64_t constant = 0;
  bool negated = false;

  explicit Sum(const Form& form)
      : factor(form.factor), constant(static_cast<int64_t>(form.constant)) {
    const auto first = std::ranges::find_if(factor, [](int64_t k) { return k != 0; });
    negated = first != factor.end() && *first < 0;
    if (negated)
      for (int64_t& k : factor) k = -k;
  }
  std::pair<int64_t, int64_t> whole(const Bounds& b) const {
    return negated ? std::pair(constant - b.high, constant - b.low)
                   : std::pair(constant + b.low, constant + b.high);
  }
  void at_most(Bounds& b, int64_t most) const {
    if (negated)
      b.low = std::max(b.low, constant - most);
    else
      b.high = std::min(b.high, most - constant);
  }
  void at_least(Bounds& b, int64_t least) const {
    if (negated)
      b.high = std::min(b.high, constant - least);
    else
      b.low = std::max(b.low, least - constant);
  }
};

}  // namespace lanewise::events
