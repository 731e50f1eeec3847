#include "runtime/script/run/suite.hpp"

#include <algorithm>
#include <filesystem>

#include "runtime/api/loader.hpp"
#include "runtime/support/input_file.hpp"

namespace lanewise::script {
namespace {

size_t total(const std::vector<FamilyCount>& families, size_t FamilyCount::*count) {
  size_t n = 0;
  for (const FamilyCount& f : families) n += f.*count;
  return n;
}

void count(FamilyCount& family, Verdict v) {
  if (v == Verdict::passed) ++family.passed;
  if (v == Verdict::failed) ++family.failed;
  if (v == Verdict::unsupported) ++family.unsupported;
}

FamilyCount run_script(const std::string& file, Engine& engine, const OnCase& on_case,
                       size_t most) {
  const std::filesystem::path path(file);
  FamilyCount family;
  family.name = path.stem().string();
  Script s = parse(read_file(file), 0);
  if (!s.ok()) {
    CaseResult wrong;
    wrong.diagnostics = s.diagnostics;
    count(family, Verdict::failed);
    on_case(file, wrong, Verdict::failed);
  }
  family.left_out = s.cases.size();
  if (most != 0) s.cases = sample_of(std::move(s.cases), most);
  family.left_out -= s.cases.size();
  RunOptions options;
  options.directory = path.parent_path().string();
  for (const Case& c : s.cases) {
    const CaseResult r = run(c, engine, options);
    const Verdict v = verdict(r, engine);
    count(family, v);
    on_case(file, r, v);
  }
  return family;
}

}  // namespace

size_t SuiteCount::passed() const {
  return total(families, &FamilyCount::passed);
}
size_t SuiteCount::failed() const {
  return total(families, &FamilyCount::failed);
}
size_t SuiteCount::unsupported() const {
  return total(families, &FamilyCount::unsupported);
}
size_t SuiteCount::left_out() const {
  return total(families, &FamilyCount::left_out);
}

Verdict verdict(const CaseResult& r, const Engine& engine) {
  if (r.ok()) return Verdict::passed;
  const bool refused = r.diagnostics.empty() && r.failures.empty();
  return refused && engine.info().type != "reference" ? Verdict::unsupported : Verdict::failed;
}

std::vector<Case> sample_of(std::vector<Case> cases, size_t most) {
  if (cases.size() <= most) return cases;
  std::vector<Case> sample;
  for (size_t n = 0; n < most; ++n)
    sample.push_back(std::move(cases[n * (cases.size() - 1) / std::max<size_t>(most - 1, 1)]));
  return sample;
}

std::vector<std::string> scripts_in(const std::string& folder) {
  std::error_code ec;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ec))
    if (entry.path().extension() == ".lw") files.push_back(entry.path().string());
  if (ec) {
    throw Error(ErrorKind::usage,
                "cannot read the folder of stream scripts '" + folder + "': " + ec.message());
  }
  if (files.empty())
    throw Error(ErrorKind::usage, "there is no stream script (*.lw) in '" + folder + "'");
  std::ranges::sort(files);
  return files;
}

SuiteCount run_scripts(const std::vector<std::string>& files, Engine& engine, const OnCase& on_case,
                       size_t most) {
  SuiteCount counts;
  for (const std::string& file : files)
    counts.families.push_back(run_script(file, engine, on_case, most));
  return counts;
}

SuiteCount run_suite(const std::string& folder, Engine& engine, const OnCase& on_case) {
  return run_scripts(scripts_in(folder), engine, on_case);
}

}  // namespace lanewise::script
