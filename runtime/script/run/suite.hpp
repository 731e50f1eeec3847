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
  size_t left_out = 0;  ///< of a sample
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

/// The cases of one script that a sample of so many has: from its beginning to its end.
std::vector<Case> sample_of(std::vector<Case> cases, size_t most);

/// Told about each case as it ends, and about a script that is wrong (as a failed case without a
/// name).
using OnCase = std::function<void(const std::string& file, const CaseResult&, Verdict)>;

/// `most`: cases of each script, 0 = all.
SuiteCount run_scripts(const std::vector<std::string>& files, Engine& engine, const OnCase& on_case,
                       size_t most = 0);
SuiteCount run_suite(const std::string& folder, Engine& engine, const OnCase& on_case);

}  // namespace lanewise::script
