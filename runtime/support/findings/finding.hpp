// What was found, whoever found it: one shape for text, JSON, SARIF, JUnit, suppressions and
// baselines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lanewise/fault_report.hpp"

namespace lanewise::findings {

/// A place in the program, and what happened there.
struct Place {
  std::string file;  ///< empty: unknown
  uint32_t line = 0, column = 0;
  std::string text;    ///< the instruction
  std::string what;    ///< "store"; may be empty
  std::string thread;  ///< "lane 3 of wave 0 in group (0,0,0)"; empty: no lane's

  /// "FILE:LINE"; "-" when unknown.
  std::string site() const;
};

struct Finding {
  std::string rule;     ///< of rules.hpp
  std::string subject;  ///< the kernel, or the file that was checked
  std::string message;  ///< one line
  std::string report;   ///< all of it, for people
  /// What happened, in its order: the last is where the finding is reported. Never empty.
  std::vector<Place> places;
  uint64_t count = 1;
  /// Why it does not count: "FILE:LINE" of the suppression, of the baseline.
  std::string suppressed, known;
  bool counts() const { return suppressed.empty() && known.empty(); }

  const Place& place() const { return places.back(); }
  /// What makes two findings the same: rule, subject, and each place's site.
  std::string key() const;
};

/// `file` is the input, whose line a fault has where the source is unknown.
Finding of_fault(const FaultReport& fault, const std::string& report, const std::string& file);

/// Of equal findings the first, with the count of all.
class List {
 public:
  void add(Finding finding);
  std::vector<Finding>& all() { return all_; }
  const std::vector<Finding>& all() const { return all_; }
  /// Those that nothing suppresses and no baseline knows.
  uint64_t counted() const;

 private:
  std::vector<Finding> all_;
  std::map<std::string, size_t> by_key_;
};

}  // namespace lanewise::findings
