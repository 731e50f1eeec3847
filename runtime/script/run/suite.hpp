// A folder of stream scripts run on one device, counted by family: the conformance suite.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/script/script.hpp"

namespace lanewise::script {

struct FamilyCount {
  std::string name;  ///< of the script, without folder and ending
  size_t passed = 0, failed = 0, unsupported = 0;
  size_t left_out = 0;  ///< of the sample, or of the time
};

struct SuiteCount {
  std::vector<FamilyCount> families;  ///< in order of name
  size_t passed() const;
  size_t failed() const;
  size_t unsupported() const;
  size_t left_out() const;
};

enum class Verdict : uint8_t { passed, failed, unsupported };

/// What became of a case. Only a Vulkan device may refuse one: the reference engine runs them all.
Verdict verdict(const CaseResult& result, const Engine& engine);

/// The scripts of a folder and those in it, in order of name. Error(usage) when there is no such
/// folder or no script in it.
std::vector<std::string> scripts_in(const std::string& folder);

/// Called for each case as it ends, and about a script that is wrong (as a failed case without a
/// name).
using OnCase = std::function<void(const std::string& file, const CaseResult&, Verdict)>;

/// Scripts that were read: how much there is to do is known before it is begun.
class Suite {
 public:
  /// `most`: a sample of so many cases of each script, from its beginning to its end; 0 = all.
  explicit Suite(const std::vector<std::string>& files, size_t most = 0);
  size_t cases() const { return order_.size(); }
  /// `seconds`: after these no further case is begun; 0 = all are run.
  SuiteCount run(Engine& engine, const OnCase& on_case, double seconds = 0) const;

 private:
  struct Family {
    std::string file, name;
    Script script;
  };
  std::vector<Family> families_;
  std::vector<std::pair<size_t, size_t>> order_;  ///< family and case
};

}  // namespace lanewise::script
