#include "runtime/host/core/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <utility>

#include "runtime/host/core/failure.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/support/report_format.hpp"

namespace lanewise::core {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& expected) {
  report_line(name + " is '" + value + "'; " + expected + " was expected");
  fail(Code::invalid_value);
}

uint32_t memcheck_named(const std::string& value) {
  constexpr std::array<std::pair<const char*, uint32_t>, 4> kNames = {{{"", LW_MEMCHECK_ALLOC},
                                                                       {"alloc", LW_MEMCHECK_ALLOC},
                                                                       {"arena", LW_MEMCHECK_ARENA},
                                                                       {"off", LW_MEMCHECK_OFF}}};
  const auto* const found =
      std::ranges::find(kNames, value, [](const auto& pair) { return std::string(pair.first); });
  if (found == kNames.end()) refuse("LANEWISE_MEMCHECK", value, "alloc, arena or off");
  return found->second;
}

double seconds_named(const std::string& value) {
  if (value.empty()) return 0;
  char* end = nullptr;
  const double seconds = std::strtod(value.c_str(), &end);
  if (*end != '\0' || !(seconds >= 0)) refuse("LANEWISE_TIMEOUT", value, "a number of seconds");
  return seconds;
}

void add_list(std::vector<std::string>& to, const std::string& list) {
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) to.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
}

void add_checks(Settings& out, const std::string& list) {
  std::vector<std::string> checks;
  add_list(checks, list);
  std::string launches;
  out.races = std::ranges::find(checks, "race") != checks.end();
  out.init = std::ranges::find(checks, "init") != checks.end();
  out.perf = std::ranges::find(checks, "perf") != checks.end();
  for (const std::string& check : checks)
    if (check == "leak" || check == "leaks")
      out.leaks = true;
    else if (check == "api")
      out.api = true;
    else if (check == "init" || check == "race" || check == "sync" || check == "async" ||
             check == "perf" || (check == "none" && checks.size() == 1))
      launches += (launches.empty() ? "" : ",") + check;
    else
      refuse("LANEWISE_CHECK", list,
             "none, or init, race, sync, async, perf, leak and api separated by commas,");
  if (!launches.empty()) out.policies.push_back("check=" + launches);
  if (out.races) out.policies.emplace_back("race.touched=report");
}

/// An order of lanes that devices have to refuse; others the reference engine reads by itself.
void add_schedule(Settings& out, const std::string& schedule) {
  if (schedule.starts_with("random:") || schedule.starts_with("search:"))
    out.policies.push_back("schedule=" + schedule);
}

/// A file's name: %p in it is the process, so that each of a test runner's writes its own.
std::string file_variable(const char* name) {
  std::string value = variable(name);
  for (size_t at = 0; (at = value.find("%p", at)) != std::string::npos;)
    value.replace(at, 2, std::to_string(getpid()));
  return value;
}

/// Now, not when the program has ended.
void check_report(const std::string& path) {
  try {
    report_format(path);
    check_writable(path);
  } catch (const std::exception& error) {
    report_line(error.what());
    fail(Code::invalid_value);
  }
}

}  // namespace

Settings Settings::from_environment() {
  Settings out;
  out.memcheck = memcheck_named(variable("LANEWISE_MEMCHECK"));
  out.timeout_seconds = seconds_named(variable("LANEWISE_TIMEOUT"));
  add_list(out.policies, variable("LANEWISE_POLICIES"));
  add_checks(out, variable("LANEWISE_CHECK"));
  add_schedule(out, variable("LANEWISE_SCHEDULE"));
  out.isa = variable("LANEWISE_ISA");
  if (!out.isa.empty() && out.isa != "ptx" && out.isa != "sass")
    refuse("LANEWISE_ISA", out.isa, "ptx or sass");
  out.verbose = !variable("LANEWISE_VERBOSE").empty();
  out.gpu = variable("LANEWISE_GPU");
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
    if (const char* list = std::getenv(name)) out.visible.emplace_back(list);
  out.cache = variable("LANEWISE_CACHE");
  out.trace = file_variable("LANEWISE_TRACE");
  out.report = file_variable("LANEWISE_REPORT");
  if (!out.report.empty() && out.cache.empty())
    refuse("LANEWISE_REPORT", out.report, "LANEWISE_CACHE beside it");
  if (!out.report.empty()) check_report(out.report);
  out.counters = file_variable("LANEWISE_COUNTERS");
  if (!out.counters.empty() && !out.perf)
    refuse("LANEWISE_COUNTERS", out.counters, "LANEWISE_CHECK=perf beside it");
  add_list(out.findings.files, file_variable("LANEWISE_FINDINGS"));
  out.findings.suppress = variable("LANEWISE_SUPPRESS");
  out.findings.baseline = variable("LANEWISE_BASELINE");
  out.findings.write_baseline = file_variable("LANEWISE_WRITE_BASELINE");
  out.summary = !variable("LANEWISE_SUMMARY").empty();
  const std::string host_memory = variable("LANEWISE_HOST_MEMORY");
  if (!host_memory.empty() && host_memory != "copy")
    refuse("LANEWISE_HOST_MEMORY", host_memory, "copy");
  out.copies_host_memory = !host_memory.empty();
  return out;
}

}  // namespace lanewise::core
