// `selftest`: the conformance suite that is installed with the program, on one device.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/api/objects/objects.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/own_program.hpp"
#include "runtime/cli/process/progress.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/cli/process/watchdog.hpp"
#include "runtime/script/run/suite.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/support/junit.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::cli {
namespace {

struct SelftestArgs {
  std::string device = "auto", suite, junit;
  double timeout = 0;
  bool json = false, verbose = false, quick = false;
};

/// What --quick runs of each script, and when it begins no further case: a slow driver, or a busy
/// machine, is done in a minute, too.
constexpr size_t kQuickCases = 2;
constexpr double kQuickSeconds = 45;

/// PREFIX/bin/lanewise finds PREFIX/share/lanewise/conformance; a build tree looks the same.
std::string installed_suite() {
  std::error_code ec;
  const std::filesystem::path program = own_program();
  const auto folder = program.parent_path().parent_path() / "share" / "lanewise" / "conformance";
  if (!std::filesystem::is_directory(folder, ec)) {
    throw Error(ErrorKind::usage,
                fmt::format("the conformance suite is not installed: expected it in '{}'; name "
                            "another folder of stream scripts with --suite",
                            folder.string()));
  }
  return folder.string();
}

/// What a case that did not pass says, one line each.
std::vector<std::string> messages(const std::string& file, const script::CaseResult& r) {
  std::vector<std::string> lines;
  for (const auto* list : {&r.diagnostics, &r.failures})
    for (Diagnostic d : *list) {
      if (!r.name.empty()) d.message = fmt::format("\"{}\": {}", r.name, d.message);
      lines.push_back(format(file, d));
    }
  if (!r.unsupported.empty())
    lines.push_back(fmt::format("{}:{}: \"{}\" is not supported by this device: {}", file, r.line,
                                r.name, r.unsupported));
  return lines;
}

/// What a case takes where nothing else runs: drivers spend most of it on compiling.
double seconds_of_case(const EngineInfo& device) {
  return device.type == "reference" ? 0.003 : device.type == "cpu" ? 0.6 : 0.2;
}

std::string length_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} seconds", seconds);
  return fmt::format("{:.0f} minutes", seconds / 60);
}

/// Reports the expected time to who has to wait.
void announce(const SelftestArgs& a, size_t cases, const EngineInfo& device) {
  const double seconds = static_cast<double>(cases) * seconds_of_case(device);
  if (seconds < 10) return;
  const std::string limit =
      a.quick ? fmt::format("; none is begun after {}", length_text(kQuickSeconds))
              : std::string("; --quick: a sample, in less than a minute");
  say("lanewise: {} cases on {}: about {} where nothing else runs{}\n", cases, device.name,
      length_text(seconds), limit);
}

struct Problem {
  std::string family, name;
  bool failed = false;
  uint32_t line = 0;
  std::vector<std::string> lines;
};

/// A case of the suite as one of JUnit's.
void add_case(JunitReport& report, const std::string& family, const script::CaseResult& r,
              script::Verdict v, const std::vector<std::string>& lines) {
  const std::string name = r.name.empty() ? "script" : r.name;
  if (v == script::Verdict::passed) return report.pass(family, name);
  const std::string first = lines.empty() ? "" : lines.front();
  if (v != script::Verdict::failed) return report.skip(family, name, first);
  report.fail(family, name, "conformance", first, fmt::format("{}", fmt::join(lines, "\n")));
}

nlohmann::json to_json(const script::SuiteCount& counts, const std::vector<Problem>& problems,
                       const EngineInfo& device) {
  nlohmann::json families = nlohmann::json::array(), list = nlohmann::json::array();
  for (const script::FamilyCount& f : counts.families)
    families.push_back({{"family", f.name},
                        {"passed", f.passed},
                        {"failed", f.failed},
                        {"unsupported", f.unsupported}});
  for (const Problem& p : problems)
    list.push_back({{"family", p.family},
                    {"case", p.name},
                    {"line", p.line},
                    {"state", p.failed ? "failed" : "unsupported"},
                    {"messages", p.lines}});
  return {{"device", device.name},
          {"driver", device.driver},
          {"tier", device.tier},
          {"passed", counts.passed()},
          {"failed", counts.failed()},
          {"unsupported", counts.unsupported()},
          {"left_out", counts.left_out()},
          {"families", families},
          {"problems", list}};
}

void print_table(const script::SuiteCount& counts, const EngineInfo& device) {
  size_t width = 6;
  for (const script::FamilyCount& f : counts.families) width = std::max(width, f.name.size());
  fmt::print("{} ({}), {}\n\n", device.name, device.driver, device.tier);
  fmt::print("{:<{}}  {:>6}  {:>6}  {:>13}\n", "family", width, "passed", "failed",
             "not supported");
  const auto row = [&](const std::string& name, size_t passed, size_t failed, size_t unsupported) {
    fmt::print("{:<{}}  {:>6}  {:>6}  {:>13}\n", name, width, passed, failed, unsupported);
  };
  for (const script::FamilyCount& f : counts.families)
    row(f.name, f.passed, f.failed, f.unsupported);
  row("all", counts.passed(), counts.failed(), counts.unsupported());
  if (counts.left_out() != 0)
    fmt::print("\nA sample (--quick): {} cases were left out.\n", counts.left_out());
}

int selftest(const SelftestArgs& a) {
  Watchdog watchdog(a.timeout, Watchdog::Parts::end_at_once);
  if (!a.junit.empty()) check_writable(a.junit);
  const std::string folder = a.suite.empty() ? installed_suite() : a.suite;
  // A wrong folder is reported before a device is started.
  const std::vector<std::string> files = script::scripts_in(folder);
  const std::unique_ptr<Engine> engine = host::open_engine(a.device);
  const script::Suite suite(files, a.quick ? kQuickCases : 0);
  announce(a, suite.cases(), engine->info());
  std::vector<Problem> problems;
  script::SuiteCount counts;
  JunitReport junit("lanewise selftest on " + engine->info().name);
  size_t done = 0;
  {
    Progress progress("running the conformance suite on " + engine->info().name);
    counts = suite.run(
        *engine,
        [&](const std::string& file, const script::CaseResult& r, script::Verdict v) {
          progress.done(++done, suite.cases());
          watchdog.done(done, "cases");
          const std::string family = std::filesystem::path(file).stem().string();
          const std::vector<std::string> lines = messages(file, r);
          add_case(junit, family, r, v, lines);
          if (v == script::Verdict::passed) return;
          problems.push_back({family, r.name, v == script::Verdict::failed, r.line, lines});
        },
        a.quick ? kQuickSeconds : 0);
  }
  for (const Problem& p : problems)
    if (p.failed || a.verbose)
      for (const std::string& line : p.lines) say("{}\n", line);
  if (!a.junit.empty()) write_file(a.junit, junit.text());
  if (a.json)
    fmt::print("{}", json_document(to_json(counts, problems, engine->info())));
  else
    print_table(counts, engine->info());
  return counts.failed() == 0 ? 0 : 1;
}

}  // namespace

void add_selftest(const Command& app) {
  const Command sub = app.command("selftest", "run the conformance suite on a device");
  auto a = std::make_shared<SelftestArgs>();
  sub.option("--device", a->device, "auto, reference, an index or part of a name or driver")
      .suggests(ValueKind::device);
  sub.flag("--quick", a->quick, "a sample of each family, in less than a minute");
  sub.option("--suite", a->suite, "a folder of stream scripts in place of the installed one");
  add_timeout_option(sub, a->timeout);
  sub.json(a->json);
  sub.option("--junit", a->junit, "also write the cases to this file, as JUnit XML for CI");
  sub.flag("--verbose", a->verbose, "also say why a case is not supported");
  sub.examples({"lanewise selftest --device reference --quick"});
  sub.does([a] { return selftest(*a); });
}

}  // namespace lanewise::cli
