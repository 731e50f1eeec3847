#include "runtime/script/run/suite.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "runtime/api/program/loader.hpp"
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

Suite::Suite(const std::vector<std::string>& files, size_t most) {
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    families_.push_back({file, name, parse(read_file(file), 0)});
  }
  // A sample takes all families in turn: where it is ended early, it has something of each.
  const size_t rounds = most != 0 ? most : 1;
  for (size_t round = 0; round < rounds; ++round)
    for (size_t f = 0; f < families_.size(); ++f) {
      const size_t size = families_[f].script.cases.size();
      if (most == 0)
        for (size_t n = 0; n < size; ++n) order_.emplace_back(f, n);
      else if (size <= most && round < size)
        order_.emplace_back(f, round);
      else if (size > most)
        order_.emplace_back(f, round * (size - 1) / std::max<size_t>(most - 1, 1));
    }
}

SuiteCount Suite::run(Engine& engine, const OnCase& on_case, double seconds) const {
  const auto start = std::chrono::steady_clock::now();
  SuiteCount counts;
  for (const Family& f : families_) {
    FamilyCount& family = counts.families.emplace_back();
    family.name = f.name;
    family.left_out = f.script.cases.size();
    if (f.script.ok()) continue;
    CaseResult wrong;
    wrong.diagnostics = f.script.diagnostics;
    count(family, Verdict::failed);
    on_case(f.file, wrong, Verdict::failed);
  }
  for (const auto& [f, n] : order_) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    if (seconds > 0 && gone.count() >= seconds) break;
    RunOptions options;
    options.directory = std::filesystem::path(families_[f].file).parent_path().string();
    const CaseResult r = script::run(families_[f].script.cases[n], engine, options);
    const Verdict v = verdict(r, engine);
    --counts.families[f].left_out;
    count(counts.families[f], v);
    on_case(families_[f].file, r, v);
  }
  return counts;
}

}  // namespace lanewise::script
