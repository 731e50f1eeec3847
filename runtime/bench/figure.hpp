// One figure of `lanewise bench`.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lanewise::bench {

struct Figure {
  std::string name;  ///< "cache/mix"
  std::string unit;
  double value = 0;
  std::string beside = {};  ///< what it is measured beside, in the same run; empty when alone
  double other = 0;
  double ratio() const { return other == 0 ? 0 : value / other; }
  std::vector<std::pair<std::string, double>> more = {};
  std::string note = {};   ///< what else there is to say
  std::string wrong = {};  ///< why the figure does not count
};

/// A figure that can be measured; the name is matched against --filter first.
struct Benchmark {
  std::string name;
  std::function<Figure(unsigned repeats)> measure;
  /// In a process of its own, which is ended when it takes too long.
  bool alone = false;
};

}  // namespace lanewise::bench
